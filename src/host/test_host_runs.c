// SPDX-License-Identifier: Apache-2.0
/** Inputs with several records in a step: when a step is due, and which records it is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fabric/test_ring.h"
#include "host/host_inputs.h"

enum { PERIOD = 12, DEADLINE = 24, INPUTS = 2, OWN = 1, SLOW = 4 };

/** Ten ticks are a turn, and turn 0 is at tick 0. */
static struct rm_clock_reading const CLOCK = {.anchored = true, .ticks_per_turn = 10.0, .tsc_hz = 1e7};

/** One input has a record each turn, the other every four. */
struct test {
    struct stream_ring ring[INPUTS];
    struct rm_stream_view view[INPUTS];
    struct rm_host_inputs inputs;
    struct rm_host_due due;
};

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    for (unsigned i = 0; i < INPUTS; ++i) {
        if (!test_ring_make(&test->ring[i], 1024, 64, i == 0 ? OWN : SLOW, 64))
            return -1;
        test->view[i] = test->ring[i].view;
    }
    test->inputs = (struct rm_host_inputs){.period = PERIOD, .deadline_turns = DEADLINE, .next = RM_TURN_NONE};
    if (!rm_host_inputs_allocate(&test->inputs, INPUTS) || !rm_host_inputs_allocate_runs(&test->inputs))
        return -1;
    rm_host_inputs_start(&test->inputs, test->view);
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    for (unsigned i = 0; i < INPUTS; ++i)
        test_ring_free(&test->ring[i]);
    rm_host_inputs_free(&test->inputs);
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

static void assert_run(struct test *test, unsigned input, rm_turn turn, rm_turn lost) {
    uint64_t const period = test->view[input].period, records = PERIOD / period;
    for (uint64_t n = 0; n < records; ++n) {
        rm_turn const expected = turn - PERIOD + (n + 1) * period;
        struct rm_record const *const record = &test->inputs.run[input][n];
        assert_true(record->turn == (expected == lost ? RM_TURN_NONE : expected));
        assert_int_equal(record->lane[0].i, expected == lost ? 0 : (int32_t)expected + (int32_t)input);
    }
}

/** At the step's own turn, though heads are further, and each record is given once. */
static void test_a_step_is_given_all_records_since_the_last(void **state) {
    struct test *test = *state;
    put_turns(test, 1189, 1203, RM_TURN_NONE);
    assert_true(due(test, 1203));
    assert_int_equal(test->due.turn, 1200);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1200), 0);
    assert_run(test, 0, 1200, RM_TURN_NONE);
    assert_run(test, 1, 1200, RM_TURN_NONE);
    put_turns(test, 1204, 1211, 1207);
    assert_false(due(test, 1211));
    put_turns(test, 1212, 1212, RM_TURN_NONE);
    assert_true(due(test, 1212));
    assert_int_equal(test->due.turn, 1212);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1212), 0);
    assert_run(test, 0, 1212, 1207);
    assert_run(test, 1, 1212, RM_TURN_NONE);
    assert_int_equal(test->inputs.record[0].turn, 1212);
}

/** Of steps that are skipped no records are given; the last record is missing where its own turn is. */
static void test_skipped_steps_give_no_records(void **state) {
    struct test *test = *state;
    put_turns(test, 1189, 1200, RM_TURN_NONE);
    assert_true(due(test, 1200));
    put_turns(test, 1201, 1237, 1236);
    assert_true(due(test, 1237));
    assert_int_equal(test->due.turn, 1236);
    assert_int_equal(test->due.skipped, 2);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1236), 1);
    assert_true(test->inputs.missing[0] && !test->inputs.missing[1]);
    assert_run(test, 0, 1236, 1236);
    assert_run(test, 1, 1236, RM_TURN_NONE);
}

/** There are no turns before turn 0. */
static void test_begins_at_turn_0(void **state) {
    struct test *test = *state;
    put_turns(test, 0, 3, RM_TURN_NONE);
    assert_true(due(test, 3));
    assert_int_equal(test->due.turn, 0);
    rm_host_inputs_read(&test->inputs, 0);
    for (unsigned n = 0; n < PERIOD; ++n)
        assert_true(test->inputs.run[0][n].turn == RM_TURN_NONE);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_a_step_is_given_all_records_since_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_skipped_steps_give_no_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_begins_at_turn_0, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
