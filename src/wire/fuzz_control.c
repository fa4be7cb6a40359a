// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a frame that might be answered. Aborts when a frame that is not answered was touched,
 * when an answer is longer than the question, goes to a group or would be answered again, or when its checksums are
 * wrong. */
#include <stdlib.h>
#include <string.h>

#include "wire/arp.h"
#include "wire/icmp.h"
#include "wire/icmp6.h"
#include "wire/igmp.h"
#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/neighbour_discovery.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static uint32_t const ours = 0x0A000001;
static uint8_t const ours6[16] = {0x20, 0x01, 0x0D, 0xB8, [15] = 1};
static uint8_t const our_mac[6] = {2, 0, 0, 0, 0, 1};

static void require(bool held) {
    if (!held)
        abort();
}

static void check_answer(uint8_t const *data, uint8_t *frame, uint32_t length, uint32_t answer) {
    require(answer <= length);
    if (answer == 0) {
        require(memcmp(frame, data, length) == 0);
        return;
    }
    require(!rm_is_group(frame));
    require(rm_arp_answer(frame, answer, our_mac, ours) == 0 && rm_icmp_answer(frame, answer, ours) == 0);
}

static void check_arp(uint8_t const *data, uint8_t *frame, uint32_t length) {
    memcpy(frame, data, length);
    check_answer(data, frame, length, rm_arp_answer(frame, length, our_mac, ours));
}

static void check_icmp(uint8_t const *data, uint8_t *frame, uint32_t length) {
    memcpy(frame, data, length);
    uint32_t const answer = rm_icmp_answer(frame, length, ours);
    check_answer(data, frame, length, answer);
    if (answer == 0)
        return;
    struct rm_ipv4_packet packet;
    require(rm_ipv4_find(frame, answer, false, &packet) == RM_PORT_DECODED);
    uint32_t const bytes = packet.total_length - packet.header_bytes;
    require(rm_checksum_fold(rm_checksum_add_bytes(0, packet.header + packet.header_bytes, bytes)) == 0xFFFF);
}

static void check_igmp(uint8_t const *frame, uint32_t length) {
    struct rm_igmp_query query;
    if (!rm_igmp_find_query(frame, length, &query))
        return;
    require(query.group == 0 || query.group >> 28 == 0xE);
    require(query.longest_wait_ms <= 3174400 && (query.version == 2 || query.version == 3));
}

/** What is read lies within the frame. */
static void check_read(uint8_t const *frame, uint32_t length) {
    struct rm_arp_packet packet;
    struct rm_icmp_echo echo;
    if (rm_arp_read(frame, length, &packet))
        require(!rm_is_group(packet.sender_mac));
    if (rm_icmp_read_reply(frame, length, &echo))
        require(echo.content >= frame && echo.content + echo.content_bytes <= frame + length);
}

static void check_icmp6(uint8_t const *data, uint8_t *frame, uint32_t length) {
    memcpy(frame, data, length);
    uint32_t const answer = rm_icmp6_answer(frame, length, ours6);
    require(answer <= length);
    if (answer == 0) {
        require(memcmp(frame, data, length) == 0);
        return;
    }
    struct rm_ipv6_packet packet;
    require(!rm_is_group(frame) && rm_icmp6_answer(frame, answer, ours6) == 0);
    require(rm_ipv6_find(frame, answer, &packet) &&
            rm_ipv6_sum(packet.header, PROTOCOL_ICMPV6, packet.payload_length) == 0xFFFF);
}

/** What is read of a solicitation or an advertisement is about one machine, and what is answered is well formed. */
static void check_nd(uint8_t const *frame, uint32_t length) {
    struct rm_nd_message message, ours_read;
    if (!rm_nd_read(frame, length, &message))
        return;
    require(!rm_ipv6_is_multicast(message.target) && !(message.has_mac && rm_is_group(message.mac)));
    if (!message.solicitation)
        return;
    uint8_t advertisement[RM_ND_FRAME_BYTES];
    struct rm_nd_sender sender = {.mac = {2, 0, 0, 0, 0, 1}, .vlan = message.vlan & 0xFFF};
    memcpy(sender.ipv6, message.target, sizeof sender.ipv6);
    uint32_t const bytes = rm_nd_write_advertisement(advertisement, &sender, message.source, message.mac);
    require(bytes <= sizeof advertisement && rm_nd_read(advertisement, bytes, &ours_read));
    require(!ours_read.solicitation && memcmp(ours_read.target, message.target, sizeof message.target) == 0);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    uint32_t const length = (uint32_t)size;
    uint8_t *const frame = malloc(size != 0 ? size : 1);
    require(frame != NULL);
    check_arp(data, frame, length);
    check_icmp(data, frame, length);
    check_igmp(data, length);
    check_read(data, length);
    check_icmp6(data, frame, length);
    check_nd(data, length);
    free(frame);
    return 0;
}
