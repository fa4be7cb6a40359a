// SPDX-License-Identifier: Apache-2.0
/** The housekeeping role: what must be done now and then and not on the hot path. */
#ifndef RM_ENGINE_HOUSEKEEPING_H
#define RM_ENGINE_HOUSEKEEPING_H

#include <stdint.h>

#include <ringmaster/counter.h>

#include "net/port.h"

struct rm_housekeeping {
    /** Whose own totals are read … */
    struct rm_port **port;
    /** … into these, set "port". */
    rm_counter **counters;

    uint32_t port_count;
    uint64_t due_tsc;
    uint64_t period_ticks;
};

/** One turn of the duty cycle; returns 0: it never counts as work. */
uint32_t rm_housekeeping_duty(void *housekeeping, uint64_t tsc);

#endif
