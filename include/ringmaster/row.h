// SPDX-License-Identifier: Apache-2.0
/** Rows: the newest record of every instrument side by side, for loops.
 *
 * A row object has one 64-byte cell per instrument, each with its own turn; the core that receives an instrument writes
 * its cell, in the way of a late record (stream.h, promise 4). Every receive core announces its arrivals in a
 * single-producer ring of its own, so a loop learns of each without scanning cells. A cycle fires on the last
 * instrument or at its deadline; that belongs to the application host.
 *
 * Laid out now, used by the feedback: the server of this version makes none.
 */
#ifndef RINGMASTER_ROW_H
#define RINGMASTER_ROW_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

/** The head of a row object. */
struct rm_row {
    uint64_t cells_offset;    /**< bytes from the start of this struct to the first struct rm_slot */
    uint64_t cell_count;      /**< instruments, in the configured order */
    uint64_t period;          /**< turns from one row to the next */
    uint64_t arrivals_offset; /**< bytes to the first struct rm_arrivals, each of `arrivals_bytes` */
    uint64_t arrivals_count;  /**< one per receive core */
    uint64_t arrivals_bytes;
    uint64_t reserved[2];
};

/** A single-producer ring of arrivals; entry i of it is at word `i & mask`: (turn << 16 | cell). `head` counts the
 * entries ever written and is stored with release after them; consumers keep their own place and load it with acquire.
 */
struct rm_arrivals {
    uint64_t mask;
    uint64_t reserved[7];
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t head;
    uint64_t reserved_live[7];
    /* _Atomic uint64_t entry[mask + 1] follow */
};

#endif
