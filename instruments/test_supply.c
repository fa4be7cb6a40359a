// SPDX-License-Identifier: Apache-2.0
/** The physics of one virtual supply. */
#include "supply.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ringmaster/supply.h>

#include "noise.h"

static struct rm_supply_config ideal(void) {
    return (struct rm_supply_config){.low = -10, .high = 10, .slew = INFINITY, .safe_slew = INFINITY};
}

static double current(struct rm_supply *supply, double time) {
    rm_supply_advance(supply, time);
    return rm_supply_current(supply, time);
}

static void an_ideal_one_follows_at_once(void **state) {
    (void)state;
    struct rm_supply_config const config = ideal();
    struct rm_supply supply;
    rm_supply_make(&supply, &config, 1);
    assert_float_equal(current(&supply, 0.5), 0, 0);
    rm_supply_set(&supply, 1, 3.25);
    assert_float_equal(current(&supply, 1), 3.25, 0);
    assert_float_equal(current(&supply, 9), 3.25, 0);
    assert_int_equal(rm_supply_read(&supply, 9).bits, 0);
}

static void a_step_rises_as_the_bandwidth_says(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.bandwidth_hz = 1000;
    config.initial = 2;
    rm_supply_make(&supply, &config, 1);
    rm_supply_set(&supply, 1, -4);
    for (unsigned k = 0; k < 81; ++k)
        assert_float_equal(current(&supply, 1 + k * 37e-6), -4 + 6 * exp(-6283.185307179586 * 37e-6 * k), 1e-6);
    assert_float_equal(current(&supply, 2), -4, 0);
}

/** Looks in between change nothing. */
static void looking_changes_nothing(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    config.bandwidth_hz = 300;
    config.delay_s = 20e-6;
    config.regulation_hz = 1e5;
    config.slew = 500;
    struct rm_supply watched, alone;
    rm_supply_make(&watched, &config, 7);
    rm_supply_make(&alone, &config, 7);
    for (unsigned k = 0; k < 1000; ++k) {
        double const time = k * 130e-6, value = 10 * rm_noise_uniform(k) - 5;
        for (unsigned look = 0; look < 5; ++look)
            (void)rm_supply_read(&watched, time + look * 20e-6);
        rm_supply_set(&watched, time + 101e-6, value);
        rm_supply_set(&alone, time + 101e-6, value);
    }
    assert_float_equal(current(&watched, 0.2), current(&alone, 0.2), 0);
    assert_float_equal(watched.start, alone.start, 0);
}

static void the_delay_is_kept(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.delay_s = 25e-6;
    rm_supply_make(&supply, &config, 1);
    for (unsigned k = 0; k < 10; ++k) /* several are under way */
        rm_supply_set(&supply, k * 10e-6, k + 1.0);
    assert_int_equal(supply.count, 3);
    rm_supply_make(&supply, &config, 1);
    rm_supply_set(&supply, 0, 1);
    rm_supply_set(&supply, 10e-6, 2);
    assert_float_equal(current(&supply, 24.9e-6), 0, 0);
    assert_float_equal(current(&supply, 25.1e-6), 1, 0);
    assert_float_equal(current(&supply, 34.9e-6), 1, 0);
    assert_float_equal(current(&supply, 35.1e-6), 2, 0);
}

static void more_under_way_than_there_is_room_for_merge(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.delay_s = 1;
    rm_supply_make(&supply, &config, 1);
    for (unsigned k = 0; k < 3 * RM_SUPPLY_UNDER_WAY; ++k)
        rm_supply_set(&supply, k * 1e-3, k * 0.1);
    assert_int_equal(supply.count, RM_SUPPLY_UNDER_WAY);
    assert_float_equal(current(&supply, 1.0005), 0, 0);
    assert_float_equal(current(&supply, 1.0015), 0.1, 1e-12);
    assert_float_equal(current(&supply, 5), 0.1 * (3 * RM_SUPPLY_UNDER_WAY - 1), 1e-12);
}

static void setpoints_are_rounded_and_kept_in_range(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.resolution = 0.25;
    config.low = -1;
    rm_supply_make(&supply, &config, 1);
    struct {
        double command, found;
        unsigned bits;
    } const cases[] = {
        {0.3, 0.25, 0},
        {0.4, 0.5, 0},
        {-0.9, -1, 0},
        {-1.1, -1, RM_SUPPLY_BIT_SATURATED},
        {10, 10, 0},
        {INFINITY, 10, RM_SUPPLY_BIT_SATURATED},
        {-INFINITY, -1, RM_SUPPLY_BIT_SATURATED},
        {NAN, -1, RM_SUPPLY_BIT_SATURATED},
        {1, 1, 0},
        {1e300, 10, RM_SUPPLY_BIT_SATURATED},
    };
    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        rm_supply_set(&supply, 1 + c, cases[c].command);
        struct rm_supply_reading const reading = rm_supply_read(&supply, 1.5 + c);
        assert_float_equal(reading.current, cases[c].found, 0);
        assert_int_equal(reading.bits, cases[c].bits);
    }
}

