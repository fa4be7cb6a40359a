// SPDX-License-Identifier: Apache-2.0
/** The integral: what it takes away, and how limits shorten a move. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "integrator.h"

static double const MATRIX[2][2] = {{0.003, -0.0002}, {-0.002, 0.0008}};

static struct tunefeedback_integrator integrator_make(void) {
    struct tunefeedback_integrator it = {
        .share = 0.01, .step_a = {1e9, 1e9}, .low_a = {-1e9, -1e9}, .high_a = {1e9, 1e9}};
    assert_true(tunefeedback_invert(MATRIX, it.inverse));
    return it;
}

static void test_a_move_takes_a_share_of_the_error_away(void **state) {
    (void)state;
    struct tunefeedback_integrator const it = integrator_make();
    double const error[2] = {1e-3, -4e-4};
    double move[2];
    assert_false(tunefeedback_move(&it, error, 0.5, move));
    for (int plane = 0; plane < 2; ++plane) {
        double const moved = MATRIX[plane][0] * move[0] + MATRIX[plane][1] * move[1];
        assert_true(fabs(moved / error[plane] - 0.005) < 1e-12);
    }
}

/** Both families are shortened alike, so the planes stay uncoupled. */
static void test_limits_shorten_a_move_and_keep_its_direction(void **state) {
    (void)state;
    struct tunefeedback_integrator it = integrator_make();
    double const error[2] = {1e-3, 0.0}, back[2] = {-1e-3, 0.0};
    double whole[2], move[2];
    tunefeedback_move(&it, error, 1.0, whole);
    it.step_a[1] = fabs(whole[1]) / 4.0;
    assert_false(tunefeedback_move(&it, error, 1.0, move)); /* a step is in the way, not an excursion */
    assert_true(fabs(move[0] - whole[0] / 4.0) < 1e-15 && fabs(move[1] - whole[1] / 4.0) < 1e-15);
    it.offset_a[0] = 1.0;
    it.high_a[0] = 1.0 + whole[0] / 8.0;
    assert_true(tunefeedback_move(&it, error, 1.0, move));
    assert_true(fabs(move[0] - whole[0] / 8.0) < 1e-15 && fabs(move[1] - whole[1] / 8.0) < 1e-15);
    it.offset_a[0] = it.high_a[0];
    assert_true(tunefeedback_move(&it, error, 1.0, move));
    assert_true(move[0] == 0.0 && move[1] == 0.0);
    assert_false(tunefeedback_move(&it, back, 1.0, move)); /* away from the limit is free */
    assert_true(move[0] < 0.0);
}

static void test_families_that_move_both_tunes_alike_are_refused(void **state) {
    (void)state;
    double const alike[2][2] = {{0.003, 0.006}, {-0.002, -0.00401}}, none[2][2] = {{0.0, 1.0}, {0.0, 1.0}};
    double inverse[2][2];
    assert_false(tunefeedback_invert(alike, inverse));
    assert_false(tunefeedback_invert(none, inverse));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_move_takes_a_share_of_the_error_away),
        cmocka_unit_test(test_limits_shorten_a_move_and_keep_its_direction),
        cmocka_unit_test(test_families_that_move_both_tunes_alike_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
