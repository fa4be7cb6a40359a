// SPDX-License-Identifier: Apache-2.0
/** Counters: u64 values with one writer each. They only grow, unless they are gauges.
 *
 * What each counts is defined once, in src/fabric/counters.toml, from which counters.h, the Python names and
 * docs/counters.md are made. A block of counters is an object "counters/…" of the directory.
 *
 * Memory ordering: all is relaxed. The writer adds with a load and a store, without a lock prefix, since it is alone.
 * So a counter orders no other memory, and the counters of one block are no consistent snapshot. Each is exact, and
 * sums hold once traffic has stopped.
 */
#ifndef RINGMASTER_COUNTER_H
#define RINGMASTER_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/counters.h>

/** One counter. A block is an array of them, indexed by the enumerations of counters.h. */
typedef _Atomic uint64_t rm_counter;

/** The present value of a counter: any thread of any process. */
static inline uint64_t rm_counter_get(rm_counter const *block, unsigned index) {
    return atomic_load_explicit(&block[index], memory_order_relaxed);
}

/** Adds `amount`. For the owner of the block alone. */
static inline void rm_counter_add(rm_counter *block, unsigned index, uint64_t amount) {
    uint64_t const now = atomic_load_explicit(&block[index], memory_order_relaxed);
    atomic_store_explicit(&block[index], now + amount, memory_order_relaxed);
}

/** Sets a gauge. For the owner of the block alone. */
static inline void rm_counter_set(rm_counter *block, unsigned index, uint64_t value) {
    atomic_store_explicit(&block[index], value, memory_order_relaxed);
}

#endif
