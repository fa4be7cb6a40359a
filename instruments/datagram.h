// SPDX-License-Identifier: Apache-2.0
/** Writing an instrument's datagrams, right ones and damaged ones. */
#ifndef RM_INSTRUMENTS_DATAGRAM_H
#define RM_INSTRUMENTS_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

#include "base/timebase.h"
#include "net/port.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

/** What all datagrams of one instrument share. */
struct rm_datagram_template {
    struct rm_virtual_instrument instrument;
    uint32_t header_bytes; /**< RM_FRAME_HEADER_BYTES of `header`, or 0 where the kernel writes them */
    bool checksum;         /**< write a UDP checksum */
    uint8_t header[RM_FRAME_HEADER_BYTES];
};

/** What may be wrong with a datagram; bits. */
enum rm_damage {
    RM_DAMAGE_VERSION = 1,        /**< a format version that nobody knows */
    RM_DAMAGE_CORRUPT = 2,        /**< a flipped bit of the payload, under a UDP checksum that tells */
    RM_DAMAGE_CORRUPT_UNSEEN = 4, /**< a flipped bit that no checksum tells of */
    RM_DAMAGE_TRUNCATED = 8,      /**< shorter than its headers say, by 1 byte to all of the payload but one */
};

void rm_datagram_template_make(struct rm_datagram_template *template, struct rm_virtual_instrument const *instrument,
                               enum rm_framing framing, struct rm_flow const *flow, bool checksum);

/** Writes a datagram of the instrument's lanes; returns its bytes, at most RM_FRAME_HEADER_BYTES + RM_NATIVE_LONGEST.
 */
uint32_t rm_datagram_write(struct rm_datagram_template const *template, uint8_t *data, rm_turn turn,
                           union rm_lane const *lanes);

/** Damages a datagram just written; `random` picks the bit and the length. Returns the bytes to send. */
uint32_t rm_datagram_damage(struct rm_datagram_template const *template, uint8_t *data, uint32_t length,
                            unsigned damage, uint64_t random);

#endif
