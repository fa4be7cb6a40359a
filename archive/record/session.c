// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "archive/format/block.h"
#include "base/fail.h"
#include "base/timebase.h"
#include "session_images.h"

enum {
    /** So often what there is goes to the disk and is synced: less than half of what may be lost. */
    FLUSH_NS = 400 * 1000 * 1000,
    /** How often it is looked whether the server lives. */
    LOOK_NS = 250 * 1000 * 1000,
    /** How often it is looked for owners that have come. */
    REFRESH_NS = 2000 * 1000 * 1000,
    LOOK_TRIES = 8,
    LOOK_APART_NS = 100 * 1000,
    DONE_MOST = 64,
    /** Logs of less are stored anew by object. */
    SLOW_BYTES_PER_S = 16 << 20,
    /** Where more files wait for the sealer, they stay as they were written. */
    SEALER_WAITING_MAX = 4,
    /** Losses are told once in a second. */
    TELL_NS = 1000 * 1000 * 1000,
    /** How long the end waits for the disk. */
    END_NS = 1000 * 1000 * 1000,
    END_TIMES = 1000,
    /** How often, and how long at a time, it waits for room for what the rings still have. */
    REST_TURNS = 100,
    REST_NS = 10 * 1000 * 1000,
};

/** Whether a file is stored anew: that of a slow log, and one that is compressed, unless the sealer is behind. */
static bool session_regroups(struct rm_recorder *recorder, struct rm_recorded_log const *log) {
    bool const is_slow = log->bytes_per_s < SLOW_BYTES_PER_S;
    return is_slow || (log->compress != RM_COMPRESS_NONE && rm_sealer_waiting(&recorder->sealer) < SEALER_WAITING_MAX);
}

static void session_done_with(void *context, struct rm_log *log, struct rm_log_file const *file) {
    struct rm_recorder *recorder = context;
    struct rm_seal_job *job = calloc(1, sizeof *job);
    if (job == NULL) { /* it is sealed when the recorder starts again */
        free(file->place);
        return;
    }
    job->disk = &recorder->disk;
    job->file = *file;
    job->log = log->index;
    job->compress = recorder->log[log->index].compress;
    job->by_object = session_regroups(recorder, &recorder->log[log->index]);
    rm_sealer_add(&recorder->sealer, job);
}

static bool session_prepare(void *context, struct rm_log *log, uint64_t number) {
    struct rm_recorder *recorder = context;
    if (!rm_retention_make_room(recorder, &recorder->log[log->index], log->file_bytes))
        return false;
    struct rm_seal_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return false;
    job->task = RM_SEAL_MAKE;
    job->disk = &recorder->disk;
    job->log = log->index;
    job->file_bytes = log->file_bytes;
    rm_log_file_path(job->file.path, log->folder, number);
    rm_sealer_add(&recorder->sealer, job);
    return true;
}

static bool session_make_room(void *context, struct rm_log *log, uint64_t bytes) {
    struct rm_recorder *recorder = context;
    return rm_retention_make_room(recorder, &recorder->log[log->index], bytes);
}

/** The nominal rate of the turns, by the server. */
static double session_turn_rate(struct rm_workspace *workspace) {
    struct rm_object const *object;
    void const *parameter;
    if (rm_workspace_find(workspace, RM_OBJECT_PARAMETER, "server/turn_rate_hz", &object, &parameter, NULL) != RM_OK)
        return 0;
    return rm_parameter_read_f64(parameter);
}

enum rm_code rm_session_begin(struct rm_recorder *recorder, struct rm_error *error) {
    struct rm_object const *object;
    void const *clock = NULL;
    if (rm_workspace_find(recorder->workspace, RM_OBJECT_CLOCK, "clock", &object, &clock, NULL) == RM_OK)
        recorder->clock = clock;
    recorder->identity.turn_rate_hz = session_turn_rate(recorder->workspace);
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_log *log = &recorder->log[l].log;
        log->disk = &recorder->disk;
        log->identity = &recorder->identity;
        log->owner = (struct rm_log_owner){recorder, session_done_with, session_prepare, session_make_room};
    }
    enum rm_code const code = rm_session_plan(recorder, error);
    free(recorder->left);
    recorder->left = NULL;
    recorder->left_count = 0;
    rm_session_look(recorder);
    recorder->looked_ns = recorder->moment.now_ns;
    recorder->refreshed_ns = recorder->moment.now_ns;
    if (code != RM_OK || rm_events_begin(&recorder->watch, recorder->workspace, error) != RM_OK)
        return code != RM_OK ? code : RM_E_NO_SPACE;
    recorder->watch.moment = &recorder->moment;
    rm_events_recorder(&recorder->watch, recorder->began ? "attached" : "began", NULL, NULL, 0);
    recorder->began = true;
    return RM_OK;
}

