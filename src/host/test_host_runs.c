// SPDX-License-Identifier: Apache-2.0
/** Inputs with several records in a step: when a step is due, and which records it is given, also where steps before it
 * were skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fabric/test_ring.h"
#include "host/host_inputs.h"

enum { PERIOD = 12, DEADLINE = 24, INPUTS = 2, OWN = 1, SLOW = 4, CAPACITY = 1024, MARGIN = 64 };

/** Ten ticks are a turn, and turn 0 is at tick 0. */
static struct rm_clock_reading const CLOCK = {.anchored = true, .ticks_per_turn = 10.0, .tsc_hz = 1e7};

/** One input has a record each turn, the other every four. */
struct test {
    struct stream_ring ring[INPUTS];
    struct rm_stream_view view[INPUTS];
    struct rm_host_inputs inputs;
    struct rm_host_runs runs;
    struct rm_host_due due;
};

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    if (!rm_host_runs_open(&test->runs, INPUTS, PERIOD))
        return -1;
    for (unsigned i = 0; i < INPUTS; ++i) {
        if (!test_ring_make(&test->ring[i], CAPACITY, MARGIN, i == 0 ? OWN : SLOW, 64))
            return -1;
        test->view[i] = test->ring[i].view;
        if (!rm_host_runs_make_room(&test->runs, i, test->view[i].header))
            return -1;
    }
    test->inputs = (struct rm_host_inputs){.period = PERIOD, .deadline_turns = DEADLINE, .next = RM_TURN_NONE};
    if (!rm_host_inputs_allocate(&test->inputs, INPUTS))
        return -1;
    rm_host_inputs_start(&test->inputs, test->view);
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    for (unsigned i = 0; i < INPUTS; ++i)
        test_ring_free(&test->ring[i]);
    rm_host_inputs_free(&test->inputs);
    rm_host_runs_close(&test->runs);
    free(test);
    return 0;
}

static void put(struct test *test, unsigned input, rm_turn turn) {
    struct rm_record const record = {.turn = turn, .lane = {{.i = (int32_t)turn + (int32_t)input}}};
    assert_int_equal(rm_stream_writer_put(&test->ring[input].writer, &record), RM_PUT_NEW);
    rm_stream_writer_publish(&test->ring[input].writer, 0);
}

/** Both, up to a turn and with it, but for one turn of the first. */
static void put_turns(struct test *test, rm_turn first, rm_turn last, rm_turn lost) {
    for (rm_turn turn = first; turn <= last; ++turn) {
        if (turn != lost)
            put(test, 0, turn);
        if (turn % SLOW == 0)
            put(test, 1, turn);
    }
}

static bool due(struct test *test, rm_turn clock_turn) {
    return rm_host_inputs_due(&test->inputs, &CLOCK, 10 * clock_turn, &test->due);
}

/** True when a step is due, whose runs are read then. */
static bool step(struct test *test, rm_turn clock_turn) {
    if (!due(test, clock_turn))
        return false;
    rm_host_inputs_read_runs(&test->inputs, &test->runs, &test->due);
    return true;
}

/** The run of an input spans so many steps, that end with `turn`. */
static void assert_run(struct test *test, unsigned input, rm_turn turn, unsigned steps, rm_turn lost) {
    uint64_t const period = test->view[input].period, records = steps * PERIOD / period;
    assert_int_equal(rm_host_runs_turns(&test->runs), steps * PERIOD);
    assert_int_equal(test->runs.run[input].count, records);
    for (uint64_t n = 0; n < records; ++n) {
        rm_turn const expected = turn - steps * PERIOD + (n + 1) * period;
        struct rm_record const *const record = &test->runs.run[input].record[n];
        assert_true(rm_host_runs_turn(&test->runs, input, n) == expected);
        assert_true(record->turn == (expected == lost ? RM_TURN_NONE : expected));
        assert_int_equal(record->lane[0].i, expected == lost ? 0 : (int32_t)expected + (int32_t)input);
    }
}

/** At the step's own turn, though heads are further, and each record is given once. */
static void test_a_step_is_given_all_records_since_the_last(void **state) {
    struct test *test = *state;
    put_turns(test, 1189, 1203, RM_TURN_NONE);
    assert_true(step(test, 1203));
    assert_int_equal(test->due.turn, 1200);
    assert_int_equal(test->due.missing, 0);
    assert_run(test, 0, 1200, 1, RM_TURN_NONE);
    assert_run(test, 1, 1200, 1, RM_TURN_NONE);
    put_turns(test, 1204, 1211, 1207);
    assert_false(step(test, 1211));
    put_turns(test, 1212, 1212, RM_TURN_NONE);
    assert_true(step(test, 1212));
    assert_int_equal(test->due.turn, 1212);
    assert_true(test->due.missing == 0 && test->due.lost == 1);
    assert_run(test, 0, 1212, 1, 1207);
    assert_run(test, 1, 1212, 1, RM_TURN_NONE);
    assert_int_equal(test->inputs.record[0].turn, 1212);
}

