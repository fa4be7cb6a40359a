// SPDX-License-Identifier: Apache-2.0
/** A router without ports, for tests: three ports and a VLAN, frames in, and what left kept by port. */
#ifndef RM_FORWARD_TEST_RIG_H
#define RM_FORWARD_TEST_RIG_H

#include "forward/forward.h"
#include "forward/test_tables.h"
#include "wire/internet_checksum.h"
#include "wire/ipv4.h"

enum {
    RIG_PORTS = 3,
    RIG_FRAME_BYTES = 9600,
    RIG_LEFT_MAX = 512,
    RIG_VLAN = 7,
    /** Interfaces: the ports untagged, and VLAN 7 of port 2. */
    RIG_TAGGED = 3,
};

/** A frame that left. */
struct rig_left {
    uint32_t port;
    uint32_t length;
    uint8_t frame[RIG_FRAME_BYTES];
};

struct rig {
    struct rm_routes *routes;
    struct rm_forward forward;
    struct rm_handoff handoff;
    rm_counter counters[RIG_PORTS][RM_FORWARD_COUNTERS];
    uint64_t now_ns;
    uint32_t left_count;
    struct rig_left left[RIG_LEFT_MAX];
};

static struct rm_routes_limits const RIG_LIMITS = {.ipv4_routes = 256, .ipv6_routes = 256};

static inline void rig_send(void *context, uint32_t port, struct rm_burst *burst) {
    struct rig *const rig = context;
    for (uint32_t i = 0; i < burst->count && rig->left_count < RIG_LEFT_MAX; ++i) {
        struct rig_left *const left = &rig->left[rig->left_count++];
        left->port = port;
        left->length = burst->length[i];
        memcpy(left->frame, burst->data[i], burst->length[i]);
    }
}

/** MAC address of our port, or of the station behind it. */
static inline void rig_mac(uint8_t mac[6], uint32_t port, bool station) {
    memcpy(mac, (uint8_t[]){0x02, 0, 0, station, 0, (uint8_t)port}, 6);
}

static inline struct rm_ip rig_ipv6(uint32_t port, uint32_t host) {
    struct rm_ip ip = {.byte = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, (uint8_t)port}, .ipv6 = true};
    rm_store32(ip.byte + 12, host);
    return ip;
}

static inline struct rm_ip rig_ipv4(uint32_t port, uint32_t host) {
    struct rm_ip ip = {0};
    rm_store32(ip.byte, 10u << 24 | port << 16 | host);
    return ip;
}

static inline struct rm_interface rig_interface(uint32_t number) {
    struct rm_interface interface = {.up = true,
                                     .port = (uint16_t)(number == RIG_TAGGED ? 2 : number),
                                     .vlan = number == RIG_TAGGED ? RIG_VLAN : 0,
                                     .mtu = 1500,
                                     .fragments = true,
                                     .ipv4 = rig_ipv4(number, 1),
                                     .ipv6 = rig_ipv6(number, 1)};
    rig_mac(interface.mac, interface.port, false);
    return interface;
}

