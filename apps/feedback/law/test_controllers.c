// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test_loop.h"

static double const two_pi = 6.283185307179586, rate_hz = 9642;
static struct feedback_plant const plant = {
    .rate_hz = 9642, .bandwidth_hz = 5000, .second_hz = 20000, .delay_s = 160e-6};

static struct feedback_law law_with(bool resonates) {
    struct feedback_tuning tuning;
    feedback_tuning_choose(&plant, lines_hz, LINES, &tuning);
    struct feedback_law law;
    feedback_law_make(&law, &plant, &tuning, resonates);
    return law;
}

static uint64_t seed = 1;

static double noise(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed & ~(uint64_t)0x7ff) * 0x1p-63;
}

static void assert_same_states(struct feedback_controllers const *a, struct feedback_controllers const *b) {
    size_t const bytes = a->channels * sizeof(double);
    assert_memory_equal(a->ahead, b->ahead, bytes);
    assert_memory_equal(a->integral, b->integral, bytes);
    assert_memory_equal(a->correction, b->correction, bytes);
    assert_memory_equal(a->model[1], b->model[1], bytes);
    for (int j = 0; j < LINES; ++j)
        assert_memory_equal(a->imaginary[j], b->imaginary[j], bytes);
}

/** Numbers of all sizes, some cut, some none at all. */
static void test_gives_the_same_bits_from_any_instruction_set(void **state) {
    (void)state;
    enum { CHANNELS = 37, SETS = 3 };
    struct feedback_law const law = law_with(true);
    struct feedback_controllers controllers[SETS];
    for (int i = 0; i < SETS; ++i) {
        assert_true(feedback_controllers_make(&controllers[i], CHANNELS, &law));
        controllers[i].gain[5] = 0.37;
        controllers[i].simd = rm_simd_choose((enum rm_simd)(RM_SIMD_SCALAR + i));
    }
    double error[CHANNELS], command[CHANNELS], sent[CHANNELS];
    for (int cycle = 0; cycle < 2000; ++cycle) {
        for (int i = 0; i < CHANNELS; ++i) {
            error[i] = noise() * exp(20 * noise());
            command[i] = noise();
            sent[i] = i % 2 ? command[i] : noise() * 0.5;
        }
        for (int i = 0; i < SETS; ++i)
            feedback_controllers_update(&controllers[i], error, command, sent);
        assert_same_states(&controllers[0], &controllers[1]);
        assert_same_states(&controllers[0], &controllers[2]);
    }
    assert_true(fabs(controllers[0].ahead[36]) > 0);
    for (int i = 0; i < SETS; ++i)
        feedback_controllers_free(&controllers[i]);
}

/** A disturbance of a constant and 50 and 250 Hz, of another size in each channel. */
static void disturb(struct simulated_loop *loop, double cycles, double mains_hz) {
    double disturbance[LOOP_CHANNELS] = {0};
    for (uint64_t const end = loop->cycle + (uint64_t)cycles; loop->cycle < end;) {
        double const angle = two_pi * fmod(mains_hz / rate_hz * (double)loop->cycle, 1);
        for (uint32_t i = 0; i < loop->channels; ++i)
            disturbance[i] = (1 + 0.1 * i) * (1 + cos(angle) + 0.2 * sin(5 * angle));
        loop_step(loop, disturbance);
    }
}

static double strongest(struct simulated_loop const *loop) {
    double most = 0;
    for (uint32_t i = 0; i < loop->channels; ++i)
        most = fmax(most, fabs(loop->error[i]));
    return most;
}

/** Strongest error over so many further cycles. */
static double strongest_of(struct simulated_loop *loop, int cycles, double mains_hz) {
    double most = 0;
    for (int i = 0; i < cycles; ++i) {
        disturb(loop, 1, mains_hz);
        most = fmax(most, strongest(loop));
    }
    return most;
}

static struct simulated_loop loop;

