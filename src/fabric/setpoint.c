// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/setpoint.h>

#include "fabric/setpoint_store.h"
#include "fabric/setpoint_vectors.h"

static uint64_t const SEQUENCE_MAX = 1ull << 62; // a million vectors a second for a hundred thousand years

enum {
    TRIES = 4,          /**< looks at all buffers, when a writer overtakes each copy; the next call goes on */
    FETCH_BYTES = 2048, /**< of a vector, asked for at once: more than that a core has not under way */
};

static uint64_t setpoints_get_word(_Atomic uint64_t const *word, memory_order order) {
    return atomic_load_explicit(word, order);
}

/** Buffer `i`, by what its reader checked: nothing here asks the memory where it is. */
static struct rm_setpoint_vector const *setpoints_buffer_at(struct rm_setpoints const *setpoints, size_t vector_bytes,
                                                            uint64_t i) {
    return (struct rm_setpoint_vector const *)((uint8_t const *)(setpoints + 1) + i * vector_bytes);
}

uint64_t rm_setpoints_newest(struct rm_setpoints const *setpoints) {
    uint64_t newest = 0;
    for (uint64_t i = 0; i < RM_SETPOINT_BUFFERS; ++i) {
        uint64_t const sequence = setpoints_get_word(
            &setpoints_buffer_at(setpoints, setpoints->vector_bytes, i)->sequence, memory_order_relaxed);
        newest = sequence > newest ? sequence : newest;
    }
    return newest;
}

bool rm_setpoints_confused(struct rm_setpoints const *setpoints) {
    for (uint64_t i = 0, newest = rm_setpoints_newest(setpoints); i < RM_SETPOINT_BUFFERS; ++i) {
        uint64_t const sequence = setpoints_get_word(
            &setpoints_buffer_at(setpoints, setpoints->vector_bytes, i)->sequence, memory_order_relaxed);
        uint64_t const vector = (sequence - 1) / 2; // of 2n + 1 and of 2n + 2
        if (newest > SEQUENCE_MAX || (sequence != 0 && (vector % RM_SETPOINT_BUFFERS != i || newest - sequence > 5)))
            return true;
    }
    return false;
}

struct rm_setpoint_vector *rm_setpoints_begin(struct rm_setpoints *setpoints) {
    /* 2n + 2: vector n is whole, and n + 1 is next; 2n + 1: vector n was begun by an owner that was killed, and is
     * begun again. */
    uint64_t const next = rm_setpoints_newest(setpoints) / 2;
    struct rm_setpoint_vector *vector =
        (struct rm_setpoint_vector *)((uint8_t *)(setpoints + 1) +
                                      next % RM_SETPOINT_BUFFERS * setpoints->vector_bytes);
    atomic_store_explicit(&vector->sequence, 2 * next + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return vector;
}

void rm_setpoints_commit(struct rm_setpoint_vector *vector, uint64_t grant_number, rm_turn input_turn, uint64_t tsc) {
    uint64_t const sequence = setpoints_get_word(&vector->sequence, memory_order_relaxed);
    atomic_store_explicit(&vector->grant_number, grant_number, memory_order_relaxed);
    atomic_store_explicit(&vector->input_turn, input_turn, memory_order_relaxed);
    atomic_store_explicit(&vector->tsc, tsc, memory_order_relaxed);
    atomic_store_explicit(&vector->sequence, sequence + 1, memory_order_release);
}

/** Asks for the lines of a vector that follow the first one, all at once: each comes from the writer's core, and a copy
 * that met them one after the other would wait for one after the other. */
static void setpoints_prefetch_vector(struct rm_setpoint_vector const *vector, size_t count) {
    size_t const bytes = offsetof(struct rm_setpoint_vector, value) + count * sizeof(uint64_t);
    size_t const most = bytes < FETCH_BYTES ? bytes : FETCH_BYTES;
    for (size_t at = sizeof *vector; at < most; at += RM_CACHE_LINE)
        __builtin_prefetch((uint8_t const *)vector + at);
}

/** Copies a vector that was seen whole; true when it still was, after that. */
static bool setpoints_copy_vector(struct rm_setpoint_vector const *vector, uint64_t sequence,
                                  struct rm_setpoint_reading *reading, double *values, size_t count) {
    setpoints_prefetch_vector(vector, count);
    *reading = (struct rm_setpoint_reading){
        .number = sequence / 2 - 1,
        .grant_number = setpoints_get_word(&vector->grant_number, memory_order_relaxed),
        .input_turn = setpoints_get_word(&vector->input_turn, memory_order_relaxed),
        .tsc = setpoints_get_word(&vector->tsc, memory_order_relaxed),
    };
    rm_setpoints_get(vector, values, count);
    atomic_thread_fence(memory_order_acquire);
    return setpoints_get_word(&vector->sequence, memory_order_relaxed) == sequence;
}

/** True when `sequence` says that a vector is whole, one that belongs into buffer `i` and was not seen. */
static bool is_news(uint64_t sequence, uint64_t i, uint64_t next) {
    return sequence != 0 && sequence % 2 == 0 && sequence / 2 - 1 >= next &&
           (sequence / 2 - 1) % RM_SETPOINT_BUFFERS == i;
}

/** The newest whole vector: its buffer, or RM_SETPOINT_BUFFERS when none is news. */
static uint64_t find_newest(struct rm_setpoints const *setpoints, size_t vector_bytes, uint64_t next,
                            uint64_t *sequence) {
    uint64_t found = RM_SETPOINT_BUFFERS;
    *sequence = 0;
    for (uint64_t i = 0; i < RM_SETPOINT_BUFFERS; ++i) {
        /* Acquire: pairs with the release in rm_setpoints_commit. */
        uint64_t const seen =
            setpoints_get_word(&setpoints_buffer_at(setpoints, vector_bytes, i)->sequence, memory_order_acquire);
        if (is_news(seen, i, next) && seen > *sequence) {
            *sequence = seen;
            found = i;
        }
    }
    return found;
}

/** Values that a vector of so many bytes can hold. */
static size_t setpoints_room_for(size_t vector_bytes) {
    return (vector_bytes - offsetof(struct rm_setpoint_vector, value)) / sizeof(uint64_t);
}

bool rm_setpoints_copy(struct rm_setpoints const *setpoints, size_t vector_bytes, struct rm_setpoints_place *place,
                       struct rm_setpoint_reading *reading, double *values, size_t count) {
    /* Every vector from `next` on comes by its buffer or goes through it, so this line alone tells that there is
     * none. */
    uint64_t const seen =
        setpoints_get_word(&setpoints_buffer_at(setpoints, vector_bytes, place->next % RM_SETPOINT_BUFFERS)->sequence,
                           memory_order_relaxed);
    if (seen <= 2 * place->next + 1)
        return false;
    size_t const wanted = count < setpoints_room_for(vector_bytes) ? count : setpoints_room_for(vector_bytes);
    for (int tries = 0; tries < TRIES; ++tries) {
        uint64_t sequence;
        uint64_t const i = find_newest(setpoints, vector_bytes, place->next, &sequence);
        if (i == RM_SETPOINT_BUFFERS)
            return false;
        if (setpoints_copy_vector(setpoints_buffer_at(setpoints, vector_bytes, i), sequence, reading, values, wanted)) {
            place->next = sequence / 2;
            return true;
        }
    }
    return false;
}
