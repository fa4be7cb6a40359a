// SPDX-License-Identifier: Apache-2.0
/** Rows of a Jacobian in parts as wide as a register of the instruction set.
 *
 * A vector wider than a register is lowered by the compiler through memory and scalars: with AVX2, linopt6 of Elettra
 * 2.0 at 168 points takes 13 ms so, and 5 ms in parts. What is done to a row is done to each of its parts, and place
 * and momentum, which are the same for all, are worked out once.
 */
#ifndef RM_TANGENT_PARTS_H
#define RM_TANGENT_PARTS_H

#include "tangent.h"

#define RM_FORCE_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { RM_PART_LANES = 8 };
typedef double rm_part __attribute__((vector_size(64)));
#elif defined(__AVX__)
enum { RM_PART_LANES = 4 };
typedef double rm_part __attribute__((vector_size(32)));
#else
enum { RM_PART_LANES = 2 };
typedef double rm_part __attribute__((vector_size(16)));
#endif
enum { RM_PARTS = RM_LANES / RM_PART_LANES };

/** [part][coordinate]. Loops over parts are unrolled, so that they stay in registers. */
struct rm_rows_in_parts {
    rm_part of[RM_PARTS][6];
};

RM_FORCE_INLINE void rm_parts_of(struct rm_tangent const *t, struct rm_rows_in_parts *rows) {
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p)
        for (int i = 0; i < 6; ++i)
            __builtin_memcpy(&rows->of[p][i], (double const *)&t->j[i] + RM_PART_LANES * p, sizeof(rm_part));
}

RM_FORCE_INLINE void rm_parts_put(struct rm_rows_in_parts const *rows, struct rm_tangent *t) {
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p)
        for (int i = 0; i < 6; ++i)
            __builtin_memcpy((double *)&t->j[i] + RM_PART_LANES * p, &rows->of[p][i], sizeof(rm_part));
}

/** Sums b u uᵀ, which is symmetric: of row i no part is kept that lies beyond its diagonal. */
struct rm_gathering {
    rm_part of[RM_PARTS][6];
};

RM_FORCE_INLINE void rm_gathering_add(struct rm_gathering *g, rm_part const u[RM_PARTS], double b) {
    double scaled[RM_LANES];
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part const s = b * u[p];
        __builtin_memcpy(scaled + RM_PART_LANES * p, &s, sizeof s);
    }
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p)
#pragma GCC unroll 6
        for (int i = RM_PART_LANES * p; i < 6; ++i)
            g->of[p][i] += scaled[i] * u[p];
}

static inline void rm_gathering_put(struct rm_gathering const *g, struct rm_diffusion *to) {
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k <= i; ++k) {
            double const value = g->of[k / RM_PART_LANES][i][k % RM_PART_LANES];
            to->d[i][k] += value;
            if (k != i)
                to->d[k][i] += value;
        }
}

#endif
