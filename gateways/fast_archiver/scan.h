// SPDX-License-Identifier: Apache-2.0
/** A line that is read from its begin to its end, character by character. The first thing that is wrong is kept. */
#ifndef FA_SCAN_H
#define FA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fa_scan {
    /** The line, ended by a zero, and where the reading is. */
    char const *line, *at;
    /** What is wrong there, a constant; NULL while nothing is. */
    char const *wrong;
};

/** Keeps what is wrong. Always false. */
static inline bool fa_scan_fail(struct fa_scan *scan, char const *wrong) {
    if (scan->wrong == NULL)
        scan->wrong = wrong;
    return false;
}

/** Takes the character if it is the next one. */
static inline bool fa_scan_take(struct fa_scan *scan, char character) {
    if (*scan->at != character)
        return false;
    ++scan->at;
    return true;
}

/** A decimal number of at least one digit, at most `most`. */
bool fa_scan_number(struct fa_scan *scan, uint64_t most, uint64_t *number);

/** A fraction of a second of one to nine digits, as nanoseconds. */
bool fa_scan_fraction(struct fa_scan *scan, uint64_t *ns);

/** `Tyyyy-mm-ddThh:mm:ss[.f][Z]`, of which Z means UTC and no Z this host's time zone; or `Ssec[.ns]`, of UTC. Gives
 * nanoseconds of UTC since 1970, never 0. */
bool fa_scan_time(struct fa_scan *scan, uint64_t *utc_ns);

#endif
