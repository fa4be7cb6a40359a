// SPDX-License-Identifier: Apache-2.0
#include "beam.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

enum { COUNT = 9, LANES = COUNT * RM_LANES, BLM = 7, SAMPLES = 8192, X1 = 0, Y1 = 1, SUM1 = 2 };

static struct rm_beam_config quiet(void) {
    return (struct rm_beam_config){
        .turn_rate_hz = 1157000,
        .tune_x = 0.2994,
        .tune_y = 0.1612,
        .synchrotron_tune = 0.0086,
        .modulation_hz = 1,
        .kick_every_turns = 1000000,
        .damping_turns = 1000,
        .drift_period_s = 60,
        .seed = 1,
    };
}

static struct rm_beam_config lively(void) {
    struct rm_beam_config config = quiet();
    config.betatron_um = 5;
    config.betatron_modulation = 0.2;
    config.kick_um = 50;
    config.kick_every_turns = 5000;
    config.synchrotron_um = 3;
    config.mains_um = 20;
    config.drift_um = 5;
    config.orbit_um = 100;
    config.noise_um = 0.5;
    config.sum_counts = 1e6;
    config.loss_counts = 2;
    return config;
}

static struct rm_beam *make(struct rm_beam_config const *config) {
    struct rm_virtual_instrument instruments[COUNT] = {0};
    for (unsigned i = 0; i < COUNT; ++i)
        instruments[i].kind = i < BLM ? RM_KIND_BPM : i == BLM ? RM_KIND_BLM : RM_KIND_LLRF;
    struct rm_beam *beam = NULL;
    assert_int_equal(rm_beam_make(config, instruments, COUNT, &beam, NULL), RM_OK);
    return beam;
}

/** One lane over `count` turns. */
static void record(struct rm_beam *beam, uint32_t lane, rm_turn first, uint32_t count, double *values) {
    for (uint32_t i = 0; i < count; ++i)
        values[i] = rm_beam_turn(beam, first + i, 0, COUNT)[lane].i;
}

static double mean(double const *values, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += values[i];
    return sum / count;
}

