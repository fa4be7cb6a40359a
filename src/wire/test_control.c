// SPDX-License-Identifier: Apache-2.0
/** ARP, neighbour discovery, ICMP echo and IGMP: every block of vectors/control.txt (the argument), and every frame of it cut short or with
 * a bit flipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/address.h"
#include "wire/arp.h"
#include "wire/frame.h"
#include "wire/icmp.h"
#include "wire/icmp6.h"
#include "wire/igmp.h"
#include "wire/neighbour_discovery.h"
#include "wire/test_guard_page.h"

enum {
    FRAME_MOST = 1600,
    LINE_MOST = 8192,
    BLOCKS_LEAST = 35,
    OURS = 0x0A000001,
    THEIRS = 0x0A000007,
    GROUP = 0xEFC00102
};

static uint8_t const our_mac[6] = {2, 0, 0, 0, 0, 1};
static struct rm_flow const to_them = {.destination_mac = {2, 0, 0, 0, 0, 2},
                                       .source_mac = {2, 0, 0, 0, 0, 1},
                                       .source_ipv4 = OURS,
                                       .destination_ipv4 = THEIRS};

static struct rm_nd_sender const us = {.mac = {2, 0, 0, 0, 0, 1}, .ipv6 = {0x20, 0x01, 0x0D, 0xB8, [15] = 1}};
static uint8_t const their_ipv6[16] = {0x20, 0x01, 0x0D, 0xB8, [15] = 7};

struct bytes {
    uint8_t byte[FRAME_MOST];
    uint32_t length;
};

/** One block; what it has not got is empty. */
struct exchange {
    char name[32];
    char query[64]; /**< "VERSION GROUP LONGEST_WAIT_MS" */
    struct bytes received, answer, sent;
};

static void read_hex(struct bytes *bytes, char const *text) {
    char *end;
    for (unsigned long byte = strtoul(text, &end, 16); end != text; byte = strtoul(text, &end, 16)) {
        assert_true(byte <= 0xFF && bytes->length < FRAME_MOST);
        bytes->byte[bytes->length++] = (uint8_t)byte;
        text = end;
    }
}

/** Reads the next block; false at the end of the file. */
static bool read_exchange(FILE *file, struct exchange *exchange) {
    char line[LINE_MOST];
    *exchange = (struct exchange){0};
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' && exchange->name[0])
            return true;
        char const *const space = strchr(line, ' ');
        char const *const value = space != NULL ? space + 1 : "";
        if (strncmp(line, "name ", 5) == 0)
            snprintf(exchange->name, sizeof exchange->name, "%s", value);
        else if (strncmp(line, "query ", 6) == 0)
            snprintf(exchange->query, sizeof exchange->query, "%s", value);
        else if (strncmp(line, "received ", 9) == 0)
            read_hex(&exchange->received, value);
        else if (strncmp(line, "answer ", 7) == 0)
            read_hex(&exchange->answer, value);
        else if (strncmp(line, "sent ", 5) == 0)
            read_hex(&exchange->sent, value);
        else if (line[0] != '\0' && line[0] != '#' && strcmp(line, "nothing") != 0)
            fail_msg("%s: no such line in a test vector", line);
    }
    return exchange->name[0] != '\0';
}

/** The advertisement that a solicitation for our address asks for. */
static uint32_t answer_solicitation(uint8_t const *frame, uint32_t length, uint8_t advertisement[FRAME_MOST]) {
    struct rm_nd_message message;
    if (!rm_nd_read(frame, length, &message) || !message.solicitation ||
        memcmp(message.target, us.ipv6, sizeof us.ipv6) != 0)
        return 0;
    struct rm_nd_sender sender = us;
    sender.vlan = message.vlan == RM_VLAN_NONE ? 0 : message.vlan;
    return rm_nd_write_advertisement(advertisement, &sender, message.source, message.mac);
}

