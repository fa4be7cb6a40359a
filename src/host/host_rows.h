// SPDX-License-Identifier: Apache-2.0
/** Rows of an application: their shapes, where a step writes them, and in which steps they are due. */
#ifndef RM_HOST_HOST_ROWS_H
#define RM_HOST_HOST_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/error.h>

#include "host/host_checksum.h"

struct rm_host_rows {
    uint32_t count;
    /** [count] as the code says after `open`. */
    struct rm_rows_shape *shape;
    /** [count] turns from one row to the next. */
    uint64_t *period_turns;
    /** [count] the values of a row, as told last; NULL where the width is 0. */
    float **value;
    /** [count] what a step is given. */
    struct rm_row *row;
};

/** Asks the code for the shapes, and allocates. RM_E_CONFIG where one cannot be; what there is then, rm_host_rows_free
 * gives back. */
enum rm_code rm_host_rows_make(struct rm_host_rows *rows, struct rm_application_code const *code,
                               struct rm_application_setup const *setup, struct rm_error *error);
void rm_host_rows_free(struct rm_host_rows *rows);

/** After an init: there is no number in any row. */
void rm_host_rows_begin(struct rm_host_rows *rows);

/** Before the step of `turn`: the rows that are due have room for their values, the others none. */
static inline void rm_host_rows_expect(struct rm_host_rows *rows, rm_turn turn) {
    for (uint32_t i = 0; i < rows->count; ++i)
        rows->row[i].value = turn % rows->period_turns[i] == 0 ? rows->value[i] : NULL;
}

/** After the step: adds the rows that were due to a checksum. */
void rm_host_rows_add(struct rm_host_rows const *rows, struct rm_checksum *sum);

#endif