static void the_slew_is_kept_and_reported(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.slew = 100;
    rm_supply_make(&supply, &config, 1);
    rm_supply_set(&supply, 0, 5);
    assert_float_equal(rm_supply_read(&supply, 0.02).current, 2, 1e-12);
    assert_int_equal(rm_supply_read(&supply, 0.02).bits, RM_SUPPLY_BIT_SATURATED);
    rm_supply_set(&supply, 0.03, -5); /* turns back from where it is */
    assert_float_equal(rm_supply_read(&supply, 0.05).current, 1, 1e-12);
    assert_float_equal(rm_supply_read(&supply, 0.2).current, -5, 0);
    assert_int_equal(rm_supply_read(&supply, 0.2).bits, 0);
}

/** With a bandwidth too, the slew ends where the first order is slower, and the current has no corner there. */
static void slew_and_bandwidth_go_over_into_each_other(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.slew = 100;
    config.bandwidth_hz = 10;
    rm_supply_make(&supply, &config, 1);
    rm_supply_set(&supply, 0, 5);
    double before = 0;
    for (unsigned k = 1; k < 5000; ++k) {
        double const now = current(&supply, k * 1e-4), rate = (now - before) / 1e-4;
        assert_true(rate <= 100.1 && rate >= -0.01); /* float differences over 0.1 ms */
        assert_float_equal(rate, fmin(100, 62.83 * (5 - now)), 0.6);
        before = now;
    }
}

/** Setpoints at any time are taken over 0 to 10 µs later, evenly; each supply has its own phase. */
static void the_regulations_jitter_is_even(void **state) {
    (void)state;
    enum { BINS = 10, SETPOINTS = 10000 };
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    unsigned bins[BINS] = {0};
    config.regulation_hz = 1e5;
    config.drift_ppm = 50;
    rm_supply_make(&supply, &config, 1);
    for (unsigned k = 0; k < SETPOINTS; ++k) {
        double const arrival = (k + rm_noise_uniform(k)) * 1e-3;
        rm_supply_set(&supply, arrival, k % 2 ? 1 : -1);
        assert_int_equal(supply.count, 1);
        double const later = supply.command[supply.first].time - arrival;
        assert_true(later >= 0 && later < 10.001e-6);
        bins[later >= 10e-6 ? BINS - 1 : (unsigned)(later / 1e-6)] += 1;
        rm_supply_advance(&supply, arrival + 20e-6);
        assert_int_equal(supply.count, 0);
    }
    for (unsigned b = 0; b < BINS; ++b)
        assert_in_range(bins[b], 850, 1150); /* 5 standard deviations of 1000 */
    double first = supply.tick_first, lowest = 1, highest = 0;
    for (unsigned key = 2; key < 102; ++key) {
        rm_supply_make(&supply, &config, key);
        assert_float_not_equal(supply.tick_first, first, 0);
        assert_true(fabs(supply.tick_s / 1e-5 - 1) <= 50.01e-6);
        lowest = fmin(lowest, supply.tick_first);
        highest = fmax(highest, supply.tick_first);
    }
    assert_true(lowest < 1e-6 && highest > 9e-6 && highest < 10.001e-6);
}

static void noise_is_in_what_it_says_and_ripple_in_the_current(void **state) {
    (void)state;
    enum { READINGS = 20000 };
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.noise = 0.02;
    rm_supply_make(&supply, &config, 1);
    double sum = 0, squares = 0;
    for (unsigned k = 0; k < READINGS; ++k) {
        double const noise = rm_supply_read(&supply, k * 1e-3).current;
        sum += noise;
        squares += noise * noise;
    }
    assert_float_equal(sum / READINGS, 0, 5 * 0.02 / sqrt(READINGS) + 0.001 * 0.02);
    assert_float_equal(sqrt(squares / READINGS), 0.02, 5 * 0.02 / sqrt(2.0 * READINGS));
    assert_float_equal(rm_supply_current(&supply, 30), 0, 0);

    config.noise = 0;
    config.ripple_count = 2;
    config.ripple[0].hz = 300;
    config.ripple[0].amplitude = 0.1;
    config.ripple[1].hz = 600;
    config.ripple[1].amplitude = 0.05;
    rm_supply_make(&supply, &config, 1);
    double component[2][2] = {{0}};
    for (unsigned k = 0; k < READINGS; ++k)
        for (unsigned r = 0; r < 2; ++r) {
            double const phase = 6.283185307179586 * 300 * (r + 1) * k * 1e-4, now = current(&supply, k * 1e-4);
            component[r][0] += 2 * now * cos(phase) / READINGS;
            component[r][1] += 2 * now * sin(phase) / READINGS;
        }
    assert_float_equal(hypot(component[0][0], component[0][1]), 0.1, 1e-6);
    assert_float_equal(hypot(component[1][0], component[1][1]), 0.05, 1e-6);
}

