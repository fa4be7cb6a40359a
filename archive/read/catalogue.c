// SPDX-License-Identifier: Apache-2.0
/** What all files together hold: objects, their runs, marks. */
#include <stdlib.h>
#include <string.h>

#include "archive_parts.h"
#include "base/fail.h"
#include "object_check.h"

static bool parts_are(struct rm_object_parts const *parts, char const *log, struct rm_archived_object const *is) {
    return memcmp(&parts->public.is, is, sizeof *is) == 0 && strcmp(parts->public.log, log) == 0;
}

/** The number of an object, which is made where it is new; UINT32_MAX: no memory. `guess` is where it may be. */
static uint32_t archive_object_number(struct rm_archive *archive, struct rm_stored_file const *file,
                                      struct rm_archived_object const *is, uint32_t guess) {
    char const *const log = file->info.header.log;
    if (guess < archive->objects.count && parts_are(rm_archive_parts(archive, guess), log, is))
        return guess;
    for (uint32_t i = 0; i < archive->objects.count; ++i)
        if (parts_are(rm_archive_parts(archive, i), log, is))
            return i;
    struct rm_object_parts **const added = rm_growing_add(&archive->objects, sizeof *added);
    struct rm_object_parts *const parts = added == NULL ? NULL : calloc(1, sizeof *parts);
    if (parts == NULL) {
        archive->objects.count -= added != NULL;
        return UINT32_MAX;
    }
    parts->public.is = *is;
    memcpy(parts->public.log, log, sizeof parts->public.log);
    *added = parts;
    return (uint32_t)archive->objects.count - 1;
}

/** The numbers in the archive of the objects of a file; NULL: no memory. The caller frees them. */
static uint32_t *archive_object_numbers(struct rm_archive *archive, struct rm_stored_file const *file) {
    struct rm_archived_object const *const objects = file->objects.items;
    uint32_t *const numbers = malloc((file->objects.count + 1) * sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < file->objects.count; ++i) {
        numbers[i] = UINT32_MAX;
        if (objects[i].kind == 0)
            continue;
        numbers[i] = archive_object_number(archive, file, &objects[i], i > 0 ? numbers[i - 1] + 1 : 0);
        if (numbers[i] == UINT32_MAX) {
            free(numbers);
            return NULL;
        }
    }
    return numbers;
}

/** Whether a block goes on in the run, or begins another one. */
static bool run_goes_on(struct rm_archive_run const *run, struct rm_block const *block, uint64_t period_turns) {
    return run->turn_epoch == block->turn_epoch && block->first_turn > run->last_turn &&
           block->first_turn % period_turns == run->first_turn % period_turns;
}

/** The last run of an object, or a new one where the block begins it; NULL: no memory. */
static struct rm_archive_run *parts_run(struct rm_object_parts *parts, struct rm_block const *block,
                                        struct rm_log_header const *header) {
    struct rm_archive_run *const runs = parts->runs.items;
    if (parts->runs.count > 0) {
        struct rm_archive_run *const last = &runs[parts->runs.count - 1];
        if (!rm_object_is_dense(&parts->public.is) || run_goes_on(last, block, parts->public.is.period_turns))
            return last;
    }
    struct rm_archive_run *const run = rm_growing_add(&parts->runs, sizeof *run);
    if (run != NULL)
        *run = (struct rm_archive_run){
            .first_turn = block->first_turn,
            .first_tai_ns = block->first_tai_ns,
            .turn_epoch = block->turn_epoch,
            .tai_minus_utc_s = header->tai_minus_utc_s,
        };
    return run;
}