/** Their records come with the next step; the last record is missing where its own turn is. */
static void test_skipped_steps_lose_no_records(void **state) {
    struct test *test = *state;
    put_turns(test, 1189, 1200, RM_TURN_NONE);
    assert_true(step(test, 1200));
    put_turns(test, 1201, 1237, 1236);
    assert_true(step(test, 1237));
    assert_int_equal(test->due.turn, 1236);
    assert_int_equal(test->due.skipped, 2);
    assert_int_equal(test->due.missing, 1);
    assert_int_equal(test->due.lost, 1);
    assert_true(test->inputs.missing[0] && !test->inputs.missing[1]);
    assert_int_equal(test->inputs.record[0].turn, 1200);
    assert_run(test, 0, 1236, 3, 1236);
    assert_run(test, 1, 1236, 3, RM_TURN_NONE);
    put_turns(test, 1238, 1248, RM_TURN_NONE);
    assert_true(step(test, 1248));
    assert_int_equal(test->due.lost, 0);
    assert_run(test, 0, 1248, 1, RM_TURN_NONE);
}

/** As many as a run may have, and as the rings still hold; what is before that is counted. */
static void test_what_is_too_long_ago_is_lost(void **state) {
    struct test *test = *state;
    put_turns(test, 1189, 1200, RM_TURN_NONE);
    assert_true(step(test, 1200));
    put_turns(test, 1201, 1200 + 70 * PERIOD, RM_TURN_NONE);
    assert_true(step(test, 1200 + 70 * PERIOD));
    assert_int_equal(test->due.skipped, 69);
    assert_run(test, 0, 1200 + 70 * PERIOD, RM_RUN_STEPS_MAX, RM_TURN_NONE);
    assert_int_equal(test->due.lost, (70 - RM_RUN_STEPS_MAX) * (PERIOD + PERIOD / SLOW));
    /* The rings go on: the one of every turn holds fewer than 80 steps, and of these the last 14 are after the turn. */
    rm_turn const from = 1200 + 70 * PERIOD, turn = from + 62 * PERIOD;
    put_turns(test, from + 1, turn, RM_TURN_NONE);
    assert_true(due(test, turn));
    put_turns(test, turn + 1, turn + 30 * PERIOD, RM_TURN_NONE);
    rm_host_inputs_read_runs(&test->inputs, &test->runs, &test->due);
    enum { HELD = (CAPACITY - MARGIN - PERIOD) / PERIOD - 30 };
    assert_run(test, 0, turn, HELD, RM_TURN_NONE);
    assert_run(test, 1, turn, HELD, RM_TURN_NONE);
    assert_int_equal(test->due.lost, (62 - HELD) * (PERIOD + PERIOD / SLOW));
}

/** All of them are overwritten: the run has its turns, and no record. */
static void test_a_step_that_is_far_too_late_has_none(void **state) {
    struct test *test = *state;
    put_turns(test, 1189, 1200, RM_TURN_NONE);
    assert_true(due(test, 1200));
    put_turns(test, 1201, 1200 + CAPACITY, RM_TURN_NONE);
    rm_host_inputs_read_runs(&test->inputs, &test->runs, &test->due);
    assert_int_equal(rm_host_runs_turns(&test->runs), PERIOD);
    assert_int_equal(rm_host_runs_unfinished(&test->runs.run[0]), PERIOD);
    assert_int_equal(rm_host_runs_unfinished(&test->runs.run[1]), 0);
    assert_int_equal(test->due.missing, 1);
    assert_int_equal(test->due.lost, PERIOD);
}

/** A ring that is shorter than RM_RUN_STEPS_MAX steps bounds the runs, and their memory. */
static void test_a_short_ring_bounds_the_runs(void **state) {
    struct rm_host_runs runs;
    (void)state;
    assert_true(rm_host_runs_open(&runs, 1, PERIOD));
    assert_true(rm_host_runs_make_room(&runs, 0, &(struct rm_stream){.period = 1, .capacity = 128, .margin = 64}));
    assert_int_equal(runs.steps_max, 64 / PERIOD);
    rm_host_runs_close(&runs);
    assert_true(rm_host_runs_open(&runs, 1, PERIOD));
    assert_true(rm_host_runs_make_room(&runs, 0, &(struct rm_stream){.period = 1, .capacity = 8, .margin = 8}));
    assert_int_equal(runs.steps_max, 1);
    rm_host_runs_close(&runs);
    assert_true(rm_host_runs_open(&runs, 1, PERIOD));
    assert_true(rm_host_runs_make_room(&runs, 0, &(struct rm_stream){.period = 1}));
    assert_int_equal(runs.steps_max, RM_RUN_STEPS_MAX);
    rm_host_runs_close(&runs);
}

/** There are no turns before turn 0. */
static void test_begins_at_turn_0(void **state) {
    struct test *test = *state;
    put_turns(test, 0, 3, RM_TURN_NONE);
    assert_true(step(test, 3));
    assert_int_equal(test->due.turn, 0);
    assert_int_equal(test->due.lost, 0);
    for (unsigned n = 0; n + 1 < PERIOD; ++n)
        assert_true(test->runs.run[0].record[n].turn == RM_TURN_NONE);
    assert_int_equal(test->runs.run[0].record[PERIOD - 1].turn, 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_a_step_is_given_all_records_since_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_skipped_steps_lose_no_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_too_long_ago_is_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_step_that_is_far_too_late_has_none, set_up, tear_down),
        cmocka_unit_test(test_a_short_ring_bounds_the_runs),
        cmocka_unit_test_setup_teardown(test_begins_at_turn_0, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
