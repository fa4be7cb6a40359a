// SPDX-License-Identifier: Apache-2.0
/** What the tests of the filters share: cmocka, records made of one value, and the taps as a plain sequence. */
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

/** Tap `index` of the design; the first is that of the oldest input. */
static inline float tap(struct rm_fir_design const *design, uint32_t index) {
    uint32_t const turns_before_close = design->taps - 1 - index;
    uint32_t const phase = design->decimation - 1 - turns_before_close % design->decimation;
    uint32_t const age = turns_before_close / design->decimation;
    return design->coefficient[phase * design->overlap + age];
}

#endif
