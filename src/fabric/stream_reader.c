// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/stream.h>

#include <string.h>
#include <time.h>

#include "base/timebase.h"

enum {
    WAIT_SPINS = 2000, /**< some 30 µs of pauses before the first sleep */
    WAIT_SLEEP_NS = 50 * 1000,
};

static uint64_t stream_reader_load_word(_Atomic uint64_t const *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

/** True while the writer cannot be filling the slot of `turn` for a later lap. */
static bool stream_turn_is_safe(struct rm_stream_view const *view, rm_turn turn, rm_turn head) {
    struct rm_stream const *stream = view->header;
    return turn + (stream->capacity - stream->margin) * view->period > head;
}

rm_turn rm_stream_oldest(struct rm_stream_view const *view, rm_turn head, uint64_t slack) {
    struct rm_stream const *stream = view->header;
    rm_turn const first = stream_reader_load_word(&stream->first);
    if (head == RM_TURN_NONE || first == RM_TURN_NONE)
        return RM_TURN_NONE;
    uint64_t const kept = stream->capacity - stream->margin;
    uint64_t const span = (kept > slack ? kept - slack : 1) * view->period;
    return head < span || head - span < first ? first : head - span + view->period;
}

static enum rm_read stream_reader_judge_turn(struct rm_stream_view const *view, rm_turn turn, rm_turn head) {
    if (head == RM_TURN_NONE)
        return RM_READ_BEFORE;
    if (turn > head)
        return RM_READ_NOT_YET;
    if (turn < stream_reader_load_word(&view->header->first))
        return RM_READ_BEFORE;
    return stream_turn_is_safe(view, turn, head) ? RM_READ_OK : RM_READ_LAPPED;
}

/* The steps and their reasons: stream.h, "What a reader does". */
enum rm_read rm_stream_read(struct rm_stream_view const *view, rm_turn turn, struct rm_record *record) {
    struct rm_stream const *stream = view->header;
    /* Acquire: pairs with the release of rm_stream_writer_restart. */
    uint64_t const epoch = atomic_load_explicit(&stream->turn_epoch, memory_order_acquire);
    /* Acquire: pairs with the release of rm_stream_writer_publish. */
    enum rm_read const verdict =
        stream_reader_judge_turn(view, turn, atomic_load_explicit(&stream->head, memory_order_acquire));
    if (verdict != RM_READ_OK)
        return verdict;
    struct rm_slot const *slot = &view->slot[(turn / view->period) & view->mask];
    uint64_t word[8];
    /* Acquire: pairs with the release of rm_slot_store. */
    word[0] = atomic_load_explicit(&slot->word[0], memory_order_acquire);
    /* Unrolled, so that the words stay in registers: on the stack they would be stored singly and loaded in pairs, for
     * which the load waits until the stores are done. */
#pragma GCC unroll 7
    for (int i = 1; i < 8; ++i)
        word[i] = stream_reader_load_word(&slot->word[i]);
    /* Pairs with the release fences of rm_stream_writer_publish, rm_stream_writer_restart and
     * stream_slot_invalidate(). */
    atomic_thread_fence(memory_order_acquire);
    bool const same_turn = stream_reader_load_word(&slot->word[0]) == word[0];
    /* Acquire, and before the epoch: pairs with rm_stream_writer_publish, so that a head of a later turn-counter epoch,
     * which may be low enough to look harmless, brings its epoch along. */
    rm_turn const head = atomic_load_explicit(&stream->head, memory_order_acquire);
    if (!stream_turn_is_safe(view, turn, head) || stream_reader_load_word(&stream->turn_epoch) != epoch)
        return RM_READ_LAPPED;
    if (word[0] != turn || !same_turn)
        return RM_READ_MISSING;
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
        memcpy((uint8_t *)record + i * sizeof word[i], &word[i], sizeof word[i]);
    return RM_READ_OK;
}

size_t rm_stream_read_window(struct rm_stream_view const *view, rm_turn first, size_t count,
                             struct rm_record *records) {
    size_t good = 0;
    for (size_t i = 0; i < count; ++i) {
        if (rm_stream_read(view, first + i * view->period, &records[i]) == RM_READ_OK) {
            ++good;
        } else {
            memset(&records[i], 0, sizeof records[i]);
            records[i].turn = RM_TURN_NONE;
        }
    }
    return good;
}

void rm_stream_look(struct rm_stream_view const *view, struct rm_stream_look *look) {
    look->turn_epoch = atomic_load_explicit(&view->header->turn_epoch, memory_order_acquire);
    look->head = atomic_load_explicit(&view->header->head, memory_order_acquire);
    look->first = stream_reader_load_word(&view->header->first);
    look->published_tsc = stream_reader_load_word(&view->header->published_tsc);
}

bool rm_stream_still_valid(struct rm_stream_view const *view, rm_turn first, struct rm_stream_look const *look) {
    /* As at the end of rm_stream_read: after the records the head, and after that the epoch. */
    atomic_thread_fence(memory_order_acquire);
    rm_turn const head = atomic_load_explicit(&view->header->head, memory_order_acquire);
    return stream_turn_is_safe(view, first, head) &&
           stream_reader_load_word(&view->header->turn_epoch) == look->turn_epoch;
}

size_t rm_stream_read_results(struct rm_stream_view const *view, rm_turn first, size_t count, struct rm_record *records,
                              uint8_t *results, struct rm_stream_look *look) {
    size_t good = 0;
    rm_stream_look(view, look);
    for (size_t i = 0; i < count; ++i) {
        rm_turn const turn = first + i * view->period;
        bool const is_new = look->head != RM_TURN_NONE && turn > look->head;
        results[i] = (uint8_t)(is_new ? RM_READ_NOT_YET : rm_stream_read(view, turn, &records[i]));
        good += results[i] == RM_READ_OK;
        if (results[i] != RM_READ_OK)
            memset(&records[i], 0, sizeof records[i]);
    }
    /* Each record is of one epoch; that all are of the same is seen here. */
    if (atomic_load_explicit(&view->header->turn_epoch, memory_order_acquire) == look->turn_epoch)
        return good;
    memset(results, RM_READ_LAPPED, count);
    memset(records, 0, count * sizeof *records);
    return 0;
}

bool rm_stream_wait(struct rm_stream_view const *view, rm_turn turn, uint64_t timeout_ns) {
    uint64_t const start = rm_monotonic_ns();
    for (unsigned spins = 0;; ++spins) {
        rm_turn const head = rm_stream_head(view);
        if (head != RM_TURN_NONE && head >= turn)
            return true;
        if (rm_monotonic_ns() - start >= timeout_ns)
            return false;
        if (spins < WAIT_SPINS) {
            rm_pause();
        } else {
            struct timespec const nap = {.tv_nsec = WAIT_SLEEP_NS};
            nanosleep(&nap, NULL);
        }
    }
}

int rm_stream_lane(struct rm_stream const *stream, char const *name) {
    for (unsigned lane = 0; lane < RM_LANES && lane < stream->lane_count; ++lane)
        if (strncmp(stream->lane[lane].name, name, sizeof stream->lane[lane].name) == 0)
            return (int)lane;
    return -1;
}

char const *rm_read_text(enum rm_read result) {
    switch (result) {
    case RM_READ_OK:
        return "ok";
    case RM_READ_NOT_YET:
        return "not yet: above the newest turn";
    case RM_READ_MISSING:
        return "missing: lost, or late and still to come";
    case RM_READ_LAPPED:
        return "lapped: too old, its slot is in use again";
    case RM_READ_BEFORE:
        return "before the stream's first turn";
    }
    return "unknown";
}
