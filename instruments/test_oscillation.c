// SPDX-License-Identifier: Apache-2.0
/** The recursion of the beam's motion, beside what theory says of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oscillation.h"

static double const TAU_TURNS = 6800, TUNE_X = 0.2994, TUNE_Y = 0.1612, RMS_X = 2e-6, RMS_Y = 1e-6;
static double const VOLTAGE = 2e6 / 2.4e9, LOSS = 0.47e6 / 2.4e9, SLIP = 2 * M_PI * 432 * 1.2e-4;

static struct rm_oscillation_optics optics_of(double chromaticity) {
    return (struct rm_oscillation_optics){
        .tune = {TUNE_X, TUNE_Y},
        .chromaticity = {chromaticity, -chromaticity},
        .damping = {1 / TAU_TURNS, 1 / TAU_TURNS},
        .start = {{3, 0, 0, 0}, {0, 1. / 3, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 0.5}},
    };
}

static struct rm_oscillation_rf rf_of(double aperture) {
    return (struct rm_oscillation_rf){.present = true,
                                      .voltage = VOLTAGE,
                                      .loss = LOSS,
                                      .synchronous_rad = M_PI - asin(LOSS / VOLTAGE),
                                      .slip_rad = SLIP,
                                      .damping = 1 / TAU_TURNS,
                                      .fill_turns = 17,
                                      .aperture = aperture};
}

static struct rm_oscillation make_oscillation(struct rm_oscillation_config const *config, double chromaticity) {
    struct rm_oscillation oscillation;
    struct rm_oscillation_optics const optics = optics_of(chromaticity);
    struct rm_oscillation_rf const rf = rf_of(0.04);
    rm_oscillation_make(&oscillation, config, &rf, &optics);
    return oscillation;
}

static struct rm_oscillation_config noisy(void) {
    return (struct rm_oscillation_config){.seed = 5, .rms = {RMS_X, RMS_Y}, .delta_rms = 1e-5};
}

/** Adds a part's turns to `values`. */
static void record_part(struct rm_oscillation *oscillation, enum rm_oscillation_part part, double *values,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        rm_oscillation_step(oscillation);
        values[i] = oscillation->state.part[part];
    }
}

/** Size of the line at `tune`, as a Hann window sees it: a sine's amplitude. */
static double line(double const *values, uint32_t count, double tune) {
    double real = 0, imaginary = 0;
    for (uint32_t i = 0; i < count; ++i) {
        double const window = 1 - cos(2 * M_PI * i / count), angle = 2 * M_PI * fmod(tune * i, 1);
        real += window * values[i] * cos(angle);
        imaginary += window * values[i] * sin(angle);
    }
    return 2 * hypot(real, imaginary) / count;
}

static void test_noise_keeps_up_the_configured_rms(void **state) {
    (void)state;
    enum { TURNS = 4000000 }; /* 300 times two damping times: 4 % of scatter */
    struct rm_oscillation_config const config = noisy();
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    double sum[RM_OSCILLATION_PARTS] = {0};
    rm_oscillation_enter(&oscillation, 1000);
    for (uint32_t i = 0; i < TURNS; ++i) {
        rm_oscillation_step(&oscillation);
        for (int p = 0; p < RM_OSCILLATION_PARTS; ++p)
            sum[p] += oscillation.state.part[p] * oscillation.state.part[p] / TURNS;
    }
    assert_float_equal(sqrt(sum[RM_OSCILLATION_X1]) / RMS_X, 1, 0.12);
    assert_float_equal(sqrt(sum[RM_OSCILLATION_P1]) / RMS_X, 1, 0.12);
    assert_float_equal(sqrt(sum[RM_OSCILLATION_X2]) / RMS_Y, 1, 0.12);
    assert_float_equal(sqrt(sum[RM_OSCILLATION_DELTA]) / 1e-5, 1, 0.12);
}

/* ── the tune that a window shows ── */

enum { WINDOW = 8192, SLICE = 32, SLICES = WINDOW / SLICE, WINDOWS = 600 };

