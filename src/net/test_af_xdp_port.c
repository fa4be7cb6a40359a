// SPDX-License-Identifier: Apache-2.0
/** What is special about af_xdp ports: what they claim, what they leave to the kernel, and whose program it is. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
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

enum { SKIPPED = 77, NATIVE_FRAME_BYTES = 106, TCP_BYTES = 1 << 20, TCP_PORT = 5000, FOR_EVER = INT32_MAX };

static struct sockaddr_in address_of_end(int end, uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(0x0A630001 + (uint32_t)end)};
}

static void send_stream(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    while (atomic_load(&endpoints->shared->step) < 2)
        numbered_send(endpoints, port, 0, &numbered, RM_BURST);
    rm_port_close(port);
}

/** An ICMP echo request and its reply. */
static void ping(void) {
    struct sockaddr_in const peer = address_of_end(RECEIVER, 0);
    struct icmphdr request = {.type = ICMP_ECHO, .un.echo = {.id = htons(0x1234), .sequence = htons(1)}};
    request.checksum = htons((uint16_t) ~((ICMP_ECHO << 8) + 0x1234 + 1));
    struct {
        struct iphdr ip;
        struct icmphdr icmp;
    } reply;
    int const fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    expect(sendto(fd, &request, sizeof request, 0, (struct sockaddr const *)&peer, sizeof peer) == sizeof request,
           "a ping to leave");
    expect(recv(fd, &reply, sizeof reply, 0) == sizeof reply && reply.icmp.type == ICMP_ECHOREPLY, "its reply");
    close(fd);
}

/** UDP to a port that is not claimed, and has no socket: the kernel says so by ICMP. */
static void be_refused(void) {
    struct sockaddr_in const peer = address_of_end(RECEIVER, 9);
    char byte = 0;
    int const fd = socket(AF_INET, SOCK_DGRAM, 0);
    expect(connect(fd, (struct sockaddr const *)&peer, sizeof peer) == 0 && send(fd, &byte, 1, 0) == 1,
           "a datagram to leave");
    expect(recv(fd, &byte, 1, 0) < 0 && errno == ECONNREFUSED, "the kernel to refuse it");
    close(fd);
}

/** Sends a mebibyte to the receiver's kernel by TCP while the stream runs, when it has answered ARP and ICMP. */
static void talk_to_the_kernel(struct endpoints *endpoints, int end) {
    (void)end;
    wait_for_step(endpoints, 1);
    expect(system("ip neighbour del 10.99.0.1 dev veth1") == 0, "to forget the receiver's MAC address");
    ping();
    be_refused();
    struct sockaddr_in const peer = address_of_end(RECEIVER, TCP_PORT);
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    expect(connect(fd, (struct sockaddr const *)&peer, sizeof peer) == 0, "a TCP connection");
    char bytes[4096] = {0};
    for (int sent = 0; sent < TCP_BYTES; sent += (int)sizeof bytes)
        expect(write(fd, bytes, sizeof bytes) == sizeof bytes, "the connection to hold");
    close(fd);
}

static int listen_for_tcp(void) {
    struct sockaddr_in const local = address_of_end(RECEIVER, TCP_PORT);
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    expect(bind(fd, (struct sockaddr const *)&local, sizeof local) == 0 && listen(fd, 1) == 0, "a TCP socket");
    return fd;
}

/** Receives the stream in order until the TCP connection has brought everything. They share a veth's queue of 256
 * frames, which drops what finds it full. */
static void receive_beside_the_kernel(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    int const listener = listen_for_tcp();
    atomic_store(&endpoints->shared->step, 1);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES, .lossy = true};
    numbered_receive(endpoints, port, 0, &numbered, 1000);
    int connection = -1;
    for (int bytes = 0; bytes < TCP_BYTES;) {
        char buffer[65536];
        numbered_receive(endpoints, port, 0, &numbered, 1);
        if (connection < 0)
            connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        ssize_t const got = connection < 0 ? 0 : read(connection, buffer, sizeof buffer);
        bytes += got > 0 ? (int)got : 0;
    }
    atomic_store(&endpoints->shared->received, FOR_EVER);
    atomic_store(&endpoints->shared->step, 2);
    rm_port_close(port);
}

