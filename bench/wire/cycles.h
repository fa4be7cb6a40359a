// SPDX-License-Identifier: Apache-2.0
/** A link's cycles, one row each: when the group's first datagram came, or left, when the last, and how many there
 * were.
 *
 * There is a row for every cycle of the window from the beginning, found by the cycle's number. So it makes no
 * difference whether groups are incomplete, late, or one among the other; of a cycle of which nothing came the row says
 * that.
 */
#ifndef RM_BENCH_WIRE_CYCLES_H
#define RM_BENCH_WIRE_CYCLES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>

#include "tally.h"

/** As it stands in the file, little-endian. */
struct rm_cycle_row {
    uint32_t link;
    /** 0: nothing of this cycle came; first and last are then 0. */
    uint32_t datagrams;

    uint64_t cycle;
    uint64_t first_tsc, last_tsc;
};

_Static_assert(sizeof(struct rm_cycle_row) == 32, "a row has 32 bytes");

/** Rows of one program: 2 GiB of memory. */
enum { RM_CYCLES_MOST = 1 << 26 };

struct rm_cycles {
    /** NULL: no rows are kept. */
    struct rm_cycle_row *row;

    size_t capacity;
};

/** Makes room for so many rows, and touches the memory, so that no page is fetched later. RM_E_NO_SPACE: there is not
 * so much. */
enum rm_code rm_cycles_new(struct rm_cycles *cycles, size_t capacity, struct rm_error *error);
void rm_cycles_free(struct rm_cycles *cycles);

/** Counts a datagram of the `index`-th cycle of the window that came at `tsc`, later than all before. Where there is no
 * row for it nothing is counted. */
static inline void rm_cycles_take(struct rm_cycles *cycles, uint64_t index, uint64_t tsc) {
    if (index >= cycles->capacity)
        return;
    struct rm_cycle_row *const row = &cycles->row[index];
    if (row->datagrams++ == 0)
        row->first_tsc = tsc;
    row->last_tsc = tsc;
}

/** Writes the row of a whole group, of which `datagrams` passed between the two times. */
static inline void rm_cycles_put(struct rm_cycles *cycles, uint64_t index, uint32_t datagrams, uint64_t first_tsc,
                                 uint64_t last_tsc) {
    if (index < cycles->capacity)
        cycles->row[index] =
            (struct rm_cycle_row){.datagrams = datagrams, .first_tsc = first_tsc, .last_tsc = last_tsc};
}

/** Whether the rows of so many cycles on so many links can be kept; without a path none are. RM_E_ARGUMENT. */
enum rm_code rm_cycles_check(char const *path, double rate_hz, double seconds, uint32_t links, struct rm_error *error);

/** Opens the file of --cycles: NULL where none is asked for. RM_E_SYSTEM with the reason. */
enum rm_code rm_cycles_open(char const *path, FILE **file, struct rm_error *error);

/** Closes it, if there is one; returns `code`, or RM_E_SYSTEM where that was RM_OK and the rows are not all written. */
enum rm_code rm_cycles_close(char const *path, FILE *file, enum rm_code code, struct rm_error *error);

/** Writes the rows of the cycles [begin, end), of which the first is row 0. RM_E_SYSTEM with the reason. */
enum rm_code rm_cycles_write(struct rm_cycles const *cycles, uint32_t link, struct rm_tally_range const *window,
                             FILE *file, struct rm_error *error);

#endif