/** |spectrum|² of a window whose slices were demodulated, at `offset` from the tune. */
static double power_at(double const (*slice)[2], double const *weight, double offset) {
    double const step[2] = {cos(2 * M_PI * offset * SLICE), -sin(2 * M_PI * offset * SLICE)};
    double now[2] = {1, 0}, sum[2] = {0, 0};
    for (int s = 0; s < SLICES; ++s) {
        sum[0] += weight[s] * (slice[s][0] * now[0] - slice[s][1] * now[1]);
        sum[1] += weight[s] * (slice[s][0] * now[1] + slice[s][1] * now[0]);
        double const before = now[0];
        now[0] = before * step[0] - now[1] * step[1];
        now[1] = before * step[1] + now[1] * step[0];
    }
    return sum[0] * sum[0] + sum[1] * sum[1];
}

/** Where the spectrum is highest: on a grid, then by a parabola through the three points about it. */
static double peak_offset(double const (*slice)[2], double const *weight) {
    enum { REACH = 32 };
    double const grid = 0.125 / WINDOW;
    double best = 0, most = 0;
    for (int at = -REACH; at <= REACH; ++at) {
        double const power = power_at(slice, weight, at * grid);
        if (power > most) {
            most = power;
            best = at * grid;
        }
    }
    double const before = log(power_at(slice, weight, best - grid)), here = log(most),
                 after = log(power_at(slice, weight, best + grid));
    return best + grid / 2 * (before - after) / (before - 2 * here + after);
}

static void take_window(struct rm_oscillation *oscillation, double (*slice)[2]) {
    memset(slice, 0, SLICES * sizeof *slice);
    for (int i = 0; i < WINDOW; ++i) {
        rm_oscillation_step(oscillation);
        double const angle = 2 * M_PI * fmod(TUNE_X * i, 1), x = oscillation->state.part[RM_OSCILLATION_X1];
        slice[i / SLICE][0] += x * cos(angle);
        slice[i / SLICE][1] -= x * sin(angle);
    }
}

/** A window of 1.2 damping times sees a line as wide as its own resolution, which wanders: at any signal to noise its
 * highest point scatters by 4.8e-5, with a Hann window by 5.7e-5 (a first-order autoregressive process of normal numbers,
 * 20000 windows), with tails. The bound for any estimator is 3.0e-5 (√(2/(τ N))/2π, of such a process: S. Kay, Modern
 * Spectral Estimation, 6.4). */
static void test_tune_of_a_window_scatters_as_the_line_is_wide(void **state) {
    (void)state;
    struct rm_oscillation_config const config = noisy();
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    double slice[SLICES][2], weight[2][SLICES], sum[2] = {0, 0}, squares[2] = {0, 0};
    for (int s = 0; s < SLICES; ++s) {
        weight[0][s] = 1;
        weight[1][s] = 1 - cos(2 * M_PI * (s + 0.5) / SLICES);
    }
    rm_oscillation_enter(&oscillation, 1000);
    for (int w = 0; w < WINDOWS; ++w) {
        take_window(&oscillation, slice);
        for (int k = 0; k < 2; ++k) {
            double const offset = peak_offset((double const(*)[2])slice, weight[k]);
            sum[k] += offset / WINDOWS;
            squares[k] += offset * offset / WINDOWS;
        }
    }
    double const rectangular = sqrt(squares[0] - sum[0] * sum[0]), hann = sqrt(squares[1] - sum[1] * sum[1]);
    print_message("tune of 8192 turns scatters by %.2e, with a Hann window by %.2e; mean %.1e and %.1e off\n",
                  rectangular, hann, sum[0], sum[1]);
    assert_float_equal(rectangular, 4.8e-5, 0.4e-5);
    assert_float_equal(hann, 5.7e-5, 0.5e-5);
    assert_true(fabs(sum[0]) < 8e-6 && fabs(sum[1]) < 9e-6);
}

/* ── betatron motion ── */

