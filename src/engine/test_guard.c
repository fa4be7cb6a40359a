// SPDX-License-Identifier: Apache-2.0
/** The guard: each of its rules, each reason for a refusal, what follows when vectors stop, and what each may move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/guard.h"

enum { SUPPLIES = 8, OPERATOR = 0, HOLDER = 1, RAMPER = 2, APPLICATIONS = 3, FRESH = 100, AHEAD = 12 };
enum { GRANT_NUMBER = 41 };

/** The operator has supplies 0 and 1, `HOLDER` 2 and 3, `RAMPER` 6, 4 and 5 in that order; 7 is not owned. */
static uint32_t const of_operator[] = {0, 1}, of_holder[] = {2, 3}, of_ramper[] = {6, 4, 5};

struct rig {
    struct rm_guard_supply supply[SUPPLIES];
    struct rm_guard_application application[APPLICATIONS];
    struct rm_guard *guard;
    rm_turn turn;
    uint64_t vector;
};

static void set_up(struct rig *rig) {
    *rig = (struct rig){.turn = 1000};
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rig->supply[i] = (struct rm_guard_supply){.low = -10, .high = 10, .slew = 0.5, .safe = 1, .safe_slew = 0.25};
    rig->application[OPERATOR] = (struct rm_guard_application){.supply_count = 2, .supply = of_operator};
    rig->application[HOLDER] = (struct rm_guard_application){.supply_count = 2,
                                                             .supply = of_holder,
                                                             .freshness_turns = FRESH,
                                                             .future_turns = AHEAD,
                                                             .watchdog_cycles = 2,
                                                             .period_cycles = 1,
                                                             .stop = RM_STOP_HOLD};
    rig->application[RAMPER] = rig->application[HOLDER];
    rig->application[RAMPER].supply_count = 3;
    rig->application[RAMPER].supply = of_ramper;
    rig->application[RAMPER].stop = RM_STOP_RAMP;
}

static void make(struct rig *rig) {
    struct rm_error error;
    if (rm_guard_new(rig->supply, SUPPLIES, rig->application, APPLICATIONS, &rig->guard, &error))
        fail_msg("%s", error.text);
}

/** All joined at 0, both applications granted. */
static void start(struct rig *rig) {
    make(rig);
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rm_guard_join(rig->guard, i, 0);
    rm_guard_grant(rig->guard, HOLDER, GRANT_NUMBER, false);
    rm_guard_grant(rig->guard, RAMPER, GRANT_NUMBER, false);
}

static void begin(struct rig *rig) {
    set_up(rig);
    start(rig);
}

static bool put_vector(struct rig *rig, uint32_t application, double a, double b, double c) {
    struct rm_setpoint_reading const vector = {
        .number = rig->vector++, .grant_number = GRANT_NUMBER, .input_turn = rig->turn};
    return rm_guard_vector(rig->guard, application, &vector, (double[]){a, b, c}, rig->turn);
}

static bool put_reading(struct rig *rig, uint64_t grant_number, rm_turn input) {
    struct rm_setpoint_reading const vector = {
        .number = rig->vector++, .grant_number = grant_number, .input_turn = input};
    return rm_guard_vector(rig->guard, HOLDER, &vector, (double[]){0.1, 0.1}, rig->turn);
}

static void cycle(struct rig *rig) { rm_guard_cycle(rig->guard, ++rig->turn); }

static void assert_at(struct rig const *rig, uint32_t supply, double expected) {
    if (rm_guard_exact(rig->guard)[supply] != expected)
        fail_msg("supply %u stands at %.17g, not at %.17g", supply, rm_guard_exact(rig->guard)[supply], expected);
    assert_true(fabs((double)rm_guard_setpoints(rig->guard)[supply] - expected) < 1e-6);
}

static void assert_refused(struct rig const *rig, uint32_t application, enum rm_refusal refusal, uint64_t times) {
    assert_int_equal(rm_guard_view(rig->guard, application)->refused[refusal], times);
}

static void assert_offence(struct rig const *rig, uint32_t application, enum rm_refusal refusal, uint64_t actuator,
                           double value, double limit) {
    struct rm_guard_offence const offence = rm_guard_view(rig->guard, application)->offence;
    assert_int_equal(offence.refusal, refusal);
    assert_true(offence.actuator == actuator);
    assert_true(offence.value == value || (isnan(offence.value) && isnan(value)));
    assert_true(offence.limit == limit);
    assert_true(offence.turn == rig->turn);
    assert_true(offence.vector == (application == OPERATOR ? UINT64_MAX : rig->vector - 1));
}

static enum rm_application_state state_of(struct rig const *rig, uint32_t application) {
    return rm_guard_view(rig->guard, application)->state;
}

