// SPDX-License-Identifier: Apache-2.0
/** Another unit and back: straight lines, curves, what lies outside, and what cannot be gone back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/parameter.h>

enum { PLACES = 2001 };

static struct rm_limits within(double low, double high) {
    return (struct rm_limits){.control_low = low, .control_high = high};
}

/** Goes there and back all over the range. Back must be as near as the polynomial can tell: no neighbour misses less.
 */
static void assert_goes_back(struct rm_conversion const *conversion, double low, double high) {
    struct rm_limits const limits = within(low, high);
    assert_true(rm_conversion_is_good(conversion, &limits));
    for (int i = 0; i < PLACES; ++i) {
        double const value = i == PLACES - 1 ? high : low + (high - low) * i / (PLACES - 1);
        double const other = rm_convert(conversion, value);
        double const back = rm_convert_back(conversion, &limits, other);
        assert_true(back >= low && back <= high);
        double const missed = fabs(rm_convert(conversion, back) - other);
        double const above = fabs(rm_convert(conversion, fmin(nextafter(back, INFINITY), high)) - other);
        double const below = fabs(rm_convert(conversion, fmax(nextafter(back, -INFINITY), low)) - other);
        if (missed > 2.0 * fmax(fabs(other), fabs(conversion->c[0])) * 0x1p-52 && (above < missed || below < missed))
            fail_msg("%.17g → %.17g → %.17g", value, other, back);
    }
}

static void test_there_and_back(void **state) {
    (void)state;
    struct rm_conversion const conversions[] = {
        {.unit = "µrad", .c = {0.0, 12.5, 0.0, 0.0}}, {.unit = "µrad", .c = {1.0, -12.5, 0.0, 0.0}},
        {.unit = "T", .c = {0.1, 2.0, 0.3, 0.0}},     {.unit = "T", .c = {0.1, -2.0, -0.01, 0.001}},
        {.unit = "T", .c = {0.0, 1.0, 0.0, -0.0025}}, {.unit = "T", .c = {0.0, 0.0, 0.0, 1.0}},
        {.unit = "T", .c = {1e9, 1e-3, 1e-9, 1e-12}},
    };
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; ++i)
        assert_goes_back(&conversions[i], i == 2 ? -3.0 : -10.0, 10.0);
    assert_goes_back(&(struct rm_conversion){.unit = "T", .c = {0.0, 0.0, 1.0, 0.0}}, 0.0, 1e150);
    assert_goes_back(&(struct rm_conversion){.unit = "T", .c = {0.0, 0.0, 1.0, 0.0}}, 1e-150, 1.0);
}

static void test_lines_are_exact(void **state) {
    (void)state;
    struct rm_conversion const conversion = {.unit = "µrad", .c = {0.0, 12.5, 0.0, 0.0}};
    struct rm_limits const none = within(NAN, NAN);
    assert_true(rm_convert(&conversion, 8.0) == 100.0);
    assert_true(rm_convert_back(&conversion, &none, 100.0) == 8.0);
    assert_true(rm_convert_back(&conversion, &none, 1e30) == 8e28);
    struct rm_limits const above = within(2.0, NAN);
    assert_true(isnan(rm_convert_back(&conversion, &above, 24.9)));
    assert_true(rm_convert_back(&conversion, &above, 1e6) == 8e4);
}

static void test_outside(void **state) {
    (void)state;
    struct rm_conversion const conversions[] = {{.unit = "T", .c = {0.0, 2.0, 0.0, 0.0}},
                                                {.unit = "T", .c = {0.0, -2.0, 0.0, 0.0}},
                                                {.unit = "T", .c = {0.0, 2.0, 0.01, 0.0}},
                                                {.unit = "T", .c = {0.0, -2.0, 0.01, 0.0}}};
    struct rm_limits const limits = within(-10.0, 10.0);
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; ++i) {
        double const ends[] = {rm_convert(&conversions[i], -10.0), rm_convert(&conversions[i], 10.0)};
        assert_true(rm_convert_back(&conversions[i], &limits, ends[0]) == -10.0);
        assert_true(rm_convert_back(&conversions[i], &limits, ends[1]) == 10.0);
        assert_true(isnan(rm_convert_back(&conversions[i], &limits, nextafter(fmax(ends[0], ends[1]), INFINITY))));
        assert_true(isnan(rm_convert_back(&conversions[i], &limits, nextafter(fmin(ends[0], ends[1]), -INFINITY))));
        assert_true(isnan(rm_convert_back(&conversions[i], &limits, INFINITY)));
        assert_true(isnan(rm_convert_back(&conversions[i], &limits, NAN)));
    }
}

static void test_none(void **state) {
    (void)state;
    struct rm_conversion const none = {.unit = "", .c = {5.0, 5.0, 5.0, 5.0}};
    struct rm_limits const limits = within(NAN, NAN);
    assert_true(rm_conversion_is_good(&none, &limits));
    assert_true(rm_convert(&none, 3.0) == 3.0);
    assert_true(rm_convert_back(&none, &limits, 3.0) == 3.0);
}

static void test_what_cannot_go_back(void **state) {
    (void)state;
    struct rm_limits const limits = within(-10.0, 10.0), none = within(NAN, NAN), one = within(NAN, 10.0);
    struct rm_conversion const flat = {.unit = "T", .c = {1.0, 0.0, 0.0, 0.0}};
    struct rm_conversion const parabola = {.unit = "T", .c = {0.0, 0.0, 1.0, 0.0}};
    struct rm_conversion const bump = {.unit = "T", .c = {0.0, 1.0, 0.0, -0.1}}; // falls, rises, falls
    struct rm_conversion const curve = {.unit = "T", .c = {0.0, 1.0, 0.001, 0.0}};
    struct rm_conversion const nan = {.unit = "T", .c = {NAN, 1.0, 0.0, 0.0}};
    assert_false(rm_conversion_is_good(&flat, &limits));
    assert_false(rm_conversion_is_good(&parabola, &limits));
    assert_false(rm_conversion_is_good(&bump, &limits));
    assert_true(rm_conversion_is_good(&curve, &limits));
    assert_false(rm_conversion_is_good(&curve, &none));
    assert_false(rm_conversion_is_good(&curve, &one));
    assert_false(rm_conversion_is_good(&nan, &limits));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_lines_are_exact),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_what_cannot_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
