// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_parts.h"

#include "wire/internet_checksum.h"

/** Classes of addresses by their first byte. */
enum {
    NO_SOURCE = 1,
    NO_DESTINATION = 2,
    GROUP_DESTINATION = 4,
};

static uint8_t const FIRST_BYTE[256] = {
    [0] = NO_SOURCE | NO_DESTINATION,
    [127] = NO_SOURCE | NO_DESTINATION,
    [224 ... 239] = NO_SOURCE | GROUP_DESTINATION,
    [240 ... 255] = NO_SOURCE | NO_DESTINATION,
};

static enum rm_forward_counter ipv4_check_addresses(uint8_t const *ip) {
    uint32_t const destination = rm_load32(ip + IPV4_DESTINATION);
    uint8_t const classes = FIRST_BYTE[ip[IPV4_DESTINATION]];
    if (FIRST_BYTE[ip[IPV4_SOURCE]] & NO_SOURCE) {
        // A host without an address asks all for one (DHCP).
        bool const asks = rm_load32(ip + IPV4_SOURCE) == 0 && destination == UINT32_MAX;
        return asks ? RM_FORWARD_TO_KERNEL : RM_FORWARD_MARTIAN;
    }
    if (destination == UINT32_MAX || (classes & GROUP_DESTINATION))
        return RM_FORWARD_TO_KERNEL;
    return classes & NO_DESTINATION ? RM_FORWARD_MARTIAN : RM_FORWARD_FORWARDED;
}

static bool ipv4_header_sums_up(uint8_t const *ip, uint32_t header_bytes) {
    if (__builtin_expect(header_bytes == RM_IPV4_BYTES, 1))
        return rm_ipv4_plain_header_sums_up(ip);
    return rm_checksum_fold(rm_checksum_add_bytes(0, ip, header_bytes)) == 0xFFFF;
}

enum rm_forward_counter forward_ipv4_check(struct forward_frame *frame) {
    uint8_t const *const ip = frame->ip;
    uint32_t const available = frame->length - frame->ethernet_bytes;
    if (available < RM_IPV4_BYTES)
        return RM_FORWARD_TRUNCATED;
    uint32_t const header_bytes = (ip[0] & 0x0Fu) * 4;
    frame->packet_bytes = rm_load16(ip + IPV4_TOTAL_LENGTH);
    if (ip[0] >> 4 != 4 || header_bytes < RM_IPV4_BYTES || frame->packet_bytes < header_bytes)
        return RM_FORWARD_BAD_HEADER;
    if (available < frame->packet_bytes)
        return RM_FORWARD_TRUNCATED;
    if (!ipv4_header_sums_up(ip, header_bytes))
        return RM_FORWARD_BAD_HEADER;
    return ipv4_check_addresses(ip);
}

/** The same for all packets of a flow, and for all fragments of a datagram. */
static uint32_t ipv4_flow(struct forward_frame const *frame) {
    uint8_t const *const ip = frame->ip;
    uint32_t const header_bytes = (ip[0] & 0x0Fu) * 4;
    uint8_t const protocol = ip[IPV4_PROTOCOL];
    bool const whole = (rm_load16(ip + IPV4_FRAGMENT) & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) == 0;
    bool const has_ports =
        whole && (protocol == PROTOCOL_UDP || protocol == PROTOCOL_TCP) && frame->packet_bytes >= header_bytes + 4;
    uint32_t const ports = has_ports ? rm_load_memory32(ip + header_bytes) : 0;
    return forward_mix(rm_load_memory64(ip + IPV4_SOURCE), (uint64_t)ports << 8 | protocol);
}

/** One hop less, and the checksum by the rule of RFC 1624: the first byte of a 16-bit word is one less, in the order in
 * which it lies in memory, so the sum's complement is one more. */
static void ipv4_decrement(uint8_t *ip) {
    --ip[IPV4_TTL];
    uint32_t sum = rm_load_memory16(ip + IPV4_CHECKSUM) + 1u;
    sum += sum >= 0xFFFF;
    rm_store_memory16(ip + IPV4_CHECKSUM, (uint16_t)sum);
}

static void ipv4_too_big(struct forward_work *work, struct forward_frame *frame, struct rm_next_hop const *hop,
                         uint64_t destination, uint32_t mtu) {
    bool const may_be_cut = (rm_load16(frame->ip + IPV4_FRAGMENT) & DONT_FRAGMENT) == 0;
    if (may_be_cut && work->table->interface[hop->interface].fragments) {
        ipv4_decrement(frame->ip);
        forward_cut(work, frame, hop, destination, mtu);
        return;
    }
    ++work->count[RM_FORWARD_TOO_BIG];
    forward_send_error(work, frame, FORWARD_ERROR_TOO_BIG, mtu);
}

/** A packet that does not go to a neighbour now. */
static void ipv4_turn_away(struct forward_work *work, struct forward_frame *frame, uint32_t hop,
                           enum rm_hop_state state) {
    bool const leads_on = state >= RM_HOP_STATE_UNRESOLVED;
    if (leads_on && frame->to_group) {
        ++work->count[RM_FORWARD_MARTIAN]; // RFC 1812, 5.3.4: not by a group of stations
    } else if (leads_on && frame->ip[IPV4_TTL] <= 1) {
        ++work->count[RM_FORWARD_TTL_EXPIRED];
        forward_send_error(work, frame, FORWARD_ERROR_TTL, 0);
    } else {
        forward_unresolved(work, frame, hop, state);
    }
}

void forward_ipv4_route(struct forward_work *work, struct forward_frame *frame, uint32_t group) {
    struct rm_path_slots const *const slots = &work->table->slots[group];
    uint32_t const number = slots->hop[forward_one_path(slots) ? 0 : ipv4_flow(frame)];
    struct rm_next_hop const *const hop = &work->table->hop[number];
    uint64_t const destination = atomic_load_explicit(&hop->destination, memory_order_acquire);
    enum rm_hop_state const state = rm_hop_word_state(destination);
    uint32_t const mtu = atomic_load_explicit(&hop->mtu, memory_order_relaxed);
    if (__builtin_expect(state != RM_HOP_STATE_RESOLVED || frame->to_group || frame->ip[IPV4_TTL] <= 1, 0)) {
        ipv4_turn_away(work, frame, number, state);
    } else if (__builtin_expect(frame->packet_bytes > mtu, 0)) {
        ipv4_too_big(work, frame, hop, destination, mtu);
    } else {
        ipv4_decrement(frame->ip);
        forward_leave_by(work, frame, hop, destination);
    }
}
