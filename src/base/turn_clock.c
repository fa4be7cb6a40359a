// SPDX-License-Identifier: Apache-2.0
#include "base/turn_clock.h"

#include <math.h>

enum {
    FIRST_WINDOW_TURNS = 64,
    LEARNING_TURNS = 8 * FIRST_WINDOW_TURNS, /**< at low turn rates too the windows grow to this, to learn the rate */
    SURE_WINDOWS = 8,                        /**< through which a rate holds that is not in doubt */
};

static double const SURE_SECONDS = 0.6; /**< after it held, until a step puts it in doubt: steps may come in bursts */

static double const LONGEST_WINDOW_SECONDS = 0.01;
static double const PHASE_GAIN = 0.25; /**< of a point later than predicted, once learnt; others are taken whole */
static double const RATE_GAIN = 0.1;   /**< of the measured change of rate, once learnt */
static double const RESIDUAL_GAIN = 0.1;
static double const RATE_RANGE = 64.0;

void rm_turn_clock_init(struct rm_turn_clock *clock, double turn_rate_hz, double tsc_hz) {
    *clock = (struct rm_turn_clock){
        .ticks_per_turn = tsc_hz / turn_rate_hz,
        .nominal_ticks_per_turn = tsc_hz / turn_rate_hz,
        .turns_per_tick = turn_rate_hz / tsc_hz,
        .rate_range = RATE_RANGE,
        .least_ticks_per_turn = 0.0,
        .most_ticks_per_turn = INFINITY,
        .sure_ticks = (uint64_t)(SURE_SECONDS * tsc_hz),
        .longest_window_turns = (uint64_t)fmax(LEARNING_TURNS, turn_rate_hz * LONGEST_WINDOW_SECONDS),
    };
}

void rm_turn_clock_follow(struct rm_turn_clock *clock) {
    clock->follows = true;
    clock->turns_per_tick = 0.0;
}

static bool turn_clock_is_learning(struct rm_turn_clock const *clock) {
    return clock->window_turns < clock->longest_window_turns;
}

static void open_window(struct rm_turn_clock *clock, rm_turn turn) {
    clock->window_end = turn + clock->window_turns;
    clock->least_turn = RM_TURN_NONE;
    clock->least_ticks = INFINITY;
    clock->advanced_ticks = 0.0;
}

/** The given rate, or the nearest that is within bounds: those of the nominal one are the outer ones. */
static void set_rate(struct rm_turn_clock *clock, double ticks_per_turn) {
    double const nominal = clock->nominal_ticks_per_turn;
    double const measured = fmin(fmax(ticks_per_turn, clock->least_ticks_per_turn), clock->most_ticks_per_turn);
    clock->ticks_per_turn = fmin(fmax(measured, nominal / clock->rate_range), nominal * clock->rate_range);
    clock->turns_per_tick = 1.0 / clock->ticks_per_turn;
}

/** Two steps with no window between them: the rate is so far off that from one reading of slow instruments to the next
 * the clock leaves what it believes. No window can mend that, so the rate between the two steps is taken. A turn counter
 * that was set makes no such rate: it must be one that was measured over a longer time (rm_turn_clock_bound). */
static void learn_from_steps(struct rm_turn_clock *clock, rm_turn turn, uint64_t tsc) {
    if (!clock->anchored || clock->point_turn != RM_TURN_NONE || tsc <= clock->tsc ||
        turn < clock->turn + RM_TURN_CLOCK_CAPTURE)
        return;
    double const measured = (double)(tsc - clock->tsc) / (double)(turn - clock->turn);
    if (measured >= clock->least_ticks_per_turn && measured <= clock->most_ticks_per_turn)
        set_rate(clock, measured);
}

void rm_turn_clock_step(struct rm_turn_clock *clock, rm_turn turn, uint64_t tsc) {
    bool const sure = clock->sure_tsc != 0 && tsc - clock->sure_tsc < clock->sure_ticks;
    if (!sure && isfinite(clock->most_ticks_per_turn))
        learn_from_steps(clock, turn, tsc);
    clock->anchored = true;
    clock->turn = turn;
    clock->tsc = tsc;
    clock->believed_tsc = tsc;
    clock->window_turns = sure ? clock->longest_window_turns : FIRST_WINDOW_TURNS;
    clock->held_windows = 0;
    clock->point_turn = RM_TURN_NONE;
    clock->residual_ticks = 0.0;
    open_window(clock, turn);
}

void rm_turn_clock_bound(struct rm_turn_clock *clock, double ticks_per_turn, double tolerance) {
    clock->least_ticks_per_turn = ticks_per_turn / (1.0 + tolerance);
    clock->most_ticks_per_turn = ticks_per_turn * (1.0 + tolerance);
    bool const within =
        clock->ticks_per_turn >= clock->least_ticks_per_turn && clock->ticks_per_turn <= clock->most_ticks_per_turn;
    if (within)
        return;
    set_rate(clock, ticks_per_turn);
    clock->sure_tsc = 0;
    clock->window_turns = FIRST_WINDOW_TURNS;
    clock->held_windows = 0;
    clock->point_turn = RM_TURN_NONE;
}

rm_turn rm_turn_clock_predict(struct rm_turn_clock const *clock, uint64_t tsc) {
    double const turns = (double)(int64_t)(tsc - clock->tsc) * clock->turns_per_tick;
    return turns < 0.0 && -turns > (double)clock->turn ? 0 : clock->turn + (uint64_t)(int64_t)floor(turns);
}

