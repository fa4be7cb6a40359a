// SPDX-License-Identifier: Apache-2.0
/* Modes that look no further than the Ethernet header. */
#include "forward/forward_parts.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

void rm_forward_io(struct rm_forward *forward, uint32_t port, struct rm_burst *burst) {
    rm_counter_add(forward->counters[port], RM_FORWARD_RECEIVED, burst->count);
    rm_counter_add(forward->counters[port], RM_FORWARD_FORWARDED, burst->count);
    forward->send(forward->send_context, forward->pair[port], burst);
}

static void swap_addresses(uint8_t *frame) {
    uint64_t const first = rm_load_memory64(frame);
    uint32_t const rest = rm_load_memory32(frame + 8);
    uint64_t const source = first >> 48 | (uint64_t)rest << 16;
    uint64_t const swapped = (source & UINT64_C(0xFFFFFFFFFFFF)) | first << 48;
    uint32_t const behind = (uint32_t)(first >> 16);
    memcpy(frame, &swapped, sizeof swapped);
    memcpy(frame + 8, &behind, sizeof behind);
}

/** Takes what is no frame out of a burst. */
static uint32_t drop_truncated(struct rm_burst *burst) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < burst->count; ++i) {
        bool const whole = burst->length[i] >= RM_ETHERNET_BYTES && burst->length[i] != RM_LENGTH_CUT;
        burst->data[kept] = burst->data[i];
        burst->length[kept] = burst->length[i];
        kept += whole;
    }
    uint32_t const dropped = burst->count - kept;
    burst->count = kept;
    return dropped;
}

void rm_forward_macswap(struct rm_forward *forward, uint32_t port, struct rm_burst *burst) {
    uint32_t const received = burst->count, truncated = drop_truncated(burst);
    for (uint32_t i = 0; i < burst->count; ++i)
        swap_addresses(burst->data[i]);
    rm_counter_add(forward->counters[port], RM_FORWARD_RECEIVED, received);
    rm_counter_add(forward->counters[port], RM_FORWARD_TRUNCATED, truncated);
    rm_counter_add(forward->counters[port], RM_FORWARD_FORWARDED, burst->count);
    forward->send(forward->send_context, forward->pair[port], burst);
}

static uint16_t frame_vlan(uint8_t const *frame, uint32_t length) {
    bool const tagged =
        length >= RM_ETHERNET_BYTES + RM_VLAN_BYTES && rm_load16(frame + ETHERNET_TYPE) == ETHERTYPE_VLAN;
    return tagged ? rm_load16(frame + ETHERNET_TYPE + 2) & VLAN_ID_MASK : 0;
}

/** 01:80:C2:00:00:00 to 0F: what bridges say to each other is never passed on (IEEE 802.1D, 7.12.6). */
static bool stays_on_link(uint8_t const *mac) {
    return rm_load32(mac) == 0x0180C200 && mac[4] == 0 && (mac[5] & 0xF0) == 0;
}

static void put_out(struct rm_burst *out, uint8_t *frame, uint32_t length) {
    out->data[out->count] = frame;
    out->length[out->count++] = length;
}

/** To a port, or to all others. */
static bool bridge_frame(struct rm_forward *forward, uint32_t port, uint8_t *frame, uint32_t length, uint32_t now_s,
                         struct rm_burst *out) {
    uint16_t const vlan = frame_vlan(frame, length);
    rm_bridge_learn(&forward->bridge, frame + ETHERNET_SOURCE, vlan, port, now_s);
    uint32_t const to = rm_is_group(frame) ? RM_BRIDGE_UNKNOWN : rm_bridge_find(&forward->bridge, frame, vlan, now_s);
    if (to == port || stays_on_link(frame))
        return false;
    for (uint32_t other = 0; other < forward->port_count; ++other)
        if (other != port && (to == RM_BRIDGE_UNKNOWN ? forward->counters[other] != NULL : other == to))
            put_out(&out[other], frame, length);
    return true;
}

void rm_forward_bridge(struct rm_forward *forward, uint32_t port, struct rm_burst *burst, uint64_t now_ns) {
    uint32_t const received = burst->count, truncated = drop_truncated(burst), now_s = (uint32_t)(now_ns / NS_PER_S);
    struct rm_burst *const out = forward->scratch->out;
    uint32_t gone = 0;
    for (uint32_t i = 0; i < burst->count; ++i)
        gone += bridge_frame(forward, port, burst->data[i], burst->length[i], now_s, out);
    for (uint32_t other = 0; other < forward->port_count; ++other) {
        if (out[other].count != 0)
            forward->send(forward->send_context, other, &out[other]);
        out[other].count = 0;
    }
    rm_counter_add(forward->counters[port], RM_FORWARD_RECEIVED, received);
    rm_counter_add(forward->counters[port], RM_FORWARD_TRUNCATED, truncated);
    rm_counter_add(forward->counters[port], RM_FORWARD_FORWARDED, gone);
    rm_counter_add(forward->counters[port], RM_FORWARD_SAME_PORT, burst->count - gone);
}
