// SPDX-License-Identifier: Apache-2.0
/** What is special about UDP ports: the kernel's queue, and its refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { SKIPPED = 77, PAYLOAD_BYTES = 64, TOO_MANY = 200000 };

/** More than 64 MiB of the kernel's memory hold. */
static void send_too_many(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = PAYLOAD_BYTES};
    atomic_store(&endpoints->shared->received, TOO_MANY); // do not wait for the receiver
    numbered_send(endpoints, port, 0, &numbered, TOO_MANY);
    rm_port_close(port);
    atomic_store(&endpoints->shared->step, 2);
}

static void receive_too_late(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    wait_for_step(endpoints, 2);
    struct rm_burst burst = {0};
    while (rm_port_receive(port, 0, &burst) != 0)
        rm_port_release(port, 0, &burst);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(totals.received > 16384, "the kernel's queue to hold many datagrams");
    expect(totals.missed > 0 && totals.received + totals.missed == TOO_MANY, "all others to be counted as missed");
    rm_port_close(port);
}

static void what_the_kernel_drops_is_counted(void **state) {
    struct endpoints *const endpoints = *state;
    atomic_store(&endpoints->shared->step, 0);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_too_late);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_too_many)));
}

static void send_to_nowhere(struct endpoints *endpoints, int end) {
    endpoints->config[end].peer_ipv4 = 0xC0000201; // 192.0.2.1, for documentation: there is no route to it
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    rm_port_reserve(port, 0, &burst, 2);
    burst.length[0] = burst.length[1] = PAYLOAD_BYTES;
    expect(rm_port_send(port, 0, &burst) == 0 && burst.count == 2, "nothing to be sent, and all to be kept");
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(totals.refused == 1 && totals.sent == 0, "the refusal to be counted");
    rm_port_release(port, 0, &burst);
    rm_port_close(port);
}

static void what_the_kernel_refuses_to_send_is_counted(void **state) {
    assert_true(endpoints_wait(endpoints_start(*state, SENDER, send_to_nowhere)));
}

/** There is no socket: the peer's kernel says so by ICMP, which must not disturb the sender. */
static void send_to_deaf_ears(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = PAYLOAD_BYTES};
    atomic_store(&endpoints->shared->received, 1000);
    numbered_send(endpoints, port, 0, &numbered, 1000);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(totals.refused == 0 && totals.sent == 1000, "no refusal");
    rm_port_close(port);
}

static void a_peer_that_does_not_listen_disturbs_nothing(void **state) {
    assert_true(endpoints_wait(endpoints_start(*state, SENDER, send_to_deaf_ears)));
}

enum { LONG_BYTES = 9000 };

/** At an MTU of 1500, so in fragments. */
static void send_long_ones(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    endpoints->config[end].longest_frame = LONG_BYTES;
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = LONG_BYTES};
    atomic_store(&endpoints->shared->received, 1000);
    numbered_send(endpoints, port, 0, &numbered, 1000);
    rm_port_close(port);
}

static void receive_long_ones(struct endpoints *endpoints, int end) {
    endpoints->config[end].longest_frame = LONG_BYTES;
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct numbered numbered = {.fixed = LONG_BYTES};
    numbered_receive(endpoints, port, 0, &numbered, 1000);
    rm_port_close(port);
}

static void long_datagrams_arrive_where_they_are_asked_for(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_long_ones);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_long_ones)));
}

static void receive_what_does_not_fit(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct rm_burst burst = {0};
    while (rm_port_receive(port, 0, &burst) == 0)
        pause_ms(1);
    for (uint32_t i = 0; i < burst.count; ++i)
        expect(burst.length[i] == RM_LENGTH_CUT, "nothing to be shown of a datagram that was cut");
    rm_port_release(port, 0, &burst);
    rm_port_close(port);
}

static void half_a_datagram_is_none(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_what_does_not_fit);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_long_ones)));
}

static void expect_refusal(struct rm_port_config const *config, enum rm_code code, char const *words) {
    struct rm_error error = {0};
    struct rm_port *port = NULL;
    expect(rm_port_open(config, &port, &error) == code && port == NULL, "the configuration to be refused");
    expect(strstr(error.text, words) != NULL && strstr(error.text, config->name) != NULL, error.text);
}

static void bind_wrongly(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    expect_refusal(&endpoints->config[end], RM_E_BUSY, "another socket has it");
    rm_port_close(port);
    struct rm_port_config config = endpoints->config[end];
    config.bind_ipv4 = 0xC0000201;
    expect_refusal(&config, RM_E_SYSTEM, "192.0.2.1:4000");
    config = endpoints->config[end];
    config.queues = 2;
    expect_refusal(&config, RM_E_CONFIG, "2 queues");
}

static void impossible_addresses_are_refused(void **state) {
    assert_true(endpoints_wait(endpoints_start(*state, RECEIVER, bind_wrongly)));
}

int main(void) {
    struct endpoints endpoints;
    if (!endpoints_make(&endpoints, "udp")) {
        fprintf(stderr, "SKIPPED: UDP ports were not tested\n");
        return SKIPPED;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(what_the_kernel_drops_is_counted, &endpoints),
        cmocka_unit_test_prestate(what_the_kernel_refuses_to_send_is_counted, &endpoints),
        cmocka_unit_test_prestate(a_peer_that_does_not_listen_disturbs_nothing, &endpoints),
        cmocka_unit_test_prestate(long_datagrams_arrive_where_they_are_asked_for, &endpoints),
        cmocka_unit_test_prestate(half_a_datagram_is_none, &endpoints),
        cmocka_unit_test_prestate(impossible_addresses_are_refused, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name("udp ports", tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
