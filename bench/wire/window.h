// SPDX-License-Identifier: Apache-2.0
/** Which cycles of a link count, and when that is over.
 *
 * The window is one of cycles: [begin, end). It is found by the clock where the sender's rate is not known, and then
 * told in cycles, so that every datagram of a cycle within is waited for and none of a cycle beyond is counted.
 *
 *     WAITING    nothing came yet
 *     WARMING    the cycles before the window
 *     COUNTING   its cycles
 *     DRAINING   a cycle beyond came: only stragglers are waited for
 *     CLOSED     all that was to come has come, or nothing comes any more
 *
 * With a known rate `begin` is so many cycles after the first that came, and `end` as many after that as the time asks
 * for; should the sender be slower than it was said to be, the window ends by the clock all the same, after half
 * as long again and a second. A sender that has fallen silent without a word does not end it: that is `idle`.
 */
#ifndef RM_BENCH_WIRE_WINDOW_H
#define RM_BENCH_WIRE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

/** Time without a datagram after which stragglers are given up, and longest time that they are waited for. */
#define RM_WINDOW_QUIET_S 0.5
#define RM_WINDOW_DRAIN_S 2.0

enum rm_window_state {
    RM_WINDOW_WAITING,
    RM_WINDOW_WARMING,
    RM_WINDOW_COUNTING,
    RM_WINDOW_DRAINING,
    RM_WINDOW_CLOSED,
};

/** What a window shall be. */
struct rm_window_plan {
    double tsc_hz;
    /** Rate of the cycles; 0: not known. */
    double rate_hz;

    double warm_up_s, seconds;
    /** So long without a datagram ends the window. */
    double idle_s;
};

struct rm_window {
    struct rm_window_plan plan;
    enum rm_window_state state;
    /** Cycles that count; UINT64_MAX: not known yet. */
    struct rm_tally_range range;
    /** One beyond the highest cycle that came. */
    uint64_t next;
    /** TSC when the link's wait began. */
    uint64_t start_tsc;
    /** TSC of the first datagram. */
    uint64_t first_tsc;
    /** TSC of the last datagram. */
    uint64_t last_tsc;
    /** TSC since when it is in that state. */
    uint64_t counting_tsc, draining_tsc;
    /** The window was closed because nothing came. */
    bool idle;
};

/** What is known of the link's instruments. */
struct rm_window_news {
    /** A sender has said that it has ended. */
    bool ended;
    /** None of the instruments has anything more to come. */
    bool over;
    /** The user has asked to stop. */
    bool stop;
};

/** Begins to wait, at `tsc`. */
void rm_window_start(struct rm_window *window, struct rm_window_plan const *plan, uint64_t tsc);

/** Cycles in the window, where the rate is known; else 0. */
uint64_t rm_window_cycles(struct rm_window_plan const *plan);

/** The first datagram has come: cycle and TSC. */
void rm_window_first(struct rm_window *window, uint64_t cycle, uint64_t tsc);

/** A datagram of `cycle` has come. The caller then counts it, if it lies in `range`. */
static inline void rm_window_take(struct rm_window *window, uint64_t cycle, uint64_t tsc) {
    if (window->state == RM_WINDOW_WAITING)
        rm_window_first(window, cycle, tsc);
    window->last_tsc = tsc;
    if (cycle >= window->next)
        window->next = cycle + 1;
}

/** Checks the clock; call it now and then. True while the window is not closed. All that came before `tsc` must have
 * been taken. */
bool rm_window_look(struct rm_window *window, struct rm_window_news const *news, uint64_t tsc);

#endif
