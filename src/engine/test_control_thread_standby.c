// SPDX-License-Identifier: Apache-2.0
/** The control thread of one of two servers: what `ringmaster-standby` has reaches the transmit role, and leaves it; the
 * highest term reaches the disk; a server that does not send takes no setpoint by hand. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>

#include "engine/control_thread.h"
#include "engine/control_thread_state.h"
#include "engine/term_file.h"
#include "fabric/standby_writer.h"
#include "fabric/test_workspace.h"

enum { SUPPLIES = 3, LOOKS = 20000 };

struct bench {
    struct rm_operator_put put;
    struct rm_command_mailbox mailbox[1];
    struct rm_peer_mailbox peer;
    struct rm_standby_state state;
    struct rm_owner *server;
    struct rm_control_thread *control_thread;
    struct rm_parameter *setpoint[SUPPLIES], *readback[SUPPLIES];
    struct rm_setpoints *sent;
    struct rm_config config;
    struct rm_config_supply supply[SUPPLIES];
    struct rm_config_application application[1];
    rm_counter counters[RM_STANDBY_COUNTERS];
    _Atomic uint32_t highest_term;
    char place[RM_CONFIG_PATH_BYTES / 2];
};

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static void make_config(struct bench *bench) {
    struct rm_config *const config = &bench->config;
    strcpy(config->workspace, "ws");
    config->supply = bench->supply;
    config->supply_count = SUPPLIES;
    config->application = bench->application;
    config->application_count = 1;
    strcpy(bench->application[0].name, "operator");
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        bench->supply[i] = (struct rm_config_supply){.unit = "A", .low = -10, .high = 10};
        snprintf(bench->supply[i].name, sizeof bench->supply[i].name, "sr/ps/%u", i);
    }
    config->standby.present = true;
    config->standby.own = 1;
    strcpy(config->standby.server[0].name, "a");
    strcpy(config->standby.server[1].name, "b");
    snprintf(config->setpoints.terms_path, sizeof config->setpoints.terms_path, "%s/ring.terms", bench->place);
}

static void open_server(struct bench *bench) {
    rm_owner_index setpoint[SUPPLIES], readback[SUPPLIES];
    assert_int_equal(rm_owner_new("ws", "server", &bench->server, NULL), RM_OK);
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        char name[2][RM_NAME_BYTES];
        snprintf(name[0], sizeof name[0], "sr/ps/%u/setpoint", i);
        snprintf(name[1], sizeof name[1], "sr/ps/%u/readback", i);
        struct rm_parameter_plan plan = {
            .name = name[0], .unit = "A", .type = RM_ELEMENT_F64, .rows = 1, .flags = RM_PARAMETER_WRITABLE};
        setpoint[i] = rm_owner_parameter(bench->server, &plan);
        plan.name = name[1];
        plan.flags = 0;
        readback[i] = rm_owner_parameter(bench->server, &plan);
    }
    rm_owner_index const sent = rm_owner_setpoints(bench->server, "setpoints/sent", "sent", SUPPLIES);
    rm_owner_replies(bench->server);
    assert_int_equal(rm_owner_open(bench->server, NULL), RM_OK);
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        bench->setpoint[i] = rm_owner_memory(bench->server, setpoint[i]);
        bench->readback[i] = rm_owner_memory(bench->server, readback[i]);
    }
    bench->sent = rm_owner_memory(bench->server, sent);
}

static int set_up(void **state) {
    struct bench *const bench = aligned_alloc(RM_CACHE_LINE, (sizeof *bench + 63) / 64 * 64);
    assert_non_null(bench);
    memset(bench, 0, sizeof *bench);
    assert_true(test_workspaces_make(bench->place, sizeof bench->place));
    make_config(bench);
    open_server(bench);
    struct rm_control_thread_setup const setup = {
        .config = &bench->config,
        .owner = bench->server,
        .mailbox = bench->mailbox,
        .put = &bench->put,
        .transmit_time = CLOCK_MONOTONIC,
        .sent = bench->sent,
        .peer = &bench->peer,
        .standby_state = &bench->state,
        .highest_term = &bench->highest_term,
        .standby_counters = bench->counters,
        .setpoint = bench->setpoint,
        .readback = bench->readback,
    };
    struct rm_error error = {.text = ""};
    if (rm_control_thread_start(&setup, &bench->control_thread, &error) != RM_OK)
        fail_msg("%s", error.text);
    *state = bench;
    return 0;
}

static int tear_down(void **state) {
    struct bench *const bench = *state;
    rm_control_thread_stop(bench->control_thread);
    rm_owner_close(bench->server);
    test_workspaces_remove(bench->place);
    free(bench);
    return 0;
}

/** Waits for what the role is told next, and leaves the mailbox taken, so that the memory stays. */
static struct rm_transmit_peer take_peer(struct bench *bench) {
    for (int i = 0; !rm_mailbox_take(&bench->peer.mailbox); ++i) {
        assert_true(i < LOOKS);
        nap();
    }
    return bench->peer.peer;
}

