// SPDX-License-Identifier: Apache-2.0
/** Each detector's law: the delays that its header states, and that noise alone says nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "law/drift.h"
#include "law/excursion.h"
#include "law/growth.h"
#include "law/latch.h"
#include "law/one_signal.h"
#include "law/permit.h"
#include "law/rise.h"
#include "law/runaway.h"

enum { STEPS = 8, SLOW = 100 };

static double const PI = 3.14159265358979323846;

/** Normal numbers, nearly: a sum of twelve even ones. Numerical Recipes' quick generator. */
static double noise(uint32_t *seed) {
    double sum = -6.0;
    for (unsigned i = 0; i < 12; ++i) {
        *seed = 1664525u * *seed + 1013904223u;
        sum += *seed / 4294967296.0;
    }
    return sum;
}

static void test_boxcar_forgets_all_that_is_old(void **state) {
    (void)state;
    struct premortem_boxcar boxcar;
    premortem_boxcar_begin(&boxcar, 5);
    double mean = 0.0, gone = 0.0;
    for (unsigned i = 0; i < 3; ++i)
        mean = premortem_boxcar_take(&boxcar, 1e17, &gone);
    assert_true(mean == 1e17 && gone == 1e17);
    for (unsigned i = 0; i < 12; ++i)
        mean = premortem_boxcar_take(&boxcar, (double)i, &gone);
    assert_true(mean == 9.0 && gone == 6.0);
}

/** "A jump of h crosses θ in the ⌈L θ/h⌉th record": of 3 θ, in the third of eight. */
static void test_rise_crosses_when_it_says(void **state) {
    (void)state;
    static struct {
        double height;
        unsigned record;
    } const jumps[] = {{8.0 / 3.0 + 1e-9, 3}, {1.0 + 1e-9, 8}, {16.0, 1}, {2.0 + 1e-9, 4}};
    for (unsigned k = 0; k < sizeof jumps / sizeof jumps[0]; ++k) {
        struct premortem_rise rise;
        premortem_rise_begin(&rise, STEPS, SLOW);
        for (unsigned i = 0; i < SLOW; ++i)
            assert_true(isnan(premortem_rise_take(&rise, 7.0, 0.01)));
        for (unsigned i = 0; i < STEPS; ++i)
            assert_true(fabs(premortem_rise_take(&rise, 7.0, 0.01)) < 1e-9);
        for (unsigned record = 1; record <= jumps[k].record; ++record) {
            double const level = premortem_rise_take(&rise, 7.0 + jumps[k].height, 0.01);
            assert_int_equal(level >= 1.0, record == jumps[k].record);
        }
    }
}

/** A rise that lasts does not become its own baseline; one below the warning does. */
static void test_baseline_stands_still_above_the_warning(void **state) {
    (void)state;
    struct premortem_rise rise;
    premortem_rise_begin(&rise, 1, SLOW);
    for (unsigned i = 0; i < SLOW; ++i)
        premortem_rise_take(&rise, 0.0, 0.5);
    for (unsigned i = 0; i < 50 * SLOW; ++i)
        assert_true(premortem_rise_take(&rise, 1.0, 0.5) == 1.0);
    double level = 1.0;
    for (unsigned i = 0; i < 50 * SLOW; ++i)
        level = premortem_rise_take(&rise, 0.4, 0.5);
    assert_true(level < 1e-6);
}

static void test_excursion_goes_the_short_way_round(void **state) {
    (void)state;
    struct premortem_excursion excursion;
    premortem_excursion_begin(&excursion, 4, SLOW, 360.0);
    for (unsigned i = 0; i < SLOW; ++i)
        assert_true(isnan(premortem_excursion_take(&excursion, i % 2 ? 179.0 : -179.0, 5.0)));
    for (unsigned i = 0; i < 8; ++i)
        assert_true(premortem_excursion_take(&excursion, i % 2 ? 179.0 : -179.0, 5.0) < 1.01);
    for (unsigned record = 1; record <= 4; ++record) { /* to 20° below: either side counts */
        double const level = premortem_excursion_take(&excursion, 160.0, 5.0);
        assert_int_equal(level >= 8.0, record >= 2);
    }
}

