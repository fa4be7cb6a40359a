// SPDX-License-Identifier: Apache-2.0
#include "engine/test_fast_path_traffic.h"

#include <string.h>

#include "wire/ipv4.h"
#include "wire/native.h"
#include "wire/network_order.h"

enum checksum { ABSENT, RIGHT, WRONG, STALE, CHECKSUMS };

/** What may be wrong with a frame, or merely rare. */
enum oddity {
    OTHER_LANES,
    OTHER_KIND,
    OTHER_MAGIC,
    OTHER_VERSION,
    OTHER_ID,
    OTHER_SOURCE,
    OTHER_PORT,
    OTHER_PROTOCOL,
    OTHER_SERVICE, /**< the type of service, which is not looked at */
    SHORT_UDP,     /**< the UDP length is below what the packet has room for */
    LONG_UDP,
    FRAGMENT,
    WRONG_HEADER, /**< checksum */
    OPTIONS,
    TAGGED,
    PADDED,
    CUT,
    BENT, /**< some byte is another */
    ODDITIES,
};

enum {
    IPV4 = RM_ETHERNET_BYTES,
    UDP = IPV4 + RM_IPV4_BYTES,
    PAYLOAD = RM_FRAME_HEADER_BYTES,
    UNUSED_AT = 4 + 2, /**< before the end of what is described: of two bytes that are in no field */
    NONE = ODDITIES,
};

uint64_t traffic_random(struct traffic *traffic) {
    traffic->random ^= traffic->random << 13;
    traffic->random ^= traffic->random >> 7;
    traffic->random ^= traffic->random << 17;
    return traffic->random * 0x2545F4914F6CDD1D >> 16;
}

/** True once in `times`. */
static bool once_in(struct traffic *traffic, uint64_t times) { return traffic_random(traffic) % times == 0; }

void traffic_set_turn(struct traffic *traffic, uint32_t instruments, rm_turn turn) {
    for (uint32_t i = 0; i < instruments; ++i)
        traffic->sender[i].next = turn / traffic->period * traffic->period;
}

static void change(struct traffic *traffic, struct traffic_sender *sender) {
    if (!once_in(traffic, 16))
        return;
    uint64_t const dice = traffic_random(traffic);
    switch (dice % 8) {
    case 0:
        sender->counting = dice >> 8 & 1;
        break;
    case 1:
        sender->source_port = (uint16_t)(dice >> 8);
        break;
    case 2:
        sender->last_octet = (uint8_t)(dice >> 8);
        break;
    case 3:
        sender->time_to_live = (uint8_t)(dice >> 8);
        break;
    case 4:
        sender->checksum = (dice >> 8 & 3) != 0 ? ABSENT : (dice >> 10) % CHECKSUMS;
        break;
    case 5:
        sender->fragmentable = dice >> 8 & 1;
        break;
    case 6:
        sender->broken = (dice >> 8) % 8 == 0;
        break;
    default:
        sender->good = dice >> 8 & 1;
    }
}

static rm_turn some_turn(struct traffic *traffic, struct traffic_sender *sender) {
    uint64_t const dice = traffic_random(traffic), amount = dice >> 16, period = traffic->period;
    rm_turn const next = sender->next;
    switch (dice % 1024) {
    case 0: /* wild */
        return traffic_random(traffic) << 16 >> (once_in(traffic, 2) ? 0 : amount % 64);
    case 1: /* ahead of the window */
        return next + 20000 * period;
    case 2: /* early, or beyond what is observable */
        return next + (once_in(traffic, 4) ? 300 + amount % 300 : 3 + amount % 3) * period;
    case 3: /* some are lost */
        sender->next += amount % (once_in(traffic, 16) ? 800 : 4) * period;
        return sender->next;
    case 4:
    case 5: /* twice */
        return next - period;
    case 6:
    case 7: /* late */
        return next - amount % 32 * period;
    case 8: /* behind */
        return next - (400 + amount % 400) * period;
    case 9: /* between two */
        return next + amount % period;
    default:
        sender->next += period;
        return next;
    }
}

static void write_lengths(struct traffic_frame *frame, uint32_t payload) {
    rm_store16(frame->bytes + IPV4 + IPV4_TOTAL_LENGTH, (uint16_t)(RM_IPV4_BYTES + RM_UDP_BYTES + payload));
    rm_store16(frame->bytes + UDP + UDP_LENGTH, (uint16_t)(RM_UDP_BYTES + payload));
    frame->length = PAYLOAD + payload;
}

static void write_sender(struct traffic_frame *frame, struct traffic_sender *sender) {
    sender->identification += sender->counting;
    uint8_t *const ipv4 = frame->bytes + IPV4;
    rm_store16(ipv4 + IPV4_IDENTIFICATION, sender->identification);
    rm_store16(ipv4 + IPV4_FRAGMENT, sender->fragmentable ? 0 : DONT_FRAGMENT);
    ipv4[IPV4_TTL] = sender->time_to_live;
    ipv4[IPV4_DESTINATION + 3] = sender->last_octet;
    rm_store16(frame->bytes + UDP + UDP_SOURCE, sender->source_port);
}

