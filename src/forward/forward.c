// SPDX-License-Identifier: Apache-2.0
#include "forward/forward.h"

#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"
#include "forward/forward_parts.h"

enum { LINE_BYTES = 64, VLAN_TAGS_BYTES = 8 };

bool rm_forward_make(struct rm_forward *forward, enum rm_forward_mode mode) {
    struct rm_forward_scratch *const scratch = rm_zeroed(1, sizeof *scratch);
    forward->scratch = scratch;
    if (scratch == NULL)
        return false;
    uint32_t const longest = forward->longest_frame < RM_SEND_BYTES ? RM_SEND_BYTES : forward->longest_frame;
    scratch->frame_bytes = (longest + VLAN_TAGS_BYTES + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    scratch->frames = rm_zeroed(FORWARD_MADE_FRAMES, scratch->frame_bytes);
    forward->icmp_tokens = RM_ICMP_BURST;
    return scratch->frames != NULL && (mode != RM_FORWARD_L2 || rm_bridge_make(&forward->bridge));
}

void rm_forward_free(struct rm_forward *forward) {
    if (forward->scratch != NULL)
        free(forward->scratch->frames);
    free(forward->scratch);
    forward->scratch = NULL;
    rm_bridge_free(&forward->bridge);
}

/** Finds the interface and where the content begins: after one tag at most. Returns RM_FORWARD_FORWARDED, or what is
 * wrong. */
static enum rm_forward_counter find_interface(struct forward_work const *work, struct forward_frame *frame) {
    uint16_t vlan = 0;
    frame->ethernet_bytes = RM_ETHERNET_BYTES;
    if (frame->length < RM_ETHERNET_BYTES)
        return RM_FORWARD_TRUNCATED;
    if (__builtin_expect(rm_load16(frame->data + ETHERNET_TYPE) == ETHERTYPE_VLAN, 0)) {
        if (frame->length < RM_ETHERNET_BYTES + RM_VLAN_BYTES)
            return RM_FORWARD_TRUNCATED;
        vlan = rm_load16(frame->data + ETHERNET_TYPE + 2) & VLAN_ID_MASK;
        frame->ethernet_bytes += RM_VLAN_BYTES;
    }
    frame->interface = work->table->by_vlan[work->port][vlan];
    return frame->interface == RM_INTERFACE_NONE ? RM_FORWARD_WRONG_VLAN : RM_FORWARD_FORWARDED;
}

static bool same_mac(uint8_t const *a, uint8_t const *b) {
    return rm_load_memory32(a) == rm_load_memory32(b) && rm_load_memory16(a + 4) == rm_load_memory16(b + 4);
}

/** Checks a frame up to where a route is needed. RM_FORWARD_FORWARDED: it is an IP packet to be looked up. */
static enum rm_forward_counter check_frame(struct forward_work const *work, struct forward_frame *frame) {
    enum rm_forward_counter const found = find_interface(work, frame);
    if (__builtin_expect(found != RM_FORWARD_FORWARDED, 0))
        return found;
    frame->ip = frame->data + frame->ethernet_bytes;
    frame->to_group = rm_is_group(frame->data);
    if (!frame->to_group && !same_mac(frame->data, work->table->interface[frame->interface].mac))
        return RM_FORWARD_NOT_OURS;
    uint16_t const ethertype = rm_load16(frame->ip - 2);
    if (ethertype == ETHERTYPE_IPV4)
        return forward_ipv4_check(frame);
    return ethertype == ETHERTYPE_IPV6 ? forward_ipv6_check(frame) : RM_FORWARD_TO_KERNEL;
}

static bool is_ip(struct forward_frame const *frame) {
    uint16_t const ethertype = rm_load16(frame->ip - 2);
    return ethertype == ETHERTYPE_IPV4 || ethertype == ETHERTYPE_IPV6;
}

/** Notes a packet for the lookup. */
static void note_packet(struct forward_work *work, uint32_t index) {
    struct forward_frame const *const frame = &work->frame[index];
    if (frame->ip[0] >> 4 == 4) {
        work->ipv4_destination[work->ipv4_count] = rm_load32(frame->ip + IPV4_DESTINATION);
        work->ipv4_frame[work->ipv4_count++] = (uint8_t)index;
    } else {
        memcpy(work->ipv6_destination[work->ipv6_count], frame->ip + IPV6_DESTINATION, RM_IPV6_ADDRESS_BYTES);
        work->ipv6_frame[work->ipv6_count++] = (uint8_t)index;
    }
}

static void sort_frames(struct forward_work *work, struct rm_burst const *burst) {
    for (uint32_t i = 0; i < burst->count; ++i) {
        struct forward_frame *const frame = &work->frame[i];
        frame->data = burst->data[i];
        frame->length = burst->length[i] == RM_LENGTH_CUT ? 0 : burst->length[i];
        enum rm_forward_counter const verdict = check_frame(work, frame);
        if (__builtin_expect(verdict == RM_FORWARD_FORWARDED, 1))
            note_packet(work, i);
        else if (verdict == RM_FORWARD_TO_KERNEL)
            forward_hand_off(work, frame, is_ip(frame) ? RM_HANDOFF_LOCAL : RM_HANDOFF_CONTROL, RM_HOP_LOCAL);
        else
            ++work->count[verdict];
    }
}

static void route_packets(struct forward_work *work) {
    if (work->ipv4_count != 0)
        rm_match_ipv4(&work->table->match, work->ipv4_destination, work->ipv4_group, work->ipv4_count);
    for (uint32_t i = 0; i < work->ipv4_count; ++i)
        forward_ipv4_route(work, &work->frame[work->ipv4_frame[i]], (uint32_t)work->ipv4_group[i]);
    if (work->ipv6_count != 0)
        rm_match_ipv6(&work->table->match, work->ipv6_destination, work->ipv6_group, work->ipv6_count);
    for (uint32_t i = 0; i < work->ipv6_count; ++i)
        forward_ipv6_route(work, &work->frame[work->ipv6_frame[i]], (uint32_t)work->ipv6_group[i]);
}

void rm_forward_burst(struct rm_forward *forward, uint32_t port, struct rm_burst *burst, uint64_t now_ns) {
    struct forward_work work;
    work.forward = forward;
    work.table = rm_routes_table(forward->routes, forward->reader);
    work.port = port;
    work.now_ns = now_ns;
    work.ipv4_count = work.ipv6_count = 0;
    memset(work.count, 0, sizeof work.count);
    work.count[RM_FORWARD_RECEIVED] = burst->count;
    sort_frames(&work, burst);
    route_packets(&work);
    forward_flush(&work);
    for (uint32_t i = 0; i < RM_FORWARD_COUNTERS; ++i)
        if (work.count[i] != 0)
            rm_counter_add(forward->counters[port], i, work.count[i]);
}