void rm_session_look(struct rm_recorder *recorder) {
    struct rm_record_moment *moment = &recorder->moment;
    for (unsigned tries = 0; tries < LOOK_TRIES;
         ++tries) { /* both of one instant, also where the core was lost between */
        moment->now_ns = rm_monotonic_ns();
        moment->tai_ns = rm_tai_ns();
        if (rm_monotonic_ns() - moment->now_ns < LOOK_APART_NS)
            break;
    }
    if (recorder->clock == NULL || !rm_clock_look(recorder->clock, &moment->clock))
        moment->clock.anchored = moment->clock.anchored && recorder->clock != NULL;
}

/** Whether an application or another owner has come, or come back with other objects: attached anew to see them. */
static bool session_has_news(struct rm_recorder *recorder) {
    struct rm_workspace *now;
    if (recorder->moment.now_ns - recorder->refreshed_ns < REFRESH_NS)
        return false;
    recorder->refreshed_ns = recorder->moment.now_ns;
    if (rm_workspace_attach(recorder->configuration->workspace, rm_recorder_attach_flags(recorder), &now, NULL) !=
        RM_OK)
        return false;
    size_t const count = rm_workspace_object_count(now);
    bool same = count == rm_workspace_object_count(recorder->workspace);
    for (size_t i = 0; same && i < count; ++i)
        same = strcmp(rm_workspace_object(now, i, NULL)->name,
                      rm_workspace_object(recorder->workspace, i, NULL)->name) == 0;
    same = same && !rm_session_images_moved(recorder, now);
    rm_workspace_detach(now);
    return !same;
}

bool rm_session_lives(struct rm_recorder *recorder, uint64_t generation) {
    if (recorder->moment.now_ns - recorder->looked_ns < LOOK_NS)
        return true;
    recorder->looked_ns = recorder->moment.now_ns;
    return rm_workspace_alive(recorder->workspace) && rm_workspace_cut(recorder->workspace) == NULL &&
           rm_workspace_generation(recorder->workspace) == generation && !session_has_news(recorder);
}

/** Tells the logs what the disk has done. */
static bool session_reap(struct rm_recorder *recorder, uint64_t wait_ns) {
    struct rm_disk_done done[DONE_MOST];
    int const count = recorder->disk.ops->reap(recorder->disk.state, done, DONE_MOST, wait_ns);
    for (int i = 0; i < count; ++i)
        rm_log_done(&recorder->log[rm_log_of_tag(done[i].tag)].log, &done[i], recorder->moment.now_ns);
    return count > 0;
}

/** What the log itself has to tell just now: enum rm_mark_reason, or 0. */
static unsigned session_news(struct rm_log const *log) {
    return log->reopened > 0 ? RM_MARK_REOPENED : log->stepped ? RM_MARK_CLOCK_STEPPED : log->ended_trouble;
}

static void session_told(struct rm_log *log, unsigned reason) {
    if (reason == RM_MARK_REOPENED)
        log->reopened = 0;
    else if (reason == RM_MARK_CLOCK_STEPPED)
        log->stepped = false;
    else
        log->ended_trouble = 0;
}

/** Marks what the log itself has to tell: that it was found unsealed, that a trouble has ended, that TAI was stepped. */
static void session_tell(struct rm_log *log, struct rm_record_moment const *moment) {
    unsigned const reason = session_news(log);
    struct rm_mark const mark = {.reason = reason,
                                 .error = reason == log->ended_trouble ? log->ended_error : 0,
                                 .first_turn = RM_TURN_NONE,
                                 .last_turn = RM_TURN_NONE};
    size_t bytes;
    if (reason == 0 || (log->open == NULL && log->object_count == 0))
        return;
    void *payload = rm_log_room(log, sizeof mark, &bytes, moment->now_ns, moment->tai_ns);
    if (payload == NULL)
        return;
    memcpy(payload, &mark, sizeof mark);
    struct rm_block block = {.kind = RM_BLOCK_MARK,
                             .object = UINT32_MAX,
                             .count = 1,
                             .stored_bytes = sizeof mark,
                             .plain_bytes = sizeof mark,
                             .first_turn = RM_TURN_NONE,
                             .first_tai_ns = moment->tai_ns,
                             .last_tai_ns = moment->tai_ns};
    rm_log_append(log, &block);
    session_told(log, reason);
}

