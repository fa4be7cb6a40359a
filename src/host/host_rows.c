// SPDX-License-Identifier: Apache-2.0
#include "host/host_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

enum {
    VALUES_MAX = 1 << 20, /**< of a row, and of rows kept: more than that is a mistake */
};

/** Words of 64 bits, of which the checksum is: of an odd number of values the last one has a zero beside it. */
static size_t rows_words(struct rm_rows_shape const *shape) { return (shape->width + 1ul) / 2; }

static enum rm_code rows_check(struct rm_application_rows const *it, struct rm_rows_shape const *shape,
                               struct rm_error *error) {
    if (shape->width <= VALUES_MAX && shape->depth >= 1 && shape->depth <= VALUES_MAX && shape->period_steps >= 1)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "rows \"%s\": %u of %u values, one every %u steps; expected 1 to %d of as many, and a step at least",
                   it->name, shape->depth, shape->width, shape->period_steps, VALUES_MAX);
}

enum rm_code rm_host_rows_make(struct rm_host_rows *rows, struct rm_application_code const *code,
                               struct rm_application_setup const *setup, struct rm_error *error) {
    uint32_t const count = code->row_count;
    rows->shape = calloc(count + 1ul, sizeof *rows->shape);
    rows->period_turns = calloc(count + 1ul, sizeof *rows->period_turns);
    rows->value = calloc(count + 1ul, sizeof *rows->value);
    rows->row = calloc(count + 1ul, sizeof *rows->row);
    if (rows->shape == NULL || rows->period_turns == NULL || rows->value == NULL || rows->row == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u rows", count);
    rows->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_rows_shape *const shape = &rows->shape[i];
        code->shape(setup, i, shape);
        rows->period_turns[i] = shape->width > 0 ? shape->period_steps * setup->period_turns : 1;
        if (shape->width == 0)
            continue;
        enum rm_code const checked = rows_check(&code->rows[i], shape, error);
        if (checked != RM_OK)
            return checked;
        rows->value[i] = calloc(2 * rows_words(shape), sizeof *rows->value[i]);
        if (rows->value[i] == NULL)
            return rm_fail(error, RM_E_NO_SPACE, "no memory for rows of %u values", shape->width);
    }
    return RM_OK;
}

void rm_host_rows_free(struct rm_host_rows *rows) {
    for (uint32_t i = 0; i < rows->count; ++i)
        free(rows->value[i]);
    free(rows->shape);
    free(rows->period_turns);
    free((void *)rows->value);
    free(rows->row);
    *rows = (struct rm_host_rows){0};
}

void rm_host_rows_begin(struct rm_host_rows *rows) {
    for (uint32_t i = 0; i < rows->count; ++i) {
        rows->row[i].quality = 0;
        for (uint32_t k = 0; k < rows->shape[i].width; ++k)
            rows->value[i][k] = NAN;
    }
}

void rm_host_rows_add(struct rm_host_rows const *rows, struct rm_checksum *sum) {
    for (uint32_t i = 0; i < rows->count; ++i) {
        if (rows->row[i].value == NULL)
            continue;
        sum->lane[0] = rm_checksum_mix(sum->lane[0], rows->row[i].quality);
        rm_checksum_add(sum, rows->value[i], rows_words(&rows->shape[i]));
    }
}
