// SPDX-License-Identifier: Apache-2.0
/** Keeps a memif device connected to its peer, and polling threads away from it while it is not.
 *
 * DPDK's driver tears its rings down in DPDK's interrupt thread, the moment its peer ends, and unmaps them under the
 * feet of a thread that polls: a segmentation fault, likely where both share a core. Its client does not reconnect
 * either. Therefore the driver never sees the peer: its control socket ends in this process, and a thread of the link
 * passes the messages on. When the peer ends, that thread first lets what the peer had sent be received, then closes
 * the gate that every burst passes, and only then stops the driver; then it waits for the next peer.
 */
#ifndef RM_NET_MEMIF_LINK_H
#define RM_NET_MEMIF_LINK_H

#include <pthread.h>

#include "net/dpdk_device.h"
#include "net/gate.h"
#include "net/port.h"

enum { RM_MEMIF_DRIVER_SOCKET_BYTES = 64 };

struct rm_memif_link {
    struct rm_gate gate;    /**< open while the driver is connected */
    uint16_t receive_rings; /**< how many there are; written while the gate is closed, read inside it */
    uint16_t send_rings;
    uint16_t device; /**< DPDK's port number */
    bool server;
    char path[RM_PORT_PATH_BYTES];
    char driver_socket[RM_MEMIF_DRIVER_SOCKET_BYTES]; /**< abstract name of the driver's end, never used twice */
    int peer_listener;                                /**< server: where peers arrive; else -1 */
    int driver_listener;                              /**< client: where the driver arrives; else -1 */
    int stop;                                         /**< an eventfd, readable when the thread shall end */
    pthread_t thread;
};

/** Before the device is made: takes the sockets, and names the one that the driver shall use. */
enum rm_code rm_memif_link_open(struct rm_memif_link *link, struct rm_port_config const *config,
                                struct rm_error *error);

/** When it is made, stopped: from now on the link comes and goes with the peer. */
enum rm_code rm_memif_link_run(struct rm_memif_link *link, struct rm_dpdk_device const *device,
                               struct rm_port_config const *config, struct rm_error *error);

/** Ends the thread of a link that runs; the device is stopped. */
void rm_memif_link_halt(struct rm_memif_link *link);
void rm_memif_link_close(struct rm_memif_link *link);

#endif
