// SPDX-License-Identifier: Apache-2.0
#include "engine/guard.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "engine/guard_pass.h"

enum { OPERATOR = 0, NOBODY = UINT32_MAX };

/** Values of a vector that belong to supplies beside each other. */
struct supply_run {
    uint32_t place; /**< of the first value */
    uint32_t supply;
    uint32_t count;
};

/** What is known of an application, and each of its supplies' limits in the order of its vector: there a supply that
 * takes no values has limits that none is within, so that a vector is judged in one pass. */
struct guarded_application {
    struct rm_application_view view;
    uint64_t granted;
    uint64_t freshness_turns, future_turns;
    uint64_t watchdog;     /**< cycles */
    uint64_t first_vector; /**< cycles that it may stay JOINED; 0: for ever */
    uint64_t silent;       /**< cycles without a good vector so far */
    enum rm_stop_action stop;
    bool ever_granted;
    bool vector_came; /**< a good one, in this cycle */
    bool stopped;     /**< until a good vector */
    bool paused;      /**< stopped, but just granted anew */
    uint32_t supply_count, run_count;
    uint32_t *supply;
    struct supply_run *run;
    double *low, *high;
};

struct rm_guard {
    struct rm_arena arena;
    struct rm_guard_passes passes;
    uint32_t supply_count, application_count;
    struct guarded_application *application;
    rm_turn cycle_turn;
    uint32_t advanced; /**< supplies that went their step in this cycle: those before this one */

    /* One per supply, each at a cache line. What every cycle needs: */
    double *target;
    double *setpoint;
    double *step; /**< slew, or safe_slew where a stop's action moves it */
    float *sent;
    float *sent_low, *sent_high; /**< the outermost f32 within the limits */

    /* and what judging and changes need: */
    double *low, *high, *slew, *safe, *safe_slew;
    uint32_t *owner; /**< or NOBODY */
    uint32_t *place; /**< in its owner's vector */
    bool *joined, *faulty;
};

static float round_up_to_float(double value) {
    float const rounded = (float)value;
    return (double)rounded < value ? nextafterf(rounded, INFINITY) : rounded;
}

static float round_down_to_float(double value) { return -round_up_to_float(-value); }

/** Whether a setpoint anywhere within the limits moves by that slew, in double. */
static bool slew_moves(struct rm_guard_supply const *supply, double slew) {
    double const largest = fmax(fabs(supply->low), fabs(supply->high));
    return isfinite(slew) && slew > 0 && slew >= nextafter(largest, INFINITY) - largest;
}

static enum rm_code check_supply(struct rm_guard_supply const *supply, uint32_t number, struct rm_error *error) {
    bool const fit = fabs(supply->low) <= (double)FLT_MAX && fabs(supply->high) <= (double)FLT_MAX;
    if (!fit || !(supply->low <= supply->safe && supply->safe <= supply->high))
        return rm_fail(
            error, RM_E_ARGUMENT,
            "supply %u of the guard: limits [%g, %g] and safe value %g are not low ≤ safe ≤ high within what "
            "an f32 holds",
            number, supply->low, supply->high, supply->safe);
    if (round_up_to_float(supply->low) > round_down_to_float(supply->high))
        return rm_fail(
            error, RM_E_ARGUMENT,
            "supply %u of the guard: no f32 lies within its limits [%.17g, %.17g], so nothing could be sent; "
            "make them wider",
            number, supply->low, supply->high);
    if (!slew_moves(supply, supply->slew) || !slew_moves(supply, supply->safe_slew))
        return rm_fail(
            error, RM_E_ARGUMENT,
            "supply %u of the guard: slew %g and safe slew %g per cycle must be above zero, and large enough "
            "to move a setpoint at its limits [%g, %g]",
            number, supply->slew, supply->safe_slew, supply->low, supply->high);
    return RM_OK;
}

static enum rm_code check_application(struct rm_guard_application const *application, uint32_t number,
                                      uint32_t supply_count, struct rm_error *error) {
    if (number != OPERATOR && (application->watchdog_cycles == 0 || application->period_cycles == 0))
        return rm_fail(error, RM_E_ARGUMENT,
                       "application %u of the guard: a watchdog of %u periods of %u cycles never ends; both must be 1 "
                       "at least",
                       number, application->watchdog_cycles, application->period_cycles);
    for (uint32_t i = 0; i < application->supply_count; ++i)
        if (application->supply[i] >= supply_count)
            return rm_fail(error, RM_E_ARGUMENT, "application %u of the guard: supply %u is none of the %u", number,
                           application->supply[i], supply_count);
    return RM_OK;
}

