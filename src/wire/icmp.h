// SPDX-License-Identifier: Apache-2.0
/** ICMP echo (RFC 792): being pinged. A pure function. */
#ifndef RM_WIRE_ICMP_H
#define RM_WIRE_ICMP_H

#include <stdint.h>

/** Makes an echo request to `ipv4` (host byte order), tagged or not, into its reply: in place, tags and content kept,
 * time to live 64, IPv4 options blanked. Returns the reply's length, at most `length`; or 0, with the frame as it was,
 * for everything else: other frames, other addresses, wrong checksums, fragments, and requests to or from a group of
 * machines. */
uint32_t rm_icmp_answer(uint8_t *frame, uint32_t length, uint32_t ipv4);

#endif