static void ripple_ends_at_the_range(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.ripple_count = 1;
    config.ripple[0].hz = 50;
    config.ripple[0].amplitude = 1;
    config.initial = 9.5;
    rm_supply_make(&supply, &config, 1);
    double highest = 0;
    for (unsigned k = 0; k < 200; ++k)
        highest = fmax(highest, rm_supply_current(&supply, k * 1e-4));
    assert_float_equal(highest, 10, 0);
}

static void off_is_zero_until_a_setpoint_after_the_reset(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.initial = 4;
    config.delay_s = 1e-3;
    rm_supply_make(&supply, &config, 1);
    rm_supply_set(&supply, 0.9995, 6); /* under way when it trips */
    rm_supply_trip(&supply, 1);
    assert_float_equal(rm_supply_read(&supply, 2).current, 0, 0);
    rm_supply_set(&supply, 2, 5);
    rm_supply_go_safe(&supply, 2);
    assert_float_equal(rm_supply_read(&supply, 3).current, 0, 0);
    assert_int_equal(rm_supply_read(&supply, 3).bits, RM_SUPPLY_BIT_TRIPPED);
    rm_supply_reset(&supply);
    assert_int_equal(rm_supply_read(&supply, 4).bits, 0);
    assert_float_equal(rm_supply_read(&supply, 4).current, 0, 0);
    rm_supply_set(&supply, 4, 5);
    assert_float_equal(rm_supply_read(&supply, 5).current, 5, 0);
}

static void it_goes_to_its_safe_value_slowly_and_comes_back(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.initial = 4;
    config.safe = 1;
    config.safe_slew = 2;
    rm_supply_make(&supply, &config, 1);
    rm_supply_go_safe(&supply, 1);
    assert_float_equal(rm_supply_read(&supply, 2).current, 2, 1e-12);
    assert_int_equal(rm_supply_read(&supply, 2).bits, RM_SUPPLY_BIT_SAFE);
    assert_float_equal(rm_supply_read(&supply, 8).current, 1, 0);
    rm_supply_set(&supply, 8, 1); /* the same value ends it too */
    assert_int_equal(rm_supply_read(&supply, 8).bits, 0);
    rm_supply_set(&supply, 9, 3);
    assert_float_equal(rm_supply_read(&supply, 9.5).current, 3, 0);
}

static void it_can_be_made_to_saturate(void **state) {
    (void)state;
    struct rm_supply_config config = ideal();
    struct rm_supply supply;
    config.initial = 4;
    rm_supply_make(&supply, &config, 1);
    rm_supply_limit(&supply, 1, 3);
    assert_float_equal(rm_supply_read(&supply, 2).current, 3, 0);
    assert_int_equal(rm_supply_read(&supply, 2).bits, RM_SUPPLY_BIT_SATURATED);
    rm_supply_set(&supply, 2, -5);
    assert_float_equal(rm_supply_read(&supply, 3).current, -3, 0);
    rm_supply_limit(&supply, 3, INFINITY);
    rm_supply_set(&supply, 3, -5);
    assert_float_equal(rm_supply_read(&supply, 4).current, -5, 0);
    assert_int_equal(rm_supply_read(&supply, 4).bits, 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(an_ideal_one_follows_at_once),
        cmocka_unit_test(a_step_rises_as_the_bandwidth_says),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(the_delay_is_kept),
        cmocka_unit_test(more_under_way_than_there_is_room_for_merge),
        cmocka_unit_test(setpoints_are_rounded_and_kept_in_range),
        cmocka_unit_test(the_slew_is_kept_and_reported),
        cmocka_unit_test(slew_and_bandwidth_go_over_into_each_other),
        cmocka_unit_test(the_regulations_jitter_is_even),
        cmocka_unit_test(noise_is_in_what_it_says_and_ripple_in_the_current),
        cmocka_unit_test(ripple_ends_at_the_range),
        cmocka_unit_test(off_is_zero_until_a_setpoint_after_the_reset),
        cmocka_unit_test(it_goes_to_its_safe_value_slowly_and_comes_back),
        cmocka_unit_test(it_can_be_made_to_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
