// SPDX-License-Identifier: Apache-2.0
/** What a session records: which streams, into which log, with which buffers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <ringmaster/pattern.h>

#include "archive/format/block.h"
#include "base/fail.h"
#include "base/large_pages.h"
#include "disk_uring.h"
#include "session.h"
#include "session_images.h"

enum {
    BUFFER_LEAST = 64 << 10,
    BUFFER_MOST = 4 << 20,
    FILE_LEAST = 4 << 20,
    FILE_MOST = 256 << 20,
    /** A file is ended after a day, also where little comes. */
    FILE_HOURS = 24,
    QUOTA_SHARE = 8,
    /** A block of a stream is begun for so many bytes. */
    BLOCK_BYTES = 256 << 10,
};

static double const BUFFER_S = 0.25, FILE_S = 120, LAG_S = 0.02, NS_PER_HOUR = 3600e9;

static bool session_wants(struct rm_record_log const *log, char const *stream) {
    for (uint32_t p = 0; p < log->pattern_count; ++p)
        if (rm_pattern_matches(log->pattern[p], stream))
            return true;
    return false;
}

/** The description of a stream, by its head. */
static void session_describe(char const *name, struct rm_stream const *stream, struct rm_archived_object *object) {
    *object = (struct rm_archived_object){
        .kind = RM_BLOCK_RECORDS,
        .record_bytes = sizeof(struct rm_record),
        .period_turns = stream->period,
        .lane_count = stream->lane_count,
        .instrument_kind = stream->instrument_kind,
        .instrument_id = stream->instrument_id,
        .calibrated = stream->calibrated,
        .group_delay_turns = stream->group_delay_turns,
        .closing_delay_turns = stream->closing_delay_turns,
        .gain = stream->gain,
    };
    snprintf(object->name, sizeof object->name, "%s", name);
    memcpy(object->filter, stream->filter, sizeof object->filter);
    memcpy(object->lane, stream->lane, sizeof object->lane);
}

/** Adds a stream to a log; false: it does not fit. */
static bool session_add(struct rm_recorder *recorder, struct rm_recorded_log *log, char const *name) {
    struct rm_follow *follow = &log->follow[log->follow_count];
    struct rm_stream_view view;
    char text[RM_ERROR_TEXT_BYTES];
    if (rm_workspace_stream(recorder->workspace, name, &view, NULL) != RM_OK)
        return false;
    if (log->follow_count > 0 && log->follow[0].view.period != view.period) {
        snprintf(text, sizeof text,
                 "%s: %s has a record every %llu turns and %s every %llu: a log is of one rate; name them in two logs",
                 log->log.name, log->object[0].name, (unsigned long long)log->follow[0].view.period, name,
                 (unsigned long long)view.period);
        recorder->say(text);
        return false;
    }
    uint64_t const capacity = view.mask + 1;
    uint64_t const lag = (uint64_t)(LAG_S * recorder->identity.turn_rate_hz);
    *follow = (struct rm_follow){
        .view = view,
        .log = &log->log,
        .object = log->follow_count,
        .lag_turns = lag < capacity / 8 * view.period ? lag : capacity / 8 * view.period,
        .block_records = BLOCK_BYTES / sizeof(struct rm_record) < capacity / 8 ? BLOCK_BYTES / sizeof(struct rm_record)
                                                                               : capacity / 8,
        .was_empty = rm_stream_head(&view) == RM_TURN_NONE,
        .next = RM_TURN_NONE,
        .head = RM_TURN_NONE,
    };
    session_describe(name, view.header, &log->object[log->follow_count++]);
    return true;
}

/** Where the stream was left in the session before: there it goes on, if its turns are still those. */
static void session_go_on(struct rm_recorder const *recorder, unsigned index, struct rm_follow *follow,
                          char const *name) {
    for (uint32_t i = 0; i < recorder->left_count; ++i) {
        struct rm_left_stream const *left = &recorder->left[i];
        if (left->log == index && strcmp(left->name, name) == 0) {
            follow->next = left->next;
            follow->was_empty = left->next == RM_TURN_NONE;
            follow->turn_epoch = left->turn_epoch;
        }
    }
}