static void test_a_kick_is_what_it_says_and_decays(void **state) {
    (void)state;
    struct rm_oscillation_config config = {.kick = {0, 1e-6, 0, 2e-6}, .kick_every_turns = 100000};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    rm_oscillation_enter(&oscillation, 99999);
    assert_true(rm_oscillation_amplitude(&oscillation, 0) < 1e-11);
    rm_oscillation_step(&oscillation);
    assert_float_equal(rm_oscillation_amplitude(&oscillation, 0) / 3e-6, 1, 1e-6); /* √β · angle */
    assert_float_equal(rm_oscillation_amplitude(&oscillation, 1) / 4e-6, 1, 1e-6);
    for (int i = 0; i < (int)TAU_TURNS; ++i)
        rm_oscillation_step(&oscillation);
    assert_float_equal(rm_oscillation_amplitude(&oscillation, 0) / 3e-6, exp(-1), 1e-6);
    double const before = rm_oscillation_amplitude(&oscillation, 1);
    rm_oscillation_displace(&oscillation, config.kick, 0, 0);
    assert_true(fabs(rm_oscillation_amplitude(&oscillation, 1) - before) > 1e-7);
}

static void test_kick_is_at_the_start_of_the_turn_that_shows_it_first(void **state) {
    (void)state;
    struct rm_oscillation_config config = {.kick = {0, 1e-6, 0, 2e-6}};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    rm_oscillation_enter(&oscillation, 99999);
    rm_oscillation_kick_next(&oscillation, config.kick);
    assert_true(rm_oscillation_amplitude(&oscillation, 0) < 1e-11);
    rm_oscillation_step(&oscillation);
    assert_float_equal(oscillation.state.part[RM_OSCILLATION_X1], 0, 1e-11); /* it has not turned yet */
    assert_float_equal(oscillation.state.part[RM_OSCILLATION_P1] / 3e-6, 1, 1e-6);
    rm_oscillation_step(&oscillation);
    assert_true(fabs(oscillation.state.part[RM_OSCILLATION_X1]) > 1e-7);
    assert_float_equal(rm_oscillation_amplitude(&oscillation, 1) / 4e-6, 1, 1e-3); /* and came once */
}

static void test_strength_moves_the_line_at_once(void **state) {
    (void)state;
    enum { TURNS = 2048 };
    struct rm_oscillation_config config = {.kick = {0, 1e-6, 0, 0}, .kick_every_turns = 100000};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    double values[TURNS];
    rm_oscillation_enter(&oscillation, 99999);
    rm_oscillation_set_shift(&oscillation, (double[2]){0.004, 0});
    record_part(&oscillation, RM_OSCILLATION_X1, values, TURNS);
    assert_true(line(values, TURNS, TUNE_X + 0.004) > 2.0e-6);
    assert_true(line(values, TURNS, TUNE_X) < 0.02e-6);
}

/** A tune that swings by ξ δ about itself, at the synchrotron tune: a frequency modulation. Its first sidebands are
 * J₁(ξ δ / Q_s) of the line without it. */
static void test_chromaticity_makes_sidebands(void **state) {
    (void)state;
    enum { TURNS = 4096 };
    double const chromaticity = 3, delta = 5e-4, energy = sqrt(-SLIP * VOLTAGE * cos(M_PI - asin(LOSS / VOLTAGE)));
    double const synchrotron_tune = energy / (2 * M_PI);
    struct rm_oscillation_config config = {.kick = {0, 1e-6, 0, 0}, .kick_every_turns = 100000};
    struct rm_oscillation oscillation = make_oscillation(&config, chromaticity);
    oscillation.optics.damping[0] = oscillation.rf.damping = 0;
    struct rm_oscillation_optics const undamped = oscillation.optics;
    rm_oscillation_set_optics(&oscillation, &undamped);
    oscillation.state.turn = 99999;
    oscillation.until_kick = 1;
    rm_oscillation_displace(&oscillation, (double[4]){0}, delta, 0);
    double *x = malloc(2 * TURNS * sizeof *x), *swing = x + TURNS, most = 0, at = 0;
    for (int i = 0; i < TURNS; ++i) {
        rm_oscillation_step(&oscillation);
        x[i] = oscillation.state.part[RM_OSCILLATION_X1];
        swing[i] = oscillation.state.part[RM_OSCILLATION_DELTA];
    }
    for (int step = -300; step < 300; ++step) {
        double const tune = synchrotron_tune + 1e-5 * step, size = line(swing, TURNS, tune);
        at = size > most ? tune : at;
        most = size > most ? size : most;
    }
    assert_float_equal(at, synchrotron_tune, 3e-5);
    assert_float_equal(most / delta, 1, 0.01);
    double const depth = chromaticity * delta / synchrotron_tune;
    for (int side = -1; side <= 1; ++side)
        assert_float_equal(line(x, TURNS, TUNE_X + side * at) / 3e-6, side == 0 ? j0(depth) : j1(depth), 0.01);
    free(x);
}