/** Oddities that checksums cover. */
static void write_oddity(struct traffic_frame *frame, enum oddity oddity, uint64_t dice) {
    uint8_t *const ipv4 = frame->bytes + IPV4, *const udp = frame->bytes + UDP, *const payload = frame->bytes + PAYLOAD;
    uint8_t const bits = (uint8_t)(1 + dice % 255);
    if (oddity == OTHER_LANES)
        write_lengths(frame, RM_NATIVE_HEADER_BYTES + 4 * (uint32_t)(dice % (RM_LANES + 2)));
    else if (oddity == OTHER_MAGIC)
        payload[dice >> 8 & 1] ^= bits;
    else if (oddity == OTHER_VERSION)
        payload[2] ^= bits;
    else if (oddity == OTHER_KIND)
        payload[3] ^= bits & 7;
    else if (oddity == OTHER_ID)
        payload[4] ^= bits & 7;
    else if (oddity == OTHER_SOURCE)
        ipv4[IPV4_SOURCE + 3] ^= bits & 7;
    else if (oddity == OTHER_PORT)
        udp[UDP_DESTINATION + 1] ^= bits;
    else if (oddity == OTHER_PROTOCOL)
        ipv4[IPV4_PROTOCOL] ^= bits;
    else if (oddity == OTHER_SERVICE)
        ipv4[1] ^= bits;
    else if (oddity == SHORT_UDP || oddity == LONG_UDP)
        udp[UDP_LENGTH + 1] = (uint8_t)(udp[UDP_LENGTH + 1] + (oddity == SHORT_UDP ? -4 : 4));
    else if (oddity == FRAGMENT)
        rm_store16(ipv4 + IPV4_FRAGMENT, (dice & 1) != 0 ? MORE_FRAGMENTS : 1);
}

static void write_udp_checksum(struct traffic_frame *frame, struct traffic_sender *sender, enum checksum checksum) {
    uint8_t *const field = frame->bytes + UDP + UDP_CHECKSUM;
    if (checksum == ABSENT)
        return;
    rm_frame_write_udp_checksum(frame->bytes, rm_load16(frame->bytes + UDP + UDP_LENGTH) - RM_UDP_BYTES);
    if (checksum == WRONG)
        field[0] ^= 0x10;
    if (checksum == STALE)
        rm_store_memory16(field, sender->last_checksum);
    sender->last_checksum = rm_load_memory16(field);
}

static void insert(struct traffic_frame *frame, uint32_t at, uint32_t word) {
    memmove(frame->bytes + at + 4, frame->bytes + at, frame->length - at);
    rm_store32(frame->bytes + at, word);
    frame->length += 4;
}

static void write_header_checksum(struct traffic_frame *frame, enum oddity oddity, bool wrong) {
    uint8_t *const ipv4 = frame->bytes + IPV4;
    if (oddity == OPTIONS) {
        insert(frame, UDP, 0x01010100); /* nothing, nothing, nothing, the end */
        ipv4[0] = 4 << 4 | 6;
        rm_store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(rm_load16(ipv4 + IPV4_TOTAL_LENGTH) + 4));
    }
    rm_ipv4_write_checksum(ipv4, (ipv4[0] & 15) * 4);
    if (wrong)
        ipv4[IPV4_CHECKSUM] ^= 0x20;
}

/** Oddities that no checksum covers. */
static void bend(struct traffic_frame *frame, enum oddity oddity, uint64_t dice) {
    if (oddity == TAGGED)
        insert(frame, ETHERNET_TYPE, ETHERTYPE_VLAN << 16 | (uint32_t)(dice & VLAN_ID_MASK));
    else if (oddity == PADDED)
        frame->length += (uint32_t)(dice % 32);
    else if (oddity == CUT)
        frame->length = (uint32_t)(dice % frame->length);
    else if (oddity == BENT)
        frame->bytes[(dice >> 8) % frame->length] ^= (uint8_t)(1 + dice % 255);
}

void traffic_next(struct traffic *traffic, struct receive_rig const *rig, uint32_t index, struct traffic_frame *frame) {
    struct traffic_sender *const sender = &traffic->sender[index];
    change(traffic, sender);
    rm_turn const turn = some_turn(traffic, sender);
    enum oddity const oddity = once_in(traffic, 32) ? traffic_random(traffic) % ODDITIES : NONE;
    uint64_t const dice = traffic_random(traffic);

    *frame = (struct traffic_frame){.checksum_good = sender->good};
    frame->length = rig_frame(rig, index, turn - (uint64_t)rig->instrument[index]->counting.offset_turns, frame->bytes);
    if (rig->instrument[index]->layout != NULL)
        rm_store16(frame->bytes + frame->length - UNUSED_AT, (uint16_t)(dice >> 32));
    write_sender(frame, sender);
    write_oddity(frame, oddity, dice);
    write_udp_checksum(frame, sender, sender->checksum);
    write_header_checksum(frame, oddity, sender->broken || oddity == WRONG_HEADER);
    bend(frame, oddity, dice);
}
