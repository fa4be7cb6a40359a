// SPDX-License-Identifier: Apache-2.0
/** Both ends of a link in one process: what is sent is received, whole and in order, by each way that needs no
 * privilege: shared memory and UDP sockets; frames of others are foreign; and an end answers the last sender. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "link_endpoint.h"
#include "probe.h"

enum { DATAGRAMS = 500, JUMBO = 8972, MEMIF_ENDS = 2, UDP_ENDS = 2, ENDS = MEMIF_ENDS + UDP_ENDS };

/** Under way at once at most: a socket without privilege has memory for so few of the longest. */
enum { UNDER_WAY = 14 };

static uint64_t const TIMEOUT_NS = 30ull * 1000 * 1000 * 1000;

struct world {
    char directory[64];
    struct rm_link_config config[ENDS];
    struct rm_link *end[ENDS]; /**< two of memif, two of UDP */
};

/** Two UDP ports of the loopback that are free. */
static void free_ports(unsigned ports[2]) {
    int file[2];
    for (int i = 0; i < 2; ++i) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof address;
        file[i] = socket(AF_INET, SOCK_DGRAM, 0);
        assert_int_equal(bind(file[i], (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(getsockname(file[i], (struct sockaddr *)&address, &length), 0);
        ports[i] = ntohs(address.sin_port);
    }
    close(file[0]);
    close(file[1]);
}

static int open_all(void **state) {
    static struct world world;
    unsigned ports[2];
    free_ports(ports);
    snprintf(world.directory, sizeof world.directory, "/tmp/test_link_XXXXXX");
    assert_non_null(mkdtemp(world.directory));
    char text[ENDS][RM_LINK_TEXT_BYTES];
    snprintf(text[0], sizeof text[0], "memif:%s/a.sock,role=server,mtu=9000", world.directory);
    snprintf(text[1], sizeof text[1], "memif:%s/a.sock,role=client,mtu=9000,address=10.1.1.1,peer=10.1.1.2",
             world.directory);
    snprintf(text[2], sizeof text[2], "udp:127.0.0.1:%u,peer=127.0.0.1:%u,mtu=9000", ports[0], ports[1]);
    snprintf(text[3], sizeof text[3], "udp:127.0.0.1:%u,peer=127.0.0.1:%u,mtu=9000,batch=7", ports[1], ports[0]);
    struct rm_error error = {0};
    for (int i = 0; i < ENDS; ++i)
        assert_int_equal(rm_link_parse(text[i], &world.config[i], &error), RM_OK);
    world.config[0].answer = true;
    if (rm_links_open(world.config, ENDS, world.end, &error) != RM_OK)
        fail_msg("%s", error.text);
    *state = &world;
    return 0;
}

static int close_all(void **state) {
    struct world *const world = *state;
    rm_links_close(world->end, ENDS);
    return rmdir(world->directory);
}

static uint32_t length_of(uint64_t number) { return RM_PROBE_BYTES + (uint32_t)(number * 7919 % (JUMBO - 17)); }

static uint8_t byte_of(uint64_t number) { return (uint8_t)(number * 31 + 7); }

/** Sends up to `most` datagrams from number `next` on; returns how many went. */
static uint32_t send_some(struct rm_link *link, uint64_t next, uint32_t most) {
    struct rm_link_burst out;
    uint32_t const count = rm_link_reserve(link, &out, most);
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_probe const probe = {.flow = 3, .sequence = next + i, .stamp = 5};
        out.length[i] = length_of(next + i);
        memset(out.payload[i], byte_of(next + i), out.length[i]);
        rm_probe_write(out.payload[i], &probe);
    }
    uint32_t const gone = rm_link_send(link, &out);
    assert_int_equal(out.count, count - gone);
    for (uint32_t i = 0; i < out.count; ++i)
        assert_int_equal(rm_probe_read(out.payload[i]).sequence, next + gone + i); // the rest has moved to the front
    rm_link_release(link, &out);
    return gone;
}

/** Takes what is there, which begins with number `next`; returns how many. */
static uint32_t receive_some(struct rm_link *link, uint64_t next) {
    struct rm_link_burst in;
    uint32_t const count = rm_link_receive(link, &in, 1000 * 1000);
    assert_int_equal(in.count, count);
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t const number = next + i;
        assert_int_equal(rm_probe_read(in.payload[i]).sequence, number);
        assert_int_equal(in.length[i], length_of(number));
        for (uint32_t at = RM_PROBE_BYTES; at < in.length[i]; ++at)
            if (in.payload[i][at] != byte_of(number))
                fail_msg("datagram %u: byte %u is wrong", (unsigned)number, at);
    }
    rm_link_release(link, &in);
    return count;
}

