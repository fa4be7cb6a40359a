// SPDX-License-Identifier: Apache-2.0
/* ICMP errors (RFC 792, 1812 section 4.3; RFC 4443), sent back to the station that the packet came from, by the interface
 * that it came in by, with that interface's address. */
#include "forward/forward_parts.h"

#include <string.h>

#include "wire/internet_checksum.h"

enum {
    ICMP_BYTES = 8,
    ICMP_CHECKSUM = 2,
    ICMP_MTU = 4,
    /** Bytes of the longest errors, with their IP headers. */
    IPV4_ERROR_BYTES = 576,
    IPV6_ERROR_BYTES = 1280,
    ICMPV6_FIRST_QUESTION = 128, /**< types below are errors */
    ICMPV6_REDIRECT = 137,
    PRECEDENCE_OF_ROUTERS = 0xC0,
    NS_PER_ERROR = 1000000000 / RM_ICMP_PER_SECOND,
};

struct error_words {
    uint8_t type;
    uint8_t code;
};

static struct error_words const IPV4_WORDS[] = {
    [FORWARD_ERROR_TTL] = {11, 0},        [FORWARD_ERROR_NO_ROUTE] = {3, 0}, [FORWARD_ERROR_NO_HOST] = {3, 1},
    [FORWARD_ERROR_PROHIBITED] = {3, 13}, [FORWARD_ERROR_TOO_BIG] = {3, 4},
};

static struct error_words const IPV6_WORDS[] = {
    [FORWARD_ERROR_TTL] = {3, 0},        [FORWARD_ERROR_NO_ROUTE] = {1, 0}, [FORWARD_ERROR_NO_HOST] = {1, 3},
    [FORWARD_ERROR_PROHIBITED] = {1, 1}, [FORWARD_ERROR_TOO_BIG] = {2, 0},
};

/** No error is sent about an error, nor about a fragment without the datagram's beginning. */
static bool ipv4_may_be_answered(struct forward_frame const *frame) {
    uint8_t const *const ip = frame->ip;
    uint32_t const header_bytes = (ip[0] & 0x0Fu) * 4;
    if ((rm_load16(ip + IPV4_FRAGMENT) & FRAGMENT_OFFSET) != 0)
        return false;
    if (ip[IPV4_PROTOCOL] != PROTOCOL_ICMP)
        return true;
    if (frame->packet_bytes == header_bytes)
        return false;
    uint8_t const type = ip[header_bytes];
    return type != 3 && type != 4 && type != 5 && type != 11 && type != 12;
}

static bool ipv6_may_be_answered(struct forward_frame const *frame) {
    if (frame->ip[IPV6_NEXT_HEADER] != PROTOCOL_ICMPV6)
        return true;
    return frame->packet_bytes > IPV6_BYTES && frame->ip[IPV6_BYTES] >= ICMPV6_FIRST_QUESTION &&
           frame->ip[IPV6_BYTES] != ICMPV6_REDIRECT;
}

static bool take_token(struct rm_forward *forward, uint64_t now_ns) {
    uint64_t const earned = (now_ns - forward->icmp_ns) / NS_PER_ERROR;
    uint64_t const tokens = forward->icmp_tokens + earned;
    forward->icmp_ns += earned * NS_PER_ERROR;
    forward->icmp_tokens = tokens < RM_ICMP_BURST ? (uint32_t)tokens : RM_ICMP_BURST;
    if (forward->icmp_tokens == 0)
        return false;
    --forward->icmp_tokens;
    return true;
}

static uint32_t quoted_bytes(struct forward_frame const *frame, uint32_t header_bytes, uint32_t longest) {
    uint32_t const room = longest - header_bytes - ICMP_BYTES;
    return frame->packet_bytes < room ? frame->packet_bytes : room;
}

static void write_icmp(uint8_t *icmp, struct error_words words, uint32_t mtu, struct forward_frame const *frame,
                       uint32_t quoted) {
    icmp[0] = words.type;
    icmp[1] = words.code;
    rm_store16(icmp + ICMP_CHECKSUM, 0);
    rm_store32(icmp + ICMP_MTU, mtu);
    memcpy(icmp + ICMP_BYTES, frame->ip, quoted);
}