/** True when all of it was there; what was is given back with the arena. */
static bool take_supplies(struct rm_guard *guard, size_t count) {
    struct rm_arena *const arena = &guard->arena;
    guard->target = rm_arena_take(arena, count * sizeof *guard->target);
    guard->setpoint = rm_arena_take(arena, count * sizeof *guard->setpoint);
    guard->step = rm_arena_take(arena, count * sizeof *guard->step);
    guard->sent = rm_arena_take(arena, count * sizeof *guard->sent);
    guard->sent_low = rm_arena_take(arena, count * sizeof *guard->sent_low);
    guard->sent_high = rm_arena_take(arena, count * sizeof *guard->sent_high);
    guard->low = rm_arena_take(arena, count * sizeof *guard->low);
    guard->high = rm_arena_take(arena, count * sizeof *guard->high);
    guard->slew = rm_arena_take(arena, count * sizeof *guard->slew);
    guard->safe = rm_arena_take(arena, count * sizeof *guard->safe);
    guard->safe_slew = rm_arena_take(arena, count * sizeof *guard->safe_slew);
    guard->owner = rm_arena_take(arena, count * sizeof *guard->owner);
    guard->place = rm_arena_take(arena, count * sizeof *guard->place);
    guard->joined = rm_arena_take(arena, count * sizeof *guard->joined);
    guard->faulty = rm_arena_take(arena, count * sizeof *guard->faulty);
    return guard->target && guard->setpoint && guard->step && guard->sent && guard->sent_low && guard->sent_high &&
           guard->low && guard->high && guard->slew && guard->safe && guard->safe_slew && guard->owner &&
           guard->place && guard->joined && guard->faulty;
}

static bool take_applications(struct rm_guard *guard, struct rm_guard_application const *setup, uint32_t count) {
    guard->application = rm_arena_take(&guard->arena, count * sizeof *guard->application);
    if (guard->application == NULL)
        return false;
    guard->application_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        struct guarded_application *const application = &guard->application[i];
        size_t const supplies = setup[i].supply_count ? setup[i].supply_count : 1;
        application->supply = rm_arena_take(&guard->arena, supplies * sizeof *application->supply);
        application->run = rm_arena_take(&guard->arena, supplies * sizeof *application->run);
        application->low = rm_arena_take(&guard->arena, supplies * sizeof *application->low);
        application->high = rm_arena_take(&guard->arena, supplies * sizeof *application->high);
        if (!application->supply || !application->run || !application->low || !application->high)
            return false;
    }
    return true;
}

static float as_sent(struct rm_guard const *guard, uint32_t supply, double setpoint) {
    float const sent = (float)setpoint;
    float const above = sent > guard->sent_low[supply] ? sent : guard->sent_low[supply];
    return above < guard->sent_high[supply] ? above : guard->sent_high[supply];
}

/** Where a supply stands: nothing moves it from there until a new target does. */
static void stand_at(struct rm_guard *guard, uint32_t supply, double value) {
    guard->setpoint[supply] = guard->target[supply] = value;
    guard->sent[supply] = as_sent(guard, supply, value);
}

static void set_supply(struct rm_guard *guard, uint32_t number, struct rm_guard_supply const *supply) {
    guard->low[number] = supply->low;
    guard->high[number] = supply->high;
    guard->sent_low[number] = round_up_to_float(supply->low);
    guard->sent_high[number] = round_down_to_float(supply->high);
    guard->slew[number] = guard->step[number] = supply->slew;
    guard->safe[number] = supply->safe;
    guard->safe_slew[number] = supply->safe_slew;
    guard->owner[number] = NOBODY;
    stand_at(guard, number, supply->safe);
}

/** Opens or closes the supply to its owner's values. */
static void set_admission(struct rm_guard *guard, uint32_t supply) {
    if (guard->owner[supply] == NOBODY)
        return;
    bool const open = guard->joined[supply] && !guard->faulty[supply];
    struct guarded_application *const owner = &guard->application[guard->owner[supply]];
    owner->low[guard->place[supply]] = open ? guard->low[supply] : INFINITY;
    owner->high[guard->place[supply]] = open ? guard->high[supply] : -INFINITY;
}

