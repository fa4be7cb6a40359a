// SPDX-License-Identifier: Apache-2.0
/* The spread role: deals the frames of one-queue devices out to software queues, which receive roles poll. */
#include <stdlib.h>

#include "engine/role.h"
#include "engine/server_state.h"

struct spread {
    uint32_t port_count;
    struct {
        struct rm_port *port;
        rm_counter *counters; /**< set "port" */
    } port[];
};

/** One burst of every port. Returns the number of packets. */
static uint32_t spread_duty(void *made, uint64_t tsc) {
    (void)tsc;
    struct spread *const spread = made;
    uint32_t packets = 0;
    for (uint32_t i = 0; i < spread->port_count; ++i) {
        uint64_t full = 0;
        packets += rm_port_spread(spread->port[i].port, &full);
        if (full != 0)
            rm_counter_add(spread->port[i].counters, RM_PORT_SPREAD_FULL, full);
    }
    return packets;
}

static enum rm_code spread_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    struct rm_config_role const *role = &server->config->role[index];
    struct spread *spread = calloc(1, sizeof *spread + role->queue_count * sizeof spread->port[0]);
    *made = spread;
    if (spread == NULL)
        return rm_server_no_memory(error);
    for (; spread->port_count < role->queue_count; ++spread->port_count) {
        struct rm_server_port const *port = &server->port[role->queue[spread->port_count].port];
        spread->port[spread->port_count].port = port->port;
        spread->port[spread->port_count].counters = port->counters;
    }
    return RM_OK;
}

struct rm_role const rm_role_spread = {.make = spread_make, .duty = spread_duty, .free = free};
