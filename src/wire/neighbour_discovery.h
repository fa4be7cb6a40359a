// SPDX-License-Identifier: Apache-2.0
/** Neighbour discovery of IPv6 (RFC 4861): which MAC address has an IPv6 address on this link. Pure functions.
 *
 * A solicitation asks, an advertisement tells. Messages of routers and redirects are not known here.
 */
#ifndef RM_WIRE_NEIGHBOUR_DISCOVERY_H
#define RM_WIRE_NEIGHBOUR_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes of the longest frame that is written here: Ethernet with a tag, IPv6, the message with one option. */
enum { RM_ND_FRAME_BYTES = 14 + 4 + 40 + 32 };

/** A solicitation or an advertisement, as it was received. */
struct rm_nd_message {
    /** It asks; else it tells. */
    bool solicitation;
    /** Of an advertisement: it answers a solicitation. */
    bool solicited;
    /** Of an advertisement: its MAC address replaces what is known. */
    bool override;
    /** The message holds the sender's MAC address, or the target's. */
    bool has_mac;
    uint8_t mac[6];
    /** Sender; all zero: a host that tests an address before it takes it. */
    uint8_t source[16];
    uint8_t target[16];
    /** 1–4094; 0: tagged for its priority alone; RM_VLAN_NONE: untagged. */
    uint16_t vlan;
};

/** False for all that is no such message, or breaks a rule of RFC 4861, 7.1: hop limit other than 255, wrong checksum,
 * a target that is a group, options of length 0 or beyond the packet, … */
bool rm_nd_read(uint8_t const *frame, uint32_t length, struct rm_nd_message *message);

/** Who sends. */
struct rm_nd_sender {
    uint8_t mac[6];
    /** 1–4094, or 0 for untagged. */
    uint16_t vlan;
    uint8_t ipv6[16];
};

/** Writes the question who has `target`: to the group that `target` belongs to, or, where `mac` is not NULL, to the
 * machine that had it last. Returns the frame's length. */
uint32_t rm_nd_write_solicitation(uint8_t frame[RM_ND_FRAME_BYTES], struct rm_nd_sender const *sender,
                                  uint8_t const target[16], uint8_t const *mac);

/** Writes that we, a router, have `sender->ipv6`: to a machine that asked, or to all where `to` is NULL or unspecified.
 * Returns the frame's length. */
uint32_t rm_nd_write_advertisement(uint8_t frame[RM_ND_FRAME_BYTES], struct rm_nd_sender const *sender,
                                   uint8_t const *to, uint8_t const *to_mac);

#endif
