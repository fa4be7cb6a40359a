// SPDX-License-Identifier: Apache-2.0
/** The links' UDP sockets: one for each of one or two links. Everything goes over all of them. */
#ifndef RM_STANDBY_LINK_SOCKETS_H
#define RM_STANDBY_LINK_SOCKETS_H

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

struct rm_peer_sockets {
    uint32_t count;
    struct pollfd poll[RM_CONFIG_LINKS_MAX];
    /** Address of the other server. */
    struct sockaddr_in peer[RM_CONFIG_LINKS_MAX];
    /** Datagrams that went out over each link, and that the kernel had no room for. */
    uint64_t sent, full;
};

/** Each is bound to an address of the own server. It hears all that is sent there: what is not the peer's is counted.
 * RM_E_SYSTEM names the link. */
enum rm_code rm_peer_sockets_open(struct rm_peer_sockets *sockets, struct rm_config const *config,
                                  struct rm_error *error);
void rm_peer_sockets_close(struct rm_peer_sockets *sockets);

void rm_peer_sockets_send(struct rm_peer_sockets *sockets, uint8_t const *bytes, size_t size);

/** The next datagram that waits on this link: its size, or −1. */
long rm_peer_sockets_receive(struct rm_peer_sockets *sockets, uint32_t link, uint8_t *bytes, size_t room);

/** Sleeps until a datagram waits, at most so long. */
void rm_peer_sockets_wait(struct rm_peer_sockets *sockets, uint64_t timeout_ns);

#endif
