// SPDX-License-Identifier: Apache-2.0
/** What the electronics of BPMs make of a position: each error as its formula has it. */
#include "readouts.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

enum { INSTRUMENTS = 3, X = 0, Y = 1, SECOND = 4 };

static double const TURN_RATE_HZ = 1e6;

struct rig {
    struct rm_beam_config beam_config;
    struct rm_readout_config config[2];
    struct rm_beam *beam;
    struct rm_readouts *readouts;
};

/** Instrument 1 with the electronics `config` at its first BPM, and nothing in the beam. */
static struct rig rig_of(struct rm_readout_config config) {
    struct rig rig = {.beam_config = {.turn_rate_hz = TURN_RATE_HZ,
                                      .kick_every_turns = 1e9,
                                      .damping_turns = 1000,
                                      .drift_period_s = 60,
                                      .seed = 3}};
    config.instrument = 1;
    config.period_turns = config.period_turns == 0 ? 1 : config.period_turns;
    rig.config[0] = config;
    return rig;
}

static void rig_start(struct rig *rig) {
    struct rm_virtual_instrument instruments[INSTRUMENTS] = {{.kind = RM_KIND_BPM}, {.kind = RM_KIND_BPM}};
    instruments[2].kind = RM_KIND_BPM;
    assert_int_equal(rm_beam_make(&rig->beam_config, instruments, INSTRUMENTS, &rig->beam, NULL), RM_OK);
    assert_int_equal(rm_readouts_make(rig->config, 1, &rig->beam_config, rig->beam, &rig->readouts, NULL), RM_OK);
}

static void rig_end(struct rig *rig) {
    rm_beam_free(rig->beam);
    rm_readouts_free(rig->readouts);
}

/** Reading of a lane of instrument 1 at a turn, where the beam is at (x, y). */
static int32_t reading(struct rig *rig, rm_turn turn, uint32_t lane, int32_t x, int32_t y) {
    union rm_lane const *values = rm_beam_turn(rig->beam, turn, 0, INSTRUMENTS);
    rm_beam_add(rig->beam, 1, X, x);
    rm_beam_add(rig->beam, 1, Y, y);
    rm_readouts_apply(rig->readouts, rig->beam, values, turn, 0, INSTRUMENTS);
    return values[RM_LANES + lane].i;
}

static void cables_and_signs(void **state) {
    (void)state;
    struct rig rig = rig_of((struct rm_readout_config){.noise_nm = 0, .swapped = true, .inverted = RM_READOUT_Y});
    rig_start(&rig);
    assert_int_equal(reading(&rig, 5, X, 100, -30), -30);
    assert_int_equal(reading(&rig, 5, Y, 100, -30), -100);
    assert_int_equal(reading(&rig, 5, SECOND, 100, -30), 0);
    rig.config[0].swapped = false; /* the cables are mended */
    assert_int_equal(reading(&rig, 6, X, 100, -30), 100);
    assert_int_equal(reading(&rig, 6, Y, 100, -30), 30);
    rig_end(&rig);
}

static void an_adc_rounds_and_saturates(void **state) {
    (void)state;
    struct rig rig = rig_of((struct rm_readout_config){.noise_nm = 0, .adc_bits = 8, .adc_range_nm = 12800});
    rig_start(&rig);
    for (int32_t nm = -20000; nm <= 20000; nm += 7) {
        double const code = fmin(fmax(rint(nm / 100.0), -128), 127);
        assert_int_equal(reading(&rig, 1, X, nm, 0), (int32_t)(100 * code));
    }
    assert_int_equal(reading(&rig, 1, Y, 0, 1000000000), 12700);
    assert_int_equal(reading(&rig, 1, Y, 0, -1000000000), -12800);
    rig_end(&rig);
}

static void glitches_are_as_many_and_as_large_as_configured(void **state) {
    (void)state;
    enum { TURNS = 200000, PERIOD = 10 };
    struct rig rig = rig_of(
        (struct rm_readout_config){.noise_nm = 0, .glitch_per_s = 1000, .glitch_nm = 5000, .period_turns = PERIOD});
    rig_start(&rig);
    double const expected = 1000 * TURNS / TURN_RATE_HZ; /* 200 */
    int up = 0, down = 0;
    for (rm_turn turn = 0; turn < TURNS; turn += PERIOD) {
        int32_t const x = reading(&rig, turn, X, 17, 0);
        assert_true(x == 17 || x == 5017 || x == -4983);
        up += x == 5017;
        down += x == -4983;
    }
    assert_true(fabs(up + down - expected) < 5 * sqrt(expected));
    assert_true(abs(up - down) < 5 * sqrt(expected));
    rig_end(&rig);
}

