// SPDX-License-Identifier: Apache-2.0
#include "fabric/stream_writer.h"

#include <stdlib.h>
#include <string.h>

static uint64_t record_number(struct rm_stream_writer const *writer, rm_turn turn) {
    return writer->period == 1 ? turn : turn / writer->period;
}

static struct rm_slot *slot_of(struct rm_stream_writer const *writer, uint64_t number) {
    return &writer->slot[number & writer->mask];
}

static bool present(struct rm_stream_writer const *writer, uint64_t number) {
    uint64_t const bit = number % RM_PRESENCE_TURNS;
    return writer->presence[bit / 64] >> (bit % 64) & 1;
}

static void set_present(struct rm_stream_writer *writer, uint64_t number) {
    uint64_t const bit = number % RM_PRESENCE_TURNS;
    writer->presence[bit / 64] |= 1ull << (bit % 64);
}

static void clear_present(struct rm_stream_writer *writer, uint64_t number) {
    uint64_t const bit = number % RM_PRESENCE_TURNS;
    writer->presence[bit / 64] &= ~(1ull << (bit % 64));
}

/** Words 1–7, then the turn with release: a reader who acquires the turn sees the rest (stream.h, promise 4). */
static void store(struct rm_slot *slot, struct rm_record const *record) {
    uint64_t word[8];
    memcpy(word, record, sizeof word);
    for (int i = 1; i < 8; ++i)
        atomic_store_explicit(&slot->word[i], word[i], memory_order_relaxed);
    atomic_store_explicit(&slot->word[0], word[0], memory_order_release);
}

static void invalidate(struct rm_slot *slot) {
    atomic_store_explicit(&slot->word[0], RM_TURN_NONE, memory_order_relaxed);
    /* The words that a following store() writes must not be seen before the turn is gone. */
    atomic_thread_fence(memory_order_release);
}

static void store_late(struct rm_slot *slot, struct rm_record const *record) {
    invalidate(slot);
    store(slot, record);
}

/** Clears the slots that an earlier owner left unpublished or half written; see rm_stream_writer_open. */
static void sweep(struct rm_stream_writer *writer) {
    for (uint64_t i = 0; i <= writer->mask; ++i) {
        rm_turn const turn = atomic_load_explicit(&writer->slot[i].word[0], memory_order_relaxed);
        if (turn == RM_TURN_NONE)
            continue;
        bool const placed = turn % writer->period == 0 && (record_number(writer, turn) & writer->mask) == i;
        if (!placed || writer->head == RM_TURN_NONE || turn > writer->head || turn < writer->first)
            invalidate(&writer->slot[i]);
    }
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
    writer->margin = stream->margin * stream->period;
    writer->late_turns = late_turns;
    writer->head = atomic_load_explicit(&stream->head, memory_order_relaxed);
    writer->first = atomic_load_explicit(&stream->first, memory_order_relaxed);
    writer->published = writer->head;
    writer->adopted = writer->head != RM_TURN_NONE;
    sweep(writer);
    return true;
}

void rm_stream_writer_close(struct rm_stream_writer *writer) {
    free(writer->presence);
    writer->presence = NULL;
}

void rm_stream_writer_restart(struct rm_stream_writer *writer) {
    struct rm_stream *stream = writer->stream;
    uint64_t const epoch = atomic_load_explicit(&stream->machine_epoch, memory_order_relaxed);
    /* Readers load the epoch before and after a copy (stream.h): the new one is visible before anything of it is. */
    atomic_store_explicit(&stream->machine_epoch, epoch + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&stream->head, RM_TURN_NONE, memory_order_release);
    atomic_store_explicit(&stream->first, RM_TURN_NONE, memory_order_release);
    atomic_thread_fence(memory_order_release);
    writer->head = RM_TURN_NONE;
    writer->published = RM_TURN_NONE;
    writer->first = RM_TURN_NONE;
    writer->adopted = false;
}

/** The first record of a machine epoch. */
static void begin(struct rm_stream_writer *writer, rm_turn turn) {
    memset(writer->presence, 0, RM_PRESENCE_TURNS / 8);
    bool const reused = atomic_load_explicit(&writer->stream->machine_epoch, memory_order_relaxed) != 0;
    writer->stale_until = reused ? turn + (writer->mask + 1) * writer->period : 0;
    writer->first = turn;
    atomic_store_explicit(&writer->stream->first, turn, memory_order_release);
}

