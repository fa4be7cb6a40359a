// SPDX-License-Identifier: Apache-2.0
/** ICMP echo (RFC 792): being pinged, and pinging. Pure functions. */
#ifndef RM_WIRE_ICMP_H
#define RM_WIRE_ICMP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

/** Bytes of an ICMP echo's own header. */
enum { RM_ICMP_ECHO_BYTES = 8 };

/** An echo request or its reply. `content` points into the frame. Addresses in host byte order. */
struct rm_icmp_echo {
    uint32_t source_ipv4;
    uint32_t destination_ipv4;
    uint16_t identifier;
    uint16_t sequence;
    uint8_t const *content;
    uint32_t content_bytes;
};

/** Makes an echo request to `ipv4` (host byte order), tagged or not, into its reply: in place, tags and content kept,
 * time to live 64, IPv4 options blanked. Returns the reply's length, at most `length`; or 0, with the frame as it was,
 * for everything else: other frames, other addresses, wrong checksums, fragments, and requests to or from a group of
 * machines. */
uint32_t rm_icmp_answer(uint8_t *frame, uint32_t length, uint32_t ipv4);

/** Writes an echo request with `content_bytes` of content, at most 65507, which count up from 0. The flow's UDP ports
 * mean nothing here. Returns the frame's length, at least that of the shortest frame, padded with zeros. */
uint32_t rm_icmp_write_request(uint8_t *frame, struct rm_flow const *flow, uint16_t identifier, uint16_t sequence,
                               uint32_t content_bytes);

/** Reads an echo reply, tagged or not, and no byte beyond it. False for all else, for fragments and wrong checksums. */
bool rm_icmp_read_reply(uint8_t const *frame, uint32_t length, struct rm_icmp_echo *echo);

#endif
