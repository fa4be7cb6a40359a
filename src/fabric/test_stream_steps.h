// SPDX-License-Identifier: Apache-2.0
/** Steps of the stream tests: put, publish and look, on a small ring with one writer and one reader in turns. */
#ifndef RM_FABRIC_TEST_STREAM_STEPS_H
#define RM_FABRIC_TEST_STREAM_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fabric/test_ring.h"

enum { CAPACITY = 1024, MARGIN = 256, READABLE = CAPACITY - MARGIN, LATE_TURNS = 600 };

/** A record that says when it was made: `generation` tells copies of one turn apart. */
static inline struct rm_record record_of(rm_turn turn, uint32_t generation) {
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(turn * 3, (uint16_t)generation)};
    for (int i = 0; i < RM_LANES; ++i)
        record.lane[i].i = (int32_t)((uint32_t)turn * 31u + generation * 7u + (uint32_t)i);
    return record;
}

static inline enum rm_put put(struct stream_ring *ring, rm_turn turn, uint32_t generation) {
    struct rm_record const record = record_of(turn, generation);
    return rm_stream_writer_put(&ring->writer, &record);
}

static inline void publish(struct stream_ring *ring) { rm_stream_writer_publish(&ring->writer, 1); }

/** Puts every record of [from, to], and publishes each. */
static inline void fill(struct stream_ring *ring, rm_turn from, rm_turn to, uint32_t generation) {
    for (rm_turn turn = from; turn <= to; turn += ring->view.period) {
        assert_int_equal(put(ring, turn, generation), RM_PUT_NEW);
        publish(ring);
    }
}

static inline enum rm_read verdict(struct stream_ring *ring, rm_turn turn) {
    struct rm_record record;
    return rm_stream_read(&ring->view, turn, &record);
}

static inline void assert_read(struct stream_ring *ring, rm_turn turn, uint32_t generation) {
    struct rm_record record;
    struct rm_record const expected = record_of(turn, generation);
    assert_string_equal(rm_read_text(rm_stream_read(&ring->view, turn, &record)), rm_read_text(RM_READ_OK));
    assert_memory_equal(&record, &expected, sizeof record);
}

static inline void assert_none_of_generation(struct stream_ring *ring, rm_turn from, rm_turn to, uint32_t generation) {
    for (rm_turn turn = from; turn <= to; turn += ring->view.period) {
        struct rm_record record;
        if (rm_stream_read(&ring->view, turn, &record) == RM_READ_OK)
            assert_int_not_equal(rm_tag_status(record.tag), generation);
    }
}

static inline int make_ring(void **state, uint64_t period) {
    struct stream_ring *ring = aligned_alloc(_Alignof(struct stream_ring), sizeof *ring);
    *state = ring;
    return ring != NULL && test_ring_make(ring, CAPACITY, MARGIN, period, LATE_TURNS * period) ? 0 : -1;
}

static inline int set_up(void **state) { return make_ring(state, 1); }

static inline int set_up_decimated(void **state) { return make_ring(state, 12); }

static inline int tear_down(void **state) {
    test_ring_free(*state);
    free(*state);
    return 0;
}

/** Does what happens when the server is killed and started again on the same memory. */
static inline void reopen(struct stream_ring *ring) {
    rm_stream_writer_close(&ring->writer);
    assert_true(test_ring_open_writer(ring, LATE_TURNS));
}

#endif