/** What `ringmaster-standby` opens: with vectors for so many supplies. */
static struct rm_owner *open_standby(uint32_t supplies) {
    struct rm_owner *owner = NULL;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_owner_new("ws", "standby", &owner, NULL), RM_OK);
    rm_owner_index const orders = rm_owner_standby_orders(owner, "standby/orders", "orders");
    rm_owner_index const sent = rm_owner_setpoints(owner, "peer/setpoints/sent", "sent", supplies);
    rm_owner_setpoints(owner, "peer/setpoints/targets", "targets", SUPPLIES);
    if (rm_owner_open(owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_standby_orders_publish(rm_owner_memory(owner, orders), &(struct rm_standby_orders_reading){.beat = 5});
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(rm_owner_memory(owner, sent));
    for (uint32_t i = 0; i < supplies; ++i)
        rm_setpoints_put(vector, i, 2.5);
    rm_setpoints_commit(vector, 1, 1200, 9);
    return owner;
}

static void what_the_other_process_has_reaches_the_role_and_leaves_it(void **state) {
    struct bench *const bench = *state;
    for (int life = 0; life < 2; ++life) {
        struct rm_owner *const owner = open_standby(SUPPLIES);
        struct rm_transmit_peer const peer = take_peer(bench);
        struct rm_standby_orders_reading orders;
        struct rm_setpoints_place place = {0};
        struct rm_setpoint_reading reading;
        double values[SUPPLIES] = {0};
        assert_non_null(peer.orders);
        for (int i = 0; !rm_standby_orders_look(peer.orders, &orders); ++i) {
            assert_true(i < LOOKS); // it may have been opened just now
            nap();
        }
        assert_int_equal(orders.beat, 5);
        for (int i = 0; !rm_setpoints_copy(peer.sent, peer.sent->vector_bytes, &place, &reading, values, SUPPLIES);
             ++i) {
            assert_true(i < LOOKS);
            nap();
        }
        assert_true(reading.input_turn == 1200 && values[2] == 2.5);
        assert_non_null(peer.targets);
        rm_mailbox_free(&bench->peer.mailbox);
        rm_owner_close(owner);
        assert_null(take_peer(bench).orders);
        rm_mailbox_free(&bench->peer.mailbox);
    }
}

static void vectors_of_another_machine_are_left_out(void **state) {
    struct bench *const bench = *state;
    struct rm_owner *const owner = open_standby(SUPPLIES + 1);
    struct rm_transmit_peer const peer = take_peer(bench);
    assert_non_null(peer.orders);
    assert_null(peer.sent);
    assert_non_null(peer.targets);
    rm_mailbox_free(&bench->peer.mailbox);
    rm_owner_close(owner);
    assert_null(take_peer(bench).orders);
    rm_mailbox_free(&bench->peer.mailbox);
}

static void wait_for_term(struct bench const *bench, uint32_t wanted) {
    uint32_t term = 0;
    for (int i = 0; term != wanted; ++i) {
        assert_int_equal(rm_term_file_read(bench->config.setpoints.terms_path, &term, NULL), RM_OK);
        assert_true(i < LOOKS);
        nap();
    }
}

static void the_highest_term_reaches_the_disk(void **state) {
    struct bench *const bench = *state;
    char fresh[PATH_MAX];
    atomic_store(&bench->highest_term, 7);
    wait_for_term(bench, 7);
    snprintf(fresh, sizeof fresh, "%s.new", bench->config.setpoints.terms_path);
    assert_int_equal(mkdir(fresh, 0700), 0); // nothing can be written any more
    atomic_store(&bench->highest_term, 9);
    for (int i = 0; rm_counter_get(bench->counters, RM_STANDBY_TERM_UNSAVED) == 0; ++i) {
        assert_true(i < LOOKS);
        nap();
    }
    assert_int_equal(rmdir(fresh), 0);
    atomic_store(&bench->highest_term, 11);
    wait_for_term(bench, 11);
    assert_int_equal(rm_counter_get(bench->counters, RM_STANDBY_TERM_UNSAVED), 1); // each term is tried once
}

static void who_sends_decides_where_a_setpoint_is_put(void **state) {
    struct bench *const bench = *state;
    char text[128] = "";
    struct rm_control_thread *const control_thread = bench->control_thread;
    assert_true(rm_control_thread_stands_by(control_thread, text, sizeof text));
    assert_string_equal(text, "server b does not send setpoints: put it to server a, if that is the active one");
    atomic_store(&bench->state.role, RM_STANDBY_ACTIVE);
    assert_false(rm_control_thread_stands_by(control_thread, text, sizeof text));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(what_the_other_process_has_reaches_the_role_and_leaves_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vectors_of_another_machine_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_highest_term_reaches_the_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_sends_decides_where_a_setpoint_is_put, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
