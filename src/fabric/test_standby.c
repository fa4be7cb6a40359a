// SPDX-License-Identifier: Apache-2.0
/** What two servers tell each other, and states of applications: written, looked at, copied, and found by a successor.
 */
#include "fabric/test_segment_steps.h"

#include <pthread.h>
#include <unistd.h>

#include <ringmaster/owner.h>

#include "fabric/standby_writer.h"

static struct rm_standby_state_reading const STATE = {
    .role = RM_STANDBY_ACTIVE,
    .reason = RM_STANDBY_TOOK_OVER,
    .term = 7,
    .highest_term = 8,
    .turn = 1200,
    .since_turn = 600,
    .instance = 0x12345678,
    .with_us = 5,
    .unacknowledged = true,
    .swap_cycles = 5,
    .switch_turn = RM_TURN_NONE,
    .since_tai_ns = 99,
};

static struct rm_standby_orders_reading const ORDERS = {
    .synchronised = true,
    .hold = true,
    .refused = true,
    .peer_unacknowledged = true,
    .synchronised_turn = 1188,
    .acknowledged = 2,
    .switch_turn = 2400,
    .peer_role = RM_STANDBY_READY + 1,
    .peer_term = 6,
    .peer_turn = 1176,
    .beat = 31,
    .planned_only = true,
};

static void test_state_is_looked_at(void **state) {
    struct segment_test *test = *state;
    struct rm_standby_state_reading seen = {.term = 99};
    start_server(test);
    struct rm_standby_state *const object = memory(test, test->owner.standby_state);
    assert_int_equal(object->server, 2);
    assert_false(rm_standby_state_look(object, &seen)); // nothing was written
    rm_standby_state_publish(object, &STATE);
    assert_true(rm_standby_state_look(object, &seen));
    assert_true(seen.role == STATE.role && seen.reason == STATE.reason && seen.term == 7 && seen.highest_term == 8);
    assert_true(seen.turn == 1200 && seen.since_turn == 600 && seen.instance == STATE.instance && seen.with_us == 5);
    assert_true(seen.unacknowledged && seen.swap_cycles == 5 && seen.switch_turn == RM_TURN_NONE);
    assert_int_equal(seen.since_tai_ns, 99);
    atomic_fetch_add(&object->sequence, 1); // the writer is inside
    assert_false(rm_standby_state_look(object, &seen));
}

static void test_orders_are_looked_at(void **state) {
    struct segment_test *test = *state;
    struct rm_standby_orders_reading seen = {.beat = 99};
    start_server(test);
    struct rm_standby_orders *const object = memory(test, test->owner.standby_orders);
    assert_false(rm_standby_orders_look(object, &seen));
    rm_standby_orders_publish(object, &ORDERS);
    assert_true(rm_standby_orders_look(object, &seen));
    assert_true(seen.synchronised && seen.hold && seen.refused && seen.peer_unacknowledged);
    assert_true(seen.synchronised_turn == 1188 && seen.acknowledged == 2 && seen.switch_turn == 2400);
    assert_true(seen.peer_role == RM_STANDBY_READY + 1 && seen.peer_term == 6 && seen.peer_turn == 1176);
    assert_true(seen.beat == 31 && seen.planned_only);
    atomic_fetch_add(&object->sequence, 1);
    assert_false(rm_standby_orders_look(object, &seen));
}

static void put_state(struct rm_state *object, char const *bytes, rm_turn turn) {
    memcpy(rm_state_begin(object), bytes, strlen(bytes));
    rm_state_commit(object,
                    &(struct rm_state_reading){.turn = turn, .steps = 4, .bytes = strlen(bytes), .checksum = 17});
}

static void test_application_state_is_copied(void **state) {
    struct segment_test *test = *state;
    struct rm_state_reading seen;
    char bytes[32] = "";
    start_server(test);
    struct rm_state *const object = memory(test, test->owner.state);
    assert_int_equal(object->capacity, 104); // 100, in words
    assert_false(rm_state_copy(object, bytes, sizeof bytes, &seen));
    put_state(object, "thirteen byte", 120);
    assert_true(rm_state_copy(object, bytes, sizeof bytes, &seen));
    assert_string_equal(bytes, "thirteen byte");
    assert_true(seen.turn == 120 && seen.steps == 4 && seen.bytes == 13 && seen.checksum == 17);
    assert_false(rm_state_copy(object, bytes, 12, &seen)); // one byte too little room
    atomic_store(&object->bytes, UINT64_MAX);              // as a stranger may write
    assert_false(rm_state_copy(object, bytes, sizeof bytes, &seen));
}

