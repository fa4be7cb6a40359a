// SPDX-License-Identifier: Apache-2.0
/** The lanes of tune/detail: the phase is that of the middle of the window, and none is told without a peak. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "detail.h"

enum { TURNS = 8192 };

static double const TWO_PI = 6.283185307179586;

static void test_the_phase_is_at_the_middle(void **state) {
    (void)state;
    struct tune_reading const reading[TUNE_PLANES] = {
        {.peak = {.tune = 0.2137, .phase_rad = 2.5, .amplitude_sigma = 3.0, .signal_to_noise = 50.0}},
        {.peak = {.tune = 0.4411, .phase_rad = -1.25, .signal_to_noise = 8.0, .other_bin = 2048, .other_ratio = 0.125}},
    };
    float lane[RM_LANES] = {0};
    tune_detail_tell(reading, TURNS, lane);
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        struct tune_peak const *const peak = &reading[plane].peak;
        float const told = lane[TUNE_DETAIL_PHASE_X + plane];
        double const middle = TWO_PI * peak->tune * (TURNS - 1) / 2 + peak->phase_rad;
        assert_true(fabs((double)told) <= TWO_PI / 2 + 1e-6);
        assert_true(fabs(cos((double)told) - cos(middle)) < 1e-6 && fabs(sin((double)told) - sin(middle)) < 1e-6);
    }
    assert_true(lane[TUNE_DETAIL_PHASE_SIGMA_X] == 0.02f && lane[TUNE_DETAIL_PHASE_SIGMA_Y] == 0.125f);
    assert_true(lane[TUNE_DETAIL_AMPLITUDE_SIGMA_X] == 3.0f);
    assert_true(lane[TUNE_DETAIL_OTHER_TUNE_Y] == 0.25f && lane[TUNE_DETAIL_OTHER_RATIO_Y] == 0.125f);
}

static void test_without_a_peak_there_is_nothing_to_tell(void **state) {
    (void)state;
    struct tune_reading const reading[TUNE_PLANES] = {{.peak = {.tune = NAN}}, {.peak = {.tune = NAN}}};
    float lane[RM_LANES] = {0};
    tune_detail_tell(reading, TURNS, lane);
    for (int l = 0; l < TUNE_DETAILS; ++l)
        assert_true(isnan(lane[l]));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_the_phase_is_at_the_middle),
        cmocka_unit_test(test_without_a_peak_there_is_nothing_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
