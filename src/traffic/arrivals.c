// SPDX-License-Identifier: Apache-2.0
#include "traffic/arrivals.h"

#include "traffic/frame_layout.h"

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_ARP = 0x0806,
    TYPE_VLAN = 0x8100,
    TYPE_SERVICE_VLAN = 0x88A8,
    TYPE_IPV6 = 0x86DD,
    TAGS_MAX = 2,
    NUMBER_ICMP = 1,
    NUMBER_TCP = 6,
    NUMBER_UDP = 17,
    NUMBER_ICMPV6 = 58,
    FRAGMENT_MASK = 0x3FFF, // more fragments, or not the first
};

/** With FCS: the last size of each class but the last one. */
static uint32_t const CLASS_END[] = {64, 127, 255, 511, 1023, 1518};

static struct rm_arrival broken_arrival(void) { return (struct rm_arrival){.broken = true}; }

/** What follows an IP header, at `at` in the frame. */
static struct rm_arrival transport_arrival(uint8_t const *frame, uint32_t at, uint32_t length, uint8_t number) {
    if (number == NUMBER_UDP && at + RM_UDP_BYTES <= length)
        return (struct rm_arrival){.payload = at + RM_UDP_BYTES};
    if (number == NUMBER_TCP && at + RM_TCP_BYTES <= length) {
        uint32_t const header = (uint32_t)(frame[at + 12] >> 4) * 4;
        bool const whole = header >= RM_TCP_BYTES && at + header <= length;
        return whole ? (struct rm_arrival){.payload = at + header} : broken_arrival();
    }
    return number == NUMBER_UDP || number == NUMBER_TCP ? broken_arrival() : (struct rm_arrival){0};
}

static struct rm_arrival ipv4_arrival(uint8_t const *frame, uint32_t at, uint32_t length) {
    if (at + RM_IPV4_BYTES > length)
        return broken_arrival();
    uint8_t const *const ip = frame + at;
    uint32_t const header = (uint32_t)(ip[0] & 0xF) * 4;
    uint32_t const total = rm_load16(ip + 2);
    if (ip[0] >> 4 != 4 || header < RM_IPV4_BYTES || total < header || at + total > length)
        return broken_arrival();
    if (ip[9] == NUMBER_ICMP)
        return (struct rm_arrival){.icmp = true};
    if ((rm_load16(ip + 6) & FRAGMENT_MASK) != 0)
        return (struct rm_arrival){0};
    return transport_arrival(frame, at + header, at + total, ip[9]);
}

static struct rm_arrival ipv6_arrival(uint8_t const *frame, uint32_t at, uint32_t length) {
    if (at + RM_IPV6_BYTES > length)
        return broken_arrival();
    uint8_t const *const ip = frame + at;
    uint32_t const total = RM_IPV6_BYTES + (uint32_t)rm_load16(ip + 4);
    if (ip[0] >> 4 != 6 || at + total > length)
        return broken_arrival();
    if (ip[6] == NUMBER_ICMPV6)
        return (struct rm_arrival){.icmp = true};
    return transport_arrival(frame, at + RM_IPV6_BYTES, at + total, ip[6]);
}

struct rm_arrival rm_arrival_of(uint8_t const *frame, uint32_t length) {
    uint32_t at = RM_ETHERNET_BYTES;
    if (length < at)
        return broken_arrival();
    uint16_t type = rm_load16(frame + at - 2);
    for (uint32_t tags = 0; (type == TYPE_VLAN || type == TYPE_SERVICE_VLAN) && tags < TAGS_MAX; ++tags) {
        at += RM_VLAN_BYTES;
        if (length < at)
            return broken_arrival();
        type = rm_load16(frame + at - 2);
    }
    switch (type) {
    case TYPE_IPV4:
        return ipv4_arrival(frame, at, length);
    case TYPE_IPV6:
        return ipv6_arrival(frame, at, length);
    default:
        return (struct rm_arrival){.arp = type == TYPE_ARP};
    }
}

static uint32_t size_class(uint32_t length) {
    uint32_t class = 0;
    while (class < sizeof CLASS_END / sizeof CLASS_END[0] && length + RM_FCS_BYTES > CLASS_END[class])
        ++class;
    return RM_GENERATOR_SIZE_64 + class;
}

static void count_destination(uint8_t const *frame, uint32_t *counts) {
    bool const all = (rm_load_memory64(frame) & 0xFFFFFFFFFFFF) == 0xFFFFFFFFFFFF;
    counts[RM_GENERATOR_BROADCAST] += all;
    counts[RM_GENERATOR_MULTICAST] += !all && (frame[0] & 1);
}

/** Whether a frame had a stamp of ours, which is counted then. */
static bool count_stamp(uint8_t const *frame, uint32_t length, uint32_t payload, uint64_t tsc, struct rm_flows *flows,
                        struct rm_histogram *latency) {
    struct rm_flow_stamp stamp;
    if (payload == 0 || payload + RM_FLOW_STAMP_BYTES > length ||
        !rm_flow_stamp_read(frame + payload, flows->key, &stamp))
        return false;
    rm_flows_count(flows, &stamp, tsc);
    if (tsc >= stamp.tsc)
        rm_histogram_add(latency, tsc - stamp.tsc, 1);
    return true;
}

void rm_arrivals_count(struct rm_burst const *burst, uint64_t tsc, rm_counter *counters, struct rm_flows *flows,
                       struct rm_histogram *latency) {
    uint32_t counts[RM_GENERATOR_COUNTERS] = {[RM_GENERATOR_RECEIVED] = burst->count};
    for (uint32_t i = 0; i < burst->count; ++i) {
        uint8_t const *const frame = burst->data[i];
        uint32_t const length = burst->length[i];
        struct rm_arrival const arrival = rm_arrival_of(frame, length);
        counts[RM_GENERATOR_RECEIVED_BYTES] += length;
        ++counts[size_class(length)];
        counts[RM_GENERATOR_ARP] += arrival.arp;
        counts[RM_GENERATOR_ICMP] += arrival.icmp;
        counts[RM_GENERATOR_BROKEN] += arrival.broken;
        if (length >= RM_ETHERNET_BYTES)
            count_destination(frame, counts);
        bool const ours = count_stamp(frame, length, arrival.payload, tsc, flows, latency);
        ++counts[ours ? RM_GENERATOR_STAMPED : RM_GENERATOR_FOREIGN];
    }
    for (uint32_t i = 0; i < RM_GENERATOR_COUNTERS; ++i)
        if (counts[i] != 0)
            rm_counter_add(counters, i, counts[i]);
}
