// SPDX-License-Identifier: Apache-2.0
/** The recorder's statistics for test_statistics.py: lanes of records in, four numbers a lane out. */
#include <stdlib.h>

#include "archive/record/statistics.h"

void property_statistics(int32_t const *lanes, uint8_t const *present, uint32_t records, uint32_t part,
                         uint32_t lane_count, uint32_t floats, float *values);

/** `lanes` [record · 12 + lane] are bits of an i32, or of an f32 where bit `lane` of `floats` is set. The records are
 * added `part` at a time, each part merged into the rest. */
void property_statistics(int32_t const *lanes, uint8_t const *present, uint32_t records, uint32_t part,
                         uint32_t lane_count, uint32_t floats, float *values) {
    struct rm_statistics whole = {.count = 0};
    struct rm_record *record = aligned_alloc(sizeof *record, (records + 1ul) * sizeof *record);
    if (record == NULL)
        abort();
    for (uint32_t i = 0; i < records; ++i) {
        record[i] = (struct rm_record){.turn = present[i] ? i : RM_TURN_NONE};
        for (unsigned lane = 0; lane < RM_LANES; ++lane)
            record[i].lane[lane].i = lanes[i * RM_LANES + lane];
    }
    for (uint32_t from = 0; from < records; from += part) {
        struct rm_statistics some = {.count = 0};
        rm_statistics_add(&some, record + from, from + part < records ? part : records - from, floats);
        rm_statistics_merge(&whole, &some);
    }
    rm_statistics_write(&whole, lane_count, values);
    free(record);
}
