// SPDX-License-Identifier: Apache-2.0
/** Sleeping on a word of shared memory, a futex, until another process rings.
 *
 * The word of a doorbell of request.h never changes. Waking needs no more than to read the page, so a process that may
 * map a segment may ring. A ring that comes just before the owner sleeps is lost: a process that waits for an answer
 * rings again, and the owner sleeps for a bounded time only.
 *
 * The bell of images.h counts: a sleeper says which value it has seen, and does not sleep when it is another one. */
#ifndef RM_FABRIC_DOORBELL_H
#define RM_FABRIC_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Most bells that one thread sleeps on at once: the kernel's FUTEX_WAITV_MAX. */
enum { RM_DOORBELLS_MAX = 128 };

/** A bell that counts, and what it showed. */
struct rm_bell {
    _Atomic uint32_t const *doorbell;
    uint32_t seen;
};

/** Wakes the threads that wait. */
void rm_doorbell_ring(_Atomic uint32_t const *doorbell);

/** Sleeps until it rings, a signal comes, or `timeout_ns` have passed. */
void rm_doorbell_wait(_Atomic uint32_t const *doorbell, uint64_t timeout_ns);

/** The same, unless the word is not `seen`. */
void rm_doorbell_wait_value(_Atomic uint32_t const *doorbell, uint32_t seen, uint64_t timeout_ns);

/** The same for any of 1 to RM_DOORBELLS_MAX bells. On a kernel older than 5.16 it looks once per millisecond. */
void rm_doorbells_wait(struct rm_bell const *bells, uint32_t count, uint64_t timeout_ns);

#endif
