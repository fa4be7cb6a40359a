// SPDX-License-Identifier: Apache-2.0
/** The reference: each packing as pixels.h writes it, pixel by pixel. */
#include "frames/unpack.h"

#define RM_INLINE_SCALAR static inline __attribute__((always_inline))

RM_INLINE_SCALAR uint32_t pixel_10p(uint8_t const *line, uint32_t i) {
    uint8_t const *const b = line + i / 4 * 5 + i % 4;
    return (b[0] >> 2 * (i % 4) | b[1] << (8 - 2 * (i % 4))) & 0x3FF;
}

RM_INLINE_SCALAR uint32_t pixel_12p(uint8_t const *line, uint32_t i) {
    uint8_t const *const b = line + i / 2 * 3;
    return i % 2 ? (uint32_t)(b[1] >> 4 | b[2] << 4) : (uint32_t)(b[0] | (b[1] & 0xF) << 8);
}

RM_INLINE_SCALAR uint32_t pixel_10_packed(uint8_t const *line, uint32_t i) {
    uint8_t const *const b = line + i / 2 * 3;
    return i % 2 ? (uint32_t)(b[2] << 2 | (b[1] >> 4 & 3)) : (uint32_t)(b[0] << 2 | (b[1] & 3));
}

RM_INLINE_SCALAR uint32_t pixel_12_packed(uint8_t const *line, uint32_t i) {
    uint8_t const *const b = line + i / 2 * 3;
    return i % 2 ? (uint32_t)(b[2] << 4 | b[1] >> 4) : (uint32_t)(b[0] << 4 | (b[1] & 0xF));
}

RM_INLINE_SCALAR uint32_t pixel_raw10(uint8_t const *line, uint32_t i) {
    uint8_t const *const b = line + i / 4 * 5;
    return (uint32_t)b[i % 4] << 2 | (b[4] >> 2 * (i % 4) & 3);
}

RM_INLINE_SCALAR uint32_t pixel_raw12(uint8_t const *line, uint32_t i) {
    uint8_t const *const b = line + i / 2 * 3;
    return (uint32_t)b[i % 2] << 4 | (b[2] >> 4 * (i % 2) & 0xF);
}

RM_INLINE_SCALAR uint32_t pixel_of(enum rm_pixel_packing packing, uint8_t const *line, uint32_t i) {
    switch (packing) {
    case RM_PACKING_8:
        return line[i];
    case RM_PACKING_10:
        return (line[2 * i] | line[2 * i + 1] << 8) & 0x3FF;
    case RM_PACKING_12:
        return (line[2 * i] | line[2 * i + 1] << 8) & 0xFFF;
    case RM_PACKING_16:
        return (uint32_t)(line[2 * i] | line[2 * i + 1] << 8);
    case RM_PACKING_10P:
        return pixel_10p(line, i);
    case RM_PACKING_12P:
        return pixel_12p(line, i);
    case RM_PACKING_10_PACKED:
        return pixel_10_packed(line, i);
    case RM_PACKING_12_PACKED:
        return pixel_12_packed(line, i);
    case RM_PACKING_RAW10:
        return pixel_raw10(line, i);
    default:
        return pixel_raw12(line, i);
    }
}

void rm_unpack16_scalar(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint16_t *value) {
    for (uint32_t i = 0; i < width; ++i)
        value[i] = (uint16_t)pixel_of(packing, line, i);
}

void rm_unpack8_scalar(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint8_t *value) {
    uint32_t const shift = rm_pixel_bits(packing) - 8;
    for (uint32_t i = 0; i < width; ++i)
        value[i] = (uint8_t)(pixel_of(packing, line, i) >> shift);
}
