// SPDX-License-Identifier: Apache-2.0
/** Rows of an application: which step gives which, what they come with, and that a checksum is of all of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/host_rows.h"

enum { ODD = 5, EVEN = 4, PERIOD = 10 };

static struct rm_rows_shape wanted[3];

static void shape(struct rm_application_setup const *setup, uint32_t which, struct rm_rows_shape *shape) {
    (void)setup;
    *shape = wanted[which];
}

static enum rm_code make(struct rm_host_rows *rows, struct rm_error *error) {
    static struct rm_application_rows const names[3] = {{.name = "odd"}, {.name = "absent"}, {.name = "even"}};
    struct rm_application_code const code = {.rows = names, .row_count = 3, .shape = shape};
    struct rm_application_setup const setup = {.period_turns = PERIOD};
    *rows = (struct rm_host_rows){0};
    enum rm_code const made = rm_host_rows_make(rows, &code, &setup, error);
    if (made == RM_OK)
        rm_host_rows_begin(rows);
    else
        rm_host_rows_free(rows);
    return made;
}

static int set_up(void **state) {
    (void)state;
    wanted[0] = (struct rm_rows_shape){.width = ODD, .depth = 2, .period_steps = 1};
    wanted[1] = (struct rm_rows_shape){.width = 0};
    wanted[2] = (struct rm_rows_shape){.width = EVEN, .depth = 2, .period_steps = 3};
    return 0;
}

static uint32_t sum_of(struct rm_host_rows const *rows) {
    struct rm_checksum sum = rm_checksum_begin();
    rm_host_rows_add(rows, &sum);
    return rm_checksum_end(&sum);
}

static void test_which_are_due(void **state) {
    (void)state;
    struct rm_host_rows rows;
    struct rm_error error;
    assert_int_equal(make(&rows, &error), RM_OK);
    for (rm_turn turn = 0; turn < 100; turn += PERIOD) {
        rm_host_rows_expect(&rows, turn);
        assert_non_null(rows.row[0].value);
        assert_null(rows.row[1].value);
        assert_int_equal(rows.row[2].value != NULL, turn % 30 == 0);
    }
    rm_host_rows_expect(&rows, 0);
    assert_true(isnan(rows.row[0].value[ODD - 1]) && isnan(rows.row[2].value[0]));
    rows.row[0].value[1] = 2.5f;
    rm_host_rows_expect(&rows, PERIOD);
    assert_true(rows.row[0].value[1] == 2.5f); // it comes with what was told last
    rm_host_rows_begin(&rows);
    assert_true(isnan(rows.row[0].value[1]));
    rm_host_rows_free(&rows);
}

static void test_the_checksum(void **state) {
    (void)state;
    struct rm_host_rows rows;
    struct rm_error error;
    assert_int_equal(make(&rows, &error), RM_OK);
    rm_host_rows_expect(&rows, PERIOD);
    uint32_t const before = sum_of(&rows);
    rows.value[2][0] = 1.0f; // not due
    assert_int_equal(sum_of(&rows), before);
    rows.value[0][ODD - 1] = 1.0f;
    uint32_t const changed = sum_of(&rows);
    assert_int_not_equal(changed, before);
    rows.row[0].quality = 3;
    assert_int_not_equal(sum_of(&rows), changed);
    rm_host_rows_free(&rows);
}

static void test_what_is_refused(void **state) {
    (void)state;
    struct rm_host_rows rows;
    struct rm_error error;
    wanted[2].period_steps = 0;
    assert_int_equal(make(&rows, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "rows \"even\""));
    wanted[2].period_steps = 1;
    wanted[0].depth = 0;
    assert_int_equal(make(&rows, &error), RM_E_CONFIG);
    wanted[0].depth = 1;
    wanted[0].width = 1u << 21;
    assert_int_equal(make(&rows, &error), RM_E_CONFIG);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup(test_which_are_due, set_up),
        cmocka_unit_test_setup(test_the_checksum, set_up),
        cmocka_unit_test_setup(test_what_is_refused, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
