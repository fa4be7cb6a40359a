// SPDX-License-Identifier: Apache-2.0
/** One stream with its writer and a reader behind plain functions, for tests that are not written in C. Records pass as
 * eight u64 words: turn, tag, lanes two by two. */
#include "fabric/test_ring.h"

struct stream_ring *property_ring_make(uint64_t capacity, uint64_t margin, uint64_t period, uint64_t late_turns);
void property_ring_free(struct stream_ring *ring);
bool property_ring_reopen(struct stream_ring *ring, uint64_t late_turns);
int property_ring_put(struct stream_ring *ring, uint64_t const word[8]);
void property_ring_publish(struct stream_ring *ring);
void property_ring_pass_over(struct stream_ring *ring, uint64_t turn);
void property_ring_restart(struct stream_ring *ring);
bool property_ring_find(struct stream_ring *ring, uint64_t turn);
uint64_t property_ring_skipped(struct stream_ring const *ring);
uint64_t property_ring_turn_epoch(struct stream_ring const *ring);
uint64_t property_ring_head(struct stream_ring const *ring);
uint64_t property_ring_oldest(struct stream_ring const *ring, uint64_t head, uint64_t slack);
int property_ring_read(struct stream_ring const *ring, uint64_t turn, uint64_t word[8]);

struct stream_ring *property_ring_make(uint64_t capacity, uint64_t margin, uint64_t period, uint64_t late_turns) {
    struct stream_ring *ring = aligned_alloc(_Alignof(struct stream_ring), sizeof *ring);
    if (ring == NULL || test_ring_make(ring, capacity, margin, period, late_turns))
        return ring;
    free(ring);
    return NULL;
}

void property_ring_free(struct stream_ring *ring) {
    test_ring_free(ring);
    free(ring);
}

/** The owner dies, and the next one opens what it left. */
bool property_ring_reopen(struct stream_ring *ring, uint64_t late_turns) {
    rm_stream_writer_close(&ring->writer);
    return test_ring_open_writer(ring, late_turns);
}

int property_ring_put(struct stream_ring *ring, uint64_t const word[8]) {
    struct rm_record record;
    memcpy(&record, word, sizeof record);
    return rm_stream_writer_put(&ring->writer, &record);
}

void property_ring_publish(struct stream_ring *ring) { rm_stream_writer_publish(&ring->writer, 0); }

void property_ring_pass_over(struct stream_ring *ring, uint64_t turn) {
    rm_stream_writer_pass_over(&ring->writer, turn);
}

void property_ring_restart(struct stream_ring *ring) { rm_stream_writer_restart(&ring->writer); }

/** Whether the writer finds that turn and the slot holds it. */
bool property_ring_find(struct stream_ring *ring, uint64_t turn) {
    struct rm_slot const *slot = rm_stream_writer_find(&ring->writer, turn);
    struct rm_record record = {.turn = RM_TURN_NONE};
    if (slot != NULL)
        rm_slot_load(slot, &record);
    return record.turn == turn;
}

uint64_t property_ring_skipped(struct stream_ring const *ring) { return ring->writer.skipped; }

uint64_t property_ring_turn_epoch(struct stream_ring const *ring) { return atomic_load(&ring->stream->turn_epoch); }

uint64_t property_ring_head(struct stream_ring const *ring) { return rm_stream_head(&ring->view); }

uint64_t property_ring_oldest(struct stream_ring const *ring, uint64_t head, uint64_t slack) {
    return rm_stream_oldest(&ring->view, head, slack);
}

int property_ring_read(struct stream_ring const *ring, uint64_t turn, uint64_t word[8]) {
    struct rm_record record;
    enum rm_read const verdict = rm_stream_read(&ring->view, turn, &record);
    if (verdict == RM_READ_OK)
        memcpy(word, &record, sizeof record);
    return (int)verdict;
}
