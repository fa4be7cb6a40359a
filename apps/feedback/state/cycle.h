// SPDX-License-Identifier: Apache-2.0
/** What one cycle collects while its records come, and what is made of it afterwards: the orbit. */
#ifndef FEEDBACK_CYCLE_H
#define FEEDBACK_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

struct feedback_cycle {
    uint32_t rows;
    /** [row] error in nm, as it was used; 0 where it was not. */
    int32_t *error;
    /** Rows that came, and were not used as they came. */
    uint32_t *pending;
    /** [pending] error of that row, nm. */
    int32_t *leapt;
    /** [pending] the row leapt, and nothing else was wrong with it. */
    bool *is_leap;

    uint32_t pendings, leaps;
};

/** Squares over the cycles of a second, row by row. */
struct feedback_cumulated {
    /** [row] µm². */
    double *squares;

    uint32_t count, most;
    /** Averages over the last whole second, µm. */
    double x, y;
};

struct feedback_orbit {
    /** All in µm. */
    double rms_x, rms_y, worst_x, worst_y;
};

void feedback_cycle_clear(struct feedback_cycle *cycle);

static inline void feedback_cycle_pend(struct feedback_cycle *cycle, uint32_t row, int32_t error_nm, bool is_leap) {
    cycle->pending[cycle->pendings] = row;
    cycle->leapt[cycle->pendings] = error_nm;
    cycle->is_leap[cycle->pendings++] = is_leap;
    cycle->leaps += is_leap;
}

/** The orbit of the rows in use; `plane` is per row. */
struct feedback_orbit feedback_cycle_orbit(struct feedback_cycle const *cycle, char const *plane, bool const *is_used);

void feedback_cumulate(struct feedback_cumulated *cumulated, struct feedback_cycle const *cycle, char const *plane,
                       bool const *is_used);

#endif
