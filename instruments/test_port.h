// SPDX-License-Identifier: Apache-2.0
/** A port that keeps what it is given, for tests. */
#ifndef RM_INSTRUMENTS_TEST_PORT_H
#define RM_INSTRUMENTS_TEST_PORT_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "net/port_kind.h"

enum {
    TEST_PORT_DATAGRAMS = 65536,
    /** Bytes that it keeps; what comes later is not kept. */
    TEST_PORT_ROOM = 16 << 20,
    /** Bytes of a buffer. */
    TEST_PORT_BUFFER_BYTES = RM_LONGEST_FRAME_MAX,
};

struct test_port {
    struct rm_port port;
    /** The operations below, with the framing that a test wants. */
    struct rm_port_ops ops;
    uint8_t *data[TEST_PORT_DATAGRAMS];
    /** Set at the 100th refusal in a row; NULL: not set. */
    atomic_bool *stop;
    size_t used;
    /** Datagrams taken at once; 0: all. */
    uint32_t most;
    /** Sends that take nothing before each send that takes something. */
    uint32_t refusals;
    /** The link goes down when this many datagrams were sent; 0: never. */
    uint32_t down_after;
    /** How often the link is found down. */
    uint32_t down_looks;
    /** Sends that took nothing since the last that took something. */
    uint32_t refused;
    /** Buffers that were reserved and neither sent nor released. */
    uint32_t lent;
    /** Datagrams sent. */
    uint32_t count;
    uint32_t length[TEST_PORT_DATAGRAMS];
    /** As each port has them: of its queue, and of the exception path's. */
    struct rm_port_counts counts[2];
    uint8_t buffer[RM_BURST][TEST_PORT_BUFFER_BYTES];
    uint8_t room[TEST_PORT_ROOM];
};

static inline bool test_port_is_down(struct test_port const *self) {
    return self->down_after != 0 && self->count >= self->down_after && self->down_looks != 0;
}

static inline uint32_t test_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    struct test_port *self = (struct test_port *)port;
    (void)queue;
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = self->buffer[i];
    self->lent += count;
    return count;
}

static inline void test_port_keep(struct test_port *self, uint8_t const *data, uint32_t length) {
    if (self->count == TEST_PORT_DATAGRAMS || self->used + length > TEST_PORT_ROOM)
        return;
    self->length[self->count] = length;
    self->data[self->count] = memcpy(self->room + self->used, data, length);
    self->used += length;
    ++self->count;
}

static inline uint32_t test_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct test_port *self = (struct test_port *)port;
    (void)queue;
    if (test_port_is_down(self) || self->refused < self->refusals) {
        if (++self->refused == 100 && self->stop != NULL)
            atomic_store(self->stop, true);
        return 0;
    }
    self->refused = 0;
    uint32_t const taken = self->most != 0 && self->most < burst->count ? self->most : burst->count;
    for (uint32_t i = 0; i < taken; ++i)
        test_port_keep(self, burst->data[i], burst->length[i]);
    self->lent -= taken;
    return taken;
}

static inline void test_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    ((struct test_port *)port)->lent -= burst->count;
}

static inline enum rm_code test_port_check(struct rm_port *port, struct rm_error *error) {
    struct test_port *self = (struct test_port *)port;
    (void)error;
    if (!test_port_is_down(self))
        return RM_OK;
    --self->down_looks;
    return RM_E_ABSENT;
}

/** Makes a port of zeroed memory, of Ethernet frames. There is nothing to close. */
static inline struct rm_port *test_port_open(struct test_port *self) {
    self->ops = (struct rm_port_ops){
        .framing = RM_FRAMING_ETHERNET,
        .release = test_port_release,
        .reserve = test_port_reserve,
        .send = test_port_send,
        .check = test_port_check,
    };
    self->port =
        (struct rm_port){.ops = &self->ops, .counts = self->counts, .queues = 1, .send_bytes = TEST_PORT_BUFFER_BYTES};
    return &self->port;
}

#endif