static void test_growth_beats_damping_until_it_is_saturated(void **state) {
    (void)state;
    struct rm_oscillation_config config = {.rms = {1e-9, 1e-9}, .saturation = {1e-4, 1e-4}};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    double const growth = 1e-3;
    rm_oscillation_enter(&oscillation, 0);
    oscillation.growth[1] = growth;
    for (int i = 0; i < 60000; ++i)
        rm_oscillation_step(&oscillation);
    double const wanted = 1e-4 * sqrt(1 - 1 / (growth * TAU_TURNS));
    assert_float_equal(rm_oscillation_amplitude(&oscillation, 1) / wanted, 1, 0.01);
    assert_true(rm_oscillation_amplitude(&oscillation, 0) < 1e-8);
}

/** Its amplitude is the configured one, whatever noise and kicks do meanwhile, and its tune is the beam's own. */
static void test_an_excitation_keeps_an_amplitude_at_the_beam_s_own_tune(void **state) {
    (void)state;
    enum { TURNS = 8192 };
    struct rm_oscillation_config config = {.excitation = {3e-6, 2e-6}};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    double *x = calloc(TURNS, sizeof *x);
    rm_oscillation_enter(&oscillation, 1000);
    rm_oscillation_set_shift(&oscillation, (double const[2]){0.01, 0});
    record_part(&oscillation, RM_OSCILLATION_X1, x, TURNS);
    assert_float_equal(line(x, TURNS, TUNE_X + 0.01) / 3e-6, 1, 1e-3);
    assert_float_equal(rm_oscillation_amplitude(&oscillation, 1) / 2e-6, 1, 1e-6);
    rm_oscillation_displace(&oscillation, (double const[4]){0, 1e-5, 0, 0}, 0, 0);
    double const kicked = rm_oscillation_amplitude(&oscillation, 0) - 3e-6;
    for (int i = 0; i < (int)TAU_TURNS; ++i)
        rm_oscillation_step(&oscillation);
    assert_float_equal((rm_oscillation_amplitude(&oscillation, 0) - 3e-6) / kicked, exp(-1), 1e-3);
    free(x);
}

/* ── RF ── */

static void test_rf_trip_loses_the_beam_at_the_momentum_aperture(void **state) {
    (void)state;
    struct rm_oscillation_config const config = {0};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    rm_oscillation_enter(&oscillation, 1000);
    assert_true(fabs(oscillation.state.part[RM_OSCILLATION_DELTA]) < 1e-12);
    oscillation.drive[0] = 0;
    for (int i = 0; i < 100; ++i)
        rm_oscillation_step(&oscillation);
    double const early = oscillation.state.part[RM_OSCILLATION_DELTA];
    rm_oscillation_step(&oscillation);
    double const step = oscillation.state.part[RM_OSCILLATION_DELTA] - early;
    assert_float_equal(step, -LOSS - 2 * early / TAU_TURNS, 0.01 * LOSS);
    while (!oscillation.state.lost)
        rm_oscillation_step(&oscillation);
    assert_in_range(oscillation.state.lost_turn - 1000, 150, 250);
    assert_true(oscillation.state.part[RM_OSCILLATION_DELTA] == 0);
    oscillation.drive[0] = 1;
    for (int i = 0; i < 1000; ++i)
        rm_oscillation_step(&oscillation);
    assert_true(oscillation.state.lost);
    rm_oscillation_refill(&oscillation);
    for (int i = 0; i < 1000; ++i)
        rm_oscillation_step(&oscillation);
    assert_false(oscillation.state.lost);
}

