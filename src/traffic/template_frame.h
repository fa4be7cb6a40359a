// SPDX-License-Identifier: Apache-2.0
/** A frame of a template as bytes, before anything varies. */
#ifndef RM_TRAFFIC_TEMPLATE_FRAME_H
#define RM_TRAFFIC_TEMPLATE_FRAME_H

#include "traffic/frame_layout.h"

/** One's complement sums (wire/internet_checksum.h) of what the checksums cover, themselves left out. */
struct rm_frame_sums {
    /** Of the IPv4 header. */
    uint64_t ip;
    /** Of UDP or TCP with its pseudo-header. */
    uint64_t transport;
};

/** Writes a frame of `length` bytes without FCS, its checksums zero. Fields that are fixed have their value, all others
 * are zero. */
void rm_template_frame_write(struct rm_traffic_template const *template, uint8_t *frame, uint32_t length);

/** The length fields of IP and UDP for a frame of `length` bytes, added to the sums. */
void rm_template_frame_lengths(struct rm_traffic_template const *template, uint8_t *frame, uint32_t length,
                               struct rm_frame_sums *sums);

/** Sums over all else in a frame made by rm_template_frame_write: headers, pseudo-header and `payload_bytes`. */
struct rm_frame_sums rm_template_frame_sums(struct rm_traffic_template const *template, uint8_t const *frame,
                                            uint32_t payload_bytes);

/** The first `bytes` of the payload. */
void rm_template_frame_payload(struct rm_traffic_template const *template, uint8_t *payload, uint32_t bytes);

#endif