/** Where the supply is the next one after those of the last run, it is one more of them. */
static void add_to_runs(struct guarded_application *application, uint32_t place, uint32_t supply) {
    uint32_t const runs = application->run_count;
    struct supply_run *const run = application->run;
    assert(run != NULL);
    if (runs != 0 && supply == run[runs - 1].supply + run[runs - 1].count) {
        ++run[runs - 1].count;
    } else {
        run[runs] = (struct supply_run){.place = place, .supply = supply, .count = 1};
        ++application->run_count;
    }
}

static enum rm_code set_application(struct rm_guard *guard, uint32_t number, struct rm_guard_application const *setup,
                                    struct rm_error *error) {
    struct guarded_application *const application = &guard->application[number];
    application->freshness_turns = setup->freshness_turns;
    application->future_turns = setup->future_turns;
    application->watchdog = (uint64_t)setup->watchdog_cycles * setup->period_cycles;
    application->first_vector = setup->first_vector_cycles;
    application->stop = setup->stop;
    application->supply_count = setup->supply_count;
    application->view.state = number == OPERATOR ? RM_APPLICATION_RUNNING : RM_APPLICATION_ABSENT;
    for (uint32_t i = 0; i < setup->supply_count; ++i) {
        uint32_t const supply = setup->supply[i];
        if (guard->owner[supply] != NOBODY)
            return rm_fail(error, RM_E_ARGUMENT,
                           "supply %u of the guard: applications %u and %u cannot both own it; leave it to one", supply,
                           guard->owner[supply], number);
        application->supply[i] = supply;
        guard->owner[supply] = number;
        guard->place[supply] = i;
        add_to_runs(application, i, supply);
        set_admission(guard, supply);
    }
    return RM_OK;
}

static enum rm_code guard_fill(struct rm_guard *guard, struct rm_guard_supply const *supply,
                               struct rm_guard_application const *application, uint32_t application_count,
                               struct rm_error *error) {
    if (!take_supplies(guard, guard->supply_count) || !take_applications(guard, application, application_count))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a guard of %u supplies", guard->supply_count);
    for (uint32_t i = 0; i < guard->supply_count; ++i)
        set_supply(guard, i, &supply[i]);
    for (uint32_t i = 0; i < application_count; ++i) {
        enum rm_code const code = set_application(guard, i, &application[i], error);
        if (code)
            return code;
    }
    return RM_OK;
}

enum rm_code rm_guard_new(struct rm_guard_supply const *supply, uint32_t supply_count,
                          struct rm_guard_application const *application, uint32_t application_count,
                          struct rm_guard **guard, struct rm_error *error) {
    if (supply_count == 0 || application_count == 0)
        return rm_fail(error, RM_E_ARGUMENT, "a guard needs one supply at least, and the operator");
    for (uint32_t i = 0; i < supply_count; ++i)
        if (check_supply(&supply[i], i, error))
            return RM_E_ARGUMENT;
    for (uint32_t i = 0; i < application_count; ++i)
        if (check_application(&application[i], i, supply_count, error))
            return RM_E_ARGUMENT;
    struct rm_guard *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a guard of %u supplies", supply_count);
    made->passes = rm_guard_passes_for(rm_simd_best());
    made->supply_count = supply_count;
    made->cycle_turn = RM_TURN_NONE;
    made->advanced = supply_count;
    enum rm_code const code = guard_fill(made, supply, application, application_count, error);
    if (code == RM_OK)
        *guard = made;
    else
        rm_guard_free(made);
    return code;
}

void rm_guard_free(struct rm_guard *guard) {
    if (guard == NULL)
        return;
    rm_arena_free(&guard->arena);
    free(guard);
}

/** Gives the supply the target that it has without a vector: where it stands, or where a stop's action wants it. */
static void guard_aim_supply(struct rm_guard *guard, uint32_t supply) {
    guard->target[supply] = guard->setpoint[supply];
    guard->step[supply] = guard->slew[supply];
    if (guard->owner[supply] == NOBODY || !guard->joined[supply] || guard->faulty[supply])
        return;
    struct guarded_application const *const owner = &guard->application[guard->owner[supply]];
    if (owner->stopped && !owner->paused && owner->stop == RM_STOP_RAMP) {
        guard->target[supply] = guard->safe[supply];
        guard->step[supply] = guard->safe_slew[supply];
    }
}

