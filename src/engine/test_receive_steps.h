// SPDX-License-Identifier: Apache-2.0
/** What the tests of the receive role do again and again: send some turns in their time, and look at counters. */
#ifndef RM_ENGINE_TEST_RECEIVE_STEPS_H
#define RM_ENGINE_TEST_RECEIVE_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"

/** Turns after which the turn clock has its full windows. */
enum { LEARNT = 30000 };

static rm_turn const START = 1000000;

/** Sends `turns` turns from `first` on, without delay, from those instruments whose bit in `mask` is set, each turn
 * `shift` turns away from the time at which it is sent. */
static inline void run(struct receive_rig *rig, rm_turn first, uint64_t turns, uint32_t mask, int64_t shift) {
    for (rm_turn turn = first; turn < first + turns; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        for (uint32_t i = 0; i < rig->config.instruments; ++i)
            if (mask >> i & 1)
                rig_send(rig, i, turn + (uint64_t)shift);
        assert_null(rig_poll(rig));
    }
}

static inline void expect(struct receive_rig const *rig, uint32_t index, enum rm_stream_counter counter,
                          uint64_t value) {
    if (rig_count(rig, index, counter) != value)
        fail_msg("instrument %u: counter %d is %llu, not %llu", index, counter,
                 (unsigned long long)rig_count(rig, index, counter), (unsigned long long)value);
}

static inline void expect_refusals(struct receive_rig const *rig, uint32_t index, uint64_t ahead, uint64_t behind) {
    expect(rig, index, RM_STREAM_TURN_AHEAD, ahead);
    expect(rig, index, RM_STREAM_TURN_BEHIND, behind);
}

static inline void expect_nobody_refused(struct receive_rig const *rig) {
    for (uint32_t i = 0; i < rig->config.instruments; ++i)
        expect_refusals(rig, i, 0, 0);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 1);
}

#endif
