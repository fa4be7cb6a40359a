// SPDX-License-Identifier: Apache-2.0
/** Setpoints: what one application wants of its actuators.
 *
 *     struct rm_setpoint_row *row = rm_setpoints_begin(setpoints);
 *     for (i …) rm_setpoints_put(row, i, wanted[i]);
 *     rm_setpoints_commit(row, epoch, input_turn, tsc);
 *
 * Three row buffers in the application's own segment, each with a sequence of its own in its first cache line, beside
 * the first values: who waits for the next row watches one line, and has the row's beginning with it. Row n (from 0) is
 * in buffer n % 3. Its sequence is 2n + 1 while it is written and 2n + 2 when it is whole.
 *
 * Ordering. Writer: sequence odd (relaxed), release fence, members and values (relaxed), sequence even (release).
 * Reader: sequence (acquire) even, copy, acquire fence, sequence again: unchanged means that the copy is whole and of
 * that row. (rm_setpoints_commit pairs with rm_setpoints_copy; the fence in begin with the fence in copy.) Values need
 * no order among each other, so the library copies them sixteen bytes at a time, of which each word arrives whole
 * (src/fabric/setpoint_store.h). The guard checks its private copy, never this memory.
 *
 * A row is a wish and nothing more: what becomes of it is the guard's (grant.h says what it did).
 */
#ifndef RINGMASTER_SETPOINT_H
#define RINGMASTER_SETPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

enum { RM_SETPOINT_BUFFERS = 3, RM_SETPOINT_INLINE = 4 };

/** One row. Values are doubles as bit patterns, in the order of the application's actuators; they begin in the first
 * cache line and go on behind it. */
struct rm_setpoint_row {
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** As granted: an older one is refused. */
    _Atomic uint64_t epoch;
    /** The turn this row answers; judges its freshness. */
    _Atomic uint64_t input_turn;
    /** When it was committed. */
    _Atomic uint64_t tsc;

    _Atomic uint64_t value[RM_SETPOINT_INLINE];
};

/** The head of a setpoints object. Constant; the rows follow. */
struct rm_setpoints {
    /** Bytes from the start of this struct to the first struct rm_setpoint_row. */
    uint64_t rows_offset;
    /** From one row to the next, a multiple of RM_CACHE_LINE. */
    uint64_t row_bytes;
    /** Values in a row. */
    uint64_t actuator_count;

    uint64_t reserved[5];
};

/** Bytes of one row, and of a whole object. */
static inline size_t rm_setpoint_row_bytes(size_t actuators) {
    size_t const beyond = actuators > RM_SETPOINT_INLINE ? actuators - RM_SETPOINT_INLINE : 0;
    return sizeof(struct rm_setpoint_row) + (beyond * 8 + RM_CACHE_LINE - 1) / RM_CACHE_LINE * RM_CACHE_LINE;
}

static inline size_t rm_setpoints_bytes(size_t actuators) {
    return sizeof(struct rm_setpoints) + RM_SETPOINT_BUFFERS * rm_setpoint_row_bytes(actuators);
}

/** For the owner alone, from one thread: the buffer of the next row. Its values are those of three rows ago: put all.
 */
struct rm_setpoint_row *rm_setpoints_begin(struct rm_setpoints *setpoints);

static inline void rm_setpoints_put(struct rm_setpoint_row *row, size_t actuator, double value) {
    union {
        double number;
        uint64_t bits;
    } const word = {.number = value};
    _Atomic uint64_t *const values = row->value; // they go on behind the struct
    atomic_store_explicit(&values[actuator], word.bits, memory_order_relaxed);
}

/** The row is whole. */
void rm_setpoints_commit(struct rm_setpoint_row *row, uint64_t epoch, rm_turn input_turn, uint64_t tsc);

/** What a reader keeps between looks: rows seen so far. Begin with zero. */
struct rm_setpoints_place {
    /** The row expected next. */
    uint64_t next;
};

/** A row in private memory; the values are copied beside it. */
struct rm_setpoint_reading {
    /** Number, from 0 */
    uint64_t row;

    uint64_t epoch;
    rm_turn input_turn;
    uint64_t tsc;
};

/** Copies the newest whole row, if there is one that was not seen yet: its values (at most `count`) to `values`. False
 * when there is none: one load of one cache line. `actuator_count` and all offsets were checked by the caller when it
 * attached and are in `row_bytes`: this memory is another's and may say anything later. */
bool rm_setpoints_copy(struct rm_setpoints const *setpoints, size_t row_bytes, struct rm_setpoints_place *place,
                       struct rm_setpoint_reading *reading, double *values, size_t count);

#endif
