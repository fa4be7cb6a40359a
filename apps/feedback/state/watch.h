// SPDX-License-Identifier: Apache-2.0
/** Watches the rows of the orbit, one by one, as they come: which is used in this cycle, and which is out.
 *
 * A row that is invalid, has been the very same for too many cycles, or is further from where it was than the beam goes
 * is not used in that very cycle, and is out of the matrix until it has been good for `return_cycles`. When many leap
 * at once, it was the beam: they are used; when many are out because they leapt, it was the beam too, and all are
 * compared with where they are from there on. A row that did not come is substituted by its last error for `missing`
 * cycles, as is one that is not used; after that it counts as 0, and is out.
 */
#ifndef FEEDBACK_WATCH_H
#define FEEDBACK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct feedback_watch_limits {
    /** In cycles; frozen 0: frozen rows are not looked for. */
    uint32_t missing, frozen;
    /** Largest way in one cycle; 0: leaps are not looked for. */
    int32_t jump_nm;

    uint32_t return_cycles;
};

struct feedback_watched {
    /** The reading that came last, nm. */
    int32_t reading;
    /** Its last good error, nm. */
    int32_t good;
    /** Consecutive cycles with the very same reading. */
    uint32_t same;
    /** Consecutive cycles without a good reading. */
    uint32_t gap;
    /** Good cycles since its last fault. */
    uint32_t clean;
    /** Bits of enum feedback_row_fault; the mask is not among them. */
    uint32_t fault;
    /** `fault` at the end of the last cycle. */
    uint32_t reported;
    /** `came`: it came in this cycle. `sound`: nothing is wrong with it. */
    bool came, sound;
    /** `reading` and `good` have values. */
    bool known;
};

enum feedback_verdict {
    /** The row is good, and its value is used. */
    FEEDBACK_GOOD,
    /** The row is bad, and its value is not used. */
    FEEDBACK_BAD,
    /** It leapt, and nothing else is wrong: call feedback_watch_condemn or feedback_watch_believe when all rows have
     * come. */
    FEEDBACK_LEAP,
};

/** Takes a reading, which makes this error. */
enum feedback_verdict feedback_watch_take(struct feedback_watch_limits const *limits, struct feedback_watched *row,
                                          int32_t reading_nm, int32_t error_nm, bool is_valid);

/** A leap was the row's own fault (condemn), or the beam's (believe). */
void feedback_watch_condemn(struct feedback_watched *row);
void feedback_watch_believe(struct feedback_watched *row, int32_t error_nm);

/** What a row that is missing, or not used, counts as in this cycle. False: it counts as nothing. */
static inline bool feedback_watch_substitute(struct feedback_watch_limits const *limits,
                                             struct feedback_watched const *row, int32_t *error_nm) {
    *error_nm = row->good;
    return row->known && row->gap < limits->missing;
}

/** At the end of the cycle: faults that follow from what did not come, and rows that come back. True when the row's
 * faults changed. */
bool feedback_watch_close(struct feedback_watch_limits const *limits, struct feedback_watched *row);

/** The same for a row that did not come, in a cycle in which so many did not come that this says nothing about it. */
static inline void feedback_watch_forgo(struct feedback_watched *row) { row->sound = false; }

/** `cycles` were not run: a row that was good has been good for as much longer. */
static inline void feedback_watch_skip(struct feedback_watched *row, uint32_t cycles) {
    row->clean += row->clean > 0 && row->clean < UINT32_MAX - cycles ? cycles : 0;
}

#endif
