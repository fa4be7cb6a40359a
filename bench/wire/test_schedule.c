// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double const TSC_HZ = 2.6e9;
static uint64_t const START = 1000000000;

static struct rm_schedule schedule_of(double rate_hz, double jitter_s, uint64_t seed, uint64_t cycles) {
    struct rm_schedule schedule;
    struct rm_schedule_plan const plan = {
        .rate_hz = rate_hz, .tsc_hz = TSC_HZ, .jitter_s = jitter_s, .seed = seed, .cycles = cycles};
    rm_schedule_start(&schedule, &plan, START);
    return schedule;
}

static void each_cycle_has_its_turn_when_it_is_due(void **state) {
    (void)state;
    struct rm_schedule schedule = schedule_of(1157000, 0, 0, 100000);
    for (uint64_t k = 0; k < 100000; ++k) {
        uint64_t cycle = 0;
        uint64_t const due = rm_schedule_due(&schedule, k);
        assert_false(rm_schedule_take(&schedule, due - 1, &cycle));
        assert_true(rm_schedule_take(&schedule, due, &cycle));
        assert_int_equal(cycle, k);
    }
    assert_true(rm_schedule_over(&schedule));
    assert_int_equal(schedule.behind, 0);
    assert_int_equal(schedule.longest_behind_ticks, 0);
}

static void the_rate_holds_over_a_day(void **state) {
    (void)state;
    struct rm_schedule const schedule = schedule_of(1157000, 0, 0, UINT64_MAX);
    double const day = (double)(rm_schedule_nominal(&schedule, 86400ull * 1157000) - START) / TSC_HZ;
    assert_true(fabs(day - 86400) < 1e-6);
}

static void without_a_rate_every_cycle_is_due(void **state) {
    (void)state;
    struct rm_schedule schedule = schedule_of(0, 0, 0, 5);
    uint64_t cycle = 0;
    for (uint64_t k = 0; k < 5; ++k) {
        assert_true(rm_schedule_take(&schedule, 0, &cycle));
        assert_int_equal(cycle, k);
    }
    assert_false(rm_schedule_take(&schedule, UINT64_MAX, &cycle));
}

/* The numbers that any program gets that computes splitmix64 of (splitmix64 of 7) + k. */
static void the_displacement_is_known_beforehand(void **state) {
    (void)state;
    double const known_us[] = {2215.081806, -3441.059287, 3743.632626, 4579.187414};
    struct rm_schedule const schedule = schedule_of(50, 5e-3, 7, 1000);
    for (uint64_t k = 0; k < sizeof known_us / sizeof *known_us; ++k)
        assert_true(fabs(rm_schedule_displacement(&schedule, k) / TSC_HZ * 1e6 - known_us[k]) < 1e-3);
}

static void displacements_fill_their_range_evenly(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    struct rm_schedule const schedule = schedule_of(50, 5e-3, 1, COUNT);
    double sum = 0, squares = 0, largest = 0;
    for (uint64_t k = 0; k < COUNT; ++k) {
        double const d = rm_schedule_displacement(&schedule, k) / TSC_HZ;
        sum += d;
        squares += d * d;
        largest = fabs(d) > largest ? fabs(d) : largest;
        assert_true(k == 0 || rm_schedule_due(&schedule, k) > rm_schedule_due(&schedule, k - 1));
    }
    assert_true(largest > 4.99e-3 && largest <= 5e-3);
    assert_true(fabs(sum / COUNT) < 0.1e-3);
    assert_true(fabs(sqrt(squares / COUNT) - 5e-3 / sqrt(3)) < 0.1e-3);
}

static void another_seed_is_another_displacement(void **state) {
    (void)state;
    struct rm_schedule const one = schedule_of(50, 5e-3, 1, 10), other = schedule_of(50, 5e-3, 2, 10);
    assert_true(rm_schedule_displacement(&one, 3) != rm_schedule_displacement(&other, 3));
}

static void what_is_late_is_caught_up_with(void **state) {
    (void)state;
    struct rm_schedule schedule = schedule_of(1000, 0, 0, 1000);
    uint64_t const stalled = START + (uint64_t)(0.0505 * TSC_HZ); /* cycles 0 … 50 are due */
    uint64_t cycle = 0, taken = 0;
    while (rm_schedule_take(&schedule, stalled, &cycle))
        assert_int_equal(cycle, taken++);
    assert_int_equal(taken, 51);
    assert_int_equal(schedule.behind, 0);
    assert_true(fabs((double)schedule.longest_behind_ticks / TSC_HZ - 0.0505) < 1e-6);
}

static void check_left_out(double jitter_s) {
    struct rm_schedule schedule = schedule_of(1000, jitter_s, 3, 1000);
    uint64_t const stalled = START + (uint64_t)(0.3005 * TSC_HZ);
    uint64_t cycle = 0;
    assert_true(rm_schedule_take(&schedule, stalled, &cycle));
    assert_in_range(cycle, 299, 301);
    assert_true(rm_schedule_due(&schedule, cycle) <= stalled);
    assert_true(rm_schedule_due(&schedule, cycle + 1) > stalled);
    assert_int_equal(schedule.behind, cycle);
    assert_false(rm_schedule_take(&schedule, stalled, &cycle));
}

static void what_is_much_too_late_is_left_out_and_counted(void **state) {
    (void)state;
    check_left_out(0);
    check_left_out(0.45e-3);
}

static void the_end_is_the_end_however_late(void **state) {
    (void)state;
    struct rm_schedule schedule = schedule_of(1000, 0, 0, 100);
    uint64_t cycle = 0;
    assert_true(rm_schedule_take(&schedule, START + (uint64_t)(100 * TSC_HZ), &cycle));
    assert_int_equal(cycle, 99);
    assert_int_equal(schedule.behind, 99);
    assert_false(rm_schedule_take(&schedule, UINT64_MAX, &cycle));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_cycle_has_its_turn_when_it_is_due),
        cmocka_unit_test(the_rate_holds_over_a_day),
        cmocka_unit_test(without_a_rate_every_cycle_is_due),
        cmocka_unit_test(the_displacement_is_known_beforehand),
        cmocka_unit_test(displacements_fill_their_range_evenly),
        cmocka_unit_test(another_seed_is_another_displacement),
        cmocka_unit_test(what_is_late_is_caught_up_with),
        cmocka_unit_test(what_is_much_too_late_is_left_out_and_counted),
        cmocka_unit_test(the_end_is_the_end_however_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
