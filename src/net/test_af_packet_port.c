// SPDX-License-Identifier: Apache-2.0
/** What is special about af_packet ports: the kernel's part in them. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { SKIPPED = 77, NATIVE_FRAME_BYTES = 106, FEW_SLOTS = 64, OVERFLOW = 1000 };

/** Sends UDP out of the same interface by a kernel socket, as any program on this host might. */
static void send_beside(void) {
    int const fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in const peer = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0A630002)};
    for (int i = 0; i < 100; ++i)
        expect(sendto(fd, "beside", 6, 0, (struct sockaddr const *)&peer, sizeof peer) == 6, "a datagram to leave");
    close(fd);
}

/** Everything that comes in, other frames than the test's own included. */
static uint64_t receive_all_waiting(struct rm_port *port) {
    uint64_t total = 0;
    struct rm_burst burst = {0};
    while (rm_port_receive(port, 0, &burst) != 0) {
        total += burst.count;
        rm_port_release(port, 0, &burst);
    }
    return total;
}

static void send_and_look(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_send(endpoints, port, 0, &numbered, 500);
    send_beside();
    pause_ms(50);
    struct rm_burst burst = {0};
    // The peer's kernel answers the datagrams with ICMP; nothing else may come, and nothing of ours.
    while (rm_port_receive(port, 0, &burst) != 0) {
        for (uint32_t i = 0; i < burst.count; ++i)
            expect(memcmp(burst.data[i] + 6, (uint8_t[]){2, 0, 0, 0, 0, 2}, 6) == 0, "frames from the peer only");
        rm_port_release(port, 0, &burst);
    }
    rm_port_close(port);
}

static void what_this_host_sends_is_not_received(void **state) {
    assert_true(endpoints_wait(endpoints_start(*state, 0, send_and_look)));
}

static void send_unasked(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_send(endpoints, port, 0, &numbered, OVERFLOW);
    rm_port_close(port);
    atomic_store(&endpoints->shared->step, 2);
}

static void receive_too_late(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    wait_for_step(endpoints, 2);
    uint64_t const received = receive_all_waiting(port);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(received == FEW_SLOTS && totals.received == FEW_SLOTS, "a ring full of frames");
    expect(totals.missed == OVERFLOW - FEW_SLOTS, "all others to be counted as missed");
    rm_port_totals(port, &totals);
    expect(totals.missed == OVERFLOW - FEW_SLOTS, "the same count when asked again");
    rm_port_close(port);
}

static void what_the_kernel_drops_is_counted(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    endpoints->config[RECEIVER].ring_slots = FEW_SLOTS;
    pid_t const sender = endpoints_start(endpoints, SENDER, send_unasked);
    assert_true(endpoints_wait_both(sender, endpoints_start(endpoints, RECEIVER, receive_too_late)));
    endpoints->config[RECEIVER].ring_slots = 0;
}

static void lose_the_link_and_get_it_back(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    wait_for_link(port, true);
    expect(system("ip link set veth0 down") == 0, "the interface to go down");
    wait_for_link(port, false);
    expect(rm_port_receive(port, 0, &burst) == 0, "nothing to come while it is down");
    expect(system("ip link set veth0 up") == 0, "the interface to come up");
    wait_for_link(port, true);
    atomic_store(&endpoints->shared->step, 1);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_receive(endpoints, port, 0, &numbered, OVERFLOW);
    rm_port_close(port);
}

static void an_interface_may_go_down_and_up_again(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, lose_the_link_and_get_it_back);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_unasked)));
}

enum { JUMBO_BYTES = 9014, JUMBOS = 3000 };

static void send_jumbo_frames(struct endpoints *endpoints, int end) {
    expect(system("ip link set veth1 mtu 9000") == 0, "jumbo frames on veth1");
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = JUMBO_BYTES};
    numbered_send(endpoints, port, 0, &numbered, JUMBOS);
    rm_port_close(port);
}

static void receive_jumbo_frames(struct endpoints *endpoints, int end) {
    expect(system("ip link set veth0 mtu 9000") == 0, "jumbo frames on veth0");
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct numbered numbered = {.fixed = JUMBO_BYTES};
    numbered_receive(endpoints, port, 0, &numbered, JUMBOS);
    rm_port_close(port);
    expect(system("ip link set veth0 mtu 1500") == 0, "frames of the usual length again");
}

