// SPDX-License-Identifier: Apache-2.0
/** ARP (RFC 826) for one address of ours: requests for it are answered, it is announced unasked, and others are asked
 * for theirs. Pure functions. */
#ifndef RM_WIRE_ARP_H
#define RM_WIRE_ARP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /** Bytes of the frame that rm_arp_request writes. */
    RM_ARP_REQUEST_BYTES = 60,
    /** And rm_arp_announce. */
    RM_ARP_ANNOUNCEMENT_BYTES = RM_ARP_REQUEST_BYTES,
};

/** What one ARP packet says. Addresses in host byte order. */
struct rm_arp_packet {
    /** Else it is a request. */
    bool reply;
    /** The address of one machine. */
    uint8_t sender_mac[6];
    uint32_t sender_ipv4;
    uint32_t target_ipv4;
    /** As rm_datagram has it: RM_VLAN_NONE without a tag. */
    uint16_t vlan;
};

/** Reads a frame, tagged or not, and no byte beyond it. False for all that is no ARP request or reply for IPv4 over
 * Ethernet, and where the sender's MAC address is a group's. */
bool rm_arp_read(uint8_t const *frame, uint32_t length, struct rm_arp_packet *packet);

/** Makes a request for `ipv4` (host byte order), tagged or not, into the reply that `mac` has it: in place, tags kept.
 * Returns the reply's length, at most `length`; or 0, with the frame as it was, for everything else: other frames,
 * other addresses, replies, announcements, and questions whose answer would go to a group of machines. */
uint32_t rm_arp_answer(uint8_t *frame, uint32_t length, uint8_t const mac[6], uint32_t ipv4);

/** Writes the request of `mac`, which has `ipv4`, for `target_ipv4`, to all hosts. `vlan` is 1–4094, or 0 for an untagged
 * frame. */
void rm_arp_request(uint8_t frame[RM_ARP_REQUEST_BYTES], uint8_t const mac[6], uint32_t ipv4, uint32_t target_ipv4,
                    uint16_t vlan);

/** Writes the request of `ipv4` for itself, by which all hosts learn that `mac` has it (RFC 5227), and switches learn
 * where. `vlan` is 1–4094, or 0 for an untagged frame. */
void rm_arp_announce(uint8_t frame[RM_ARP_ANNOUNCEMENT_BYTES], uint8_t const mac[6], uint32_t ipv4, uint16_t vlan);

/** A locally administered address for a port that has none of its own: 02:00 and the four bytes of `ipv4`. */
void rm_arp_make_mac(uint32_t ipv4, uint8_t mac[6]);

#endif
