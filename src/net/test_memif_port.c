// SPDX-License-Identifier: Apache-2.0
/** What is special about memif ports: a peer that is slow, late, killed, back again, or has fewer queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { NATIVE_FRAME_BYTES = 106, RING_SLOTS = 64, PART = 48, FOR_EVER = INT32_MAX };

static void begin(struct endpoints *endpoints) {
    endpoints_begin(endpoints);
    endpoints->config[RECEIVER].queues = endpoints->config[SENDER].queues = 1;
    endpoints->config[SENDER].ring_slots = 0;
}

static void wait_for_received(struct endpoints *endpoints, uint64_t count) {
    while (atomic_load(&endpoints->shared->received) < count)
        pause_ms(1);
}

/** The client makes the ring, of 64 slots: the second burst of 48 fits by a third. */
static void fill_the_link(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    rm_port_reserve(port, 0, &burst, PART);
    numbered_fill(endpoints, port, &numbered, &burst);
    expect(rm_port_send(port, 0, &burst) == 0 && burst.count == PART, "nothing to be sent while the link is down");
    atomic_store(&endpoints->shared->step, 1);
    wait_for_link(port, true);
    expect(rm_port_send(port, 0, &burst) == PART && burst.count == 0, "the first burst to be sent whole");

    rm_port_reserve(port, 0, &burst, PART);
    numbered_fill(endpoints, port, &numbered, &burst);
    expect(rm_port_send(port, 0, &burst) == RING_SLOTS - PART, "the second as far as there are slots");
    expect(burst.count == 2 * PART - RING_SLOTS, "the rest to be kept");
    expect(rm_port_send(port, 0, &burst) == 0, "a full link to take nothing");
    atomic_store(&endpoints->shared->step, 2);
    while (burst.count != 0)
        rm_port_send(port, 0, &burst);
    rm_port_close(port);
}

static void let_it_fill_then_receive(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_step(endpoints, 2);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_receive(endpoints, port, 0, &numbered, 2 * PART);
    rm_port_close(port);
}

static void a_full_link_takes_a_part_and_keeps_the_rest(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    endpoints->config[SENDER].ring_slots = RING_SLOTS;
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, let_it_fill_then_receive);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, fill_the_link)));
}

/** Sends until it is killed. */
static void send_for_ever(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_send(endpoints, port, 0, &numbered, FOR_EVER);
}

static void send_a_thousand(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_send(endpoints, port, 0, &numbered, 1000);
    rm_port_close(port);
}

/** Receives from however many senders, one after the other, each beginning at 0, until the test says stop. */
static void receive_until_stopped(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    while (atomic_load(&endpoints->shared->step) == 0) {
        rm_port_receive(port, 0, &burst);
        numbered_check(endpoints, port, &numbered, &burst);
        rm_port_release(port, 0, &burst);
        atomic_store(&endpoints->shared->received, numbered.next);
    }
    wait_for_link(port, false);
    rm_port_close(port);
}

enum { KILLS = 10 };

static void a_receiver_survives_killed_senders_and_loses_nothing_of_theirs(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_until_stopped);
    for (uint64_t kill = 0; kill < KILLS; ++kill) {
        atomic_store(&endpoints->shared->received, 0);
        pid_t const sender = endpoints_start(endpoints, SENDER, send_for_ever);
        wait_for_received(endpoints, 1 + kill * 3000);
        endpoints_kill(sender);
    }
    atomic_store(&endpoints->shared->received, 0);
    assert_true(endpoints_wait(endpoints_start(endpoints, SENDER, send_a_thousand)));
    while (atomic_load(&endpoints->shared->received) != 1000)
        pause_ms(1);
    atomic_store(&endpoints->shared->step, 1);
    assert_true(endpoints_wait(receiver));
}

/** Begins in the middle of what a sender sends, and goes on in order until it is killed. */
static void receive_for_ever(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES, .any = true};
    numbered_receive(endpoints, port, 0, &numbered, UINT64_MAX / 2);
}

static void a_sender_survives_killed_receivers_and_finds_the_next(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    pid_t const sender = endpoints_start(endpoints, SENDER, send_for_ever);
    for (uint64_t kill = 0; kill < KILLS; ++kill) {
        uint64_t const before = atomic_load(&endpoints->shared->received);
        pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_for_ever);
        wait_for_received(endpoints, before + 1 + kill * 3000);
        assert_int_equal(access(endpoints->config[RECEIVER].socket_path, F_OK), 0);
        endpoints_kill(receiver);
    }
    endpoints_kill(sender);
}

static void send_on_queue_one(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_link(port, true);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_send(endpoints, port, 1, &numbered, 1000);
    rm_port_close(port);
}

static void receive_on_queue_one(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    while (numbered.next < 1000) {
        numbered_receive(endpoints, port, 1, &numbered, 1);
        expect(rm_port_receive(port, 0, &burst) == 0, "nothing on queue 0");
    }
    rm_port_close(port);
}