static void end(struct rig *rig) { rm_guard_free(rig->guard); }

static void a_good_vector_moves_its_own_supplies_by_the_slew(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    assert_true(put_vector(&rig, RAMPER, 0.5, -0.25, 0.75));
    assert_at(&rig, 6, 0);
    assert_true(rm_guard_slewing(rig.guard, 6));
    cycle(&rig);
    assert_at(&rig, 6, 0.5);
    assert_at(&rig, 4, -0.25);
    assert_at(&rig, 5, 0.5);
    assert_false(rm_guard_slewing(rig.guard, 6));
    assert_true(rm_guard_slewing(rig.guard, 5));
    cycle(&rig);
    assert_at(&rig, 5, 0.75);
    for (uint32_t i = 0; i < 4; ++i)
        assert_at(&rig, i, 0);
    assert_at(&rig, 7, 0);
    assert_int_equal(rm_guard_view(rig.guard, RAMPER)->vectors, 1);
    assert_int_equal(rm_guard_view(rig.guard, HOLDER)->vectors, 0);
    end(&rig);
}

/** What lies between two of its supplies is not its own. */
static void supplies_with_others_between_move_alone(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.application[RAMPER].supply = (uint32_t[]){4, 6};
    rig.application[RAMPER].supply_count = 2;
    start(&rig);
    put_vector(&rig, RAMPER, 0.5, -0.5, 0);
    cycle(&rig);
    assert_at(&rig, 4, 0.5);
    assert_at(&rig, 5, 0);
    assert_at(&rig, 6, -0.5);
    end(&rig);
}

static void a_step_that_is_too_long_is_shortened_and_counted(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, HOLDER, 0.5, -0.5, 0);
    assert_refused(&rig, HOLDER, RM_REFUSED_SLEW, 0);
    put_vector(&rig, HOLDER, nextafter(0.5, 1), nextafter(-0.5, -1), 0);
    assert_refused(&rig, HOLDER, RM_REFUSED_SLEW, 2);
    assert_offence(&rig, HOLDER, RM_REFUSED_SLEW, 1, nextafter(-0.5, -1), -0.5);
    put_vector(&rig, HOLDER, 7, 0, 0);
    assert_offence(&rig, HOLDER, RM_REFUSED_SLEW, 0, 7, 0.5);
    assert_refused(&rig, HOLDER, RM_REFUSED_SLEW, 3);
    cycle(&rig);
    assert_at(&rig, 2, 0.5);
    /* a refused value beside it is what is kept */
    put_vector(&rig, HOLDER, NAN, 9, 0);
    assert_refused(&rig, HOLDER, RM_REFUSED_SLEW, 4);
    assert_offence(&rig, HOLDER, RM_REFUSED_NUMBER, 0, NAN, 0);
    end(&rig);
}

/** Ten million vectors a second are no faster than one. */
static void many_vectors_in_a_cycle_make_one_step(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    for (int i = 0; i < 1000; ++i)
        put_vector(&rig, HOLDER, i % 2 ? 10 : -10, 10, 0);
    put_vector(&rig, HOLDER, -10, 10, 0);
    cycle(&rig);
    assert_at(&rig, 2, -0.5);
    assert_at(&rig, 3, 0.5);
    rm_guard_cycle(rig.guard, rig.turn);
    assert_at(&rig, 2, -0.5);
    end(&rig);
}

static void a_cycle_may_go_piece_by_piece(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, HOLDER, 0.5, 0.5, 0);
    put_vector(&rig, RAMPER, 0.5, 0.5, 0.5);
    rm_guard_begin(rig.guard, ++rig.turn);
    rm_guard_advance(rig.guard, 3);
    assert_at(&rig, 2, 0.5);
    assert_at(&rig, 3, 0);
    rm_guard_advance(rig.guard, 2);
    rm_guard_advance(rig.guard, 3);
    rm_guard_advance(rig.guard, UINT32_MAX);
    for (uint32_t i = 2; i <= 6; ++i)
        assert_at(&rig, i, 0.5);
    put_vector(&rig, HOLDER, 5, 5, 0);
    rm_guard_advance(rig.guard, UINT32_MAX);
    rm_guard_begin(rig.guard, rig.turn);
    rm_guard_cycle(rig.guard, rig.turn);
    assert_at(&rig, 2, 0.5);
    end(&rig);
}

