// SPDX-License-Identifier: Apache-2.0
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test_loop.h"

static double const two_pi = 6.283185307179586;

/** A family that is to be corrected up to its bandwidth. */
struct family {
    double rate_hz, bandwidth_hz, delay_cycles;
};

static struct family const families[] = {
    {9642, 5000, 1.5},  {9642, 5000, 2.25}, {9642, 5000, 3},    {9642, 1000, 1.5}, {9642, 1000, 3}, {9642, 300, 2},
    {96420, 5000, 1.5}, {96420, 5000, 3},   {96420, 1000, 2.2}, {96420, 300, 3},   {9642, 0, 1.5},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

static uint32_t lines_of(struct family const *family) {
    uint32_t count = 0;
    while (count < LINES && (family->bandwidth_hz <= 0 || lines_hz[count] < family->bandwidth_hz))
        ++count;
    return count;
}

static struct feedback_law law_of(struct family const *family) {
    struct feedback_plant const plant = {.rate_hz = family->rate_hz,
                                         .bandwidth_hz = family->bandwidth_hz,
                                         .delay_s = family->delay_cycles / family->rate_hz};
    struct feedback_tuning tuning;
    feedback_tuning_choose(&plant, lines_hz, lines_of(family), &tuning);
    struct feedback_law law;
    feedback_law_make(&law, &plant, &tuning, true);
    return law;
}

static double decibels(double ratio) { return 20 * log10(ratio); }

static void test_takes_lines_away_and_makes_little_of_the_rest(void **state) {
    (void)state;
    for (int i = 0; i < FAMILIES; ++i) {
        struct feedback_law const law = law_of(&families[i]);
        for (uint32_t j = 0; j < lines_of(&families[i]); ++j) {
            double const hz = lines_hz[j];
            assert_true(decibels(cabs(feedback_law_sensitivity(&law, hz))) <= -40);
            assert_true(decibels(cabs(feedback_law_sensitivity(&law, hz * 1.001))) <= -20);
            assert_true(decibels(cabs(feedback_law_sensitivity(&law, hz * 0.999))) <= -20);
        }
        double peak = 0;
        for (int step = 1; step < 15000; ++step)
            peak = fmax(peak, cabs(feedback_law_sensitivity(&law, 0.1 * step)));
        for (int step = 1; step < 2000; ++step)
            peak = fmax(peak, cabs(feedback_law_sensitivity(&law, families[i].rate_hz / 4000 * step)));
        assert_true(peak <= 1.6);
        assert_true(peak > 1.02);
        assert_true(cabs(feedback_law_sensitivity(&law, 0)) < 1e-12);
    }
}

/** Where sensitivity is looked at: at lines and beside them, between them and above. */
static uint32_t probes(struct family const *family, double *hz) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < lines_of(family); ++j) {
        hz[count++] = lines_hz[j];
        hz[count++] = lines_hz[j] * 1.001;
        hz[count++] = lines_hz[j] + 13;
    }
    for (int step = 0; count < LOOP_CHANNELS && 7 * pow(1.47, step) < 0.45 * family->rate_hz; ++step)
        hz[count++] = 7 * pow(1.47, step);
    return count;
}

static double complex turned(double hz, struct simulated_loop const *loop, double rate_hz) {
    double const turns = fmod(hz / rate_hz * (double)loop->cycle, 1);
    return cos(two_pi * turns) + I * sin(two_pi * turns);
}

/** Each channel gets a sine of its own; after `settle` seconds errors are correlated with it under a window. */
static void measure(struct simulated_loop *loop, double rate_hz, double const *hz, uint32_t count, double settle,
                    double seconds, double complex *sensitivity) {
    uint64_t const begin = (uint64_t)(settle * rate_hz), length = (uint64_t)(seconds * rate_hz);
    double disturbance[LOOP_CHANNELS] = {0};
    memset(sensitivity, 0, count * sizeof *sensitivity);
    double complex sine[LOOP_CHANNELS] = {0};
    while (loop->cycle < begin + length) {
        double const along = ((double)loop->cycle - (double)begin) / (double)length;
        double const window = along < 0 ? 0 : (1 - cos(two_pi * along)) / (double)length;
        for (uint32_t i = 0; i < count; ++i) {
            sine[i] = turned(hz[i], loop, rate_hz);
            disturbance[i] = creal(sine[i]);
        }
        loop_step(loop, disturbance);
        for (uint32_t i = 0; i < count; ++i)
            sensitivity[i] += 2 * window * loop->error[i] * conj(sine[i]);
    }
}

