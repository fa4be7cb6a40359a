// SPDX-License-Identifier: Apache-2.0
/** Which turn is due: by inputs, by deadlines, by the clock alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fabric/test_ring.h"
#include "host/host_inputs.h"

enum { PERIOD = 12, DEADLINE = 24, CLOSING = 6, INPUTS = 2 };

/** Ten ticks are a turn, and turn 0 is at tick 0. */
static struct rm_clock_reading const CLOCK = {.anchored = true, .ticks_per_turn = 10.0, .tsc_hz = 1e7};

static uint64_t tsc_of(rm_turn turn) { return 10 * turn; }

struct test {
    struct test_ring ring[INPUTS];
    struct rm_stream_view view[INPUTS];
    struct rm_host_inputs inputs;
    struct rm_host_due due;
};

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    *state = test;
    for (unsigned i = 0; test != NULL && i < INPUTS; ++i) {
        if (!test_ring_make(&test->ring[i], 1024, 64, PERIOD, 64))
            return -1;
        test->ring[i].stream->closing_delay_turns = CLOSING - 0.5;
        test->view[i] = test->ring[i].view;
    }
    if (test == NULL)
        return -1;
    test->inputs = (struct rm_host_inputs){.period = PERIOD, .deadline_turns = DEADLINE};
    return rm_host_inputs_start(&test->inputs, test->view, INPUTS) ? 0 : -1;
}

static int tear_down(void **state) {
    struct test *test = *state;
    for (unsigned i = 0; i < INPUTS; ++i)
        test_ring_free(&test->ring[i]);
    rm_host_inputs_free(&test->inputs);
    free(test);
    return 0;
}

static void put(struct test *test, unsigned input, rm_turn turn, int32_t value) {
    struct rm_record const record = {.turn = turn, .lane = {{.i = value}}};
    assert_int_equal(rm_stream_writer_put(&test->ring[input].writer, &record), RM_PUT_NEW);
    rm_stream_writer_publish(&test->ring[input].writer, 0);
}

static bool due(struct test *test, rm_turn clock_turn) {
    return rm_host_inputs_due(&test->inputs, &CLOCK, tsc_of(clock_turn), &test->due);
}

static void assert_due(struct test *test, rm_turn clock_turn, rm_turn turn, uint64_t skipped, bool late) {
    assert_true(due(test, clock_turn));
    assert_int_equal(test->due.turn, turn);
    assert_int_equal(test->due.skipped, skipped);
    assert_int_equal(test->due.late, late);
}

/** Begins both inputs at turn 1200, and steps there. */
static void begin(struct test *test) {
    put(test, 0, 1200, 1);
    put(test, 1, 1200, 2);
    assert_due(test, 1206, 1200, 0, false);
}

static void test_waits_for_the_last_input(void **state) {
    struct test *test = *state;
    begin(test);
    assert_false(due(test, 1206));
    put(test, 1, 1212, 4);
    assert_false(due(test, 1218));
    put(test, 0, 1212, 3);
    assert_due(test, 1218, 1212, 0, false);
    assert_false(due(test, 1218));
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1212), 0);
    assert_int_equal(test->inputs.record[0].lane[0].i, 3);
    assert_int_equal(test->inputs.record[1].lane[0].i, 4);
}

/** The deadline counts from when the clock expects the record: its turn and what its filter takes to close. */
static void test_deadline(void **state) {
    struct test *test = *state;
    begin(test);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1200), 0);
    put(test, 0, 1212, 3);
    assert_false(due(test, 1212 + CLOSING + DEADLINE - 1));
    assert_due(test, 1212 + CLOSING + DEADLINE, 1212, 0, true);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1212), 1);
    assert_false(test->inputs.missing[0]);
    assert_true(test->inputs.missing[1]);
    assert_int_equal(test->inputs.record[1].turn, 1200);
    assert_int_equal(test->inputs.record[1].lane[0].i, 2);
    /* What comes too late makes no second step of its turn. */
    put(test, 1, 1212, 4);
    assert_false(due(test, 1212 + CLOSING + DEADLINE));
}

/** A record that its stream passed over is not waited for: a newer one is there. */
static void test_lost_record(void **state) {
    struct test *test = *state;
    begin(test);
    put(test, 0, 1212, 3);
    put(test, 0, 1224, 5);
    put(test, 1, 1224, 6); // 1212 of this one never comes
    assert_due(test, 1230, 1224, 1, false);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1212), 1);
    assert_true(test->inputs.missing[1]);
    assert_int_equal(rm_host_inputs_read(&test->inputs, 1224), 0);
}

static void test_no_backlog(void **state) {
    struct test *test = *state;
    begin(test);
    for (rm_turn turn = 1212; turn <= 1260; turn += PERIOD) {
        put(test, 0, turn, 1);
        put(test, 1, turn, 1);
    }
    assert_due(test, 1266, 1260, 4, false);
    assert_false(due(test, 1266));
}

/** Without a clock there are no deadlines, and inputs make turns due all the same. */
static void test_without_a_clock(void **state) {
    struct test *test = *state;
    struct rm_clock_reading const none = {.anchored = false};
    put(test, 0, 1200, 1);
    assert_false(rm_host_inputs_due(&test->inputs, &none, tsc_of(9999), &test->due));
    put(test, 1, 1200, 1);
    assert_true(rm_host_inputs_due(&test->inputs, &none, tsc_of(9999), &test->due));
    assert_int_equal(test->due.turn, 1200);
}

static void test_restarted_counter(void **state) {
    struct test *test = *state;
    begin(test);
    for (unsigned i = 0; i < INPUTS; ++i)
        rm_stream_writer_restart(&test->ring[i].writer);
    assert_false(due(test, 3));
    put(test, 0, 12, 7);
    put(test, 1, 12, 8);
    assert_due(test, 18, 12, 0, false);
}

static void test_clock_alone(void **state) {
    struct test *test = *state;
    assert_true(rm_host_inputs_start(&test->inputs, NULL, 0));
    assert_due(test, 1203, 1200, 0, false);
    assert_false(due(test, 1211));
    assert_due(test, 1212, 1212, 0, false);
    assert_due(test, 1250, 1248, 2, false);
    struct rm_clock_reading const restarted = {.anchored = true, .machine_epoch = 1, .ticks_per_turn = 10.0};
    assert_true(rm_host_inputs_due(&test->inputs, &restarted, tsc_of(25), &test->due));
    assert_int_equal(test->due.turn, 24);
    assert_int_equal(test->due.skipped, 0);
}

/** A clock that ran ahead and is set right: the steps go on with the true turn. A little is jitter, and steps no turn
 * twice. */
static void test_clock_set_back(void **state) {
    struct test *test = *state;
    assert_true(rm_host_inputs_start(&test->inputs, NULL, 0));
    assert_due(test, 9600, 9600, 0, false);
    assert_false(due(test, 9599));
    assert_false(due(test, 9570));
    assert_due(test, 1203, 1200, 0, false);
    assert_due(test, 1212, 1212, 0, false);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_waits_for_the_last_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deadline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_backlog, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_a_clock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_restarted_counter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_clock_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_clock_set_back, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