enum { ROUNDS = 20000, WORDS = 12 };

static void *write_states(void *argument) {
    for (uint64_t round = 1; round <= ROUNDS; ++round) {
        _Atomic uint64_t *const word = rm_state_begin(argument);
        for (int i = 0; i < WORDS; ++i)
            atomic_store_explicit(&word[i], round, memory_order_relaxed);
        rm_state_commit(argument, &(struct rm_state_reading){.turn = round, .bytes = 8 * WORDS});
    }
    return NULL;
}

static void test_no_copy_is_of_two_states(void **state) {
    struct segment_test *test = *state;
    struct rm_state_reading seen = {.turn = 0};
    uint64_t word[WORDS];
    pthread_t writer;
    start_server(test);
    struct rm_state *const object = memory(test, test->owner.state);
    assert_int_equal(pthread_create(&writer, NULL, write_states, object), 0);
    while (seen.turn < ROUNDS)
        if (rm_state_copy(object, word, sizeof word, &seen))
            for (int i = 0; i < WORDS; ++i)
                assert_int_equal(word[i], seen.turn);
    pthread_join(writer, NULL);
}

static void leave_something(struct segment_test *test) {
    start_server(test);
    rm_standby_state_publish(memory(test, test->owner.standby_state), &STATE);
    rm_standby_orders_publish(memory(test, test->owner.standby_orders), &ORDERS);
    put_state(memory(test, test->owner.state), "of another life", 120);
}

static void test_a_successor_begins_with_nothing(void **state) {
    struct segment_test *test = *state;
    char bytes[32];
    kill_owner(fork_owner(test, leave_something));
    start_server(test);
    assert_true(test->segment.adopted);
    assert_int_equal(((struct rm_standby_state *)memory(test, test->owner.standby_state))->server, 2);
    assert_false(rm_standby_state_look(memory(test, test->owner.standby_state), &(struct rm_standby_state_reading){0}));
    assert_int_equal(((struct rm_standby_state *)memory(test, test->owner.standby_state))->unacknowledged, 1);
    assert_false(
        rm_standby_orders_look(memory(test, test->owner.standby_orders), &(struct rm_standby_orders_reading){0}));
    assert_false(rm_state_copy(memory(test, test->owner.state), bytes, sizeof bytes, &(struct rm_state_reading){0}));
}

static void test_an_owner_has_them(void **state) {
    struct segment_test *test = *state;
    struct rm_owner *owner = NULL;
    start_server(test);
    assert_ok(rm_owner_new("demo", "standby", &owner, &test->error), &test->error);
    rm_owner_index const orders = rm_owner_standby_orders(owner, "standby/orders", "orders of the other");
    rm_owner_index const kept = rm_owner_state(owner, "peer/state/ramp", "the peer's state", 9);
    assert_ok(rm_owner_open(owner, &test->error), &test->error);
    rm_standby_orders_publish(rm_owner_memory(owner, orders), &ORDERS);
    put_state(rm_owner_memory(owner, kept), "a", 1);
    rm_owner_close(owner);
}

static void test_a_state_without_room_is_refused(void **state) {
    (void)state;
    struct rm_segment_plan plan;
    struct rm_error error;
    rm_plan_init(&plan);
    rm_plan_state(&plan, "state/ramp", "", 0);
    assert_int_equal(rm_plan_check(&plan, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "state \"state/ramp\": 0 bytes are not 1 to 2^36"));
    rm_plan_free(&plan);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_state_is_looked_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orders_are_looked_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_application_state_is_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_copy_is_of_two_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_successor_begins_with_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_owner_has_them, set_up, tear_down),
        cmocka_unit_test(test_a_state_without_room_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
