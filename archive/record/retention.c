// SPDX-License-Identifier: Apache-2.0
/** What is deleted, and when. Of every log the oldest file goes first. Where the disk or the quota is full, the log of
 * the highest rate gives, and none gives for a faster one: so reductions are kept longest. */
#include <stdlib.h>

#include "recorder.h"

/** Deletes the oldest file: beside, which takes a while, or at once where its room is needed. */
static void retention_delete_oldest(struct rm_recorder *recorder, struct rm_recorded_log *log, bool at_once) {
    struct rm_seal_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return;
    job->task = RM_SEAL_REMOVE;
    job->disk = &recorder->disk;
    job->log = log->log.index;
    rm_log_file_path(job->file.path, log->log.folder, log->kept.file[0].number);
    if (at_once) {
        rm_seal_job_do(job);
        free(job);
    } else {
        rm_sealer_add(&recorder->sealer, job);
    }
    rm_kept_files_drop(&log->kept);
    ++log->deleted_files;
}

/** Bytes of the log, those of the file that is written included. */
static uint64_t log_bytes(struct rm_recorded_log const *log) {
    uint64_t bytes = log->kept.bytes;
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        bytes += log->log.file[f].handle >= 0 ? log->log.file_bytes : 0;
    return bytes + (log->log.preparing || log->log.prepared >= 0 ? log->log.file_bytes : 0);
}

static uint64_t archive_bytes(struct rm_recorder const *recorder) {
    uint64_t bytes = 0;
    for (unsigned l = 0; l < recorder->log_count; ++l)
        bytes += log_bytes(&recorder->log[l]);
    return bytes;
}

void rm_retention_apply(struct rm_recorder *recorder) {
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log *log = &recorder->log[l];
        struct rm_retention const *kept = &log->retention;
        while (log->kept.count > 0) {
            uint64_t const newest = log->kept.file[0].newest_tai_ns, now = recorder->moment.tai_ns;
            bool const is_old = kept->keep_ns > 0 && newest < now && now - newest > kept->keep_ns;
            if (!is_old && (kept->quota_bytes == 0 || log_bytes(log) <= kept->quota_bytes))
                break;
            retention_delete_oldest(recorder, log, false);
        }
    }
}

/** The log that gives first: of the highest rate, if that is at least `rate`. */
static struct rm_recorded_log *retention_giver(struct rm_recorder *recorder, double rate) {
    struct rm_recorded_log *giver = NULL;
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log *log = &recorder->log[l];
        if (log->kept.count > 0 && log->bytes_per_s >= rate && (giver == NULL || log->bytes_per_s > giver->bytes_per_s))
            giver = log;
    }
    return giver;
}

/** Bytes that logs of at least this rate could give. */
static uint64_t retention_givable(struct rm_recorder const *recorder, double rate) {
    uint64_t bytes = 0;
    for (unsigned l = 0; l < recorder->log_count; ++l)
        bytes += recorder->log[l].bytes_per_s >= rate ? recorder->log[l].kept.bytes : 0;
    return bytes;
}

/** What is left free for slower logs: two files of each. */
static uint64_t retention_reserve(struct rm_recorder const *recorder, double rate) {
    uint64_t bytes = 0;
    for (unsigned l = 0; l < recorder->log_count; ++l)
        if (recorder->log[l].bytes_per_s < rate)
            bytes += 2 * recorder->log[l].log.file_bytes;
    return bytes;
}

bool rm_retention_make_room(struct rm_recorder *recorder, struct rm_recorded_log *log, uint64_t bytes) {
    uint64_t const quota = recorder->configuration->quota_bytes;
    uint64_t const wanted = bytes + retention_reserve(recorder, log->bytes_per_s);
    for (;;) {
        uint64_t free_bytes = 0;
        bool const known =
            recorder->disk.ops->free_bytes(recorder->disk.state, recorder->folder.path, &free_bytes) >= 0;
        bool const fits_quota = quota == 0 || archive_bytes(recorder) + wanted <= quota;
        if (fits_quota && (!known || free_bytes >= wanted))
            return true;
        uint64_t const givable = retention_givable(recorder, log->bytes_per_s);
        bool const would_do = (quota == 0 || archive_bytes(recorder) + wanted <= quota + givable) &&
                              (!known || free_bytes + givable >= wanted);
        struct rm_recorded_log *giver = retention_giver(recorder, log->bytes_per_s);
        if (giver == NULL || !would_do) /* nothing is deleted in vain */
            return false;
        retention_delete_oldest(recorder, giver, fits_quota);
    }
}
