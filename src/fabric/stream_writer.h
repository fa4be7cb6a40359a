// SPDX-License-Identifier: Apache-2.0
/** The writing side of a stream (ringmaster/stream.h): where a record goes, and what readers are promised of it.
 *
 * One writer per stream, on one core. Its state is private memory; nothing here is read back from the ring but by
 * rm_stream_writer_find. The last RM_PRESENCE_TURNS records behind the head are remembered, so that duplicates are told
 * without touching old slots: as a run without gaps up to the head, and as a bitmap for what lies before it. So a
 * record in its turn touches no bitmap; a gap writes down the run that it ends.
 *
 *     create:  rm_stream_writer_open on a fresh or adopted stream object
 *     burst:   rm_stream_writer_put … ; rm_stream_writer_publish once
 *     silence: rm_stream_writer_pass_over
 */
#ifndef RM_FABRIC_STREAM_WRITER_H
#define RM_FABRIC_STREAM_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/stream.h>

#include "fabric/slot_store.h"

enum {
    /** Records behind the head whose presence is remembered; the largest late window. */
    RM_PRESENCE_TURNS = 65536,
};

enum rm_put {
    /** Stored, as the newest record. */
    RM_PUT_NEW,
    /** Stored in its place behind the head. */
    RM_PUT_OUT_OF_ORDER,
    /** Dropped: the record of that turn is there. */
    RM_PUT_DUPLICATE,
    /** Refused: `late_turns` or more behind the head, or before the stream's first turn. */
    RM_PUT_BEHIND,
};

/** The first cache line is all that a record in its turn needs: rm_stream_writer_slot. */
struct rm_stream_writer {
    _Alignas(RM_CACHE_LINE) struct rm_slot *slot;
    uint64_t mask;
    /** Turns per record. */
    uint64_t period;
    /** Newest stored turn, RM_TURN_NONE while empty. */
    rm_turn head;
    /** head + period; RM_TURN_NONE where that does not hold: the stream is empty or adopted. */
    rm_turn next;
    /** Number of the record of `next`. */
    uint64_t number;
    /** Newest turn that may be stored before a head is published. */
    rm_turn limit;
    /** Head as published to readers. */
    rm_turn published;
    /** Turns that the head passed without their record, in all. */
    uint64_t skipped;
    /** Turns by which a late record may be behind the head. */
    uint64_t late_turns;
    /** Number of the first record of the gapless run that ends at the head. */
    uint64_t run;
    /** RM_PRESENCE_TURNS bits, by record number, for the records before the run. */
    uint64_t *presence;
    /** Oldest turn of this turn-counter epoch. */
    rm_turn first;
    /** Oldest turn that this owner put in it: turns missing below it are not in `skipped`. */
    rm_turn own;
    /** Slots may hold turns of an earlier turn-counter epoch until head reaches this. */
    rm_turn stale_until;
    /** Turns, not records, that may be written above `published`. */
    uint64_t margin;
    /** Records are stored past the caches: it is the turn-rate stream, which no loop reads. */
    bool streaming;
    /** `head` and `first` are those of an earlier server: see rm_stream_writer_open. */
    bool adopted;

    struct rm_stream *stream;
};

/** Takes over the stream object at `stream`. A fresh one is empty. An adopted one is swept first: slots that its last
 * owner had not published are cleared; the rest stays readable, and known to be present. The stream goes on in the
 * same turn-counter epoch if the first turn put is above the old head; the turns in between are not counted as
 * skipped. A first turn at or below it begins a new epoch. `late_turns` is cut to what the bitmap remembers and to
 * what no reader can take for lapped: (capacity - margin) × period. Allocates the bitmap; false when there is no
 * memory. */
bool rm_stream_writer_open(struct rm_stream_writer *writer, struct rm_stream *stream, uint64_t late_turns);
void rm_stream_writer_close(struct rm_stream_writer *writer);

