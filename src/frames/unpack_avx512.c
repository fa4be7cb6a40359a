// SPDX-License-Identifier: Apache-2.0
/** Thirty-two pixels at a time; the last ones of a line under a mask, which neither reads nor writes beyond it. */
#include <immintrin.h>

#include "frames/unpack.h"

#define RM_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define RM_INLINE_AVX512 static inline __attribute__((target("avx512f,avx512bw,avx512vbmi"), always_inline))

enum { STEP_PIXELS = 32 };

/** A shape (unpack.h) as registers. */
struct avx512_shape {
    __m512i pick, lift, keep_high, keep_low;
    uint32_t step_bytes;
};

RM_INLINE_AVX512 struct avx512_shape avx512_shape_of(struct rm_packing_shape const *shape) {
    uint8_t pick[2 * STEP_PIXELS];
    uint16_t lift[STEP_PIXELS];
    for (uint32_t i = 0; i < STEP_PIXELS; ++i) {
        uint32_t const group = i / shape->group_pixels * shape->group_bytes, pixel = i % shape->group_pixels;
        pick[2 * i] = (uint8_t)(group + shape->low[pixel]);
        pick[2 * i + 1] = (uint8_t)(group + shape->high[pixel]);
        lift[i] = (uint16_t)(1u << shape->lift[pixel]);
    }
    return (struct avx512_shape){
        .pick = _mm512_loadu_si512(pick),
        .lift = _mm512_loadu_si512(lift),
        .keep_high = _mm512_set1_epi16((short)shape->keep_high),
        .keep_low = _mm512_set1_epi16((short)shape->keep_low),
        .step_bytes = STEP_PIXELS / shape->group_pixels * shape->group_bytes,
    };
}

/** The first `count` bits set; up to 64. */
static uint64_t first_bits(uint32_t count) { return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1; }

/** Thirty-two pixels, each at the top of its word, of at most `bytes` bytes. */
RM_INLINE_AVX512 __m512i avx512_words(struct avx512_shape const *shape, uint8_t const *from, uint32_t bytes) {
    __m512i const raw =
        _mm512_maskz_loadu_epi8(first_bits(bytes < shape->step_bytes ? bytes : shape->step_bytes), from);
    __m512i const word = _mm512_permutexvar_epi8(shape->pick, raw);
    return _mm512_or_si512(_mm512_and_si512(word, shape->keep_high),
                           _mm512_and_si512(_mm512_mullo_epi16(word, shape->lift), shape->keep_low));
}

RM_AVX512 void rm_unpack16_avx512(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint16_t *value) {
    struct rm_packing_shape const *const plain = rm_packing_shape(packing);
    struct avx512_shape const shape = avx512_shape_of(plain);
    __m128i const down = _mm_cvtsi32_si128(16 - plain->bits);
    uint8_t const *const end = line + rm_pixel_line_bytes(packing, width);
    for (uint32_t i = 0; i < width; i += STEP_PIXELS, line += shape.step_bytes) {
        __m512i const word = _mm512_srl_epi16(avx512_words(&shape, line, (uint32_t)(end - line)), down);
        _mm512_mask_storeu_epi16(value + i, (__mmask32)first_bits(width - i), word);
    }
}

RM_AVX512 void rm_unpack8_avx512(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint8_t *value) {
    struct avx512_shape const shape = avx512_shape_of(rm_packing_shape(packing));
    uint8_t const *const end = line + rm_pixel_line_bytes(packing, width);
    for (uint32_t i = 0; i < width; i += STEP_PIXELS, line += shape.step_bytes) {
        __m512i const word = _mm512_srli_epi16(avx512_words(&shape, line, (uint32_t)(end - line)), 8);
        _mm512_mask_cvtepi16_storeu_epi8(value + i, (__mmask32)first_bits(width - i), word);
    }
}