/** What the server would do with a frame: in place, as the exception path does, but for advertisements. */
static uint32_t answer(uint8_t *frame, uint32_t length, uint8_t answered[FRAME_MOST]) {
    uint32_t const advertisement = answer_solicitation(frame, length, answered);
    if (advertisement != 0)
        return advertisement;
    uint32_t in_place = rm_arp_answer(frame, length, our_mac, OURS);
    in_place = in_place != 0 ? in_place : rm_icmp_answer(frame, length, OURS);
    in_place = in_place != 0 ? in_place : rm_icmp6_answer(frame, length, us.ipv6);
    memcpy(answered, frame, length);
    return in_place;
}

static void check_answer(struct exchange const *exchange, uint8_t *guard) {
    struct bytes const *const received = &exchange->received;
    uint8_t *const frame = guard_page_copy(guard, received->byte, received->length);
    uint8_t answered[FRAME_MOST];
    uint32_t const length = answer(frame, received->length, answered);
    assert_int_equal(length, exchange->answer.length);
    struct bytes const *const expected = length != 0 ? &exchange->answer : received;
    assert_memory_equal(answered, expected->byte, expected->length);
}

static void check_query(struct exchange const *exchange, uint8_t *guard) {
    struct rm_igmp_query query;
    char text[64] = "", group[16];
    uint8_t const *const frame = guard_page_copy(guard, exchange->received.byte, exchange->received.length);
    if (rm_igmp_find_query(frame, exchange->received.length, &query)) {
        rm_ipv4_format(query.group, group);
        snprintf(text, sizeof text, "%u %s %u", query.version, group, query.longest_wait_ms);
    }
    assert_string_equal(text, exchange->query);
}

/** Cut before its padding, no frame is answered, and nothing beyond the cut is read. */
static void check_cuts(struct exchange const *exchange, uint8_t *guard) {
    struct bytes const *const received = &exchange->received;
    uint32_t needed = received->length;
    while (needed > 0 && received->byte[needed - 1] == 0)
        --needed; /* what ends in zeros of its own is cut a little earlier than it could be */
    for (uint32_t cut = 0; cut < needed; ++cut) {
        struct rm_igmp_query query;
        uint8_t *const frame = guard_page_copy(guard, received->byte, cut);
        uint8_t answered[FRAME_MOST];
        assert_int_equal(answer(frame, cut, answered), 0);
        assert_false(rm_igmp_find_query(frame, cut, &query));
    }
}

/** Bits that no checksum covers: traffic class, flow label and hop limit of an IPv6 header. */
static bool is_free_bit(struct bytes const *frame, uint32_t bit) {
    uint32_t const byte = bit / 8 - 14;
    return frame->byte[12] == 0x86 && (byte == 7 || (byte > 0 && byte < 4) || (byte == 0 && bit % 8 < 4));
}

/** Checksums notice any bit flipped in what would be answered. */
static void check_flips(struct exchange const *exchange, uint8_t *guard) {
    struct bytes const *const received = &exchange->received;
    uint8_t const *const byte = received->byte;
    bool const answered = exchange->answer.length != 0 || exchange->query[0] != '\0';
    bool const ipv6 = byte[12] == 0x86 && byte[13] == 0xDD;
    if (!answered || !(ipv6 || (byte[12] == 0x08 && byte[13] == 0x00)))
        return;
    uint32_t const end = ipv6 ? 14u + 40u + (byte[18] << 8 | byte[19]) : 14u + (byte[16] << 8 | byte[17]);
    for (uint32_t bit = 8 * 14; bit < 8 * end && bit < 8 * received->length; ++bit) {
        struct rm_igmp_query query;
        uint8_t answered_frame[FRAME_MOST];
        uint8_t *const frame = guard_page_copy(guard, byte, received->length);
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!is_free_bit(received, bit) && (answer(frame, received->length, answered_frame) != 0 ||
                                            rm_igmp_find_query(frame, received->length, &query)))
            fail_msg("bit %u flipped, and still answered", bit);
    }
}

