// SPDX-License-Identifier: Apache-2.0
/** For tests: decimators one after the other, as one rate has them. */
#ifndef RM_FILTER_TEST_ROW_H
#define RM_FILTER_TEST_ROW_H

#include "filter/test_records.h"

enum { ROW_MAX = 5 };

struct decimator_row {
    struct rm_decimator stage[ROW_MAX];
    uint32_t count;
};

/** Makes a row. `form` is "low-latency" or "sharp"; `decimations` end with 0. */
static inline struct decimator_row row_of(char const *form, uint32_t const *decimations, enum rm_simd simd,
                                          struct rm_decimator_input const *input) {
    struct decimator_row row = {.count = 0};
    for (; decimations[row.count] != 0; ++row.count) {
        struct rm_fir_design const *const design = rm_fir_find(form, decimations[row.count]);
        if (row.count == 0)
            rm_decimator_init(&row.stage[0], design, simd, input);
        else
            rm_decimator_init_after(&row.stage[row.count], design, &row.stage[row.count - 1]);
    }
    return row;
}

static inline struct rm_decimator const *last_of(struct decimator_row const *row) {
    return &row->stage[row->count - 1];
}

/** Turns from one output to the next. */
static inline uint64_t period_of(struct decimator_row const *row) {
    return last_of(row)->own.period * last_of(row)->design->decimation;
}

/** Pushes a record, or NULL, through the stages as long as each gives an output. True when the last one did. */
static inline bool row_push(struct decimator_row *row, struct rm_record const *record, struct rm_decimated *output) {
    struct rm_decimated input;
    if (!rm_decimator_push(&row->stage[0], record, output))
        return false;
    for (uint32_t i = 1; i < row->count; ++i) {
        input = *output;
        if (row->stage[i].own.next_turn == RM_TURN_NONE)
            rm_decimator_start_decimated(&row->stage[i], &input);
        if (!rm_decimator_push_decimated(&row->stage[i], &input, output))
            return false;
    }
    return true;
}

#endif
