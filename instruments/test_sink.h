// SPDX-License-Identifier: Apache-2.0
/** A sink that keeps what it is given, for tests. */
#ifndef RM_INSTRUMENTS_TEST_SINK_H
#define RM_INSTRUMENTS_TEST_SINK_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "sink.h"

enum {
    TEST_SINK_DATAGRAMS = 65536,
    /** Bytes that it keeps; what comes later is not kept. */
    TEST_SINK_ROOM = 16 << 20,
    /** Bytes of a buffer. */
    TEST_SINK_BUFFER_BYTES = RM_LONGEST_FRAME_MAX,
};

struct test_sink {
    enum rm_framing framing;
    /** Datagrams taken at once; 0: all. */
    uint32_t most;
    /** Sends that take nothing before each send that takes something. */
    uint32_t refusals;
    /** The link goes down when this many datagrams were sent; 0: never. */
    uint32_t down_after;
    /** How often the link is found down. */
    uint32_t down_looks;
    /** Set at the 100th refusal in a row; NULL: not set. */
    atomic_bool *stop;
    /** Sends that took nothing since the last that took something. */
    uint32_t refused;
    /** Buffers that were reserved and neither sent nor released. */
    uint32_t lent;
    /** Datagrams sent. */
    uint32_t count;

    uint32_t length[TEST_SINK_DATAGRAMS];
    uint8_t *data[TEST_SINK_DATAGRAMS];
    uint8_t buffer[RM_BURST][TEST_SINK_BUFFER_BYTES];
    size_t used;
    uint8_t room[TEST_SINK_ROOM];
};

static inline bool test_sink_is_down(struct test_sink const *sink) {
    return sink->down_after != 0 && sink->count >= sink->down_after && sink->down_looks != 0;
}

static inline uint32_t test_sink_reserve(void *state, struct rm_burst *burst, uint32_t count) {
    struct test_sink *sink = state;
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = sink->buffer[i];
    sink->lent += count;
    return burst->count = count;
}

static inline void test_sink_shift(struct rm_burst *burst, uint32_t taken) {
    for (uint32_t i = taken; i < burst->count; ++i) {
        burst->data[i - taken] = burst->data[i];
        burst->length[i - taken] = burst->length[i];
    }
    burst->count -= taken;
}

static inline void test_sink_keep(struct test_sink *sink, uint8_t const *data, uint32_t length) {
    if (sink->count == TEST_SINK_DATAGRAMS || sink->used + length > TEST_SINK_ROOM)
        return;
    sink->length[sink->count] = length;
    sink->data[sink->count] = memcpy(sink->room + sink->used, data, length);
    sink->used += length;
    ++sink->count;
}

static inline uint32_t test_sink_send(void *state, struct rm_burst *burst) {
    struct test_sink *sink = state;
    if (test_sink_is_down(sink) || sink->refused < sink->refusals) {
        if (++sink->refused == 100 && sink->stop != NULL)
            atomic_store(sink->stop, true);
        return 0;
    }
    sink->refused = 0;
    uint32_t const taken = sink->most != 0 && sink->most < burst->count ? sink->most : burst->count;
    for (uint32_t i = 0; i < taken; ++i)
        test_sink_keep(sink, burst->data[i], burst->length[i]);
    sink->lent -= taken;
    test_sink_shift(burst, taken);
    return taken;
}

static inline void test_sink_release(void *state, struct rm_burst *burst) {
    struct test_sink *sink = state;
    sink->lent -= burst->count;
    burst->count = 0;
}

static inline bool test_sink_link_up(void *state) {
    struct test_sink *sink = state;
    if (!test_sink_is_down(sink))
        return true;
    --sink->down_looks;
    return false;
}

static inline struct rm_sink test_sink_as_sink(struct test_sink *sink) {
    return (struct rm_sink){
        .framing = sink->framing,
        .reserve = test_sink_reserve,
        .send = test_sink_send,
        .release = test_sink_release,
        .link_up = test_sink_link_up,
        .state = sink,
    };
}

#endif
