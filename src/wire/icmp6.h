// SPDX-License-Identifier: Apache-2.0
/** ICMPv6 echo (RFC 4443): being pinged. Pure functions. */
#ifndef RM_WIRE_ICMP6_H
#define RM_WIRE_ICMP6_H

#include <stdint.h>

enum {
    /** Bytes of type, code and checksum. */
    ICMP6_BYTES = 4,
    ICMP6_CHECKSUM = 2,
    ICMP6_ECHO_REQUEST = 128,
    ICMP6_ECHO_REPLY = 129,
};

/** Makes an echo request to `ipv6`, tagged or not, into its reply: in place, tags and content kept, hop limit 64.
 * Returns the reply's length, at most `length`; or 0, with the frame as it was, for everything else: other frames,
 * other addresses, extension headers, wrong checksums, and requests to or from a group of machines. */
uint32_t rm_icmp6_answer(uint8_t *frame, uint32_t length, uint8_t const ipv6[16]);

#endif