static void aim_all(struct rm_guard *guard, struct guarded_application const *application) {
    for (uint32_t i = 0; i < application->supply_count; ++i)
        guard_aim_supply(guard, application->supply[i]);
}

/** The action of a stop begins, or goes on after a pause. */
static void guard_stop_application(struct rm_guard *guard, struct guarded_application *application) {
    application->stopped = true;
    application->paused = false;
    aim_all(guard, application);
}

static double value_within(struct rm_guard const *guard, uint32_t supply, double value) {
    double const above = value > guard->low[supply] ? value : guard->low[supply];
    return above < guard->high[supply] ? above : guard->high[supply];
}

void rm_guard_join(struct rm_guard *guard, uint32_t supply, double value) {
    if (!isfinite(value))
        return;
    stand_at(guard, supply, value_within(guard, supply, value));
    guard->joined[supply] = true;
    set_admission(guard, supply);
    guard_aim_supply(guard, supply);
}

/** True when it is a vector, or the operator, that says where the supply goes. */
static bool guard_is_aimed(struct rm_guard const *guard, uint32_t supply) {
    return guard->owner[supply] != NOBODY && !guard->faulty[supply] &&
           guard->application[guard->owner[supply]].view.state == RM_APPLICATION_RUNNING;
}

void rm_guard_follow(struct rm_guard *guard, uint32_t supply, double value) {
    if (!isfinite(value) || !guard->joined[supply])
        return;
    guard->setpoint[supply] = value_within(guard, supply, value);
    guard->sent[supply] = as_sent(guard, supply, guard->setpoint[supply]);
    if (!guard_is_aimed(guard, supply))
        guard_aim_supply(guard, supply);
}

void rm_guard_fault(struct rm_guard *guard, uint32_t supply, bool faulty) {
    if (guard->faulty[supply] == faulty)
        return;
    guard->faulty[supply] = faulty;
    set_admission(guard, supply);
    guard_aim_supply(guard, supply);
}

void rm_guard_grant(struct rm_guard *guard, uint32_t number, uint64_t grant_number, bool died) {
    if (number == OPERATOR)
        return;
    struct guarded_application *const application = &guard->application[number];
    bool const vectors_stop = application->stopped || application->view.state == RM_APPLICATION_RUNNING;
    application->granted = grant_number;
    application->silent = 0;
    application->vector_came = false;
    if (grant_number) {
        application->view.state = RM_APPLICATION_JOINED;
        application->ever_granted = true;
        application->stopped = application->paused = vectors_stop;
        aim_all(guard, application);
    } else {
        application->view.state = died ? RM_APPLICATION_DEAD : RM_APPLICATION_ABSENT;
        if (died || application->ever_granted)
            guard_stop_application(guard, application);
    }
}

/** What was refused, and against what. */
static void keep_offence(struct guarded_application *application, struct rm_guard_offence const *offence) {
    ++application->view.refused[offence->refusal];
    application->view.offence = *offence;
}

static __attribute__((cold, noinline)) bool refuse_vector(struct guarded_application *application,
                                                          enum rm_refusal refusal, double value, double limit,
                                                          uint64_t vector, rm_turn turn) {
    keep_offence(application, &(struct rm_guard_offence){.refusal = refusal,
                                                         .actuator = UINT64_MAX,
                                                         .value = value,
                                                         .limit = limit,
                                                         .turn = turn,
                                                         .vector = vector});
    return false;
}

/** Differences only, so that no turn is too large for it. */
static inline bool may_speak(struct guarded_application *application, struct rm_setpoint_reading const *vector,
                             rm_turn turn) {
    rm_turn const input = vector->input_turn;
    if (application->granted == 0 || vector->grant_number != application->granted)
        return refuse_vector(application, RM_REFUSED_GRANT, (double)vector->grant_number, (double)application->granted,
                             vector->number, turn);
    if (input <= turn && turn - input > application->freshness_turns)
        return refuse_vector(application, RM_REFUSED_STALE, (double)input,
                             (double)(turn - application->freshness_turns), vector->number, turn);
    if (input > turn && (input == RM_TURN_NONE || input - turn > application->future_turns))
        return refuse_vector(application, RM_REFUSED_FUTURE, (double)input,
                             (double)turn + (double)application->future_turns, vector->number, turn);
    return true;
}

