// SPDX-License-Identifier: Apache-2.0
/** The lines that clients of the fast archiver send, as pure functions of text. docs/fast-archiver.md has the protocol.
 *
 *     C letters
 *     S mask [T[E]] [Z] [U] [D]
 *     R source M mask start end [N] [A] [T[E|A]] [Z] [C[Z]]
 */
#ifndef FA_COMMAND_H
#define FA_COMMAND_H

#include "mask.h"

enum {
    /** Bytes of a line, with its end. */
    FA_LINE_BYTES = 4096,
    /** Bytes of an answer that says what is wrong, with its end. */
    FA_ERROR_BYTES = 160,
    /** Of `D` and `DD`: mean, min, max, standard deviation. */
    FA_FIELDS = 4,
};

enum fa_command_kind {
    /** Neither of these. */
    FA_COMMAND_UNKNOWN,
    FA_COMMAND_CONFIGURATION,
    FA_COMMAND_SUBSCRIPTION,
    FA_COMMAND_READ,
};

/** Where times stand in an answer. */
enum fa_times {
    FA_TIMES_NONE,
    /** T: once, of the first frame. */
    FA_TIMES_FIRST,
    /** TE: before each block. */
    FA_TIMES_BLOCKS,
    /** TA: of all blocks, behind the data. */
    FA_TIMES_END,
};

/** A line that begins with S. */
struct fa_subscription {
    struct fa_mask mask;
    enum fa_times times;
    bool id0, uncork, decimated;
};

enum fa_source { FA_SOURCE_FULL, FA_SOURCE_DECIMATED, FA_SOURCE_TWICE };

/** A line that begins with R. */
struct fa_read {
    enum fa_source source;
    /** Bit i: field i of FA_FIELDS. */
    unsigned fields;
    struct fa_mask mask;
    uint64_t start_utc_ns;
    /** Of these one is 0. */
    uint64_t end_utc_ns, count;
    /** N; A: all there is, also where that is less; C, and with Z. */
    bool sends_count, takes_less, contiguous, contiguous_id0;
    enum fa_times times;
    bool id0;
};

enum fa_command_kind fa_command_kind(char const *line);

/** Reads a whole line without its end. False: `error` is the answer, with its line feed. */
bool fa_subscription_parse(char const *line, unsigned id_count, struct fa_subscription *subscription,
                           char error[FA_ERROR_BYTES]);
bool fa_read_parse(char const *line, unsigned id_count, struct fa_read *read, char error[FA_ERROR_BYTES]);

#endif
