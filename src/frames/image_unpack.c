// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/pixels.h>

#include <stddef.h>

#include "frames/pixels.h"

static uint32_t pixel_bytes(enum rm_pixel_packing packing) {
    if (packing == RM_PACKING_8)
        return 1;
    return packing == RM_PACKING_10 || packing == RM_PACKING_12 || packing == RM_PACKING_16 ? 2 : 0;
}

bool rm_pixels_find(uint32_t pixel_format, struct rm_pixels *pixels) {
    struct rm_pixel_format const *const format = rm_pixel_format_of(pixel_format);
    if (format == NULL)
        return false;
    *pixels = (struct rm_pixels){
        .name = format->name, .bits = rm_pixel_bits(format->packing), .bytes = pixel_bytes(format->packing)};
    return true;
}

uint64_t rm_pixels_line_bytes(uint32_t pixel_format, uint32_t width) {
    struct rm_pixel_format const *const format = rm_pixel_format_of(pixel_format);
    return format == NULL || width > RM_PIXEL_WIDTH_MAX ? 0 : rm_pixel_line_bytes(format->packing, width);
}

bool rm_pixels_unpack(uint32_t pixel_format, uint32_t width, uint32_t height, uint32_t padding_x, uint8_t const *bytes,
                      uint64_t length, uint16_t *values) {
    uint64_t const line = rm_pixels_line_bytes(pixel_format, width), step = line + padding_x;
    if (line == 0 || height == 0)
        return false;
    if (length < line || (length - line) / step < height - 1)
        return false;
    enum rm_pixel_packing const packing = rm_pixel_format_of(pixel_format)->packing;
    rm_unpack16 *const unpack = rm_unpackers_for(RM_SIMD_BEST).to16;
    for (uint64_t i = 0; i < height; ++i)
        unpack(packing, bytes + i * step, width, values + i * width);
    return true;
}
