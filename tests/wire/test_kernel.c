// SPDX-License-Identifier: Apache-2.0
/** The wire room against a kernel: each takes the other's fragments, and the kernel finds and pings an address that
 * only our functions answer for. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "kernel_endpoints.h"
#include "wire/arp.h"
#include "wire/fragment.h"
#include "wire/icmp.h"
#include "wire/igmp.h"
#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"
#include "wire/reassembly.h"

enum { SKIPPED = 77, MTU = 1500, PAYLOAD_MOST = 65507, PIECES_MOST = 64, OUR_IPV4 = 0x0A63004D, GROUP = 0xEFC00102 };

/** A Libera Grouping datagram of 168 BPMs, one of 256, just over an MTU, and as long as can be. */
static uint32_t const lengths[] = {2688, 2716, 4096, 1473, 9000, PAYLOAD_MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static uint8_t *make_payload(uint32_t length) {
    uint8_t *const payload = malloc(length);
    assert_non_null(payload);
    for (uint32_t i = 0; i < length; ++i)
        payload[i] = (uint8_t)(i * 31 + (i >> 8) + length);
    return payload;
}

/** Takes frames at end 0 until a datagram is whole. Returns how many fragments it had. */
static uint32_t take_whole(struct kernel_endpoints const *endpoints, struct rm_reassembly *reassembly,
                           struct rm_datagram *datagram) {
    for (uint32_t fragments = 1;; ++fragments) {
        uint8_t frame[KERNEL_FRAME_MOST];
        uint32_t const length = kernel_endpoints_next(endpoints, 0, frame);
        assert_int_equal(rm_frame_parse(frame, length, false, datagram), RM_PORT_FRAGMENT);
        enum rm_port_counter const verdict = rm_reassembly_put(reassembly, frame, length, 0, datagram);
        if (verdict != RM_PORT_FRAGMENT) {
            assert_int_equal(verdict, RM_PORT_DECODED);
            return fragments;
        }
    }
}

static void what_the_kernel_cuts_comes_out_whole(void **state) {
    struct kernel_endpoints const *const endpoints = *state;
    struct rm_reassembly *const reassembly = rm_reassembly_new(4, RM_REASSEMBLY_LONGEST_MAX, 1);
    assert_non_null(reassembly);
    for (uint32_t i = 0; i < LENGTHS; ++i) {
        uint8_t *const payload = make_payload(lengths[i]);
        struct rm_datagram datagram;
        kernel_endpoints_send_to(endpoints->udp[1], KERNEL_FIRST_IPV4, payload, lengths[i]);
        uint32_t const fragments = take_whole(endpoints, reassembly, &datagram);
        assert_int_equal(fragments, (lengths[i] + RM_UDP_BYTES + 1479) / 1480);
        assert_int_equal(datagram.length, lengths[i]);
        assert_memory_equal(datagram.payload, payload, lengths[i]);
        assert_int_equal(datagram.source_ipv4, KERNEL_FIRST_IPV4 + 1);
        assert_int_equal(datagram.source_port, KERNEL_UDP_PORT);
        uint8_t *const at_kernel = malloc(PAYLOAD_MOST);
        assert_non_null(at_kernel);
        assert_int_equal(kernel_endpoints_read(endpoints->udp[0], at_kernel, PAYLOAD_MOST), lengths[i]);
        assert_memory_equal(at_kernel, payload, lengths[i]);
        free(at_kernel);
        free(payload);
    }
    rm_reassembly_free(reassembly);
}

/** Sends a whole frame in pieces out of end 1: the last first, then every other. */
static void send_cut(struct kernel_endpoints const *endpoints, uint8_t const *whole, uint32_t length,
                     uint16_t identification) {
    uint32_t const count = rm_fragment_count(whole, length, MTU);
    assert_true(count > 1 && count <= PIECES_MOST);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const turned = count - 1 - i;
        uint32_t const index = count % 2 ? turned : turned ^ 1;
        uint8_t frame[KERNEL_FRAME_MOST];
        kernel_endpoints_send(endpoints, 1, frame, rm_fragment_write(whole, length, MTU, identification, index, frame));
    }
}

