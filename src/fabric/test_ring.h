// SPDX-License-Identifier: Apache-2.0
/** A stream in private memory with its writer and a reader's view: for tests that need no segment. */
#ifndef RM_FABRIC_TEST_RING_H
#define RM_FABRIC_TEST_RING_H

#include <stdlib.h>
#include <string.h>

#include "fabric/stream_writer.h"

struct stream_ring {
    struct rm_stream_writer writer;
    struct rm_stream *stream;
    struct rm_stream_view view;
};

/** Opens a writer, or another one, on the ring's memory, as a server does when it starts. */
static inline bool test_ring_open_writer(struct stream_ring *ring, uint64_t late_turns) {
    return rm_stream_writer_open(&ring->writer, ring->stream, late_turns);
}

/** Makes an empty stream; `capacity` and `margin` in records, `period` and `late_turns` in turns. False: there is no
 * memory. */
static inline bool test_ring_make(struct stream_ring *ring, uint64_t capacity, uint64_t margin, uint64_t period,
                                  uint64_t late_turns) {
    size_t const slots_offset = sizeof(struct rm_stream);
    size_t const bytes = slots_offset + capacity * sizeof(struct rm_slot);
    ring->stream = aligned_alloc(RM_CACHE_LINE, bytes);
    if (ring->stream == NULL)
        return false;
    memset(ring->stream, 0, bytes);
    ring->stream->slots_offset = slots_offset;
    ring->stream->capacity = capacity;
    ring->stream->margin = margin;
    ring->stream->period = period;
    atomic_store_explicit(&ring->stream->head, RM_TURN_NONE, memory_order_relaxed);
    atomic_store_explicit(&ring->stream->first, RM_TURN_NONE, memory_order_relaxed);
    struct rm_slot *slot = (struct rm_slot *)((uint8_t *)ring->stream + slots_offset);
    for (uint64_t i = 0; i < capacity; ++i)
        atomic_store_explicit(&slot[i].word[0], RM_TURN_NONE, memory_order_relaxed);
    ring->view = (struct rm_stream_view){.header = ring->stream, .slot = slot, .mask = capacity - 1, .period = period};
    return test_ring_open_writer(ring, late_turns);
}

static inline void test_ring_free(struct stream_ring *ring) {
    rm_stream_writer_close(&ring->writer);
    free(ring->stream);
}

#endif
