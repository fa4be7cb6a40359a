// SPDX-License-Identifier: Apache-2.0
/** A histogram of durations with 6 % resolution over the whole range of a u64, in the manner of HdrHistogram.
 *
 * Values below 16 have a bucket each; above, every octave is cut into 16 equal buckets (G. Tene's HdrHistogram, with 4
 * bits of precision). So a bucket is at most 1/16 of its lower bound wide. The unit is TSC ticks where the directory
 * says "ticks": divide by the clock's tsc_hz (clock.h).
 *
 * Memory ordering: all is relaxed. There is one writer. A histogram orders no other memory, and a copy taken while it
 * is written may have a `total` that differs from the sum of its buckets.
 */
#ifndef RINGMASTER_HISTOGRAM_H
#define RINGMASTER_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>

enum {
    /** Bits of precision: every octave has 2^4 buckets. */
    RM_HISTOGRAM_SUBBITS = 4,
    /** 976 buckets cover the whole range of a u64. */
    RM_HISTOGRAM_BUCKETS = (64 - RM_HISTOGRAM_SUBBITS + 1) << RM_HISTOGRAM_SUBBITS,
};

/** A histogram object "latency/…" or "age/…". */
struct rm_histogram {
    /** Number of values that were counted. */
    _Atomic uint64_t total;
    /** The largest of these values, exactly. */
    _Atomic uint64_t largest;

    uint64_t reserved[6];
    /** Number of values per bucket: rm_histogram_index. */
    _Atomic uint64_t bucket[RM_HISTOGRAM_BUCKETS];
};

/** Index of the bucket of a value. */
static inline unsigned rm_histogram_index(uint64_t value) {
    if (value < 1u << RM_HISTOGRAM_SUBBITS)
        return (unsigned)value;
    unsigned const octave = 63u - (unsigned)__builtin_clzll(value);
    unsigned const shift = octave - RM_HISTOGRAM_SUBBITS;
    return ((shift + 1) << RM_HISTOGRAM_SUBBITS) + (unsigned)((value >> shift) & ((1u << RM_HISTOGRAM_SUBBITS) - 1));
}

/** Smallest value of bucket `index`. All its values are below rm_histogram_floor(index + 1). */
static inline uint64_t rm_histogram_floor(unsigned index) {
    unsigned const group = index >> RM_HISTOGRAM_SUBBITS;
    uint64_t const sub = index & ((1u << RM_HISTOGRAM_SUBBITS) - 1);
    return group ? (sub | 1u << RM_HISTOGRAM_SUBBITS) << (group - 1) : sub;
}

/** Counts `value` `times` times, `times` ≥ 1. For the owner alone, from one thread. */
static inline void rm_histogram_add(struct rm_histogram *histogram, uint64_t value, uint64_t times) {
    _Atomic uint64_t *bucket = &histogram->bucket[rm_histogram_index(value)];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + times, memory_order_relaxed);
    atomic_store_explicit(&histogram->total, atomic_load_explicit(&histogram->total, memory_order_relaxed) + times,
                          memory_order_relaxed);
    if (value > atomic_load_explicit(&histogram->largest, memory_order_relaxed))
        atomic_store_explicit(&histogram->largest, value, memory_order_relaxed);
}

#endif
