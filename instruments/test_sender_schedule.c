// SPDX-License-Identifier: Apache-2.0
/** Which reading comes next behind turns that a late sender left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sender_schedule.h"

enum { FIRST = 1000 /**< turn of the run's turn 0 */ };

static void assert_next(struct rm_sender_schedule const *schedule, uint64_t fast, uint64_t slow) {
    assert_int_equal(schedule->section[0].next, fast);
    assert_int_equal(schedule->section[1].next, slow);
}

/** Of periods 10 and 120: readings of the run at 0, 10, 20 … and 80, 200, 320 … */
static void a_reading_that_is_not_too_late_is_not_left_out(void **state) {
    struct rm_section sections[] = {{.period = 10}, {.period = 120}};
    struct rm_sender_schedule schedule = {.first_turn = FIRST, .count = 2, .section = sections};
    (void)state;
    rm_schedule_seek_late(&schedule, 205, 100);
    assert_next(&schedule, 200, 200);
    rm_schedule_seek_late(&schedule, 300, 100);
    assert_next(&schedule, 290, 200);
    rm_schedule_seek_late(&schedule, 301, 100);
    assert_next(&schedule, 300, 320);
    rm_schedule_seek_late(&schedule, 205, 4);
    assert_next(&schedule, 210, 320);
    rm_schedule_seek_late(&schedule, 200, 0);
    assert_next(&schedule, 200, 200);
    rm_schedule_seek_late(&schedule, 5, 100);
    assert_next(&schedule, 0, 80);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_reading_that_is_not_too_late_is_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
