// SPDX-License-Identifier: Apache-2.0
/** What all IPv4 packets have in common, whatever they carry: for this room's own files. */
#ifndef RM_WIRE_IPV4_H
#define RM_WIRE_IPV4_H

#include "wire/frame.h"

/** Byte offsets of fields, each from the start of its own header. */
enum {
    ETHERNET_SOURCE = 6,
    ETHERNET_TYPE = 12,
    IPV4_TOTAL_LENGTH = 2,
    IPV4_IDENTIFICATION = 4,
    IPV4_FRAGMENT = 6,
    IPV4_TTL = 8,
    IPV4_PROTOCOL = 9,
    IPV4_CHECKSUM = 10,
    IPV4_SOURCE = 12,
    IPV4_DESTINATION = 16,
    UDP_SOURCE = 0,
    UDP_DESTINATION = 2,
    UDP_LENGTH = 4,
    UDP_CHECKSUM = 6,
};

enum {
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_ARP = 0x0806,
    /** IEEE 802.1Q. */
    ETHERTYPE_VLAN = 0x8100,
    /** IEEE 802.1ad: meant for the outer one of two. */
    ETHERTYPE_SERVICE_VLAN = 0x88A8,

    VLAN_ID_MASK = 0x0FFF,
    PROTOCOL_ICMP = 1,
    PROTOCOL_IGMP = 2,
    PROTOCOL_UDP = 17,
    DONT_FRAGMENT = 0x4000,
    MORE_FRAGMENTS = 0x2000,
    /** Mask of the fragment's offset, which is in units of 8 bytes. */
    FRAGMENT_OFFSET = 0x1FFF,

    TIME_TO_LIVE = 64,
    /** Bytes on a wire, without FCS; shorter frames are padded. */
    SHORTEST_FRAME = 60,
};

/** An Ethernet header with its tags; at most two are known. */
struct rm_ethernet {
    /** Offset of the content; 0: the frame is too short for it. */
    uint32_t bytes;
    /** EtherType of the content. */
    uint16_t ethertype;
    /** RM_VLAN_NONE without a tag. */
    uint16_t vlan;
};

struct rm_ethernet rm_ethernet_find(uint8_t const *frame, uint32_t length);

/** An IPv4 packet that lies whole within its frame. */
struct rm_ipv4_packet {
    uint8_t const *header;
    uint32_t header_bytes;
    uint32_t total_length;
    uint16_t vlan;
};

/** Returns RM_PORT_DECODED, or one of the first five verdicts of rm_frame_parse. */
enum rm_port_counter rm_ipv4_find(uint8_t const *frame, uint32_t length, bool checksum_good,
                                  struct rm_ipv4_packet *packet);

/** Takes the UDP datagram in `available` bytes apart, which need not lie behind its IPv4 header: the last two verdicts
 * of rm_frame_parse. `addresses` are 8 bytes, source and destination, as in an IPv4 header; `vlan` is
 * passed on. */
enum rm_port_counter rm_udp_find(uint8_t const *addresses, uint8_t const *udp, uint32_t available, bool checksum_good,
                                 uint16_t vlan, struct rm_datagram *datagram);

/** Writes Ethernet header, with a tag unless `vlan` is 0, and EtherType; returns its length. */
uint32_t rm_ethernet_write(uint8_t *frame, uint8_t const destination[6], uint8_t const source[6], uint16_t vlan,
                           uint16_t ethertype);

/** Fills in the checksum of `length` bytes; it lies `at` bytes into them. */
void rm_write_checksum(uint8_t *bytes, uint32_t at, uint32_t length);

static inline void rm_ipv4_write_checksum(uint8_t *header, uint32_t header_bytes) {
    rm_write_checksum(header, IPV4_CHECKSUM, header_bytes);
}

/** True when this MAC address is that of a group, or of all. */
static inline bool rm_is_group(uint8_t const mac[6]) { return mac[0] & 1; }

/** Length of an answer of `used` bytes, made in place of `length`: as much padding stays as a wire needs. */
static inline uint32_t rm_answer_length(uint32_t used, uint32_t length) {
    uint32_t const shortest = length < SHORTEST_FRAME ? length : SHORTEST_FRAME;
    return used > shortest ? used : shortest;
}

#endif
