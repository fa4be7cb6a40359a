// SPDX-License-Identifier: Apache-2.0
/** Lines as cameras send them, by the same shapes that the vector unpackers read: a pixel, moved to the top of 16 bits,
 * has its upper part in one byte of its group and the rest in another (unpack.h). */
#include <string.h>

#include "frames/unpack.h"

enum { BYTE = 8 };

/** Pixel `i` of a group, whose bytes begin as 0. */
static void pixel_put(struct rm_packing_shape const *shape, uint32_t i, uint32_t value, uint8_t *group) {
    uint32_t const top = (value << (16 - shape->bits)) & 0xFFFF;
    uint32_t const high = top & shape->keep_high, low = (top & shape->keep_low) >> shape->lift[i];
    group[shape->high[i]] |= (uint8_t)((high | low) >> BYTE);
    if (shape->keep_low != 0)
        group[shape->low[i]] |= (uint8_t)low;
}

void rm_pack16(enum rm_pixel_packing packing, uint16_t const *value, uint32_t width, uint8_t *line) {
    struct rm_packing_shape const *const shape = rm_packing_shape(packing);
    memset(line, 0, rm_pixel_line_bytes(packing, width));
    for (uint32_t i = 0; i < width; ++i)
        pixel_put(shape, i % shape->group_pixels, value[i], line + i / shape->group_pixels * shape->group_bytes);
}