/** `bursts` of any size up to that, one way; no more than `under_way` that were not received yet. */
static void send_through(struct rm_link *from, struct rm_link *to, uint32_t bursts, uint64_t under_way) {
    uint64_t sent = 0, received = 0;
    uint64_t const give_up = rm_monotonic_ns() + TIMEOUT_NS;
    while (received < DATAGRAMS && rm_monotonic_ns() < give_up) {
        uint64_t const end = received + under_way < DATAGRAMS ? received + under_way : DATAGRAMS;
        if (sent < end)
            sent += send_some(from, sent, (uint32_t)(end - sent < bursts ? end - sent : bursts));
        received += receive_some(to, received);
    }
    assert_int_equal(received, DATAGRAMS);
    struct rm_link_statistics totals;
    rm_link_totals(to, &totals);
    assert_int_equal(totals.missed, 0);
    assert_int_equal(totals.foreign, 0);
    assert_int_equal(rm_link_check(from, NULL), RM_OK);
}

static void memif_carries_every_size_both_ways(void **state) {
    struct world *const world = *state;
    send_through(world->end[1], world->end[0], RM_BURST, DATAGRAMS);
    send_through(world->end[0], world->end[1], 1, DATAGRAMS);
}

static void udp_carries_every_size_both_ways(void **state) {
    struct world *const world = *state;
    send_through(world->end[2], world->end[3], RM_BURST, UNDER_WAY); // one system call each, taken seven at a time
    send_through(world->end[3], world->end[2], RM_BURST, UNDER_WAY); // seven at a time, taken one by one
}

/** By its own text this end would send from 198.18.0.1; but it was told to answer, and has heard of 10.1.1.1. */
static void an_answering_end_turns_to_the_sender(void **state) {
    struct world *const world = *state;
    uint64_t const give_up = rm_monotonic_ns() + TIMEOUT_NS;
    while (send_some(world->end[1], 0, 1) == 0 && rm_monotonic_ns() < give_up)
        continue;
    while (receive_some(world->end[0], 0) == 0 && rm_monotonic_ns() < give_up)
        continue;
    assert_int_equal(send_some(world->end[0], 0, 1), 1);
    struct rm_link_burst in;
    while (rm_link_receive(world->end[1], &in, 0) == 0 && rm_monotonic_ns() < give_up)
        rm_link_release(world->end[1], &in);
    assert_int_equal(in.count, 1);
    uint8_t const *const ipv4 = in.payload[0] - 28;
    assert_memory_equal(ipv4 + 12, ((uint8_t[]){10, 1, 1, 2, 10, 1, 1, 1}), 8);
    rm_link_release(world->end[1], &in);
}

/** Sends one of so many bytes, of which the other end must make a foreign one, its `foreign`-th. */
static void send_foreign(struct rm_link *from, struct rm_link *to, uint32_t bytes, uint64_t foreign) {
    struct rm_link_burst out, in;
    assert_int_equal(rm_link_reserve(from, &out, 1), 1);
    out.length[0] = bytes;
    assert_int_equal(rm_link_send(from, &out), 1);
    struct rm_link_statistics totals = {0};
    for (uint64_t const give_up = rm_monotonic_ns() + TIMEOUT_NS;
         totals.foreign < foreign && rm_monotonic_ns() < give_up;) {
        assert_int_equal(rm_link_receive(to, &in, RM_SLEEP), 0);
        rm_link_release(to, &in);
        rm_link_totals(to, &totals);
    }
    assert_int_equal(totals.foreign, foreign);
}

