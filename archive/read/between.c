// SPDX-License-Identifier: Apache-2.0
/** From times to turns. */
#include "archive_parts.h"
#include "object_check.h"

uint64_t rm_block_tai_ns(struct rm_block const *block, uint32_t i) {
    if (block->count < 2)
        return block->first_tai_ns;
    uint64_t const all_ns = block->last_tai_ns - block->first_tai_ns;
    uint64_t const steps = block->count - 1;
    return block->first_tai_ns + all_ns / steps * i + all_ns % steps * i / steps;
}

/** The first record of a block that is not before a time; `count` where all are. */
static uint32_t block_record_at(struct rm_block const *block, uint64_t tai_ns) {
    uint32_t low = 0, high = block->count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (rm_block_tai_ns(block, middle) < tai_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t rm_time_as_tai(uint64_t ns, enum rm_time_scale scale, int32_t tai_minus_utc_s) {
    uint64_t shifted;
    int64_t const offset_ns = scale == RM_TIME_UTC ? (int64_t)tai_minus_utc_s * 1000000000 : 0;
    return __builtin_add_overflow(ns, offset_ns, &shifted) ? (offset_ns < 0 ? 0 : UINT64_MAX) : shifted;
}

/** Makes a range reach over `count` records from `turn` on. */
static void range_extend(struct rm_archive_range *range, uint64_t turn, uint64_t count, uint64_t period) {
    uint64_t const records = (turn - range->first_turn) / period + count;
    if (records > range->count)
        range->count = records;
}

uint32_t rm_archive_between(struct rm_archive const *archive, uint32_t object, enum rm_time_scale scale,
                            uint64_t from_ns, uint64_t until_ns, struct rm_archive_range *ranges, uint32_t most) {
    if (object >= archive->objects.count)
        return 0;
    struct rm_archive_object const *const it = &rm_archive_parts(archive, object)->public;
    if (!rm_object_is_dense(&it->is))
        return 0;
    uint32_t found = 0, last_run = UINT32_MAX;
    for (uint32_t i = 0; i < it->block_count; ++i) {
        struct rm_archive_block const *const at = &it->block[i];
        int32_t const offset_s = rm_archive_stored_file(archive, at->file)->info.header.tai_minus_utc_s;
        uint64_t const from_tai_ns = rm_time_as_tai(from_ns, scale, offset_s);
        uint64_t const until_tai_ns = rm_time_as_tai(until_ns, scale, offset_s);
        if (at->block.last_tai_ns < from_tai_ns || at->block.first_tai_ns >= until_tai_ns)
            continue;
        uint32_t const first = block_record_at(&at->block, from_tai_ns);
        uint32_t const until = block_record_at(&at->block, until_tai_ns);
        if (first >= until)
            continue;
        uint64_t const turn = at->block.first_turn + first * it->is.period_turns;
        if (at->run != last_run && found++ < most)
            ranges[found - 1] = (struct rm_archive_range){.run = at->run, .first_turn = turn};
        last_run = at->run;
        if (found <= most)
            range_extend(&ranges[found - 1], turn, until - first, it->is.period_turns);
    }
    return found;
}
