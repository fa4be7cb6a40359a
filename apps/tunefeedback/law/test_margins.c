// SPDX-License-Identifier: Apache-2.0
/** Margins, beside those that are known in closed form. tests/property/test_tunefeedback.py compares them with loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "margins.h"

/** A window so short that only the delay counts. */
static struct tunefeedback_plant const DELAY = {.turn_rate_hz = 1e9, .window_turns = 64, .delay_s = 0.01};
static struct tunefeedback_plant const WINDOW = {
    .turn_rate_hz = 1.157e6, .window_turns = 8192, .window = TUNE_HANN, .delay_s = 0.0005, .bandwidth_hz = 200.0};

static void test_of_an_integral_and_a_delay(void **state) {
    (void)state;
    struct tunefeedback_margins const margins = tunefeedback_margins(&DELAY, 2.0);
    assert_true(fabs(margins.delay_s - 0.01) < 1e-6);
    assert_true(fabs(margins.gain / (1.0 / (4.0 * 2.0 * 0.01)) - 1.0) < 0.001);
    assert_true(fabs(margins.phase_deg - (90.0 - 360.0 * 2.0 * 0.01)) < 0.05);
}

static void test_that_the_peak_is_the_largest_sensitivity(void **state) {
    (void)state;
    struct tunefeedback_margins const margins = tunefeedback_margins(&WINDOW, 10.0);
    double largest = 0.0;
    for (int i = 0; i < 2800; ++i) /* to 440 Hz */
        largest = fmax(largest, tunefeedback_sensitivity(&WINDOW, 10.0, 0.1 * pow(1.003, i)));
    assert_true(fabs(margins.sensitivity / largest - 1.0) < 0.001 && margins.sensitivity > 1.2);
    double const there = tunefeedback_sensitivity(&WINDOW, 10.0, margins.sensitivity_hz);
    assert_true(fabs(there / largest - 1.0) < 0.001);
}

/** What docs/tune-feedback.md states of the shipped loop. */
static void test_of_the_shipped_loop(void **state) {
    (void)state;
    struct tunefeedback_margins const margins = tunefeedback_margins(&WINDOW, 1.0);
    assert_true(margins.gain > 50.0 && margins.phase_deg > 88.0 && margins.sensitivity < 1.03);
    assert_true(tunefeedback_sensitivity(&WINDOW, 1.0, 50.0) < 1.02);
    assert_true(tunefeedback_sensitivity(&WINDOW, 1.0, 0.1) < 0.11);
}

static void test_that_a_longer_delay_leaves_less(void **state) {
    (void)state;
    struct tunefeedback_plant longer = WINDOW;
    longer.window_turns *= 4;
    double const margin = tunefeedback_margins(&WINDOW, 5.0).gain;
    assert_true(tunefeedback_margins(&longer, 5.0).gain < margin / 3.0);
    assert_true(fabs(tunefeedback_margins(&WINDOW, 10.0).gain / margin - 0.5) < 0.001);
    assert_true(tunefeedback_margins(&WINDOW, 2.0 * 5.0 * margin).gain < 1.0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_of_an_integral_and_a_delay),
        cmocka_unit_test(test_that_the_peak_is_the_largest_sensitivity),
        cmocka_unit_test(test_of_the_shipped_loop),
        cmocka_unit_test(test_that_a_longer_delay_leaves_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