static void the_kernel_keeps_what_is_not_claimed(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_beside_the_kernel);
    pid_t const sender = endpoints_start(endpoints, SENDER, send_stream);
    assert_true(endpoints_wait(endpoints_start(endpoints, SENDER, talk_to_the_kernel)));
    assert_true(endpoints_wait_both(receiver, sender));
}

enum { DATAGRAM_BYTES = 2688, DATAGRAMS = 100, FIRST_FRAGMENT = 1514, LAST_FRAGMENT = 42 - 8 + DATAGRAM_BYTES - 1472 };

static void send_datagrams(uint16_t port) {
    int const fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in const peer = address_of_end(RECEIVER, port);
    uint8_t const payload[DATAGRAM_BYTES] = {0};
    for (int i = 0; i < DATAGRAMS; ++i)
        expect(sendto(fd, payload, sizeof payload, 0, (struct sockaddr const *)&peer, sizeof peer) == DATAGRAM_BYTES,
               "a datagram to leave");
    close(fd);
}

static void send_fragments(struct endpoints *endpoints, int end) {
    (void)end;
    wait_for_step(endpoints, 1);
    send_datagrams(CLAIMED_PORT);
}

static void receive_fragments(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct rm_burst burst = {0};
    for (uint32_t received = 0; received < 2 * DATAGRAMS; rm_port_release(port, 0, &burst)) {
        rm_port_receive(port, 0, &burst);
        for (uint32_t i = 0; i < burst.count; ++i, ++received)
            expect(burst.length[i] == (received % 2 == 0 ? FIRST_FRAGMENT : LAST_FRAGMENT), "both fragments in turn");
    }
    rm_port_close(port);
}

static void all_fragments_of_a_known_source_are_claimed(void **state) {
    struct endpoints *const endpoints = *state;
    uint32_t const source = 0x0A630002;
    endpoints_begin(endpoints);
    endpoints->config[RECEIVER].source_count = 1;
    endpoints->config[RECEIVER].source = &source;
    pid_t const sender = endpoints_start(endpoints, SENDER, send_fragments);
    assert_true(endpoints_wait_both(sender, endpoints_start(endpoints, RECEIVER, receive_fragments)));
    endpoints->config[RECEIVER].source_count = 0;
}

/** A service tag of VLAN 9, and one of VLAN 7. */
static uint8_t const tags[] = {0x88, 0xA8, 0, 9, 0x81, 0, 0, 7};

/** The stream's frames with `bytes` of tags after the addresses: the inner one, or both. */
static void send_tagged_by(struct endpoints *endpoints, int end, size_t bytes) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    rm_port_reserve(port, 0, &burst, RM_BURST);
    numbered_fill(endpoints, port, &numbered, &burst);
    for (uint32_t i = 0; i < burst.count; ++i) {
        memmove(burst.data[i] + 12 + bytes, burst.data[i] + 12, NATIVE_FRAME_BYTES - 12);
        memcpy(burst.data[i] + 12, tags + sizeof tags - bytes, bytes);
        burst.length[i] += (uint32_t)bytes;
    }
    expect(rm_port_send(port, 0, &burst) == RM_BURST, "a burst to leave");
    rm_port_close(port);
}

static void send_tagged(struct endpoints *endpoints, int end) { send_tagged_by(endpoints, end, 4); }

static void send_tagged_twice(struct endpoints *endpoints, int end) { send_tagged_by(endpoints, end, 8); }

static void receive_tagged_by(struct endpoints *endpoints, int end, size_t bytes) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct rm_burst burst = {0};
    for (uint32_t received = 0; received < RM_BURST; rm_port_release(port, 0, &burst)) {
        received += rm_port_receive(port, 0, &burst);
        for (uint32_t i = 0; i < burst.count; ++i)
            expect(memcmp(burst.data[i] + 12 + bytes - 4, (uint8_t[]){0x81, 0, 0, 7, 8, 0}, 6) == 0,
                   "a frame of VLAN 7");
    }
    rm_port_close(port);
}

static void receive_tagged(struct endpoints *endpoints, int end) { receive_tagged_by(endpoints, end, 4); }

static void receive_tagged_twice(struct endpoints *endpoints, int end) { receive_tagged_by(endpoints, end, 8); }

static void tagged_datagrams_are_claimed(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const sender = endpoints_start(endpoints, SENDER, send_tagged);
    assert_true(endpoints_wait_both(sender, endpoints_start(endpoints, RECEIVER, receive_tagged)));
    endpoints_begin(endpoints);
    pid_t const twice = endpoints_start(endpoints, SENDER, send_tagged_twice);
    assert_true(endpoints_wait_both(twice, endpoints_start(endpoints, RECEIVER, receive_tagged_twice)));
}

