// SPDX-License-Identifier: Apache-2.0
/** What every kind of port promises, held by every kind that links two processes: `conformance memif`, `… tap`, … */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { SKIPPED = 77, FRAME_OF_NATIVE_DATAGRAM = 106 };

static struct endpoints *endpoints_of(void **state) { return *state; }

static void run_both(struct endpoints *endpoints, script *receiver, script *sender) {
    endpoints_begin(endpoints);
    pid_t const receiving = endpoints_start(endpoints, RECEIVER, receiver);
    pid_t const sending = endpoints_start(endpoints, SENDER, sender);
    assert_true(endpoints_wait_both(receiving, sending));
}

/** Opens, polls in vain, and only then lets the sender begin. */
static struct rm_port *open_receiver(struct endpoints *endpoints) {
    struct rm_port *const port = open_end(endpoints, RECEIVER);
    if (endpoints->first != SENDER) { // the peer at a socket comes later
        wait_for_link(port, !endpoints->slow);
        expect(rm_port_check(port, NULL) == (endpoints->slow ? RM_E_ABSENT : RM_OK), "the port to know of its peer");
    }
    struct rm_burst burst = {.count = 7};
    expect(rm_port_receive(port, 0, &burst) == 0 && burst.count == 0, "an empty poll to return 0");
    rm_port_release(port, 0, &burst);
    atomic_store(&endpoints->shared->step, 1);
    return port;
}

static struct rm_port *open_sender(struct endpoints *endpoints) {
    if (endpoints->first != SENDER)
        wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, SENDER);
    wait_for_step(endpoints, 1);
    wait_for_link(port, true);
    expect(rm_port_check(port, NULL) == RM_OK, "a port that works");
    return port;
}

static void expect_totals(struct rm_port *port, uint64_t received, uint64_t sent) {
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(totals.received == received && totals.sent == sent, "totals of all that was received and sent");
    expect(totals.missed == 0 && totals.errors == 0 && totals.unsent + totals.refused == 0, "totals without loss");
}

enum { ALL_LENGTHS = 20000 };

static void receive_all_lengths(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_receiver(endpoints);
    expect(strcmp(rm_port_name(port), endpoints->config[end].name) == 0, "the port's name");
    struct numbered numbered = {0};
    numbered_receive(endpoints, port, 0, &numbered, ALL_LENGTHS);
    expect_totals(port, ALL_LENGTHS, 0);
    rm_port_close(port);
}

static void send_all_lengths(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_sender(endpoints);
    struct numbered numbered = {0};
    numbered_send(endpoints, port, 0, &numbered, ALL_LENGTHS);
    expect_totals(port, 0, ALL_LENGTHS);
    close_sender(endpoints, port, ALL_LENGTHS);
}

static void send_from_anywhere(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_sender(endpoints);
    struct numbered numbered = {.from_elsewhere = true};
    numbered_send(endpoints, port, 0, &numbered, ALL_LENGTHS);
    expect_totals(port, 0, ALL_LENGTHS);
    struct rm_burst wrong = {.count = 2, .length = {RM_LONGEST_FRAME_MAX + 1, 0}}; // of which no byte is read
    expect(rm_port_send_from(port, 0, &wrong) == 0 && wrong.count == 0, "what is too long or empty to be left out");
    close_sender(endpoints, port, ALL_LENGTHS);
}

static void every_datagram_arrives_unchanged_and_in_order(void **state) {
    run_both(endpoints_of(state), receive_all_lengths, send_all_lengths);
}

static void datagrams_may_be_sent_from_anywhere(void **state) {
    run_both(endpoints_of(state), receive_all_lengths, send_from_anywhere);
}

enum { MANY = 1000000 };

static void receive_many(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_receiver(endpoints);
    struct numbered numbered = {.fixed = FRAME_OF_NATIVE_DATAGRAM};
    numbered_receive(endpoints, port, 0, &numbered, MANY);
    expect_totals(port, MANY, 0);
    rm_port_close(port);
}

