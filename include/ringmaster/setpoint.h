// SPDX-License-Identifier: Apache-2.0
/** Setpoints: what one application wants of its actuators.
 *
 *     struct rm_setpoint_vector *vector = rm_setpoints_begin(setpoints);
 *     for (i …) rm_setpoints_put(vector, i, wanted[i]);
 *     rm_setpoints_commit(vector, grant_number, input_turn, tsc);
 *
 * The object has three vector buffers in the application's own segment. Vector n (from 0) is in buffer n % 3. Each
 * buffer has a sequence of its own in its first cache line, beside the first values. So a reader that waits for the
 * next vector watches one line, and has the begin of the vector with it. The sequence of vector n is 2n + 1 while the
 * vector is written, and 2n + 2 when it is whole.
 *
 * ## Memory ordering
 * The writer makes the sequence odd (relaxed), fences (release), stores members and values (relaxed), and makes the
 * sequence even (release). The reader loads an even sequence (acquire), copies, fences (acquire), and loads the
 * sequence again. If it is unchanged, the copy is whole and of that vector. The acquire load in rm_setpoints_copy pairs
 * with the release store in rm_setpoints_commit; the acquire fence there pairs with the release fence in
 * rm_setpoints_begin. Values need no order among each other, so the library copies them sixteen bytes at a time, of
 * which each word arrives whole (src/fabric/setpoint_store.h).
 *
 * A vector is a command and nothing more. The server's guard checks a private copy of it, never this memory, and
 * decides what is sent (grant.h).
 */
#ifndef RINGMASTER_SETPOINT_H
#define RINGMASTER_SETPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

/** Vector buffers of an object, and values in the first cache line of a vector. */
enum { RM_SETPOINT_BUFFERS = 3, RM_SETPOINT_INLINE = 4 };

/** One vector. Values are doubles as bit patterns, in the order of the application's actuators; they begin in the first
 * cache line and go on behind it. */
struct rm_setpoint_vector {
    /** 2n + 1 while vector n is written, 2n + 2 when it is whole. 0: no vector was begun here. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** The grant number that the application was granted. The guard refuses a vector with another one. */
    _Atomic uint64_t grant_number;
    /** The turn that this vector answers. The guard judges the vector's freshness by it. */
    _Atomic uint64_t input_turn;
    /** TSC at which the vector was committed. */
    _Atomic uint64_t tsc;
    /** The first values, each in its actuator's unit. */
    _Atomic uint64_t value[RM_SETPOINT_INLINE];
};

/** The head of a setpoints object, which is constant. The vectors follow it. */
struct rm_setpoints {
    /** Bytes from the start of this struct to the first struct rm_setpoint_vector. */
    uint64_t vectors_offset;
    /** Bytes from one vector to the next, a multiple of RM_CACHE_LINE. */
    uint64_t vector_bytes;
    /** Number of values in a vector. */
    uint64_t actuator_count;

    uint64_t reserved[5];
};

/** Bytes of one vector, and of a whole object, for so many actuators. */
static inline size_t rm_setpoint_vector_bytes(size_t actuators) {
    size_t const beyond = actuators > RM_SETPOINT_INLINE ? actuators - RM_SETPOINT_INLINE : 0;
    return sizeof(struct rm_setpoint_vector) + (beyond * 8 + RM_CACHE_LINE - 1) / RM_CACHE_LINE * RM_CACHE_LINE;
}

static inline size_t rm_setpoints_bytes(size_t actuators) {
    return sizeof(struct rm_setpoints) + RM_SETPOINT_BUFFERS * rm_setpoint_vector_bytes(actuators);
}

/** Begins the next vector. For the owner alone, from one thread. The buffer has the values of three vectors ago, so the
 * caller puts all of them. */
struct rm_setpoint_vector *rm_setpoints_begin(struct rm_setpoints *setpoints);

/** Puts one value into a vector that was begun, in the actuator's unit. */
static inline void rm_setpoints_put(struct rm_setpoint_vector *vector, size_t actuator, double value) {
    union {
        double number;
        uint64_t bits;
    } const word = {.number = value};
    _Atomic uint64_t *const values = vector->value; // they go on behind the struct
    atomic_store_explicit(&values[actuator], word.bits, memory_order_relaxed);
}

/** Ends the vector: readers may see it. `grant_number` is the granted one (grant.h), `tsc` is now. */
void rm_setpoints_commit(struct rm_setpoint_vector *vector, uint64_t grant_number, rm_turn input_turn, uint64_t tsc);

/** What a reader keeps between two looks. It begins as zero. */
struct rm_setpoints_place {
    /** Number of the vector that is expected next. */
    uint64_t next;
};

/** A vector in private memory. The values are copied to an array of the caller. */
struct rm_setpoint_reading {
    /** Number of the vector, from 0. */
    uint64_t number;

    uint64_t grant_number;
    rm_turn input_turn;
    uint64_t tsc;
};

/** Copies the newest whole vector that was not seen yet: at most `count` values to `values`. Returns false when there
 * is none, which takes one load of one cache line. The caller has checked `actuator_count` and all offsets when it
 * attached, and gives `vector_bytes`: this memory belongs to another process, which may write anything into it
 * later. */
bool rm_setpoints_copy(struct rm_setpoints const *setpoints, size_t vector_bytes, struct rm_setpoints_place *place,
                       struct rm_setpoint_reading *reading, double *values, size_t count);

#endif
