// SPDX-License-Identifier: Apache-2.0
/** For the versions of the fast path with 256-bit registers: compares the begin of a frame with what is expected. It
 * loads half of what AVX-512 loads at once, and for native datagrams one word more. To load the whole, even masked,
 * would touch the frame's next cache line. */
#ifndef RM_ENGINE_FAST_PATH_ALIKE_H
#define RM_ENGINE_FAST_PATH_ALIKE_H

#include <immintrin.h>

#include "engine/fast_path_frame.h"

RM_FAST_PATH_TARGET static inline bool begins_alike(uint8_t const *frame, struct rm_fast_path const *fast_path,
                                                    bool native) {
    /* Two bytes of the payload follow the headers. */
    __m256i const headers = _mm256_setr_epi64x(-1, -1, -1, UINT64_MAX >> 16);
    __m256i const found = _mm256_loadu_si256((__m256i const *)(void const *)(frame + RM_FAST_PATH_AT));
    __m256i const differs = _mm256_xor_si256(found, *(__m256i const *)(void const *)fast_path->expected);
    uint32_t const last = RM_FAST_PATH_BYTES - 4;
    if (!native)
        return _mm256_testz_si256(differs, headers);
    return _mm256_testz_si256(differs, differs) &&
           rm_load_memory32(frame + RM_FAST_PATH_AT + last) == rm_load_memory32(fast_path->expected + last);
}

#endif