/** Frames of an EtherType for local experiments, in place of datagrams. */
static void send_plain_frames(struct endpoints *endpoints, int end) {
    endpoints->claimed = false;
    send_stream(endpoints, end);
}

static void receive_plain_frames(struct endpoints *endpoints, int end) {
    struct rm_port_config *config = &endpoints->config[end];
    endpoints->claimed = false;
    config->claim_count = 0;
    config->ethertype_count = 1;
    config->ethertype[0] = 0x88B5;
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct numbered numbered = {.fixed = NATIVE_FRAME_BYTES};
    numbered_receive(endpoints, port, 0, &numbered, 1000);
    atomic_store(&endpoints->shared->received, FOR_EVER);
    atomic_store(&endpoints->shared->step, 2);
    rm_port_close(port);
}

static void frames_of_a_named_ethertype_are_claimed(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const sender = endpoints_start(endpoints, SENDER, send_plain_frames);
    assert_true(endpoints_wait_both(sender, endpoints_start(endpoints, RECEIVER, receive_plain_frames)));
}

static void open_and_wait(struct endpoints *endpoints, int end) {
    open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    for (;;)
        pause();
}

static void expect_refusal(struct rm_port_config const *config, enum rm_code code, char const *words) {
    struct rm_error error = {0};
    struct rm_port *port = NULL;
    expect(rm_port_open(config, &port, &error) == code && port == NULL, "the configuration to be refused");
    expect(strstr(error.text, words) != NULL && strstr(error.text, config->name) != NULL, error.text);
}

static void open_beside(struct endpoints *endpoints, int end) {
    expect_refusal(&endpoints->config[end], RM_E_BUSY, "has an af_xdp port on interface 'veth0'");
}

static void open_and_close(struct endpoints *endpoints, int end) { rm_port_close(open_end(endpoints, end)); }

static void one_process_has_an_interface_and_its_death_frees_it(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const first = endpoints_start(endpoints, RECEIVER, open_and_wait);
    while (atomic_load(&endpoints->shared->step) == 0)
        pause_ms(1);
    bool const refused = endpoints_wait(endpoints_start(endpoints, RECEIVER, open_beside));
    endpoints_kill(first);
    assert_true(refused);
    assert_true(endpoints_wait(endpoints_start(endpoints, RECEIVER, open_and_close)));
}

static void open_impossibly(struct endpoints *endpoints, int end) {
    struct rm_port_config config = endpoints->config[end];
    config.longest_frame = 9000;
    expect_refusal(&config, RM_E_CONFIG, "Use af_packet");
    config = endpoints->config[end];
    config.claim_count = 0;
    expect_refusal(&config, RM_E_CONFIG, "claims no UDP port");
    config = endpoints->config[end];
    config.exception_path = true;
    expect_refusal(&config, RM_E_CONFIG, "no exception path");
    snprintf(config.interface, sizeof config.interface, "nosuch0");
    expect_refusal(&config, RM_E_CONFIG, "no interface 'nosuch0'");
    config = endpoints->config[end];
    config.queues = 2; // a veth pair has one
    expect_refusal(&config, RM_E_SYSTEM, "");
}

static void impossible_configurations_are_refused(void **state) {
    endpoints_begin(*state);
    assert_true(endpoints_wait(endpoints_start(*state, RECEIVER, open_impossibly)));
}

int main(void) {
    struct endpoints endpoints;
    if (!endpoints_make(&endpoints, "af_xdp")) {
        fprintf(stderr, "SKIPPED: af_xdp ports were not tested\n");
        return SKIPPED;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(the_kernel_keeps_what_is_not_claimed, &endpoints),
        cmocka_unit_test_prestate(all_fragments_of_a_known_source_are_claimed, &endpoints),
        cmocka_unit_test_prestate(tagged_datagrams_are_claimed, &endpoints),
        cmocka_unit_test_prestate(frames_of_a_named_ethertype_are_claimed, &endpoints),
        cmocka_unit_test_prestate(one_process_has_an_interface_and_its_death_frees_it, &endpoints),
        cmocka_unit_test_prestate(impossible_configurations_are_refused, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name("af_xdp ports", tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
