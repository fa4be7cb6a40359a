// SPDX-License-Identifier: Apache-2.0
/** The sequence lock of clock.h and parameter.h: one writer that never waits, readers that try again.
 *
 * The writer: begin makes the sequence odd and fences (release), so that no later store is seen before it is odd; the
 * members are stored relaxed; end makes it even with release, so that they are seen before it is. The reader: acquire
 * load of an even sequence pairs with end; after copying, an acquire fence and a second load pair with begin: an
 * unchanged value means that no store of a later change was read.
 */
#ifndef RM_FABRIC_SEQUENCE_LOCK_H
#define RM_FABRIC_SEQUENCE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/timebase.h"

enum {
    /** Copies of a reader before it looks at the time. */
    RM_SEQUENCE_COPIES = 16,
    /** Looks at an odd sequence before the reader sleeps: the writer's core is taken. */
    RM_SEQUENCE_SPINS = 1000,
    /** Sleeps before the writer counts as killed: a tenth of a second at least. */
    RM_SEQUENCE_NAPS = 2000,

    RM_SEQUENCE_NAP_NS = 50000,
};

/** How long a reader tries to get a copy, while the writer changes it again and again. */
#define RM_SEQUENCE_COPY_NS 500000000ull

/** True when a reader may copy once more, after `tries`. `*end_ns` begins as 0. */
static inline bool rm_sequence_may_copy(int tries, uint64_t *end_ns) {
    if (tries < RM_SEQUENCE_COPIES)
        return true;
    uint64_t const now = rm_monotonic_ns();
    if (*end_ns == 0)
        *end_ns = now + RM_SEQUENCE_COPY_NS;
    return now < *end_ns;
}

static inline void rm_sequence_begin(_Atomic uint64_t *sequence) {
    uint64_t const now = atomic_load_explicit(sequence, memory_order_relaxed);
    atomic_store_explicit(sequence, now | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static inline void rm_sequence_end(_Atomic uint64_t *sequence) {
    uint64_t const now = atomic_load_explicit(sequence, memory_order_relaxed);
    atomic_store_explicit(sequence, now + 1, memory_order_release);
}

/** True when there is an even sequence, `*seen`, to copy under. False when the writer stays inside for some
 * microseconds: it has lost its core there, or was killed. For threads that must not sleep. */
static inline bool rm_sequence_try_enter(_Atomic uint64_t const *sequence, uint64_t *seen) {
    for (int tries = 0; tries < RM_SEQUENCE_SPINS; ++tries) {
        *seen = atomic_load_explicit(sequence, memory_order_acquire);
        if ((*seen & 1) == 0)
            return true;
        rm_pause();
    }
    return false;
}

/** The same; but a writer that lost its core inside is waited for, asleep. False: it was killed there. */
static inline bool rm_sequence_enter(_Atomic uint64_t const *sequence, uint64_t *seen) {
    struct timespec const nap = {.tv_nsec = RM_SEQUENCE_NAP_NS};
    if (rm_sequence_try_enter(sequence, seen))
        return true;
    for (int naps = 0; naps < RM_SEQUENCE_NAPS; ++naps) {
        nanosleep(&nap, NULL);
        *seen = atomic_load_explicit(sequence, memory_order_acquire);
        if ((*seen & 1) == 0)
            return true;
    }
    return false;
}

/** True when what was copied since rm_sequence_enter is consistent. */
static inline bool rm_sequence_leave(_Atomic uint64_t const *sequence, uint64_t seen) {
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(sequence, memory_order_relaxed) == seen;
}

#endif