static void values_beyond_limits_or_no_numbers_are_refused_alone(void **state) {
    (void)state;
    static struct {
        double value;
        enum rm_refusal refusal;
        double limit;
    } const wrong[] = {
        {NAN, RM_REFUSED_NUMBER, 0},       {-NAN, RM_REFUSED_NUMBER, 0},      {INFINITY, RM_REFUSED_NUMBER, 0},
        {-INFINITY, RM_REFUSED_NUMBER, 0}, {-10.000001, RM_REFUSED_LOW, -10}, {-DBL_MAX, RM_REFUSED_LOW, -10},
        {10.000001, RM_REFUSED_HIGH, 10},  {DBL_MAX, RM_REFUSED_HIGH, 10},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct rig rig;
        begin(&rig);
        put_vector(&rig, HOLDER, 0.25, 0.25, 0);
        assert_true(put_vector(&rig, HOLDER, wrong[i].value, 0.5, 0));
        assert_refused(&rig, HOLDER, wrong[i].refusal, 1);
        assert_offence(&rig, HOLDER, wrong[i].refusal, 0, wrong[i].value, wrong[i].limit);
        cycle(&rig);
        assert_at(&rig, 2, 0.25);
        assert_at(&rig, 3, 0.5);
        assert_int_equal(rm_guard_view(rig.guard, HOLDER)->vectors, 2);
        end(&rig);
    }
}

static void limits_themselves_are_allowed(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.supply[2].slew = rig.supply[3].slew = 100;
    start(&rig);
    assert_true(put_vector(&rig, HOLDER, 10, -10, 0));
    cycle(&rig);
    assert_at(&rig, 2, 10);
    assert_at(&rig, 3, -10);
    assert_true(put_vector(&rig, HOLDER, -0.0, 5e-324, 0));
    cycle(&rig);
    assert_at(&rig, 2, 0);
    assert_at(&rig, 3, 5e-324);
    put_vector(&rig, HOLDER, nextafter(10, 11), nextafter(-10, -11), 0);
    assert_refused(&rig, HOLDER, RM_REFUSED_HIGH, 1);
    assert_refused(&rig, HOLDER, RM_REFUSED_LOW, 1);
    end(&rig);
}

/** 0.1 is no f32: the nearest one is above it, and that of -0.1 below. */
static void what_is_sent_is_rounded_towards_the_inside(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.supply[2] = rig.supply[3] = (struct rm_guard_supply){-0.1, 0.1, 1, 0, 1};
    start(&rig);
    assert_true((double)0.1f > 0.1);
    put_vector(&rig, HOLDER, 0.1, -0.1, 0);
    cycle(&rig);
    assert_at(&rig, 2, 0.1);
    assert_true(rm_guard_setpoints(rig.guard)[2] == nextafterf(0.1f, 0));
    assert_true(rm_guard_setpoints(rig.guard)[3] == -nextafterf(0.1f, 0));
    end(&rig);
}

static void a_vector_of_another_grant_number_is_refused_whole(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    uint64_t const others[] = {0, GRANT_NUMBER - 1, GRANT_NUMBER + 1, UINT64_MAX};
    for (uint64_t i = 0; i < 4; ++i) {
        assert_false(put_reading(&rig, others[i], rig.turn));
        assert_refused(&rig, HOLDER, RM_REFUSED_GRANT, i + 1);
        assert_offence(&rig, HOLDER, RM_REFUSED_GRANT, UINT64_MAX, (double)others[i], GRANT_NUMBER);
    }
    rm_guard_grant(rig.guard, HOLDER, 0, false);
    assert_false(put_reading(&rig, 0, rig.turn));
    assert_false(put_reading(&rig, GRANT_NUMBER, rig.turn));
    assert_refused(&rig, HOLDER, RM_REFUSED_GRANT, 6);
    rm_guard_grant(rig.guard, HOLDER, GRANT_NUMBER + 1, false);
    assert_false(put_reading(&rig, GRANT_NUMBER, rig.turn));
    assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_JOINED);
    assert_true(put_reading(&rig, GRANT_NUMBER + 1, rig.turn));
    assert_int_equal(rm_guard_view(rig.guard, HOLDER)->vectors, 1);
    /* the operator has no vectors */
    assert_false(put_vector(&rig, OPERATOR, 0.1, 0.1, 0));
    cycle(&rig);
    assert_at(&rig, 0, 0);
    end(&rig);
}

