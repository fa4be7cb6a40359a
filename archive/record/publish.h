// SPDX-License-Identifier: Apache-2.0
/** What others see of the recorder: a segment of its own, "recorder", with parameters and counters for each log. */
#ifndef RM_RECORD_PUBLISH_H
#define RM_RECORD_PUBLISH_H

#include <ringmaster/counter.h>
#include <ringmaster/owner.h>

struct rm_recorder;

enum rm_recorder_state {
    RM_RECORDER_ENDED = 0,
    RM_RECORDER_RECORDING = 1,
    /** The disk of a log is full or refuses. */
    RM_RECORDER_TROUBLE = 2,
};

/** What is shown of one log. */
struct rm_published_log {
    struct rm_parameter *oldest_turn, *oldest_age_s, *durable_age_s, *bytes_per_s, *ratio, *lost;
    rm_counter *counters;
    /** Bytes at the last writing, for the rate. */
    uint64_t bytes;
};

struct rm_published {
    struct rm_owner *owner;
    struct rm_parameter *state, *bytes_per_s, *disk_free;
    struct rm_published_log *log;
    uint64_t written_ns;
};

/** Makes the segment. It is no error that it cannot be made, but one that another recorder has it: RM_E_BUSY. */
enum rm_code rm_publish_begin(struct rm_published *published, struct rm_recorder *recorder, struct rm_error *error);
/** Writes all of it, four times a second. */
void rm_publish(struct rm_published *published, struct rm_recorder *recorder);
void rm_publish_end(struct rm_published *published, struct rm_recorder *recorder);

#endif
