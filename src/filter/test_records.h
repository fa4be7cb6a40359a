// SPDX-License-Identifier: Apache-2.0
/** What the tests of the filters share: cmocka, records made of one value, decimators of plain records, and the taps as
 * a plain sequence. */
#ifndef RM_FILTER_TEST_RECORDS_H
#define RM_FILTER_TEST_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "filter/decimator.h"

enum { ALL_LANES_FLOAT = 0xFFF };

/** A record whose first lane is the f32 `value`. */
static inline struct rm_record record_of(rm_turn turn, float value) {
    struct rm_record record = {.turn = turn};
    record.lane[0].f = value;
    return record;
}

/** A decimator of turn-rate records whose lanes are all filtered. */
static inline void init(struct rm_decimator *decimator, struct rm_fir_design const *design, enum rm_simd simd,
                        uint16_t float_lanes) {
    struct rm_decimator_input const input = {.period = 1, .float_lanes = float_lanes};
    rm_decimator_init(decimator, design, simd, &input);
}

/** rm_decimator_push, giving the record alone. */
static inline bool push(struct rm_decimator *decimator, struct rm_record const *record, struct rm_record *output) {
    struct rm_decimated decimated;
    if (!rm_decimator_push(decimator, record, &decimated))
        return false;
    *output = decimated.record;
    return true;
}

/** Tap `index` of the design; the first is that of the oldest input. */
static inline float tap(struct rm_fir_design const *design, uint32_t index) {
    uint32_t const turns_before_close = design->taps - 1 - index;
    uint32_t const phase = design->decimation - 1 - turns_before_close % design->decimation;
    uint32_t const age = turns_before_close / design->decimation;
    return design->coefficient[phase * design->overlap + age];
}

#endif
