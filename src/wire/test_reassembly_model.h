// SPDX-License-Identifier: Apache-2.0
/** For tests: reassembly against a model that is an array of bytes for each datagram. Bytes are a script of fragments,
 * good, bent or overlapping, and of time that goes by; after each the room's verdict must be the model's, and what
 * comes out whole must be what rm_frame_parse says of the same datagram unfragmented. */
#ifndef RM_WIRE_TEST_REASSEMBLY_MODEL_H
#define RM_WIRE_TEST_REASSEMBLY_MODEL_H

#include <stddef.h>
#include <stdint.h>

/** What the script caused, so that a test can check that it tested something. */
struct model_seen {
    uint32_t put_by, refused, whole, wrong, given_up;
};

/** Plays the script to its end. Returns NULL, or what was wrong. */
char const *model_play(uint8_t const *script, size_t length, struct model_seen *seen);

#endif
