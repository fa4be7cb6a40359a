// SPDX-License-Identifier: Apache-2.0
/** The archive as clients of the fast archiver see it: samples of so many frames, in pieces without a gap.
 *
 * A sample covers `sample_turns` turns, and its number is its first turn divided by that. For the source F it is one
 * record; for D and DD it is made of the longest steps that the recorder has kept and that fit, or of records.
 *
 * Samples are sent in blocks, which begin at multiples of `block` samples. A stretch of which nothing was recorded is
 * left out in whole blocks: what of a block was not recorded has zeros. So a gap stands between two blocks, where their
 * times and their id0 show it.
 */
#ifndef FA_HISTORY_H
#define FA_HISTORY_H

#include <ringmaster/archive_read.h>

#include "command.h"
#include "file.h"

enum {
    /** Frames, or samples of D and of DD, in a block. */
    FA_BLOCK_FULL = 128,
    FA_BLOCK_DECIMATED = 16,
    FA_BLOCK_TWICE = 1,
};

/** An id of an answer. */
struct fa_column {
    uint32_t id;
    /** Its object in the archive; UINT32_MAX: the frame counter. */
    uint32_t object;
    uint32_t lane[2];
    double scale[2];
};

/** Samples that follow each other without a gap, as far as they are sent. */
struct fa_piece {
    /** Run of the leading object, its turn-counter epoch, and the times of what of it was recorded here. */
    uint32_t run, turn_epoch;
    uint64_t first_tai_ns, last_tai_ns;
    /** TAI − UTC of the file that it begins in, in seconds. */
    int32_t tai_minus_utc_s;
    /** Numbers of its first sample and of the one behind its last. */
    uint64_t first, until;
    /** The same of what was recorded: before and behind it are zeros. */
    uint64_t recorded_first, recorded_until;
};

/** What an R request comes to. */
struct fa_plan {
    struct fa_column *column;
    uint32_t column_count;
    /** The column whose object says what was recorded when. */
    uint32_t lead;
    struct fa_piece *piece;
    uint32_t piece_count;
    uint64_t frame_turns, sample_turns, block, samples;
};

struct fa_history {
    struct rm_archive *archive;
    struct fa_file const *file;
    /** Turns of a frame, by the server; 0: not known. */
    uint64_t live_turns;
};

enum rm_code fa_history_open(struct fa_history *history, struct fa_file const *file, uint64_t live_turns,
                             struct rm_error *error);
void fa_history_close(struct fa_history *history);

/** The object of an id's records; false: the archive has none. */
bool fa_history_records(struct fa_history const *history, uint32_t id, uint32_t *object);

/** Oldest and newest time of any id's records, in UTC. False: there are none. */
bool fa_history_span(struct fa_history const *history, uint64_t *oldest_utc_ns, uint64_t *newest_utc_ns);

/** Finds out what a request comes to. RM_E_ARGUMENT: the text is the answer to the client. */
enum rm_code fa_plan_make(struct fa_plan *plan, struct fa_history const *history, struct fa_read const *read,
                          struct rm_error *error);
void fa_plan_free(struct fa_plan *plan);

/** UTC of a sample's begin, in microseconds since 1970. */
uint64_t fa_plan_utc_us(struct fa_plan const *plan, struct fa_history *history, struct fa_piece const *piece,
                        uint64_t sample);

/** Reads samples from `first` on of one piece into `values`: for each sample, each column, each field of `fields`: X
 * and Y. */
enum rm_code fa_plan_read(struct fa_plan const *plan, struct fa_history *history, struct fa_piece const *piece,
                          uint64_t first, uint64_t count, unsigned fields, int32_t *values, struct rm_error *error);

#endif
