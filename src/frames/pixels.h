// SPDX-License-Identifier: Apache-2.0
/** Pixel formats of cameras, by their names and numbers in GenICam's Pixel Format Naming Convention (PFNC 2.4), and
 * their lines unpacked to 16 or 8 bits a pixel.
 *
 * The packings, by the bytes b0, b1 … of a group of pixels p0, p1 …; `p[11:4]` are bits 11 to 4:
 *
 *     8           b0 = p0
 *     10, 12, 16  b0 = p0[7:0], b1 = p0 from bit 8 on; bits above are ignored           Mono10, Mono12, Mono16
 *     10p         b0 = p0[7:0], b1 = p1[5:0] p0[9:8], b2 = p2[3:0] p1[9:6], b3 = p3[1:0] p2[9:4], b4 = p3[9:2]
 *     12p         b0 = p0[7:0], b1 = p1[3:0] p0[11:8], b2 = p1[11:4]
 *     10Packed    b0 = p0[9:2], b1 = 00 p1[1:0] 00 p0[1:0], b2 = p1[9:2]                GigE Vision 1.x
 *     12Packed    b0 = p0[11:4], b1 = p1[3:0] p0[3:0], b2 = p1[11:4]                    GigE Vision 1.x
 *     RAW10       b0…b3 = p0[9:2]…p3[9:2], b4 = p3[1:0] p2[1:0] p1[1:0] p0[1:0]         MIPI CSI-2
 *     RAW12       b0 = p0[11:4], b1 = p1[11:4], b2 = p1[3:0] p0[3:0]                    MIPI CSI-2
 *
 * PFNC has no number for the packings of CSI-2. Ours are of its custom range: 0x810A0100 and 0x810C0100, plus 0 for
 * monochrome, 1 … 4 for the Bayer patterns GR, RG, GB, BG.
 *
 * A line begins at a byte. Pure functions; the table is constant. */
#ifndef RM_FRAMES_PIXELS_H
#define RM_FRAMES_PIXELS_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/simd.h>

enum rm_pixel_packing {
    RM_PACKING_8,
    RM_PACKING_10,
    RM_PACKING_12,
    RM_PACKING_16,
    RM_PACKING_10P,
    RM_PACKING_12P,
    RM_PACKING_10_PACKED,
    RM_PACKING_12_PACKED,
    RM_PACKING_RAW10,
    RM_PACKING_RAW12,
    RM_PACKINGS,
};

/** Colours of the first two pixels of the first line; the second line has the other green and the other colour. */
enum rm_pixel_pattern { RM_PATTERN_MONO, RM_PATTERN_GR, RM_PATTERN_RG, RM_PATTERN_GB, RM_PATTERN_BG, RM_PATTERNS };

struct rm_pixel_format {
    /** "Mono12p", "BayerGR12Packed"; of CSI-2 "RAW10", "BayerGR_RAW10". */
    char const *name;
    /** As leaders and configuration packets have it. */
    uint32_t number;
    enum rm_pixel_packing packing;
    enum rm_pixel_pattern pattern;
};

enum { RM_PIXEL_WIDTH_MAX = 1 << 20 };

/** All formats, RM_PACKINGS × RM_PATTERNS; NULL at and beyond the end. */
struct rm_pixel_format const *rm_pixel_format_at(size_t index);

/** NULL where there is none. */
struct rm_pixel_format const *rm_pixel_format_of(uint32_t number);
struct rm_pixel_format const *rm_pixel_format_named(char const *name);

/** Significant bits of a pixel: 8, 10, 12 or 16. */
uint32_t rm_pixel_bits(enum rm_pixel_packing packing);

/** Bytes of a line of up to RM_PIXEL_WIDTH_MAX pixels, without padding. A last group that is not full takes the bytes
 * in which its pixels have bits; with RAW10 and RAW12 these are all bytes of the group. */
uint32_t rm_pixel_line_bytes(enum rm_pixel_packing packing, uint32_t width);

/** Reads the rm_pixel_line_bytes() of `width` pixels and no byte beyond, at any alignment; writes `width` values. */
typedef void rm_unpack16(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint16_t *value);

/** The same with the upper 8 bits of each pixel. */
typedef void rm_unpack8(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint8_t *value);

/** The other way: writes the rm_pixel_line_bytes() of `width` values and no byte beyond. Bits of a value above those of a
 * pixel are ignored; bits that the packing leaves open are 0. */
void rm_pack16(enum rm_pixel_packing packing, uint16_t const *value, uint32_t width, uint8_t *line);

/** All instruction sets give the same bits; the scalar one is the reference. */
struct rm_unpackers {
    rm_unpack16 *to16;
    rm_unpack8 *to8;
};

/** For an instruction set, at most rm_simd_best(), or RM_SIMD_BEST. AVX-512 needs BW and VBMI too, and is AVX2 where the
 * CPU lacks them. */
struct rm_unpackers rm_unpackers_for(enum rm_simd simd);

#endif