/** Why this supply does not take this value, and what that is held against. */
static enum rm_refusal judge_value(struct rm_guard const *guard, uint32_t supply, double value, double *limit) {
    *limit = 0;
    if (!isfinite(value))
        return RM_REFUSED_NUMBER;
    *limit = guard->low[supply];
    if (value < *limit)
        return RM_REFUSED_LOW;
    *limit = guard->high[supply];
    if (value > *limit)
        return RM_REFUSED_HIGH;
    *limit = guard->setpoint[supply];
    return guard->joined[supply] && !guard->faulty[supply] ? RM_REFUSED_NOTHING : RM_REFUSED_FAULT;
}

/** The first good vector after a stop: the stop's targets do not count any more. */
static __attribute__((cold, noinline)) void guard_resume_application(struct rm_guard *guard,
                                                                     struct guarded_application *application) {
    application->stopped = application->paused = false;
    aim_all(guard, application);
}

static inline void see_sign_of_life(struct guarded_application *application) {
    application->view.state = RM_APPLICATION_RUNNING;
    ++application->view.vectors;
    application->vector_came = true;
}

/** Keeps the last value of a vector that is further away than a step. */
static __attribute__((cold, noinline)) void keep_shortened(struct rm_guard const *guard,
                                                           struct guarded_application *application,
                                                           double const *values, uint64_t vector, rm_turn turn) {
    for (uint32_t i = application->supply_count; i-- > 0;) {
        uint32_t const supply = application->supply[i];
        double const most = guard->setpoint[supply] + guard->step[supply];
        double const least = guard->setpoint[supply] - guard->step[supply];
        if (values[i] >= least && values[i] <= most)
            continue;
        application->view.offence = (struct rm_guard_offence){.refusal = RM_REFUSED_SLEW,
                                                              .actuator = i,
                                                              .value = values[i],
                                                              .limit = values[i] > most ? most : least,
                                                              .turn = turn,
                                                              .vector = vector};
        return;
    }
}

/** A vector is a sign of life when one value at least is within its supply's own limits, or when it has none. */
static bool shows_life(struct rm_guard const *guard, struct guarded_application const *application,
                       double const *values) {
    for (uint32_t i = 0; i < application->supply_count; ++i) {
        uint32_t const supply = application->supply[i];
        if (values[i] >= guard->low[supply] && values[i] <= guard->high[supply])
            return true;
    }
    return application->supply_count == 0;
}

/** Says of each value that was not taken why; the last one is kept. */
static __attribute__((cold, noinline)) void keep_refused(struct rm_guard const *guard,
                                                         struct guarded_application *application, double const *values,
                                                         uint64_t vector, rm_turn turn) {
    for (uint32_t i = 0; i < application->supply_count; ++i) {
        double limit;
        enum rm_refusal const refusal = judge_value(guard, application->supply[i], values[i], &limit);
        if (refusal)
            keep_offence(application, &(struct rm_guard_offence){.refusal = refusal,
                                                                 .actuator = i,
                                                                 .value = values[i],
                                                                 .limit = limit,
                                                                 .turn = turn,
                                                                 .vector = vector});
    }
}

static struct rm_guard_taking take_vector(struct rm_guard *guard, struct guarded_application const *application,
                                          double const *values) {
    struct rm_guard_taking taking = {0};
    for (uint32_t i = 0; i < application->run_count; ++i) {
        struct supply_run const run = application->run[i];
        struct rm_guard_taking const part = guard->passes.take(
            run.count, values + run.place, application->low + run.place, application->high + run.place,
            guard->setpoint + run.supply, guard->step + run.supply, guard->target + run.supply);
        taking.refused += part.refused;
        taking.shortened += part.shortened;
    }
    return taking;
}

