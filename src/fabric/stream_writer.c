// SPDX-License-Identifier: Apache-2.0
#include "fabric/stream_writer.h"

#include <stdlib.h>
#include <string.h>

static uint64_t record_number(struct rm_stream_writer const *writer, rm_turn turn) {
    return writer->period == 1 ? turn : turn / writer->period;
}

static struct rm_slot *stream_slot_of(struct rm_stream_writer const *writer, uint64_t number) {
    return &writer->slot[number & writer->mask];
}

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/** The head stands at `turn`, and the next record is expected behind it. */
static void set_head(struct rm_stream_writer *writer, rm_turn turn) {
    writer->head = turn;
    writer->next = turn + writer->period;
    writer->number = record_number(writer, writer->next);
}

static bool stream_slot_is_present(struct rm_stream_writer const *writer, uint64_t number) {
    if (number >= writer->run)
        return true;
    uint64_t const bit = number % RM_PRESENCE_TURNS;
    return writer->presence[bit / 64] >> (bit % 64) & 1;
}

static void set_present(struct rm_stream_writer *writer, uint64_t number) {
    uint64_t const bit = number % RM_PRESENCE_TURNS;
    writer->presence[bit / 64] |= 1ull << (bit % 64);
}

/** Writes the bits of records [next, end), word by word: a silent instrument passes over thousands at a time. */
static void write_presence(struct rm_stream_writer *writer, uint64_t next, uint64_t end, bool there) {
    if (end - next >= RM_PRESENCE_TURNS) {
        memset(writer->presence, there ? 0xFF : 0, RM_PRESENCE_TURNS / 8);
        return;
    }
    while (next < end) {
        uint64_t const bit = next % RM_PRESENCE_TURNS;
        uint64_t const here = min_u64(end - next, 64 - bit % 64);
        uint64_t const bits = UINT64_MAX >> (64 - here) << (bit % 64);
        uint64_t *const word = &writer->presence[bit / 64];
        *word = there ? *word | bits : *word & ~bits;
        next += here;
    }
}

/** Ends the run up to the head; records from there to `next` have not come, and the next run begins there. */
static void break_run(struct rm_stream_writer *writer, uint64_t next) {
    uint64_t const end = record_number(writer, writer->head) + 1;
    write_presence(writer, writer->run, end, true);
    write_presence(writer, end, next, false);
    writer->run = next;
}

static void stream_slot_invalidate(struct rm_slot *slot) {
    atomic_store_explicit(&slot->word[0], RM_TURN_NONE, memory_order_relaxed);
    /* The words that a following rm_slot_store writes must not be seen before the turn is gone. */
    atomic_thread_fence(memory_order_release);
}

static void store_late(struct rm_slot *slot, struct rm_record const *record) {
    stream_slot_invalidate(slot);
    rm_slot_store(slot, record);
}

/** True when the last owner had published the record in slot `i`, and it lies where it belongs. */
static bool was_published(struct rm_stream_writer const *writer, uint64_t i, rm_turn turn) {
    return writer->head != RM_TURN_NONE && turn >= writer->first && turn <= writer->head &&
           turn % writer->period == 0 && (record_number(writer, turn) & writer->mask) == i;
}

/** Clears what the last owner left unpublished or half written, and remembers what is there; see
 * rm_stream_writer_open. Returns true when it cleared anything. */
static bool stream_writer_sweep_slots(struct rm_stream_writer *writer) {
    bool cleared = false;
    for (uint64_t i = 0; i <= writer->mask; ++i) {
        rm_turn const turn = atomic_load_explicit(&writer->slot[i].word[0], memory_order_relaxed);
        if (turn == RM_TURN_NONE)
            continue;
        if (!was_published(writer, i, turn)) {
            stream_slot_invalidate(&writer->slot[i]);
            cleared = true;
        } else if ((writer->head - turn) / writer->period < RM_PRESENCE_TURNS) {
            set_present(writer, record_number(writer, turn));
        }
    }
    return cleared;
}

/** Loops read low-latency streams, and what instruments send at their own, lower rate. No reader waits for every turn,
 * nor for what is sharp. */
static bool no_loop_reads(struct rm_stream const *stream) {
    return stream->period == 1 || strcmp(stream->filter, "sharp") == 0;
}