/** Writes the steps of a reduction that wait. */
static void session_flush_steps(struct rm_recorder *recorder, struct rm_recorded_log *log) {
    struct rm_recorded_log *parent = &recorder->log[log->parent];
    for (uint32_t i = 0; i < parent->follow_count; ++i) {
        struct rm_reduction_level *level = &parent->reducer[i].level[log->level];
        rm_reduction_flush(&parent->reducer[i], level, &recorder->moment);
        for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r) {
            log->lost[r] += level->lost[r];
            level->lost[r] = 0;
        }
    }
}

static uint64_t session_follow(struct rm_recorded_log *log, struct rm_follow *follow,
                               struct rm_record_moment const *moment, enum rm_follow_extent extent) {
    uint64_t const taken = rm_follow_step(follow, moment, extent);
    log->missing += follow->missing;
    follow->missing = 0;
    for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r) {
        log->lost[r] += follow->lost[r];
        follow->lost[r] = 0;
    }
    return taken;
}

static bool session_step_log(struct rm_recorder *recorder, struct rm_recorded_log *log, enum rm_follow_extent extent) {
    struct rm_record_moment const *moment = &recorder->moment;
    bool const due = moment->now_ns - log->flushed_ns >= FLUSH_NS || extent != RM_FOLLOW_BLOCKS;
    uint64_t taken = 0;
    session_tell(&log->log, moment);
    for (uint32_t i = 0; i < log->follow_count; ++i)
        taken +=
            session_follow(log, &log->follow[i], moment, due && extent == RM_FOLLOW_BLOCKS ? RM_FOLLOW_FLUSH : extent);
    taken += rm_session_images_step(log, moment);
    if (due && log->step != NULL)
        session_flush_steps(recorder, log);
    if (due) {
        rm_log_flush(&log->log);
        log->flushed_ns = moment->now_ns;
    }
    rm_log_work(&log->log, moment->now_ns, moment->tai_ns);
    return taken > 0;
}

/** Events of a log's disk, and of what it lost since the last one. */
static void session_tell_trouble(struct rm_recorder *recorder, struct rm_recorded_log *log, bool now) {
    if (log->log.trouble != log->told_trouble) {
        unsigned const reason = log->log.trouble != 0 ? log->log.trouble : log->told_trouble;
        rm_events_recorder(&recorder->watch, log->log.trouble != 0 ? "trouble" : "trouble_ended", log->log.name,
                           rm_mark_reason_text(reason), 0);
        log->told_trouble = log->log.trouble;
    }
    bool const due = now || recorder->moment.now_ns - log->told_ns >= TELL_NS;
    if (due && log->images != NULL)
        rm_session_images_tell(recorder, log);
    for (unsigned r = 0; due && log->images == NULL && r < RM_FOLLOW_REASONS; ++r)
        if (log->lost[r] != log->told_lost[r]) {
            rm_events_recorder(&recorder->watch, "lost", log->log.name, rm_mark_reason_text(r),
                               log->lost[r] - log->told_lost[r]);
            log->told_lost[r] = log->lost[r];
        }
    log->told_ns = due ? recorder->moment.now_ns : log->told_ns;
}

/** The header of each file has TAI − UTC: where that has become another, all files begin anew. */
static void session_take_leap(struct rm_recorder *recorder) {
    recorder->identity.tai_minus_utc_s = recorder->watch.tai_minus_utc_s;
    for (unsigned l = 0; l < recorder->log_count; ++l)
        rm_log_end_file(&recorder->log[l].log);
    recorder->watch.leapt = false;
}

bool rm_session_step(struct rm_recorder *recorder, enum rm_follow_extent extent) {
    bool busy = session_reap(recorder, 0);
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        session_tell_trouble(recorder, &recorder->log[l], extent != RM_FOLLOW_BLOCKS);
        busy = session_step_log(recorder, &recorder->log[l], extent) || busy;
    }
    rm_events_look(&recorder->watch, &recorder->log[recorder->log_count - 1].log, &recorder->moment,
                   extent != RM_FOLLOW_BLOCKS);
    for (unsigned l = 0; recorder->watch.stepped && l < recorder->log_count; ++l)
        recorder->log[l].log.stepped = true;
    recorder->watch.stepped = false;
    if (recorder->watch.leapt)
        session_take_leap(recorder);
    return busy;
}

static void session_leave_levels(struct rm_reducer const *reducer, struct rm_left_level *left) {
    for (unsigned s = 0; s < reducer->level_count; ++s) {
        struct rm_reduction_level const *level = &reducer->level[s];
        left[s] = (struct rm_left_level){.step_turns = level->step_turns,
                                         .step = level->step,
                                         .turn_epoch = level->turn_epoch,
                                         .statistics = level->statistics};
    }
}

