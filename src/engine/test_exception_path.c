// SPDX-License-Identifier: Apache-2.0
/** The exception path: to the kernel and back, what is answered, what is said unasked and when, and nothing lost
 * uncounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/exception_path.h"
#include "engine/test_exception_path_ports.h"
#include "wire/arp.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"

enum { OURS = 0x0A000001, THEIRS = 0x0A000007, GROUP = 0xEFC00102, TICKS_PER_MS = 1000, MINUTE = 60000 * TICKS_PER_MS };

static uint32_t const groups[] = {GROUP, GROUP + 1, GROUP + 2};
static uint8_t const our_mac[6] = {2, 0, 0, 0, 0, 1}, their_mac[6] = {2, 0, 0, 0, 0, 2};

/** A port with its exception path, and a kernel port if wanted. */
struct bench {
    struct rm_port *port, *kernel;
    struct rm_slow_port slow_port;
    struct rm_exception_path exception_path;
    rm_counter counters[RM_PORT_COUNTERS];
};

static struct bench *make(bool kernel, uint32_t answer_ipv4, uint32_t group_count) {
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->port = fake_port_make(FAKE_SLOW_QUEUE);
    bench->port->has_mac = true;
    bench->kernel = kernel ? fake_port_make(0) : NULL;
    bench->slow_port = (struct rm_slow_port){
        .port = bench->port,
        .kernel = bench->kernel,
        .counters = bench->counters,
        .answer_ipv4 = answer_ipv4,
        .group_count = group_count,
        .group = groups,
    };
    bench->exception_path = (struct rm_exception_path){&bench->slow_port, 1, .ticks_per_ms = TICKS_PER_MS};
    rm_exception_path_init(&bench->exception_path);
    return bench;
}

static void unmake(struct bench *bench) {
    assert_int_equal(bench->port->lent, 0);
    assert_true(bench->kernel == NULL || bench->kernel->lent == 0);
    free(bench->port);
    free(bench->kernel);
    free(bench);
}

/** One turn of the duty; what was sent before is forgotten. */
static uint32_t turn(struct bench *bench, uint64_t tsc) {
    bench->port->sent_count = 0;
    if (bench->kernel != NULL)
        bench->kernel->sent_count = 0;
    return rm_exception_path_duty(&bench->exception_path, tsc);
}

static uint64_t count(struct bench const *bench, enum rm_port_counter counter) {
    return rm_counter_get(bench->counters, counter);
}

static uint32_t write_arp_request(uint8_t *frame) {
    rm_arp_announce(frame, their_mac, THEIRS, 0);
    rm_store32(frame + RM_ETHERNET_BYTES + 24, OURS);
    return RM_ARP_ANNOUNCEMENT_BYTES;
}

/** An IPv4 packet from them, one hop far, with `bytes` of content whose checksum stands in its bytes 2 and 3. */
static uint32_t write_ipv4(uint8_t *frame, uint8_t protocol, uint32_t destination, uint8_t const *content,
                           uint32_t bytes) {
    uint32_t const at = rm_ethernet_write(frame, our_mac, their_mac, 0, ETHERTYPE_IPV4);
    memset(frame + at, 0, RM_IPV4_BYTES);
    frame[at] = 0x45;
    rm_store16(frame + at + IPV4_TOTAL_LENGTH, (uint16_t)(RM_IPV4_BYTES + bytes));
    frame[at + IPV4_TTL] = 1;
    frame[at + IPV4_PROTOCOL] = protocol;
    rm_store32(frame + at + IPV4_SOURCE, THEIRS);
    rm_store32(frame + at + IPV4_DESTINATION, destination);
    rm_ipv4_write_checksum(frame + at, RM_IPV4_BYTES);
    memcpy(frame + at + RM_IPV4_BYTES, content, bytes);
    rm_write_checksum(frame + at + RM_IPV4_BYTES, 2, bytes);
    return at + RM_IPV4_BYTES + bytes;
}

static void push_arp_request(struct bench *bench) {
    uint8_t frame[RM_ARP_ANNOUNCEMENT_BYTES];
    fake_port_push(bench->port, frame, write_arp_request(frame));
}

static void push_ping(struct bench *bench, uint32_t bytes) {
    uint8_t frame[FAKE_BYTES], content[FAKE_BYTES] = {8};
    fake_port_push(bench->port, frame, write_ipv4(frame, PROTOCOL_ICMP, OURS, content, bytes));
}