static void test_retunes_without_a_bump(void **state) {
    (void)state;
    struct feedback_law law = law_with(true);
    struct feedback_law const plain = law_with(false);
    loop_make(&loop, &law, 5, 1, 1);
    disturb(&loop, 30000, 50);
    double before[5];
    memcpy(before, loop.controllers.ahead, sizeof before);
    // Without resonators, with them again, and with the mains elsewhere.
    feedback_controllers_retune(&loop.controllers, &plain);
    for (int i = 0; i < 5; ++i)
        assert_true(fabs(loop.controllers.ahead[i] - before[i]) < 1e-12);
    assert_true(strongest_of(&loop, 200, 50) > 0.2);
    memcpy(before, loop.controllers.ahead, sizeof before);
    feedback_controllers_retune(&loop.controllers, &law);
    feedback_law_follow(&law, 1.0007);
    feedback_controllers_retune(&loop.controllers, &law);
    assert_memory_equal(before, loop.controllers.ahead, sizeof before);
    disturb(&loop, 40000, 50 * 1.0007);
    assert_true(strongest_of(&loop, 1000, 50 * 1.0007) < 0.02);
    feedback_controllers_free(&loop.controllers);
}

/** Another plant and no predictor: what the predictor held is in the integral. */
static void test_leaves_the_predictor_without_a_bump(void **state) {
    (void)state;
    struct feedback_law const law = law_with(true);
    struct feedback_tuning tuning = law.tuning;
    tuning.predicts = false;
    tuning.integral_hz *= 0.5;
    struct feedback_plant slower = plant;
    slower.delay_s *= 2;
    struct feedback_law other;
    feedback_law_make(&other, &slower, &tuning, true);
    loop_make(&loop, &law, 5, 1, 1);
    disturb(&loop, 3000, 50);
    double before[5];
    memcpy(before, loop.controllers.ahead, sizeof before);
    feedback_controllers_retune(&loop.controllers, &other);
    assert_memory_equal(before, loop.controllers.ahead, sizeof before);
    feedback_controllers_free(&loop.controllers);
}

/** Through a rotation of two channels into each other and back, and as if it had not been. */
static void test_maps_to_another_basis_and_goes_on(void **state) {
    (void)state;
    static struct simulated_loop still;
    struct feedback_law const law = law_with(true);
    struct feedback_law const plain = law_with(false);
    double const there[4] = {0.6, -0.8, 0.8, 0.6}, back[4] = {0.6, 0.8, -0.8, 0.6};
    loop_make(&loop, &law, 2, 1, 1);
    disturb(&loop, 10001, 50);
    still = loop;
    struct feedback_controllers turned, again, fewer;
    assert_true(feedback_controllers_make(&turned, 2, &law));
    assert_true(feedback_controllers_make(&again, 2, &law));
    assert_true(feedback_controllers_make(&fewer, 1, &plain));
    feedback_controllers_map(&turned, &loop.controllers, there);
    feedback_controllers_map(&again, &turned, back);
    assert_true(fabs(turned.ahead[0] - (0.6 * loop.controllers.ahead[0] - 0.8 * loop.controllers.ahead[1])) < 1e-12);
    loop.controllers = again;
    for (int i = 0; i < 500; ++i) {
        disturb(&loop, 1, 50);
        disturb(&still, 1, 50);
        assert_true(fabs(loop.command[0] - still.command[0]) < 1e-9 && fabs(loop.command[1] - still.command[1]) < 1e-9);
    }
    // A law without resonators takes up in the integral what they held.
    feedback_controllers_map(&fewer, &still.controllers, there);
    assert_true(fabs(fewer.ahead[0] - (0.6 * still.controllers.ahead[0] - 0.8 * still.controllers.ahead[1])) < 1e-12);
    feedback_controllers_free(&still.controllers);
    feedback_controllers_free(&turned);
    feedback_controllers_free(&again);
    feedback_controllers_free(&fewer);
}

