// SPDX-License-Identifier: Apache-2.0
/** For pixels.c and its vectors: a packing as numbers for one kernel. A pixel is in two bytes of its group. As a word
 * `w`, with byte `high` above byte `low`, all its bits come to the top of 16 by
 *
 *     (w & keep_high) | ((w << lift) & keep_low)
 *
 * from where a shift to the right makes 16 or 8 bits of it. */
#ifndef RM_FRAMES_UNPACK_H
#define RM_FRAMES_UNPACK_H

#include "frames/pixels.h"

enum { RM_GROUP_PIXELS_MAX = 4 };

struct rm_packing_shape {
    uint8_t bits;
    uint8_t group_pixels, group_bytes;
    /** Of each pixel of a group. */
    uint8_t high[RM_GROUP_PIXELS_MAX], low[RM_GROUP_PIXELS_MAX], lift[RM_GROUP_PIXELS_MAX];
    uint16_t keep_high, keep_low;
};

struct rm_packing_shape const *rm_packing_shape(enum rm_pixel_packing packing);

rm_unpack16 rm_unpack16_scalar, rm_unpack16_avx2, rm_unpack16_avx512;
rm_unpack8 rm_unpack8_scalar, rm_unpack8_avx2, rm_unpack8_avx512;

#endif
