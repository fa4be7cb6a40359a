// SPDX-License-Identifier: Apache-2.0
/** Everything that happens beside the streams, as lines of JSON in the log "events": docs/archive-format.md has their
 * keys. It looks ten times a second at what the fabric shows, and writes what is new.
 *
 *     struct rm_events_watch watch;
 *     rm_events_begin(&watch, workspace, …);          the present value of every parameter
 *     rm_events_look(&watch, log, moment);            what has changed, into the log
 *     rm_events_end(&watch);
 */
#ifndef RM_RECORD_EVENTS_H
#define RM_RECORD_EVENTS_H

#include <stdio.h>

#include <ringmaster/grant.h>
#include <ringmaster/request.h>
#include <ringmaster/workspace.h>

#include "follow.h"

enum {
    /** A change of what is read (no setting, not writable) is written once in a second, and of longer arrays than this
     * once in ten seconds: it is a sample. Settings are written whenever they change. */
    RM_EVENTS_ARRAY = 16,
    /** Bytes of lines that wait for the log; what comes then is lost, and counted. */
    RM_EVENTS_WAITING_MAX = 1 << 20,
    /** A longer line is lost: the value of an array of some 5000 numbers. */
    RM_EVENTS_LINE_MAX = 1 << 17,
    /** Bytes of a buffer of the log: a line fits. */
    RM_EVENTS_BUFFER = 1 << 18,
};

/** A parameter, and what was written of it last. */
struct rm_watched_parameter {
    struct rm_object const *object;
    struct rm_parameter const *parameter;
    /** Its values, and their bytes, as they were checked when the workspace was attached. */
    void const *values;
    size_t bytes;
    uint64_t sequence, written_ns;
    enum rm_severity severity;
    bool is_setting;
};

struct rm_watched_replies {
    struct rm_object const *object;
    struct rm_replies const *replies;
    uint64_t head;
};

struct rm_watched_grant {
    struct rm_grant const *grant;
    uint64_t sequence, offence_sequence;
};

/** A text, which never changes: the server's configuration, the units of a calibration. */
struct rm_watched_text {
    struct rm_object const *object;
    char const *text;
    bool written;
};

struct rm_events_watch {
    struct rm_watched_parameter *parameter;
    struct rm_watched_replies *replies;
    struct rm_watched_grant *grant;
    struct rm_watched_text *text;
    uint32_t parameter_count, replies_count, grant_count, text_count;
    /** Lines that were not taken by the log yet. */
    char *lines;
    size_t length;
    uint32_t count;
    FILE *out;
    uint64_t looked_ns, clock_ns;
    /** The moment of this look. */
    struct rm_record_moment const *moment;
    /** TAI less CLOCK_MONOTONIC at the last look; 0: there was none. */
    int64_t tai_offset_ns;
    int32_t tai_minus_utc_s;
    /** TAI was stepped, and the logs have not been told. */
    bool stepped;
    /** TAI − UTC has become another, and the files do not tell it yet. */
    bool leapt;
    /** Lines that were lost, and of those the ones that are not told yet. */
    uint64_t lost, untold;
};

enum rm_code rm_events_begin(struct rm_events_watch *watch, struct rm_workspace *workspace, struct rm_error *error);
void rm_events_end(struct rm_events_watch *watch);

/** Writes what is new; at most ten times a second, unless `now`. */
void rm_events_look(struct rm_events_watch *watch, struct rm_log *log, struct rm_record_moment const *moment, bool now);

/** A line about the recorder itself: what is one of "began", "attached", "ended", "server_gone", "trouble", "trouble_ended", "lost",
 * "reopened"; `log` and `reason` may be NULL. */
void rm_events_recorder(struct rm_events_watch *watch, char const *what, char const *log, char const *reason,
                        uint64_t count);

/** The same of frames of a camera that were lost. */
void rm_events_lost_frames(struct rm_events_watch *watch, char const *log, char const *camera, char const *reason,
                           uint64_t count);

/* ── its parts ── */

/** Begins a line: {"event":"…","tai_ns":…; rm_events_line_end ends it. */
FILE *rm_events_line(struct rm_events_watch *watch, char const *event, uint64_t tai_ns);
void rm_events_line_end(struct rm_events_watch *watch);

/** Writes a number; what JSON has none for as a text: "nan", "inf", "-inf". */
void rm_events_number(FILE *out, double value, int digits);

/** Looks at one kind of things (events_parameters.c, events_texts.c, events_guard.c,
 * events_clock.c). */
void rm_events_look_parameters(struct rm_events_watch *watch);
void rm_events_look_texts(struct rm_events_watch *watch);
void rm_events_look_guard(struct rm_events_watch *watch);
void rm_events_look_clock(struct rm_events_watch *watch);

#endif
