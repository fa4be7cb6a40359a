// SPDX-License-Identifier: Apache-2.0
/** What the files of the burst function share.
 *
 *     forward.c            the order of things: classes of frames, lookup, what leaves
 *     forward_ipv4.c       a packet of IPv4: its header, and its way out
 *     forward_ipv6.c       the same for IPv6
 *     forward_out.c        ways out: bursts of each port, frames made anew, the control side
 *     forward_error.c      ICMP errors
 *     forward_fragment.c   fragments
 */
#ifndef RM_FORWARD_FORWARD_PARTS_H
#define RM_FORWARD_FORWARD_PARTS_H

#include "forward/forward.h"
#include "forward/routes_table.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"

enum {
    /** Frames made anew before those that are made must be sent. */
    FORWARD_MADE_FRAMES = 128,
    /** Offsets in an IPv6 header, and its length. */
    IPV6_PAYLOAD_LENGTH = 4,
    IPV6_NEXT_HEADER = 6,
    IPV6_HOP_LIMIT = 7,
    IPV6_SOURCE = 8,
    IPV6_DESTINATION = 24,
    IPV6_BYTES = 40,
    ETHERTYPE_IPV6 = 0x86DD,
    PROTOCOL_ICMPV6 = 58,
    PROTOCOL_TCP = 6,
};

/** Memory of one thread for what leaves. */
struct rm_forward_scratch {
    /** [port]. */
    struct rm_burst out[RM_FORWARD_PORTS_MAX];
    /** Frames made anew: FORWARD_MADE_FRAMES of `frame_bytes`. */
    uint8_t *frames;
    uint32_t frame_bytes;
    uint32_t frames_used;
};

/** A frame of the burst. */
struct forward_frame {
    uint8_t *data;
    uint32_t length;
    /** Its IP header. */
    uint8_t *ip;
    /** Of its IP packet, as the header says; it is all there. */
    uint32_t packet_bytes;
    /** The interface that it came in by. */
    uint16_t interface;
    /** Bytes before the IP header. */
    uint8_t ethernet_bytes;
    /** Its destination MAC is a group's. */
    bool to_group;
};

/** A burst being worked on. */
struct forward_work {
    struct rm_forward *forward;
    struct rm_routes_table const *table;
    uint32_t port;
    uint64_t now_ns;
    /** By enum rm_forward_counter. */
    uint32_t count[RM_FORWARD_COUNTERS];

    struct forward_frame frame[RM_BURST];
    /** Packets to be looked up: their places in frame[], destinations, and the groups found. */
    uint32_t ipv4_count;
    uint8_t ipv4_frame[RM_BURST];
    uint32_t ipv4_destination[RM_BURST];
    uint64_t ipv4_group[RM_BURST];
    uint32_t ipv6_count;
    uint8_t ipv6_frame[RM_BURST];
    uint8_t ipv6_destination[RM_BURST][RM_IPV6_ADDRESS_BYTES];
    uint64_t ipv6_group[RM_BURST];
};

/** Checks the header; RM_FORWARD_FORWARDED: it is good, and packet_bytes is set. RM_FORWARD_TO_KERNEL: it is for this
 * host, without a look at the routes. Else the counter of what is wrong. */
enum rm_forward_counter forward_ipv4_check(struct forward_frame *frame);
enum rm_forward_counter forward_ipv6_check(struct forward_frame *frame);

/** Does with a packet what its path group says, and counts it. */
void forward_ipv4_route(struct forward_work *work, struct forward_frame *frame, uint32_t group);
void forward_ipv6_route(struct forward_work *work, struct forward_frame *frame, uint32_t group);

/** Gives a frame to the control side, and counts it. */
void forward_hand_off(struct forward_work *work, struct forward_frame const *frame, enum rm_handoff_reason reason,
                      uint32_t hop);

/** What becomes of a packet whose next hop is not resolved: handed off, or dropped with an error to its sender. */
void forward_unresolved(struct forward_work *work, struct forward_frame const *frame, uint32_t hop,
                        enum rm_hop_state state);

/** Memory for a frame of any length that a port may send. */
uint8_t *forward_make_frame(struct forward_work *work);
/** Puts a frame into the burst of a port. */
void forward_leave(struct forward_work *work, uint32_t port, uint8_t *data, uint32_t length);
/** Sends the bursts of all ports. */
void forward_flush(struct forward_work *work);

/** The packet leaves by a hop of state resolved: writes its Ethernet header, with `destination` the hop's word, and puts
 * it into the burst of its port. */
void forward_leave_by(struct forward_work *work, struct forward_frame *frame, struct rm_next_hop const *hop,
                      uint64_t destination);

/** Writes an Ethernet header by a hop in front of `ip`, which has room for it; returns its beginning. */
uint8_t *forward_write_ethernet(uint8_t *ip, struct rm_next_hop const *hop, uint64_t destination, uint16_t ethertype);

/** Why a sender hears of its packet. */
enum forward_error {
    FORWARD_ERROR_TTL,
    FORWARD_ERROR_NO_ROUTE,
    FORWARD_ERROR_NO_HOST,
    FORWARD_ERROR_PROHIBITED,
    FORWARD_ERROR_TOO_BIG,
};

/** Sends an ICMP error about a packet to its sender, where the rules allow one; `mtu` is that of the next link. */
void forward_send_error(struct forward_work *work, struct forward_frame const *frame, enum forward_error error,
                        uint32_t mtu);

/** Sends a packet of IPv4 by a hop in fragments of at most `mtu` bytes. */
void forward_cut(struct forward_work *work, struct forward_frame const *frame, struct rm_next_hop const *hop,
                 uint64_t destination, uint32_t mtu);

/** The hop of a group for a flow whose hash is `flow`, which is called where there are several. */
static inline bool forward_one_path(struct rm_path_slots const *slots) {
    return slots->hop[0] == slots->hop[RM_PATHS_MAX - 1];
}

/** Mixes words of a flow into a number whose upper bits choose a path. */
static inline uint32_t forward_mix(uint64_t a, uint64_t b) {
    uint64_t mixed = (a ^ (b * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xC2B2AE3D27D4EB4F);
    mixed ^= mixed >> 32;
    return (uint32_t)(mixed * UINT64_C(0x9E3779B97F4A7C15) >> 61);
}

#endif
