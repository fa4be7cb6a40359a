// SPDX-License-Identifier: Apache-2.0
/** Messages of capture devices that are longer than a packet: the device sends them in parts, one per packet and in
 * order, and each packet has the next number of its stream's counter. ASAM CMP and TECMP call the parts segments.
 *
 * A message whose part is lost is lost as a whole. One join is for one stream of one device. */
#ifndef RM_FRAMES_MESSAGE_JOIN_H
#define RM_FRAMES_MESSAGE_JOIN_H

#include <stdbool.h>
#include <stdint.h>

/** The numbers are ASAM CMP's. */
enum rm_message_part { RM_PART_WHOLE, RM_PART_FIRST, RM_PART_MIDDLE, RM_PART_LAST };

/** Begins as {.bytes, .capacity}, else 0. */
struct rm_message_join {
    /** The parts so far: `length` of `capacity` bytes. */
    uint8_t *bytes;
    uint32_t capacity, length;
    bool open;
    /** The counter of the next part. */
    uint16_t next;
    /** Parts that belong to no message from its beginning on, and messages longer than the capacity. */
    uint64_t broken;
};

/** Takes a part of `*length` bytes. Returns the message that it completes, with its length: the part itself, where that
 * is the whole, else the join's bytes, which stay until the next call. NULL: it is not complete. */
uint8_t const *rm_message_join(struct rm_message_join *join, enum rm_message_part part, uint16_t counter,
                               uint8_t const *bytes, uint32_t *length);

#endif