static void test_runaway_sees_distance_and_rate(void **state) {
    (void)state;
    double const orbit[3] = {1.0, -2.0, 5.0};
    bool const good[3] = {true, true, true}, two[3] = {true, false, true};
    double first[3] = {0}, moved[3];
    uint32_t seen[3] = {0};
    for (unsigned ahead = 0; ahead <= 4; ahead += 4) {
        struct premortem_runaway runaway;
        premortem_runaway_begin(&runaway, STEPS, ahead == 0 ? 3 : 0, PREMORTEM_RMS, ahead);
        for (unsigned i = 0; ahead == 0 && i < 3; ++i)
            assert_true(isnan(premortem_runaway_take(&runaway, orbit, good, first, seen, 3)));
        for (unsigned i = 0; i < STEPS; ++i)
            assert_true(premortem_runaway_take(&runaway, orbit, two, first, seen, 3) == 0.0);
        for (unsigned i = 0; i < 3; ++i)
            moved[i] = orbit[i] - 2.0;
        for (unsigned record = 1; record <= STEPS; ++record) { /* ⌈L θ/h − T⌉ = 6 − T, and 2 */
            double const level = premortem_runaway_take(&runaway, moved, good, first, seen, 3);
            assert_int_equal(level >= 1.5 - 1e-9, record >= 6 - ahead);
        }
    }
    struct premortem_runaway worst;
    premortem_runaway_begin(&worst, 1, 0, PREMORTEM_WORST, 0);
    moved[1] = orbit[1] - 7.0;
    assert_true(premortem_runaway_take(&worst, moved, good, first, seen, 3) == 7.0);
    assert_true(premortem_runaway_take(&worst, moved, two, first, seen, 3) == 2.0);
    assert_true(isnan(premortem_runaway_take(&worst, moved, (bool const[3]){false}, first, seen, 3)));
}

static struct premortem_growth_plan const banded = {.steps = 50,
                                                    .slow_steps = SLOW,
                                                    .memory_windows = 8,
                                                    .floor = 1.5,
                                                    .low_per_step = 0.08,
                                                    .high_per_step = 0.12,
                                                    .steps_per_second = 10000.0};

/** The rate that it was, and within FIT_WINDOWS windows of the floor; the band's centre passes as it is. */
static void test_growth_measures_the_rate(void **state) {
    (void)state;
    uint32_t seed = 5;
    for (unsigned k = 0; k < 2; ++k) {
        struct premortem_growth_plan plan = banded;
        if (k == 1) /* a turn-rate envelope, without a band: the largest reading of some turns */
            plan.low_per_step = plan.high_per_step = 0.0;
        double const rate_per_step = 0.002;
        struct premortem_growth growth;
        premortem_growth_begin(&growth, &plan);
        double level = 0.0;
        unsigned above = 0, fitted = 0;
        for (unsigned i = 0; i < 3000 && fitted == 0; ++i) {
            double const amplitude = i < 1000 ? 0.0 : exp(rate_per_step * (i - 1000.0));
            double const carrier = k == 1 ? 1.0 : sqrt(2.0) * sin(2.0 * PI * sqrt(0.08 * 0.12) * i);
            level = premortem_growth_take(&growth, 100.0 * k + amplitude * carrier + 0.05 * noise(&seed));
            above += growth.in_window == 0 && growth.amplitude >= plan.floor;
            if (level > 0.0)
                fitted = above;
        }
        assert_in_range(fitted, PREMORTEM_FIT_WINDOWS, PREMORTEM_FIT_WINDOWS + 3);
        assert_true(fabs(growth.rate_hz - 20.0) < (k == 1 ? 6.0 : 2.0)); /* the slow mean takes some of it off */
        assert_true(level > 0.5 * growth.rate_hz && level < growth.rate_hz);
    }
}

