// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "disk_uring.h"

enum {
    /** How long it sleeps where nothing has come. */
    IDLE_NS = 1000 * 1000,
    /** How often it looks for a server that is not there. */
    ABSENT_NS = 250 * 1000 * 1000,
    TEND_NS = 500 * 1000 * 1000,
};

static double const NS_PER_S = 1e9;

/** A log for each step: "fast-1s". */
static void recorder_list_steps(struct rm_recorder *recorder, struct rm_record_log const *given) {
    unsigned const parent = recorder->log_count - 1;
    for (uint32_t s = 0; s < given->step_count; ++s) {
        struct rm_recorded_log *log = &recorder->log[recorder->log_count++];
        log->step = &given->step[s];
        log->retention = log->step->retention;
        log->compress = given->compress;
        log->parent = parent;
        log->level = s;
        rm_record_step_name(given, log->step, log->log.name);
    }
}

/** Logs in the order of the file: each with its reductions, then the images and the events. Their number and names were checked. */
static enum rm_code recorder_list_logs(struct rm_recorder *recorder, struct rm_error *error) {
    struct rm_record_configuration const *configuration = recorder->configuration;
    recorder->log = calloc(RM_RECORDER_LOGS_MAX, sizeof *recorder->log);
    if (recorder->log == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the logs");
    for (uint32_t l = 0; l < configuration->log_count; ++l) {
        struct rm_record_log const *given = &configuration->log[l];
        struct rm_recorded_log *log = &recorder->log[recorder->log_count++];
        log->streams = given;
        log->retention = given->retention;
        log->compress = given->compress;
        snprintf(log->log.name, sizeof log->log.name, "%s", given->name);
        recorder_list_steps(recorder, given);
    }
    for (uint32_t i = 0; i < configuration->images_count; ++i) {
        struct rm_recorded_log *log = &recorder->log[recorder->log_count++];
        log->images = &configuration->images[i];
        log->retention = log->images->retention;
        log->compress = log->images->compress;
        snprintf(log->log.name, sizeof log->log.name, "%s", log->images->name);
    }
    struct rm_recorded_log *events = &recorder->log[recorder->log_count++];
    events->retention = configuration->events.retention;
    snprintf(events->log.name, sizeof events->log.name, "events");
    return RM_OK;
}

static enum rm_code recorder_open_log(struct rm_recorder *recorder, unsigned index, struct rm_error *error) {
    struct rm_recorded_log *log = &recorder->log[index];
    struct rm_log_found found;
    char text[RM_ERROR_TEXT_BYTES];
    snprintf(log->log.folder, sizeof log->log.folder, "%.*s/%s", PATH_MAX - RM_LOG_NAME_BYTES - 2,
             recorder->folder.path, log->log.name);
    enum rm_code const code =
        rm_log_folder_open(&recorder->folder, &recorder->disk, log->log.name, &log->kept, &found, recorder->say, error);
    log->log.index = index;
    log->log.next_number = found.next_number;
    log->log.reopened = found.reopened;
    rm_log_open(&log->log);
    if (code == RM_OK && found.reopened > 0) {
        snprintf(text, sizeof text, "%s: %u files had not been sealed: their ends were found, %llu bytes are damaged",
                 log->log.name, found.reopened, (unsigned long long)found.damaged_bytes);
        recorder->say(text);
    }
    return code;
}

static bool recorder_knows(struct rm_recorder const *recorder, char const *name) {
    static char const *const OURS[] = {".", "..", "archive", "recorder.lock", "pinned"};
    bool known = false;
    for (unsigned i = 0; i < sizeof OURS / sizeof OURS[0]; ++i)
        known = known || strcmp(name, OURS[i]) == 0;
    for (unsigned l = 0; l < recorder->log_count; ++l)
        known = known || strcmp(name, recorder->log[l].log.name) == 0;
    return known;
}

/** Names what lies in the archive's folder and is none of its logs. */
static void recorder_name_foreign(struct rm_recorder const *recorder) {
    DIR *folder = opendir(recorder->folder.path);
    char text[RM_ERROR_TEXT_BYTES];
    for (struct dirent const *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (!recorder_knows(recorder, entry->d_name)) {
            snprintf(text, sizeof text, "%.300s/%.100s: is no log of this recorder; it is left as it is",
                     recorder->folder.path, entry->d_name);
            recorder->say(text);
        }
    if (folder != NULL)
        closedir(folder);
}

/** TAI − UTC as the kernel was told; 0 where nothing told it. */
static int32_t recorder_tai_minus_utc(void) {
    struct timex state = {.modes = 0};
    return adjtimex(&state) >= 0 ? state.tai : 0;
}

enum rm_code rm_recorder_open(struct rm_recorder *recorder, struct rm_error *error) {
    recorder->folder.lock = -1;
    if (recorder->identity.tai_minus_utc_s == 0)
        recorder->identity.tai_minus_utc_s = recorder_tai_minus_utc();
    if (recorder->configuration->images_count > 0)
        recorder->tick_ns = NS_PER_S / rm_tsc_hz_measure();
    enum rm_code code = recorder_list_logs(recorder, error);
    if (code == RM_OK)
        code = rm_archive_folder_open(&recorder->folder, recorder->configuration->directory, error);
    if (code == RM_OK && !recorder->disk_is_lent)
        code = rm_disk_uring_open(&recorder->disk, error);
    if (code != RM_OK)
        return code;
    recorder_name_foreign(recorder);
    memcpy(recorder->identity.uuid, recorder->folder.uuid, sizeof recorder->identity.uuid);
    for (unsigned l = 0; l < recorder->log_count && code == RM_OK; ++l)
        code = recorder_open_log(recorder, l, error);
    return code == RM_OK ? rm_sealer_start(&recorder->sealer, error) : code;
}

void rm_recorder_take_done(struct rm_recorder *recorder) {
    for (struct rm_seal_job *job; (job = rm_sealer_take(&recorder->sealer)) != NULL; free(job)) {
        struct rm_recorded_log *log = &recorder->log[job->log];
        if (job->task == RM_SEAL_MAKE)
            rm_log_prepared(&log->log, job->file.handle);
        if (job->task != RM_SEAL_SEAL)
            continue;
        struct rm_kept_file const kept = {.number = job->file.number,
                                          .bytes = job->sealed.bytes,
                                          .first_turn = job->sealed.first_turn,
                                          .first_tai_ns = job->sealed.first_tai_ns,
                                          .newest_tai_ns = job->sealed.newest_tai_ns};
        if (job->code != RM_OK)
            recorder->say(job->error.text);
        if (job->sealed.bytes > 0)
            rm_kept_files_add(&log->kept, &kept);
        ++log->sealed_files;
        log->plain_bytes += job->plain_bytes;
        log->stored_bytes += job->stored_bytes;
        log->store_ns += job->store_ns;
    }
}

static void recorder_tend(struct rm_recorder *recorder) {
    rm_recorder_take_done(recorder);
    if (recorder->moment.now_ns - recorder->tended_ns < TEND_NS)
        return;
    recorder->tended_ns = recorder->moment.now_ns;
    rm_retention_apply(recorder);
}

static void recorder_nap(uint64_t ns) { nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL); }

/** Attaches, and shows itself there: what it shows is then part of what it sees, and no news later. */
static enum rm_code recorder_attach_shown(struct rm_recorder *recorder, struct rm_error *error) {
    char const *name = recorder->configuration->workspace;
    enum rm_code code = rm_workspace_attach(name, rm_recorder_attach_flags(recorder), &recorder->workspace, error);
    if (code != RM_OK || recorder->published.log != NULL)
        return code;
    rm_workspace_detach(recorder->workspace);
    recorder->workspace = NULL;
    code = rm_publish_begin(&recorder->published, recorder, error);
    return code == RM_OK ? rm_workspace_attach(name, rm_recorder_attach_flags(recorder), &recorder->workspace, error)
                         : code;
}

/** Attaches; while there is no server it waits, and says so once. */
static enum rm_code recorder_attach(struct rm_recorder *recorder, struct rm_error *error) {
    struct rm_error why;
    while (!*recorder->ending) {
        if (recorder_attach_shown(recorder, &why) == RM_OK) {
            recorder->told_absent = false;
            return rm_session_begin(recorder, error);
        }
        if (why.code == RM_E_VERSION || why.code == RM_E_BUSY)
            return rm_fail(error, why.code, "%s", why.text);
        if (!recorder->told_absent)
            recorder->say(why.text);
        recorder->told_absent = true;
        recorder_nap(ABSENT_NS);
        rm_session_look(recorder);
        recorder_tend(recorder);
    }
    return RM_OK;
}

enum rm_code rm_recorder_run(struct rm_recorder *recorder, struct rm_error *error) {
    enum rm_code code = RM_OK;
    while (!*recorder->ending && code == RM_OK) {
        code = recorder_attach(recorder, error);
        uint64_t const generation = recorder->workspace != NULL ? rm_workspace_generation(recorder->workspace) : 0;
        while (recorder->workspace != NULL && code == RM_OK && !*recorder->ending) {
            rm_session_look(recorder);
            bool const busy = rm_session_step(recorder, RM_FOLLOW_BLOCKS);
            recorder_tend(recorder);
            rm_publish(&recorder->published, recorder);
            if (!rm_session_lives(recorder, generation))
                break;
            if (!busy)
                recorder_nap(IDLE_NS);
        }
        if (recorder->workspace != NULL)
            rm_session_end(recorder);
    }
    return code;
}

void rm_recorder_stop(struct rm_recorder *recorder) {
    if (!recorder->sealer.started)
        return;
    rm_sealer_stop(&recorder->sealer);
    rm_recorder_take_done(recorder);
}

void rm_recorder_close(struct rm_recorder *recorder) {
    rm_recorder_stop(recorder);
    rm_publish_end(&recorder->published, recorder);
    for (unsigned l = 0; l < recorder->log_count; ++l)
        rm_kept_files_free(&recorder->log[l].kept);
    free(recorder->log);
    free(recorder->left);
    if (!recorder->disk_is_lent && recorder->disk.state != NULL)
        rm_disk_uring_close(&recorder->disk);
    rm_archive_folder_close(&recorder->folder);
    recorder->log = NULL;
    recorder->log_count = 0;
}
