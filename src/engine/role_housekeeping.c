// SPDX-License-Identifier: Apache-2.0
/* The housekeeping role: what must be done now and then, and not on the hot path. */
#include <stdlib.h>

#include "engine/role.h"
#include "engine/server_state.h"

static double const HOUSEKEEPING_SECONDS = 0.1;

struct housekeeping {
    uint64_t due_tsc;
    uint64_t period_ticks;
    uint32_t port_count;
    struct rm_server_port *port; /**< whose own totals are read into their sets "port" */
};

/** Returns 0: it never counts as work. */
static uint32_t housekeeping_duty(void *made, uint64_t tsc) {
    struct housekeeping *const housekeeping = made;
    if (tsc < housekeeping->due_tsc)
        return 0;
    housekeeping->due_tsc = tsc + housekeeping->period_ticks;
    for (uint32_t i = 0; i < housekeeping->port_count; ++i) {
        struct rm_port_statistics totals;
        if (housekeeping->port[i].port == NULL)
            continue; /* of cameras, which the server does not open */
        rm_port_totals(housekeeping->port[i].port, &totals);
        rm_counter_set(housekeeping->port[i].counters, RM_PORT_KERNEL_MISSED, totals.missed + totals.errors);
        atomic_store_explicit(&housekeeping->port[i].link_up, totals.link_up, memory_order_relaxed);
    }
    return 0;
}

static enum rm_code housekeeping_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    (void)index;
    struct housekeeping *const housekeeping = *made = malloc(sizeof *housekeeping);
    if (housekeeping == NULL)
        return rm_server_no_memory(error);
    *housekeeping = (struct housekeeping){.period_ticks = (uint64_t)(HOUSEKEEPING_SECONDS * server->tsc_hz),
                                          .port_count = server->config->port_count,
                                          .port = server->port};
    return RM_OK;
}

struct rm_role const rm_role_housekeeping = {.make = housekeeping_make, .duty = housekeeping_duty, .free = free};
