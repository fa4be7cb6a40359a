// SPDX-License-Identifier: Apache-2.0
/** The recorder: all logs of a configuration, and the workspace that they are of.
 *
 *     rm_recorder_open      the archive's folder, its lock, its files so far
 *     rm_recorder_run       until `ending`: attaches, records, waits for a server that has gone, attaches again
 *     rm_recorder_close
 *
 * From one attaching to the next is a *session*: the streams that the patterns fit are looked up once, and every file
 * begins with what they are. Where a stream was, it goes on in the next session of the same turn-counter epoch.
 */
#ifndef RM_RECORD_RECORDER_H
#define RM_RECORD_RECORDER_H

#include <signal.h>

#include <ringmaster/workspace.h>

#include "configuration.h"
#include "events.h"
#include "folder.h"
#include "follow.h"
#include "follow_images.h"
#include "log.h"
#include "publish.h"
#include "reduce.h"
#include "sealer.h"

enum {
    /** Logs of streams, each with its reductions, of images, and the events. */
    RM_RECORDER_LOGS_MAX = RM_RECORD_LOGS_IN_ALL_MAX,
};

/** A log in all sessions. */
struct rm_recorded_log {
    struct rm_log log;
    struct rm_kept_files kept;
    struct rm_retention retention;
    /** Bytes that come in a second, by what the streams are. Of events 0. */
    double bytes_per_s;
    unsigned compress;
    /** Of streams: which. NULL of reductions and events. */
    struct rm_record_log const *streams;
    /** Of images: which. NULL of others. */
    struct rm_record_images const *images;
    /** Of a reduction: its step, the log that it is of, and which of that one's steps it is. NULL of others. */
    struct rm_record_step const *step;
    unsigned parent, level;

    /* Of a session. */
    struct rm_archived_object *object;
    struct rm_follow *follow;
    uint32_t follow_count;
    /** One for each follower, where the log is reduced. */
    struct rm_reducer *reducer;
    /** Of images: one for each camera, as `object`. */
    struct rm_follow_images *camera;
    uint32_t camera_count;
    uint64_t flushed_ns;

    /** The trouble that an event was written of, and when losses were. */
    unsigned told_trouble;
    uint64_t told_ns;

    /** Records that the streams did not have, and that were lost, by enum rm_mark_reason; of those, told in an event. */
    uint64_t missing, lost[RM_FOLLOW_REASONS], told_lost[RM_FOLLOW_REASONS];
    /** Files that were sealed and deleted; bytes before and after they were stored anew, and the time it took. */
    uint64_t sealed_files, deleted_files, plain_bytes, stored_bytes, store_ns;
};

/** A step of a reduction that was being gathered. */
struct rm_left_level {
    uint64_t step_turns, step, turn_epoch;
    struct rm_statistics statistics;
};

/** Where a stream was left, or a camera. */
struct rm_left_stream {
    unsigned log;
    char name[RM_NAME_BYTES];
    /** Of a camera: the sequence of its last frame. */
    rm_turn next;
    uint64_t turn_epoch;
    struct rm_left_level level[RM_RECORD_STEPS_MAX];
};

struct rm_recorder {
    struct rm_record_configuration const *configuration;
    struct rm_archive_folder folder;
    struct rm_archive_identity identity;
    struct rm_disk disk;
    /** The disk is the caller's: a test's. */
    bool disk_is_lent;
    struct rm_sealer sealer;
    struct rm_recorded_log *log;
    unsigned log_count;
    /** Of the TSC; 0 where no images are recorded. */
    double tick_ns;
    /** Set by a signal. */
    sig_atomic_t volatile const *ending;
    /** Told in lines what people should know. */
    void (*say)(char const *text);

    /* Of a session. */
    struct rm_workspace *workspace;
    struct rm_clock const *clock;
    struct rm_record_moment moment;
    void *memory;
    size_t memory_bytes;
    uint64_t looked_ns, tended_ns, refreshed_ns;
    struct rm_events_watch watch;
    struct rm_published published;
    struct rm_left_stream *left;
    uint32_t left_count;
    bool told_absent;
    /** There was a session before this one. */
    bool began;
};

/** `recorder` is zeroed but for configuration, ending, say, and a lent disk. */
enum rm_code rm_recorder_open(struct rm_recorder *recorder, struct rm_error *error);
enum rm_code rm_recorder_run(struct rm_recorder *recorder, struct rm_error *error);
/** Seals what is left: the counts of the logs are final then. */
void rm_recorder_stop(struct rm_recorder *recorder);
/** Stops, if need be, and frees everything. */
void rm_recorder_close(struct rm_recorder *recorder);

/* ── its parts ── */

/** Takes what the sealer has done into account. */
void rm_recorder_take_done(struct rm_recorder *recorder);

/** Flags of rm_workspace_attach: images may have no server beside them. */
static inline unsigned rm_recorder_attach_flags(struct rm_recorder const *recorder) {
    return recorder->configuration->images_count > 0 ? RM_ATTACH_SERVERLESS : 0;
}

/** Looks up the streams, and makes logs, buffers and followers of them (session.c). */
enum rm_code rm_session_begin(struct rm_recorder *recorder, struct rm_error *error);
/** Writes all that is left, and frees what the session had. */
void rm_session_end(struct rm_recorder *recorder);
/** One turn of the loop. Returns whether there was something to do. */
bool rm_session_step(struct rm_recorder *recorder, enum rm_follow_extent extent);
/** False when the server has gone, or another one has come. */
bool rm_session_lives(struct rm_recorder *recorder, uint64_t generation);
/** Takes the time and the clock. */
void rm_session_look(struct rm_recorder *recorder);

/** Deletes what is older or more than its retention allows (retention.c). */
void rm_retention_apply(struct rm_recorder *recorder);
/** Makes room for so many bytes of a log, by what logs of its own rate or a higher one have; false: there is none. */
bool rm_retention_make_room(struct rm_recorder *recorder, struct rm_recorded_log *log, uint64_t bytes);

#endif
