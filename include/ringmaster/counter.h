// SPDX-License-Identifier: Apache-2.0
/** Counters: u64 values that only grow (or gauges that say so), one writer each.
 *
 * What each counts is defined once, in src/fabric/counters.toml, from which counters.h, the Python names and
 * docs/counters.md are made. The writer adds with a relaxed load and a relaxed store (no lock prefix: nobody else
 * writes); readers load relaxed. Counters of one block are not a consistent snapshot: each is exact, and sums hold once
 * traffic has stopped.
 */
#ifndef RINGMASTER_COUNTER_H
#define RINGMASTER_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/counters.h>

typedef _Atomic uint64_t rm_counter;

static inline uint64_t rm_counter_get(rm_counter const *block, unsigned index) {
    return atomic_load_explicit(&block[index], memory_order_relaxed);
}

/** For the owner of the block alone. */
static inline void rm_counter_add(rm_counter *block, unsigned index, uint64_t amount) {
    uint64_t const now = atomic_load_explicit(&block[index], memory_order_relaxed);
    atomic_store_explicit(&block[index], now + amount, memory_order_relaxed);
}

/** For the owner of the block alone: gauges. */
static inline void rm_counter_set(rm_counter *block, unsigned index, uint64_t value) {
    atomic_store_explicit(&block[index], value, memory_order_relaxed);
}

#endif
