// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fail.h"

static void expect_text(char const *given, char const *text) {
    struct rm_error error;
    assert_int_equal(rm_fail(&error, RM_E_CONFIG, "%s", given), RM_E_CONFIG);
    assert_int_equal(error.code, RM_E_CONFIG);
    assert_string_equal(error.text, text);
}

static void keeps_what_people_read(void **state) {
    (void)state;
    expect_text("plain", "plain");
    expect_text("two\nlines", "two\nlines");
    expect_text("5 \xc2\xb5m \xc2\xb1 1 \xe2\x80\xa6 \xf0\x9f\x98\x80",
                "5 \xc2\xb5m \xc2\xb1 1 \xe2\x80\xa6 \xf0\x9f\x98\x80");
}

static void masks_what_a_terminal_obeys(void **state) {
    (void)state;
    expect_text("\x1b[2J\x1b]0;title\a", "?[2J?]0;title?");
    expect_text("a\rb\tc\x7f", "a?b?c?");
    expect_text("\xc2\x9b"
                "31m",
                "??31m"); /* CSI as one character of UTF-8 */
    expect_text("\x9b"
                "31m",
                "?31m"); /* and as one byte */
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(keeps_what_people_read),
        cmocka_unit_test(masks_what_a_terminal_obeys),
    };
    return cmocka_run_group_tests_name("fail", tests, NULL, NULL);
}
