// SPDX-License-Identifier: Apache-2.0
/** The guard's two passes over supplies beside each other (guard.c), once per instruction set. All are compiled from
 * the same plain C (guard_pass_alike.h) and give the same bits: there are only additions, comparisons and choices in
 * it. A vector of 264 takes 284 ns as scalar, 57 with AVX-512; a cycle of 1248, 510 and 146 (bench/costs/guard.c).
 */
#ifndef RM_ENGINE_GUARD_PASS_H
#define RM_ENGINE_GUARD_PASS_H

#include <stdint.h>

#include "filter/decimator.h"

/** What became of a vector, or of a part of it. */
struct rm_guard_taking {
    /** Values outside of what their supplies accept. */
    uint64_t refused;
    /** Values that were accepted, but are further away than a step. */
    uint64_t shortened;
};

/** Makes values within their limits the targets; a NaN is within none. */
typedef struct rm_guard_taking rm_guard_take(uint32_t count, double const *value, double const *low, double const *high,
                                             double const *setpoint, double const *step, double *target);

/** Moves every setpoint a step towards its target. A target within the step is reached exactly; else the setpoint is
 * the double nearest to the step's end. That lies between setpoint and target, so it never leaves the limits. Its f32
 * is brought within `low` and `high` once more, by comparisons that not even a NaN would pass. */
typedef void rm_guard_step(uint32_t count, double const *target, double *setpoint, double const *step, float const *low,
                           float const *high, float *sent);

struct rm_guard_passes {
    rm_guard_take *take;
    rm_guard_step *step;
};

/** The passes for an instruction set: `simd` ≤ rm_simd_best(). */
struct rm_guard_passes rm_guard_passes_for(enum rm_simd simd);

rm_guard_take rm_guard_take_scalar, rm_guard_take_avx2, rm_guard_take_avx512;
rm_guard_step rm_guard_step_scalar, rm_guard_step_avx2, rm_guard_step_avx512;

#endif
