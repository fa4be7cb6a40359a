// SPDX-License-Identifier: Apache-2.0
#include "recorded_archive.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringmaster/archive_read.h>

#include "base/fail.h"
#include "base/nearest.h"

enum {
    /** Two streams that were recorded together may have times that differ by so much: the clock was fitted anew. */
    SLACK_NS = 100000000,
    /** So often in one read the archive may turn out to be another than at the last look. */
    LOOKS_MAX = 16,
};

/** A stream that was found. */
struct rm_recorded_run {
    uint32_t object, run;
    /** What the run was when it was found: a look may number the runs anew. */
    struct rm_archive_run is;
};

struct rm_recorded_archive {
    char const *path;
    struct rm_archive *archive;
    struct rm_recorded_run *found;
    uint32_t count;
    /** A byte for each record of a read, and how many there is room for. */
    uint8_t *results;
    size_t room;
    /** Run of the first stream that was found. */
    struct rm_archive_run leading;
};

/* ── opening ── */

bool rm_recorded_archive_is(char const *path) {
    char file[PATH_MAX];
    int const length = snprintf(file, sizeof file, "%s/archive", path);
    return length > 0 && (size_t)length < sizeof file && access(file, F_OK) == 0;
}

enum rm_code rm_recorded_archive_open(char const *path, struct rm_recorded_archive **archive, struct rm_error *error) {
    struct rm_recorded_archive *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %s", path);
    made->path = path;
    enum rm_code const code = rm_archive_open(path, &made->archive, error);
    if (code == RM_OK)
        *archive = made;
    else
        rm_recorded_archive_close(made);
    return code;
}

void rm_recorded_archive_close(struct rm_recorded_archive *archive) {
    if (archive == NULL)
        return;
    rm_archive_close(archive->archive);
    free(archive->found);
    free(archive->results);
    free(archive);
}

/* ── finding ── */

static enum rm_code recorded_archive_miss(struct rm_recorded_archive const *archive, char const *name,
                                          struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < rm_archive_object_count(archive->archive); ++i) {
        struct rm_archived_object const *is = &rm_archive_object_at(archive->archive, i)->is;
        if (is->kind == RM_BLOCK_RECORDS)
            rm_nearest_offer(&nearest, is->name);
    }
    if (nearest.name != NULL)
        return rm_fail(error, RM_E_NOT_FOUND, "%s: no stream %s in it; did you mean %s?", archive->path, name,
                       nearest.name);
    return rm_fail(error, RM_E_NOT_FOUND, "%s: no stream %s in it", archive->path, name);
}

/** Whether two runs were recorded at the same time, by their turns and by the clock. */
static bool run_overlaps(struct rm_archive_run const *one, struct rm_archive_run const *other) {
    return one->first_turn <= other->last_turn && other->first_turn <= one->last_turn &&
           one->first_tai_ns <= other->last_tai_ns + SLACK_NS && other->first_tai_ns <= one->last_tai_ns + SLACK_NS;
}

/** The newest run of the epoch that is replayed, or NULL; the first stream's newest run says which that is. */
static struct rm_archive_run const *recorded_archive_choose(struct rm_recorded_archive *archive,
                                                            struct rm_archive_object const *object) {
    struct rm_archive_run const *newest = object->run_count > 0 ? &object->run[object->run_count - 1] : NULL;
    if (archive->count == 0) {
        archive->leading = newest != NULL ? *newest : (struct rm_archive_run){.first_turn = RM_TURN_NONE};
        return newest;
    }
    for (uint32_t i = object->run_count; i > 0; --i)
        if (run_overlaps(&object->run[i - 1], &archive->leading))
            return &object->run[i - 1];
    return NULL;
}

static void recorded_describe(struct rm_archived_object const *is, struct rm_stream *stream) {
    *stream = (struct rm_stream){
        .period = is->period_turns,
        .instrument_kind = is->instrument_kind,
        .instrument_id = is->instrument_id,
        .lane_count = is->lane_count,
        .group_delay_turns = is->group_delay_turns,
        .closing_delay_turns = is->closing_delay_turns,
        .gain = is->gain,
        .calibrated = is->calibrated,
    };
    memcpy(stream->filter, is->filter, sizeof stream->filter);
    memcpy(stream->lane, is->lane, sizeof stream->lane);
}

