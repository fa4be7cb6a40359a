// SPDX-License-Identifier: Apache-2.0
/** The doorbell of request.h: a futex in memory that only the sleeper may write.
 *
 * Its word never changes. Waking needs no more than to read the page, so a process that may map a segment may ring. A
 * ring that comes just before the owner sleeps is lost: a process that waits for an answer rings again, and the owner
 * sleeps for a bounded time only. */
#ifndef RM_FABRIC_DOORBELL_H
#define RM_FABRIC_DOORBELL_H

#include <stdatomic.h>
#include <stdint.h>

/** Wakes the thread that waits. */
void rm_doorbell_ring(_Atomic uint32_t const *doorbell);

/** Sleeps until it rings, a signal comes, or `timeout_ns` have passed. */
void rm_doorbell_wait(_Atomic uint32_t const *doorbell, uint64_t timeout_ns);

#endif