static void test_measures_the_mains(void **state) {
    (void)state;
    struct feedback_law law = law_with(true);
    double phasor[10] = {0}, strength;
    loop_make(&loop, &law, 5, 1, 1);
    disturb(&loop, 20000, 50 * 1.0006);
    assert_true(feedback_controllers_drift(&loop.controllers, 0, phasor, 1000, &strength) == 0 && strength == 0);
    disturb(&loop, 5000, 50 * 1.0006);
    assert_true(fabs(feedback_controllers_drift(&loop.controllers, 0, phasor, 5000, &strength) - 0.0006) <= 2e-6);
    assert_true(strength > 1);
    // Followed, nothing is left.
    feedback_law_follow(&law, 1.0006);
    feedback_controllers_retune(&loop.controllers, &law);
    disturb(&loop, 20000, 50 * 1.0006);
    feedback_controllers_drift(&loop.controllers, 0, phasor, 20000, &strength);
    disturb(&loop, 5000, 50 * 1.0006);
    assert_true(fabs(feedback_controllers_drift(&loop.controllers, 0, phasor, 5000, &strength)) <= 2e-6);
    feedback_controllers_free(&loop.controllers);
}

/** For seconds far more is asked for than may be sent; afterwards the loop is back at once. */
static void test_does_not_wind_up(void **state) {
    (void)state;
    struct feedback_law const law = law_with(true);
    loop_make(&loop, &law, 3, 1, 1);
    loop.limit = 5;
    double const too_much = 100, small[LOOP_CHANNELS] = {1, 1, 1};
    double disturbance[LOOP_CHANNELS] = {0};
    for (int cycle = 0; cycle < 60000; ++cycle) {
        double const angle = two_pi * fmod(50 / rate_hz * cycle, 1);
        disturbance[0] = too_much;
        disturbance[1] = too_much * cos(angle);
        disturbance[2] = cycle % 2 ? too_much : -too_much;
        loop_step(&loop, disturbance);
    }
    for (uint32_t i = 0; i < 3; ++i)
        assert_true(fabs(loop.controllers.integral[i]) < 20 && fabs(loop.controllers.real[0][i]) < 20);
    for (int cycle = 0; cycle < 200; ++cycle)
        loop_step(&loop, small);
    // Of 5 that were sent; what narrow notches hold of the step back rings on.
    assert_true(strongest(&loop) < 0.8);
    for (int cycle = 0; cycle < 10000; ++cycle)
        loop_step(&loop, small);
    assert_true(strongest(&loop) < 0.01);
    feedback_controllers_free(&loop.controllers);
}

/** An excitation is part of the command: it goes through the model, not into the integral. */
static void test_excitation_is_no_cut(void **state) {
    (void)state;
    struct feedback_law const law = law_with(false);
    struct feedback_controllers controllers;
    assert_true(feedback_controllers_make(&controllers, 1, &law));
    double const nothing = 0, excited = 3;
    for (int i = 0; i < 100; ++i)
        feedback_controllers_update(&controllers, &nothing, &excited, &excited);
    assert_true(fabs(controllers.model[0][0] - 3) < 1e-9);
    assert_true(fabs(controllers.correction[0]) < 1e-9);
    feedback_controllers_clear(&controllers);
    assert_true(controllers.model[0][0] == 0 && controllers.ahead[0] == 0 && controllers.past[3][0] == 0 &&
                controllers.gain[0] == 1);
    feedback_controllers_free(&controllers);
}

/** Thirteen lines, of any phase, in all channels. */
static void mains(double *disturbance) {
    for (uint32_t i = 0; i < loop.channels; ++i) {
        disturbance[i] = 0;
        for (uint32_t j = 0; j < LINES; ++j)
            disturbance[i] +=
                sin(6.283185307179586 * lines_hz[j] / loop.controllers.law.plant.rate_hz * (double)loop.cycle + j + i);
    }
}

/** Skips cycles in which what was sent last is held. Returns the largest error in them. */
static double blind(uint32_t cycles) {
    double largest = 0, disturbance[LOOP_CHANNELS];
    double const decay = exp(-loop.pole_per_cycle);
    for (uint32_t cycle = 0; cycle < cycles; ++cycle, ++loop.cycle) {
        uint64_t const now = loop.cycle % LOOP_PAST, next = (loop.cycle + 1) % LOOP_PAST;
        mains(disturbance);
        for (uint32_t i = 0; i < loop.channels; ++i) {
            largest = fmax(largest, fabs(disturbance[i] - loop_plant(&loop, i)));
            loop.sent[now][i] = loop.sent[(loop.cycle + LOOP_PAST - 1) % LOOP_PAST][i];
            loop.level[next][i] = decay * loop.level[now][i] + (1 - decay) * loop.sent[now][i];
        }
    }
    return largest;
}

