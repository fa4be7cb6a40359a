// SPDX-License-Identifier: Apache-2.0
#include "fabric/rows_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static uint64_t const MOST = 1ull << 24; /**< rows, and values of one: no product of both overflows */

static bool rows_wanted_is_good(struct rm_rows_plan const *wanted) {
    return wanted->width >= 1 && wanted->width <= MOST && wanted->depth >= 1 && wanted->depth <= MOST &&
           wanted->period >= 1;
}

static bool rows_put_text(char *field, size_t bytes, char const *text) {
    snprintf(field, bytes, "%s", text != NULL ? text : "");
    return text == NULL || strlen(text) < bytes;
}

/** Slots lie behind the rows: each of these is a multiple of a cache line, and the first row begins a page. */
static void rows_lay_out(struct rm_rows *rows) {
    uint64_t const lines = (rows->width * sizeof(float) + RM_CACHE_LINE - 1) / RM_CACHE_LINE;
    rows->row_bytes = lines * RM_CACHE_LINE;
    rows->values_offset = (sizeof *rows + RM_PAGE_BYTES - 1) / RM_PAGE_BYTES * RM_PAGE_BYTES;
    rows->stream.slots_offset =
        rows->values_offset + rows->stream.capacity * rows->row_bytes - offsetof(struct rm_rows, stream);
}

enum rm_code rm_rows_describe(struct rm_rows_plan const *wanted, struct rm_rows *rows, struct rm_error *error) {
    if (!rows_wanted_is_good(wanted))
        return rm_fail(error, RM_E_ARGUMENT,
                       "rows \"%s\": %llu rows of %llu values, one every %llu turns; expected 1 to 2^24 rows, as many "
                       "values, and a turn at least",
                       wanted->name, (unsigned long long)wanted->depth, (unsigned long long)wanted->width,
                       (unsigned long long)wanted->period);
    *rows = (struct rm_rows){
        .width = wanted->width,
        .axis_first = wanted->axis_first,
        .axis_step = wanted->axis_step,
        .stream = {.capacity = 2,
                   .period = wanted->period,
                   .margin = RM_ROWS_MARGIN,
                   .instrument_kind = RM_KIND_APPLICATION,
                   .lane_count = 1,
                   .group_delay_turns = wanted->group_delay_turns,
                   .gain = 1.0,
                   .filter = "none",
                   .lane[RM_ROWS_QUALITY] = {.name = "quality", .type = RM_LANE_I32, .reduction = RM_REDUCE_OR}},
    };
    while (rows->stream.capacity < wanted->depth + RM_ROWS_MARGIN)
        rows->stream.capacity *= 2;
    rows_lay_out(rows);
    if (!rows_put_text(rows->axis_name, sizeof rows->axis_name, wanted->axis_name) ||
        !rows_put_text(rows->axis_unit, sizeof rows->axis_unit, wanted->axis_unit))
        return rm_fail(error, RM_E_ARGUMENT, "rows \"%s\": name and unit of its axis have at most %d and %d bytes",
                       wanted->name, RM_LANE_NAME_BYTES - 1, RM_UNIT_BYTES - 1);
    return RM_OK;
}

uint64_t rm_rows_bytes(struct rm_rows const *rows) {
    return offsetof(struct rm_rows, stream) + rows->stream.slots_offset +
           rows->stream.capacity * sizeof(struct rm_slot);
}
