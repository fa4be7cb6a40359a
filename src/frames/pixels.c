// SPDX-License-Identifier: Apache-2.0
#include "frames/pixels.h"

#include <string.h>

#include "frames/unpack.h"

/** Numbers from PFNC's list of pixel format values; the last two lines of each pattern are ours. */
static struct rm_pixel_format const formats[] = {
    {"Mono8", 0x01080001, RM_PACKING_8, RM_PATTERN_MONO},
    {"Mono10", 0x01100003, RM_PACKING_10, RM_PATTERN_MONO},
    {"Mono12", 0x01100005, RM_PACKING_12, RM_PATTERN_MONO},
    {"Mono16", 0x01100007, RM_PACKING_16, RM_PATTERN_MONO},
    {"Mono10p", 0x010A0046, RM_PACKING_10P, RM_PATTERN_MONO},
    {"Mono12p", 0x010C0047, RM_PACKING_12P, RM_PATTERN_MONO},
    {"Mono10Packed", 0x010C0004, RM_PACKING_10_PACKED, RM_PATTERN_MONO},
    {"Mono12Packed", 0x010C0006, RM_PACKING_12_PACKED, RM_PATTERN_MONO},
    {"RAW10", 0x810A0100, RM_PACKING_RAW10, RM_PATTERN_MONO},
    {"RAW12", 0x810C0100, RM_PACKING_RAW12, RM_PATTERN_MONO},
    {"BayerGR8", 0x01080008, RM_PACKING_8, RM_PATTERN_GR},
    {"BayerGR10", 0x0110000C, RM_PACKING_10, RM_PATTERN_GR},
    {"BayerGR12", 0x01100010, RM_PACKING_12, RM_PATTERN_GR},
    {"BayerGR16", 0x0110002E, RM_PACKING_16, RM_PATTERN_GR},
    {"BayerGR10p", 0x010A0056, RM_PACKING_10P, RM_PATTERN_GR},
    {"BayerGR12p", 0x010C0057, RM_PACKING_12P, RM_PATTERN_GR},
    {"BayerGR10Packed", 0x010C0026, RM_PACKING_10_PACKED, RM_PATTERN_GR},
    {"BayerGR12Packed", 0x010C002A, RM_PACKING_12_PACKED, RM_PATTERN_GR},
    {"BayerGR_RAW10", 0x810A0101, RM_PACKING_RAW10, RM_PATTERN_GR},
    {"BayerGR_RAW12", 0x810C0101, RM_PACKING_RAW12, RM_PATTERN_GR},
    {"BayerRG8", 0x01080009, RM_PACKING_8, RM_PATTERN_RG},
    {"BayerRG10", 0x0110000D, RM_PACKING_10, RM_PATTERN_RG},
    {"BayerRG12", 0x01100011, RM_PACKING_12, RM_PATTERN_RG},
    {"BayerRG16", 0x0110002F, RM_PACKING_16, RM_PATTERN_RG},
    {"BayerRG10p", 0x010A0058, RM_PACKING_10P, RM_PATTERN_RG},
    {"BayerRG12p", 0x010C0059, RM_PACKING_12P, RM_PATTERN_RG},
    {"BayerRG10Packed", 0x010C0027, RM_PACKING_10_PACKED, RM_PATTERN_RG},
    {"BayerRG12Packed", 0x010C002B, RM_PACKING_12_PACKED, RM_PATTERN_RG},
    {"BayerRG_RAW10", 0x810A0102, RM_PACKING_RAW10, RM_PATTERN_RG},
    {"BayerRG_RAW12", 0x810C0102, RM_PACKING_RAW12, RM_PATTERN_RG},
    {"BayerGB8", 0x0108000A, RM_PACKING_8, RM_PATTERN_GB},
    {"BayerGB10", 0x0110000E, RM_PACKING_10, RM_PATTERN_GB},
    {"BayerGB12", 0x01100012, RM_PACKING_12, RM_PATTERN_GB},
    {"BayerGB16", 0x01100030, RM_PACKING_16, RM_PATTERN_GB},
    {"BayerGB10p", 0x010A0054, RM_PACKING_10P, RM_PATTERN_GB},
    {"BayerGB12p", 0x010C0055, RM_PACKING_12P, RM_PATTERN_GB},
    {"BayerGB10Packed", 0x010C0028, RM_PACKING_10_PACKED, RM_PATTERN_GB},
    {"BayerGB12Packed", 0x010C002C, RM_PACKING_12_PACKED, RM_PATTERN_GB},
    {"BayerGB_RAW10", 0x810A0103, RM_PACKING_RAW10, RM_PATTERN_GB},
    {"BayerGB_RAW12", 0x810C0103, RM_PACKING_RAW12, RM_PATTERN_GB},
    {"BayerBG8", 0x0108000B, RM_PACKING_8, RM_PATTERN_BG},
    {"BayerBG10", 0x0110000F, RM_PACKING_10, RM_PATTERN_BG},
    {"BayerBG12", 0x01100013, RM_PACKING_12, RM_PATTERN_BG},
    {"BayerBG16", 0x01100031, RM_PACKING_16, RM_PATTERN_BG},
    {"BayerBG10p", 0x010A0052, RM_PACKING_10P, RM_PATTERN_BG},
    {"BayerBG12p", 0x010C0053, RM_PACKING_12P, RM_PATTERN_BG},
    {"BayerBG10Packed", 0x010C0029, RM_PACKING_10_PACKED, RM_PATTERN_BG},
    {"BayerBG12Packed", 0x010C002D, RM_PACKING_12_PACKED, RM_PATTERN_BG},
    {"BayerBG_RAW10", 0x810A0104, RM_PACKING_RAW10, RM_PATTERN_BG},
    {"BayerBG_RAW12", 0x810C0104, RM_PACKING_RAW12, RM_PATTERN_BG},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static struct rm_packing_shape const shapes[RM_PACKINGS] = {
    [RM_PACKING_8] = {8, 1, 1, .keep_high = 0xFF00},
    [RM_PACKING_10] = {10, 1, 2, {1}, {0}, {6}, 0, 0xFFFF},
    [RM_PACKING_12] = {12, 1, 2, {1}, {0}, {4}, 0, 0xFFFF},
    [RM_PACKING_16] = {16, 1, 2, {1}, {0}, {0}, 0, 0xFFFF},
    [RM_PACKING_10P] = {10, 4, 5, {1, 2, 3, 4}, {0, 1, 2, 3}, {6, 4, 2, 0}, 0, 0xFFFF},
    [RM_PACKING_12P] = {12, 2, 3, {1, 2}, {0, 1}, {4, 0}, 0, 0xFFFF},
    [RM_PACKING_10_PACKED] = {10, 2, 3, {0, 2}, {1, 1}, {6, 2}, 0xFF00, 0xC0},
    [RM_PACKING_12_PACKED] = {12, 2, 3, {0, 2}, {1, 1}, {4, 0}, 0xFF00, 0xF0},
    [RM_PACKING_RAW10] = {10, 4, 5, {0, 1, 2, 3}, {4, 4, 4, 4}, {6, 4, 2, 0}, 0xFF00, 0xC0},
    [RM_PACKING_RAW12] = {12, 2, 3, {0, 1}, {2, 2}, {4, 0}, 0xFF00, 0xF0},
};

struct rm_pixel_format const *rm_pixel_format_at(size_t index) {
    return index < FORMATS ? &formats[index] : NULL;
}

struct rm_pixel_format const *rm_pixel_format_of(uint32_t number) {
    for (size_t i = 0; i < FORMATS; ++i)
        if (formats[i].number == number)
            return &formats[i];
    return NULL;
}

struct rm_pixel_format const *rm_pixel_format_named(char const *name) {
    for (size_t i = 0; i < FORMATS; ++i)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

struct rm_packing_shape const *rm_packing_shape(enum rm_pixel_packing packing) {
    return &shapes[packing];
}

uint32_t rm_pixel_bits(enum rm_pixel_packing packing) { return shapes[packing].bits; }

uint32_t rm_pixel_line_bytes(enum rm_pixel_packing packing, uint32_t width) {
    struct rm_packing_shape const *const shape = &shapes[packing];
    uint32_t const rest = width % shape->group_pixels;
    uint32_t bytes = width / shape->group_pixels * shape->group_bytes;
    uint32_t last = 0;
    for (uint32_t i = 0; i < rest; ++i) {
        uint32_t const far = shape->high[i] > shape->low[i] ? shape->high[i] : shape->low[i];
        last = far + 1u > last ? far + 1u : last;
    }
    return bytes + last;
}

struct rm_unpackers rm_unpackers_for(enum rm_simd simd) {
    enum rm_simd const chosen = rm_simd_choose(simd);
    if (chosen == RM_SIMD_AVX512 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi"))
        return (struct rm_unpackers){rm_unpack16_avx512, rm_unpack8_avx512};
    if (chosen >= RM_SIMD_AVX2)
        return (struct rm_unpackers){rm_unpack16_avx2, rm_unpack8_avx2};
    return (struct rm_unpackers){rm_unpack16_scalar, rm_unpack8_scalar};
}
