// SPDX-License-Identifier: Apache-2.0
/** Turn ↔ TSC, followed on the lower envelope of arrivals.
 *
 * A datagram of turn T arrives at start + T · ticks_per_turn + delay, with a delay that is never negative and now and
 * then next to nothing. So in every window the arrival with the least delay is kept, and a tracking filter of second
 * order (phase and rate) follows those points.
 *
 * An arrival that is early by more than a turn moves the fit at once; all others count when the window closes.
 *
 * Windows begin with 64 turns and double to some 10 ms, or to 512 turns where that is longer; while they grow, the
 * clock is learning: it believes every arrival and takes the measured phase and rate whole, so a nominal rate that is
 * off does no harm, up to 64 times. Turns that waited in a queue come all at once, and look like a fast machine: what
 * the rate was over a longer time bounds it (rm_turn_clock_bound). If the nominal rate is certain, set `rate_range`
 * after rm_turn_clock_init: then such a queue moves the phase alone. Once they have their length, arrivals far from the
 * prediction are not believed: a wild instrument cannot drag the clock. When the instruments' quorum lies elsewhere the
 * engine steps it (rm_turn_clock_step). A rate that held lately then stays, and only the phase is new: steps come in
 * bursts, amid turns that are late, and a rate learnt from those is wrong by percents, with which the clock runs off
 * again. One that has not held for half a second is learnt again: so long a machine that goes on at another rate is
 * without its clock. Where steps follow one another without a window between them, it is learnt from the steps.
 *
 * A virtual ring whose time waits for the loop has no rate. For it the clock *follows* (rm_turn_clock_follow): it
 * stands at the newest turn between two arrivals, and `ticks_per_turn` is only the average.
 */
#ifndef RM_BASE_TURN_CLOCK_H
#define RM_BASE_TURN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

/** Turns around the prediction within which arrivals are believed, once learnt. */
enum { RM_TURN_CLOCK_CAPTURE = 256 };

struct rm_turn_clock {
    bool anchored;
    /** A point of the fit: this turn … */
    rm_turn turn;
    /** … arrives at this TSC. */
    uint64_t tsc;
    /** Fitted TSC ticks per turn. */
    double ticks_per_turn;

    double nominal_ticks_per_turn;
    /** The clock stands still between arrivals. */
    bool follows;
    /** The fitted rate is within this factor of the nominal one; 64 unless told otherwise. */
    double rate_range;
    /** The fitted rate is within these bounds, too (rm_turn_clock_bound). They are 0 and infinity at first. */
    double least_ticks_per_turn;

    double most_ticks_per_turn;
    /** Reciprocal of ticks_per_turn. */
    double turns_per_tick;
    /** RMS distance of window points from the prediction, exponentially averaged. */
    double residual_ticks;
    /** Length of the present window. */
    uint64_t window_turns;

    uint64_t longest_window_turns;
    /** Windows of full length since the last step; they are not counted far. */
    uint32_t held_windows;
    /** TSC at which enough of them had held that the rate was certain; 0: not yet. */
    uint64_t sure_tsc;
    /** TSC ticks for which that stays so. */
    uint64_t sure_ticks;
    /** TSC at which an arrival was last believed. */
    uint64_t believed_tsc;
    /** The window, counted from its first believed arrival, closes at an arrival from here on. */
    rm_turn window_end;
    /** Least delay of the present window … */
    double least_ticks;
    /** TSC ticks by which early arrivals have moved the fit in this window. */
    double advanced_ticks;
    /** … and the turn that had it; RM_TURN_NONE while the window is empty. */
    rm_turn least_turn;
    /** The last window's point; RM_TURN_NONE at first. */
    rm_turn point_turn;
    /** Its delay against the present fit. */
    double point_ticks;
    /** For a clock that follows: TSC at which `point_turn` arrived. */
    uint64_t point_tsc;
};

/** Makes a clock that is not anchored. `turn_rate_hz` is nominal. */
void rm_turn_clock_init(struct rm_turn_clock *clock, double turn_rate_hz, double tsc_hz);

/** Makes the clock follow arrivals from now on. */
void rm_turn_clock_follow(struct rm_turn_clock *clock);

/** Sets the clock so that `turn` arrives at `tsc`; keeps the fitted rate. */
void rm_turn_clock_step(struct rm_turn_clock *clock, rm_turn turn, uint64_t tsc);

/** Takes a rate that was measured elsewhere, over a longer time, and is right within the share `tolerance`. A fitted
 * rate outside of these bounds is replaced by it, and learnt again within them. */
void rm_turn_clock_bound(struct rm_turn_clock *clock, double ticks_per_turn, double tolerance);

/** Turn at a TSC, by the fit; 0 when that lies before turn 0. Needs an anchored clock. */
rm_turn rm_turn_clock_predict(struct rm_turn_clock const *clock, uint64_t tsc);

/** Takes an arrival into account. Call it once per burst, with the newest accepted turn. Returns true when it closed a
 * window. An arrival that is not believed closes one only by its TSC: an instrument that claims turns far ahead cannot
 * hold the next window open. */
bool rm_turn_clock_observe(struct rm_turn_clock *clock, rm_turn turn, uint64_t tsc);

#endif
