// SPDX-License-Identifier: Apache-2.0
/** A kernel socket behind a port: the buffers of both directions, and the system calls that fill and empty them, of
 * several datagrams or of one. Kinds udp and raw are such sockets. */
#ifndef RM_NET_KERNEL_SOCKET_H
#define RM_NET_KERNEL_SOCKET_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "net/port_kind.h"

/** One direction's burst, lent to recvmmsg or sendmmsg. */
struct rm_socket_messages {
    /** RM_BURST times `buffer_bytes`. */
    uint8_t *buffer;
    struct mmsghdr header[RM_BURST];
    struct iovec part[RM_BURST];
};

/** First member of a kind's structure. */
struct rm_kernel_socket {
    alignas(64) struct rm_port port;
    uint32_t buffer_bytes;
    /** Datagrams of one system call. */
    uint32_t batch;
    /** Each datagram is sent to this address. Unset where the socket itself knows where to. */
    struct sockaddr_in peer;
    /** Senders of the burst that was received last; only where the socket is one of UDP. */
    struct sockaddr_in source[RM_BURST];
    /** Sends that the kernel refused for another reason than a full queue. */
    _Atomic uint64_t refused;
    /** The errno of the last refusal of each direction since the last check; else 0. Each has one writer. */
    _Atomic int broken_in, broken_out;
    /** The kernel has said that no program listens at the peer, and nothing has come since. */
    _Atomic bool is_deaf;
    /** Datagrams missed, as far as asked for. */
    uint64_t missed;
    /** The kernel's own count at that time, which begins anew after 2^32. */
    uint32_t missed_count;
    struct rm_socket_messages in, out;
};

/** What such a port must not be configured to have. */
enum rm_code rm_kernel_socket_check_config(struct rm_port_config const *config, struct rm_error *error);

/** Makes a port of an open socket, `file`, which is closed when that fails. Its structure has `bytes`, as for
 * rm_port_new; a datagram has at most `longest` bytes. `peer`: where each datagram goes; NULL: the socket knows. */
enum rm_code rm_kernel_socket_make(size_t bytes, struct rm_port_ops const *ops, int file, uint32_t longest,
                                   struct sockaddr_in const *peer, struct rm_port_config const *config,
                                   struct rm_port **port, struct rm_error *error);

/* Operations of the port: rm_port_ops. */
uint32_t rm_kernel_socket_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
uint32_t rm_kernel_socket_receive_sleeping(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
void rm_kernel_socket_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
uint32_t rm_kernel_socket_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count);
uint32_t rm_kernel_socket_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
/** Fills in what was missed and what was refused; the kind knows whether the link is up. */
void rm_kernel_socket_totals(struct rm_port *port, struct rm_port_statistics *totals);
enum rm_code rm_kernel_socket_check(struct rm_port *port, struct rm_error *error);
void rm_kernel_socket_close(struct rm_port *port);

#endif