/** What the server sends unasked. */
static uint32_t send_unasked(char const *name, uint8_t *frame) {
    static uint32_t const groups[] = {GROUP, GROUP + 1};
    struct rm_igmp_reporter reporter = {.mac = {2, 0, 0, 0, 0, 1}, .ipv4 = OURS};
    memset(frame, 0xA5, FRAME_MOST);
    if (strcmp(name, "arp-announce") == 0) {
        rm_arp_announce(frame, our_mac, OURS, 0);
        return RM_ARP_ANNOUNCEMENT_BYTES;
    }
    if (strcmp(name, "arp-ask") == 0) {
        rm_arp_request(frame, our_mac, OURS, THEIRS, 0);
        return RM_ARP_REQUEST_BYTES;
    }
    if (strcmp(name, "ping-ask") == 0)
        return rm_icmp_write_request(frame, &to_them, 0x1234, 7, 56);
    if (strcmp(name, "nd-ask") == 0)
        return rm_nd_write_solicitation(frame, &us, their_ipv6, NULL);
    if (strcmp(name, "nd-probe") == 0)
        return rm_nd_write_solicitation(frame, &us, their_ipv6, to_them.destination_mac);
    if (strcmp(name, "nd-announce") == 0)
        return rm_nd_write_advertisement(frame, &us, NULL, NULL);
    if (strcmp(name, "report-v2") == 0)
        return rm_igmp_write_report_v2(frame, &reporter, GROUP);
    if (strcmp(name, "report-v3") == 0)
        return rm_igmp_write_report_v3(frame, &reporter, groups, 2);
    reporter.vlan = 100;
    assert_string_equal(name, "report-v3-vlan");
    return rm_igmp_write_report_v3(frame, &reporter, groups, 1);
}

static void check_sent(struct exchange const *exchange) {
    uint8_t frame[FRAME_MOST];
    assert_int_equal(send_unasked(exchange->name, frame), exchange->sent.length);
    assert_memory_equal(frame, exchange->sent.byte, exchange->sent.length);
}