static void a_vector_is_judged_by_its_input_turn(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    assert_true(put_reading(&rig, GRANT_NUMBER, rig.turn - FRESH));
    assert_true(put_reading(&rig, GRANT_NUMBER, rig.turn + AHEAD));
    assert_false(put_reading(&rig, GRANT_NUMBER, rig.turn - FRESH - 1));
    assert_offence(&rig, HOLDER, RM_REFUSED_STALE, UINT64_MAX, (double)(rig.turn - FRESH - 1),
                   (double)(rig.turn - FRESH));
    assert_false(put_reading(&rig, GRANT_NUMBER, 0));
    assert_refused(&rig, HOLDER, RM_REFUSED_STALE, 2);
    assert_false(put_reading(&rig, GRANT_NUMBER, rig.turn + AHEAD + 1));
    assert_offence(&rig, HOLDER, RM_REFUSED_FUTURE, UINT64_MAX, (double)(rig.turn + AHEAD + 1),
                   (double)(rig.turn + AHEAD));
    assert_false(put_reading(&rig, GRANT_NUMBER, RM_TURN_NONE));
    assert_false(put_reading(&rig, GRANT_NUMBER, UINT64_MAX - 1));
    assert_refused(&rig, HOLDER, RM_REFUSED_FUTURE, 3);
    end(&rig);
}

/** Turns near both ends of their range, with the widest freshness that can be configured. */
static void no_turn_is_too_large_for_the_sums(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.application[HOLDER].freshness_turns = rig.application[HOLDER].future_turns = UINT64_MAX;
    start(&rig);
    assert_true(put_reading(&rig, GRANT_NUMBER, 0));
    assert_true(put_reading(&rig, GRANT_NUMBER, UINT64_MAX - 1));
    assert_false(put_reading(&rig, GRANT_NUMBER, RM_TURN_NONE));
    end(&rig);

    set_up(&rig);
    start(&rig);
    rig.turn = UINT64_MAX - 3;
    assert_true(put_reading(&rig, GRANT_NUMBER, UINT64_MAX - 1));
    assert_true(put_reading(&rig, GRANT_NUMBER, rig.turn - FRESH));
    assert_false(put_reading(&rig, GRANT_NUMBER, 3));
    assert_refused(&rig, HOLDER, RM_REFUSED_STALE, 1);
    assert_false(put_reading(&rig, GRANT_NUMBER, RM_TURN_NONE));
    rig.turn = 3;
    assert_true(put_reading(&rig, GRANT_NUMBER, 0));
    assert_true(put_reading(&rig, GRANT_NUMBER, 3 + AHEAD));
    assert_false(put_reading(&rig, GRANT_NUMBER, UINT64_MAX - 3));
    assert_refused(&rig, HOLDER, RM_REFUSED_FUTURE, 2);
    end(&rig);
}

static void a_faulty_supply_stays_and_refuses(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, HOLDER, 5, 5, 0);
    cycle(&rig);
    rm_guard_fault(rig.guard, 2, true);
    assert_true(put_vector(&rig, HOLDER, 5, 5, 0));
    assert_refused(&rig, HOLDER, RM_REFUSED_FAULT, 1);
    assert_offence(&rig, HOLDER, RM_REFUSED_FAULT, 0, 5, 0.5);
    cycle(&rig);
    assert_at(&rig, 2, 0.5);
    assert_at(&rig, 3, 1);
    /* its own mistakes come first */
    put_vector(&rig, HOLDER, 11, 5, 0);
    assert_refused(&rig, HOLDER, RM_REFUSED_HIGH, 1);
    rm_guard_fault(rig.guard, 2, false);
    cycle(&rig);
    assert_at(&rig, 2, 0.5);
    put_vector(&rig, HOLDER, 5, 5, 0);
    rm_guard_fault(rig.guard, 2, false);
    cycle(&rig);
    assert_at(&rig, 2, 1);
    end(&rig);
}

static void a_supply_that_has_not_joined_takes_nothing(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    make(&rig);
    rm_guard_grant(rig.guard, HOLDER, GRANT_NUMBER, false);
    assert_true(put_vector(&rig, HOLDER, 0.2, 0.2, 0));
    assert_refused(&rig, HOLDER, RM_REFUSED_FAULT, 2);
    cycle(&rig);
    assert_at(&rig, 2, 1);
    rm_guard_join(rig.guard, 2, NAN);
    rm_guard_join(rig.guard, 2, INFINITY);
    put_vector(&rig, HOLDER, 0.2, 0.2, 0);
    assert_refused(&rig, HOLDER, RM_REFUSED_FAULT, 4);
    rm_guard_join(rig.guard, 2, 3);
    rm_guard_join(rig.guard, 3, -40);
    assert_at(&rig, 2, 3);
    assert_at(&rig, 3, -10);
    rm_guard_join(rig.guard, 3, 40);
    assert_at(&rig, 3, 10);
    put_vector(&rig, HOLDER, 2.75, 0, 0);
    cycle(&rig);
    assert_at(&rig, 2, 2.75);
    assert_at(&rig, 3, 9.5);
    rm_guard_join(rig.guard, 3, 4);
    cycle(&rig);
    assert_at(&rig, 3, 4);
    end(&rig);
}