static void jumbo_frames_pass_where_they_are_asked_for(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    for (int end = 0; end < 2; ++end)
        endpoints->config[end].longest_frame = JUMBO_BYTES;
    pid_t const sender = endpoints_start(endpoints, SENDER, send_jumbo_frames);
    assert_true(endpoints_wait_both(sender, endpoints_start(endpoints, RECEIVER, receive_jumbo_frames)));
}

enum { DATAGRAM_BYTES = 2688, DATAGRAMS = 200 };

/** By a kernel socket: at an MTU of 1500 in two fragments each. */
static void send_fragmented(struct endpoints *endpoints, int end) {
    (void)end;
    expect(system("ip link set veth1 mtu 1500") == 0, "frames of the usual length on veth1");
    wait_for_step(endpoints, 1);
    int const fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in const peer = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0A630001)};
    uint8_t payload[DATAGRAM_BYTES];
    for (int i = 0; i < DATAGRAMS; ++i) {
        memset(payload, i, sizeof payload);
        expect(sendto(fd, payload, sizeof payload, 0, (struct sockaddr const *)&peer, sizeof peer) == DATAGRAM_BYTES,
               "a datagram to leave");
    }
    close(fd);
}

static void receive_whole(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct rm_burst burst = {0};
    for (uint32_t received = 0; received < DATAGRAMS; rm_port_release(port, 0, &burst)) {
        rm_port_receive(port, 0, &burst);
        for (uint32_t i = 0; i < burst.count; ++i) {
            if (burst.data[i][13] == 0x06) // ARP, of 0x0806: the kernels look for each other
                continue;
            expect(burst.length[i] == 14 + 20 + 8 + DATAGRAM_BYTES, "a whole datagram");
            expect(burst.data[i][burst.length[i] - 1] == (uint8_t)received++, "its last byte");
        }
    }
    rm_port_close(port);
}

/** The driver asks the kernel to put fragments together before it shares frames out to queues. */
static void fragmented_datagrams_arrive_whole(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    endpoints->config[RECEIVER].longest_frame = 4096;
    pid_t const sender = endpoints_start(endpoints, SENDER, send_fragmented);
    assert_true(endpoints_wait_both(sender, endpoints_start(endpoints, RECEIVER, receive_whole)));
    for (int end = 0; end < 2; ++end)
        endpoints->config[end].longest_frame = 0;
}

static void expect_refusal(struct rm_port_config const *config, enum rm_code code, char const *words) {
    struct rm_error error = {0};
    struct rm_port *port = NULL;
    expect(rm_port_open(config, &port, &error) == code && port == NULL, "the configuration to be refused");
    expect(strstr(error.text, words) != NULL && strstr(error.text, config->name) != NULL, error.text);
}

static void open_impossible_interfaces(struct endpoints *endpoints, int end) {
    struct rm_port_config config = endpoints->config[end];
    snprintf(config.interface, sizeof config.interface, "nosuch0");
    expect_refusal(&config, RM_E_CONFIG, "no interface 'nosuch0'");
    snprintf(config.interface, sizeof config.interface, "a,qpairs=4");
    expect_refusal(&config, RM_E_CONFIG, "no interface");
    memset(config.interface, 'x', sizeof config.interface);
    expect_refusal(&config, RM_E_CONFIG, "no interface");

    struct rm_port *const port = open_end(endpoints, end);
    expect_refusal(&endpoints->config[end], RM_E_BUSY, "another port on interface 'veth0'");
    rm_port_close(port);
}

static void impossible_interfaces_are_refused(void **state) {
    assert_true(endpoints_wait(endpoints_start(*state, RECEIVER, open_impossible_interfaces)));
}

int main(void) {
    struct endpoints endpoints;
    if (!endpoints_make(&endpoints, "af_packet")) {
        fprintf(stderr, "SKIPPED: af_packet ports were not tested\n");
        return SKIPPED;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(what_this_host_sends_is_not_received, &endpoints),
        cmocka_unit_test_prestate(what_the_kernel_drops_is_counted, &endpoints),
        cmocka_unit_test_prestate(an_interface_may_go_down_and_up_again, &endpoints),
        cmocka_unit_test_prestate(jumbo_frames_pass_where_they_are_asked_for, &endpoints),
        cmocka_unit_test_prestate(fragmented_datagrams_arrive_whole, &endpoints),
        cmocka_unit_test_prestate(impossible_interfaces_are_refused, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name("af_packet ports", tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