bool rm_guard_vector(struct rm_guard *guard, uint32_t number, struct rm_setpoint_reading const *vector,
                     double const *values, rm_turn turn) {
    struct guarded_application *const application = &guard->application[number];
    if (!may_speak(application, vector, turn))
        return false;
    if (application->stopped && shows_life(guard, application, values))
        guard_resume_application(guard, application);
    struct rm_guard_taking const taking = take_vector(guard, application, values);
    application->view.refused[RM_REFUSED_SLEW] += taking.shortened;
    if (taking.shortened && !taking.refused)
        keep_shortened(guard, application, values, vector->number, turn);
    if (taking.refused)
        keep_refused(guard, application, values, vector->number, turn);
    bool const good =
        taking.refused == 0 || taking.refused < application->supply_count || shows_life(guard, application, values);
    if (good)
        see_sign_of_life(application);
    return good;
}

static enum rm_refusal judge_put(struct rm_guard const *guard, uint32_t supply, double value, double *limit) {
    *limit = -1;
    if (supply >= guard->supply_count || guard->owner[supply] == NOBODY)
        return RM_REFUSED_OWNERSHIP;
    *limit = guard->owner[supply];
    if (guard->owner[supply] != OPERATOR)
        return RM_REFUSED_OWNERSHIP;
    return judge_value(guard, supply, value, limit);
}

enum rm_refusal rm_guard_put(struct rm_guard *guard, uint32_t supply, double value, rm_turn turn, double *limit) {
    struct guarded_application *const person = &guard->application[OPERATOR];
    enum rm_refusal const refusal = judge_put(guard, supply, value, limit);
    if (refusal) {
        keep_offence(person, &(struct rm_guard_offence){.refusal = refusal,
                                                        .actuator = supply,
                                                        .value = value,
                                                        .limit = *limit,
                                                        .turn = turn,
                                                        .vector = UINT64_MAX});
        return refusal;
    }
    guard->target[supply] = value;
    ++person->view.vectors;
    return RM_REFUSED_NOTHING;
}

/** It was granted, and has never done anything with it. */
static bool waits_in_vain(struct guarded_application const *application) {
    return application->view.state == RM_APPLICATION_JOINED && application->first_vector > 0 &&
           application->silent >= application->first_vector;
}

static void guard_watch_application(struct rm_guard *guard, struct guarded_application *application) {
    bool const came = application->vector_came;
    application->vector_came = false;
    application->silent = came ? 0 : application->silent + 1;
    bool const running = application->view.state == RM_APPLICATION_RUNNING;
    if (waits_in_vain(application)) {
        application->view.state = RM_APPLICATION_STALLED;
        ++application->view.stalls;
    }
    if (application->silent < application->watchdog || !(running || application->paused))
        return;
    if (running) {
        application->view.state = RM_APPLICATION_STALLED;
        ++application->view.stalls;
    }
    guard_stop_application(guard, application);
}

void rm_guard_begin(struct rm_guard *guard, rm_turn turn) {
    if (turn == guard->cycle_turn)
        return;
    guard->cycle_turn = turn;
    guard->advanced = 0;
    for (uint32_t i = OPERATOR + 1; i < guard->application_count; ++i)
        guard_watch_application(guard, &guard->application[i]);
}

void rm_guard_advance(struct rm_guard *guard, uint32_t end) {
    uint32_t const first = guard->advanced;
    uint32_t const last = end < guard->supply_count ? end : guard->supply_count;
    if (first >= last)
        return;
    guard->advanced = last;
    guard->passes.step(last - first, guard->target + first, guard->setpoint + first, guard->step + first,
                       guard->sent_low + first, guard->sent_high + first, guard->sent + first);
}

void rm_guard_cycle(struct rm_guard *guard, rm_turn turn) {
    rm_guard_begin(guard, turn);
    rm_guard_advance(guard, guard->supply_count);
}

float const *rm_guard_setpoints(struct rm_guard const *guard) { return guard->sent; }

double const *rm_guard_exact(struct rm_guard const *guard) { return guard->setpoint; }

double const *rm_guard_targets(struct rm_guard const *guard) { return guard->target; }

bool rm_guard_slewing(struct rm_guard const *guard, uint32_t supply) {
    return guard->setpoint[supply] != guard->target[supply];
}

bool rm_guard_stopped(struct rm_guard const *guard, uint32_t application) {
    return guard->application[application].stopped;
}

struct rm_application_view const *rm_guard_view(struct rm_guard const *guard, uint32_t application) {
    return &guard->application[application].view;
}
