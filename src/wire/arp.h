// SPDX-License-Identifier: Apache-2.0
/** ARP (RFC 826) for one address of ours: requests for it are answered, and it is announced unasked. Pure functions. */
#ifndef RM_WIRE_ARP_H
#define RM_WIRE_ARP_H

#include <stdint.h>

/** Bytes of the frame that rm_arp_announce writes. */
enum { RM_ARP_ANNOUNCEMENT_BYTES = 60 };

/** Makes a request for `ipv4` (host byte order), tagged or not, into the reply that `mac` has it: in place, tags kept.
 * Returns the reply's length, at most `length`; or 0, with the frame as it was, for everything else: other frames,
 * other addresses, replies, announcements, and questions whose answer would go to a group of machines. */
uint32_t rm_arp_answer(uint8_t *frame, uint32_t length, uint8_t const mac[6], uint32_t ipv4);

/** Writes the request of `ipv4` for itself, by which all hosts learn that `mac` has it (RFC 5227), and switches learn
 * where. `vlan` is 1–4094, or 0 for an untagged frame. */
void rm_arp_announce(uint8_t frame[RM_ARP_ANNOUNCEMENT_BYTES], uint8_t const mac[6], uint32_t ipv4, uint16_t vlan);

/** A locally administered address for a port that has none of its own: 02:00 and the four bytes of `ipv4`. */
void rm_arp_make_mac(uint32_t ipv4, uint8_t mac[6]);

#endif