/** Noise above the floor, and a steady oscillation: neither grows. */
static void test_growth_of_noise_is_none(void **state) {
    (void)state;
    uint32_t seed = 1;
    double largest = 0.0;
    struct premortem_growth growth;
    premortem_growth_begin(&growth, &banded);
    for (unsigned i = 0; i < 500000; ++i) {
        double const level = premortem_growth_take(&growth, 10.0 * sin(2.0 * PI * 0.1 * i) + 5.0 * noise(&seed));
        largest = i < 500 ? largest : fmax(largest, level);
    }
    assert_true(largest < 50.0); /* 10 000 windows; an instability of 1 % per turn at 1 MHz is 10 000 */
    premortem_growth_begin(&growth, &banded);
    for (unsigned i = 0; i < 100000; ++i) /* below the floor */
        assert_false(premortem_growth_take(&growth, noise(&seed)) > 0.0);
}

/** The time to the limit, whatever a quarter of the blocks say. */
static void test_drift_tells_the_time_to_the_limit(void **state) {
    (void)state;
    struct premortem_drift drift;
    premortem_drift_begin(&drift, 10, -INFINITY, 100.0, 1000.0);
    double level = 0.0;
    for (unsigned i = 0; i < 120; ++i) {
        assert_int_equal(isnan(level), i > 0 && i < 120);
        bool const is_outlier = i / 10 % 4 == 2;
        level = premortem_drift_take(&drift, is_outlier ? -1e4 : 0.1 * i);
    }
    assert_true(fabs(1.0 / level - (100.0 - 11.45) / 100.0) < 1e-9); /* 0.1 per ms */
    for (unsigned i = 120; i < 1200; ++i)
        level = premortem_drift_take(&drift, 0.1 * i);
    assert_true(level == 100.0); /* beyond: one over the time of a block */
    premortem_drift_begin(&drift, 1, -50.0, INFINITY, 1000.0);
    for (unsigned i = 0; i < PREMORTEM_DRIFT_BLOCKS; ++i)
        level = premortem_drift_take(&drift, -1.0 * i);
    assert_true(fabs(1.0 / level - 0.039) < 1e-9);
    for (unsigned i = 0; i < PREMORTEM_DRIFT_BLOCKS; ++i)
        level = premortem_drift_take(&drift, 3.0);
    assert_true(level == 0.0);
}

static void test_signals_that_say_nothing_are_bad(void **state) {
    (void)state;
    struct premortem_signal signal = {.last = NAN, .is_whole = true};
    static double const bad[] = {NAN, INFINITY, -INFINITY, INT32_MIN, INT32_MAX};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        assert_false(premortem_signal_is_good(&signal, bad[i], 3));
    assert_true(premortem_signal_is_good(&signal, 7.0, 3));
    assert_true(premortem_signal_is_good(&signal, 7.0, 3));
    assert_false(premortem_signal_is_good(&signal, 7.0, 3));
    assert_true(premortem_signal_is_good(&signal, 7.0, 0));
    assert_true(premortem_signal_is_good(&signal, 8.0, 3));
}

static void test_alarms_latch_until_reset(void **state) {
    (void)state;
    struct premortem_latch latch = {.crossed = RM_TURN_NONE};
    struct premortem_rule rule = {.threshold = 1.0, .confirm = 2};
    assert_false(premortem_latch_take(&latch, &rule, 1.0, 100));
    assert_false(premortem_latch_take(&latch, &rule, 0.9, 110));
    assert_false(premortem_latch_take(&latch, &rule, 1.5, 120));
    assert_true(premortem_latch_take(&latch, &rule, 1.5, 130));
    assert_int_equal(latch.crossed, 120);
    assert_false(premortem_latch_take(&latch, &rule, 1.5, 140));
    assert_false(premortem_latch_take(&latch, &rule, NAN, 150));
    assert_true(latch.is_latched);
    assert_false(premortem_latch_take(&latch, &rule, 9.0, 160));
    assert_false(premortem_latch_take(&latch, &rule, 9.0, 170));
    assert_int_equal(latch.alarms, 1);
    premortem_latch_reset(&latch);
    assert_true(premortem_latch_take(&latch, &rule, 9.0, 180));
    assert_int_equal(latch.crossed, 160);
    assert_int_equal(latch.alarms, 2);
}

