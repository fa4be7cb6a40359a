// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double const TSC_HZ = 1e9;
static uint64_t const MS = 1000000;
static uint64_t const START = 5000;

static struct rm_window_news const nothing;

static struct rm_window window_of(double rate_hz, double warm_up_s, double seconds) {
    struct rm_window window;
    struct rm_window_plan const plan = {TSC_HZ, rate_hz, warm_up_s, seconds, .idle_s = 5};
    rm_window_start(&window, &plan, START);
    return window;
}

/** Cycles come at 1 kHz, from `first` to before `end`, and are looked at; returns when the last came. */
static uint64_t come(struct rm_window *window, uint64_t first, uint64_t end) {
    uint64_t tsc = START;
    for (uint64_t cycle = first; cycle < end; ++cycle) {
        tsc = START + (cycle + 1) * MS;
        rm_window_take(window, cycle, tsc);
        (void)rm_window_look(window, &nothing, tsc);
    }
    return tsc;
}

static void with_a_known_rate_the_window_is_known_at_the_first_datagram(void **state) {
    (void)state;
    struct rm_window window = window_of(1000, 0.2, 1);
    come(&window, 37, 38);
    assert_int_equal(window.range.begin, 237);
    assert_int_equal(window.range.end, 1237);
    assert_int_equal(window.state, RM_WINDOW_WARMING);
    come(&window, 38, 238);
    assert_int_equal(window.state, RM_WINDOW_COUNTING);
    come(&window, 238, 1237);
    assert_int_equal(window.state, RM_WINDOW_DRAINING);
    assert_int_equal(window.range.end, 1237);
}

static void without_a_rate_the_clock_makes_the_window(void **state) {
    (void)state;
    struct rm_window window = window_of(0, 0.2, 1);
    come(&window, 0, 1000);
    assert_in_range(window.range.begin, 200, 203);
    assert_int_equal(window.state, RM_WINDOW_COUNTING);
    come(&window, 1000, 1300);
    assert_int_equal(window.state, RM_WINDOW_DRAINING);
    assert_in_range(window.range.end - window.range.begin, 999, 1003);
}

static void a_slower_sender_ends_by_the_clock(void **state) {
    (void)state;
    struct rm_window window = window_of(10000, 0, 1); /* it was said to be ten times as fast */
    come(&window, 0, 3000);
    assert_int_equal(window.state, RM_WINDOW_DRAINING);
    assert_in_range(window.range.end, 2495, 2510);
}

static void it_closes_when_all_instruments_are_over(void **state) {
    (void)state;
    struct rm_window window = window_of(1000, 0, 0.1);
    uint64_t const last = come(&window, 0, 120);
    struct rm_window_news const over = {.over = true};
    assert_true(rm_window_look(&window, &nothing, last + 1));
    assert_false(rm_window_look(&window, &over, last + 1));
    assert_int_equal(window.state, RM_WINDOW_CLOSED);
    assert_false(window.idle);
    assert_int_equal(window.range.end, 100);
}

static void stragglers_are_waited_for_but_not_for_ever(void **state) {
    (void)state;
    struct rm_window window = window_of(1000, 0, 0.1);
    uint64_t const last = come(&window, 0, 120);
    assert_true(rm_window_look(&window, &nothing, last + 490 * MS));
    assert_false(rm_window_look(&window, &nothing, last + 510 * MS));
    assert_false(window.idle);
    window = window_of(1000, 0, 0.1);
    come(&window, 0, 1500); /* one goes on and on, the other is silent */
    assert_int_equal(window.state, RM_WINDOW_DRAINING);
    come(&window, 1500, 2200);
    assert_int_equal(window.state, RM_WINDOW_CLOSED);
    assert_int_equal(window.range.end, 100);
}

static void a_sender_that_ends_early_ends_the_window(void **state) {
    (void)state;
    struct rm_window window = window_of(1000, 0, 1);
    uint64_t const last = come(&window, 0, 300);
    struct rm_window_news const ended = {.ended = true}, over = {.ended = true, .over = true};
    assert_true(rm_window_look(&window, &ended, last + MS));
    assert_false(rm_window_look(&window, &over, last + 2 * MS));
    assert_int_equal(window.range.end, 300);
    assert_false(window.idle);
}

static void silence_ends_it_and_is_reported(void **state) {
    (void)state;
    struct rm_window window = window_of(1000, 0, 1);
    assert_true(rm_window_look(&window, &nothing, START + 4990 * MS));
    assert_false(rm_window_look(&window, &nothing, START + 5010 * MS));
    assert_true(window.idle);
    window = window_of(1000, 0, 1);
    uint64_t const last = come(&window, 0, 300);
    assert_true(rm_window_look(&window, &nothing, last + 4990 * MS));
    assert_false(rm_window_look(&window, &nothing, last + 5010 * MS));
    assert_true(window.idle);
    assert_int_equal(window.range.end, 300);
}

static void a_request_to_stop_ends_it_with_whole_cycles(void **state) {
    (void)state;
    struct rm_window_news const stop = {.stop = true}, over = {.stop = true, .over = true};
    struct rm_window window = window_of(1000, 0, 1);
    assert_false(rm_window_look(&window, &stop, START + MS)); /* nothing came yet */
    window = window_of(1000, 0, 1);
    uint64_t const last = come(&window, 0, 300);
    assert_true(rm_window_look(&window, &stop, last + 1)); /* the rest of cycle 299 is on its way */
    assert_int_equal(window.range.end, 300);
    assert_false(rm_window_look(&window, &over, last + 2));
    window = window_of(1000, 0.5, 1);
    come(&window, 0, 300);
    assert_false(rm_window_look(&window, &stop, last + 1)); /* still warming up */
    assert_true(window.range.end <= window.range.begin);
}

static void a_gap_may_be_as_long_as_the_timeout(void **state) {
    (void)state;
    struct rm_window window = window_of(1, 0, 10);
    for (uint64_t cycle = 0; cycle < 9; ++cycle) {
        rm_window_take(&window, cycle, START + cycle * 1000 * MS);
        assert_true(rm_window_look(&window, &nothing, START + cycle * 1000 * MS + 999 * MS));
    }
    assert_int_equal(window.state, RM_WINDOW_COUNTING);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(with_a_known_rate_the_window_is_known_at_the_first_datagram),
        cmocka_unit_test(without_a_rate_the_clock_makes_the_window),
        cmocka_unit_test(a_slower_sender_ends_by_the_clock),
        cmocka_unit_test(it_closes_when_all_instruments_are_over),
        cmocka_unit_test(stragglers_are_waited_for_but_not_for_ever),
        cmocka_unit_test(a_sender_that_ends_early_ends_the_window),
        cmocka_unit_test(silence_ends_it_and_is_reported),
        cmocka_unit_test(a_request_to_stop_ends_it_with_whole_cycles),
        cmocka_unit_test(a_gap_may_be_as_long_as_the_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