/** Stores one record by its turn, a multiple of the period. It becomes visible with rm_stream_writer_publish; late
 * records are visible at once. The caller has bounded the turn from above (accepted window around the turn clock); it
 * is never RM_TURN_NONE. */
enum rm_put rm_stream_writer_put(struct rm_stream_writer *writer, struct rm_record const *record);

/** Makes room for the record of `turn`, which becomes writer->next: from here until it is put, promise 1 of stream.h
 * holds for all that is stored into its slot, and beside it (rows.h). False, and nothing is done, where the turn is not
 * above the head of its turn-counter epoch. */
bool rm_stream_writer_await(struct rm_stream_writer *writer, rm_turn turn);

/** The slot for a record of turn writer->next, which is not above writer->limit. The caller writes it whole, streaming
 * where writer->streaming says so. The head moves there. This is rm_stream_writer_put without its checks. */
static inline struct rm_slot *rm_stream_writer_slot(struct rm_stream_writer *writer) {
    struct rm_slot *const slot = &writer->slot[writer->number & writer->mask];
    ++writer->number;
    writer->head = writer->next;
    writer->next += writer->period;
    return slot;
}

/** Tells the writer which record comes next, after the caller has written records in their turn without it, no more
 * than the margin above the published head, and has published them (rm_stream_show). */
static inline void rm_stream_writer_follow(struct rm_stream_writer *writer, uint64_t number, rm_turn next) {
    writer->number = number;
    writer->next = next;
    writer->head = next - writer->period;
    rm_turn const published = atomic_load_explicit(&writer->stream->head, memory_order_relaxed);
    if (published == writer->published)
        return;
    writer->published = published;
    writer->limit = published + writer->margin;
}

/** Makes everything up to the head visible, as of the burst that arrived at `tsc`. */
void rm_stream_writer_publish(struct rm_stream_writer *writer, uint64_t tsc);

/** The same for many streams, with the fences of one: rm_stream_publish_begin, rm_stream_writer_show for each,
 * rm_stream_publish_end. Nothing may be stored into any slot between the first and the last. */
static inline void rm_stream_publish_begin(void) {
    if (rm_slot_may_stream())
        rm_slot_stream_fence(); // what was streamed is there before the heads say so
}

static inline void rm_stream_show(struct rm_stream *stream, rm_turn head, uint64_t tsc) {
    atomic_store_explicit(&stream->published_tsc, tsc, memory_order_relaxed);
    atomic_store_explicit(&stream->head, head, memory_order_release);
}

static inline void rm_stream_writer_show(struct rm_stream_writer *writer, uint64_t tsc) {
    rm_stream_show(writer->stream, writer->head, tsc);
    writer->published = writer->head;
    writer->limit = writer->head + writer->margin;
}

static inline void rm_stream_publish_end(void) {
    if (rm_slot_may_stream())
        rm_slot_stream_fence(); // and the heads are there before what is streamed next
    /* A reader that sees a word stored from here on also sees these heads: the reader's second look relies on it. */
    atomic_thread_fence(memory_order_release);
}

/** Moves the head to `turn`, a multiple of the period, without records, because an instrument is silent. Publishes
 * when that is beyond the margin. Does nothing while the stream is empty or adopted, or when the head is there
 * already. */
void rm_stream_writer_pass_over(struct rm_stream_writer *writer, rm_turn turn);

/** Begins a new turn-counter epoch: the next put starts the stream again, wherever its turn lies. */
void rm_stream_writer_restart(struct rm_stream_writer *writer);

/** Finds a turn within [head - late_turns, head]: its slot, or NULL when it has not come. For the writer. */
struct rm_slot const *rm_stream_writer_find(struct rm_stream_writer const *writer, rm_turn turn);

/** Copies a slot that its own writer does not change meanwhile. */
void rm_slot_load(struct rm_slot const *slot, struct rm_record *record);

#endif
