// SPDX-License-Identifier: Apache-2.0
/** rm_archive_read. */
#include <stdlib.h>
#include <string.h>

#include "archive_parts.h"
#include "base/fail.h"
#include "object_check.h"

/** A request, and what it needs of its object. */
struct reading {
    struct rm_archive_object const *object;
    struct rm_archive_request const *request;
    struct rm_archive_answer const *answer;
    /** Turn behind the last one that is wanted. */
    uint64_t until_turn;
};

/** The part of a block that is wanted: records from `first` on stand at `to` in the answer. */
struct overlap {
    uint64_t first, to, count;
};

static enum rm_code request_check(struct rm_archive const *archive, struct rm_archive_request const *request,
                                  struct rm_error *error) {
    if (request->object >= archive->objects.count)
        return rm_fail(error, RM_E_ARGUMENT, "%s: has no object %u", archive->path, request->object);
    struct rm_archive_object const *const object = &rm_archive_parts(archive, request->object)->public;
    if (!rm_object_is_dense(&object->is) || request->run >= object->run_count)
        return rm_fail(error, RM_E_ARGUMENT, "%s: has no run %u of records of %s", archive->path, request->run,
                       object->is.name);
    uint64_t const period = object->is.period_turns;
    if (request->first_turn % period != object->run[request->run].first_turn % period)
        return rm_fail(error, RM_E_ARGUMENT, "%s: has no record of turn %llu: they are %llu turns apart from %llu on",
                       object->is.name, (unsigned long long)request->first_turn, (unsigned long long)period,
                       (unsigned long long)object->run[request->run].first_turn);
    if (request->first_turn >= RM_TURN_END || request->count > (RM_TURN_END - request->first_turn) / period)
        return rm_fail(error, RM_E_ARGUMENT, "%s: %llu records from turn %llu on are more turns than there can be",
                       object->is.name, (unsigned long long)request->count, (unsigned long long)request->first_turn);
    return RM_OK;
}

/** The first block of the run that ends behind the first wanted turn. */
static uint32_t reading_first_block(struct reading const *reading) {
    uint32_t low = 0, high = reading->object->block_count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        struct rm_archive_block const *const block = &reading->object->block[middle];
        uint64_t const end = block->block.first_turn + block->block.count * reading->object->is.period_turns;
        bool const before = block->run != reading->request->run ? block->run < reading->request->run
                                                                : end <= reading->request->first_turn;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct overlap reading_overlap(struct reading const *reading, struct rm_block const *block) {
    uint64_t const period = reading->object->is.period_turns;
    uint64_t const wanted = reading->request->first_turn;
    uint64_t const end = block->first_turn + block->count * period;
    uint64_t const from = block->first_turn > wanted ? block->first_turn : wanted;
    uint64_t const until = end < reading->until_turn ? end : reading->until_turn;
    return (struct overlap){
        .first = (from - block->first_turn) / period,
        .to = (from - wanted) / period,
        .count = (until - from) / period,
    };
}

static void reading_times(struct reading const *reading, struct rm_block const *block, struct overlap at,
                          int32_t tai_minus_utc_s) {
    int64_t const offset_ns = (int64_t)tai_minus_utc_s * 1000000000;
    for (uint64_t i = 0; i < at.count; ++i) {
        uint64_t const tai_ns = rm_block_tai_ns(block, (uint32_t)(at.first + i));
        if (reading->answer->tai_ns != NULL)
            reading->answer->tai_ns[at.to + i] = tai_ns;
        if (reading->answer->utc_ns != NULL)
            reading->answer->utc_ns[at.to + i] = tai_ns - (uint64_t)offset_ns;
    }
}

/** What became of a record that the block holds. Records and steps both begin with their turn. */
static enum rm_archive_result record_result(char const *record, uint64_t turn) {
    uint64_t found;
    memcpy(&found, record, sizeof found);
    return found == turn ? RM_ARCHIVE_OK : found == RM_TURN_NONE ? RM_ARCHIVE_MISSING : RM_ARCHIVE_DAMAGED;
}

static void reading_copy(struct reading const *reading, struct rm_block const *block, struct overlap at,
                         char const *plain) {
    size_t const bytes = reading->object->is.record_bytes;
    for (uint64_t i = 0; i < at.count; ++i) {
        char const *const record = plain + (at.first + i) * bytes;
        uint64_t const turn = block->first_turn + (at.first + i) * reading->object->is.period_turns;
        enum rm_archive_result const result = record_result(record, turn);
        if (reading->answer->results != NULL)
            reading->answer->results[at.to + i] = (uint8_t)result;
        if (reading->answer->records != NULL && result == RM_ARCHIVE_OK)
            memcpy((char *)reading->answer->records + (at.to + i) * bytes, record, bytes);
    }
}

static void reading_block(struct rm_archive *archive, struct reading const *reading,
                          struct rm_archive_block const *block, char *plain) {
    struct overlap const at = reading_overlap(reading, &block->block);
    reading_times(reading, &block->block, at,
                  rm_archive_stored_file(archive, block->file)->info.header.tai_minus_utc_s);
    if (reading->answer->records == NULL && reading->answer->results == NULL)
        return;
    if (rm_block_read(archive, block, reading->object->is.record_bytes, plain) == NULL)
        reading_copy(reading, &block->block, at, plain);
    else if (reading->answer->results != NULL)
        memset(reading->answer->results + at.to, archive->changed ? RM_ARCHIVE_NOT_RECORDED : RM_ARCHIVE_DAMAGED,
               at.count);
}

static void reading_clear(struct reading const *reading) {
    struct rm_archive_answer const *const answer = reading->answer;
    size_t const count = reading->request->count;
    if (answer->records != NULL)
        memset(answer->records, 0, count * reading->object->is.record_bytes);
    if (answer->results != NULL)
        memset(answer->results, RM_ARCHIVE_NOT_RECORDED, count);
    if (answer->tai_ns != NULL)
        memset(answer->tai_ns, 0, count * sizeof *answer->tai_ns);
    if (answer->utc_ns != NULL)
        memset(answer->utc_ns, 0, count * sizeof *answer->utc_ns);
}

enum rm_code rm_archive_read(struct rm_archive *archive, struct rm_archive_request const *request,
                             struct rm_archive_answer const *answer, struct rm_error *error) {
    enum rm_code const code = request_check(archive, request, error);
    if (code != RM_OK || request->count == 0)
        return code;
    struct rm_archive_object const *const object = &rm_archive_parts(archive, request->object)->public;
    struct reading const reading = {
        .object = object,
        .request = request,
        .answer = answer,
        .until_turn = request->first_turn + request->count * object->is.period_turns,
    };
    reading_clear(&reading);
    uint32_t const first = reading_first_block(&reading);
    uint32_t until = first, most_bytes = 1;
    while (until < object->block_count && object->block[until].run == request->run &&
           object->block[until].block.first_turn < reading.until_turn) {
        uint32_t const bytes = object->block[until++].block.plain_bytes;
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    char *const plain = malloc(most_bytes);
    if (plain == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", object->is.name);
    for (uint32_t i = first; i < until; ++i)
        reading_block(archive, &reading, &object->block[i], plain);
    free(plain);
    enum rm_code const unchanged = rm_archive_is_unchanged(archive, error);
    return unchanged != RM_OK ? unchanged : rm_archive_list_damages(archive, error);
}
