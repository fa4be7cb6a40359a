// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "recorder.h"

static uint64_t const EVERY_NS = 250000000;
static double const NS_PER_S = 1e9;

/** Indices of what was added, until the segment is open. */
struct publish_plan {
    rm_owner_index state, bytes_per_s, disk_free;
    struct {
        rm_owner_index oldest_turn, oldest_age_s, durable_age_s, bytes_per_s, ratio, lost, counters;
    } log[RM_RECORDER_LOGS_MAX];
};

static rm_owner_index publish_add(struct rm_owner *owner, char const *log, char const *name, char const *unit,
                                  char const *description, enum rm_element_type type) {
    char whole[RM_NAME_BYTES];
    snprintf(whole, sizeof whole, "recorder/%s%s%s", log != NULL ? log : "", log != NULL ? "/" : "", name);
    return rm_owner_parameter(
        owner,
        &(struct rm_parameter_plan){.name = whole, .unit = unit, .description = description, .type = type, .rows = 1});
}

static void publish_plan(struct rm_owner *owner, struct rm_recorder const *recorder, struct publish_plan *plan) {
    plan->state =
        publish_add(owner, NULL, "state", "", "0: ended, 1: records, 2: a disk is full or refuses", RM_ELEMENT_U32);
    plan->bytes_per_s = publish_add(owner, NULL, "bytes_per_s", "B/s", "what all logs take", RM_ELEMENT_F64);
    plan->disk_free = publish_add(owner, NULL, "disk_free", "B", "free on the archive's disk", RM_ELEMENT_U64);
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        char const *log = recorder->log[l].log.name;
        char counters[RM_NAME_BYTES];
        snprintf(counters, sizeof counters, "counters/recorder/%s", log);
        plan->log[l].oldest_turn =
            publish_add(owner, log, "oldest_turn", "turns", "the oldest turn that is kept", RM_ELEMENT_U64);
        plan->log[l].oldest_age_s = publish_add(owner, log, "oldest_age", "s", "how old that one is", RM_ELEMENT_F64);
        plan->log[l].durable_age_s = publish_add(owner, log, "durable_age", "s",
                                                 "how old the newest record is that is on the disk", RM_ELEMENT_F64);
        plan->log[l].bytes_per_s = publish_add(owner, log, "bytes_per_s", "B/s", "what the log takes", RM_ELEMENT_F64);
        plan->log[l].ratio =
            publish_add(owner, log, "ratio", "", "bytes before and after compression; 1: none", RM_ELEMENT_F64);
        plan->log[l].lost =
            publish_add(owner, log, "lost", "records", "in the streams, and not in the archive", RM_ELEMENT_U64);
        plan->log[l].counters = rm_owner_counters(owner, counters, "what the recorder wrote and lost of a log",
                                                  RM_COUNTER_SET_RECORDER, RM_RECORDER_COUNTERS);
    }
}

static void publish_take(struct rm_published *published, struct rm_recorder const *recorder,
                         struct publish_plan const *plan) {
    struct rm_owner *owner = published->owner;
    published->state = rm_owner_memory(owner, plan->state);
    published->bytes_per_s = rm_owner_memory(owner, plan->bytes_per_s);
    published->disk_free = rm_owner_memory(owner, plan->disk_free);
    for (unsigned l = 0; l < recorder->log_count; ++l)
        published->log[l] = (struct rm_published_log){
            .oldest_turn = rm_owner_memory(owner, plan->log[l].oldest_turn),
            .oldest_age_s = rm_owner_memory(owner, plan->log[l].oldest_age_s),
            .durable_age_s = rm_owner_memory(owner, plan->log[l].durable_age_s),
            .bytes_per_s = rm_owner_memory(owner, plan->log[l].bytes_per_s),
            .ratio = rm_owner_memory(owner, plan->log[l].ratio),
            .lost = rm_owner_memory(owner, plan->log[l].lost),
            .counters = rm_owner_memory(owner, plan->log[l].counters),
            .bytes = recorder->log[l].log.figures.bytes,
        };
}

enum rm_code rm_publish_begin(struct rm_published *published, struct rm_recorder *recorder, struct rm_error *error) {
    struct publish_plan *plan = calloc(1, sizeof *plan);
    struct rm_error why = {.text = ""};
    *published = (struct rm_published){.log = calloc(recorder->log_count + 1ul, sizeof *published->log)};
    enum rm_code code = plan != NULL && published->log != NULL ? RM_OK : RM_E_NO_SPACE;
    if (code == RM_OK)
        code = rm_owner_new(recorder->configuration->workspace, "recorder", &published->owner, &why);
    if (code == RM_OK) {
        publish_plan(published->owner, recorder, plan);
        code = rm_owner_open(published->owner, &why);
    }
    if (code == RM_OK) {
        publish_take(published, recorder, plan);
    } else {
        rm_owner_close(published->owner);
        published->owner = NULL;
    }
    free(plan);
    if (code == RM_E_BUSY)
        return rm_fail(error, code, "%s", why.text);
    if (code != RM_OK)
        recorder->say(why.text); /* it records all the same */
    return RM_OK;
}

