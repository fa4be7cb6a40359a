// SPDX-License-Identifier: Apache-2.0
/** The receive role against bad input: what is wrong with a datagram has one counter, and everything adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/network_order.h"

enum {
    ETHERTYPE = 12,
    IPV4 = RM_ETHERNET_BYTES,
    UDP = IPV4 + RM_IPV4_BYTES,
    PAYLOAD = RM_FRAME_HEADER_BYTES,
    WHOLE = PAYLOAD + RM_NATIVE_HEADER_BYTES + 4 * RIG_LANES,
    MUTATED_FRAMES = 1000 * 1000,
};

/** A whole frame of instrument 0, in which some bytes are to be made wrong. */
struct bent {
    uint8_t frame[256];
    uint32_t length;
};

static struct bent whole(struct receive_rig const *rig) {
    struct bent bent = {0};
    bent.length = rig_frame(rig, 0, 1, bent.frame);
    return bent;
}

/** Writes the headers anew around a payload of another length, or from another address. */
static void reframe(struct bent *bent, uint32_t payload_length, uint32_t source_ipv4, uint16_t port) {
    struct rm_flow const flow = {.source_ipv4 = source_ipv4, .destination_port = port};
    rm_frame_write_header(bent->frame, &flow, payload_length);
    bent->length = RM_FRAME_HEADER_BYTES + payload_length;
}

