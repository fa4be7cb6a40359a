// SPDX-License-Identifier: Apache-2.0
/** Pixels of a frame (images.h) as numbers of 16 bits, however they are packed.
 *
 *     struct rm_pixels pixels;
 *     if (rm_pixels_find(frame.slot->pixel_format, &pixels) && pixels.bytes == 0)
 *         rm_pixels_unpack(…, values);
 *
 * Pure functions. They know the formats of src/frames/pixels.h: monochrome and Bayer, of 8 to 16 bits, in the packings of
 * PFNC, of GigE Vision 1.x and of CSI-2. */
#ifndef RINGMASTER_PIXELS_H
#define RINGMASTER_PIXELS_H

#include <stdbool.h>
#include <stdint.h>

struct rm_pixels {
    /** As PFNC has it: "Mono12p". */
    char const *name;
    /** Significant bits of a pixel: 8, 10, 12 or 16. */
    uint32_t bits;
    /** Bytes of a pixel that lies for itself, least significant first: 1 or 2. 0: pixels share bytes. */
    uint32_t bytes;
};

/** False for a number that is no format of those. */
bool rm_pixels_find(uint32_t pixel_format, struct rm_pixels *pixels);

/** Bytes of a line, without padding; 0 for an unknown format, or a line of more than 2^20 pixels. */
uint64_t rm_pixels_line_bytes(uint32_t pixel_format, uint32_t width);

/** Writes width × height values, line by line. `padding_x` bytes stand behind each line of `bytes`, of which there are
 * `length`. False, and nothing is written: the format is unknown, or the lines are longer than `length`. */
bool rm_pixels_unpack(uint32_t pixel_format, uint32_t width, uint32_t height, uint32_t padding_x, uint8_t const *bytes,
                      uint64_t length, uint16_t *values);

#endif
