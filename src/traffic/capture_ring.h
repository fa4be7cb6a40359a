// SPDX-License-Identifier: Apache-2.0
/** Copies of frames on their way from a polling core to the thread that writes them to a file: one producer, one
 * consumer, wait-free, bounded.
 *
 * A record is a header and its frame, padded to RM_CAPTURE_ALIGNMENT, and lies in one piece: where the end of the memory
 * is too near, a record without a frame fills it up.
 *
 * Memory ordering: the core writes a record and then `head` with release; the thread reads `head` with acquire and then
 * the record. The thread reads a record and then writes `tail` with release; the core reads `tail` with acquire before
 * it writes there again. */
#ifndef RM_TRAFFIC_CAPTURE_RING_H
#define RM_TRAFFIC_CAPTURE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RM_CAPTURE_ALIGNMENT = 16 };

/** The `length` of a record without a frame, up to the end of the memory. */
#define RM_CAPTURE_PADDING UINT32_MAX

struct rm_capture_record {
    uint64_t tsc;
    /** Bytes of the frame, which follows. */
    uint32_t length;
    uint32_t reserved;
};

struct rm_capture_ring {
    /** Bytes ever written, and the tail as the core last saw it. A cache line that the core writes. */
    _Alignas(64) _Atomic uint64_t head;
    uint64_t tail_seen;
    /** Frames for which there was no room. */
    _Atomic uint64_t full;
    /** A power of two of bytes, and its size less 1. */
    uint8_t *bytes;
    uint64_t mask;
    /** Bytes ever read. A cache line that the thread writes. */
    _Alignas(64) _Atomic uint64_t tail;
};

/** Bytes that a frame takes. */
static inline uint64_t rm_capture_ring_bytes(uint32_t length) {
    uint64_t const bytes = sizeof(struct rm_capture_record) + length;
    return (bytes + RM_CAPTURE_ALIGNMENT - 1) / RM_CAPTURE_ALIGNMENT * RM_CAPTURE_ALIGNMENT;
}

/** Copies a frame; false, counted, when there is no room. For the core alone. */
static inline bool rm_capture_ring_put(struct rm_capture_ring *ring, uint8_t const *frame, uint32_t length,
                                       uint64_t tsc) {
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t const to_end = ring->mask + 1 - (head & ring->mask), record_bytes = rm_capture_ring_bytes(length);
    uint64_t const bytes = record_bytes <= to_end ? record_bytes : to_end + record_bytes;
    if (head + bytes - ring->tail_seen > ring->mask + 1)
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (head + bytes - ring->tail_seen > ring->mask + 1) {
        uint64_t const full = atomic_load_explicit(&ring->full, memory_order_relaxed);
        atomic_store_explicit(&ring->full, full + 1, memory_order_relaxed);
        return false;
    }
    if (bytes != record_bytes) {
        struct rm_capture_record const padding = {.length = RM_CAPTURE_PADDING};
        memcpy(ring->bytes + (head & ring->mask), &padding, sizeof padding);
        head += to_end;
    }
    struct rm_capture_record const record = {.tsc = tsc, .length = length};
    uint8_t *const to = ring->bytes + (head & ring->mask);
    memcpy(to, &record, sizeof record);
    memcpy(to + sizeof record, frame, length);
    atomic_store_explicit(&ring->head, head + record_bytes, memory_order_release);
    return true;
}

/** The next record, which its frame follows, or NULL. It stays until rm_capture_ring_next. For the thread alone. */
static inline struct rm_capture_record const *rm_capture_ring_first(struct rm_capture_ring *ring) {
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t const head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (tail == head)
        return NULL;
    struct rm_capture_record const *record = (void const *)(ring->bytes + (tail & ring->mask));
    if (record->length == RM_CAPTURE_PADDING) {
        tail += ring->mask + 1 - (tail & ring->mask);
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
        record = (void const *)(ring->bytes + (tail & ring->mask));
    }
    return record;
}

/** Gives the record's room back. */
static inline void rm_capture_ring_next(struct rm_capture_ring *ring, struct rm_capture_record const *record) {
    uint64_t const tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + rm_capture_ring_bytes(record->length), memory_order_release);
}

#endif
