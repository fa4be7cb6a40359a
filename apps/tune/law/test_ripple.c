// SPDX-License-Identifier: Apache-2.0
/** From turns to the ripple of a quadrupole: the tune, refreshed at 2 kHz from windows of 8192 turns, shows 50 and 100 Hz
 * as the window attenuates them. Corrected, their amplitudes are those of the machine, within 5 %. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "peak.h"
#include "response.h"
#include "test_series.h"

/** 300 ms at 1.157 MHz: 15 periods of 50 Hz, 600 refreshes. */
enum { TURNS = 8192, STEP = 578, REFRESHES = 600, LINES = 2, ALL = TURNS + STEP * REFRESHES };

static double const REVOLUTION_HZ = STEP * 2000.0, TUNE = 0.2137, NOISE = 0.2;
static double const line_hz[LINES] = {50.0, 100.0}, ripple[LINES] = {2e-5, 1e-5};

static float series[ALL];
static double tune[REFRESHES];

/** A line of amplitude 1, whose tune ripples, and noise. */
static void series_make(void) {
    double phase = 0.3;
    for (uint32_t n = 0; n < ALL; ++n) {
        double now = TUNE;
        for (int i = 0; i < LINES; ++i)
            now += ripple[i] * cos(TWO_PI * line_hz[i] * n / REVOLUTION_HZ + i);
        series[n] = (float)(cos(phase) + NOISE * draw_normal());
        phase = remainder(phase + TWO_PI * now, TWO_PI);
    }
}

static void tunes_take(enum tune_window_kind kind, struct tune_spectrum *spectrum) {
    static struct tune_band const band = {1500, 2100, 1.0, 0.0};
    for (uint32_t i = 0; i < REFRESHES; ++i) {
        struct tune_peak peak;
        for (uint32_t n = 0; n < TURNS; ++n)
            spectrum->series[n] = series[STEP * i + n];
        tune_spectrum_transform(spectrum);
        assert_true(tune_peak_find(spectrum->bin, TURNS, kind, band, &peak));
        tune[i] = peak.tune - TUNE;
    }
}

/** Amplitude of the tune's own line, with its phase at turn 0 of the series. */
static double complex line_of(double hertz) {
    double complex sum = 0.0;
    for (uint32_t i = 0; i < REFRESHES; ++i)
        sum += tune[i] * cexp(-I * TWO_PI * hertz * (STEP * i + TURNS - 1) / REVOLUTION_HZ);
    return 2.0 * sum / REFRESHES;
}

static void test_the_tune_shows_the_ripple_at_its_amplitude(void **state) {
    (void)state;
    struct tune_spectrum spectrum;
    assert_true(tune_spectrum_open(&spectrum, TURNS, 1));
    series_make();
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        tunes_take(kind, &spectrum);
        for (int i = 0; i < LINES; ++i) {
            double const periods = line_hz[i] * TURNS / REVOLUTION_HZ;
            double complex const seen = line_of(line_hz[i]);
            double const corrected = cabs(seen) * tune_response_correction(kind, periods, 0.2);
            double const delay_turns = tune_response_delay_turns(TURNS);
            double const lags = remainder(i - TWO_PI * line_hz[i] * delay_turns / REVOLUTION_HZ - carg(seen), TWO_PI);
            assert_true(fabs(corrected / ripple[i] - 1.0) < 0.05);
            assert_true(fabs(cabs(seen) / ripple[i] - tune_response(kind, periods)) < 0.05);
            assert_true(fabs(lags) < 0.05);
        }
    }
    tune_spectrum_close(&spectrum);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(test_the_tune_shows_the_ripple_at_its_amplitude)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