/** What outlasts a mask is an alarm when that ends; what does not, is counted once. */
static void test_masks_hide_alarms(void **state) {
    (void)state;
    struct premortem_latch latch = {.crossed = RM_TURN_NONE};
    struct premortem_rule masked = {.threshold = 1.0, .confirm = 1, .is_masked = true}, free_rule = masked;
    free_rule.is_masked = false;
    for (unsigned i = 0; i < 5; ++i)
        assert_false(premortem_latch_take(&latch, &masked, 2.0, 100 + i));
    assert_false(premortem_latch_take(&latch, &masked, 0.0, 110));
    assert_false(premortem_latch_take(&latch, &masked, 2.0, 111));
    assert_int_equal(latch.masked, 2);
    assert_true(premortem_latch_take(&latch, &free_rule, 2.0, 112));
    assert_int_equal(latch.crossed, 111);
}

static void test_permits_come_back_by_a_person_alone(void **state) {
    (void)state;
    struct premortem_permit permit;
    premortem_permit_begin(&permit, NAN);
    assert_true(premortem_permit_step(&permit, 0.0, false, false) == 0.0);
    assert_true(premortem_permit_step(&permit, 0.0, true, true) == 0.0); /* not against an alarm */
    assert_true(premortem_permit_step(&permit, 0.0, true, false) == 1.0);
    assert_true(premortem_permit_step(&permit, 0.0, false, false) == 1.0);
    assert_true(premortem_permit_step(&permit, 1.0, false, false) == 1.0);
    assert_int_equal(permit.state, PREMORTEM_GIVEN);
    assert_true(premortem_permit_step(&permit, 0.0, false, false) == 0.0); /* it was stopped meanwhile */
    assert_true(premortem_permit_step(&permit, 1.0, false, false) == 0.0);
    assert_int_equal(permit.lost, 1);
    premortem_permit_step(&permit, 0.0, true, false);
    for (unsigned i = 0; i < PREMORTEM_RISE_STEPS; ++i)
        premortem_permit_step(&permit, 0.0, false, false);
    assert_int_equal(permit.state, PREMORTEM_WITHDRAWN); /* the guard never sent it */
    premortem_permit_begin(&permit, 1.0);
    assert_true(premortem_permit_step(&permit, 1.0, false, false) == 1.0);
    assert_true(premortem_permit_step(&permit, NAN, false, false) == 0.0);
    premortem_permit_begin(&permit, 1.0);
    assert_true(premortem_permit_step(&permit, 1.0, true, true) == 0.0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_boxcar_forgets_all_that_is_old),
        cmocka_unit_test(test_rise_crosses_when_it_says),
        cmocka_unit_test(test_baseline_stands_still_above_the_warning),
        cmocka_unit_test(test_excursion_goes_the_short_way_round),
        cmocka_unit_test(test_runaway_sees_distance_and_rate),
        cmocka_unit_test(test_growth_measures_the_rate),
        cmocka_unit_test(test_growth_of_noise_is_none),
        cmocka_unit_test(test_drift_tells_the_time_to_the_limit),
        cmocka_unit_test(test_signals_that_say_nothing_are_bad),
        cmocka_unit_test(test_alarms_latch_until_reset),
        cmocka_unit_test(test_masks_hide_alarms),
        cmocka_unit_test(test_permits_come_back_by_a_person_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