static void when_vectors_stop_a_holder_stays_at_what_was_sent(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, HOLDER, 5, -5, 0);
    assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_RUNNING);
    cycle(&rig);
    cycle(&rig);
    assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_RUNNING);
    assert_at(&rig, 2, 1);
    for (int i = 0; i < 3; ++i) {
        cycle(&rig);
        assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_STALLED);
        assert_true(rm_guard_stopped(rig.guard, HOLDER));
        assert_at(&rig, 2, 1);
        assert_at(&rig, 3, -1);
    }
    assert_int_equal(rm_guard_view(rig.guard, HOLDER)->stalls, 1);
    assert_true(put_vector(&rig, HOLDER, 5, -5, 0));
    assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_RUNNING);
    assert_false(rm_guard_stopped(rig.guard, HOLDER));
    cycle(&rig);
    assert_at(&rig, 2, 1.5);
    end(&rig);
}

static void when_vectors_stop_a_ramper_goes_to_its_safe_values(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, RAMPER, 0.5, -0.5, 0.5);
    cycle(&rig);
    cycle(&rig);
    assert_at(&rig, 6, 0.5);
    cycle(&rig);
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_STALLED);
    assert_at(&rig, 6, 0.75);
    assert_at(&rig, 4, -0.25);
    for (int i = 0; i < 10; ++i)
        cycle(&rig);
    assert_at(&rig, 6, 1);
    assert_at(&rig, 4, 1);
    end(&rig);
}

/** What the vector refuses does not go on to its safe value either: that target does not count any more. */
static void the_first_good_vector_ends_a_ramp_for_all_its_supplies(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, RAMPER, -0.5, -0.5, -0.5);
    for (int i = 0; i < 3; ++i)
        cycle(&rig);
    assert_at(&rig, 4, -0.25);
    rm_guard_fault(rig.guard, 5, true);
    assert_true(put_vector(&rig, RAMPER, NAN, -5, 0));
    cycle(&rig);
    assert_at(&rig, 6, -0.25);
    assert_at(&rig, 4, -0.75);
    assert_at(&rig, 5, -0.25);
    end(&rig);
}

static void a_vector_of_nonsense_is_no_sign_of_life(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, RAMPER, 0.5, 0.5, 0.5);
    cycle(&rig);
    for (int i = 0; i < 2; ++i) {
        assert_false(put_vector(&rig, RAMPER, NAN, 11, -11));
        assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_RUNNING);
        cycle(&rig);
    }
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_STALLED);
    assert_at(&rig, 6, 0.75);
    assert_false(put_vector(&rig, RAMPER, NAN, 11, -11));
    assert_true(rm_guard_stopped(rig.guard, RAMPER));
    cycle(&rig);
    assert_at(&rig, 6, 1);
    assert_int_equal(rm_guard_view(rig.guard, RAMPER)->vectors, 1);
    /* supplies that do not obey are not its fault */
    for (uint32_t i = 4; i <= 6; ++i)
        rm_guard_fault(rig.guard, i, true);
    assert_true(put_vector(&rig, RAMPER, 1, 1, 1));
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_RUNNING);
    end(&rig);
}

static void the_watchdog_is_of_the_applications_own_period(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.application[HOLDER].watchdog_cycles = 3;
    rig.application[HOLDER].period_cycles = 10;
    start(&rig);
    for (int vector = 0; vector < 5; ++vector) {
        put_vector(&rig, HOLDER, 0, 0, 0);
        for (int i = 0; i < 30; ++i)
            cycle(&rig);
        assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_RUNNING);
    }
    cycle(&rig);
    assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_STALLED);
    end(&rig);
}

static void who_never_sent_a_vector_does_not_stall(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    for (int i = 0; i < 50; ++i)
        cycle(&rig);
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_JOINED);
    assert_false(rm_guard_stopped(rig.guard, RAMPER));
    assert_at(&rig, 6, 0);
    end(&rig);
}

static void death_and_an_orderly_end_are_followed_at_once(void **state) {
    (void)state;
    for (int died = 0; died < 2; ++died) {
        struct rig rig;
        begin(&rig);
        put_vector(&rig, RAMPER, -5, -5, -5);
        put_vector(&rig, HOLDER, -5, -5, 0);
        cycle(&rig);
        rm_guard_grant(rig.guard, RAMPER, 0, died);
        rm_guard_grant(rig.guard, HOLDER, 0, died);
        assert_int_equal(state_of(&rig, RAMPER), died ? RM_APPLICATION_DEAD : RM_APPLICATION_ABSENT);
        cycle(&rig);
        assert_at(&rig, 6, -0.25);
        assert_at(&rig, 2, -0.5);
        assert_int_equal(rm_guard_view(rig.guard, RAMPER)->stalls, 0);
        end(&rig);
    }
}

