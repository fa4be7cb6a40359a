// SPDX-License-Identifier: Apache-2.0
/** Instruction sets of the code that runs in every cycle. All give the same bits. */
#ifndef FEEDBACK_SIMD_H
#define FEEDBACK_SIMD_H

#include <stdbool.h>

enum feedback_simd { FEEDBACK_SIMD_BEST, FEEDBACK_SIMD_SCALAR, FEEDBACK_SIMD_AVX2, FEEDBACK_SIMD_AVX512 };

/** The best that this processor has; or `wanted`, where it has that. */
enum feedback_simd feedback_simd_choose(enum feedback_simd wanted);

#endif
