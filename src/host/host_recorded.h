// SPDX-License-Identifier: Apache-2.0
/** Recorded streams, wherever they are kept: what a replay reads (host_replay.h).
 *
 * It is the whole of what a replay asks of an archive: find a stream by its name, and give its records by turn. All
 * turns are of one turn-counter epoch.
 */
#ifndef RM_HOST_HOST_RECORDED_H
#define RM_HOST_HOST_RECORDED_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

/** A stream that was found. */
struct rm_recorded_stream {
    /** The constant members of its head: period, kind, lanes, filter, delays. */
    struct rm_stream stream;
    /** Names it in `read`. */
    uint32_t number;
    /** Turns of the oldest and of the newest record; RM_TURN_NONE where there is none. */
    rm_turn first, last;
};

struct rm_recorded_source {
    /** Finds a stream by its name, "bpm01/low_latency". RM_E_NOT_FOUND says what was looked at. */
    enum rm_code (*find)(void *context, char const *name, struct rm_recorded_stream *found, struct rm_error *error);
    /** Copies the records of `count` turns from `first` on, a period apart; a turn without a record gives one of
     * RM_TURN_NONE. An error is one of the medium, which ends the replay. */
    enum rm_code (*read)(void *context, uint32_t number, rm_turn first, size_t count, struct rm_record *records,
                         struct rm_error *error);
    void *context;
};

#endif