bool rm_stream_writer_open(struct rm_stream_writer *writer, struct rm_stream *stream, uint64_t late_turns) {
    memset(writer, 0, sizeof *writer);
    writer->presence = calloc(RM_PRESENCE_TURNS / 64, sizeof *writer->presence);
    if (writer->presence == NULL)
        return false;
    writer->stream = stream;
    writer->slot = (struct rm_slot *)((uint8_t *)stream + stream->slots_offset);
    writer->mask = stream->capacity - 1;
    writer->period = stream->period;
    writer->streaming = rm_slot_may_stream() && no_loop_reads(stream);
    writer->margin = stream->margin * stream->period;
    uint64_t const late_records = min_u64(stream->capacity - stream->margin, RM_PRESENCE_TURNS);
    writer->late_turns = min_u64(late_turns, late_records * stream->period);
    /* Acquire and the fence below: a reader that sees what this owner stores also sees the heads of the last one. */
    writer->head = atomic_load_explicit(&stream->head, memory_order_acquire);
    writer->first = atomic_load_explicit(&stream->first, memory_order_relaxed);
    writer->published = writer->head;
    writer->adopted = writer->head != RM_TURN_NONE;
    writer->next = RM_TURN_NONE;
    writer->limit = writer->adopted ? writer->head + writer->margin : RM_TURN_NONE;
    writer->run = writer->adopted ? record_number(writer, writer->head) + 1 : 0;
    /* Records without a head: the last owner ended inside a restart, and this one completes it. */
    if (stream_writer_sweep_slots(writer) && !writer->adopted)
        rm_stream_writer_restart(writer);
    atomic_thread_fence(memory_order_release);
    return true;
}

void rm_stream_writer_close(struct rm_stream_writer *writer) {
    free(writer->presence);
    writer->presence = NULL;
}

/* Promise 5 of stream.h: a reader that sees the new turn-counter epoch finds no head of the old one, and one that sees
 * anything stored from here on also sees the new turn-counter epoch. */
void rm_stream_writer_restart(struct rm_stream_writer *writer) {
    struct rm_stream *stream = writer->stream;
    uint64_t const epoch = atomic_load_explicit(&stream->turn_epoch, memory_order_relaxed);
    atomic_store_explicit(&stream->head, RM_TURN_NONE, memory_order_relaxed);
    atomic_store_explicit(&stream->first, RM_TURN_NONE, memory_order_relaxed);
    atomic_store_explicit(&stream->turn_epoch, epoch + 1, memory_order_release);
    atomic_thread_fence(memory_order_release);
    if (writer->streaming)
        rm_slot_stream_fence(); // the epoch is there before what is streamed in it
    writer->head = RM_TURN_NONE;
    writer->next = RM_TURN_NONE;
    writer->published = RM_TURN_NONE;
    writer->limit = RM_TURN_NONE;
    writer->first = RM_TURN_NONE;
    writer->adopted = false;
}

/** The first record of a turn-counter epoch. Readers see `first` through the head that is published after it. */
static void stream_writer_begin_turn(struct rm_stream_writer *writer, rm_turn turn) {
    memset(writer->presence, 0, RM_PRESENCE_TURNS / 8);
    bool const reused = atomic_load_explicit(&writer->stream->turn_epoch, memory_order_relaxed) != 0;
    writer->stale_until = reused ? turn + (writer->mask + 1) * writer->period : 0;
    writer->first = writer->own = turn;
    writer->run = record_number(writer, turn);
    atomic_store_explicit(&writer->stream->first, turn, memory_order_relaxed);
}

/** Promise 1 of stream.h: before a store into the slot of `turn`, publishes what is too far behind it. */
static void keep_margin(struct rm_stream_writer *writer, rm_turn turn) {
    if (turn <= writer->limit)
        return;
    writer->head = turn - writer->period;
    rm_stream_writer_publish(writer, atomic_load_explicit(&writer->stream->published_tsc, memory_order_relaxed));
}

/** Promise 3 of stream.h: no slot of the records [next, end) may hold a turn of an earlier turn-counter epoch. The head
 * follows record by record, never past a slot that has not been cleared; after one lap all of them have. */
