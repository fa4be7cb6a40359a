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
    struct stream_ring ring[INPUTS];
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

/** A record that its stream skipped is not waited for: a newer one is there. */
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
    test->inputs.count = 0;
    rm_host_inputs_start(&test->inputs, NULL);
    assert_due(test, 1203, 1200, 0, false);
    assert_false(due(test, 1211));
    assert_due(test, 1212, 1212, 0, false);
    assert_due(test, 1250, 1248, 2, false);
    struct rm_clock_reading const restarted = {.anchored = true, .turn_epoch = 1, .ticks_per_turn = 10.0};
    assert_true(rm_host_inputs_due(&test->inputs, &restarted, tsc_of(25), &test->due));
    assert_int_equal(test->due.turn, 24);
    assert_int_equal(test->due.skipped, 0);
}

/** A clock that ran ahead and is set right: the steps go on with the true turn. A little is jitter, and steps no turn
 * twice. */
static void test_clock_set_back(void **state) {
    struct test *test = *state;
    test->inputs.count = 0;
    rm_host_inputs_start(&test->inputs, NULL);
    assert_due(test, 9600, 9600, 0, false);
    assert_false(due(test, 9599));
    assert_false(due(test, 9570));
    assert_due(test, 1203, 1200, 0, false);
    assert_due(test, 1212, 1212, 0, false);
}

/* ── records as they come ── */

enum { MANY = 40, CYCLES = 200 };

/** Many inputs, and what was told of them. */
struct crowd {
    struct stream_ring ring[MANY];
    struct rm_stream_view view[MANY];
    struct rm_host_inputs inputs;
    struct rm_host_due due;
    uint64_t sum;           /**< of what arrived since the last step */
    unsigned arrived[MANY]; /**< since the last step */
    rm_turn turn;           /**< of what arrived */
    bool mixed;             /**< records of different turns arrived for one step */
    uint64_t random;
};

static void arrive(void *context, uint32_t input, struct rm_record const *record) {
    struct crowd *crowd = context;
    bool first = true;
    for (unsigned i = 0; i < MANY; ++i)
        first = first && crowd->arrived[i] == 0;
    crowd->mixed = crowd->mixed || (!first && record->turn != crowd->turn);
    crowd->turn = record->turn;
    crowd->sum += (uint64_t)record->lane[0].i;
    ++crowd->arrived[input];
}

static int set_up_crowd(void **state) {
    struct crowd *crowd = calloc(1, sizeof *crowd);
    *state = crowd;
    for (unsigned i = 0; crowd != NULL && i < MANY; ++i) {
        if (!test_ring_make(&crowd->ring[i], 1024, 64, PERIOD, 64))
            return -1;
        crowd->ring[i].stream->closing_delay_turns = CLOSING;
        crowd->view[i] = crowd->ring[i].view;
    }
    if (crowd == NULL)
        return -1;
    crowd->random = 4711;
    crowd->inputs = (struct rm_host_inputs){
        .period = PERIOD, .deadline_turns = DEADLINE, .next = RM_TURN_NONE, .arrive = arrive, .context = crowd};
    if (!rm_host_inputs_allocate(&crowd->inputs, MANY))
        return -1;
    rm_host_inputs_start(&crowd->inputs, crowd->view);
    return 0;
}

static int tear_down_crowd(void **state) {
    struct crowd *crowd = *state;
    for (unsigned i = 0; i < MANY; ++i)
        test_ring_free(&crowd->ring[i]);
    rm_host_inputs_free(&crowd->inputs);
    free(crowd);
    return 0;
}

static unsigned random_below(struct crowd *crowd, unsigned limit) {
    crowd->random = crowd->random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((crowd->random >> 33) % limit);
}

static bool collect(struct crowd *crowd, rm_turn clock_turn) {
    return rm_host_inputs_collect(&crowd->inputs, &CLOCK, tsc_of(clock_turn), &crowd->due);
}

static void put_one(struct crowd *crowd, unsigned input, rm_turn turn) {
    struct rm_record const record = {.turn = turn, .lane = {{.i = 1 + (int32_t)input}}};
    rm_stream_writer_put(&crowd->ring[input].writer, &record);
    rm_stream_writer_publish(&crowd->ring[input].writer, 0);
}

