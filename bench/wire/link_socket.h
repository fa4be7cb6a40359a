// SPDX-License-Identifier: Apache-2.0
/** What packet sockets and UDP sockets have in common: buffers, one system call per datagram or `batch` of them, and
 * sleeping. The file of struct rm_link is the socket. */
#ifndef RM_BENCH_WIRE_LINK_SOCKET_H
#define RM_BENCH_WIRE_LINK_SOCKET_H

#include "link_way.h"

struct rm_socket_link {
    struct rm_link link;
    /** Bytes of each buffer; there are RM_BURST in each direction. */
    uint32_t buffer_bytes;

    uint8_t *in;
    uint8_t *out;
    uint64_t unsent;
    /** Datagrams missed, as reported last. */
    uint64_t missed;
    /** The kernel's own count at that time, which begins anew after 2^32. */
    uint32_t missed_count;
    /** The errno after which nothing can be received or sent; 0: the socket works. */
    int broken;
};

/** Makes a link of the socket `file`, and closes it when that fails. A datagram or frame has at most `longest` bytes.
 */
enum rm_code rm_socket_link_new(struct rm_link_config const *config, struct rm_link_ops const *ops, int file,
                                uint32_t longest, struct rm_link **link, struct rm_error *error);

uint32_t rm_socket_link_receive(struct rm_link *link, struct rm_burst *burst, uint64_t wait_ns);
void rm_socket_link_release(struct rm_link *link, struct rm_burst *burst);
uint32_t rm_socket_link_reserve(struct rm_link *link, struct rm_burst *burst, uint32_t count);
uint32_t rm_socket_link_send(struct rm_link *link, struct rm_burst *burst);
void rm_socket_link_totals(struct rm_link *link, struct rm_link_statistics *totals);
enum rm_code rm_socket_link_check(struct rm_link *link, struct rm_error *error);
void rm_socket_link_close(struct rm_link *link);

#endif