/** Goes on with the step that was being gathered. */
static void session_go_on_reducing(struct rm_recorder const *recorder, unsigned index, char const *name, unsigned which,
                                   struct rm_reduction_level *level) {
    for (uint32_t i = 0; i < recorder->left_count; ++i) {
        struct rm_left_stream const *left = &recorder->left[i];
        if (left->log == index && strcmp(left->name, name) == 0 && left->level[which].step_turns == level->step_turns) {
            level->step = left->level[which].step;
            level->turn_epoch = left->level[which].turn_epoch;
            level->statistics = left->level[which].statistics;
        }
    }
}

static enum rm_code session_match(struct rm_recorder *recorder, unsigned index, struct rm_error *error) {
    static char const STREAM[] = "stream/";
    struct rm_recorded_log *log = &recorder->log[index];
    size_t const objects = rm_workspace_object_count(recorder->workspace);
    log->object = calloc(objects, sizeof *log->object);
    log->follow = calloc(objects, sizeof *log->follow);
    if (log->object == NULL || log->follow == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its streams", log->log.name);
    for (size_t i = 0; i < objects; ++i) {
        struct rm_object const *object = rm_workspace_object(recorder->workspace, i, NULL);
        char const *name = object->name + sizeof STREAM - 1;
        if (object->kind == RM_OBJECT_STREAM && session_wants(log->streams, name) && session_add(recorder, log, name))
            session_go_on(recorder, index, &log->follow[log->follow_count - 1], name);
    }
    if (log->follow_count == 0) {
        char text[RM_ERROR_TEXT_BYTES];
        snprintf(text, sizeof text, "%s: no stream of the workspace fits its patterns: nothing is recorded there",
                 log->log.name);
        recorder->say(text);
    }
    log->log.object = log->object;
    log->log.object_count = log->follow_count;
    return RM_OK;
}

static size_t between(double value, size_t least, size_t most) {
    return value < (double)least ? least : value > (double)most ? most : (size_t)value;
}

static size_t sectors(size_t bytes) { return (bytes + RM_DISK_ALIGNMENT - 1) & ~(size_t)(RM_DISK_ALIGNMENT - 1); }

/** An eighth of what the log may take: of its quota, of the archive's, of what is free on the disk. */
static uint64_t session_file_most(struct rm_recorder const *recorder, struct rm_recorded_log const *log) {
    uint64_t most = UINT64_MAX, free_bytes = 0;
    uint64_t const bounds[] = {
        log->retention.quota_bytes, recorder->configuration->quota_bytes,
        recorder->disk.ops->free_bytes(recorder->disk.state, recorder->folder.path, &free_bytes) >= 0
            ? free_bytes + log->kept.bytes
            : 0};
    for (unsigned i = 0; i < sizeof bounds / sizeof bounds[0]; ++i)
        most = bounds[i] > 0 && bounds[i] / QUOTA_SHARE < most ? bounds[i] / QUOTA_SHARE : most;
    return most;
}

/** Sizes by the rate: a buffer for a quarter of a second, a file for two minutes. */
void rm_session_size(struct rm_recorder const *recorder, struct rm_recorded_log *log) {
    log->log.buffer_bytes = sectors(between(log->bytes_per_s * BUFFER_S, BUFFER_LEAST, BUFFER_MOST));
    log->log.head_bytes = rm_log_head_bytes(log->log.object_count);
    size_t const least = log->log.head_bytes + 2 * (size_t)RM_LOG_BUFFERS * log->log.buffer_bytes;
    log->log.file_ns = (uint64_t)(FILE_HOURS * NS_PER_HOUR);
    uint64_t const most = session_file_most(recorder, log);
    if (log->images != NULL) {
        rm_session_images_size(log, most);
        return;
    }
    uint64_t const wanted = sectors(between(log->bytes_per_s * FILE_S, FILE_LEAST, FILE_MOST));
    log->log.file_bytes = sectors(between((double)(wanted < most ? wanted : most), least, FILE_MOST));
}

/** Turns of a step. One that is a time is the multiple of the step before that comes next to it. */
static uint64_t session_step_turns(struct rm_recorder const *recorder, struct rm_record_step const *step,
                                   uint64_t before) {
    if (step->turns > 0)
        return step->turns;
    return (uint64_t)(step->seconds * recorder->identity.turn_rate_hz / (double)before + 0.5) * before;
}

/** The objects of a reduction are the streams of its log, in steps. */
static enum rm_code session_reduce(struct rm_recorder *recorder, struct rm_recorded_log *log, struct rm_error *error) {
    struct rm_recorded_log *parent = &recorder->log[log->parent];
    log->object = calloc(parent->follow_count + 1ul, sizeof *log->object);
    if (log->object == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its streams", log->log.name);
    log->bytes_per_s = 0;
    for (uint32_t i = 0; i < parent->follow_count; ++i) {
        struct rm_reducer *reducer = &parent->reducer[i];
        struct rm_reduction_level *level = &reducer->level[log->level];
        uint64_t const before = log->level > 0 ? reducer->level[log->level - 1].step_turns : reducer->period_turns;
        uint64_t const step = session_step_turns(recorder, log->step, before);
        if (step <= before || step % before != 0)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: its step is %llu turns, expected a multiple of %llu turns, the step before",
                           log->log.name, (unsigned long long)step, (unsigned long long)before);
        *level = (struct rm_reduction_level){
            .log = &log->log, .object = i, .step_turns = step, .whole = step / reducer->period_turns};
        if (!rm_reduction_level_make(reducer, level))
            return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its steps", log->log.name);
        session_go_on_reducing(recorder, log->parent, parent->object[i].name, log->level, level);
        log->object[i] = parent->object[i];
        log->object[i].kind = RM_BLOCK_REDUCED;
        log->object[i].record_bytes = (uint32_t)rm_reduced_bytes(reducer->lane_count);
        log->object[i].period_turns = step;
        log->bytes_per_s += recorder->identity.turn_rate_hz / (double)step * log->object[i].record_bytes;
    }
    log->log.object = log->object;
    log->log.object_count = parent->follow_count;
    return RM_OK;
}

/** A reducer for each stream of a log that is reduced. */
static enum rm_code session_reducers(struct rm_recorded_log *log, struct rm_error *error) {
    unsigned const levels = log->streams->step_count;
    if (levels == 0 || log->follow_count == 0)
        return RM_OK;
    log->reducer = calloc(log->follow_count, sizeof *log->reducer);
    for (uint32_t i = 0; log->reducer != NULL && i < log->follow_count; ++i) {
        struct rm_archived_object const *object = &log->object[i];
        struct rm_reducer *reducer = &log->reducer[i];
        *reducer = (struct rm_reducer){.level = calloc(levels, sizeof *reducer->level),
                                       .level_count = levels,
                                       .period_turns = object->period_turns,
                                       .lane_count = object->lane_count};
        for (unsigned lane = 0; lane < RM_LANES; ++lane)
            reducer->floats |= object->lane[lane].type == RM_LANE_F32 ? 1u << lane : 0;
        log->follow[i].reduce = rm_reducer_take;
        log->follow[i].context = reducer;
        if (reducer->level == NULL)
            return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its reductions", log->log.name);
    }
    return log->reducer != NULL ? RM_OK
                                : rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its reductions", log->log.name);
}

static void session_rate(struct rm_recorder const *recorder, struct rm_recorded_log *log) {
    log->bytes_per_s = 0;
    for (uint32_t i = 0; i < log->follow_count; ++i)
        log->bytes_per_s +=
            recorder->identity.turn_rate_hz / (double)log->follow[i].view.period * sizeof(struct rm_record);
}

/** Where the buffers of a log may begin: at a large page if they are as large, which the disk then gets in one piece. */
static size_t session_buffers_at(struct rm_log const *log, size_t at) {
    return log->buffer_bytes >= RM_LARGE_PAGE_BYTES ? rm_large_pages_bytes(at) : at;
}

/** Gives a log its buffers and its head, from `at` of the memory on, and lists them for the disk; returns what is behind. */
static size_t session_lay_out(struct rm_recorder const *recorder, struct rm_log *log, size_t at, struct iovec *vector,
                              unsigned *count) {
    at = session_buffers_at(log, at);
    for (unsigned b = 0; b <= RM_LOG_BUFFERS; ++b) {
        uint8_t *const memory = (uint8_t *)recorder->memory + at;
        size_t const bytes = b < RM_LOG_BUFFERS ? log->buffer_bytes : log->head_bytes;
        if (b < RM_LOG_BUFFERS) {
            log->buffer[b].data = memory;
            log->buffer[b].number = *count;
        } else {
            log->head = memory;
            log->head_number = *count;
        }
        vector[(*count)++] = (struct iovec){memory, bytes};
        at += bytes;
    }
    return at;
}

/** One piece of memory for all buffers, told to the disk. */
static enum rm_code session_memory(struct rm_recorder *recorder, struct rm_error *error) {
    struct iovec vector[RM_RECORDER_LOGS_MAX * (RM_LOG_BUFFERS + 1)];
    unsigned count = 0;
    size_t bytes = 0, at = 0;
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_log const *log = &recorder->log[l].log;
        bytes = session_buffers_at(log, bytes) + RM_LOG_BUFFERS * log->buffer_bytes + log->head_bytes;
    }
    recorder->memory_bytes = rm_large_pages_bytes(bytes);
    recorder->memory = rm_large_pages_map(bytes);
    if (recorder->memory == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %zu bytes of buffers: %s", recorder->memory_bytes,
                       strerror(errno));
    /* Now, not while it records. An old kernel refuses. */
    (void)madvise(recorder->memory, recorder->memory_bytes, MADV_POPULATE_WRITE);
    for (unsigned l = 0; l < recorder->log_count; ++l)
        at = session_lay_out(recorder, &recorder->log[l].log, at, vector, &count);
    if (!recorder->disk_is_lent)
        rm_disk_uring_buffers(&recorder->disk, vector, count);
    return RM_OK;
}

