// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

#include <stdlib.h>

#include "names.h"

static uint32_t fault_of(struct feedback_watch_limits const *limits, struct feedback_watched const *row,
                         int32_t error_nm, bool is_valid) {
    uint32_t fault = is_valid ? 0 : FEEDBACK_ROW_INVALID;
    if (limits->frozen > 0 && row->same >= limits->frozen)
        fault |= FEEDBACK_ROW_FROZEN;
    if (limits->jump_nm > 0 && row->known && llabs((long long)error_nm - row->good) > limits->jump_nm)
        fault |= FEEDBACK_ROW_JUMPED;
    return fault;
}

enum feedback_verdict feedback_watch_take(struct feedback_watch_limits const *limits, struct feedback_watched *row,
                                          int32_t reading_nm, int32_t error_nm, bool is_valid) {
    row->came = true;
    row->same = row->known && reading_nm == row->reading ? row->same + 1 : 0;
    row->reading = reading_nm;
    uint32_t const fault = fault_of(limits, row, error_nm, is_valid);
    if (fault == FEEDBACK_ROW_JUMPED && row->fault == 0)
        return FEEDBACK_LEAP;
    row->sound = fault == 0;
    row->fault |= fault;
    if (!row->sound)
        return FEEDBACK_BAD;
    row->good = error_nm;
    row->known = true;
    return row->fault == 0 ? FEEDBACK_GOOD : FEEDBACK_BAD;
}

void feedback_watch_condemn(struct feedback_watched *row) {
    row->fault |= FEEDBACK_ROW_JUMPED;
    row->sound = false;
}

void feedback_watch_believe(struct feedback_watched *row, int32_t error_nm) {
    row->good = error_nm;
    row->sound = true;
}

bool feedback_watch_close(struct feedback_watch_limits const *limits, struct feedback_watched *row) {
    uint32_t const before = row->reported;
    row->clean = row->sound ? row->clean + 1 : 0;
    if (!row->came && row->gap >= limits->missing)
        row->fault |= FEEDBACK_ROW_SILENT;
    if (row->fault != 0 && row->clean >= limits->return_cycles)
        row->fault = 0;
    bool const good = row->sound && row->fault == 0;
    row->gap = good ? 0 : row->gap + (row->gap < UINT32_MAX);
    row->came = false;
    row->sound = false;
    row->reported = row->fault;
    return row->fault != before;
}
