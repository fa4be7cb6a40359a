// SPDX-License-Identifier: Apache-2.0
/** Whole frames of setpoints, for a sender that sends millions of them a second.
 *
 *     rm_setpoint_frame_prepare(&frame, &flow, chain, count);            once
 *     length = rm_setpoint_frame_fill(&frame, buffer, flags, turn, term, instance, sequence, values);
 *
 * From one cycle to the next a chain's frame differs in its flags, turn, term, sequence, values and UDP checksum, in
 * nothing else. The rest is kept ready, and so is its part of the checksum. What comes out is what rm_setpoint_write,
 * rm_frame_write_header and rm_frame_write_udp_checksum make, bit by bit.
 */
#ifndef RM_WIRE_SETPOINT_FRAME_H
#define RM_WIRE_SETPOINT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"
#include "wire/setpoint.h"

enum {
    /** Bytes of the template: the longest headers, and as much of the payload as makes it a whole number of words. */
    RM_SETPOINT_FRAME_TEMPLATE_BYTES = 64,
    RM_SETPOINT_FRAME_LONGEST = RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES + RM_SETPOINT_LONGEST,
};

struct rm_setpoint_frame {
    _Alignas(64) uint8_t bytes[RM_SETPOINT_FRAME_TEMPLATE_BYTES];
    /** The payload's first 8 bytes, without flags. */
    uint64_t word;
    /** Checksum of all that does not change, summed in 32-bit pieces. */
    uint64_t constant_sum;

    uint32_t payload_offset;
    uint32_t count;
};

/** Prepares a frame. False, and nothing done, where `count` is not 1–40. */
bool rm_setpoint_frame_prepare(struct rm_setpoint_frame *frame, struct rm_flow const *flow, uint16_t chain,
                               uint32_t count);

/** Writes the frame of one cycle to `buffer`, which has RM_SETPOINT_FRAME_LONGEST bytes at any alignment; returns its
 * length. There are as many `values` as prepared for; NULL, as for a query, stands for zeros. */
uint32_t rm_setpoint_frame_fill(struct rm_setpoint_frame const *frame, uint8_t *buffer, uint8_t flags, rm_turn turn,
                                uint16_t term, uint32_t instance, uint64_t sequence, float const *values);

#endif
