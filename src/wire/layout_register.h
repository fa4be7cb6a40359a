// SPDX-License-Identifier: Apache-2.0
/** A described record as one register, for CPUs with AVX-512 VBMI: one load, one permutation. */
#ifndef RM_WIRE_LAYOUT_REGISTER_H
#define RM_WIRE_LAYOUT_REGISTER_H

#include <immintrin.h>

#include "wire/layout_parts.h"

/** The lanes of the first record, in their words of a record; or of another record where `payload` has been moved to
 * it. Words 0-3 are the sample, or anything. layout->lanes_by_vector must hold. */
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static inline __m512i
rm_layout_register(struct rm_layout const *layout, uint8_t const *payload) {
    struct rm_layout_vector const *const vector = &layout->vector;
    /* Bytes that the mask leaves out are not read: no fault, whatever lies behind the payload. */
    __m512i const bytes = _mm512_maskz_loadu_epi8(vector->load, payload + vector->at);
    __m512i words = _mm512_permutexvar_epi8(_mm512_load_si512(vector->order), bytes);
    words = _mm512_srav_epi32(words, _mm512_load_si512(vector->right));
    words = _mm512_and_si512(words, _mm512_load_si512(vector->mask));
    return _mm512_min_epu32(words, _mm512_load_si512(vector->limit));
}

#endif
