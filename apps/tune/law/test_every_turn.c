// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "every_turn.h"
#include "test_series.h"

enum { TURNS = 1024, FIRST = 200, LAST = 260, BINS = LAST - FIRST + 1, STRIDE = 3, BEGIN = 70000 };

static double const TUNE = 0.2249, AMPLITUDE = 3000.0, ORBIT = 1.2e6, NOISE = 200.0;

static float series[TURNS];
static struct tune_every_turn it;
static uint64_t turn;

/** So many turns of a line in noise on an orbit; those of a window lie in `series`, the newest last. */
static void turns_push(uint32_t count, float spoiled) {
    for (uint32_t n = 0; n < count; ++n, ++turn) {
        float position[2 * STRIDE] = {0};
        double const phase = TWO_PI * fmod(TUNE * (double)turn, 1.0);
        float const exact = (float)(ORBIT + AMPLITUDE * cos(phase) + NOISE * draw_normal());
        position[0] = spoiled != 0.0f ? spoiled : exact;
        memmove(series, series + 1, sizeof series - sizeof series[0]);
        series[TURNS - 1] = isfinite(position[0]) ? position[0] : series[TURNS - 2];
        tune_every_turn_push(&it, turn, position, STRIDE, 1);
    }
}

static void make(enum tune_window_kind kind) {
    struct tune_band const band = {.first = FIRST, .last = LAST};
    turn = BEGIN;
    assert_true(tune_every_turn_open(&it, TURNS, kind, band));
}

/** Its amplitudes are those of a transform of the window in `series`, but for rounded turns: half a unit, and 1/√N. */
static void assert_is_of_the_window(enum tune_window_kind kind) {
    struct tune_spectrum spectrum;
    float expected[BINS], found[BINS];
    assert_true(tune_spectrum_open(&spectrum, TURNS, 1));
    memcpy(spectrum.series, series, sizeof series);
    tune_spectrum_transform(&spectrum);
    tune_spectrum_amplitudes(&spectrum.bin[FIRST], TURNS, kind, BINS, expected);
    assert_true(tune_every_turn_read(&it, found));
    for (uint32_t k = 0; k < BINS; ++k)
        assert_true(fabsf(found[k] - expected[k]) < 0.3f);
    tune_spectrum_close(&spectrum);
}

static void test_each_turn_has_the_spectrum_of_its_window(void **state) {
    (void)state;
    enum tune_window_kind const kinds[] = {TUNE_RECTANGULAR, TUNE_HANN};
    for (int i = 0; i < 2; ++i) {
        float amplitude[BINS];
        make(kinds[i]);
        turns_push(TURNS - 1, 0.0f);
        assert_false(tune_every_turn_read(&it, amplitude));
        for (int n = 0; n < 5; ++n) {
            turns_push(1, 0.0f);
            assert_is_of_the_window(kinds[i]);
        }
        turns_push(3 * TURNS + 77, 0.0f);
        assert_is_of_the_window(kinds[i]);
        assert_true(tune_every_turn_read(&it, amplitude));
        uint32_t const peak = (uint32_t)lrint(TUNE * TURNS) - FIRST;
        assert_true(fabs((double)amplitude[peak] / AMPLITUDE - 1.0) < 0.2); /* a third of a bin off */
        assert_true(amplitude[0] < 100.0f);
        tune_every_turn_close(&it);
    }
}

/** Turns that did not come, whether they were told or not, are held; and a restart of the counter begins anew. */
static void test_lost_turns_and_a_restart(void **state) {
    (void)state;
    float amplitude[BINS];
    make(TUNE_HANN);
    turns_push(TURNS, 0.0f);
    turns_push(3, NAN);
    assert_is_of_the_window(TUNE_HANN);
    assert_int_equal(it.sliding.lost_turns[0], 3);
    turns_push(5, 0.0f);
    turn += 2;
    memmove(series, series + 2, sizeof series - 2 * sizeof series[0]);
    series[TURNS - 1] = series[TURNS - 2] = series[TURNS - 3];
    turns_push(1, 0.0f);
    assert_is_of_the_window(TUNE_HANN);
    assert_int_equal(it.sliding.lost_turns[0], 5);
    turns_push(TURNS, 0.0f);
    assert_int_equal(it.sliding.lost_turns[0], 0);
    turn = 7;
    turns_push(TURNS - 1, 0.0f);
    assert_false(tune_every_turn_read(&it, amplitude));
    turns_push(1, 0.0f);
    assert_is_of_the_window(TUNE_HANN);
    turn += TURNS; /* nothing of the window is left */
    turns_push(1, 0.0f);
    assert_false(tune_every_turn_read(&it, amplitude));
    tune_every_turn_close(&it);
}

static void test_says_where_a_turn_was_cut(void **state) {
    (void)state;
    make(TUNE_RECTANGULAR);
    turns_push(TURNS, 0.0f);
    assert_false(tune_every_turn_was_cut(&it));
    turns_push(1, 9e9f);
    turns_push(TURNS - 1, 0.0f);
    assert_true(tune_every_turn_was_cut(&it));
    turns_push(1, 0.0f);
    assert_false(tune_every_turn_was_cut(&it));
    assert_is_of_the_window(TUNE_RECTANGULAR); /* and nothing of it stays */
    tune_every_turn_close(&it);
}

static void test_bands_that_do_not_fit(void **state) {
    (void)state;
    struct tune_band const bands[] = {
        {.first = 0, .last = 10}, {.first = 10, .last = TURNS / 2 - 1}, {.first = 9, .last = 8}};
    for (size_t i = 0; i < sizeof bands / sizeof bands[0]; ++i)
        assert_false(tune_every_turn_open(&it, TURNS, TUNE_HANN, bands[i]));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_each_turn_has_the_spectrum_of_its_window),
        cmocka_unit_test(test_lost_turns_and_a_restart),
        cmocka_unit_test(test_says_where_a_turn_was_cut),
        cmocka_unit_test(test_bands_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
