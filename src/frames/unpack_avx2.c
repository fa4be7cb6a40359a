// SPDX-License-Identifier: Apache-2.0
/** Sixteen pixels at a time, eight in each half of a register; the rest of a line is the reference's. */
#include <immintrin.h>

#include "frames/unpack.h"

#define RM_AVX2 __attribute__((target("avx2")))
#define RM_INLINE_AVX2 static inline __attribute__((target("avx2"), always_inline))

enum { HALF_PIXELS = 8, HALF_LOAD_BYTES = 16 };

/** A shape (unpack.h) as registers. */
struct avx2_shape {
    __m256i pick, lift, keep_high, keep_low;
    uint32_t half_bytes;
};

RM_INLINE_AVX2 struct avx2_shape avx2_shape_of(struct rm_packing_shape const *shape) {
    uint8_t pick[2 * HALF_PIXELS];
    uint16_t lift[HALF_PIXELS];
    for (uint32_t i = 0; i < HALF_PIXELS; ++i) {
        uint32_t const group = i / shape->group_pixels * shape->group_bytes, pixel = i % shape->group_pixels;
        pick[2 * i] = (uint8_t)(group + shape->low[pixel]);
        pick[2 * i + 1] = (uint8_t)(group + shape->high[pixel]);
        lift[i] = (uint16_t)(1u << shape->lift[pixel]);
    }
    return (struct avx2_shape){
        .pick = _mm256_broadcastsi128_si256(_mm_loadu_si128((__m128i const *)pick)),
        .lift = _mm256_broadcastsi128_si256(_mm_loadu_si128((__m128i const *)lift)),
        .keep_high = _mm256_set1_epi16((short)shape->keep_high),
        .keep_low = _mm256_set1_epi16((short)shape->keep_low),
        .half_bytes = HALF_PIXELS / shape->group_pixels * shape->group_bytes,
    };
}

/** Sixteen pixels, each at the top of its word. */
RM_INLINE_AVX2 __m256i avx2_words(struct avx2_shape const *shape, uint8_t const *from) {
    __m128i const first = _mm_loadu_si128((__m128i const *)from);
    __m128i const second = _mm_loadu_si128((__m128i const *)(from + shape->half_bytes));
    __m256i const word = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), shape->pick);
    return _mm256_or_si256(_mm256_and_si256(word, shape->keep_high),
                           _mm256_and_si256(_mm256_mullo_epi16(word, shape->lift), shape->keep_low));
}

/** How many pixels of a line can be done in steps of sixteen, without reading beyond it. */
static uint32_t avx2_pixels(struct rm_packing_shape const *shape, enum rm_pixel_packing packing, uint32_t width) {
    uint32_t const half = HALF_PIXELS / shape->group_pixels * shape->group_bytes;
    uint32_t const bytes = rm_pixel_line_bytes(packing, width), needed = half + HALF_LOAD_BYTES;
    uint32_t const steps = bytes < needed ? 0 : (bytes - needed) / (2 * half) + 1;
    uint32_t const most = width / (2 * HALF_PIXELS);
    return (steps < most ? steps : most) * 2 * HALF_PIXELS;
}

RM_AVX2 void rm_unpack16_avx2(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint16_t *value) {
    struct rm_packing_shape const *const plain = rm_packing_shape(packing);
    struct avx2_shape const shape = avx2_shape_of(plain);
    __m128i const down = _mm_cvtsi32_si128(16 - plain->bits);
    uint32_t const pixels = avx2_pixels(plain, packing, width);
    for (uint32_t i = 0; i < pixels; i += 2 * HALF_PIXELS, line += (size_t)2 * shape.half_bytes)
        _mm256_storeu_si256((__m256i *)(value + i), _mm256_srl_epi16(avx2_words(&shape, line), down));
    rm_unpack16_scalar(packing, line, width - pixels, value + pixels);
}

RM_AVX2 void rm_unpack8_avx2(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint8_t *value) {
    struct rm_packing_shape const *const plain = rm_packing_shape(packing);
    struct avx2_shape const shape = avx2_shape_of(plain);
    uint32_t const pixels = avx2_pixels(plain, packing, width);
    for (uint32_t i = 0; i < pixels; i += 2 * HALF_PIXELS, line += (size_t)2 * shape.half_bytes) {
        __m256i const word = _mm256_srli_epi16(avx2_words(&shape, line), 8);
        __m128i const bytes = _mm_packus_epi16(_mm256_castsi256_si128(word), _mm256_extracti128_si256(word, 1));
        _mm_storeu_si128((__m128i *)(value + i), bytes);
    }
    rm_unpack8_scalar(packing, line, width - pixels, value + pixels);
}