static void every_vector_leads_to_what_it_says(void **state) {
    FILE *const file = fopen(*state, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    unsigned count = 0;
    for (struct exchange exchange; read_exchange(file, &exchange); ++count) {
        print_message("%s\n", exchange.name);
        if (exchange.received.length == 0) {
            check_sent(&exchange);
            continue;
        }
        check_answer(&exchange, guard);
        check_query(&exchange, guard);
        check_cuts(&exchange, guard);
        check_flips(&exchange, guard);
    }
    guard_page_free(guard);
    fclose(file);
    assert_true(count >= BLOCKS_LEAST);
}

static void announced_in_a_vlan(void **state) {
    (void)state;
    uint8_t plain[RM_ARP_ANNOUNCEMENT_BYTES], tagged[RM_ARP_ANNOUNCEMENT_BYTES];
    rm_arp_announce(plain, our_mac, OURS, 0);
    rm_arp_announce(tagged, our_mac, OURS, 100);
    assert_memory_equal(tagged, plain, 12);
    assert_memory_equal(tagged + 12, "\x81\x00\x00\x64", 4);
    assert_memory_equal(tagged + 16, plain + 12, 30);
    assert_int_equal(rm_arp_answer(tagged, sizeof tagged, our_mac, OURS), 0);
}

/** Each length of an echo to `to_them`, and the reply to it, cut anywhere and with each bit flipped. */
static void a_ping_is_answered_and_its_reply_read(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (uint32_t content = 0; content < 70; ++content) {
        uint8_t sent[FRAME_MOST], reply[FRAME_MOST];
        struct rm_icmp_echo echo;
        uint32_t const length = rm_icmp_write_request(sent, &to_them, 0xABCD, (uint16_t)content, content);
        assert_false(rm_icmp_read_reply(sent, length, &echo));
        memcpy(reply, sent, length);
        assert_int_equal(rm_icmp_answer(reply, length, THEIRS), length);
        uint8_t *const frame = guard_page_copy(guard, reply, length);
        assert_true(rm_icmp_read_reply(frame, length, &echo));
        assert_int_equal(echo.source_ipv4, THEIRS);
        assert_int_equal(echo.destination_ipv4, OURS);
        assert_int_equal(echo.identifier, 0xABCD);
        assert_int_equal(echo.sequence, content);
        assert_int_equal(echo.content_bytes, content);
        for (uint32_t i = 0; i < content; ++i)
            assert_int_equal(echo.content[i], i);
        uint32_t const end = 14 + 20 + 8 + content;
        for (uint32_t cut = 0; cut < end; ++cut)
            assert_false(rm_icmp_read_reply(guard_page_copy(guard, reply, cut), cut, &echo));
        for (uint32_t bit = 8 * 14; bit < 8 * end; ++bit) {
            uint8_t *const flipped = guard_page_copy(guard, reply, length);
            flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_false(rm_icmp_read_reply(flipped, length, &echo));
        }
    }
    guard_page_free(guard);
}

static void what_arp_says_is_read(void **state) {
    (void)state;
    static uint8_t const their_mac[6] = {2, 0, 0, 0, 0, 2};
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint8_t asked[RM_ARP_REQUEST_BYTES];
    struct rm_arp_packet packet;
    rm_arp_request(asked, our_mac, OURS, THEIRS, 100);
    assert_true(rm_arp_read(asked, sizeof asked, &packet));
    assert_true(!packet.reply && packet.sender_ipv4 == OURS && packet.target_ipv4 == THEIRS && packet.vlan == 100);
    assert_memory_equal(packet.sender_mac, our_mac, 6);
    assert_int_equal(rm_arp_answer(asked, sizeof asked, their_mac, THEIRS), sizeof asked);
    assert_true(rm_arp_read(asked, sizeof asked, &packet));
    assert_true(packet.reply && packet.sender_ipv4 == THEIRS && packet.target_ipv4 == OURS);
    assert_memory_equal(packet.sender_mac, their_mac, 6);
    for (uint32_t cut = 0; cut < 18 + 28; ++cut)
        assert_false(rm_arp_read(guard_page_copy(guard, asked, cut), cut, &packet));
    asked[18 + 8] |= 1; /* a group has no address of its own */
    assert_false(rm_arp_read(asked, sizeof asked, &packet));
    guard_page_free(guard);
}

static void every_report_fits(void **state) {
    (void)state;
    uint8_t frame[RM_IGMP_FRAME_BYTES];
    uint32_t groups[RM_IGMP_GROUPS_MAX];
    struct rm_igmp_reporter const reporter = {.vlan = 1};
    for (uint32_t i = 0; i < RM_IGMP_GROUPS_MAX; ++i)
        groups[i] = GROUP + i;
    assert_int_equal(rm_igmp_write_report_v3(frame, &reporter, groups, RM_IGMP_GROUPS_MAX), sizeof frame);
}

static void a_made_up_mac_is_local_and_of_one_machine(void **state) {
    (void)state;
    uint8_t mac[6];
    rm_arp_make_mac(0x0A63FF01, mac);
    assert_memory_equal(mac, "\x02\x00\x0a\x63\xff\x01", 6);
}

static void an_ipv6_address_is_read_and_written(void **state) {
    (void)state;
    uint8_t ipv6[16], mac[6];
    char text[RM_IPV6_TEXT_BYTES];
    assert_true(rm_ipv6_parse("2001:DB8:0::7", ipv6));
    assert_memory_equal(ipv6, their_ipv6, sizeof ipv6);
    rm_ipv6_format(ipv6, text);
    assert_string_equal(text, "2001:db8::7");
    assert_false(rm_ipv6_parse("2001:db8::7/64", ipv6));
    assert_false(rm_ipv6_parse("10.0.0.1", ipv6));
    rm_ipv6_multicast_mac((uint8_t const[16]){0xFF, 0x02, [13] = 0xFF, 0, 7}, mac);
    rm_mac_format(mac, text);
    assert_string_equal(text, "33:33:00:ff:00:07");
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s control.txt\n", argv[0]);
        return 2;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(every_vector_leads_to_what_it_says, argv[1]),
        cmocka_unit_test(announced_in_a_vlan),
        cmocka_unit_test(a_ping_is_answered_and_its_reply_read),
        cmocka_unit_test(what_arp_says_is_read),
        cmocka_unit_test(every_report_fits),
        cmocka_unit_test(an_ipv6_address_is_read_and_written),
        cmocka_unit_test(a_made_up_mac_is_local_and_of_one_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
