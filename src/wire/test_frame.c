// SPDX-License-Identifier: Apache-2.0
/** Frames: round trips, every truncation, every flipped bit, checksums against the textbook, addresses as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/address.h"
#include "wire/frame.h"
#include "wire/internet_checksum.h"
#include "wire/test_guard_page.h"

enum { PAYLOAD_MOST = 200, FRAME_MOST = RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES + PAYLOAD_MOST };

static struct rm_flow const flow = {
    .destination_mac = {2, 0, 0, 0, 0, 1},
    .source_mac = {2, 0, 0, 0, 0, 2},
    .source_ipv4 = 0x0A000007,
    .destination_ipv4 = 0xC0A8FF01,
    .source_port = 0x1234,
    .destination_port = 4660,
};

/** RFC 1071 word by word, big-endian, the way it is written there. */
static uint16_t textbook_sum(uint32_t sum, uint8_t const *bytes, uint32_t length) {
    for (uint32_t i = 0; i < length; ++i) {
        sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return (uint16_t)sum;
}

/** The same over a UDP datagram with its pseudo-header: 0xFFFF when its checksum is right. */
static uint16_t textbook_udp_sum(uint8_t const *frame, uint32_t udp_length) {
    uint8_t pseudo[12] = {0};
    memcpy(pseudo, frame + 26, 8);
    pseudo[9] = 17;
    pseudo[10] = (uint8_t)(udp_length >> 8);
    pseudo[11] = (uint8_t)udp_length;
    return textbook_sum(textbook_sum(0, pseudo, sizeof pseudo), frame + 34, udp_length);
}

/** Repeatable: cmocka reports no seed. */
static void fill_random(uint8_t *bytes, uint32_t length, unsigned *seed) {
    for (uint32_t i = 0; i < length; ++i)
        bytes[i] = (uint8_t)(rand_r(seed) >> 7);
}

static uint32_t make_frame(uint8_t *frame, uint32_t payload_length, unsigned *seed) {
    fill_random(frame, RM_FRAME_HEADER_BYTES + payload_length, seed);
    rm_frame_write_header(frame, &flow, payload_length);
    return RM_FRAME_HEADER_BYTES + payload_length;
}

static void assert_is_flow(struct rm_datagram const *datagram, uint8_t const *frame, uint32_t payload_length) {
    assert_ptr_equal(datagram->payload, frame + RM_FRAME_HEADER_BYTES);
    assert_int_equal(datagram->length, payload_length);
    assert_int_equal(datagram->source_ipv4, flow.source_ipv4);
    assert_int_equal(datagram->destination_ipv4, flow.destination_ipv4);
    assert_int_equal(datagram->source_port, flow.source_port);
    assert_int_equal(datagram->destination_port, flow.destination_port);
    assert_int_equal(datagram->vlan, RM_VLAN_NONE);
}

static void tagged_frames_are_the_untagged_ones_with_a_tag(void **state) {
    (void)state;
    unsigned seed = 7;
    struct rm_flow tagged = flow;
    tagged.vlan = 2748;
    for (uint32_t payload_length = 0; payload_length <= PAYLOAD_MOST; ++payload_length) {
        uint8_t plain[FRAME_MOST], frame[FRAME_MOST];
        uint32_t const length = make_frame(plain, payload_length, &seed);
        assert_int_equal(rm_frame_write_header(frame, &tagged, payload_length), 46);
        memcpy(frame + 46, plain + 42, payload_length);
        rm_frame_write_udp_checksum(plain, payload_length);
        rm_frame_write_udp_checksum(frame, payload_length);
        assert_memory_equal(frame, plain, 12);
        assert_memory_equal(frame + 12, "\x81\x00\x0a\xbc", 4);
        assert_memory_equal(frame + 16, plain + 12, length - 12);

        struct rm_datagram datagram;
        assert_int_equal(rm_frame_parse(frame, length + 4, false, &datagram), RM_PORT_DECODED);
        assert_int_equal(datagram.vlan, 2748);
        datagram.vlan = RM_VLAN_NONE;
        datagram.payload -= RM_VLAN_BYTES;
        assert_is_flow(&datagram, frame, payload_length);
    }
}

static void written_frames_parse(void **state) {
    (void)state;
    unsigned seed = 1;
    for (uint32_t payload_length = 0; payload_length <= PAYLOAD_MOST; ++payload_length) {
        uint8_t frame[FRAME_MOST];
        struct rm_datagram datagram;
        uint32_t const length = make_frame(frame, payload_length, &seed);
        assert_int_equal(rm_frame_parse(frame, length, false, &datagram), RM_PORT_DECODED);
        assert_is_flow(&datagram, frame, payload_length);
        assert_memory_equal(frame, flow.destination_mac, 6);
        assert_memory_equal(frame + 6, flow.source_mac, 6);
        assert_int_equal(textbook_sum(0, frame + RM_ETHERNET_BYTES, RM_IPV4_BYTES), 0xFFFF);

        rm_frame_write_udp_checksum(frame, payload_length);
        assert_int_equal(textbook_udp_sum(frame, RM_UDP_BYTES + payload_length), 0xFFFF);
        assert_int_equal(rm_frame_parse(frame, length, false, &datagram), RM_PORT_DECODED);
        assert_is_flow(&datagram, frame, payload_length);
    }
}

static void checksum_agrees_with_the_textbook(void **state) {
    (void)state;
    unsigned seed = 2;
    uint8_t bytes[1500 + 8];
    for (uint32_t length = 0; length <= 1500; ++length) {
        fill_random(bytes, sizeof bytes, &seed);
        if (length % 3 == 0)
            memset(bytes, 0xFF, sizeof bytes); /* carries everywhere */
        uint8_t const *const start = bytes + length % 8;
        uint16_t const sum = rm_checksum_fold(rm_checksum_add_bytes(0, start, length));
        uint16_t const expected = textbook_sum(0, start, length);
        assert_int_equal(__builtin_bswap16(sum), expected);
    }
}

static void computed_zero_is_written_as_ffff(void **state) {
    (void)state;
    uint8_t frame[FRAME_MOST] = {0};
    struct rm_datagram datagram;
    rm_frame_write_header(frame, &flow, 2);
    rm_frame_write_udp_checksum(frame, 2);
    memcpy(frame + RM_FRAME_HEADER_BYTES, frame + 40, 2); /* its own checksum as payload makes the sum zero */
    rm_frame_write_udp_checksum(frame, 2);
    assert_int_equal(frame[40], 0xFF);
    assert_int_equal(frame[41], 0xFF);
    assert_int_equal(rm_frame_parse(frame, RM_FRAME_HEADER_BYTES + 2, false, &datagram), RM_PORT_DECODED);
}

static void every_truncation_is_refused_without_reading_on(void **state) {
    (void)state;
    unsigned seed = 3;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint8_t frame[FRAME_MOST];
    uint32_t const length = make_frame(frame, 64, &seed);
    rm_frame_write_udp_checksum(frame, 64);
    for (uint32_t cut = 0; cut <= length; ++cut) {
        uint8_t const *const copy = guard_page_copy(guard, frame, cut);
        enum rm_port_counter const expected = cut < length ? RM_PORT_TRUNCATED : RM_PORT_DECODED;
        struct rm_datagram datagram;
        assert_int_equal(rm_frame_parse(copy, cut, false, &datagram), expected);
        assert_int_equal(rm_frame_parse(copy, cut, true, &datagram), expected);
    }
    guard_page_free(guard);
}

/** Headers whose lengths disagree with each other must not lead beyond the frame either. */
static void no_length_field_leads_beyond_the_frame(void **state) {
    (void)state;
    unsigned seed = 4;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint8_t frame[FRAME_MOST];
    uint32_t const length = make_frame(frame, 64, &seed);
    for (unsigned i = 0; i < 200000; ++i) {
        uint8_t *const copy = guard_page_copy(guard, frame, length);
        copy[14] = (uint8_t)(0x40 | (rand_r(&seed) & 0x0F));
        fill_random(copy + 16, 2, &seed);
        fill_random(copy + 38, 2, &seed);
        copy[16] &= (uint8_t)rand_r(&seed) & 1;
        copy[38] &= (uint8_t)rand_r(&seed) & 1;
        struct rm_datagram datagram;
        if (rm_frame_parse(copy, length, true, &datagram) == RM_PORT_DECODED)
            assert_true(datagram.payload >= copy + RM_FRAME_HEADER_BYTES &&
                        datagram.payload + datagram.length <= copy + length);
    }
    guard_page_free(guard);
}

static void every_flipped_bit_after_ethernet_is_noticed(void **state) {
    (void)state;
    unsigned seed = 5;
    uint8_t frame[FRAME_MOST];
    uint32_t const length = make_frame(frame, 64, &seed);
    rm_frame_write_udp_checksum(frame, 64);
    for (uint32_t bit = 8 * RM_ETHERNET_BYTES; bit < 8 * length; ++bit) {
        struct rm_datagram datagram;
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(rm_frame_parse(frame, length, false, &datagram), RM_PORT_DECODED);
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/** With `tag_bytes` of VLAN tags put in, 4 or 8. */
static enum rm_port_counter verdict_tagged(uint8_t const *frame, uint32_t length, uint32_t tag_bytes) {
    static uint8_t const tags[] = {0x88, 0xA8, 0, 1, 0x81, 0, 0, 2};
    uint8_t tagged[FRAME_MOST + sizeof tags];
    struct rm_datagram datagram;
    memcpy(tagged, frame, 12);
    memcpy(tagged + 12, tags + sizeof tags - tag_bytes, tag_bytes);
    memcpy(tagged + 12 + tag_bytes, frame + 12, length - 12);
    return rm_frame_parse(tagged, length + tag_bytes, true, &datagram);
}

/** The quick way and the one step by step (two tags) agree on any flipped header bit that no checksum told of. */
static void both_ways_through_say_the_same(void **state) {
    (void)state;
    unsigned seed = 8, refused = 0;
    uint8_t frame[FRAME_MOST];
    uint32_t const length = make_frame(frame, 64, &seed);
    for (uint32_t bit = 8 * 12; bit < 8 * RM_FRAME_HEADER_BYTES; ++bit) {
        struct rm_datagram datagram;
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum rm_port_counter const verdict = rm_frame_parse(frame, length, true, &datagram);
        assert_int_equal(verdict_tagged(frame, length, 4), verdict);
        assert_int_equal(verdict_tagged(frame, length, 8), verdict);
        refused += verdict != RM_PORT_DECODED;
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(refused > 40);
}

static void a_device_that_checked_is_believed(void **state) {
    (void)state;
    unsigned seed = 6;
    uint8_t frame[FRAME_MOST];
    struct rm_datagram datagram;
    uint32_t const length = make_frame(frame, 32, &seed);
    rm_frame_write_udp_checksum(frame, 32);
    frame[24] ^= 0x55;
    frame[40] ^= 0x55;
    assert_int_equal(rm_frame_parse(frame, length, false, &datagram), RM_PORT_BAD_IP_HEADER);
    assert_int_equal(rm_frame_parse(frame, length, true, &datagram), RM_PORT_DECODED);
    assert_is_flow(&datagram, frame, 32);
}

static void addresses_as_text(void **state) {
    (void)state;
    uint32_t ipv4 = 42;
    char text[16];
    assert_true(rm_ipv4_parse("10.0.0.1", &ipv4));
    assert_int_equal(ipv4, 0x0A000001);
    assert_true(rm_ipv4_parse("255.255.255.255", &ipv4));
    rm_ipv4_format(ipv4, text);
    assert_string_equal(text, "255.255.255.255");
    rm_ipv4_format(0x0A000001, text);
    assert_string_equal(text, "10.0.0.1");

    char const *const wrong[] = {"",          "10",        "10.0.0",     "10.0.0.1.2", "10.0.0.256",
                                 " 10.0.0.1", "10.0.0.1 ", "10.0.0.-1",  "0x0a.0.0.1", "10..0.1",
                                 "a.b.c.d",   "::1",       "10.0.0.1/8", "localhost"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        ipv4 = 42;
        assert_false(rm_ipv4_parse(wrong[i], &ipv4));
        assert_int_equal(ipv4, 42);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(written_frames_parse),
        cmocka_unit_test(tagged_frames_are_the_untagged_ones_with_a_tag),
        cmocka_unit_test(checksum_agrees_with_the_textbook),
        cmocka_unit_test(computed_zero_is_written_as_ffff),
        cmocka_unit_test(every_truncation_is_refused_without_reading_on),
        cmocka_unit_test(no_length_field_leads_beyond_the_frame),
        cmocka_unit_test(every_flipped_bit_after_ethernet_is_noticed),
        cmocka_unit_test(both_ways_through_say_the_same),
        cmocka_unit_test(a_device_that_checked_is_believed),
        cmocka_unit_test(addresses_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
