// SPDX-License-Identifier: Apache-2.0
/** Our own format of image streams: a frame in fragments, and one configuration packet, which comes before, among or
 * behind them. Little-endian; docs/frames-format.md has it to the bit, with test vectors.
 *
 *     offset 0  u16 magic           0x4952, the characters "RI"
 *            2  u8  version         1
 *            3  u8  kind            enum rm_image_kind
 *            4  u32 camera
 *            8  u64 frame           number
 *           16  u64 time            of the frame: a turn, or ns of the camera's clock
 *           24  u32 total bytes     of the frame, 1 or more
 *           28  u16 fragment bytes  of every fragment but the last, 1 or more
 *           30  u8  flags           bit 0: RM_IMAGE_TIME_IS_TURN
 *           31  u8  0
 *     fragment:
 *           32  u32 offset          a multiple of fragment bytes
 *           36  u16 length          fragment bytes; of the last what is left
 *           38  u16 0
 *           40  the bytes
 *     configuration:
 *           32  u32 pixel format    PFNC's (pixels.h)
 *           36  u32 width, 40 height, 44 offset x, 48 offset y: pixels
 *           52  u16 padding x, 54 padding y: bytes behind each line and behind the last
 *           56  u64 exposure start, 64 exposure end: ns of the camera's clock
 *
 * Pure functions. */
#ifndef RM_FRAMES_FRAGMENT_H
#define RM_FRAMES_FRAGMENT_H

#include "frames/image.h"

#define RM_IMAGE_MAGIC 0x4952u
#define RM_IMAGE_VERSION 1u

enum rm_image_kind { RM_IMAGE_FRAGMENT = 1, RM_IMAGE_CONFIGURATION = 2 };

enum rm_image_flags { RM_IMAGE_TIME_IS_TURN = 1 };

enum {
    RM_IMAGE_HEAD_BYTES = 32,
    RM_IMAGE_FRAGMENT_HEADER_BYTES = 40,
    RM_IMAGE_CONFIGURATION_BYTES = 72,
};

struct rm_image_datagram {
    enum rm_image_kind kind;
    uint8_t flags;
    uint32_t camera;
    /** Of a configuration without bytes. Its `time` is filled in both kinds, its geometry in a configuration. */
    struct rm_image_fragment fragment;
    /** Of a configuration. */
    uint64_t exposure_start_ns, exposure_end_ns;
};

enum rm_image_fault {
    RM_IMAGE_GOOD = 0,
    /** Shorter than the head. */
    RM_IMAGE_TOO_SHORT,

    RM_IMAGE_BAD_MAGIC,
    RM_IMAGE_UNKNOWN_VERSION,
    RM_IMAGE_UNKNOWN_KIND,
    /** A flag that does not exist, or a byte that should be 0. */
    RM_IMAGE_UNKNOWN_FLAGS,
    /** Total bytes or fragment bytes are 0; a fragment's offset is no multiple, or beyond the frame; its length is not
     * what its place needs. */
    RM_IMAGE_BAD_PLACE,
    /** A configuration whose lines do not come to the total bytes, or whose pixel format is unknown. */
    RM_IMAGE_BAD_GEOMETRY,
    /** The datagram's length is not what kind and length need. */
    RM_IMAGE_BAD_LENGTH,
};

/** Reads a UDP payload, and no byte beyond it; faults are checked in the order of the enum, but a datagram that is too
 * short for the fields of its kind has a bad length before they are looked at. `*datagram` is filled in only when it is
 * good. */
enum rm_image_fault rm_image_parse(uint8_t const *payload, uint32_t length, struct rm_image_datagram *datagram);

/** Writes the header of a fragment, with its place and total, or a configuration; returns its length: 40, behind which
 * the bytes go, or 72. What does not fit the format's fields is cut. */
uint32_t rm_image_write(uint8_t payload[RM_IMAGE_CONFIGURATION_BYTES], struct rm_image_datagram const *datagram);

#endif
