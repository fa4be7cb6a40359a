// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/setpoint.h>

#include "fabric/setpoint_rows.h"
#include "fabric/setpoint_store.h"

static uint64_t const SEQUENCE_MAX = 1ull << 62; // a million rows a second for a hundred thousand years

enum {
    TRIES = 4,          /**< looks at all buffers, when a writer overtakes each copy; the next call goes on */
    FETCH_BYTES = 2048, /**< of a row, asked for at once: more than that a core has not under way */
};

static uint64_t get(_Atomic uint64_t const *word, memory_order order) { return atomic_load_explicit(word, order); }

/** Buffer `i`, by what its reader checked: nothing here asks the memory where it is. */
static struct rm_setpoint_row const *buffer(struct rm_setpoints const *setpoints, size_t row_bytes, uint64_t i) {
    return (struct rm_setpoint_row const *)((uint8_t const *)(setpoints + 1) + i * row_bytes);
}

uint64_t rm_setpoints_newest(struct rm_setpoints const *setpoints) {
    uint64_t newest = 0;
    for (uint64_t i = 0; i < RM_SETPOINT_BUFFERS; ++i) {
        uint64_t const sequence = get(&buffer(setpoints, setpoints->row_bytes, i)->sequence, memory_order_relaxed);
        newest = sequence > newest ? sequence : newest;
    }
    return newest;
}

bool rm_setpoints_confused(struct rm_setpoints const *setpoints) {
    for (uint64_t i = 0, newest = rm_setpoints_newest(setpoints); i < RM_SETPOINT_BUFFERS; ++i) {
        uint64_t const sequence = get(&buffer(setpoints, setpoints->row_bytes, i)->sequence, memory_order_relaxed);
        uint64_t const row = (sequence - 1) / 2; // of 2n + 1 and of 2n + 2
        if (newest > SEQUENCE_MAX || (sequence != 0 && (row % RM_SETPOINT_BUFFERS != i || newest - sequence > 5)))
            return true;
    }
    return false;
}

struct rm_setpoint_row *rm_setpoints_begin(struct rm_setpoints *setpoints) {
    /* 2n + 2: row n is whole, and n + 1 is next; 2n + 1: row n was begun by one who was killed, and is begun again. */
    uint64_t const next = rm_setpoints_newest(setpoints) / 2;
    struct rm_setpoint_row *row =
        (struct rm_setpoint_row *)((uint8_t *)(setpoints + 1) + next % RM_SETPOINT_BUFFERS * setpoints->row_bytes);
    atomic_store_explicit(&row->sequence, 2 * next + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return row;
}

void rm_setpoints_commit(struct rm_setpoint_row *row, uint64_t epoch, rm_turn input_turn, uint64_t tsc) {
    uint64_t const sequence = get(&row->sequence, memory_order_relaxed);
    atomic_store_explicit(&row->epoch, epoch, memory_order_relaxed);
    atomic_store_explicit(&row->input_turn, input_turn, memory_order_relaxed);
    atomic_store_explicit(&row->tsc, tsc, memory_order_relaxed);
    atomic_store_explicit(&row->sequence, sequence + 1, memory_order_release);
}

/** Asks for the lines of a row that follow the first one, all at once: each comes from the writer's core, and a copy
 * that met them one after the other would wait for one after the other. */
static void fetch(struct rm_setpoint_row const *row, size_t count) {
    size_t const bytes = offsetof(struct rm_setpoint_row, value) + count * sizeof(uint64_t);
    size_t const most = bytes < FETCH_BYTES ? bytes : FETCH_BYTES;
    for (size_t at = sizeof *row; at < most; at += RM_CACHE_LINE)
        __builtin_prefetch((uint8_t const *)row + at);
}

/** Copies a row that was seen whole; true when it still was, after that. */
static bool copy(struct rm_setpoint_row const *row, uint64_t sequence, struct rm_setpoint_reading *reading,
                 double *values, size_t count) {
    fetch(row, count);
    *reading = (struct rm_setpoint_reading){
        .row = sequence / 2 - 1,
        .epoch = get(&row->epoch, memory_order_relaxed),
        .input_turn = get(&row->input_turn, memory_order_relaxed),
        .tsc = get(&row->tsc, memory_order_relaxed),
    };
    rm_setpoints_get(row, values, count);
    atomic_thread_fence(memory_order_acquire);
    return get(&row->sequence, memory_order_relaxed) == sequence;
}

/** True when `sequence` says that a row is whole, one that belongs into buffer `i` and was not seen. */
static bool is_news(uint64_t sequence, uint64_t i, uint64_t next) {
    return sequence != 0 && sequence % 2 == 0 && sequence / 2 - 1 >= next &&
           (sequence / 2 - 1) % RM_SETPOINT_BUFFERS == i;
}

/** The newest whole row: its buffer, or RM_SETPOINT_BUFFERS when none is news. */
static uint64_t find_newest(struct rm_setpoints const *setpoints, size_t row_bytes, uint64_t next, uint64_t *sequence) {
    uint64_t found = RM_SETPOINT_BUFFERS;
    *sequence = 0;
    for (uint64_t i = 0; i < RM_SETPOINT_BUFFERS; ++i) {
        /* Acquire: pairs with the release in rm_setpoints_commit. */
        uint64_t const seen = get(&buffer(setpoints, row_bytes, i)->sequence, memory_order_acquire);
        if (is_news(seen, i, next) && seen > *sequence) {
            *sequence = seen;
            found = i;
        }
    }
    return found;
}

/** Values that a row of so many bytes can hold. */
static size_t room(size_t row_bytes) {
    return (row_bytes - offsetof(struct rm_setpoint_row, value)) / sizeof(uint64_t);
}

bool rm_setpoints_copy(struct rm_setpoints const *setpoints, size_t row_bytes, struct rm_setpoints_place *place,
                       struct rm_setpoint_reading *reading, double *values, size_t count) {
    /* Every row from `next` on comes by its buffer or goes through it, so this line alone tells that there is none. */
    uint64_t const seen =
        get(&buffer(setpoints, row_bytes, place->next % RM_SETPOINT_BUFFERS)->sequence, memory_order_relaxed);
    if (seen <= 2 * place->next + 1)
        return false;
    size_t const wanted = count < room(row_bytes) ? count : room(row_bytes);
    for (int tries = 0; tries < TRIES; ++tries) {
        uint64_t sequence;
        uint64_t const i = find_newest(setpoints, row_bytes, place->next, &sequence);
        if (i == RM_SETPOINT_BUFFERS)
            return false;
        if (copy(buffer(setpoints, row_bytes, i), sequence, reading, values, wanted)) {
            place->next = sequence / 2;
            return true;
        }
    }
    return false;
}
