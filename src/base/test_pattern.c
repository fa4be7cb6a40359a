// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ringmaster/pattern.h>

static void a_pattern_is_the_whole_name(void **state) {
    (void)state;
    assert_true(rm_pattern_matches("a", "a") && rm_pattern_matches("*", "") && rm_pattern_matches("a*c", "abcbc"));
    assert_true(rm_pattern_matches("a**", "a") && rm_pattern_matches("*b*", "abc"));
    assert_true(rm_pattern_matches("ps/*_x", "ps/1_x") && rm_pattern_matches("*", "sr/ps/ch_01"));
    assert_true(rm_pattern_matches("c0?", "c01") && rm_pattern_matches("bpm0[1-3]", "bpm02"));
    assert_false(rm_pattern_matches("a", "ab") || rm_pattern_matches("a*c", "abcb") || rm_pattern_matches("", "a"));
    assert_false(rm_pattern_matches("*b", "abc") || rm_pattern_matches("a*b*", "acd"));
    assert_false(rm_pattern_matches("c0?", "c0") || rm_pattern_matches("bpm0[1-3]", "bpm04"));
}

static void a_name_is_no_pattern(void **state) {
    (void)state;
    assert_true(rm_is_pattern("bpm*/raw") && rm_is_pattern("c0?") && rm_is_pattern("c[1-3]"));
    assert_false(rm_is_pattern("sr/ps/ch_01") || rm_is_pattern(""));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_pattern_is_the_whole_name),
        cmocka_unit_test(a_name_is_no_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