static void clear_stale(struct rm_stream_writer *writer, uint64_t next, uint64_t end) {
    uint64_t const stop = min_u64(end, next + writer->mask + 1);
    for (; next < stop; ++next) {
        keep_margin(writer, next * writer->period);
        stream_slot_invalidate(stream_slot_of(writer, next));
        writer->head = next * writer->period;
    }
}

/** The records between head and `turn` have not come: no presence, and no slot that could be taken for them. */
static void stream_writer_skip_to(struct rm_stream_writer *writer, rm_turn turn) {
    uint64_t const end = record_number(writer, turn);
    uint64_t const next = record_number(writer, writer->head) + 1;
    break_run(writer, end);
    if (writer->head < writer->stale_until)
        clear_stale(writer, next, end);
}

static enum rm_put put_behind(struct rm_stream_writer *writer, struct rm_record const *record) {
    if (record->turn < writer->first || writer->head - record->turn >= writer->late_turns)
        return RM_PUT_BEHIND;
    uint64_t const number = record_number(writer, record->turn);
    if (stream_slot_is_present(writer, number))
        return RM_PUT_DUPLICATE;
    store_late(stream_slot_of(writer, number), record);
    set_present(writer, number);
    /* So that skipped less the late ones is what this owner lost. */
    if (record->turn < writer->own)
        ++writer->skipped;
    return RM_PUT_OUT_OF_ORDER;
}

/** Makes room for a turn that is not the expected one. False when it lies at or below the head. */
static bool stream_writer_jump_to(struct rm_stream_writer *writer, rm_turn turn) {
    bool const adopted = writer->adopted;
    writer->adopted = false;
    if (adopted && turn <= writer->head)
        rm_stream_writer_restart(writer);
    if (writer->head == RM_TURN_NONE) {
        stream_writer_begin_turn(writer, turn);
        return true;
    }
    if (turn <= writer->head)
        return false;
    if (adopted)
        writer->own = turn;
    else
        writer->skipped += record_number(writer, turn) - record_number(writer, writer->head) - 1;
    stream_writer_skip_to(writer, turn);
    return true;
}

/** False when the turn lies at or below the head. */
static bool stream_writer_make_room(struct rm_stream_writer *writer, rm_turn turn) {
    if (turn != writer->next && !stream_writer_jump_to(writer, turn))
        return false;
    keep_margin(writer, turn);
    if (turn != writer->next)
        set_head(writer, turn - writer->period);
    return true;
}

bool rm_stream_writer_await(struct rm_stream_writer *writer, rm_turn turn) {
    return stream_writer_make_room(writer, turn);
}

enum rm_put rm_stream_writer_put(struct rm_stream_writer *writer, struct rm_record const *record) {
    if (!stream_writer_make_room(writer, record->turn))
        return put_behind(writer, record);
    struct rm_slot *const slot = rm_stream_writer_slot(writer);
    if (writer->streaming)
        rm_slot_stream(slot, record);
    else {
        rm_slot_store_newest(slot, record);
        /* The next slot was last touched a lap ago; fetched now it is here when its record is. */
        __builtin_prefetch(&writer->slot[writer->number & writer->mask], 1);
    }
    return RM_PUT_NEW;
}

void rm_stream_writer_publish(struct rm_stream_writer *writer, uint64_t tsc) {
    rm_stream_publish_begin();
    rm_stream_writer_show(writer, tsc);
    rm_stream_publish_end();
}

void rm_stream_writer_pass_over(struct rm_stream_writer *writer, rm_turn turn) {
    if (writer->head == RM_TURN_NONE || writer->adopted || turn <= writer->head)
        return;
    writer->skipped += record_number(writer, turn) - record_number(writer, writer->head);
    stream_writer_skip_to(writer, turn + writer->period);
    set_head(writer, turn);
    keep_margin(writer, turn + writer->period); // a late record may come for any turn up to here
}

struct rm_slot const *rm_stream_writer_find(struct rm_stream_writer const *writer, rm_turn turn) {
    uint64_t const number = record_number(writer, turn);
    return stream_slot_is_present(writer, number) ? stream_slot_of(writer, number) : NULL;
}

void rm_slot_load(struct rm_slot const *slot, struct rm_record *record) {
    uint64_t word[8];
    for (int i = 0; i < 8; ++i)
        word[i] = atomic_load_explicit(&slot->word[i], memory_order_relaxed);
    memcpy(record, word, sizeof word);
}
