// SPDX-License-Identifier: Apache-2.0
/** The packet sockets behind a DPDK af_packet device.
 *
 * The driver keeps its sockets to itself, and with them what the kernel dropped and whether the link is up. They are
 * found among the process's open files.
 */
#ifndef RM_NET_PACKET_SOCKETS_H
#define RM_NET_PACKET_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum { RM_PACKET_SOCKETS_MOST = 64 };

/** Packet sockets of this process bound to an interface, as files; at most RM_PACKET_SOCKETS_MOST. */
uint32_t rm_packet_sockets_find(uint32_t interface_index, int sockets[RM_PACKET_SOCKETS_MOST]);

/** Keeps what this host sends off a socket. 0, or an errno. */
int rm_packet_socket_ignore_outgoing(int socket);

/** Packets dropped for want of a ring slot since the last call; the kernel resets its count. */
uint32_t rm_packet_socket_take_drops(int socket);

/** True when the interface is up and its cable is plugged in. */
bool rm_packet_socket_link_up(int socket, uint32_t interface_index);

#endif