static void who_was_never_there_has_not_stopped(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    make(&rig);
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rm_guard_join(rig.guard, i, 0);
    rm_guard_grant(rig.guard, RAMPER, 0, false);
    cycle(&rig);
    assert_at(&rig, 6, 0);
    rm_guard_grant(rig.guard, RAMPER, 0, true);
    cycle(&rig);
    assert_at(&rig, 6, 0.25);
    end(&rig);
}

/** It begins at what was sent, and has its watchdog's time for its first vector. */
static void a_restart_in_the_midst_of_a_ramp_pauses_it(void **state) {
    (void)state;
    for (int died = 0; died < 2; ++died) {
        struct rig rig;
        begin(&rig);
        put_vector(&rig, RAMPER, -5, -5, -5);
        cycle(&rig);
        if (died)
            rm_guard_grant(rig.guard, RAMPER, 0, true);
        rm_guard_grant(rig.guard, RAMPER, GRANT_NUMBER, false);
        assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_JOINED);
        assert_true(rm_guard_stopped(rig.guard, RAMPER));
        cycle(&rig);
        assert_at(&rig, 6, -0.5);
        cycle(&rig);
        assert_at(&rig, 6, -0.25);
        cycle(&rig);
        assert_at(&rig, 6, 0);
        assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_JOINED);
        assert_int_equal(rm_guard_view(rig.guard, RAMPER)->stalls, 0);
        put_vector(&rig, RAMPER, 0, 0, 0);
        cycle(&rig);
        assert_at(&rig, 6, 0);
        assert_false(rm_guard_stopped(rig.guard, RAMPER));
        end(&rig);
    }
}

static void one_that_hangs_in_its_first_step_has_stalled(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.application[RAMPER].first_vector_cycles = 5;
    start(&rig);
    for (int i = 0; i < 4; ++i)
        cycle(&rig);
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_JOINED);
    cycle(&rig);
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_STALLED);
    for (int i = 0; i < 10; ++i)
        cycle(&rig);
    assert_int_equal(rm_guard_view(rig.guard, RAMPER)->stalls, 1);
    assert_at(&rig, 6, 0); /* it has moved nothing: there is nothing to stop */
    assert_int_equal(state_of(&rig, HOLDER), RM_APPLICATION_JOINED);
    put_vector(&rig, RAMPER, -5, -5, -5);
    cycle(&rig);
    assert_int_equal(state_of(&rig, RAMPER), RM_APPLICATION_RUNNING);
    end(&rig);
}

static void a_good_vector_in_time_makes_a_restart_bumpless(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    put_vector(&rig, RAMPER, -5, -5, -5);
    cycle(&rig);
    rm_guard_grant(rig.guard, RAMPER, 0, true);
    cycle(&rig);
    rm_guard_grant(rig.guard, RAMPER, GRANT_NUMBER, false);
    cycle(&rig);
    double const sent = rm_guard_exact(rig.guard)[6];
    for (int i = 0; i < 10; ++i) {
        put_vector(&rig, RAMPER, sent, sent, sent);
        cycle(&rig);
        assert_at(&rig, 6, -0.25);
    }
    end(&rig);
}

static void a_fault_interrupts_a_ramp_and_a_join_begins_one(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    rm_guard_grant(rig.guard, RAMPER, 0, true);
    cycle(&rig);
    rm_guard_fault(rig.guard, 4, true);
    cycle(&rig);
    assert_at(&rig, 4, 0.25);
    assert_at(&rig, 5, 0.5);
    rm_guard_join(rig.guard, 4, -3);
    cycle(&rig);
    assert_at(&rig, 4, -3);
    rm_guard_fault(rig.guard, 4, false);
    cycle(&rig);
    assert_at(&rig, 4, -2.75);
    rm_guard_join(rig.guard, 5, 3);
    cycle(&rig);
    assert_at(&rig, 5, 2.75);
    end(&rig);
}