static void what_has_no_room_for_a_probe_is_foreign(void **state) {
    struct world *const world = *state;
    send_foreign(world->end[2], world->end[3], RM_PROBE_BYTES - 1, 1);
}

/** A sender with a larger MTU: the receiver has no room for what it sends. */
static void what_is_over_the_mtu_is_foreign(void **state) {
    struct world *const world = *state;
    send_foreign(world->end[2], world->end[3], JUMBO + 1, 2);
    send_foreign(world->end[1], world->end[0], JUMBO + 1, 1);
    assert_int_equal(send_some(world->end[2], 0, 1), 1); // others come through as before
    assert_int_equal(receive_some(world->end[3], 0), 1);
}

static void a_sleep_ends_when_something_comes_or_time_is_over(void **state) {
    struct world *const world = *state;
    struct rm_link *const udp[] = {world->end[2], world->end[3]};
    uint64_t const before = rm_monotonic_ns();
    rm_links_wait(udp, 2, 20 * 1000 * 1000);
    assert_true(rm_monotonic_ns() - before >= 20 * 1000 * 1000);
    assert_int_equal(send_some(udp[0], 0, 1), 1);
    rm_links_wait(udp, 2, RM_SLEEP);
    assert_int_equal(receive_some(udp[1], 0), 1);
    uint64_t const begin = rm_monotonic_ns();
    for (int i = 0; i < 200; ++i)
        rm_links_wait(world->end, 3, RM_SLEEP); // memif never sleeps, so none does: 0.1 s each time
    assert_true(rm_monotonic_ns() - begin < 10ull * 1000 * 1000 * 1000);
}

static void a_full_link_says_so_and_loses_nothing(void **state) {
    struct world *const world = *state;
    uint64_t sent = 0, received = 0;
    for (uint32_t gone = 1; gone != 0; sent += gone) {
        gone = send_some(world->end[0], sent, RM_BURST);
        assert_true(sent < 1 << 20);
    }
    uint64_t const give_up = rm_monotonic_ns() + TIMEOUT_NS;
    while (received < sent && rm_monotonic_ns() < give_up)
        received += receive_some(world->end[1], received);
    assert_int_equal(received, sent);
    assert_int_equal(receive_some(world->end[1], received), 0);
}

static void a_link_that_cannot_be_leaves_none_open(void **state) {
    struct world *const world = *state;
    struct rm_link_config configs[2] = {world->config[2]};
    unsigned ports[2];
    free_ports(ports);
    configs[0].udp_port = (uint16_t)ports[0];
    struct rm_error error = {0};
    struct rm_link *links[2];
    assert_int_equal(rm_link_parse("raw:no_such", &configs[1], NULL), RM_OK);
    assert_int_equal(rm_links_open(configs, 2, links, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "there is no interface 'no_such'"));
    assert_int_equal(rm_links_open(configs, 1, links, &error), RM_OK); // its address is free again
    rm_links_close(links, 1);
    assert_int_equal(rm_links_open(&world->config[2], 1, links, &error), RM_E_BUSY);
    assert_non_null(strstr(error.text, "another socket has it"));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(memif_carries_every_size_both_ways),
        cmocka_unit_test(udp_carries_every_size_both_ways),
        cmocka_unit_test(an_answering_end_turns_to_the_sender),
        cmocka_unit_test(what_has_no_room_for_a_probe_is_foreign),
        cmocka_unit_test(what_is_over_the_mtu_is_foreign),
        cmocka_unit_test(a_sleep_ends_when_something_comes_or_time_is_over),
        cmocka_unit_test(a_full_link_says_so_and_loses_nothing),
        cmocka_unit_test(a_link_that_cannot_be_leaves_none_open),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