static void the_kernel_takes_what_we_cut(void **state) {
    struct kernel_endpoints const *const endpoints = *state;
    struct rm_flow const flow = {
        .destination_mac = {2, 0, 0, 0, 0, 1},
        .source_mac = {2, 0, 0, 0, 0, 2},
        .source_ipv4 = KERNEL_FIRST_IPV4 + 1,
        .destination_ipv4 = KERNEL_FIRST_IPV4,
        .source_port = KERNEL_UDP_PORT,
        .destination_port = KERNEL_UDP_PORT,
    };
    uint8_t *const whole = malloc(RM_FRAME_HEADER_BYTES + PAYLOAD_MOST);
    uint8_t *const at_kernel = malloc(PAYLOAD_MOST);
    assert_true(whole != NULL && at_kernel != NULL);
    for (uint32_t i = 0; i < LENGTHS; ++i) {
        uint8_t *const payload = make_payload(lengths[i]);
        uint32_t const header = rm_frame_write_header(whole, &flow, lengths[i]);
        memcpy(whole + header, payload, lengths[i]);
        rm_frame_write_udp_checksum(whole, lengths[i]);
        send_cut(endpoints, whole, header + lengths[i], (uint16_t)(0xF000 + i));
        assert_int_equal(kernel_endpoints_read(endpoints->udp[0], at_kernel, PAYLOAD_MOST), lengths[i]);
        assert_memory_equal(at_kernel, payload, lengths[i]);
        free(payload);
    }
    free(at_kernel);
    free(whole);
}

/** Answers at end 0 for OUR_IPV4 until it has answered a ping. Returns how many ARP requests it answered before. */
static uint32_t answer_until_pinged(struct kernel_endpoints const *endpoints) {
    uint8_t frame[KERNEL_FRAME_MOST], mac[6];
    rm_arp_make_mac(OUR_IPV4, mac);
    for (uint32_t asked = 0;;) {
        uint32_t const length = kernel_endpoints_next(endpoints, 0, frame);
        uint32_t const arp = rm_arp_answer(frame, length, mac, OUR_IPV4);
        uint32_t const ping = arp == 0 ? rm_icmp_answer(frame, length, OUR_IPV4) : 0;
        if (arp + ping != 0)
            kernel_endpoints_send(endpoints, 0, frame, arp + ping);
        asked += arp != 0;
        if (ping != 0)
            return asked;
    }
}

/** A raw socket gives every ICMP message with its IPv4 header, the errors that earlier tests caused too. */
static uint32_t read_echo_reply(int fd, uint8_t *packet, uint32_t most) {
    uint32_t length = kernel_endpoints_read(fd, packet, most);
    while (rm_load32(packet + IPV4_SOURCE) != OUR_IPV4)
        length = kernel_endpoints_read(fd, packet, most);
    return length;
}

static void the_kernel_finds_and_pings_us(void **state) {
    struct kernel_endpoints const *const endpoints = *state;
    static uint32_t const sizes[] = {8, 9, 64, 1000, 1480};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        uint8_t request[1480] = {8, 0, 0, 0, 0x12, 0x34, 0, (uint8_t)i}, packet[2000];
        for (uint32_t k = 8; k < sizes[i]; ++k)
            request[k] = (uint8_t)(k * 7 + i);
        rm_write_checksum(request, 2, sizes[i]);
        kernel_endpoints_send_to(endpoints->icmp, OUR_IPV4, request, sizes[i]);
        uint32_t const asked = answer_until_pinged(endpoints);
        assert_true(i != 0 || asked == 1);
        assert_int_equal(read_echo_reply(endpoints->icmp, packet, sizeof packet), RM_IPV4_BYTES + sizes[i]);
        assert_int_equal(rm_load16(packet + RM_IPV4_BYTES), 0);
        assert_int_equal(rm_checksum_fold(rm_checksum_add_bytes(0, packet + RM_IPV4_BYTES, sizes[i])), 0xFFFF);
        assert_memory_equal(packet + RM_IPV4_BYTES + 4, request + 4, sizes[i] - 4);
    }
}

