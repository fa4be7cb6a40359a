// SPDX-License-Identifier: Apache-2.0
/** What all IPv6 packets have in common, whatever they carry. Pure functions. */
#ifndef RM_WIRE_IPV6_H
#define RM_WIRE_IPV6_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Byte offsets of fields, each from the start of its own header. */
enum {
    IPV6_PAYLOAD_LENGTH = 4,
    IPV6_NEXT_HEADER = 6,
    IPV6_HOP_LIMIT = 7,
    IPV6_SOURCE = 8,
    IPV6_DESTINATION = 24,

    ETHERTYPE_IPV6 = 0x86DD,
    PROTOCOL_ICMPV6 = 58,
    /** Bytes of an IPv6 header without extension headers. */
    RM_IPV6_BYTES = 40,
    /** Bytes of an address. */
    IPV6_ADDRESS_BYTES = 16,
};

/** An IPv6 packet that lies whole within its frame. Extension headers count as its content. */
struct rm_ipv6_packet {
    uint8_t const *header;
    /** Bytes behind the header. */
    uint32_t payload_length;
    /** 1–4094; 0: tagged for its priority alone; RM_VLAN_NONE: untagged. */
    uint16_t vlan;
};

/** False where there is none: another EtherType or version, or a frame shorter than the packet. */
bool rm_ipv6_find(uint8_t const *frame, uint32_t length, struct rm_ipv6_packet *packet);

/** Writes a header of traffic class and flow label 0. */
void rm_ipv6_write(uint8_t *header, uint8_t const source[16], uint8_t const destination[16], uint8_t next_header,
                   uint8_t hop_limit, uint16_t payload_length);

/** The folded sum of the `length` bytes behind the header and of the pseudo-header of RFC 8200: 0xFFFF where they hold
 * their own right checksum. */
uint16_t rm_ipv6_sum(uint8_t const *header, uint8_t next_header, uint32_t length);

/** Fills in the checksum of the ICMPv6 message behind the header. */
void rm_ipv6_write_icmp_checksum(uint8_t *header, uint32_t length);

static inline bool rm_ipv6_is_multicast(uint8_t const ipv6[16]) { return ipv6[0] == 0xFF; }

static inline bool rm_ipv6_is_unspecified(uint8_t const ipv6[16]) {
    static uint8_t const unspecified[IPV6_ADDRESS_BYTES];
    return memcmp(ipv6, unspecified, sizeof unspecified) == 0;
}

/** fe80::/10. */
static inline bool rm_ipv6_is_link_local(uint8_t const ipv6[16]) { return ipv6[0] == 0xFE && (ipv6[1] & 0xC0) == 0x80; }

#endif