/** The IPv4 header's checksum is made right again after a change. */
static void mend_ip(struct bent *bent) {
    uint32_t sum = 0;
    bent->frame[IPV4 + 10] = bent->frame[IPV4 + 11] = 0;
    for (unsigned i = 0; i < RM_IPV4_BYTES; i += 2)
        sum += (uint32_t)bent->frame[IPV4 + i] << 8 | bent->frame[IPV4 + i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    bent->frame[IPV4 + 10] = (uint8_t)(~sum >> 8);
    bent->frame[IPV4 + 11] = (uint8_t)~sum;
}

static void bend_nothing(struct bent *bent) { (void)bent; }
static void bend_right_udp_checksum(struct bent *bent) { rm_frame_write_udp_checksum(bent->frame, WHOLE - PAYLOAD); }
static void bend_arp(struct bent *bent) { bent->frame[ETHERTYPE + 1] = 0x06; }
static void bend_vlan(struct bent *bent) { bent->frame[ETHERTYPE] = 0x81; }
static void bend_icmp(struct bent *bent) { bent->frame[IPV4 + 9] = 1, mend_ip(bent); }
static void bend_first_fragment(struct bent *bent) { bent->frame[IPV4 + 6] = 0x20, mend_ip(bent); }
static void bend_later_fragment(struct bent *bent) { bent->frame[IPV4 + 7] = 1, mend_ip(bent); }
static void bend_empty(struct bent *bent) { bent->length = 0; }
static void bend_cut_ethernet(struct bent *bent) { bent->length = RM_ETHERNET_BYTES - 1; }
static void bend_cut_headers(struct bent *bent) { bent->length = UDP; }
static void bend_cut_payload(struct bent *bent) { --bent->length; }
static void bend_udp_length(struct bent *bent) { bent->frame[UDP + 5] += 1; }
static void bend_ip_checksum(struct bent *bent) { bent->frame[IPV4 + 10] ^= 1; }
static void bend_ip_version(struct bent *bent) { bent->frame[IPV4] = 0x65; }
static void bend_udp_checksum(struct bent *bent) {
    rm_frame_write_udp_checksum(bent->frame, WHOLE - PAYLOAD);
    bent->frame[WHOLE - 1] ^= 1;
}
static void bend_port(struct bent *bent) { reframe(bent, WHOLE - PAYLOAD, 0x0A140001, RIG_UDP_PORT + 1); }
static void bend_no_payload(struct bent *bent) { reframe(bent, 0, 0x0A140001, RIG_UDP_PORT); }
static void bend_header_only(struct bent *bent) { reframe(bent, 16, 0x0A140001, RIG_UDP_PORT); }
static void bend_thirteen_lanes(struct bent *bent) { reframe(bent, 68, 0x0A140001, RIG_UDP_PORT); }
static void bend_half_lane(struct bent *bent) { reframe(bent, 46, 0x0A140001, RIG_UDP_PORT); }
static void bend_magic(struct bent *bent) { bent->frame[PAYLOAD] ^= 1; }
static void bend_version(struct bent *bent) { bent->frame[PAYLOAD + 2] = 2; }
static void bend_kind_none(struct bent *bent) { bent->frame[PAYLOAD + 3] = 0; }
static void bend_kind_unknown(struct bent *bent) { bent->frame[PAYLOAD + 3] = RM_KIND_POWER_SUPPLY + 1; }
static void bend_kind_other(struct bent *bent) { bent->frame[PAYLOAD + 3] = RM_KIND_BLM; }
static void bend_instrument(struct bent *bent) { bent->frame[PAYLOAD + 5] = 0xFF; }
static void bend_source(struct bent *bent) { reframe(bent, WHOLE - PAYLOAD, 0x0A140002, RIG_UDP_PORT); }
static void bend_fewer_lanes(struct bent *bent) { reframe(bent, WHOLE - PAYLOAD - 4, 0x0A140001, RIG_UDP_PORT); }
static void bend_more_lanes(struct bent *bent) { reframe(bent, WHOLE - PAYLOAD + 4, 0x0A140001, RIG_UDP_PORT); }

static struct {
    char const *what;
    void (*bend)(struct bent *bent);
    enum rm_port_counter counter;
} const CASE[] = {
    {"whole", bend_nothing, RM_PORT_DECODED},
    {"with a UDP checksum", bend_right_udp_checksum, RM_PORT_DECODED},
    {"ARP", bend_arp, RM_PORT_NOT_IPV4},
    {"a VLAN tag", bend_vlan, RM_PORT_NOT_IPV4},
    {"ICMP", bend_icmp, RM_PORT_NOT_UDP},
    {"the first fragment", bend_first_fragment, RM_PORT_FRAGMENT},
    {"a later fragment", bend_later_fragment, RM_PORT_FRAGMENT},
    {"no byte at all", bend_empty, RM_PORT_TRUNCATED},
    {"half an Ethernet header", bend_cut_ethernet, RM_PORT_TRUNCATED},
    {"no UDP header", bend_cut_headers, RM_PORT_TRUNCATED},
    {"the last byte cut off", bend_cut_payload, RM_PORT_TRUNCATED},
    {"UDP longer than IP", bend_udp_length, RM_PORT_TRUNCATED},
    {"IP checksum", bend_ip_checksum, RM_PORT_BAD_IP_HEADER},
    {"IP version", bend_ip_version, RM_PORT_BAD_IP_HEADER},
    {"UDP checksum", bend_udp_checksum, RM_PORT_BAD_UDP_CHECKSUM},
    {"another UDP port", bend_port, RM_PORT_NOT_OUR_PORT},
    {"no payload", bend_no_payload, RM_PORT_TOO_SHORT},
    {"no lane", bend_header_only, RM_PORT_TOO_SHORT},
    {"thirteen lanes", bend_thirteen_lanes, RM_PORT_TOO_LONG},
    {"half a lane", bend_half_lane, RM_PORT_BAD_LENGTH},
    {"magic", bend_magic, RM_PORT_BAD_MAGIC},
    {"version", bend_version, RM_PORT_UNKNOWN_VERSION},
    {"kind 0", bend_kind_none, RM_PORT_UNKNOWN_KIND},
    {"a kind that does not exist", bend_kind_unknown, RM_PORT_UNKNOWN_KIND},
    {"another kind", bend_kind_other, RM_PORT_WRONG_KIND},
    {"an id that is not configured", bend_instrument, RM_PORT_UNKNOWN_INSTRUMENT},
    {"another instrument's address", bend_source, RM_PORT_UNKNOWN_SOURCE},
    {"a lane too few", bend_fewer_lanes, RM_PORT_WRONG_LANES},
    {"a lane too many", bend_more_lanes, RM_PORT_WRONG_LANES},
};

/** Every counter of the port, but those that count something else than packets, is 0 or, once, 1. */
static void expect_only(struct receive_rig const *rig, enum rm_port_counter counter, char const *what) {
    for (unsigned i = RM_PORT_DECODED; i < RM_PORT_KERNEL_MISSED; ++i)
        if (rig_port_count(rig, i) != (i == counter))
            fail_msg("%s: port counter %u is %llu", what, i, (unsigned long long)rig_port_count(rig, i));
}

static void every_fault_has_its_counter(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof CASE / sizeof CASE[0]; ++i) {
        struct receive_rig *rig = rig_make(
            &(struct receive_rig_config){.instruments = 2, .capacity = 1024, .late_turns = 256, .ahead_turns = 256});
        struct bent bent = whole(rig);
        CASE[i].bend(&bent);
        rig_push(rig, 0, 0, bent.frame, bent.length);
        assert_null(rig_poll(rig));
        expect_only(rig, CASE[i].counter, CASE[i].what);
        assert_int_equal(rig_port_count(rig, RM_PORT_RECEIVED), 1);
        assert_int_equal(rig_port_count(rig, RM_PORT_BYTES), bent.length);
        assert_true((rig_head(rig, 0) == 1) == (CASE[i].counter == RM_PORT_DECODED));
        rig_free(rig);
    }
}