static void the_operator_moves_only_what_is_the_operators(void **state) {
    (void)state;
    struct rig rig;
    double limit;
    begin(&rig);
    assert_int_equal(rm_guard_put(rig.guard, 1, 2, rig.turn, &limit), RM_REFUSED_NOTHING);
    cycle(&rig);
    assert_at(&rig, 1, 0.5);
    rm_guard_put(rig.guard, 1, -2, rig.turn, &limit);
    for (int i = 0; i < 20; ++i)
        cycle(&rig);
    assert_at(&rig, 1, -2);
    assert_refused(&rig, OPERATOR, RM_REFUSED_SLEW, 0);
    assert_int_equal(rm_guard_view(rig.guard, OPERATOR)->vectors, 2);

    assert_int_equal(rm_guard_put(rig.guard, 2, 1, rig.turn, &limit), RM_REFUSED_OWNERSHIP);
    assert_true(limit == HOLDER);
    assert_offence(&rig, OPERATOR, RM_REFUSED_OWNERSHIP, 2, 1, HOLDER);
    assert_int_equal(rm_guard_put(rig.guard, 7, 1, rig.turn, &limit), RM_REFUSED_OWNERSHIP);
    assert_offence(&rig, OPERATOR, RM_REFUSED_OWNERSHIP, 7, 1, -1);
    assert_int_equal(rm_guard_put(rig.guard, UINT32_MAX, 1, rig.turn, &limit), RM_REFUSED_OWNERSHIP);
    assert_int_equal(rm_guard_put(rig.guard, 1, NAN, rig.turn, &limit), RM_REFUSED_NUMBER);
    assert_int_equal(rm_guard_put(rig.guard, 1, 10.5, rig.turn, &limit), RM_REFUSED_HIGH);
    assert_true(limit == 10);
    assert_int_equal(rm_guard_put(rig.guard, 1, -10.5, rig.turn, &limit), RM_REFUSED_LOW);
    assert_true(limit == -10);
    rm_guard_fault(rig.guard, 1, true);
    assert_int_equal(rm_guard_put(rig.guard, 1, 1, rig.turn, &limit), RM_REFUSED_FAULT);
    assert_offence(&rig, OPERATOR, RM_REFUSED_FAULT, 1, 1, -2);
    assert_refused(&rig, OPERATOR, RM_REFUSED_OWNERSHIP, 3);
    cycle(&rig);
    assert_at(&rig, 1, -2);
    assert_at(&rig, 2, 0);
    assert_at(&rig, 7, 0);
    /* and the operator is granted nothing, and nothing is taken from it */
    rm_guard_grant(rig.guard, OPERATOR, 0, true);
    assert_int_equal(state_of(&rig, OPERATOR), RM_APPLICATION_RUNNING);
    end(&rig);
}

static void what_another_server_sent_is_where_the_next_step_begins(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig);
    assert_true(put_vector(&rig, HOLDER, 2, 2, 0));
    rm_guard_follow(rig.guard, 2, 1.75);
    rm_guard_follow(rig.guard, 3, -4);
    rm_guard_follow(rig.guard, 3, (double)NAN);
    assert_at(&rig, 2, 1.75);
    cycle(&rig);
    assert_at(&rig, 2, 2); // its application's own target, within a slew
    assert_at(&rig, 3, -3.5);
    rm_guard_follow(rig.guard, 3, 99);
    assert_at(&rig, 3, 10);
    end(&rig);
}

static void a_supply_that_nothing_aims_stays_where_another_server_left_it(void **state) {
    (void)state;
    struct rig rig;
    double limit;
    begin(&rig);
    assert_int_equal(rm_guard_put(rig.guard, 0, 5, rig.turn, &limit), RM_REFUSED_NOTHING);
    rm_guard_fault(rig.guard, 1, true);
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rm_guard_follow(rig.guard, i, 3);
    cycle(&rig);
    assert_at(&rig, 0, 3.5); // the operator's, on its way
    assert_at(&rig, 1, 3);   // tripped
    assert_at(&rig, 2, 3);   // its application has sent nothing yet
    assert_at(&rig, 7, 3);   // of no application
    end(&rig);
    set_up(&rig);
    make(&rig);
    rm_guard_follow(rig.guard, 2, 3);
    assert_at(&rig, 2, 1); // it has not joined
    end(&rig);
}

