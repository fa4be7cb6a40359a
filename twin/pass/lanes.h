// SPDX-License-Identifier: Apache-2.0
/** One number of RM_LANES particles at once: `rm_real`, by the compiler's vector extensions.
 *
 * A file that includes this has defined RM_LANES, 1, 4 or 8: as many doubles as a register of its instruction set
 * holds. The arithmetic operators work on rm_real and mix with double; what they cannot say is here. Elementary
 * functions go lane by lane to the C library, so that they give the same bits with any instruction set.
 */
#ifndef RM_TWIN_PASS_LANES_H
#define RM_TWIN_PASS_LANES_H

#include <math.h>
#include <stdint.h>

#if RM_LANES > 1
#include <immintrin.h>
#endif

#define RM_INLINE static inline __attribute__((always_inline, unused))

#if RM_LANES == 1

typedef double rm_real;
/** −1 where true, else 0. */
typedef int64_t rm_mask;

RM_INLINE rm_real rm_real_of(double value) { return value; }
RM_INLINE double rm_lane(rm_real value, unsigned lane) { return lane == 0 ? value : 0; }
RM_INLINE void rm_set_lane(rm_real *value, unsigned lane, double to) {
    if (lane == 0)
        *value = to;
}
RM_INLINE rm_mask rm_less(rm_real a, rm_real b) { return -(int64_t)(a < b); }
RM_INLINE rm_mask rm_at_most(rm_real a, rm_real b) { return -(int64_t)(a <= b); }
RM_INLINE rm_real rm_select(rm_mask where, rm_real yes, rm_real no) { return where != 0 ? yes : no; }
RM_INLINE unsigned rm_bits(rm_mask mask) { return mask != 0; }
RM_INLINE rm_real rm_sqrt(rm_real value) { return sqrt(value); }

#else

typedef double rm_real __attribute__((vector_size(8 * RM_LANES)));
typedef int64_t rm_mask __attribute__((vector_size(8 * RM_LANES)));

RM_INLINE rm_real rm_real_of(double value) { return value - (rm_real){0}; }
RM_INLINE double rm_lane(rm_real value, unsigned lane) { return value[lane]; }
RM_INLINE void rm_set_lane(rm_real *value, unsigned lane, double to) { (*value)[lane] = to; }
RM_INLINE rm_mask rm_less(rm_real a, rm_real b) { return a < b; }
RM_INLINE rm_mask rm_at_most(rm_real a, rm_real b) { return a <= b; }
RM_INLINE rm_real rm_select(rm_mask where, rm_real yes, rm_real no) {
    return (rm_real)((where & (rm_mask)yes) | (~where & (rm_mask)no));
}

#if RM_LANES == 8
RM_INLINE unsigned rm_bits(rm_mask mask) { return _mm512_movepi64_mask((__m512i)mask); }
RM_INLINE rm_real rm_sqrt(rm_real value) { return (rm_real)_mm512_sqrt_pd((__m512d)value); }
#else
RM_INLINE unsigned rm_bits(rm_mask mask) { return (unsigned)_mm256_movemask_pd((__m256d)mask); }
RM_INLINE rm_real rm_sqrt(rm_real value) { return (rm_real)_mm256_sqrt_pd((__m256d)value); }
#endif
#endif

enum { RM_ALL_LANES = (1 << RM_LANES) - 1 };

/** Calls `function` for each lane. */
RM_INLINE rm_real rm_each(double (*function)(double), rm_real of) {
    rm_real result = of;
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        rm_set_lane(&result, lane, function(rm_lane(of, lane)));
    return result;
}

RM_INLINE rm_real rm_square(rm_real value) { return value * value; }

#endif
