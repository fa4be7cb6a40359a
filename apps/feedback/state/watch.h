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
    /** Cycles; frozen 0: never. */
    uint32_t missing, frozen;
    /** 0: never. */
    int32_t jump_nm;

    uint32_t return_cycles;
};

struct feedback_watched {
    /** As it came last, nm. */
    int32_t reading;
    /** Its last good error, nm. */
    int32_t good;
    /** Cycles that the reading has been the very same. */
    uint32_t same;
    /** Cycles without a good one. */
    uint32_t gap;
    /** Good cycles since its last fault. */
    uint32_t clean;
    /** Bits of enum feedback_row_fault, but for the mask. */
    uint32_t fault;
    /** `fault`, at the end of the last cycle. */
    uint32_t reported;
    /** In this cycle; `sound`: nothing is wrong with it. */
    bool came, sound;
    /** `reading` and `good` are there. */
    bool known;
};

enum feedback_verdict {
    /** Use it. */
    FEEDBACK_GOOD,
    /** The row is bad, and its value is not used. */
    FEEDBACK_BAD,
    /** It leapt, and nothing else: feedback_watch_condemn or _believe when all have come. */
    FEEDBACK_LEAP,
};

/** A reading came, which makes this error. */
enum feedback_verdict feedback_watch_take(struct feedback_watch_limits const *limits, struct feedback_watched *row,
                                          int32_t reading_nm, int32_t error_nm, bool is_valid);

/** A leap was the row's own fault; or the beam's. */
void feedback_watch_condemn(struct feedback_watched *row);
void feedback_watch_believe(struct feedback_watched *row, int32_t error_nm);

/** What a row that is not there, or not used, counts as in this cycle; false: as nothing. */
static inline bool feedback_watch_substitute(struct feedback_watch_limits const *limits,
                                             struct feedback_watched const *row, int32_t *error_nm) {
    *error_nm = row->good;
    return row->known && row->gap < limits->missing;
}

/** At the end of the cycle: faults that follow from what did not come, and rows that come back. True when the row's
 * faults changed. */
bool feedback_watch_close(struct feedback_watch_limits const *limits, struct feedback_watched *row);

/** The same of a row that did not come, in a cycle in which so many did not that it says nothing about this one. */
static inline void feedback_watch_forgo(struct feedback_watched *row) { row->sound = false; }

/** Cycles that nobody ran: a row that was good has been good for as much longer. */
static inline void feedback_watch_skip(struct feedback_watched *row, uint32_t cycles) {
    row->clean += row->clean > 0 && row->clean < UINT32_MAX - cycles ? cycles : 0;
}

#endif