static void assert_impossible(struct rig *rig, char const *word) {
    struct rm_error error = {0};
    struct rm_guard *guard = NULL;
    assert_int_equal(rm_guard_new(rig->supply, SUPPLIES, rig->application, APPLICATIONS, &guard, &error),
                     RM_E_ARGUMENT);
    assert_null(guard);
    assert_int_equal(error.code, RM_E_ARGUMENT);
    if (strstr(error.text, word) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", error.text, word);
    set_up(rig);
}

static void impossible_supplies_are_refused(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    double const impossible[] = {NAN, INFINITY, -INFINITY, 1e39};
    for (int i = 0; i < 4; ++i) {
        rig.supply[3].low = impossible[i];
        assert_impossible(&rig, "supply 3");
        rig.supply[3].high = impossible[i];
        assert_impossible(&rig, "limits");
        rig.supply[3].safe = impossible[i];
        assert_impossible(&rig, "safe");
    }
    rig.supply[3].low = 2;
    assert_impossible(&rig, "safe");
    double const slews[] = {NAN, INFINITY, 0, -1, 1e-15, 5e-324};
    for (int i = 0; i < 6; ++i) {
        rig.supply[3].slew = slews[i];
        assert_impossible(&rig, "slew");
        rig.supply[3].safe_slew = slews[i];
        assert_impossible(&rig, "slew");
    }
    rig.supply[3] = (struct rm_guard_supply){0.1, 0.1, 1, 0.1, 1};
    assert_impossible(&rig, "f32");
    /* one value, which is an f32, is enough */
    rig.supply[3] = (struct rm_guard_supply){0.5, 0.5, 1e300, 0.5, 5e-16};
    make(&rig);
    end(&rig);
}

/** From one end to the other, at the least slew that is taken, a setpoint still moves. */
static void the_least_slew_moves(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.supply[2].slew = nextafter(10, 11) - 10;
    rig.supply[3].slew = 1e300;
    start(&rig);
    rm_guard_join(rig.guard, 2, 10);
    put_vector(&rig, HOLDER, -10, -10, 0);
    cycle(&rig);
    assert_true(rm_guard_exact(rig.guard)[2] < 10);
    assert_at(&rig, 3, -10);
    end(&rig);
}

static void impossible_applications_are_refused(void **state) {
    (void)state;
    struct rig rig;
    set_up(&rig);
    rig.application[HOLDER].watchdog_cycles = 0;
    assert_impossible(&rig, "watchdog");
    rig.application[HOLDER].period_cycles = 0;
    assert_impossible(&rig, "watchdog");
    rig.application[HOLDER].supply = (uint32_t[]){2, SUPPLIES};
    assert_impossible(&rig, "supply 8");
    rig.application[HOLDER].supply = (uint32_t[]){2, 2};
    assert_impossible(&rig, "supply 2");
    rig.application[HOLDER].supply = (uint32_t[]){2, 5};
    assert_impossible(&rig, "supply 5");
    struct rm_guard *guard;
    assert_int_equal(rm_guard_new(rig.supply, 0, rig.application, 3, &guard, NULL), RM_E_ARGUMENT);
    assert_int_equal(rm_guard_new(rig.supply, SUPPLIES, rig.application, 0, &guard, NULL), RM_E_ARGUMENT);
    rm_guard_free(NULL);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_good_vector_moves_its_own_supplies_by_the_slew),
        cmocka_unit_test(supplies_with_others_between_move_alone),
        cmocka_unit_test(a_step_that_is_too_long_is_shortened_and_counted),
        cmocka_unit_test(many_vectors_in_a_cycle_make_one_step),
        cmocka_unit_test(a_cycle_may_go_piece_by_piece),
        cmocka_unit_test(values_beyond_limits_or_no_numbers_are_refused_alone),
        cmocka_unit_test(limits_themselves_are_allowed),
        cmocka_unit_test(what_is_sent_is_rounded_towards_the_inside),
        cmocka_unit_test(a_vector_of_another_grant_number_is_refused_whole),
        cmocka_unit_test(a_vector_is_judged_by_its_input_turn),
        cmocka_unit_test(no_turn_is_too_large_for_the_sums),
        cmocka_unit_test(a_faulty_supply_stays_and_refuses),
        cmocka_unit_test(a_supply_that_has_not_joined_takes_nothing),
        cmocka_unit_test(when_vectors_stop_a_holder_stays_at_what_was_sent),
        cmocka_unit_test(when_vectors_stop_a_ramper_goes_to_its_safe_values),
        cmocka_unit_test(the_first_good_vector_ends_a_ramp_for_all_its_supplies),
        cmocka_unit_test(a_vector_of_nonsense_is_no_sign_of_life),
        cmocka_unit_test(the_watchdog_is_of_the_applications_own_period),
        cmocka_unit_test(one_that_hangs_in_its_first_step_has_stalled),
        cmocka_unit_test(who_never_sent_a_vector_does_not_stall),
        cmocka_unit_test(death_and_an_orderly_end_are_followed_at_once),
        cmocka_unit_test(who_was_never_there_has_not_stopped),
        cmocka_unit_test(a_restart_in_the_midst_of_a_ramp_pauses_it),
        cmocka_unit_test(a_good_vector_in_time_makes_a_restart_bumpless),
        cmocka_unit_test(a_fault_interrupts_a_ramp_and_a_join_begins_one),
        cmocka_unit_test(the_operator_moves_only_what_is_the_operators),
        cmocka_unit_test(what_another_server_sent_is_where_the_next_step_begins),
        cmocka_unit_test(a_supply_that_nothing_aims_stays_where_another_server_left_it),
        cmocka_unit_test(impossible_supplies_are_refused),
        cmocka_unit_test(the_least_slew_moves),
        cmocka_unit_test(impossible_applications_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
