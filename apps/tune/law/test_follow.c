// SPDX-License-Identifier: Apache-2.0
/** A beam that noise drives, turn by turn: the results are its tune, within the errors that they state, one for each M
 * windows. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "follow.h"
#include "test_series.h"

enum { TURNS = 1024, WINDOWS = 8, STEP = 64, FITS = 30, WINDOW_STEPS = TURNS / STEP };

static double const TUNE[TUNE_PLANES] = {0.2137, 0.3291}, RMS = 20.0, NOISE = 1.0, WIDTH_BINS = 6.0;
static struct tune_bpm const alone[1] = {{1.0, 0.0, 1.0}};
static struct tune_meter meter;
static struct tune_follow follow;
static double complex motion[TUNE_PLANES];
static uint64_t turn;

static int set_up(void **state) {
    (void)state;
    struct tune_meter_plan const plan = {.turns = TURNS,
                                         .kind = TUNE_HANN,
                                         .bpms = 1,
                                         .bpm = {alone, alone},
                                         .low = {0.15, 0.25},
                                         .high = {0.3, 0.45},
                                         .limits = tune_quality_limits(TURNS)};
    turn = 1000;
    if (!tune_meter_open(&meter, &plan) || !tune_follow_open(&follow, &plan, WINDOWS))
        return -1;
    tune_follow_begin(&follow);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tune_follow_close(&follow);
    tune_meter_close(&meter);
    return 0;
}

/** An oscillator of this width, with the RMS that its noise keeps up. */
static void push_step(void) {
    double const damping = WIDTH_BINS * TWO_PI / 2.0 / TURNS, kick = RMS * sqrt(1.0 - exp(-2.0 * damping));
    float position[STEP][TUNE_PLANES];
    for (int n = 0; n < STEP; ++n)
        for (int plane = 0; plane < TUNE_PLANES; ++plane) {
            double complex const noise = draw_normal() + I * draw_normal();
            motion[plane] = motion[plane] * cexp(-damping + I * TWO_PI * TUNE[plane]) + kick * noise;
            position[n][plane] = (float)(creal(motion[plane]) + NOISE * draw_normal());
        }
    tune_meter_push(&meter, turn, position[0], STEP);
    turn += STEP;
}

static void test_tunes_come_within_their_errors(void **state) {
    (void)state;
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        int found = 0, steps = 0;
        double chi = 0.0;
        for (int fits = 0; fits < FITS; ++steps) {
            push_step();
            if (!tune_follow_take(&follow, &meter, plane))
                continue;
            ++fits;
            struct tune_driven const *const driven = &follow.driven[plane];
            if (!follow.is_found[plane])
                continue;
            ++found;
            assert_true(driven->is_resolved);
            assert_true(fabs(driven->tune - TUNE[plane]) < 6.0 * driven->tune_sigma);
            assert_true(fabs(driven->rms / RMS - 1.0) < 0.5);
            chi += pow((driven->tune - TUNE[plane]) / driven->tune_sigma, 2);
        }
        assert_in_range(found, FITS - 2, FITS);
        /* The other plane's first window is there when it is asked for. */
        assert_int_equal(steps, FITS * WINDOWS * WINDOW_STEPS - (plane == 0 ? 0 : WINDOW_STEPS - 1));
        assert_true(sqrt(chi / found) > 0.6 && sqrt(chi / found) < 1.5); /* 30 of them: 13 % */
    }
}

/** After a restart of the turn counter there is no result before M whole windows. */
static void test_begins_anew_with_the_meter(void **state) {
    (void)state;
    turn = 0;
    tune_follow_begin(&follow);
    assert_true(isnan(follow.driven[0].tune) && !follow.is_found[0]);
    for (int step = 1; step <= WINDOWS * WINDOW_STEPS; ++step) {
        push_step();
        assert_true(tune_follow_take(&follow, &meter, 0) == (step == WINDOWS * WINDOW_STEPS));
    }
    assert_true(follow.is_found[0]);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_tunes_come_within_their_errors),
        cmocka_unit_test(test_begins_anew_with_the_meter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