static enum rm_code recorded_archive_find(void *context, char const *name, struct rm_recorded_stream *found,
                                          struct rm_error *error) {
    struct rm_recorded_archive *archive = context;
    struct rm_recorded_run at;
    if (rm_archive_find(archive->archive, name, RM_BLOCK_RECORDS, 0, &at.object, NULL) != RM_OK)
        return recorded_archive_miss(archive, name, error);
    struct rm_archive_object const *object = rm_archive_object_at(archive->archive, at.object);
    struct rm_recorded_run *grown = realloc(archive->found, (archive->count + 1ul) * sizeof *grown);
    if (grown == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %s", name);
    struct rm_archive_run const *run = recorded_archive_choose(archive, object);
    at.run = run != NULL ? (uint32_t)(run - object->run) : 0;
    at.is = run != NULL ? *run : (struct rm_archive_run){.first_turn = RM_TURN_NONE};
    archive->found = grown;
    archive->found[archive->count] = at;
    *found = (struct rm_recorded_stream){
        .number = archive->count++,
        .first = run != NULL ? run->first_turn : RM_TURN_NONE,
        .last = run != NULL ? run->last_turn : RM_TURN_NONE,
    };
    recorded_describe(&object->is, &found->stream);
    return RM_OK;
}

/* ── reading ── */

static enum rm_code recorded_archive_room(struct rm_recorded_archive *archive, size_t count, struct rm_error *error) {
    uint8_t *const grown = count > archive->room ? realloc(archive->results, count) : archive->results;
    if (grown == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for %zu records", archive->path, count);
    archive->results = grown;
    archive->room = count > archive->room ? count : archive->room;
    return RM_OK;
}

/** Whether a run is what another one has become, which grew, or whose oldest records are gone. */
static bool run_is_of(struct rm_archive_run const *now, struct rm_archive_run const *was) {
    return now->turn_epoch == was->turn_epoch && now->first_turn <= was->last_turn &&
           was->first_turn <= now->last_turn && now->first_tai_ns <= was->last_tai_ns &&
           was->first_tai_ns <= now->last_tai_ns;
}

/** Looks where a recorder has removed files or stored them anew since, and finds the runs again. */
static enum rm_code recorded_archive_look(struct rm_recorded_archive *archive, struct rm_error *error) {
    enum rm_code const code = rm_archive_refresh(archive->archive, error);
    for (uint32_t i = 0; code == RM_OK && i < archive->count; ++i) {
        struct rm_recorded_run *const found = &archive->found[i];
        struct rm_archive_object const *const object = rm_archive_object_at(archive->archive, found->object);
        for (uint32_t run = 0; run < object->run_count; ++run)
            if (run_is_of(&object->run[run], &found->is)) {
                found->run = run;
                break;
            }
    }
    return code;
}

static enum rm_code recorded_archive_read(void *context, uint32_t number, rm_turn first, size_t count,
                                          struct rm_record *records, struct rm_error *error) {
    struct rm_recorded_archive *archive = context;
    struct rm_recorded_run const *const at = &archive->found[number];
    if (count == 0)
        return RM_OK;
    enum rm_code code = recorded_archive_room(archive, count, error);
    if (code != RM_OK)
        return code;
    struct rm_archive_answer const answer = {.records = records, .results = archive->results};
    for (unsigned looks = 0; looks == 0 || (code == RM_E_BUSY && looks < LOOKS_MAX); ++looks) {
        code = looks > 0 ? recorded_archive_look(archive, error) : RM_OK;
        struct rm_archive_request const request = {
            .object = at->object, .run = at->run, .first_turn = first, .count = count};
        code = code == RM_OK ? rm_archive_read(archive->archive, &request, &answer, error) : code;
    }
    for (size_t i = 0; code == RM_OK && i < count; ++i)
        if (archive->results[i] != RM_ARCHIVE_OK)
            records[i].turn = RM_TURN_NONE;
    return code;
}

struct rm_recorded_source rm_recorded_archive_source(struct rm_recorded_archive *archive) {
    return (struct rm_recorded_source){
        .find = recorded_archive_find, .read = recorded_archive_read, .context = archive};
}