static void test_sensitivity_is_what_a_loop_in_time_shows(void **state) {
    (void)state;
    static struct simulated_loop loop;
    for (int i = 0; i < FAMILIES; ++i) {
        struct feedback_law const law = law_of(&families[i]);
        double hz[LOOP_CHANNELS];
        double complex measured[LOOP_CHANNELS];
        uint32_t const count = probes(&families[i], hz);
        loop_make(&loop, &law, count, 1, 1);
        measure(&loop, families[i].rate_hz, hz, count, 2, 2, measured);
        for (uint32_t j = 0; j < count; ++j)
            assert_true(cabs(measured[j] - feedback_law_sensitivity(&law, hz[j])) < 0.01);
        feedback_controllers_free(&loop.controllers);
    }
}

/** Without P, I and resonators all that is there is the plant: what an excitation gives is its response. */
static void test_plant_response_is_what_a_plant_in_time_shows(void **state) {
    (void)state;
    static struct simulated_loop loop;
    for (int i = 0; i < FAMILIES; ++i) {
        struct feedback_law law = law_of(&families[i]);
        struct feedback_tuning const nothing = {.proportional = 1};
        struct feedback_plant const plant = law.plant;
        feedback_law_make(&law, &plant, &nothing, false);
        loop_make(&loop, &law, 1, 0, 1);
        double const hz = 0.083 * plant.rate_hz;
        double complex response = 0;
        uint64_t const length = 5000;
        while (loop.cycle < 3 * length) {
            double complex const sine = turned(hz, &loop, plant.rate_hz);
            double const disturbance[LOOP_CHANNELS] = {creal(sine)};
            // A plant of gain 0 does not come back; its output is asked for.
            loop.gain = 1;
            double const output = loop_plant(&loop, 0);
            loop.gain = 0;
            loop_step(&loop, disturbance);
            if (loop.cycle > 2 * length)
                response += 2 * output * conj(sine) / (double)length;
        }
        assert_true(cabs(response - feedback_plant_response(&plant, hz)) < 2e-3);
        feedback_controllers_free(&loop.controllers);
    }
}

/** Two poles are the product of their responses but for the holding; poles that are alike are no special case. */
static void test_two_poles_are_both_there(void **state) {
    (void)state;
    struct feedback_plant const one = {.rate_hz = 1e6, .bandwidth_hz = 300},
                                other = {.rate_hz = 1e6, .bandwidth_hz = 2000};
    struct feedback_plant const both = {.rate_hz = 1e6, .bandwidth_hz = 300, .second_hz = 2000};
    struct feedback_plant const alike = {.rate_hz = 1e6, .bandwidth_hz = 300, .second_hz = 300};
    for (int step = 0; step < 9; ++step) {
        double const hz = 10 * pow(2, step);
        double complex const a = feedback_plant_response(&one, hz), b = feedback_plant_response(&other, hz);
        assert_true(cabs(feedback_plant_response(&both, hz) - a * b) < 0.01);
        assert_true(cabs(feedback_plant_response(&alike, hz) - a * a) < 0.01);
    }
}

static double strongest(struct simulated_loop const *loop) {
    double most = 0;
    for (uint32_t i = 0; i < loop->channels; ++i)
        most = fmax(most, fabs(loop->error[i]));
    return most;
}

/** A plant off by 10 % in gain and delay: a step dies away. 50 Hz, the slowest, takes 0.25 s per e-fold. */
static void test_is_stable_with_a_plant_that_is_off(void **state) {
    (void)state;
    static struct simulated_loop loop;
    static double const off[][2] = {{1.1, 1.1}, {1.1, 0.9}, {0.9, 1.1}, {0.9, 0.9}};
    for (int i = 0; i < FAMILIES; ++i)
        for (int j = 0; j < 4; ++j) {
            struct feedback_law const law = law_of(&families[i]);
            loop_make(&loop, &law, 1, off[j][0], off[j][1]);
            double const one[LOOP_CHANNELS] = {1};
            double most = 0;
            while (loop.cycle < (uint64_t)(4 * law.plant.rate_hz)) {
                loop_step(&loop, one);
                most = fmax(most, strongest(&loop));
            }
            assert_true(strongest(&loop) < 1e-5);
            assert_true(most < 2);
            feedback_controllers_free(&loop.controllers);
        }
}

