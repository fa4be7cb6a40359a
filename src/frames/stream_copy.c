// SPDX-License-Identifier: Apache-2.0
#include "frames/stream_copy.h"

#include <immintrin.h>
#include <string.h>

#define RM_AVX2 __attribute__((target("avx2")))
#define RM_AVX512 __attribute__((target("avx512f")))

/** Copies up to the next multiple of `vector` bytes in the destination; returns how many, at most `bytes`. */
static size_t copy_to_boundary(uint8_t *to, uint8_t const *from, size_t bytes, size_t vector) {
    size_t const before = -(uintptr_t)to & (vector - 1);
    size_t const head = before < bytes ? before : bytes;
    memcpy(to, from, head);
    return head;
}

static void stream_copy_scalar(uint8_t *to, uint8_t const *from, size_t bytes) {
    size_t at = copy_to_boundary(to, from, bytes, sizeof(__m128i));
    for (; bytes - at >= sizeof(__m128i); at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(to + at), _mm_loadu_si128((__m128i const *)(void const *)(from + at)));
    memcpy(to + at, from + at, bytes - at);
}

static RM_AVX2 void stream_copy_avx2(uint8_t *to, uint8_t const *from, size_t bytes) {
    size_t at = copy_to_boundary(to, from, bytes, sizeof(__m256i));
    for (; bytes - at >= sizeof(__m256i); at += sizeof(__m256i))
        _mm256_stream_si256((__m256i *)(void *)(to + at),
                            _mm256_loadu_si256((__m256i const *)(void const *)(from + at)));
    memcpy(to + at, from + at, bytes - at);
}

static RM_AVX512 void stream_copy_avx512(uint8_t *to, uint8_t const *from, size_t bytes) {
    size_t at = copy_to_boundary(to, from, bytes, sizeof(__m512i));
    for (; bytes - at >= sizeof(__m512i); at += sizeof(__m512i))
        _mm512_stream_si512((__m512i *)(void *)(to + at), _mm512_loadu_si512(from + at));
    memcpy(to + at, from + at, bytes - at);
}

rm_stream_copy *rm_stream_copy_for(enum rm_simd simd) {
    enum rm_simd const chosen = rm_simd_choose(simd);
    return chosen == RM_SIMD_AVX512 ? stream_copy_avx512
           : chosen == RM_SIMD_AVX2 ? stream_copy_avx2
                                    : stream_copy_scalar;
}

void rm_stream_copy_end(void) { _mm_sfence(); }
