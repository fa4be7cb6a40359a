// SPDX-License-Identifier: Apache-2.0
#include "engine/spread.h"

uint32_t rm_spread_duty(void *role, uint64_t tsc) {
    (void)tsc;
    struct rm_spread_role *spread = role;
    uint32_t packets = 0;
    for (uint32_t i = 0; i < spread->port_count; ++i) {
        uint64_t full = 0;
        packets += rm_port_spread(spread->port[i].port, &full);
        if (full != 0)
            rm_counter_add(spread->port[i].counters, RM_PORT_SPREAD_FULL, full);
    }
    return packets;
}