/** Remembers where the streams were left, for the next session. */
static void session_leave(struct rm_recorder *recorder) {
    uint32_t count = 0;
    for (unsigned l = 0; l < recorder->log_count; ++l)
        count += recorder->log[l].follow_count + recorder->log[l].camera_count;
    recorder->left = calloc(count + 1ul, sizeof *recorder->left);
    for (unsigned l = 0; l < recorder->log_count && recorder->left != NULL; ++l) {
        rm_session_images_leave(recorder, l);
        for (uint32_t i = 0; i < recorder->log[l].follow_count; ++i) {
            struct rm_follow const *follow = &recorder->log[l].follow[i];
            struct rm_left_stream *left = &recorder->left[recorder->left_count++];
            *left = (struct rm_left_stream){.log = l, .next = follow->next, .turn_epoch = follow->turn_epoch};
            memcpy(left->name, recorder->log[l].object[i].name, sizeof left->name);
            if (recorder->log[l].reducer != NULL)
                session_leave_levels(&recorder->log[l].reducer[i], left->level);
        }
    }
}

/** Takes all that the rings still have, and says that the server has gone. */
static void session_take_rest(struct rm_recorder *recorder) {
    bool const is_gone = !rm_workspace_alive(recorder->workspace);
    if (is_gone || *recorder->ending)
        rm_events_recorder(&recorder->watch, is_gone ? "server_gone" : "ended", NULL, NULL, 0);
    enum rm_follow_extent const extent = is_gone ? RM_FOLLOW_ALL : RM_FOLLOW_FLUSH;
    for (unsigned turn = 0; rm_session_step(recorder, extent) && turn < REST_TURNS; ++turn) { /* as the disk takes it */
        session_reap(recorder, REST_NS);
        rm_session_look(recorder);
    }
    for (unsigned l = 0; l < recorder->log_count && is_gone; ++l)
        for (uint32_t i = 0; i < recorder->log[l].follow_count; ++i)
            if (recorder->log[l].follow[i].next != RM_TURN_NONE)
                rm_follow_mark(&recorder->log[l].follow[i], &recorder->moment, RM_MARK_OWNER_GONE);
}

/** Waits until all files are closed, unless the disk does not take it. */
static void session_write_rest(struct rm_recorder *recorder) {
    for (unsigned l = 0; l < recorder->log_count; ++l)
        rm_log_end_file(&recorder->log[l].log);
    for (unsigned turn = 0; turn < END_TIMES;) {
        bool idle = true;
        rm_session_look(recorder);
        for (unsigned l = 0; l < recorder->log_count; ++l) {
            rm_log_work(&recorder->log[l].log, recorder->moment.now_ns, recorder->moment.tai_ns);
            idle = idle && rm_log_is_idle(&recorder->log[l].log) && !recorder->log[l].log.preparing;
        }
        rm_recorder_take_done(recorder);
        if (idle)
            break;
        turn += session_reap(recorder, END_NS / 100) ? 0 : 1;
    }
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log *log = &recorder->log[l];
        uint64_t const unwritten = rm_log_unwritten(&log->log);
        log->lost[log->log.trouble != 0 ? log->log.trouble : RM_MARK_DISK_SLOW] += unwritten;
        log->log.figures.records -= unwritten;
        rm_log_unprepare(&log->log);
    }
}

void rm_session_end(struct rm_recorder *recorder) {
    if (recorder->memory != NULL) {
        session_take_rest(recorder);
        session_write_rest(recorder);
        session_leave(recorder);
    }
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log *log = &recorder->log[l];
        for (uint32_t i = 0; log->reducer != NULL && i < log->follow_count; ++i) {
            for (unsigned s = 0; log->reducer[i].level != NULL && s < log->reducer[i].level_count; ++s)
                free(log->reducer[i].level[s].waiting);
            free(log->reducer[i].level);
        }
        rm_session_images_end(recorder, log);
        free(log->reducer);
        log->reducer = NULL;
        free(log->object);
        free(log->follow);
        log->object = NULL;
        log->follow = NULL;
        log->follow_count = 0;
        log->log.object_count = 0;
        rm_log_open(&log->log);
    }
    rm_events_end(&recorder->watch);
    if (recorder->memory != NULL)
        munmap(recorder->memory, recorder->memory_bytes);
    recorder->memory = NULL;
    rm_workspace_detach(recorder->workspace);
    recorder->workspace = NULL;
    recorder->clock = NULL;
}