static double rms(double const *values, uint32_t count) {
    double const centre = mean(values, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += (values[i] - centre) * (values[i] - centre);
    return sqrt(sum / count);
}

/** Amplitude of the oscillation at `tune` under a Hann window. */
static double amplitude(double const *values, uint32_t count, double tune) {
    double const centre = mean(values, count);
    double cosine = 0, sine = 0;
    for (uint32_t i = 0; i < count; ++i) {
        double const windowed = (values[i] - centre) * (1 - cos(2 * M_PI * i / count));
        cosine += windowed * cos(2 * M_PI * tune * i);
        sine += windowed * sin(2 * M_PI * tune * i);
    }
    return 2 * hypot(cosine, sine) / count;
}

/** The strongest of `lines` lines from `low` on in steps of `step`. */
static double strongest(double const *values, uint32_t count, double low, double step, uint32_t lines) {
    double best = 0, tune = low;
    for (uint32_t i = 0; i < lines; ++i) {
        double const a = amplitude(values, count, low + i * step);
        if (a > best) {
            best = a;
            tune = low + i * step;
        }
    }
    return tune;
}

/** The strongest line between 0.1 and 0.5, to some 2 % of a bin. */
static double peak(double const *values, uint32_t count) {
    double const half_bin = 0.5 / count;
    double const coarse = strongest(values, count, 0.1, half_bin, (uint32_t)(0.4 / half_bin));
    return strongest(values, count, coarse - 2 * half_bin, half_bin / 25, 100);
}

static void the_same_turn_gives_the_same_bits(void **state) {
    (void)state;
    struct rm_beam_config const config = lively();
    struct rm_beam *in_order = make(&config), *in_jumps = make(&config);
    for (rm_turn turn = 4900; turn < 5100; ++turn) {
        union rm_lane expected[LANES];
        memcpy(expected, rm_beam_turn(in_order, turn, 0, COUNT), sizeof expected);
        rm_beam_turn(in_jumps, turn * 977 % 100000, 0, COUNT);
        assert_memory_equal(rm_beam_turn(in_jumps, turn, 0, COUNT), expected, sizeof expected);
    }
    rm_beam_free(in_order);
    rm_beam_free(in_jumps);
}

static void another_seed_gives_another_orbit_and_noise(void **state) {
    (void)state;
    struct rm_beam_config config = lively();
    struct rm_beam *one = make(&config);
    config.seed = 2;
    struct rm_beam *two = make(&config);
    union rm_lane const *a = rm_beam_turn(one, 1000, 0, COUNT), *b = rm_beam_turn(two, 1000, 0, COUNT);
    unsigned equal = 0;
    for (unsigned l = 0; l < BLM * RM_LANES; ++l)
        equal += a[l].i == b[l].i && a[l].i != 0;
    assert_int_equal(equal, 0);
    rm_beam_free(one);
    rm_beam_free(two);
}

static void the_spectrum_peaks_at_the_tunes(void **state) {
    (void)state;
    struct rm_beam_config config = lively();
    config.kick_um = 0;
    struct rm_beam *beam = make(&config);
    double *values = malloc(SAMPLES * sizeof *values);
    record(beam, X1, 123456789012345, 2048, values);
    assert_float_equal(peak(values, 2048), config.tune_x, 1e-4);
    record(beam, Y1, 1000000, 2048, values);
    assert_float_equal(peak(values, 2048), config.tune_y, 1e-4);
    free(values);
    rm_beam_free(beam);
}

static void the_noise_is_white_and_of_the_configured_rms(void **state) {
    (void)state;
    struct rm_beam_config config = quiet();
    config.noise_um = 0.5;
    struct rm_beam *beam = make(&config);
    double *x = malloc(SAMPLES * sizeof *x), *y = malloc(SAMPLES * sizeof *y);
    record(beam, X1, 0, SAMPLES, x);
    record(beam, Y1, 0, SAMPLES, y);
    double const sigma = rms(x, SAMPLES);
    assert_float_equal(sigma, 500, 15);
    assert_float_equal(mean(x, SAMPLES), 0, 25);
    double next = 0, other = 0;
    for (unsigned i = 0; i + 1 < SAMPLES; ++i) {
        next += x[i] * x[i + 1];
        other += x[i] * y[i];
    }
    double const four_sigma = 4 / sqrt(SAMPLES);
    assert_float_equal(next / SAMPLES / (sigma * sigma), 0, four_sigma);
    assert_float_equal(other / SAMPLES / (sigma * sigma), 0, four_sigma);
    free(x);
    free(y);
    rm_beam_free(beam);
}

static void the_mains_are_at_50_and_100_hertz(void **state) {
    (void)state;
    struct rm_beam_config config = quiet();
    config.mains_um = 20;
    struct rm_beam *beam = make(&config);
    uint32_t const every = 1157, periods = 10, count = periods * 20; /* a sample each ms */
    double values[200];
    for (uint32_t i = 0; i < count; ++i)
        values[i] = rm_beam_turn(beam, (rm_turn)i * every, 0, COUNT)[X1].i;
    double const at_50 = amplitude(values, count, 0.05), at_100 = amplitude(values, count, 0.1);
    assert_float_equal(at_50, 20e3 * 1.35, 100);
    assert_float_equal(at_100 / at_50, 0.5, 0.01);
    assert_true(amplitude(values, count, 0.2) < at_50 / 1000);
    rm_beam_free(beam);
}

static void a_kick_decays_and_scrapes(void **state) {
    (void)state;
    struct rm_beam_config config = quiet();
    config.kick_um = 100;
    config.kick_every_turns = 10000;
    struct rm_beam *beam = make(&config);
    double values[128];
    record(beam, X1, 20000, 128, values);
    double const fresh = rms(values, 128);
    record(beam, X1, 21000, 128, values);
    assert_float_equal(rms(values, 128) / fresh, exp(-1), 0.02);
    assert_true(rm_beam_turn(beam, 20000, 0, COUNT)[BLM * RM_LANES].i >= 50);
    assert_int_equal(rm_beam_turn(beam, 19999, 0, COUNT)[BLM * RM_LANES].i, 0);
    rm_beam_free(beam);
}

static void losses_are_counts_like_poissons(void **state) {
    (void)state;
    struct rm_beam_config config = quiet();
    config.loss_counts = 2;
    struct rm_beam *beam = make(&config);
    double *values = malloc(SAMPLES * sizeof *values);
    for (unsigned channel = 0; channel < 10; ++channel) {
        record(beam, BLM * RM_LANES + channel, 0, SAMPLES, values);
        double const expected = mean(values, SAMPLES), sigma = rms(values, SAMPLES);
        assert_in_range((int)(100 * expected), 95, 305);
        assert_float_equal(sigma * sigma / expected, 1, 0.1);
    }
    free(values);
    rm_beam_free(beam);
}

static void unused_lanes_stay_zero(void **state) {
    (void)state;
    struct rm_beam_config const config = lively();
    struct rm_beam *beam = make(&config);
    unsigned const used[COUNT] = {8, 8, 8, 8, 8, 8, 8, 10, 8};
    for (rm_turn turn = 0; turn < 100; ++turn) {
        union rm_lane const *lane = rm_beam_turn(beam, turn, 0, COUNT);
        for (unsigned i = 0; i < COUNT; ++i)
            for (unsigned l = used[i]; l < RM_LANES; ++l)
                assert_int_equal(lane[i * RM_LANES + l].i, 0);
        assert_in_range(lane[SUM1].i, 890000, 1110000);
    }
    rm_beam_free(beam);
}

static void some_instruments_read_what_all_read(void **state) {
    (void)state;
    struct rm_beam_config const config = lively();
    struct rm_beam *all = make(&config), *some = make(&config);
    for (rm_turn turn = 4990; turn < 5010; ++turn)
        for (uint32_t first = 0; first < COUNT; ++first) {
            union rm_lane const *expected = rm_beam_turn(all, turn, 0, COUNT) + (size_t)first * RM_LANES;
            union rm_lane const *read = rm_beam_turn(some, turn, first, COUNT - first);
            assert_memory_equal(read, expected, (COUNT - first) * RM_LANES * sizeof *read);
        }
    rm_beam_free(all);
    rm_beam_free(some);
}

static void a_kick_that_is_asked_for_changes_nothing_that_was_read(void **state) {
    (void)state;
    struct rm_beam_config const config = quiet();
    struct rm_beam *beam = make(&config);
    rm_turn const kick = 1011; /* in the block of what was read */
    rm_beam_turn(beam, 1000, 0, COUNT);
    rm_beam_kick_at(beam, kick, 100e3, 100e3);
    double values[128];
    record(beam, X1, 900, (uint32_t)(kick - 900), values);
    assert_float_equal(rms(values, (uint32_t)(kick - 900)), 0, 0);
    assert_int_equal(rm_beam_turn(beam, kick - 1, 0, COUNT)[BLM * RM_LANES].i, 0);
    assert_true(rm_beam_turn(beam, kick, 0, COUNT)[BLM * RM_LANES].i >= 50);
    record(beam, X1, kick, 128, values);
    double const fresh = rms(values, 128);
    assert_float_equal(fresh, 1.35 * 100e3 / sqrt(2), 7e3);
    record(beam, X1, kick + 1000, 128, values);
    assert_float_equal(rms(values, 128) / fresh, exp(-1), 0.02);
    rm_beam_free(beam);
}

/** A motion of its own for the beam, at rest before turn 0, of some µm. */
static struct rm_oscillation motion_of(void) {
    struct rm_oscillation oscillation;
    struct rm_oscillation_config const config = {.seed = 3, .rms = {2e-6, 1e-6}};
    struct rm_oscillation_optics const optics = {
        .tune = {0.3, 0.16},
        .damping = {1e-3, 1e-3},
        .start = {{3, 0, 0, 0}, {0, 1. / 3, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 0.5}}};
    rm_oscillation_make(&oscillation, &config, &(struct rm_oscillation_rf){0}, &optics);
    return oscillation;
}

static struct rm_beam_scales const scales = {{3e9, 2e9}};

/** x of X and y of P of the other mode: what the weights say, in nm. */
static void a_placed_bpm_reads_the_motion_that_is_followed(void **state) {
    (void)state;
    struct rm_beam_config const config = quiet();
    struct rm_beam *beam = make(&config);
    struct rm_oscillation motion = motion_of();
    double const weight[2][RM_OSCILLATION_PHASE] = {{4e9, 0, 0, 1e9}, {0, 0, 0, -2e9}};
    rm_beam_follow(beam, &motion, &scales);
    rm_beam_place(beam, 0, X1, weight);
    rm_oscillation_enter(&motion, 4999);
    for (rm_turn turn = 5000; turn < 5100; ++turn) {
        rm_oscillation_step(&motion);
        union rm_lane const *lane = rm_beam_turn(beam, turn, 0, COUNT);
        double const *part = motion.state.part;
        assert_float_equal(lane[X1].i, 4e9 * part[RM_OSCILLATION_X1] + 1e9 * part[RM_OSCILLATION_P2], 1);
        assert_float_equal(lane[Y1].i, -2e9 * part[RM_OSCILLATION_P2], 1);
    }
    rm_beam_free(beam);
}

/** It reads the mean of its turns, and its noise is less. */
static void an_averaged_instrument_reads_the_mean(void **state) {
    (void)state;
    enum { PERIOD = 12, SLOW = 0, AVERAGED = 2048 };
    struct rm_beam_config config = quiet();
    config.noise_um = 5;
    struct rm_beam *beam = make(&config);
    struct rm_oscillation motion = motion_of();
    double const weight[2][RM_OSCILLATION_PHASE] = {{100e9}, {0}};
    rm_beam_follow(beam, &motion, &scales);
    rm_beam_average(beam, SLOW, PERIOD);
    rm_beam_place(beam, SLOW, X1, weight);
    rm_oscillation_enter(&motion, (rm_turn)-1);
    double *noise = malloc(AVERAGED * sizeof *noise), sum = 0;
    for (rm_turn turn = 0; turn < PERIOD * AVERAGED; ++turn) {
        rm_oscillation_step(&motion);
        sum += motion.state.part[RM_OSCILLATION_X1];
        if (turn % PERIOD != 0)
            continue;
        double const mean = 100e9 * sum / PERIOD;
        noise[turn / PERIOD] = turn == 0 ? 0 : rm_beam_turn(beam, turn, 0, 1)[X1].i - mean;
        sum = 0;
    }
    assert_float_equal(rms(noise, AVERAGED), 5000 / sqrt(PERIOD), 100);
    free(noise);
    rm_beam_free(beam);
}

static void a_kick_moves_the_motion_and_scrapes(void **state) {
    (void)state;
    struct rm_beam_config const config = quiet();
    struct rm_beam *beam = make(&config);
    struct rm_oscillation motion = motion_of();
    motion.config.kick[1] = 1e-3;
    rm_beam_follow(beam, &motion, &scales);
    rm_oscillation_enter(&motion, 1000);
    rm_turn const kick = 1001;
    assert_true(rm_oscillation_amplitude(&motion, 0) < 1e-4);
    assert_true(rm_beam_turn(beam, kick - 1, 0, COUNT)[BLM * RM_LANES].i < 50);
    rm_oscillation_step(&motion);
    rm_oscillation_displace(&motion, motion.config.kick, 0, 0);
    assert_true(rm_oscillation_amplitude(&motion, 0) > 2.9e-3);
    assert_true(rm_beam_turn(beam, kick, 0, COUNT)[BLM * RM_LANES].i >= 50);
    rm_beam_free(beam);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_same_turn_gives_the_same_bits),
        cmocka_unit_test(another_seed_gives_another_orbit_and_noise),
        cmocka_unit_test(the_spectrum_peaks_at_the_tunes),
        cmocka_unit_test(the_noise_is_white_and_of_the_configured_rms),
        cmocka_unit_test(the_mains_are_at_50_and_100_hertz),
        cmocka_unit_test(a_kick_decays_and_scrapes),
        cmocka_unit_test(a_placed_bpm_reads_the_motion_that_is_followed),
        cmocka_unit_test(an_averaged_instrument_reads_the_mean),
        cmocka_unit_test(a_kick_moves_the_motion_and_scrapes),
        cmocka_unit_test(losses_are_counts_like_poissons),
        cmocka_unit_test(unused_lanes_stay_zero),
        cmocka_unit_test(some_instruments_read_what_all_read),
        cmocka_unit_test(a_kick_that_is_asked_for_changes_nothing_that_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
