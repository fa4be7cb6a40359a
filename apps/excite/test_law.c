// SPDX-License-Identifier: Apache-2.0
/** The law: curve, sines, and a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <ringmaster/s_curve.h>

#include "law/sines.h"
#include "run.h"

enum { SINES = 100 };

static double const STEP_S = 1.037e-4;

static void a_curve_leaves_and_comes_at_rest(void **state) {
    (void)state;
    double const small = 1e-4;
    double steepest = 0.0;
    assert_true(rm_s_curve_clamped(-1.0) == 0.0 && rm_s_curve_clamped(0.0) == 0.0);
    assert_true(rm_s_curve_clamped(1.0) == 1.0 && rm_s_curve_clamped(2.0) == 1.0);
    assert_true(rm_s_curve_clamped(small) < 11.0 * small * small * small);
    assert_true(1.0 - rm_s_curve_clamped(1.0 - small) < 11.0 * small * small * small);
    for (int i = 0; i < 10000; ++i) {
        double const u = small * i;
        double const slope = (rm_s_curve_clamped(u + small) - rm_s_curve_clamped(u)) / small;
        assert_true(slope >= 0.0);
        steepest = fmax(steepest, slope);
    }
    assert_float_equal(steepest, RM_S_CURVE_PEAK, 1e-6);
    assert_float_equal(rm_s_curve_seconds(-4.0, 10.0, 0.1), 0.75, 1e-12);
    assert_float_equal(rm_s_curve_seconds(-0.4, 10.0, 0.1), 0.1, 1e-12);
}

struct fixture {
    struct excite_sines sines;
    double value[SINES];
    void *memory;
};

static void fixture_make(struct fixture *fixture) {
    *fixture = (struct fixture){.memory = calloc(1, excite_sines_bytes(SINES))};
    assert_non_null(fixture->memory);
    excite_sines_place(&fixture->sines, SINES, fixture->memory);
    excite_sines_clear(&fixture->sines, STEP_S);
    for (uint32_t i = 0; i < SINES; ++i)
        excite_sines_add(&fixture->sines, SINES - 1 - i, 0.5 + i, 7.3 * i, 0.1 * i);
}

/** The largest difference of the values at a step from what they are by definition, per amplitude. */
static double error_at(struct fixture *fixture, uint64_t step) {
    double most = 0.0;
    for (uint32_t i = 0; i < SINES; ++i)
        fixture->value[i] = 0.0;
    excite_sines_go(&fixture->sines, step);
    excite_sines_add_up(&fixture->sines, 0.5, fixture->value);
    for (uint32_t i = 0; i < SINES; ++i) {
        double const sine = sin(remainder(2.0 * M_PI * 7.3 * i * (double)step * STEP_S, 2.0 * M_PI) + 0.1 * i);
        most = fmax(most, fabs(fixture->value[SINES - 1 - i] / (0.5 + i) - 0.5 * sine));
    }
    return most;
}

static void sines_are_those_of_their_step(void **state) {
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    for (uint64_t step = 0; step < 1000; ++step)
        assert_true(error_at(&fixture, step) < 1e-12);
    assert_true(error_at(&fixture, 999) < 1e-12); /* the same step again */
    assert_true(error_at(&fixture, 1007) < 1e-12);
    assert_true(error_at(&fixture, 1008) < 1e-12);
    free(fixture.memory);
}

/** Between two steps a sine changes by no more than is said, and by nearly so much. */
static void the_steepest_step_is_known(void **state) {
    (void)state;
    for (int octave = 0; octave < 10; ++octave) {
        double const hz = ldexp(4.5, octave);
        double const said = excite_sines_steepest(-2.0, hz, STEP_S);
        double most = 0.0;
        for (uint64_t step = 0; step < 4000; ++step)
            most = fmax(most, fabs(2.0 * sin(2.0 * M_PI * hz * STEP_S * (double)(step + 1)) -
                                   2.0 * sin(2.0 * M_PI * hz * STEP_S * (double)step)));
        assert_true(most <= said * (1.0 + 1e-12) && most > 0.99 * said);
    }
    assert_true(excite_sines_steepest(1.0, 1e5, STEP_S) == 2.0);
}

static void a_run_rises_lasts_and_falls(void **state) {
    (void)state;
    struct excite_run run = {.state = EXCITE_IDLE};
    assert_false(excite_run_go(&run, 1000, false, 100, 500));
    assert_true(excite_run_go(&run, 1010, true, 100, 500));
    assert_true(run.begin_turn == 1010 && run.state == EXCITE_RISING && excite_run_envelope(&run, 1010) == 0.0);
    double before = 0.0;
    for (uint64_t turn = 1020; turn < 1110; turn += 10) {
        assert_false(excite_run_go(&run, turn, true, 1, 1)); /* it keeps what it began with */
        assert_int_equal(run.state, EXCITE_RISING);
        assert_true(excite_run_envelope(&run, turn) > before);
        before = excite_run_envelope(&run, turn);
    }
    for (uint64_t turn = 1110; turn < 1610; turn += 10) {
        excite_run_go(&run, turn, true, 100, 500);
        assert_true(run.state == EXCITE_FULL && excite_run_envelope(&run, turn) == 1.0);
    }
    excite_run_go(&run, 1660, true, 100, 500);
    assert_true(run.state == EXCITE_FALLING);
    assert_float_equal(excite_run_envelope(&run, 1660), 0.5, 1e-12);
    assert_float_equal(excite_run_progress(&run, 1660), 650.0 / 700.0, 1e-12);
    excite_run_go(&run, 1710, true, 100, 500);
    assert_true(run.state == EXCITE_IDLE && excite_run_envelope(&run, 1710) == 0.0);
    assert_false(excite_run_go(&run, 1720, true, 100, 500)); /* it was asked for once */
    assert_false(excite_run_go(&run, 1730, false, 100, 500));
    assert_true(excite_run_go(&run, 1740, true, 100, 500));
}

static void a_run_that_is_taken_back_falls_from_where_it_is(void **state) {
    (void)state;
    struct excite_run run = {.state = EXCITE_IDLE};
    excite_run_go(&run, 0, true, 100, 500);
    excite_run_go(&run, 50, true, 100, 500);
    excite_run_go(&run, 60, false, 100, 500);
    double const there = excite_run_envelope(&run, 60);
    assert_true(run.state == EXCITE_FALLING && fabs(there - rm_s_curve_clamped(0.6)) < 1e-12);
    assert_false(excite_run_go(&run, 110, true, 100, 500)); /* it falls to its end first */
    assert_float_equal(excite_run_envelope(&run, 110), there / 2.0, 1e-12);
    excite_run_go(&run, 160, true, 100, 500);
    assert_int_equal(run.state, EXCITE_IDLE);
    struct excite_run late = {.state = EXCITE_IDLE}; /* steps were left out: it is where it would be */
    excite_run_go(&late, 0, true, 0, 500);
    assert_int_equal(late.state, EXCITE_FULL);
    excite_run_go(&late, 1000, true, 0, 500);
    assert_int_equal(late.state, EXCITE_IDLE);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_curve_leaves_and_comes_at_rest),
        cmocka_unit_test(sines_are_those_of_their_step),
        cmocka_unit_test(the_steepest_step_is_known),
        cmocka_unit_test(a_run_rises_lasts_and_falls),
        cmocka_unit_test(a_run_that_is_taken_back_falls_from_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