/** A general query of version 3, answered within a tenth of a second. */
static void query_groups(struct kernel_endpoints const *endpoints) {
    static uint8_t const everybody[6] = {0x01, 0, 0x5E, 0, 0, 1}, asker[6] = {2, 0, 0, 0, 0, 1};
    uint8_t frame[60] = {0};
    uint8_t *const ipv4 = frame + rm_ethernet_write(frame, everybody, asker, 0, ETHERTYPE_IPV4);
    uint8_t *const igmp = ipv4 + RM_IPV4_BYTES;
    ipv4[0] = 0x45;
    rm_store16(ipv4 + IPV4_TOTAL_LENGTH, RM_IPV4_BYTES + 12);
    ipv4[IPV4_TTL] = 1;
    ipv4[IPV4_PROTOCOL] = PROTOCOL_IGMP;
    rm_store32(ipv4 + IPV4_SOURCE, KERNEL_FIRST_IPV4);
    rm_store32(ipv4 + IPV4_DESTINATION, 0xE0000001);
    rm_ipv4_write_checksum(ipv4, RM_IPV4_BYTES);
    igmp[0] = 0x11;
    igmp[1] = 1;
    rm_write_checksum(igmp, 2, 12);
    struct rm_igmp_query query;
    assert_true(rm_igmp_find_query(frame, sizeof frame, &query));
    kernel_endpoints_send(endpoints, 0, frame, sizeof frame);
}

static void we_report_groups_as_the_kernel_does(void **state) {
    struct kernel_endpoints const *const endpoints = *state;
    struct ip_mreqn const join = {
        .imr_multiaddr.s_addr = htonl(GROUP),
        .imr_address.s_addr = htonl(KERNEL_FIRST_IPV4 + 1),
    };
    assert_int_equal(setsockopt(endpoints->udp[1], IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join), 0);
    query_groups(endpoints);
    uint8_t ours[RM_IGMP_FRAME_BYTES], frame[KERNEL_FRAME_MOST];
    struct rm_igmp_reporter const reporter = {.mac = {2, 0, 0, 0, 0, 2}, .ipv4 = KERNEL_FIRST_IPV4 + 1};
    uint32_t const group = GROUP, igmp = RM_ETHERNET_BYTES + RM_IPV4_BYTES + 4;
    rm_igmp_write_report_v3(ours, &reporter, &group, 1);
    bool same = false;
    while (!same) { /* joining is reported too, in other words */
        uint32_t const length = kernel_endpoints_next(endpoints, 0, frame);
        same = length >= igmp + 16 && frame[RM_ETHERNET_BYTES + IPV4_PROTOCOL] == PROTOCOL_IGMP &&
               memcmp(frame + igmp, ours + igmp, 16) == 0;
    }
    assert_memory_equal(frame, ours, RM_ETHERNET_BYTES);
    assert_memory_equal(frame + RM_ETHERNET_BYTES, ours + RM_ETHERNET_BYTES, IPV4_IDENTIFICATION);
    assert_memory_equal(frame + RM_ETHERNET_BYTES + IPV4_TTL, ours + RM_ETHERNET_BYTES + IPV4_TTL, 2);
    assert_memory_equal(frame + RM_ETHERNET_BYTES + IPV4_SOURCE, ours + RM_ETHERNET_BYTES + IPV4_SOURCE, 12);
}

int main(void) {
    struct kernel_endpoints endpoints;
    if (!kernel_endpoints_make(&endpoints))
        return SKIPPED;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(what_the_kernel_cuts_comes_out_whole, &endpoints),
        cmocka_unit_test_prestate(the_kernel_takes_what_we_cut, &endpoints),
        cmocka_unit_test_prestate(the_kernel_finds_and_pings_us, &endpoints),
        cmocka_unit_test_prestate(we_report_groups_as_the_kernel_does, &endpoints),
    };
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    kernel_endpoints_remove(&endpoints);
    return failed;
}
