// SPDX-License-Identifier: Apache-2.0
/** The AF_XDP sockets behind DPDK af_xdp devices. Its driver (of 22.11) forgets to close them with the device, so that
 * nobody else could have the interface's queues as long as the process lives: they are found among its open files. */
#ifndef RM_NET_XDP_SOCKETS_H
#define RM_NET_XDP_SOCKETS_H

#include <stdint.h>

enum { RM_XDP_SOCKETS_MOST = 256 };

/** Sockets by the kernel's number of them, which never comes twice. */
struct rm_xdp_sockets {
    uint32_t count;
    uint64_t cookie[RM_XDP_SOCKETS_MOST];
};

/** All of this process. */
void rm_xdp_sockets_find(struct rm_xdp_sockets *sockets);

/** Keeps those that are not in `others`. */
void rm_xdp_sockets_without(struct rm_xdp_sockets *sockets, struct rm_xdp_sockets const *others);

/** Closes those that are still open. */
void rm_xdp_sockets_close(struct rm_xdp_sockets const *sockets);

#endif