static void the_same_turn_gives_the_same_reading(void **state) {
    (void)state;
    enum { TURNS = 500 };
    struct rm_readout_config const config = {.noise_nm = 1000, .corner_hz = 1e5, .glitch_per_s = 1e5, .glitch_nm = 1e4};
    struct rig in_order = rig_of(config), in_jumps = rig_of(config);
    rig_start(&in_order);
    rig_start(&in_jumps);
    bool moved = false;
    for (rm_turn turn = 1000000; turn < 1000000 + TURNS; ++turn) {
        int32_t const wanted = reading(&in_order, turn, X, 0, 0);
        reading(&in_jumps, turn * 7919 % 100003, X, 0, 0);
        assert_int_equal(reading(&in_jumps, turn, X, 0, 0), wanted);
        moved = moved || wanted != 0;
    }
    assert_true(moved);
    rig_end(&in_order);
    rig_end(&in_jumps);
}

enum { SAMPLES = 1 << 12, WINDOWS = 48 };

/** Fourier transform of 2^n numbers, in place. */
static void transform(double complex *values, uint32_t count) {
    for (uint32_t i = 1, j = 0; i < count; ++i) {
        uint32_t bit = count / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex const kept = values[i];
            values[i] = values[j];
            values[j] = kept;
        }
    }
    for (uint32_t length = 2; length <= count; length *= 2)
        for (uint32_t k = 0; k < length / 2; ++k) {
            double complex const turn = cexp(-2 * M_PI * I * k / length);
            for (uint32_t i = k; i < count; i += length) {
                double complex const odd = turn * values[i + length / 2];
                values[i + length / 2] = values[i] - odd;
                values[i] += odd;
            }
        }
}

/** One-sided density of x in nm²/Hz, under a Hann window, averaged over windows. */
static void density_of(struct rig *rig, double *density) {
    static double complex values[SAMPLES];
    uint32_t const period = rig->config[0].period_turns;
    double const rate = TURN_RATE_HZ / period;
    memset(density, 0, SAMPLES / 2 * sizeof *density);
    for (uint64_t w = 0; w < WINDOWS; ++w) {
        for (uint64_t i = 0; i < SAMPLES; ++i)
            values[i] = reading(rig, (w * 1000003 + i) * period, X, 0, 0) * sqrt(2.0 / 3) *
                        (1 - cos(2 * M_PI * (double)i / SAMPLES));
        transform(values, SAMPLES);
        for (uint32_t k = 0; k < SAMPLES / 2; ++k)
            density[k] += 2 * creal(values[k] * conj(values[k])) / (rate * SAMPLES) / WINDOWS;
    }
}

/** Mean of the density, times frequency where `weighted`, between two of its lines. */
static double band(double const *density, uint32_t from, uint32_t to, bool weighted, double hz_per_line) {
    double sum = 0;
    for (uint32_t k = from; k < to; ++k)
        sum += density[k] * (weighted ? k * hz_per_line : 1);
    return sum / (to - from);
}

static void white_noise_is_flat_and_flicker_noise_falls_with_1_over_f(void **state) {
    (void)state;
    static double density[SAMPLES / 2];
    double const sigma = 5000, corner = 20000, line = TURN_RATE_HZ / SAMPLES, white = 2 * sigma * sigma / TURN_RATE_HZ;
    struct rig rig = rig_of((struct rm_readout_config){.noise_nm = sigma});
    rig_start(&rig);
    density_of(&rig, density);
    for (uint32_t from = 8; from < SAMPLES / 2; from *= 2)
        assert_true(fabs(band(density, from, 2 * from, false, line) / white - 1) < 5 / sqrt(WINDOWS * from));
    rig_end(&rig);
    rig = rig_of((struct rm_readout_config){.noise_nm = sigma, .corner_hz = corner});
    rig_start(&rig);
    density_of(&rig, density);
    for (uint32_t from = 2; from < 128; from *= 2) { /* below 62 kHz; a tenth more or less is the octaves' own ripple */
        double const flicker = band(density, from, 2 * from, true, line) - white * 1.5 * from * line;
        assert_true(fabs(flicker / (white * corner) - 1) < 0.1 + 5 / sqrt(WINDOWS * from));
    }
    rig_end(&rig);
}

/** Electronics that average have the same 1/f noise at the frequencies that they still show. */
static void flicker_noise_does_not_average_away(void **state) {
    (void)state;
    static double density[SAMPLES / 2];
    double const sigma = 5000, corner = 20000, line = TURN_RATE_HZ / 100 / SAMPLES;
    double const white = 2 * sigma * sigma / TURN_RATE_HZ;
    struct rig rig = rig_of((struct rm_readout_config){.noise_nm = sigma, .corner_hz = corner, .period_turns = 100});
    rig_start(&rig);
    rm_beam_average(rig.beam, 1, 100);
    density_of(&rig, density);
    for (uint32_t from = 16; from < 512; from *= 2)
        assert_true(fabs(band(density, from, 2 * from, true, line) / (white * corner) - 1) <
                    0.1 + 5 / sqrt(WINDOWS * from));
    rig_end(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(cables_and_signs),
        cmocka_unit_test(an_adc_rounds_and_saturates),
        cmocka_unit_test(glitches_are_as_many_and_as_large_as_configured),
        cmocka_unit_test(the_same_turn_gives_the_same_reading),
        cmocka_unit_test(white_noise_is_flat_and_flicker_noise_falls_with_1_over_f),
        cmocka_unit_test(flicker_noise_does_not_average_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