/** Goes on after an earlier owner, or begins anew when the turns do not continue. */
static void take_over(struct rm_stream_writer *writer, rm_turn turn) {
    writer->adopted = false;
    if (turn > writer->head)
        memset(writer->presence, 0, RM_PRESENCE_TURNS / 8);
    else
        rm_stream_writer_restart(writer);
}

/** Promise 1 of stream.h: publish before going further ahead of the published head than the margin. */
static void publish_early(struct rm_stream_writer *writer) {
    rm_stream_writer_publish(writer, atomic_load_explicit(&writer->stream->published_tsc, memory_order_relaxed));
}

/** Records between head and `turn` that have not come: no presence, and no slot that could be taken for them. */
static void skip(struct rm_stream_writer *writer, rm_turn turn) {
    uint64_t const number = record_number(writer, turn);
    uint64_t next = record_number(writer, writer->head) + 1;
    if (number - next >= RM_PRESENCE_TURNS)
        memset(writer->presence, 0, RM_PRESENCE_TURNS / 8);
    bool const stale = writer->head < writer->stale_until;
    if (number - next > writer->mask)
        next = number - writer->mask - 1;
    for (; next < number; ++next) {
        clear_present(writer, next);
        if (!stale)
            continue;
        if (next * writer->period > writer->published + writer->margin)
            publish_early(writer);
        invalidate(slot_of(writer, next));
        writer->head = next * writer->period;
    }
}

static enum rm_put put_behind(struct rm_stream_writer *writer, struct rm_record const *record) {
    if (record->turn < writer->first || writer->head - record->turn >= writer->late_turns)
        return RM_PUT_BEHIND;
    uint64_t const number = record_number(writer, record->turn);
    if (present(writer, number))
        return RM_PUT_DUPLICATE;
    store_late(slot_of(writer, number), record);
    set_present(writer, number);
    return RM_PUT_LATE;
}

enum rm_put rm_stream_writer_put(struct rm_stream_writer *writer, struct rm_record const *record) {
    rm_turn const turn = record->turn;
    rm_turn const expected = writer->head + writer->period;
    if (turn != expected || writer->head == RM_TURN_NONE || writer->adopted) {
        bool const adopted = writer->adopted;
        if (adopted)
            take_over(writer, turn);
        if (writer->head == RM_TURN_NONE) {
            begin(writer, turn);
        } else if (turn <= writer->head) {
            return put_behind(writer, record);
        } else if (turn != expected) {
            if (!adopted)
                writer->passed_over += (turn - expected) / writer->period;
            skip(writer, turn);
        }
    }
    if (writer->published != RM_TURN_NONE && turn - writer->published > writer->margin) {
        writer->head = turn - writer->period;
        publish_early(writer);
    }
    uint64_t const number = record_number(writer, turn);
    store(slot_of(writer, number), record);
    set_present(writer, number);
    writer->head = turn;
    return RM_PUT_NEW;
}

void rm_stream_writer_publish(struct rm_stream_writer *writer, uint64_t tsc) {
    struct rm_stream *stream = writer->stream;
    atomic_store_explicit(&stream->published_tsc, tsc, memory_order_relaxed);
    atomic_store_explicit(&stream->head, writer->head, memory_order_release);
    /* Whoever sees a word stored from here on also sees this head: what the reader's second look relies on. */
    atomic_thread_fence(memory_order_release);
    writer->published = writer->head;
}

void rm_stream_writer_pass_over(struct rm_stream_writer *writer, rm_turn turn) {
    if (writer->head == RM_TURN_NONE || writer->adopted || turn <= writer->head)
        return;
    writer->passed_over += record_number(writer, turn) - record_number(writer, writer->head);
    skip(writer, turn + writer->period);
    writer->head = turn;
}

struct rm_slot const *rm_stream_writer_find(struct rm_stream_writer const *writer, rm_turn turn) {
    uint64_t const number = record_number(writer, turn);
    return present(writer, number) ? slot_of(writer, number) : NULL;
}

void rm_slot_load(struct rm_slot const *slot, struct rm_record *record) {
    uint64_t word[8];
    for (int i = 0; i < 8; ++i)
        word[i] = atomic_load_explicit(&slot->word[i], memory_order_relaxed);
    memcpy(record, word, sizeof word);
}