static void send_many(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_sender(endpoints);
    struct numbered numbered = {.fixed = FRAME_OF_NATIVE_DATAGRAM};
    numbered_send(endpoints, port, 0, &numbered, MANY);
    close_sender(endpoints, port, MANY);
}

/** A pool has some thousand buffers: a million pass only when every one comes back. */
static void buffers_come_back(void **state) { run_both(endpoints_of(state), receive_many, send_many); }

/** Reserves and gives back unsent far more buffers than there are, then sends a few after all. */
static void change_mind_then_send(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_sender(endpoints);
    struct rm_burst burst = {0};
    for (int i = 0; i < 1000; ++i) {
        expect(rm_port_reserve(port, 0, &burst, RM_BURST) == RM_BURST && burst.count == RM_BURST, "a full burst");
        memset(burst.data[RM_BURST - 1], 0xFF, RM_SEND_BYTES);
        rm_port_release(port, 0, &burst);
        expect(burst.count == 0, "an empty burst after its release");
    }
    struct numbered numbered = {0};
    numbered_send(endpoints, port, 0, &numbered, RM_BURST);
    close_sender(endpoints, port, RM_BURST);
}

static void receive_one_burst(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_receiver(endpoints);
    struct numbered numbered = {0};
    numbered_receive(endpoints, port, 0, &numbered, RM_BURST);
    rm_port_close(port);
}

static void reserved_buffers_can_be_released_unsent(void **state) {
    run_both(endpoints_of(state), receive_one_burst, change_mind_then_send);
}

enum { ELSEWHERE_BYTES = 1536 };

/** Frames that lie in memory of the sender's, where the port copies them; else in the buffers, as ever. */
static void send_from_elsewhere(struct endpoints *endpoints, int end) {
    (void)end;
    alignas(64) static uint8_t elsewhere[RM_BURST][ELSEWHERE_BYTES];
    struct rm_port *const port = open_sender(endpoints);
    struct rm_burst burst = {0};
    struct numbered numbered = {0};
    expect(rm_port_reserve(port, 0, &burst, RM_BURST) == RM_BURST, "a full burst");
    for (uint32_t i = 0; rm_port_copies(port) && i < RM_BURST; ++i)
        burst.data[i] = elsewhere[i];
    numbered_fill(endpoints, port, &numbered, &burst);
    while (burst.count > 0)
        rm_port_send(port, 0, &burst);
    close_sender(endpoints, port, RM_BURST);
}

static void frames_may_lie_elsewhere(void **state) {
    run_both(endpoints_of(state), receive_one_burst, send_from_elsewhere);
}

/** By the calls of those who would rather sleep; a port that cannot sleep returns at once. */
static void sleep_and_receive(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_receiver(endpoints);
    struct rm_burst burst = {0};
    struct numbered numbered = {0};
    uint64_t const waits_ns[] = {0, RM_LONGEST_SLEEP_NS / 100, RM_SLEEP};
    for (uint32_t i = 0; numbered.next < RM_BURST; ++i) {
        rm_ports_wait(&port, 1, RM_SLEEP);
        rm_port_receive_sleeping(port, 0, &burst, waits_ns[i % 3]);
        numbered_check(endpoints, port, &numbered, &burst);
        rm_port_release(port, 0, &burst);
        atomic_store(&endpoints->shared->received, numbered.next);
    }
    expect_totals(port, RM_BURST, 0);
    rm_port_close(port);
}

static void send_one_burst(struct endpoints *endpoints, int end) {
    (void)end;
    struct rm_port *const port = open_sender(endpoints);
    struct numbered numbered = {0};
    numbered_send(endpoints, port, 0, &numbered, RM_BURST);
    close_sender(endpoints, port, RM_BURST);
}

static void a_receiver_may_sleep(void **state) { run_both(endpoints_of(state), sleep_and_receive, send_one_burst); }

