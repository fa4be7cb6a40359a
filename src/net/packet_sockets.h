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

#include "net/port.h"

enum { RM_PACKET_SOCKETS_MOST = 64 };

/** Packet sockets of this process bound to an interface, as files; at most RM_PACKET_SOCKETS_MOST. */
uint32_t rm_packet_sockets_find(uint32_t interface_index, int sockets[RM_PACKET_SOCKETS_MOST]);

/** Keeps what this host sends off a socket. 0, or an errno. */
int rm_packet_socket_ignore_outgoing(int socket);

/** Packets dropped for want of a ring slot since the last call; the kernel resets its count. */
uint32_t rm_packet_socket_take_drops(int socket);

/** A socket that sends frames out of an interface and receives nothing, or -1 and errno. It goes past the kernel's
 * queueing discipline, which would call a frame sent that a full interface then drops. */
int rm_packet_socket_open_sender(uint32_t interface_index);

/** Sends a burst's frames in order, as many as the kernel takes; returns how many. */
uint32_t rm_packet_socket_send(int socket, struct rm_burst const *burst);

#endif