/** Sets a route by one next hop. */
static inline void rig_route(struct rig *rig, struct rm_ip ip, uint8_t length, uint32_t hop) {
    struct rm_prefix prefix = {.ip = ip, .length = length};
    for (uint32_t bit = length; bit < 128; ++bit)
        prefix.ip.byte[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    struct rm_route const route = route_by(prefix, hop);
    assert_int_equal(rm_route_set(rig->routes, &route, NULL), RM_OK);
}

/** A neighbour that is resolved, behind an interface. */
static inline uint32_t rig_neighbour(struct rig *rig, uint32_t interface, struct rm_ip gateway) {
    uint32_t hop;
    uint8_t mac[6];
    assert_int_equal(rm_hop_take(rig->routes, interface, &gateway, &hop, NULL), RM_OK);
    rig_mac(mac, interface, true);
    rm_hop_resolve(rm_routes_hop(rig->routes, hop), mac);
    return hop;
}

/** Networks 10.N.0.0/16 and 2001:db8:0:N::/64 behind each interface, host 1 being us. */
static inline struct rig *rig_make(void) {
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    assert_int_equal(rm_routes_make(&rig->routes, &RIG_LIMITS, 1, NULL), RM_OK);
    for (uint32_t i = 0; i <= RIG_TAGGED; ++i) {
        struct rm_interface const interface = rig_interface(i);
        assert_int_equal(rm_routes_set_interface(rig->routes, i, &interface, NULL), RM_OK);
        rig_route(rig, rig_ipv4(i, 0), 16, rig_neighbour(rig, i, rig_ipv4(i, 2)));
        rig_route(rig, rig_ipv6(i, 0), 64, rig_neighbour(rig, i, rig_ipv6(i, 2)));
        rig_route(rig, rig_ipv4(i, 1), 32, RM_HOP_LOCAL);
        rig_route(rig, rig_ipv6(i, 1), 128, RM_HOP_LOCAL);
    }
    rm_routes_publish(rig->routes);
    assert_true(rm_handoff_make(&rig->handoff, 64, RIG_FRAME_BYTES));
    rig->forward = (struct rm_forward){.routes = rig->routes,
                                       .port_count = RIG_PORTS,
                                       .handoff = &rig->handoff,
                                       .longest_frame = RIG_FRAME_BYTES,
                                       .send = rig_send,
                                       .send_context = rig};
    for (uint32_t i = 0; i < RIG_PORTS; ++i)
        rig->forward.counters[i] = rig->counters[i];
    assert_true(rm_forward_make(&rig->forward, RM_FORWARD_ROUTE));
    return rig;
}

static inline void rig_free(struct rig *rig) {
    rm_forward_free(&rig->forward);
    rm_handoff_free(&rig->handoff);
    rm_routes_free(rig->routes);
    free(rig);
}

/** Routes one frame that came in by a port, from memory of exactly its length. Returns its only counter. */
static inline enum rm_forward_counter rig_route_frame(struct rig *rig, uint32_t port, uint8_t const *frame,
                                                      uint32_t length) {
    uint64_t before[RM_FORWARD_COUNTERS];
    uint8_t *const copy = malloc(length);
    struct rm_burst burst = {.count = 1, .data = {copy}, .length = {length}};
    memcpy(copy, frame, length);
    for (uint32_t i = 0; i < RM_FORWARD_COUNTERS; ++i)
        before[i] = rm_counter_get(rig->counters[port], i);
    rig->left_count = 0;
    rm_forward_burst(&rig->forward, port, &burst, rig->now_ns);
    free(copy);
    enum rm_forward_counter end = RM_FORWARD_RECEIVED;
    for (uint32_t i = RM_FORWARD_FORWARDED; i <= RM_FORWARD_SAME_PORT; ++i)
        if (rm_counter_get(rig->counters[port], i) != before[i]) {
            assert_int_equal(end, RM_FORWARD_RECEIVED);
            assert_int_equal(rm_counter_get(rig->counters[port], i), before[i] + 1);
            end = (enum rm_forward_counter)i;
        }
    assert_int_not_equal(end, RM_FORWARD_RECEIVED);
    return end;
}

/** Writes a UDP packet of IPv4 to `frame`, from the station behind a port; returns its length. */
static inline uint32_t rig_ipv4_frame(uint8_t *frame, uint32_t port, struct rm_ip source, struct rm_ip destination,
                                      uint32_t payload_bytes) {
    struct rm_flow flow = {.source_ipv4 = rm_load32(source.byte),
                           .destination_ipv4 = rm_load32(destination.byte),
                           .source_port = 1000,
                           .destination_port = 2000};
    rig_mac(flow.destination_mac, port, false);
    rig_mac(flow.source_mac, port, true);
    uint32_t const header_bytes = rm_frame_write_header(frame, &flow, payload_bytes);
    for (uint32_t i = 0; i < payload_bytes; ++i)
        frame[header_bytes + i] = (uint8_t)(i * 7 + 1);
    return header_bytes + payload_bytes;
}

static inline uint32_t rig_ipv6_frame(uint8_t *frame, uint32_t port, struct rm_ip source, struct rm_ip destination,
                                      uint32_t payload_bytes) {
    rig_mac(frame, port, false);
    rig_mac(frame + 6, port, true);
    rm_store16(frame + 12, 0x86DD);
    memset(frame + 14, 0, 40);
    frame[14] = 0x60;
    rm_store16(frame + 18, (uint16_t)payload_bytes);
    frame[20] = 17;
    frame[21] = 64;
    memcpy(frame + 22, source.byte, 16);
    memcpy(frame + 38, destination.byte, 16);
    for (uint32_t i = 0; i < payload_bytes; ++i)
        frame[54 + i] = (uint8_t)(i * 5 + 2);
    return 54 + payload_bytes;
}

/** Puts a tag into a frame; returns its length. */
static inline uint32_t rig_tag(uint8_t *frame, uint32_t length, uint16_t vlan) {
    memmove(frame + 16, frame + 12, length - 12);
    rm_store16(frame + 12, 0x8100);
    rm_store16(frame + 14, vlan);
    return length + 4;
}

/** From the station behind port 0 to one behind an interface. */
static inline uint32_t rig_ipv4_to(uint8_t *frame, uint32_t interface, uint32_t payload_bytes) {
    return rig_ipv4_frame(frame, 0, rig_ipv4(0, 9), rig_ipv4(interface, 9), payload_bytes);
}

static inline void rig_refresh_checksum(uint8_t *frame) { rm_ipv4_write_checksum(frame + 14, (frame[14] & 15u) * 4); }

/** Whether an ICMP error of IPv4 left by port 0, to the station that had sent `frame`, about it. */
static inline void rig_assert_ipv4_error(struct rig *rig, uint8_t const *frame, uint8_t type, uint8_t code) {
    assert_int_equal(rig->left_count, 1);
    struct rig_left *const left = &rig->left[0];
    assert_int_equal(left->port, 0);
    assert_memory_equal(left->frame, frame + 6, 6);
    assert_true(rm_ipv4_plain_header_sums_up(left->frame + 14));
    assert_memory_equal(left->frame + 26, rig_ipv4(0, 1).byte, 4);
    assert_memory_equal(left->frame + 30, frame + 26, 4);
    assert_int_equal(left->frame[34], type);
    assert_int_equal(left->frame[35], code);
    uint32_t const bytes = rm_load16(left->frame + 16) - 20u;
    assert_int_equal(left->length, 34 + bytes);
    assert_int_equal(rm_checksum_fold(rm_checksum_add_bytes(0, left->frame + 34, bytes)), 0xFFFF);
    assert_memory_equal(left->frame + 42, frame + 14, bytes - 8);
}

#endif
