// SPDX-License-Identifier: Apache-2.0
#include "engine/housekeeping.h"

uint32_t rm_housekeeping_duty(void *role, uint64_t tsc) {
    struct rm_housekeeping *housekeeping = role;
    if (tsc < housekeeping->due_tsc)
        return 0;
    housekeeping->due_tsc = tsc + housekeeping->period_ticks;
    for (uint32_t i = 0; i < housekeeping->port_count; ++i) {
        struct rm_port_totals totals;
        rm_port_totals(housekeeping->port[i], &totals);
        rm_counter_set(housekeeping->counters[i], RM_PORT_KERNEL_MISSED, totals.missed + totals.errors);
    }
    return 0;
}
