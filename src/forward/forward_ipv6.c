// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_parts.h"

#include <string.h>

static bool ipv6_is_loopback_or_none(uint8_t const *address) {
    return rm_load_memory64(address) == 0 && rm_load32(address + 8) == 0 && rm_load32(address + 12) <= 1;
}

static bool ipv6_is_link_local(uint8_t const *address) { return address[0] == 0xFE && (address[1] & 0xC0) == 0x80; }

/** Neighbour discovery comes from no address, or from one of the link. */
static enum rm_forward_counter ipv6_check_addresses(uint8_t const *ip) {
    uint8_t const *const source = ip + IPV6_SOURCE, *const destination = ip + IPV6_DESTINATION;
    if (source[0] == 0xFF)
        return RM_FORWARD_MARTIAN;
    if (destination[0] == 0xFF)
        return RM_FORWARD_TO_KERNEL;
    if (ipv6_is_loopback_or_none(source) || ipv6_is_loopback_or_none(destination))
        return RM_FORWARD_MARTIAN;
    return ipv6_is_link_local(destination) ? RM_FORWARD_TO_KERNEL : RM_FORWARD_FORWARDED;
}

enum rm_forward_counter forward_ipv6_check(struct forward_frame *frame) {
    uint8_t const *const ip = frame->ip;
    uint32_t const available = frame->length - frame->ethernet_bytes;
    if (available < IPV6_BYTES)
        return RM_FORWARD_TRUNCATED;
    if (ip[0] >> 4 != 6)
        return RM_FORWARD_BAD_HEADER;
    frame->packet_bytes = IPV6_BYTES + rm_load16(ip + IPV6_PAYLOAD_LENGTH);
    if (available < frame->packet_bytes)
        return RM_FORWARD_TRUNCATED;
    return ipv6_check_addresses(ip);
}

/** By the ports where they follow at once, else by addresses and flow label. */
static uint32_t ipv6_flow(struct forward_frame const *frame) {
    uint8_t const *const ip = frame->ip;
    uint8_t const next = ip[IPV6_NEXT_HEADER];
    bool const has_ports = (next == PROTOCOL_UDP || next == PROTOCOL_TCP) && frame->packet_bytes >= IPV6_BYTES + 4;
    uint32_t const ports = has_ports ? rm_load_memory32(ip + IPV6_BYTES) : rm_load32(ip) & 0x000FFFFF;
    uint64_t const addresses = rm_load_memory64(ip + IPV6_SOURCE) + 3 * rm_load_memory64(ip + IPV6_SOURCE + 8) +
                               5 * rm_load_memory64(ip + IPV6_DESTINATION) +
                               7 * rm_load_memory64(ip + IPV6_DESTINATION + 8);
    return forward_mix(addresses, (uint64_t)ports << 8 | next);
}

/** A packet that does not go to a neighbour now. */
static void ipv6_turn_away(struct forward_work *work, struct forward_frame *frame, uint32_t hop,
                           enum rm_hop_state state) {
    bool const stays = frame->to_group || ipv6_is_link_local(frame->ip + IPV6_SOURCE);
    if (state != RM_HOP_STATE_LOCAL && stays) {
        ++work->count[RM_FORWARD_MARTIAN]; // RFC 4291, 2.5.6: what is of one link stays there
    } else if (state >= RM_HOP_STATE_UNRESOLVED && frame->ip[IPV6_HOP_LIMIT] <= 1) {
        ++work->count[RM_FORWARD_TTL_EXPIRED];
        forward_send_error(work, frame, FORWARD_ERROR_TTL, 0);
    } else {
        forward_unresolved(work, frame, hop, state);
    }
}

void forward_ipv6_route(struct forward_work *work, struct forward_frame *frame, uint32_t group) {
    struct rm_path_slots const *const slots = &work->table->slots[group];
    uint32_t const number = slots->hop[forward_one_path(slots) ? 0 : ipv6_flow(frame)];
    struct rm_next_hop const *const hop = &work->table->hop[number];
    uint64_t const destination = atomic_load_explicit(&hop->destination, memory_order_acquire);
    enum rm_hop_state const state = rm_hop_word_state(destination);
    uint32_t const mtu = atomic_load_explicit(&hop->mtu, memory_order_relaxed);
    if (state != RM_HOP_STATE_RESOLVED || frame->to_group || frame->ip[IPV6_HOP_LIMIT] <= 1 ||
        ipv6_is_link_local(frame->ip + IPV6_SOURCE)) {
        ipv6_turn_away(work, frame, number, state);
    } else if (frame->packet_bytes > mtu) {
        ++work->count[RM_FORWARD_TOO_BIG];
        forward_send_error(work, frame, FORWARD_ERROR_TOO_BIG, mtu);
    } else {
        --frame->ip[IPV6_HOP_LIMIT];
        forward_leave_by(work, frame, hop, destination);
    }
}