/** Records that are in no file and were in a stream. */
static uint64_t publish_counters(struct rm_published_log *shown, struct rm_recorded_log const *log) {
    struct rm_log_figures const *figures = &log->log.figures;
    static unsigned const REASON[] = {RM_MARK_LAPPED, RM_MARK_DISK_FULL, RM_MARK_DISK_SLOW, RM_MARK_DISK_FAILED};
    uint64_t all = 0;
    rm_counter_set(shown->counters, RM_RECORDER_BLOCKS, figures->blocks);
    rm_counter_set(shown->counters, RM_RECORDER_BYTES, figures->bytes);
    rm_counter_set(shown->counters, RM_RECORDER_RECORDS, figures->records);
    rm_counter_set(shown->counters, RM_RECORDER_MISSING, log->missing);
    for (unsigned r = 0; r < sizeof REASON / sizeof REASON[0]; ++r) {
        rm_counter_set(shown->counters, RM_RECORDER_LAPPED + r, log->lost[REASON[r]]);
        all += log->lost[REASON[r]];
    }
    rm_counter_set(shown->counters, RM_RECORDER_ERRORS, figures->errors);
    rm_counter_set(shown->counters, RM_RECORDER_WAITS, figures->stalls);
    rm_counter_set(shown->counters, RM_RECORDER_FILES, log->sealed_files);
    rm_counter_set(shown->counters, RM_RECORDER_DELETED, log->deleted_files);
    rm_counter_set(shown->counters, RM_RECORDER_PLAIN_BYTES, log->plain_bytes);
    rm_counter_set(shown->counters, RM_RECORDER_STORED_BYTES, log->stored_bytes);
    rm_counter_set(shown->counters, RM_RECORDER_STORE_NS, log->store_ns);
    return all;
}

static double publish_age_s(uint64_t tai_ns, uint64_t now_ns) {
    return tai_ns == 0 ? __builtin_nan("") : (double)(int64_t)(now_ns - tai_ns) / NS_PER_S;
}

static void publish_log(struct rm_published_log *shown, struct rm_recorded_log const *log, double seconds,
                        struct rm_stamp stamp) {
    struct rm_log const *writing = &log->log;
    struct rm_kept_file const oldest =
        log->kept.count > 0
            ? log->kept.file[0]
            : (struct rm_kept_file){.first_turn = writing->first_turn, .first_tai_ns = writing->first_tai_ns};
    uint64_t const turn = oldest.first_turn, lost = publish_counters(shown, log);
    rm_parameter_write(shown->oldest_turn, &turn, sizeof turn, stamp);
    rm_parameter_write_f64(shown->oldest_age_s, publish_age_s(oldest.first_tai_ns, stamp.tai_ns), stamp);
    rm_parameter_write_f64(shown->durable_age_s, publish_age_s(writing->figures.durable_tai_ns, stamp.tai_ns), stamp);
    rm_parameter_write_f64(shown->bytes_per_s, (double)(writing->figures.bytes - shown->bytes) / seconds, stamp);
    rm_parameter_write_f64(shown->ratio,
                           log->stored_bytes > 0 ? (double)log->plain_bytes / (double)log->stored_bytes : 1, stamp);
    rm_parameter_write(shown->lost, &lost, sizeof lost, stamp);
}

void rm_publish(struct rm_published *published, struct rm_recorder *recorder) {
    struct rm_record_moment const *moment = &recorder->moment;
    uint64_t const elapsed_ns = moment->now_ns - published->written_ns;
    struct rm_stamp const stamp = {.tai_ns = moment->tai_ns, .turn = RM_TURN_NONE};
    if (published->owner == NULL || elapsed_ns < EVERY_NS)
        return;
    double const seconds = published->written_ns > 0 ? (double)elapsed_ns / NS_PER_S : 1;
    double all = 0;
    uint32_t state = RM_RECORDER_RECORDING;
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log const *log = &recorder->log[l];
        all += (double)(log->log.figures.bytes - published->log[l].bytes) / seconds;
        publish_log(&published->log[l], log, seconds, stamp);
        published->log[l].bytes = log->log.figures.bytes;
        state = log->log.trouble != 0 ? (uint32_t)RM_RECORDER_TROUBLE : state;
    }
    uint64_t free_bytes = 0;
    recorder->disk.ops->free_bytes(recorder->disk.state, recorder->folder.path, &free_bytes);
    rm_parameter_write(published->state, &state, sizeof state, stamp);
    rm_parameter_write_f64(published->bytes_per_s, all, stamp);
    rm_parameter_write(published->disk_free, &free_bytes, sizeof free_bytes, stamp);
    published->written_ns = moment->now_ns;
}

void rm_publish_end(struct rm_published *published, struct rm_recorder *recorder) {
    uint32_t const state = RM_RECORDER_ENDED;
    if (published->owner != NULL) {
        published->written_ns = 0;
        rm_publish(published, recorder);
        rm_parameter_write(published->state, &state, sizeof state,
                           (struct rm_stamp){.tai_ns = recorder->moment.tai_ns, .turn = RM_TURN_NONE});
        rm_owner_close(published->owner);
    }
    free(published->log);
    *published = (struct rm_published){.owner = NULL};
}