static bool parts_add(struct rm_object_parts *parts, struct rm_block_place const *place, uint32_t file,
                      struct rm_log_header const *header) {
    struct rm_archive_run *const run = parts_run(parts, &place->block, header);
    struct rm_archive_block *const block = run == NULL ? NULL : rm_growing_add(&parts->blocks, sizeof *block);
    if (block == NULL)
        return false;
    *block = (struct rm_archive_block){
        .block = place->block,
        .offset = place->offset,
        .number = place->number,
        .file = file,
        .run = (uint32_t)parts->runs.count - 1,
    };
    run->last_turn = place->block.first_turn;
    if (rm_object_is_dense(&parts->public.is))
        run->last_turn += (place->block.count - 1) * parts->public.is.period_turns;
    run->last_tai_ns = place->block.last_tai_ns;
    parts->public.records += place->block.count;
    parts->public.stored_bytes += place->block.stored_bytes;
    parts->public.plain_bytes += place->block.plain_bytes;
    return true;
}

static bool archive_add_mark(struct rm_archive *archive, struct rm_stored_file const *file,
                             struct rm_file_mark const *found, uint32_t const *numbers) {
    struct rm_archive_mark *const mark = rm_growing_add(&archive->marks, sizeof *mark);
    if (mark == NULL)
        return false;
    *mark = (struct rm_archive_mark){
        .mark = found->mark,
        .object = found->block.object < file->objects.count ? numbers[found->block.object] : UINT32_MAX,
        .turn_epoch = found->block.turn_epoch,
        .tai_ns = found->block.first_tai_ns,
        .tai_minus_utc_s = file->info.header.tai_minus_utc_s,
    };
    memcpy(mark->log, file->info.header.log, sizeof mark->log);
    return true;
}

static bool archive_add_file(struct rm_archive *archive, uint32_t number) {
    struct rm_stored_file const *const file = rm_archive_stored_file(archive, number);
    struct rm_archive_file *const listed = rm_growing_add(&archive->file_list, sizeof *listed);
    uint32_t *const numbers = listed == NULL ? NULL : archive_object_numbers(archive, file);
    if (numbers == NULL)
        return false;
    *listed = file->info;
    struct rm_block_place const *const places = file->places.items;
    struct rm_file_mark const *const marks = file->marks.items;
    bool added = true;
    for (size_t i = 0; i < file->places.count && added; ++i)
        added = parts_add(rm_archive_parts(archive, numbers[places[i].block.object]), &places[i], number,
                          &file->info.header);
    for (size_t i = 0; i < file->marks.count && added; ++i)
        added = archive_add_mark(archive, file, &marks[i], numbers);
    free(numbers);
    return added;
}

static void parts_clear(struct rm_object_parts *parts) {
    parts->blocks.count = 0;
    parts->runs.count = 0;
    parts->public.records = 0;
    parts->public.stored_bytes = 0;
    parts->public.plain_bytes = 0;
}

static void parts_publish(struct rm_object_parts *parts) {
    parts->public.block = parts->blocks.items;
    parts->public.run = parts->runs.items;
    parts->public.block_count = (uint32_t)parts->blocks.count;
    parts->public.run_count = (uint32_t)parts->runs.count;
}

enum rm_code rm_archive_list_damages(struct rm_archive *archive, struct rm_error *error) {
    archive->damages.count = 0;
    for (size_t i = 0; i < archive->files.count; ++i) {
        struct rm_stored_file const *const file = rm_archive_stored_file(archive, i);
        struct rm_archive_damage const *const found = file->damages.items;
        for (size_t k = 0; k < file->damages.count; ++k) {
            struct rm_archive_damage *const damage = rm_growing_add(&archive->damages, sizeof *damage);
            if (damage == NULL)
                return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the list of damages", archive->path);
            *damage = found[k];
        }
    }
    return RM_OK;
}

enum rm_code rm_archive_catalogue(struct rm_archive *archive, struct rm_error *error) {
    archive->file_list.count = 0;
    archive->marks.count = 0;
    for (size_t i = 0; i < archive->objects.count; ++i)
        parts_clear(rm_archive_parts(archive, i));
    for (uint32_t i = 0; i < archive->files.count; ++i)
        if (!archive_add_file(archive, i))
            return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for what is in it", archive->path);
    for (size_t i = 0; i < archive->objects.count; ++i)
        parts_publish(rm_archive_parts(archive, i));
    return rm_archive_list_damages(archive, error);
}
