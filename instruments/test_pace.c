// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double const TSC_HZ = 2.6e9;
static uint64_t const START = 1000000;

static void nothing_is_due_before_the_start(void **state) {
    (void)state;
    struct rm_turn_pace pace;
    rm_turn_pace_start(&pace, 1157000, TSC_HZ, START);
    assert_int_equal(rm_turn_pace_due(&pace, START - 1), 0);
    assert_int_equal(rm_turn_pace_due(&pace, START), 1);
}

static void each_turn_is_due_at_its_own_tick(void **state) {
    (void)state;
    struct rm_turn_pace pace;
    rm_turn_pace_start(&pace, 1157000, TSC_HZ, START);
    for (uint64_t n = 1; n < 100000; n += 7) {
        uint64_t const due = rm_turn_pace_tsc(&pace, n);
        assert_int_equal(rm_turn_pace_due(&pace, due + 1), n + 1);
        assert_int_equal(rm_turn_pace_due(&pace, due - 1), n);
    }
}

static void the_rate_holds_over_a_day(void **state) {
    (void)state;
    struct rm_turn_pace pace;
    rm_turn_pace_start(&pace, 1157000, TSC_HZ, START);
    uint64_t const day = (uint64_t)(86400 * TSC_HZ);
    uint64_t const expected = 86400ull * 1157000;
    assert_in_range(rm_turn_pace_due(&pace, START + day), expected, expected + 2);
}

static void without_a_rate_all_turns_are_due(void **state) {
    (void)state;
    struct rm_turn_pace pace;
    rm_turn_pace_start(&pace, 0, TSC_HZ, START);
    assert_int_equal(rm_turn_pace_due(&pace, START), UINT64_MAX);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(nothing_is_due_before_the_start),
        cmocka_unit_test(each_turn_is_due_at_its_own_tick),
        cmocka_unit_test(the_rate_holds_over_a_day),
        cmocka_unit_test(without_a_rate_all_turns_are_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
