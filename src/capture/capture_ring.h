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
#ifndef RM_CAPTURE_CAPTURE_RING_H
#define RM_CAPTURE_CAPTURE_RING_H

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

/** Where a core stands that copies several frames before it knows how many of them count. */
struct rm_capture_mark {
    uint64_t head;
    /** Frames for which there was no room. */
    uint64_t full;
};

static inline struct rm_capture_mark rm_capture_ring_mark(struct rm_capture_ring const *ring) {
    return (struct rm_capture_mark){.head = atomic_load_explicit(&ring->head, memory_order_relaxed),
                                    .full = atomic_load_explicit(&ring->full, memory_order_relaxed)};
}

/** Copies a frame behind `mark` and moves that on. The thread does not see it before rm_capture_ring_publish. */
static inline void rm_capture_ring_stage(struct rm_capture_ring *ring, struct rm_capture_mark *mark,
                                         uint8_t const *frame, uint32_t length, uint64_t tsc) {
    uint64_t head = mark->head;
    uint64_t const to_end = ring->mask + 1 - (head & ring->mask), record_bytes = rm_capture_ring_bytes(length);
    uint64_t const bytes = record_bytes <= to_end ? record_bytes : to_end + record_bytes;
    if (head + bytes - ring->tail_seen > ring->mask + 1)
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (head + bytes - ring->tail_seen > ring->mask + 1) {
        ++mark->full;
        return;
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
    mark->head = head + record_bytes;
}

/** What was staged up to this mark counts; what was staged behind it was never there. */
static inline void rm_capture_ring_publish(struct rm_capture_ring *ring, struct rm_capture_mark const *mark) {
    atomic_store_explicit(&ring->full, mark->full, memory_order_relaxed);
    atomic_store_explicit(&ring->head, mark->head, memory_order_release);
}

/** Copies a burst. `mark[0]` is where the core stands; `mark[n]` becomes where it stands after n frames of `count`. */
static inline void rm_capture_ring_stage_burst(struct rm_capture_ring *ring, struct rm_capture_mark *mark,
                                               uint8_t *const *frame, uint32_t const *length, uint32_t count,
                                               uint64_t tsc) {
    for (uint32_t i = 0; i < count; ++i) {
        mark[i + 1] = mark[i];
        rm_capture_ring_stage(ring, &mark[i + 1], frame[i], length[i], tsc);
    }
}

/** Copies one frame; false, counted, when there is no room. */
static inline bool rm_capture_ring_put(struct rm_capture_ring *ring, uint8_t const *frame, uint32_t length,
                                       uint64_t tsc) {
    struct rm_capture_mark mark = rm_capture_ring_mark(ring);
    uint64_t const full = mark.full;
    rm_capture_ring_stage(ring, &mark, frame, length, tsc);
    rm_capture_ring_publish(ring, &mark);
    return mark.full == full;
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