static double largest_error(uint32_t cycles) {
    double largest = 0, disturbance[LOOP_CHANNELS];
    for (uint32_t cycle = 0; cycle < cycles; ++cycle) {
        mains(disturbance);
        loop_step(&loop, disturbance);
        for (uint32_t i = 0; i < loop.channels; ++i)
            largest = fmax(largest, fabs(loop.error[i]));
    }
    return largest;
}

/** Ten times a second some cycles are not run. The lines are back under control as soon as what is sent again has
 * arrived; with states that stood still they would kick for as long as a resonator takes. */
static void test_goes_on_after_a_gap(void **state) {
    (void)state;
    struct feedback_law const law = law_with(true);
    loop_make(&loop, &law, 3, 1, 1);
    largest_error(40000);
    assert_true(largest_error(1000) < 0.1);
    double unseen = 0, soon = 0, later = 0;
    for (int gap = 0; gap < 40; ++gap) {
        uint32_t const cycles = 1 + 7 * (uint32_t)gap % 60;
        unseen = fmax(unseen, blind(cycles));
        feedback_controllers_skip(&loop.controllers, cycles);
        soon = fmax(soon, largest_error(10));
        later = fmax(later, largest_error(900 - cycles));
    }
    if (!(soon <= 1.1 * unseen && later < 0.5 * unseen))
        fail_msg("during gaps %g, then %g, later %g", unseen, soon, later);
    feedback_controllers_free(&loop.controllers);
}

/** In one go or one after the other: the same. And a gap in which nothing happens changes nothing. */
static void test_skips_as_far_as_it_should(void **state) {
    (void)state;
    struct feedback_law const law = law_with(true);
    struct feedback_controllers controllers[2];
    double const error[3] = {0.1, -0.2, 0.3}, command[3] = {1, 2, -3};
    for (int b = 0; b < 2; ++b) {
        assert_true(feedback_controllers_make(&controllers[b], 3, &law));
        for (int i = 0; i < 50; ++i)
            feedback_controllers_update(&controllers[b], error, command, command);
    }
    feedback_controllers_skip(&controllers[0], 37);
    for (int i = 0; i < 37; ++i)
        feedback_controllers_skip(&controllers[1], 1);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(fabs(controllers[0].ahead[i] - controllers[1].ahead[i]) < 1e-9);
        assert_true(fabs(controllers[0].correction[i] - controllers[1].correction[i]) < 1e-9);
        assert_true(fabs(controllers[0].model[0][i] - command[i]) < 1e-3);
    }
    for (int b = 0; b < 2; ++b)
        feedback_controllers_free(&controllers[b]);
}

/** A channel of half the gain closes its loop half as fast. */
static void test_gain_is_the_channels_own(void **state) {
    (void)state;
    struct feedback_law const law = law_with(false);
    loop_make(&loop, &law, 2, 1, 1);
    loop.controllers.gain[1] = 0.5;
    double const ones[LOOP_CHANNELS] = {1, 1};
    double area[2] = {0, 0};
    for (int cycle = 0; cycle < 5000; ++cycle) {
        loop_step(&loop, ones);
        area[0] += loop.error[0];
        area[1] += loop.error[1];
    }
    assert_true(fabs(area[1] / area[0] - 2) < 0.2);
    assert_true(strongest(&loop) < 1e-6);
    feedback_controllers_free(&loop.controllers);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_gives_the_same_bits_from_any_instruction_set),
        cmocka_unit_test(test_retunes_without_a_bump),
        cmocka_unit_test(test_leaves_the_predictor_without_a_bump),
        cmocka_unit_test(test_maps_to_another_basis_and_goes_on),
        cmocka_unit_test(test_measures_the_mains),
        cmocka_unit_test(test_does_not_wind_up),
        cmocka_unit_test(test_excitation_is_no_cut),
        cmocka_unit_test(test_goes_on_after_a_gap),
        cmocka_unit_test(test_skips_as_far_as_it_should),
        cmocka_unit_test(test_gain_is_the_channels_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
