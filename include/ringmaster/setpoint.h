// SPDX-License-Identifier: Apache-2.0
/** Setpoints: what one application wants of its actuators.
 *
 * Three row buffers in the application's own segment. The application fills the buffer after the committed one and
 * stores `commit` last, with release; the transmit role loads `commit` with acquire, copies the buffer `commit % 3`,
 * acquire fence, and loads `commit` again: the copy is whole if it moved by less than two. The guard checks its private
 * copy, never this memory.
 *
 * Laid out now, used by the transmit role: the server of this version reads none.
 */
#ifndef RINGMASTER_SETPOINT_H
#define RINGMASTER_SETPOINT_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

enum { RM_SETPOINT_BUFFERS = 3 };

/** The head of a setpoints object. */
struct rm_setpoints {
    uint64_t rows_offset;    /**< bytes from the start of this struct to the first struct rm_setpoint_row */
    uint64_t row_bytes;      /**< from one row to the next, a multiple of RM_CACHE_LINE */
    uint64_t actuator_count; /**< values in a row */
    uint64_t reserved[5];
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t commit; /**< rows committed so far; the newest lies in buffer commit % 3 */
    uint64_t reserved_live[7];
};

/** One row; `actuator_count` doubles follow, as bit patterns in u64. */
struct rm_setpoint_row {
    _Atomic uint64_t epoch;      /**< granted at take-over; an older one is refused */
    _Atomic uint64_t sequence;   /**< grows by one per row */
    _Atomic uint64_t input_turn; /**< the turn this row answers; judges its freshness */
    _Atomic uint64_t flags;
    uint64_t reserved[4];
};

#endif