static void push_query(struct bench *bench, uint8_t version, uint32_t group, uint8_t code) {
    uint8_t frame[64], content[12] = {0x11, code};
    rm_store32(content + 4, group);
    uint32_t const destination = group != 0 ? group : 0xE0000001;
    uint32_t const bytes = version == 3 ? 12 : 8;
    fake_port_push(bench->port, frame, write_ipv4(frame, PROTOCOL_IGMP, destination, content, bytes));
}

static void push_noise(struct rm_port *port, uint32_t number, uint32_t length) {
    uint8_t frame[FAKE_BYTES];
    for (uint32_t i = 0; i < length; ++i)
        frame[i] = (uint8_t)(i * 7 + number);
    fake_port_push(port, frame, length);
}

static void assert_noise(struct fake_frame const *frame, uint32_t number, uint32_t length) {
    assert_int_equal(frame->length, length);
    for (uint32_t i = 0; i < length; ++i)
        assert_int_equal(frame->byte[i], (uint8_t)(i * 7 + number));
}

static void frames_pass_to_the_kernel_and_back(void **state) {
    (void)state;
    struct bench *const bench = make(true, 0, 0);
    for (uint32_t i = 0; i < 100; ++i) {
        push_noise(bench->port, i, 14 + i * 15);
        push_noise(bench->kernel, i + 1, RM_SEND_BYTES - i);
    }
    uint32_t to_kernel = 0, from_kernel = 0;
    for (int turns = 0; turns < 2; ++turns) {
        uint32_t const work = turn(bench, 0);
        assert_int_equal(work, turns == 0 ? 2 * RM_BURST : 2 * (100 - RM_BURST));
        for (uint32_t i = 0; i < bench->kernel->sent_count; ++i, ++to_kernel)
            assert_noise(&bench->kernel->sent[i], to_kernel, 14 + to_kernel * 15);
        for (uint32_t i = 0; i < bench->port->sent_count; ++i, ++from_kernel)
            assert_noise(&bench->port->sent[i], from_kernel + 1, RM_SEND_BYTES - from_kernel);
    }
    assert_int_equal(to_kernel, 100);
    assert_int_equal(from_kernel, 100);
    assert_int_equal(count(bench, RM_PORT_TO_KERNEL), 100);
    assert_int_equal(count(bench, RM_PORT_FROM_KERNEL), 100);
    assert_int_equal(count(bench, RM_PORT_KERNEL_FULL), 0);
    unmake(bench);
}

static void what_the_other_side_does_not_take_is_counted(void **state) {
    (void)state;
    struct bench *const bench = make(true, 0, 0);
    bench->kernel->room = 10;
    bench->port->takes = 7;
    for (uint32_t i = 0; i < 20; ++i) {
        push_noise(bench->port, i, 100);
        push_noise(bench->kernel, i, 100);
    }
    push_noise(bench->port, 0, RM_SEND_BYTES + 1);
    turn(bench, 0);
    assert_int_equal(bench->kernel->sent_count, 10);
    assert_int_equal(bench->port->sent_count, 7);
    assert_int_equal(count(bench, RM_PORT_TO_KERNEL), 10);
    assert_int_equal(count(bench, RM_PORT_FROM_KERNEL), 7);
    assert_int_equal(count(bench, RM_PORT_KERNEL_FULL), 11 + 13);
    unmake(bench);
}

static void the_kernel_answers_where_there_is_one(void **state) {
    (void)state;
    struct bench *const bench = make(true, OURS, 0);
    push_arp_request(bench);
    turn(bench, 0);
    assert_int_equal(bench->port->sent_count, 0);
    assert_int_equal(bench->kernel->sent_count, 1);
    assert_int_equal(count(bench, RM_PORT_ANSWERED), 0);
    unmake(bench);
}

static void arp_and_ping_are_answered(void **state) {
    (void)state;
    struct bench *const bench = make(false, OURS, 0);
    turn(bench, 0); /* the announcement */
    push_noise(bench->port, 1, 60);
    push_arp_request(bench);
    push_noise(bench->port, 2, 60);
    push_ping(bench, 64);
    assert_int_equal(turn(bench, 1), 4);
    assert_int_equal(bench->port->sent_count, 2);
    uint8_t const *const arp = bench->port->sent[0].byte, *const ping = bench->port->sent[1].byte;
    assert_memory_equal(arp, their_mac, 6);
    assert_memory_equal(arp + 6, our_mac, 6);
    assert_int_equal(rm_load16(arp + 20), 2);
    assert_memory_equal(arp + 22, our_mac, 6);
    assert_memory_equal(ping, their_mac, 6);
    assert_int_equal(ping[34], 0);
    assert_int_equal(bench->port->sent[1].length, 14 + 20 + 64);
    assert_int_equal(count(bench, RM_PORT_ANSWERED), 2);
    assert_int_equal(count(bench, RM_PORT_KERNEL_FULL), 0);
    unmake(bench);
}

