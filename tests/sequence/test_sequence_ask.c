// SPDX-License-Identifier: Apache-2.0
/** What sequences ask of others, and read of them, in a workspace: a server, and an owner that ends. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>

#include "apps/sequence/ask.h"
#include "fabric/test_workspace.h"

/** A server with the settings of the application and a whole number, served by a thread; another owner; and what asks. */
struct asking {
    struct rm_owner *server, *other;
    rm_owner_index refused, parameter, lost, count, current;
    struct rm_inbox *inbox;
    pthread_t thread;
    _Atomic bool is_ending;
    struct rm_application_setup setup;
    struct sequence_asks asks;
    char workspaces[PATH_MAX / 2];
};

static char count_name[] = "sr/count", known_as[] = "current", current_name[] = "machine/current";
static struct sequence_action action = {.put = count_name};
static struct sequence_state one_state = {.action = &action, .actions = 1};
static struct sequence_sequence one_sequence = {.state = &one_state, .states = 1};
static struct sequence_parameter current = {.name = known_as, .parameter = current_name};
static struct sequence_file const file = {
    .sequence = &one_sequence, .parameter = &current, .sequences = 1, .parameters = 1};
static struct sequence_act act = {.kind = SEQUENCE_ACT_PUT, .ask = 0};
static struct sequence_program const program = {.file = &file, .act = &act, .acts = 1, .asks = 1};

static rm_owner_index add(struct rm_owner *owner, char const *name, enum rm_element_type type) {
    return rm_owner_parameter(
        owner, &(struct rm_parameter_plan){.name = name, .type = type, .rows = 1, .flags = RM_PARAMETER_WRITABLE});
}

static void *serve(void *argument) {
    struct asking *const it = argument;
    struct rm_request request;
    while (!atomic_load(&it->is_ending)) {
        rm_inbox_look(it->inbox);
        while (rm_inbox_take(it->inbox, &request))
            rm_inbox_apply(it->inbox, &request, rm_stamp_now());
        rm_inbox_wait(it->inbox, 10000000);
    }
    return NULL;
}

static void put(struct rm_owner *owner, rm_owner_index index, double value) {
    rm_parameter_write_f64(rm_owner_memory(owner, index), value, rm_stamp_now());
}

static double value_of(struct asking const *it, rm_owner_index index) {
    return rm_parameter_read_f64(rm_owner_memory(it->server, index));
}

static void open_other(struct asking *it) {
    assert_int_equal(rm_owner_new("demo", "machine", &it->other, NULL), RM_OK);
    it->current = add(it->other, "machine/current", RM_ELEMENT_F64);
    assert_int_equal(rm_owner_open(it->other, NULL), RM_OK);
    put(it->other, it->current, 100.0);
}

static int set_up(void **state) {
    struct asking *const it = calloc(1, sizeof *it);
    *state = it;
    if (it == NULL || !test_workspaces_make(it->workspaces, sizeof it->workspaces))
        return -1;
    assert_int_equal(rm_owner_new("demo", "server", &it->server, NULL), RM_OK);
    it->refused = add(it->server, "sequence/refused", RM_ELEMENT_F64);
    it->parameter = add(it->server, "sequence/parameter", RM_ELEMENT_F64);
    it->lost = add(it->server, "sequence/lost", RM_ELEMENT_F64);
    it->count = add(it->server, "sr/count", RM_ELEMENT_U32);
    rm_owner_replies(it->server);
    assert_int_equal(rm_owner_open(it->server, NULL), RM_OK);
    put(it->server, it->refused, 0.0);
    put(it->server, it->lost, 1.0);
    open_other(it);
    it->setup = (struct rm_application_setup){.name = "sequence", .workspace = "demo"};
    assert_int_equal(rm_inbox_new(it->server, &it->inbox, NULL), RM_OK);
    assert_int_equal(pthread_create(&it->thread, NULL, serve, it), 0);
    return sequence_asks_make(&it->asks, &program) ? 0 : -1;
}

static int tear_down(void **state) {
    struct asking *const it = *state;
    sequence_asks_free(&it->asks);
    atomic_store(&it->is_ending, true);
    pthread_join(it->thread, NULL);
    rm_inbox_free(it->inbox);
    rm_owner_close(it->other);
    rm_owner_close(it->server);
    test_workspaces_remove(it->workspaces);
    free(it);
    return 0;
}

/** Works until a setting has this value: a server that has no core answers late. */
static void work_until(struct asking *it, rm_owner_index index, double value) {
    for (unsigned calls = 0; calls < 1000 && value_of(it, index) != value; ++calls)
        sequence_asks_work(&it->asks, &it->setup, &file);
    if (value_of(it, index) != value)
        fail_msg("found %g, expected %g", value_of(it, index), value);
}

/** Asks once, and works until it was granted or refused. */
static void ask(struct asking *it, double value) {
    sequence_ask_want(&it->asks, 0, value);
    for (unsigned calls = 0; calls < 1000 && it->asks.ask[0].done != it->asks.ask[0].wanted; ++calls)
        sequence_asks_work(&it->asks, &it->setup, &file);
}

/** A whole number gets what it can have, and nothing near it. */
static void test_whole_numbers_within_their_range(void **state) {
    struct asking *const it = *state;
    ask(it, 3e9);
    assert_true(value_of(it, it->count) == 3e9);
    ask(it, 6.7);
    assert_true(value_of(it, it->count) == 7.0 && value_of(it, it->refused) == 0.0);
    ask(it, -1.0);
    work_until(it, it->refused, 1.0);
    ask(it, 0x1p32);
    work_until(it, it->refused, 2.0);
    assert_true(value_of(it, it->count) == 7.0 && atomic_load(&it->asks.granted) == 2);
}

/** The setting is left as a process before this one had it: its own first refusal changes it all the same. */
static void test_a_refusal_changes_what_was_left(void **state) {
    struct asking *const it = *state;
    put(it->server, it->refused, 1.0);
    ask(it, -1.0);
    work_until(it, it->refused, 2.0);
}

static void test_a_value_without_a_living_owner_is_lost(void **state) {
    struct asking *const it = *state;
    work_until(it, it->lost, 0.0);
    assert_true(value_of(it, it->parameter) == 100.0);
    rm_parameter_invalidate(rm_owner_memory(it->other, it->current), rm_stamp_now());
    work_until(it, it->lost, 1.0);
    put(it->other, it->current, 90.0);
    work_until(it, it->lost, 0.0);
    assert_true(value_of(it, it->parameter) == 90.0);
    rm_owner_close(it->other);
    it->other = NULL;
    work_until(it, it->lost, 1.0);
    open_other(it);
    work_until(it, it->lost, 0.0);
    assert_true(value_of(it, it->parameter) == 100.0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_whole_numbers_within_their_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_refusal_changes_what_was_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_value_without_a_living_owner_is_lost, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
