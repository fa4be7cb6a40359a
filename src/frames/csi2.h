// SPDX-License-Identifier: Apache-2.0
/** Packets of MIPI CSI-2, the link between image sensors and processors, as capture devices pass them on. A long packet
 * is a line of pixels; short ones begin and end a frame or a line. Source: the public data types in Linux'
 * media/mipi-csi2.h, and receivers' data sheets.
 *
 *     offset 0  u8  bits 7–6 virtual channel, 5–0 data type: below 0x10 a short packet
 *            1  u16 little-endian: of a short packet its data, of a long one how many bytes
 *            3  u8  ECC
 *     long:  4  the bytes, u16 checksum, little-endian
 *
 * ECC and checksum are the capture device's business, and not looked at. Pure functions. */
#ifndef RM_FRAMES_CSI2_H
#define RM_FRAMES_CSI2_H

#include "frames/lines.h"

enum {
    RM_CSI2_FRAME_START = 0x00,
    RM_CSI2_FRAME_END = 0x01,
    RM_CSI2_LINE_START = 0x02,
    /** Data types below are short packets. */
    RM_CSI2_LONG = 0x10,
    RM_CSI2_RAW8 = 0x2A,
    RM_CSI2_RAW10 = 0x2B,
    RM_CSI2_RAW12 = 0x2C,

    RM_CSI2_HEADER_BYTES = 4,
    RM_CSI2_CHECKSUM_BYTES = 2,
};

struct rm_csi2_packet {
    uint8_t data_type, channel, ecc;
    /** Of a long packet. */
    uint16_t checksum;
    /** Of a short packet: its data, the number of the frame or line. */
    uint16_t number;
    /** Of a long packet. */
    uint8_t const *bytes;
    uint32_t length;
};

/** Reads a packet as it is on the link, and no byte beyond `length`. False where it is not exactly that long. */
bool rm_csi2_parse(uint8_t const *bytes, uint32_t length, struct rm_csi2_packet *packet);

/** Writes it, with its bytes; returns its length. The buffer has room for all of it. */
uint32_t rm_csi2_write(uint8_t *bytes, struct rm_csi2_packet const *packet);

/** Numbers the lines of one channel of a link, which has no line numbers of its own. Begins as 0. */
struct rm_csi2_lines {
    uint64_t frame;
    uint32_t line;
    bool known;
};

/** Follows the link by one packet. True where it is a line of pixels whose frame and line are known: `*line` is
 * filled, without a time; the first line is 0. `lost`: packets are missing before this one, so that frame and line are
 * unknown until the next frame starts. A sensor that does not number its frames (0) is numbered here. */
bool rm_csi2_count(struct rm_csi2_lines *lines, struct rm_csi2_packet const *packet, bool lost,
                   struct rm_image_line *line);

/** The data type of lines in a pixel format (pixels.h): RAW8 of 8 bits, RAW10, RAW12. 0: there is none. */
uint8_t rm_csi2_data_type(uint32_t pixel_format);

#endif