/** The log of events has one object, and room for a long line. */
static void session_events(struct rm_recorded_log *log) {
    log->object = calloc(1, sizeof *log->object);
    log->log.object = log->object;
    log->log.object_count = log->object != NULL ? 1 : 0;
    if (log->object != NULL)
        *log->object = (struct rm_archived_object){.name = "events", .kind = RM_BLOCK_EVENTS};
    log->log.buffer_bytes = RM_EVENTS_BUFFER;
    log->log.head_bytes = rm_log_head_bytes(1);
    log->log.file_bytes = 4 * RM_LOG_BUFFERS * (uint64_t)RM_EVENTS_BUFFER;
}

enum rm_code rm_session_plan(struct rm_recorder *recorder, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (unsigned l = 0; l < recorder->log_count && code == RM_OK; ++l) {
        struct rm_recorded_log *log = &recorder->log[l];
        if (log->streams != NULL) {
            code = session_match(recorder, l, error);
            session_rate(recorder, log);
            if (code == RM_OK)
                code = session_reducers(log, error);
        } else if (log->step != NULL) {
            code = session_reduce(recorder, log, error);
        } else if (log->images != NULL) {
            code = rm_session_images_plan(recorder, l, error);
        }
        rm_session_size(recorder, log);
    }
    session_events(&recorder->log[recorder->log_count - 1]);
    return code == RM_OK ? session_memory(recorder, error) : code;
}