static void the_device_may_have_checked_the_sums(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){0});
    rig->port[0]->checksum_good = true;
    struct bent bent = whole(rig);
    bend_ip_checksum(&bent);
    rig_push(rig, 0, 0, bent.frame, bent.length);
    assert_null(rig_poll(rig));
    expect_only(rig, RM_PORT_DECODED, "checksum verified by the device");
    rig_free(rig);
}

static void payloads_come_without_frames(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){0});
    struct bent const bent = whole(rig);
    rig_know(rig, 1, rig_source(0), rig->id[0], 0, NULL);
    rig->port[1]->source_ipv4 = rig_source(0);
    rig_push(rig, 1, 0, bent.frame + PAYLOAD, bent.length - PAYLOAD);
    assert_null(rig_poll(rig));
    assert_int_equal(rm_counter_get(rig->port_counters[1], RM_PORT_DECODED), 1);
    assert_true(rig_shows(rig, 0, 1));
    rig->port[1]->source_ipv4 = 1;
    rig_push(rig, 1, 0, bent.frame + PAYLOAD, bent.length - PAYLOAD);
    rig_push(rig, 1, 0, bent.frame, bent.length);
    assert_null(rig_poll(rig));
    assert_int_equal(rm_counter_get(rig->port_counters[1], RM_PORT_UNKNOWN_SOURCE), 1);
    assert_int_equal(rm_counter_get(rig->port_counters[1], RM_PORT_TOO_LONG), 1);
    rig_free(rig);
}

static void two_instruments_share_an_id(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    for (uint32_t i = 0; i < 3; ++i) {
        rig->id[i] = 7;
        rig->instrument[i]->lane_count = (uint8_t)(i + 1);
        rig_know(rig, 0, rig_source(i), rig->id[i], i, NULL);
    }
    rig_send_all(rig, 100);
    rig_send(rig, 1, 101);
    assert_null(rig_poll(rig));
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(rig_shows(rig, i, 100));
        assert_int_equal(rig_head(rig, i), i == 1 ? 101 : 100);
    }
    rig_free(rig);
}

/** The bare sum of the pseudo-header, which the kernel leaves for a card to finish: taken where senders on this host
 * are expected, a reason of its own elsewhere; and no other wrong sum passes for it. */
static void unfinished_checksums_are_taken_where_senders_are_local(void **state) {
    (void)state;
    for (int local = 0; local < 2; ++local) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){0});
        rig->queue[0].local_senders = local;
        struct bent bent = whole(rig);
        uint32_t sum = 17 + rm_load16(bent.frame + UDP + 4);
        for (unsigned i = 0; i < 8; i += 2)
            sum += rm_load16(bent.frame + IPV4 + 12 + i);
        sum = (sum & 0xFFFF) + (sum >> 16);
        rm_store16(bent.frame + UDP + 6, (uint16_t)sum);
        rig_set_tsc(rig_tsc_of(1));
        rig_push(rig, 0, 0, bent.frame, bent.length);
        rm_store16(bent.frame + UDP + 6, (uint16_t)(sum + 1));
        rig_push(rig, 0, 0, bent.frame, bent.length);
        assert_null(rig_poll(rig));
        assert_int_equal(rig_port_count(rig, RM_PORT_DECODED), local);
        assert_int_equal(rig_port_count(rig, RM_PORT_UNFINISHED_CHECKSUM), !local);
        assert_int_equal(rig_port_count(rig, RM_PORT_BAD_UDP_CHECKSUM), 1);
        rig_free(rig);
    }
}