/** With less voltage the bunch goes to another phase; with another phase of the RF it follows it. */
static void test_bunch_follows_the_rf(void **state) {
    (void)state;
    struct rm_oscillation_config const config = {0};
    struct rm_oscillation oscillation = make_oscillation(&config, 0);
    rm_oscillation_enter(&oscillation, 1000);
    oscillation.drive[0] = 0.8 * cos(0.1);
    oscillation.drive[1] = 0.8 * sin(0.1);
    for (int i = 0; i < 30 * (int)TAU_TURNS; ++i)
        rm_oscillation_step(&oscillation);
    double const wanted = M_PI - asin(LOSS / VOLTAGE / 0.8) - 0.1 - (M_PI - asin(LOSS / VOLTAGE));
    assert_float_equal(oscillation.state.part[RM_OSCILLATION_PHASE], wanted, 1e-6);
    assert_float_equal(oscillation.state.part[RM_OSCILLATION_DELTA], 0, 1e-9);
}

/* ── reading and repeating ── */

static void test_means_are_those_of_the_turns(void **state) {
    (void)state;
    enum { PERIOD = 120 };
    struct rm_oscillation_config const config = noisy();
    struct rm_oscillation oscillation = make_oscillation(&config, 1);
    uint32_t const slow = rm_oscillation_average(&oscillation, PERIOD);
    assert_int_not_equal(rm_oscillation_average(&oscillation, 7), slow);
    assert_int_equal(rm_oscillation_average(&oscillation, PERIOD), slow);
    rm_oscillation_enter(&oscillation, 5 * PERIOD);
    double sum = 0;
    for (int i = 0; i < PERIOD; ++i) {
        rm_oscillation_step(&oscillation);
        sum += oscillation.state.part[RM_OSCILLATION_DELTA] / PERIOD;
    }
    assert_float_equal(oscillation.state.mean[slow].value[RM_OSCILLATION_DELTA] / sum, 1, 1e-9);
}

static void test_a_run_may_be_entered_anywhere(void **state) {
    (void)state;
    struct rm_oscillation_config config = noisy();
    config.kick[1] = 1e-6;
    config.kick_every_turns = 7000;
    struct rm_oscillation early = make_oscillation(&config, 2), late = early, other;
    rm_oscillation_enter(&early, 50);
    while (early.state.turn < 250000)
        rm_oscillation_step(&early);
    rm_oscillation_enter(&late, 250000);
    for (int p = 0; p < RM_OSCILLATION_PARTS; ++p)
        assert_true(fabs(late.state.part[p] - early.state.part[p]) < 1e-6 * fabs(early.state.part[p]));
    other = early; /* a checkpoint: to the bit */
    for (int i = 0; i < 10000; ++i) {
        rm_oscillation_step(&early);
        rm_oscillation_step(&other);
    }
    assert_memory_equal(other.state.part, early.state.part, sizeof early.state.part);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_noise_keeps_up_the_configured_rms),
        cmocka_unit_test(test_tune_of_a_window_scatters_as_the_line_is_wide),
        cmocka_unit_test(test_a_kick_is_what_it_says_and_decays),
        cmocka_unit_test(test_kick_is_at_the_start_of_the_turn_that_shows_it_first),
        cmocka_unit_test(test_strength_moves_the_line_at_once),
        cmocka_unit_test(test_chromaticity_makes_sidebands),
        cmocka_unit_test(test_growth_beats_damping_until_it_is_saturated),
        cmocka_unit_test(test_an_excitation_keeps_an_amplitude_at_the_beam_s_own_tune),
        cmocka_unit_test(test_rf_trip_loses_the_beam_at_the_momentum_aperture),
        cmocka_unit_test(test_bunch_follows_the_rf),
        cmocka_unit_test(test_means_are_those_of_the_turns),
        cmocka_unit_test(test_a_run_may_be_entered_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
