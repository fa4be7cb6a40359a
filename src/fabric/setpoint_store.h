// SPDX-License-Identifier: Apache-2.0
/** Whole setpoint vectors in and out of shared memory, sixteen bytes at a time.
 *
 * Relaxed stores and loads of single words are what C11 has a name for, and no compiler makes wide ones of them: a
 * vector of a ring's 1248 supplies then costs as many instructions as all its datagrams. Here they are plain vector
 * instructions, between the same fences as setpoint.h argues. They need no more of the hardware than that each aligned
 * word of eight bytes arrives whole, which x86 gives to vectors that are aligned themselves; words need no order among
 * each other, because a reader that copies a vector looks at its sequence before and after. And they need of the
 * compiler that it moves no access to memory over a fence, or upwards over the acquire load and downwards over the
 * release store of the sequence: compilers keep that for all accesses, atomic or not.
 */
#ifndef RM_FABRIC_SETPOINT_STORE_H
#define RM_FABRIC_SETPOINT_STORE_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/setpoint.h>

#include "fabric/slot_store.h"

/** Values in a vector. */
enum { RM_SETPOINT_VECTOR = 2 };

/** For the writer that has begun the vector: puts the first `count` of its values, from floats as on the wire. */
static inline void rm_setpoints_put_floats(struct rm_setpoint_vector *vector, float const *values, size_t count) {
    _Static_assert(offsetof(struct rm_setpoint_vector, value) % sizeof(__m128d) == 0,
                   "vectors of a vector are aligned");
    double *const to = (double *)(uint8_t *)vector->value;
    size_t const whole = rm_slot_may_stream() ? count / RM_SETPOINT_VECTOR * RM_SETPOINT_VECTOR : 0;
    for (size_t i = 0; i < whole; i += RM_SETPOINT_VECTOR)
        _mm_store_pd(to + i, _mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd((double const *)(uint8_t const *)(values + i)))));
    for (size_t i = whole; i < count; ++i)
        rm_setpoints_put(vector, i, (double)values[i]);
}

/** Copies the first `count` values of a vector; call it between the two looks at its sequence. */
static inline void rm_setpoints_get(struct rm_setpoint_vector const *vector, double *values, size_t count) {
    double const *const from = (double const *)(uint8_t const *)vector->value;
    size_t const whole = rm_slot_may_stream() ? count / RM_SETPOINT_VECTOR * RM_SETPOINT_VECTOR : 0;
    for (size_t i = 0; i < whole; i += RM_SETPOINT_VECTOR)
        _mm_storeu_pd(values + i, _mm_load_pd(from + i));
    for (size_t i = whole; i < count; ++i) {
        union {
            uint64_t bits;
            double number;
        } const it = {.bits = atomic_load_explicit(&vector->value[i], memory_order_relaxed)};
        values[i] = it.number;
    }
}

#endif
