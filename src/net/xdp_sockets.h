// SPDX-License-Identifier: Apache-2.0
/** The AF_XDP sockets behind DPDK af_xdp devices. The driver (of 22.11) forgets to close them with the device, and no
 * other process could have the interface's queues as long as this one lives. So they are found among its open files. */
#ifndef RM_NET_XDP_SOCKETS_H
#define RM_NET_XDP_SOCKETS_H

#include <stdint.h>

enum { RM_XDP_SOCKETS_MOST = 256 };

/** A set of sockets, by the kernel's numbers of them, which are never used twice. */
struct rm_xdp_sockets {
    uint32_t count;
    uint64_t cookie[RM_XDP_SOCKETS_MOST];
};

/** Finds all AF_XDP sockets of this process. */
void rm_xdp_sockets_find(struct rm_xdp_sockets *sockets);

/** Removes from the set those that are in `others`. */
void rm_xdp_sockets_without(struct rm_xdp_sockets *sockets, struct rm_xdp_sockets const *others);

/** Closes those of the set that are still open. */
void rm_xdp_sockets_close(struct rm_xdp_sockets const *sockets);

#endif