static void queues_are_apart(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    endpoints->config[RECEIVER].queues = endpoints->config[SENDER].queues = 2;
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_on_queue_one);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_on_queue_one)));
}

enum { JUMBO_BYTES = 9014, JUMBOS = 5000 };

static void send_jumbo_frames(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_link(port, true);
    struct numbered numbered = {.fixed = JUMBO_BYTES};
    numbered_send(endpoints, port, 0, &numbered, JUMBOS);
    rm_port_close(port);
}

static void receive_jumbo_frames(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = JUMBO_BYTES};
    numbered_receive(endpoints, port, 0, &numbered, JUMBOS);
    rm_port_close(port);
}

static void jumbo_frames_pass_where_they_are_asked_for(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    endpoints->config[RECEIVER].longest_frame = endpoints->config[SENDER].longest_frame = JUMBO_BYTES;
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_jumbo_frames);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_jumbo_frames)));
    endpoints->config[RECEIVER].longest_frame = endpoints->config[SENDER].longest_frame = 0;
}

static void receive_with_a_queue_too_many(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    while (numbered.next < 1000) {
        numbered_receive(endpoints, port, 0, &numbered, 1);
        expect(rm_port_receive(port, 1, &burst) == 0, "nothing on the queue without a ring");
        rm_port_reserve(port, 1, &burst, 1);
        burst.length[0] = NATIVE_FRAME_BYTES;
        expect(rm_port_send(port, 1, &burst) == 0 && burst.count == 1, "nothing to be sent where there is no ring");
        rm_port_release(port, 1, &burst);
    }
    rm_port_close(port);
}

static void a_queue_that_the_client_does_not_have_is_silent(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    endpoints->config[RECEIVER].queues = 2;
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_with_a_queue_too_many);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_a_thousand)));
}

static void expect_refusal(struct rm_port_config const *config, enum rm_code code, char const *words) {
    struct rm_error error = {0};
    struct rm_port *port = NULL;
    expect(rm_port_open(config, &port, &error) == code && port == NULL, "the configuration to be refused");
    expect(strstr(error.text, words) != NULL && strstr(error.text, config->name) != NULL, error.text);
}

static void serve_at_impossible_paths(struct endpoints *endpoints, int end) {
    struct rm_port_config config = endpoints->config[end];
    snprintf(config.socket_path, sizeof config.socket_path, "link.sock");
    expect_refusal(&config, RM_E_CONFIG, "absolute path");
    memset(config.socket_path, '/', sizeof config.socket_path);
    expect_refusal(&config, RM_E_CONFIG, "absolute path");
    snprintf(config.socket_path, sizeof config.socket_path, "/proc/ringmaster/link.sock");
    expect_refusal(&config, RM_E_SYSTEM, "/proc/ringmaster/link.sock");

    struct rm_port *const port = open_end(endpoints, end);
    config = endpoints->config[end];
    expect_refusal(&config, RM_E_BUSY, "another process serves");
    rm_port_close(port);
    expect(access(config.socket_path, F_OK) != 0, "the socket to be removed with its port");

    FILE *const file = fopen(config.socket_path, "w");
    expect(file != NULL && fclose(file) == 0, "a file in the place of the socket");
    expect_refusal(&config, RM_E_SYSTEM, "no other file");
    expect(unlink(config.socket_path) == 0, "the file that is no socket to be left alone");
}

static void impossible_paths_are_refused(void **state) {
    struct endpoints *const endpoints = *state;
    begin(endpoints);
    assert_true(endpoints_wait(endpoints_start(endpoints, RECEIVER, serve_at_impossible_paths)));
}

static void a_port_needs_dpdk_started(void **state) {
    struct endpoints *const endpoints = *state;
    struct rm_port *port = NULL;
    struct rm_error error;
    assert_int_equal(rm_port_open(&endpoints->config[RECEIVER], &port, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "rm_net_start"));
}

int main(void) {
    struct endpoints endpoints;
    if (!endpoints_make(&endpoints, "memif"))
        return 1;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(a_full_link_takes_a_part_and_keeps_the_rest, &endpoints),
        cmocka_unit_test_prestate(a_receiver_survives_killed_senders_and_loses_nothing_of_theirs, &endpoints),
        cmocka_unit_test_prestate(a_sender_survives_killed_receivers_and_finds_the_next, &endpoints),
        cmocka_unit_test_prestate(queues_are_apart, &endpoints),
        cmocka_unit_test_prestate(jumbo_frames_pass_where_they_are_asked_for, &endpoints),
        cmocka_unit_test_prestate(a_queue_that_the_client_does_not_have_is_silent, &endpoints),
        cmocka_unit_test_prestate(impossible_paths_are_refused, &endpoints),
        cmocka_unit_test_prestate(a_port_needs_dpdk_started, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name("memif ports", tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
