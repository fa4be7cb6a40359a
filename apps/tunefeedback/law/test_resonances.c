// SPDX-License-Identifier: Apache-2.0
/** Which tunes may be asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "resonances.h"

static struct tunefeedback_resonances const MARGIN = {.integer = 0.02, .half = 0.03, .coupling = 0.01};
static char why[256];

static bool allows(double x, double y, double const *from) {
    double const tune[2] = {x, y};
    return tunefeedback_resonances_allow(&MARGIN, tune, from, why, sizeof why);
}

static void test_targets_keep_clear_of_lines(void **state) {
    (void)state;
    assert_true(allows(0.3, 0.17, NULL) && allows(0.02, 0.4699, NULL));
    assert_false(allows(0.019, 0.17, NULL));
    assert_non_null(strstr(why, "x: 0.019 is 0.019 from the integer resonance at 0"));
    assert_false(allows(0.3, 0.471, NULL));
    assert_non_null(strstr(why, "y: 0.471 is 0.029 from the half-integer resonance"));
    assert_false(allows(0.205, 0.2, NULL));
    assert_non_null(strstr(why, "coupling resonance"));
    assert_false(allows(0.52, 0.2, NULL) || allows(-0.1, 0.2, NULL));
}

static void test_the_way_does_not_cross_the_coupling_line(void **state) {
    (void)state;
    double const from[2] = {0.3, 0.17}, other[2] = {0.16, 0.3};
    assert_true(allows(0.25, 0.2, from));
    assert_false(allows(0.2, 0.25, from));
    assert_non_null(strstr(why, "from x 0.3, y 0.17 to x 0.2, y 0.25 crosses"));
    assert_true(allows(0.2, 0.25, other));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_targets_keep_clear_of_lines),
        cmocka_unit_test(test_the_way_does_not_cross_the_coupling_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