/** Change of ticks_per_turn that the window's point asks for. Two points close together say little about the rate, and
 * a stall between them much that is wrong: they must lie half a window apart, and one window makes the rate at most
 * four times as fast. */
static double rate_change(struct rm_turn_clock const *clock) {
    if (clock->point_turn == RM_TURN_NONE || clock->least_turn <= clock->point_turn)
        return 0.0;
    uint64_t const apart = clock->least_turn - clock->point_turn;
    if (apart < clock->window_turns / 2)
        return 0.0;
    double const measured = (clock->least_ticks - clock->point_ticks) / (double)apart;
    double const change = (turn_clock_is_learning(clock) ? 1.0 : RATE_GAIN) * measured;
    return fmax(-0.75 * clock->ticks_per_turn, change);
}

/** Moves the fit through the window's point, by the gains. */
static void turn_clock_track(struct rm_turn_clock *clock) {
    double const error = clock->least_ticks;
    rm_turn const turn = clock->least_turn;
    double const change = rate_change(clock);
    double const phase = error < 0.0 || turn_clock_is_learning(clock) ? error : PHASE_GAIN * error;
    double const moved = (double)(int64_t)(turn - clock->turn) * clock->ticks_per_turn + phase;
    clock->tsc += (uint64_t)(int64_t)rint(moved);
    clock->turn = turn;
    set_rate(clock, clock->ticks_per_turn + change);
    clock->point_turn = turn;
    clock->point_ticks = error - phase;
    double const distance = error - clock->advanced_ticks;
    double const square = clock->residual_ticks * clock->residual_ticks;
    clock->residual_ticks = sqrt(square + RESIDUAL_GAIN * (distance * distance - square));
}

/** An arrival earlier than predicted: nothing can arrive before it was sent, so the whole fit was late. Moved at once,
 * and not at the end of the window: a sender that speeds up must not run out of the accepted turns meanwhile. */
static void turn_clock_advance(struct rm_turn_clock *clock, double early_ticks) {
    clock->tsc -= (uint64_t)(int64_t)rint(early_ticks);
    clock->point_ticks += early_ticks;
    clock->least_ticks += early_ticks;
    clock->advanced_ticks += early_ticks;
}

/** Notes a believed arrival. A window counts from its first one, so that after a stall it does not end while the
 * receiver is still catching up. */
static void turn_clock_note_delay(struct rm_turn_clock *clock, rm_turn turn, double delay) {
    if (clock->least_turn == RM_TURN_NONE)
        open_window(clock, turn);
    if (delay < -clock->ticks_per_turn) {
        turn_clock_advance(clock, -delay);
        delay = 0.0;
    }
    if (delay < clock->least_ticks) {
        clock->least_ticks = delay;
        clock->least_turn = turn;
    }
}

/** One more window of full length through which the rate has held. */
static void note_rate(struct rm_turn_clock *clock) {
    clock->held_windows += !turn_clock_is_learning(clock) && clock->held_windows < SURE_WINDOWS;
    if (clock->held_windows == SURE_WINDOWS)
        clock->sure_tsc = clock->believed_tsc;
}

static void close_window(struct rm_turn_clock *clock, rm_turn turn) {
    if (clock->least_turn != RM_TURN_NONE) {
        note_rate(clock);
        turn_clock_track(clock);
        uint64_t const doubled = 2 * clock->window_turns;
        clock->window_turns = doubled < clock->longest_window_turns ? doubled : clock->longest_window_turns;
    }
    open_window(clock, turn);
}

/** Stands at the newest turn; true when a window's worth of turns has given the average rate. */
static bool follow_arrival(struct rm_turn_clock *clock, rm_turn turn, uint64_t tsc) {
    if (clock->point_turn == RM_TURN_NONE) {
        clock->point_turn = turn;
        clock->point_tsc = tsc;
    }
    if (turn <= clock->turn)
        return false;
    clock->turn = turn;
    clock->tsc = clock->believed_tsc = tsc;
    uint64_t const turns = turn - clock->point_turn;
    if (turns < clock->longest_window_turns)
        return false;
    double const measured = (double)(tsc - clock->point_tsc) / (double)turns;
    clock->ticks_per_turn += RATE_GAIN * (measured - clock->ticks_per_turn);
    clock->point_turn = turn;
    clock->point_tsc = tsc;
    return true;
}

bool rm_turn_clock_observe(struct rm_turn_clock *clock, rm_turn turn, uint64_t tsc) {
    if (clock->follows)
        return follow_arrival(clock, turn, tsc);
    double const turns = (double)(int64_t)(turn - clock->turn);
    double const delay = (double)(int64_t)(tsc - clock->tsc) - turns * clock->ticks_per_turn;
    bool const believed = turn_clock_is_learning(clock) || fabs(delay) < RM_TURN_CLOCK_CAPTURE * clock->ticks_per_turn;
    /* What is not believed says nothing about how far the window has come, but that time has passed. */
    rm_turn const now = believed ? turn : rm_turn_clock_predict(clock, tsc);
    if (believed) {
        clock->believed_tsc = tsc;
        turn_clock_note_delay(clock, turn, delay);
    }
    if (now < clock->window_end)
        return false;
    close_window(clock, now);
    return true;
}