static void answers_without_room_are_counted(void **state) {
    (void)state;
    struct bench *const bench = make(false, OURS, 0);
    turn(bench, 0);
    bench->port->takes = 1;
    push_ping(bench, 8);
    push_ping(bench, 8);
    push_ping(bench, RM_SEND_BYTES); /* with its headers more than may be sent */
    turn(bench, 1);
    assert_int_equal(count(bench, RM_PORT_ANSWERED), 1);
    assert_int_equal(count(bench, RM_PORT_KERNEL_FULL), 2);
    unmake(bench);
}

static void a_port_without_mac_makes_one_of_its_address(void **state) {
    (void)state;
    struct bench *const bench = make(false, OURS, 0);
    bench->port->has_mac = false;
    rm_exception_path_init(&bench->exception_path);
    push_arp_request(bench);
    turn(bench, 0);
    assert_int_equal(bench->port->sent_count, 2);
    assert_memory_equal(bench->port->sent[0].byte + 22, "\x02\x00\x0a\x00\x00\x01", 6);
    assert_memory_equal(bench->port->sent[1].byte + 22, "\x02\x00\x0a\x00\x00\x01", 6);
    unmake(bench);
}

static void nobody_home_says_nothing(void **state) {
    (void)state;
    struct bench *const bench = make(false, 0, 0);
    push_arp_request(bench);
    push_ping(bench, 8);
    push_query(bench, 2, 0, 10);
    assert_int_equal(turn(bench, 0), 3);
    assert_int_equal(turn(bench, MINUTE), 0);
    assert_int_equal(bench->port->sent_count, 0);
    assert_int_equal(count(bench, RM_PORT_ANSWERED), 0);
    unmake(bench);
}

/** Announced at once, a second later, and every minute after that. */
static void it_announces_itself(void **state) {
    (void)state;
    struct bench *const bench = make(false, OURS, 0);
    uint64_t const start = 12345, second = 1000 * TICKS_PER_MS;
    uint64_t const expected[] = {start, start + second, start + second + MINUTE, start + second + 2ull * MINUTE};
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        assert_int_equal(i == 0 ? 0 : turn(bench, expected[i] - 1), 0);
        assert_int_equal(turn(bench, expected[i]), 1);
        assert_int_equal(bench->port->sent_count, 1);
        assert_memory_equal(bench->port->sent[0].byte, "\xff\xff\xff\xff\xff\xff", 6);
        assert_int_equal(rm_load32(bench->port->sent[0].byte + 38), OURS);
    }
    unmake(bench);
}

static void a_link_that_is_down_is_tried_again_soon(void **state) {
    (void)state;
    struct bench *const bench = make(false, OURS, 2);
    uint64_t const second = 1000 * TICKS_PER_MS;
    uint32_t *const limits[] = {&bench->port->takes, &bench->port->room};
    for (unsigned i = 0; i < 2; ++i) {
        *limits[i] = 0;
        assert_int_equal(turn(bench, i * second), 0);
        *limits[i] = RM_BURST;
    }
    assert_int_equal(turn(bench, 2 * second - 1), 0);
    assert_int_equal(turn(bench, 2 * second), 3);
    assert_int_equal(turn(bench, 3 * second), 3);
    assert_int_equal(turn(bench, 4 * second), 0);
    unmake(bench);
}

static bool reports(struct fake_frame const *frame, uint32_t group) {
    uint32_t const v2 = frame->byte[38] == 0x16 ? rm_load32(frame->byte + 42) : 0;
    if (frame->byte[38] == 0x22)
        for (uint32_t i = 0; i < rm_load16(frame->byte + 44); ++i)
            if (rm_load32(frame->byte + 50 + 8 * i) == group)
                return true;
    return v2 == group;
}

