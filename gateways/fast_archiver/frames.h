// SPDX-License-Identifier: Apache-2.0
/** Frames of one rate, made once from the server's streams and sent to all clients that want them.
 *
 * A frame is X and Y of every id, int32 in the lanes' unit of nm; those that no entry of the file names are 0. X of id 0
 * is the frame counter: the turn divided by the record's period, its low word. Frames are numbered in the order in which
 * they are made; between two gaps, frame n + 1 is one period later than frame n.
 *
 * A frame is made as soon as all streams have passed its turn, or when another one is `wait_turns` ahead. A record that has
 * not come by then is missing: its X and Y are 0, and it is counted. A gap is what the gateway has missed, and a restart
 * of the turn counter: there the frames begin anew, and who reads them has to end.
 *
 * One thread makes frames and reads them. Nothing here writes to the server's memory.
 */
#ifndef FA_FRAMES_H
#define FA_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/calibration.h>
#include <ringmaster/stream.h>
#include <ringmaster/workspace.h>

#include "file.h"

/** Two lanes of a record as X and Y of an id. */
struct fa_pair {
    uint32_t id;
    int lane[2];
    /** From the lane's unit to nm. */
    double scale[2];
};

struct fa_stream {
    struct rm_stream_view view;
    struct rm_calibrated_stream calibration;
    uint64_t turn_epoch;
    struct fa_pair pair;
};

struct fa_frames {
    /** One for each id. */
    struct fa_stream *stream;
    uint32_t stream_count, id_count;
    /** Turns from one frame to the next. */
    uint64_t period;
    /** How far in turns a stream may be behind another one before its records are missing. */
    uint64_t wait_turns;

    /** `capacity` frames, a power of two, of 2 × `id_count` values. */
    int32_t *value;
    uint64_t capacity;
    /** Number of the frame that is made next, and its turn; RM_TURN_NONE: none was made since the last gap. */
    uint64_t next;
    rm_turn next_turn;
    /** One more with each gap. */
    uint64_t gaps;
    /** Records that were missing. */
    uint64_t missing;

    struct rm_record *record;
    uint8_t *result;
};

/** Opens the streams INSTRUMENT/RATE of all entries. `turn_rate_hz` says how much memory so many seconds take.
 * RM_E_CONFIG: the streams are not of one period, or one has no such lane. */
enum rm_code fa_frames_open(struct fa_frames *frames, struct rm_workspace const *workspace, struct fa_file const *file,
                            char const *rate, double turn_rate_hz, struct rm_error *error);
void fa_frames_close(struct fa_frames *frames);

/** Begins behind the newest record there is. False: no stream has one. */
bool fa_frames_begin(struct fa_frames *frames);
/** Makes all frames that can be made. False: there was a gap, and the frames begin anew. */
bool fa_frames_make(struct fa_frames *frames);

/** The values of a frame that was made, no more than `capacity` ago. */
static inline int32_t const *fa_frames_at(struct fa_frames const *frames, uint64_t number) {
    return frames->value + (number & (frames->capacity - 1)) * 2 * frames->id_count;
}

/** The turn of a frame of this stretch between gaps, made or to come. */
static inline rm_turn fa_frames_turn(struct fa_frames const *frames, uint64_t number) {
    return frames->next_turn + (number - frames->next) * frames->period;
}

/** The factor from a lane's unit to nm; 1 for other units. */
double fa_unit_nm(char const *unit);

/** The nearest whole number that int32 has; 0 for what is none. */
static inline int32_t fa_whole(double value) {
    return value >= INT32_MAX   ? INT32_MAX
           : value <= INT32_MIN ? INT32_MIN
           : value == value     ? (int32_t)__builtin_lrint(value)
                                : 0;
}

#endif