/** Returns the packet's length. */
static uint32_t write_ipv4_error(uint8_t *ip, struct forward_frame const *frame, struct rm_ip const *ours,
                                 enum forward_error error, uint32_t mtu) {
    uint32_t const quoted = quoted_bytes(frame, RM_IPV4_BYTES, IPV4_ERROR_BYTES);
    uint32_t const length = RM_IPV4_BYTES + ICMP_BYTES + quoted;
    memset(ip, 0, RM_IPV4_BYTES);
    ip[0] = 0x45;
    ip[1] = PRECEDENCE_OF_ROUTERS;
    rm_store16(ip + IPV4_TOTAL_LENGTH, (uint16_t)length);
    rm_store16(ip + IPV4_FRAGMENT, DONT_FRAGMENT);
    ip[IPV4_TTL] = TIME_TO_LIVE;
    ip[IPV4_PROTOCOL] = PROTOCOL_ICMP;
    memcpy(ip + IPV4_SOURCE, ours->byte, 4);
    memcpy(ip + IPV4_DESTINATION, frame->ip + IPV4_SOURCE, 4);
    rm_ipv4_write_checksum(ip, RM_IPV4_BYTES);
    write_icmp(ip + RM_IPV4_BYTES, IPV4_WORDS[error], mtu & 0xFFFF, frame, quoted);
    rm_write_checksum(ip + RM_IPV4_BYTES, ICMP_CHECKSUM, ICMP_BYTES + quoted);
    return length;
}

/** The sum has the addresses, length and protocol in front of it (RFC 8200, 8.1). */
static void write_icmpv6_checksum(uint8_t *ip, uint32_t icmp_bytes) {
    uint8_t rest[8] = {[7] = PROTOCOL_ICMPV6};
    rm_store32(rest, icmp_bytes);
    uint64_t sum = rm_checksum_add_bytes(0, ip + IPV6_SOURCE, 2 * RM_IPV6_ADDRESS_BYTES);
    sum = rm_checksum_add_bytes(sum, rest, sizeof rest);
    sum = rm_checksum_add_bytes(sum, ip + IPV6_BYTES, icmp_bytes);
    rm_store_memory16(ip + IPV6_BYTES + ICMP_CHECKSUM, (uint16_t)~rm_checksum_fold(sum));
}

static uint32_t write_ipv6_error(uint8_t *ip, struct forward_frame const *frame, struct rm_ip const *ours,
                                 enum forward_error error, uint32_t mtu) {
    uint32_t const quoted = quoted_bytes(frame, IPV6_BYTES, IPV6_ERROR_BYTES);
    memset(ip, 0, IPV6_BYTES);
    ip[0] = 0x60;
    rm_store16(ip + IPV6_PAYLOAD_LENGTH, (uint16_t)(ICMP_BYTES + quoted));
    ip[IPV6_NEXT_HEADER] = PROTOCOL_ICMPV6;
    ip[IPV6_HOP_LIMIT] = TIME_TO_LIVE;
    memcpy(ip + IPV6_SOURCE, ours->byte, RM_IPV6_ADDRESS_BYTES);
    memcpy(ip + IPV6_DESTINATION, frame->ip + IPV6_SOURCE, RM_IPV6_ADDRESS_BYTES);
    write_icmp(ip + IPV6_BYTES, IPV6_WORDS[error], mtu, frame, quoted);
    write_icmpv6_checksum(ip, ICMP_BYTES + quoted);
    return IPV6_BYTES + ICMP_BYTES + quoted;
}

static bool has_address(struct rm_ip const *ip) {
    return rm_load_memory64(ip->byte) != 0 || rm_load_memory64(ip->byte + 8) != 0;
}

void forward_send_error(struct forward_work *work, struct forward_frame const *frame, enum forward_error error,
                        uint32_t mtu) {
    struct rm_interface const *const in = &work->table->interface[frame->interface];
    bool const ipv6 = frame->ip[0] >> 4 == 6;
    struct rm_ip const *const ours = ipv6 ? &in->ipv6 : &in->ipv4;
    uint8_t const *const station = frame->data + ETHERNET_SOURCE;
    if (!has_address(ours) || frame->to_group || rm_is_group(station) ||
        !(ipv6 ? ipv6_may_be_answered(frame) : ipv4_may_be_answered(frame)))
        return;
    if (!take_token(work->forward, work->now_ns)) {
        ++work->count[RM_FORWARD_ERRORS_HELD];
        return;
    }
    struct rm_next_hop back = {.vlan = in->vlan};
    memcpy(back.source_mac, in->mac, sizeof back.source_mac);
    uint8_t *const ip = forward_make_frame(work) + RM_ETHERNET_BYTES + RM_VLAN_BYTES;
    uint32_t const length =
        ipv6 ? write_ipv6_error(ip, frame, ours, error, mtu) : write_ipv4_error(ip, frame, ours, error, mtu);
    uint8_t *const made = forward_write_ethernet(ip, &back, rm_hop_word(station, RM_HOP_STATE_RESOLVED),
                                                 ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
    forward_leave(work, work->port, made, (uint32_t)(ip - made) + length);
    ++work->count[RM_FORWARD_ERRORS_SENT];
}
