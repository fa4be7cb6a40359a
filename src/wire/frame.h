// SPDX-License-Identifier: Apache-2.0
/** Ethernet, IPv4 and UDP around a payload: taken apart, checked, and put together. Pure functions. */
#ifndef RM_WIRE_FRAME_H
#define RM_WIRE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counters.h>

enum {
    /** Bytes of an Ethernet header without tags. */
    RM_ETHERNET_BYTES = 14,
    /** Bytes of each tag. */
    RM_VLAN_BYTES = 4,
    /** Bytes of an IPv4 header without options; frames with options are accepted too. */
    RM_IPV4_BYTES = 20,

    RM_UDP_BYTES = 8,
    /** Bytes of all headers: 42, untagged. */
    RM_FRAME_HEADER_BYTES = RM_ETHERNET_BYTES + RM_IPV4_BYTES + RM_UDP_BYTES,
};

/** The `vlan` of a frame without a tag. */
#define RM_VLAN_NONE UINT16_MAX

/** A UDP datagram inside its frame; `payload` points into the frame. Addresses and ports in host byte order. */
struct rm_datagram {
    uint8_t const *payload;
    uint32_t length;
    uint32_t source_ipv4;
    uint32_t destination_ipv4;
    uint16_t source_port;
    uint16_t destination_port;
    /** 1–4094; 0: tagged for its priority alone; RM_VLAN_NONE: untagged. */
    uint16_t vlan;
};

/** Takes a frame apart: untagged, or with one or two VLAN tags (EtherType 0x8100 or 0x88A8), of which the inner one is
 * the VLAN. Reads no byte at or beyond frame + length, at any alignment. Verifies the IPv4 header
 * checksum, and the UDP checksum where it is not zero, unless `checksum_good` says that the device has done both. Bytes
 * after the IPv4 total length (Ethernet padding, a left-on FCS) are ignored, destination addresses are not looked at.
 * Returns RM_PORT_DECODED and fills `*datagram`, or leaves it alone and returns the counter of what is wrong, in this
 * order:
 *
 *     RM_PORT_TRUNCATED         shorter than an Ethernet header with its tags
 *     RM_PORT_NOT_IPV4          another EtherType, after the tags
 *     RM_PORT_TRUNCATED         shorter than its IPv4 header
 *     RM_PORT_BAD_IP_HEADER     another version, header below 20 bytes, wrong checksum, total length below the header
 *     RM_PORT_TRUNCATED         shorter than its IPv4 total length
 *     RM_PORT_FRAGMENT          any piece of a fragmented datagram, the first too; `source_ipv4` is filled in
 *     RM_PORT_NOT_UDP           another protocol
 *     RM_PORT_TRUNCATED         UDP length below 8, or beyond the IPv4 total length
 *     RM_PORT_BAD_UDP_CHECKSUM
 *     RM_PORT_UNFINISHED_CHECKSUM  the bare sum of the pseudo-header; `*datagram` is filled all the same
 *
 * What instruments send (one tag or none, no options, no fragment) is known by a few wide comparisons; all else is
 * gone through in that order. */
enum rm_port_counter rm_frame_parse(uint8_t const *frame, uint32_t length, bool checksum_good,
                                    struct rm_datagram *datagram);

/** Sender and receiver of a datagram. Addresses and ports in host byte order. */
struct rm_flow {
    uint8_t destination_mac[6];
    uint8_t source_mac[6];
    uint32_t source_ipv4;
    uint32_t destination_ipv4;
    uint16_t source_port;
    uint16_t destination_port;
    /** 1–4094, or 0 for an untagged frame. */
    uint16_t vlan;
};

/** Writes the headers for a payload of `payload_length` ≤ 65507 bytes: don't fragment, time to live 64, UDP checksum
 * zero (absent). Returns their length: RM_FRAME_HEADER_BYTES, and RM_VLAN_BYTES more with a tag. */
uint32_t rm_frame_write_header(uint8_t *frame, struct rm_flow const *flow, uint32_t payload_length);

/** Fills in the UDP checksum of a whole frame made by rm_frame_write_header, payload included; never zero, which would
 * say "absent". */
void rm_frame_write_udp_checksum(uint8_t *frame, uint32_t payload_length);

#endif
