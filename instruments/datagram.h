// SPDX-License-Identifier: Apache-2.0
/** Writing a group's datagrams whole, right ones and damaged ones. */
#ifndef RM_INSTRUMENTS_DATAGRAM_H
#define RM_INSTRUMENTS_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "net/port.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

/** What all datagrams of one group on one network share. */
struct rm_datagram_template {
    /** Bytes of `header`; 0 where the kernel writes the headers. */
    uint32_t header_bytes;

    uint32_t payload_bytes;
    /** Offset of the payload's byte by which a receiver knows the format, or RM_NO_VERSION. */
    uint32_t version_at;
    /** A UDP checksum is written. */
    bool checksum;

    uint8_t header[RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES];
};

enum { RM_NO_VERSION = UINT32_MAX };

/** What may be wrong with a datagram; bits. */
enum rm_damage {
    /** A format version, or another constant of the format, that does not exist. */
    RM_DAMAGE_VERSION = 1,
    /** A flipped bit of the payload; the UDP checksum shows it. */
    RM_DAMAGE_CORRUPT = 2,
    /** A flipped bit that no checksum shows. */
    RM_DAMAGE_CORRUPT_UNSEEN = 4,
    /** Shorter than its headers say, by 1 byte to all of the payload but one. */
    RM_DAMAGE_TRUNCATED = 8,
};

/** Offset in a payload of this format that RM_DAMAGE_VERSION changes; RM_NO_VERSION where it has no constant. */
uint32_t rm_datagram_version_at(struct rm_format const *format);

void rm_datagram_template_make(struct rm_datagram_template *template, struct rm_format const *format,
                               uint32_t payload_bytes, enum rm_framing framing, struct rm_flow const *flow,
                               bool checksum);

/** Bytes of a whole datagram as it is written. */
static inline uint32_t rm_datagram_bytes(struct rm_datagram_template const *template) {
    return template->header_bytes + template->payload_bytes;
}

/** Writes the headers, and up to RM_VLAN_BYTES behind them; returns where the payload goes. */
static inline uint8_t *rm_datagram_begin(struct rm_datagram_template const *template, uint8_t *data) {
    memcpy(data, template->header, sizeof template->header); /* of constant length, tagged or not: no call */
    return data + template->header_bytes;
}

/** Writes the checksum, when the payload is there. */
static inline void rm_datagram_finish(struct rm_datagram_template const *template, uint8_t *data) {
    if (template->checksum)
        rm_frame_write_udp_checksum(data, template->payload_bytes);
}

/** Damages a datagram just written; `random` picks the bit and the length. Returns the bytes to send. */
uint32_t rm_datagram_damage(struct rm_datagram_template const *template, uint8_t *data, unsigned damage,
                            uint64_t random);

#endif