static void groups_are_reported_at_first_and_every_minute(void **state) {
    (void)state;
    struct bench *const bench = make(true, 0, 3); /* also where the kernel has the rest */
    uint64_t const second = 1000 * TICKS_PER_MS;
    uint64_t const expected[] = {0, second, second + MINUTE};
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        assert_int_equal(i == 0 ? 0 : turn(bench, expected[i] - 1), 0);
        assert_int_equal(turn(bench, expected[i]), 3);
        assert_int_equal(bench->port->sent_count, 3);
        for (uint32_t k = 0; k < 3; ++k)
            assert_true(reports(&bench->port->sent[k], groups[k]));
    }
    unmake(bench);
}

static void queries_are_answered_in_time_and_in_their_version(void **state) {
    (void)state;
    for (uint8_t version = 2; version <= 3; ++version) {
        struct bench *const bench = make(false, OURS, 3);
        uint64_t tsc = MINUTE / 2;
        turn(bench, 0);
        turn(bench, tsc);
        for (unsigned times = 0; times < 100; ++times, tsc += 97 * TICKS_PER_MS) {
            push_query(bench, version, groups[1], 2); /* within 200 ms */
            push_query(bench, version, groups[1], 3); /* twice, and still one answer */
            push_query(bench, version, GROUP + 100, 1);
            turn(bench, tsc);
            uint32_t sent = bench->port->sent_count;
            for (unsigned ms = 1; ms <= 200; ++ms) {
                turn(bench, tsc += TICKS_PER_MS);
                for (uint32_t i = 0; i < bench->port->sent_count; ++i) {
                    assert_true(reports(&bench->port->sent[i], groups[1]));
                    assert_false(reports(&bench->port->sent[i], groups[0]));
                }
                sent += bench->port->sent_count;
            }
            assert_int_equal(sent, 1);
        }
        assert_int_equal(count(bench, RM_PORT_ANSWERED), 200);
        push_query(bench, version, 0, 1);
        turn(bench, tsc);
        uint32_t const at_once = bench->port->sent_count;
        turn(bench, tsc + 100 * TICKS_PER_MS);
        assert_int_equal(at_once + bench->port->sent_count, version == 3 ? 1 : 3);
        unmake(bench);
    }
}

/** A query that waits for its answer is answered with the next one's groups, as early as the more urgent of both. */
static void queries_add_up(void **state) {
    (void)state;
    struct bench *const bench = make(false, OURS, 3);
    turn(bench, 0);
    turn(bench, MINUTE / 2);
    for (uint64_t times = 1; times <= 20; ++times) {
        uint64_t const tsc = MINUTE / 2 + times * 1000 * TICKS_PER_MS;
        push_query(bench, 3, groups[0], 100);
        push_query(bench, 3, groups[2], 1);
        push_query(bench, 3, groups[0], 100);
        turn(bench, tsc);
        uint32_t const at_once = bench->port->sent_count;
        if (at_once == 0)
            turn(bench, tsc + 100 * TICKS_PER_MS);
        assert_int_equal(bench->port->sent_count, 1);
        struct fake_frame const *const sent = &bench->port->sent[0];
        assert_true(reports(sent, groups[0]) && !reports(sent, groups[1]) && reports(sent, groups[2]));
    }
    unmake(bench);
}

static void a_flood_cannot_hold_the_core(void **state) {
    (void)state;
    struct bench *const bench = make(true, 0, 0);
    for (uint32_t i = 0; i < FAKE_FRAMES; ++i) {
        push_noise(bench->port, i, 60);
        push_noise(bench->kernel, i, 60);
    }
    assert_int_equal(turn(bench, 0), 2 * RM_BURST);
    bench->port->waiting_count = bench->kernel->waiting_count = 0;
    unmake(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(frames_pass_to_the_kernel_and_back),
        cmocka_unit_test(what_the_other_side_does_not_take_is_counted),
        cmocka_unit_test(the_kernel_answers_where_there_is_one),
        cmocka_unit_test(arp_and_ping_are_answered),
        cmocka_unit_test(answers_without_room_are_counted),
        cmocka_unit_test(a_port_without_mac_makes_one_of_its_address),
        cmocka_unit_test(nobody_home_says_nothing),
        cmocka_unit_test(it_announces_itself),
        cmocka_unit_test(a_link_that_is_down_is_tried_again_soon),
        cmocka_unit_test(groups_are_reported_at_first_and_every_minute),
        cmocka_unit_test(queries_are_answered_in_time_and_in_their_version),
        cmocka_unit_test(queries_add_up),
        cmocka_unit_test(a_flood_cannot_hold_the_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
