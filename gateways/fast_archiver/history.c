// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <stdio.h>
#include <string.h>

#include <ringmaster/errors.h>

static uint64_t const NS_PER_S = 1000000000;

enum rm_code fa_history_open(struct fa_history *history, struct fa_file const *file, uint64_t live_turns,
                             struct rm_error *error) {
    *history = (struct fa_history){.file = file, .live_turns = live_turns};
    if (file->archive == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "No archive");
    return rm_archive_open(file->archive, &history->archive, error);
}

void fa_history_close(struct fa_history *history) {
    rm_archive_close(history->archive);
    history->archive = NULL;
}

bool fa_history_records(struct fa_history const *history, uint32_t id, uint32_t *object) {
    char instrument[RM_NAME_BYTES], name[RM_NAME_BYTES + 32];
    uint32_t number;
    struct fa_file_ids const *const ids = fa_file_find(history->file, id, &number);
    if (ids == NULL || !fa_file_instrument(ids, number, instrument))
        return false;
    snprintf(name, sizeof name, "%s/%s", instrument, history->file->rate);
    return rm_archive_find(history->archive, name, RM_BLOCK_RECORDS, 0, object, NULL) == RM_OK;
}

static uint64_t run_utc_ns(uint64_t tai_ns, int32_t tai_minus_utc_s) {
    return (uint64_t)((int64_t)tai_ns - (int64_t)tai_minus_utc_s * (int64_t)NS_PER_S);
}

bool fa_history_span(struct fa_history const *history, uint64_t *oldest_utc_ns, uint64_t *newest_utc_ns) {
    *oldest_utc_ns = UINT64_MAX;
    *newest_utc_ns = 0;
    for (uint32_t id = 1; id < history->file->id_count; ++id) {
        uint32_t index;
        if (!fa_history_records(history, id, &index))
            continue;
        struct rm_archive_object const *const object = rm_archive_object_at(history->archive, index);
        for (uint32_t r = 0; r < object->run_count; ++r) {
            struct rm_archive_run const *const run = &object->run[r];
            uint64_t const oldest = run_utc_ns(run->first_tai_ns, run->tai_minus_utc_s);
            uint64_t const newest = run_utc_ns(run->last_tai_ns, run->tai_minus_utc_s);
            *oldest_utc_ns = oldest < *oldest_utc_ns ? oldest : *oldest_utc_ns;
            *newest_utc_ns = newest > *newest_utc_ns ? newest : *newest_utc_ns;
        }
    }
    return *newest_utc_ns > 0;
}