enum { REOPENINGS = 3, PER_OPENING = 500 };

static void reopen_and_receive(struct endpoints *endpoints, int end) {
    (void)end;
    struct numbered numbered = {0};
    for (uint32_t opening = 0; opening < REOPENINGS; ++opening) {
        wait_for_step(endpoints, 2 * opening);
        struct rm_port *const port = open_end(endpoints, RECEIVER);
        atomic_store(&endpoints->shared->step, 2 * opening + 1);
        numbered_receive(endpoints, port, 0, &numbered, PER_OPENING);
        rm_port_close(port);
    }
}

static void reopen_and_send(struct endpoints *endpoints, int end) {
    (void)end;
    struct numbered numbered = {0};
    for (uint32_t opening = 0; opening < REOPENINGS; ++opening) {
        struct rm_port *const port = open_end(endpoints, SENDER);
        wait_for_step(endpoints, 2 * opening + 1);
        wait_for_link(port, true);
        numbered_send(endpoints, port, 0, &numbered, PER_OPENING);
        while (atomic_load(&endpoints->shared->received) < numbered.next)
            pause_ms(1);
        rm_port_close(port);
        atomic_store(&endpoints->shared->step, 2 * opening + 2);
    }
}

static void ports_can_be_closed_and_opened_again(void **state) {
    run_both(endpoints_of(state), reopen_and_receive, reopen_and_send);
}

static void expect_refusal(struct rm_port_config const *config, char const *words) {
    struct rm_error error = {0};
    struct rm_port *port = NULL;
    expect(rm_port_open(config, &port, &error) == RM_E_CONFIG && port == NULL, "the configuration to be refused");
    expect(strstr(error.text, words) != NULL && strstr(error.text, config->name) != NULL, words);
}

static void open_wrongly(struct endpoints *endpoints, int end) {
    struct rm_port_config config = endpoints->config[end];
    config.queues = 0;
    expect_refusal(&config, "0 queues");
    config.queues = 1000;
    expect_refusal(&config, "1000 queues");
    config = endpoints->config[end];
    config.ring_slots = 1000;
    expect_refusal(&config, "write 512");
    config.ring_slots = 1 << 20;
    expect_refusal(&config, "ring slots");
    config = endpoints->config[end];
    config.name[0] = '\0';
    struct rm_port *port = NULL;
    struct rm_error error;
    expect(rm_port_open(&config, &port, &error) == RM_E_ARGUMENT, "a port without name to be refused");
    if (endpoints->first != SENDER)
        rm_port_close(open_end(endpoints, end)); // and what is right still works
}

static void impossible_configurations_are_refused_by_name(void **state) {
    endpoints_begin(endpoints_of(state));
    assert_true(endpoints_wait(endpoints_start(endpoints_of(state), RECEIVER, open_wrongly)));
}

int main(int argc, char **argv) {
    struct endpoints endpoints;
    if (argc != 2 || !endpoints_make(&endpoints, argv[1])) {
        fprintf(stderr, "SKIPPED: conformance of port kind '%s' was not tested\n", argc == 2 ? argv[1] : "");
        return SKIPPED;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(every_datagram_arrives_unchanged_and_in_order, &endpoints),
        cmocka_unit_test_prestate(datagrams_may_be_sent_from_anywhere, &endpoints),
        cmocka_unit_test_prestate(buffers_come_back, &endpoints),
        cmocka_unit_test_prestate(reserved_buffers_can_be_released_unsent, &endpoints),
        cmocka_unit_test_prestate(frames_may_lie_elsewhere, &endpoints),
        cmocka_unit_test_prestate(a_receiver_may_sleep, &endpoints),
        cmocka_unit_test_prestate(ports_can_be_closed_and_opened_again, &endpoints),
        cmocka_unit_test_prestate(impossible_configurations_are_refused_by_name, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