/** Followed to where the mains really are, a line is as far down there as it was at its nominal frequency. */
static void test_follows_the_mains(void **state) {
    (void)state;
    struct feedback_law law = law_of(&families[0]);
    double const before = cabs(feedback_law_sensitivity(&law, 500.5)), direct = law.direct;
    feedback_law_follow(&law, 1.001);
    assert_true(decibels(before) > -24);
    assert_true(decibels(cabs(feedback_law_sensitivity(&law, 500.5))) < -44);
    assert_true(law.direct == direct);
    feedback_law_follow(&law, 1);
    assert_true(fabs(cabs(feedback_law_sensitivity(&law, 500.5)) - before) < 1e-12);
}

static void test_response_and_sensitivity_belong_together(void **state) {
    (void)state;
    for (int i = 0; i < FAMILIES; ++i) {
        struct feedback_law const law = law_of(&families[i]);
        for (int step = 0; step < 32; ++step) {
            double const hz = pow(1.3, step);
            double complex const loop = feedback_law_response(&law, hz) * feedback_plant_response(&law.plant, hz);
            assert_true(cabs(1 / (1 + loop) - feedback_law_sensitivity(&law, hz)) < 1e-9);
        }
    }
}

/** What rings as `signal` says, from how often it rises through 0. */
static double hz_of(uint64_t first, uint64_t last, uint32_t periods, double rate_hz) {
    return periods * rate_hz / (double)(last - first);
}

enum { TURN_RATE = 1157000 };

static double biquad_in_single_precision(double hz) {
    float const coefficient = (float)(2 * cos(two_pi * hz / TURN_RATE));
    double now = 0, before = -1;
    uint64_t first = 0, last = 0;
    uint32_t rises = 0;
    for (uint64_t turn = 1; turn < TURN_RATE; ++turn) {
        double const next = (double)coefficient * now - before;
        if (now < 0 && next >= 0) {
            first = rises == 0 ? turn : first;
            last = turn;
            ++rises;
        }
        before = now;
        now = next;
    }
    return hz_of(first, last, rises - 1, TURN_RATE);
}

static double controllers_at_turn_rate(double hz) {
    struct feedback_plant const plant = {.rate_hz = TURN_RATE};
    struct feedback_tuning tuning = {.resonator_count = 1};
    tuning.resonator[0].hz = hz;
    tuning.resonator[0].width_hz = 1;
    struct feedback_law law;
    feedback_law_make(&law, &plant, &tuning, true);
    struct feedback_controllers controllers;
    assert_true(feedback_controllers_make(&controllers, 1, &law));
    uint64_t first = 0, last = 0;
    uint32_t rises = 0;
    double before = 0;
    for (uint64_t turn = 0; turn < TURN_RATE; ++turn) {
        double const kick = turn == 0 ? 1 : 0, nothing = 0;
        feedback_controllers_update(&controllers, &kick, &nothing, &nothing);
        if (before < 0 && controllers.ahead[0] >= 0) {
            first = rises == 0 ? turn : first;
            last = turn;
            ++rises;
        }
        before = controllers.ahead[0];
    }
    feedback_controllers_free(&controllers);
    return hz_of(first, last, rises - 1, TURN_RATE);
}

static void test_50_hz_rings_at_50_hz_at_the_turn_rate(void **state) {
    (void)state;
    assert_true(fabs(biquad_in_single_precision(50) - 63.6) <= 0.05);
    assert_true(fabs(controllers_at_turn_rate(50) - 50) <= 0.005);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_takes_lines_away_and_makes_little_of_the_rest),
        cmocka_unit_test(test_sensitivity_is_what_a_loop_in_time_shows),
        cmocka_unit_test(test_plant_response_is_what_a_plant_in_time_shows),
        cmocka_unit_test(test_two_poles_are_both_there),
        cmocka_unit_test(test_is_stable_with_a_plant_that_is_off),
        cmocka_unit_test(test_follows_the_mains),
        cmocka_unit_test(test_response_and_sensitivity_belong_together),
        cmocka_unit_test(test_50_hz_rings_at_50_hz_at_the_turn_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
