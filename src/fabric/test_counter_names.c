// SPDX-License-Identifier: Apache-2.0
/** The names that counters have in C are those of the table, at the places of the enumerations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/counter_names.h"

static void a_counter_has_the_name_of_its_place(void **state) {
    (void)state;
    assert_string_equal(rm_counter_name(RM_COUNTER_SET_PORT, RM_PORT_NOT_IPV4), "not_ipv4");
    assert_string_equal(rm_counter_name(RM_COUNTER_SET_CORE, RM_CORE_BUSY_TICKS), "busy_ticks");
    assert_string_equal(rm_counter_name(RM_COUNTER_SET_STREAM, RM_STREAM_COUNTERS - 1), "turn_out_of_range");
}

static void every_counter_of_every_set_has_a_name_of_its_own(void **state) {
    (void)state;
    assert_int_equal(rm_counter_set_size(RM_COUNTER_SET_RECORDER), RM_RECORDER_COUNTERS);
    for (unsigned set = RM_COUNTER_SET_PORT; set <= RM_COUNTER_SET_RECORDER; ++set) {
        unsigned const size = rm_counter_set_size(set);
        assert_true(size > 0);
        for (unsigned i = 0; i < size; ++i)
            for (unsigned j = 0; j < i; ++j)
                assert_string_not_equal(rm_counter_name(set, i), rm_counter_name(set, j));
    }
}

static void a_set_that_does_not_exist_is_empty(void **state) {
    (void)state;
    assert_int_equal(rm_counter_set_size(0), 0);
    assert_int_equal(rm_counter_set_size(1000), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_counter_has_the_name_of_its_place),
        cmocka_unit_test(every_counter_of_every_set_has_a_name_of_its_own),
        cmocka_unit_test(a_set_that_does_not_exist_is_empty),
    };
    return cmocka_run_group_tests_name("counter names", tests, NULL, NULL);
}
