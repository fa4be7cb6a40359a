// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pace_fit.h"

enum { FRAMES = 10000, TICKS = 1000 };

/** Frames every `ticks`, of which each `lost_every`th is lost, past a receiver that stands still from `stall` on for so
 * long. */
static double fitted(double ticks, uint64_t stall, uint64_t stall_ticks, uint64_t lost_every) {
    struct bench_pace_fit fit;
    uint64_t const begin = 1000000;
    uint32_t waiting = 0;
    bench_pace_fit_begin(&fit, TICKS, begin, (uint64_t)FRAMES * TICKS);
    for (uint64_t n = 1; n < FRAMES; ++n) {
        uint64_t const at = (uint64_t)((double)n * ticks);
        waiting += lost_every == 0 || n % lost_every != 0;
        if (waiting == 0 || (at >= stall && at < stall + stall_ticks))
            continue;
        bench_pace_fit_take(&fit, waiting, begin + at);
        waiting = 0;
    }
    return bench_pace_fit_ticks(&fit);
}

static void assert_pace(double found, double expected) {
    if (fabs(found / expected - 1) > 1e-5)
        fail_msg("found %.4f ticks, expected %.4f", found, expected);
}

static void a_pace_is_found(void **state) {
    (void)state;
    assert_pace(fitted(TICKS, 0, 0, 0), TICKS);
    assert_pace(fitted(TICKS * 1.001, 0, 0, 0), TICKS * 1.001);
    assert_pace(fitted(TICKS * 0.999, 0, 0, 0), TICKS * 0.999);
}

/** At the beginning, within, and over the end of the window. */
static void stalls_do_not_move_it(void **state) {
    (void)state;
    uint64_t const window = (uint64_t)FRAMES * TICKS;
    uint64_t const stalls[] = {0, window / 20, window / 2, window - window / 20};
    for (uint32_t s = 0; s < sizeof stalls / sizeof *stalls; ++s)
        assert_pace(fitted(TICKS, stalls[s], window / 20, 0), TICKS);
}

static void lost_frames_move_it(void **state) {
    (void)state;
    double const found = fitted(TICKS, 0, 0, 100);
    assert_true(fabs(found / (TICKS * 100.0 / 99.0) - 1) < 1e-3);
}

static void nothing_has_no_pace(void **state) {
    (void)state;
    assert_true(fitted(TICKS, 0, UINT32_MAX, 0) == 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_pace_is_found),
        cmocka_unit_test(stalls_do_not_move_it),
        cmocka_unit_test(lost_frames_move_it),
        cmocka_unit_test(nothing_has_no_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