static void queues_are_polled_in_turn(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 4, .queues = 2});
    for (rm_turn turn = 0; turn < 1000; ++turn)
        rig_send_all(rig, turn);
    rig_set_tsc(rig_tsc_of(1000));
    /* Queue 0 has packets at every turn; queue 1 is not starved by it. */
    for (int i = 0; i < 6; ++i)
        rm_receive_duty(&rig->receive, rm_tsc());
    assert_int_equal(rig->port[0]->count[0], 2000 - 2 * RM_BURST);
    assert_int_equal(rig->port[0]->count[1], 2000 - 2 * RM_BURST);
    assert_null(rig_poll(rig));
    for (uint32_t i = 0; i < 4; ++i)
        assert_int_equal(rig_count(rig, i, RM_STREAM_ACCEPTED), 1000);
    assert_int_equal(rm_counter_get(rig->core_counters, RM_CORE_PACKETS), 4000);
    assert_int_equal(rm_counter_get(rig->core_counters, RM_CORE_BURSTS), 2 * (2000 + RM_BURST - 1) / RM_BURST);
    rig_free(rig);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Gives the datagram another length in both headers; returns the frame's. */
static uint32_t stretch(uint8_t *frame, uint32_t payload) {
    rm_store16(frame + RM_ETHERNET_BYTES + 2, (uint16_t)(RM_IPV4_BYTES + RM_UDP_BYTES + payload));
    rm_store16(frame + RM_ETHERNET_BYTES + RM_IPV4_BYTES + 4, (uint16_t)(RM_UDP_BYTES + payload));
    return PAYLOAD + payload;
}

/** A frame of one instrument's next turn with nothing, some bits or its length changed. */
static void send_mutated(struct receive_rig *rig, uint64_t *random, rm_turn turn) {
    uint8_t frame[256] = {0};
    uint64_t const dice = next_random(random);
    uint32_t length = rig_frame(rig, dice % rig->config.instruments, turn, frame);
    for (uint64_t flips = dice >> 8 & 3; flips > 0; --flips) {
        uint64_t const bit = next_random(random) % (length * 8);
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    if ((dice >> 16 & 7) == 0)
        length = (dice >> 24) % sizeof frame;
    else if ((dice >> 16 & 7) == 1)
        rm_frame_write_udp_checksum(frame, length - PAYLOAD);
    else if ((dice >> 16 & 7) == 2)
        length = stretch(frame, dice >> 24 & 127);
    rig->port[0]->checksum_good = dice >> 32 & 1;
    rig_push(rig, 0, 0, frame, length);
}

static void a_million_mutated_frames_add_up(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 4, .capacity = 1 << 14});
    uint64_t random = 0x9E3779B97F4A7C15;
    for (uint32_t i = 0; i < MUTATED_FRAMES; ++i) {
        rm_turn const turn = 1000 + i / 4;
        rig_set_tsc(rig_tsc_of(turn));
        send_mutated(rig, &random, turn);
        if (i % 50 == 49)
            assert_null(rig_poll(rig));
    }
    assert_null(rig_poll(rig));
    assert_int_equal(rig_port_count(rig, RM_PORT_RECEIVED), MUTATED_FRAMES);
    for (unsigned i = RM_PORT_DECODED; i <= RM_PORT_WRONG_LANES; ++i)
        if (rig_port_count(rig, i) == 0)
            fail_msg("no frame came out as port counter %u", i);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_fault_has_its_counter),
        cmocka_unit_test(the_device_may_have_checked_the_sums),
        cmocka_unit_test(payloads_come_without_frames),
        cmocka_unit_test(two_instruments_share_an_id),
        cmocka_unit_test(queues_are_polled_in_turn),
        cmocka_unit_test(unfinished_checksums_are_taken_where_senders_are_local),
        cmocka_unit_test(a_million_mutated_frames_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