/** Those that did not come are missing and did not arrive, the others arrived once; then all is forgotten. */
static void assert_reported(struct crowd *crowd, uint64_t sum, uint32_t missing) {
    assert_false(crowd->mixed);
    assert_int_equal(crowd->due.missing, missing);
    assert_int_equal(crowd->sum, sum);
    for (unsigned i = 0; i < MANY; ++i) {
        assert_int_equal(crowd->arrived[i], crowd->inputs.missing[i] ? 0 : 1);
        crowd->arrived[i] = 0;
    }
    crowd->sum = 0;
}

/** In any order, with looks in between, and now and then with some that never come: each record that came in time
 * arrives once, for its own turn. */
static void test_collects_in_any_order(void **state) {
    struct crowd *crowd = *state;
    unsigned late = 0;
    for (rm_turn turn = 1200; turn < 1200 + CYCLES * PERIOD; turn += PERIOD) {
        unsigned order[MANY];
        for (unsigned i = 0; i < MANY; ++i)
            order[i] = i;
        for (unsigned i = MANY - 1; i > 0; --i) {
            unsigned const k = random_below(crowd, i + 1), swapped = order[i];
            order[i] = order[k];
            order[k] = swapped;
        }
        unsigned const come = turn > 1200 && random_below(crowd, 4) == 0 ? random_below(crowd, MANY) : MANY;
        uint64_t sum = 0;
        bool stepped = false;
        for (unsigned i = 0; i < come; ++i) {
            put_one(crowd, order[i], turn);
            sum += 1 + order[i];
            if (turn > 1200 && i + 1 < come && random_below(crowd, 3) == 0)
                assert_false(collect(crowd, turn + CLOSING));
        }
        stepped = collect(crowd, turn + CLOSING);
        assert_int_equal(stepped, come == MANY);
        if (!stepped) {
            assert_true(collect(crowd, turn + CLOSING + DEADLINE));
            ++late;
        }
        assert_int_equal(crowd->due.turn, turn);
        assert_int_equal(crowd->due.late, come < MANY);
        assert_int_equal(crowd->due.skipped, 0);
        assert_reported(crowd, sum, MANY - come);
    }
    assert_true(late > 10 && late < CYCLES - 10);
}

/** A backlog is skipped whole, but not the turn of which something has arrived already. */
static void test_collects_no_backlog(void **state) {
    struct crowd *crowd = *state;
    for (unsigned i = 0; i < MANY; ++i)
        put_one(crowd, i, 1200);
    assert_true(collect(crowd, 1206));
    assert_reported(crowd, MANY * (MANY + 1) / 2, 0);
    put_one(crowd, 5, 1212);
    assert_false(collect(crowd, 1218));
    for (rm_turn turn = 1212; turn <= 1260; turn += PERIOD)
        for (unsigned i = 0; i < MANY; ++i)
            put_one(crowd, i, turn);
    assert_true(collect(crowd, 1266));
    assert_int_equal(crowd->due.turn, 1212);
    assert_reported(crowd, MANY * (MANY + 1) / 2, 0);
    assert_true(collect(crowd, 1266));
    assert_int_equal(crowd->due.turn, 1260);
    assert_int_equal(crowd->due.skipped, 3);
    assert_reported(crowd, MANY * (MANY + 1) / 2, 0);
    assert_false(collect(crowd, 1266));
}

/** One that is dead costs each step its deadline, and no more: the turns go on. */
static void test_collects_beside_a_dead_one(void **state) {
    struct crowd *crowd = *state;
    for (unsigned i = 0; i < MANY; ++i)
        put_one(crowd, i, 1200);
    assert_true(collect(crowd, 1206));
    assert_reported(crowd, MANY * (MANY + 1) / 2, 0);
    for (rm_turn turn = 1212; turn < 1212 + 20 * PERIOD; turn += PERIOD) {
        for (unsigned i = 1; i < MANY; ++i)
            put_one(crowd, i, turn);
        assert_false(collect(crowd, turn + CLOSING + DEADLINE - 1));
        assert_true(collect(crowd, turn + CLOSING + DEADLINE));
        assert_int_equal(crowd->due.turn, turn);
        assert_true(crowd->inputs.missing[0]);
        assert_int_equal(crowd->inputs.record[0].turn, 1200);
        assert_reported(crowd, MANY * (MANY + 1) / 2 - 1, 1);
    }
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
        cmocka_unit_test_setup_teardown(test_collects_in_any_order, set_up_crowd, tear_down_crowd),
        cmocka_unit_test_setup_teardown(test_collects_no_backlog, set_up_crowd, tear_down_crowd),
        cmocka_unit_test_setup_teardown(test_collects_beside_a_dead_one, set_up_crowd, tear_down_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
