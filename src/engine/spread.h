// SPDX-License-Identifier: Apache-2.0
/** The spread role: deals the frames of one-queue devices out to software queues, which receive roles poll. */
#ifndef RM_ENGINE_SPREAD_H
#define RM_ENGINE_SPREAD_H

#include <stdint.h>

#include <ringmaster/counter.h>

#include "net/port.h"

struct rm_spread_role {
    uint32_t port_count;
    struct {
        struct rm_port *port;
        /** Set "port". */
        rm_counter *counters;
    } port[];
};

/** One turn of the duty cycle: one burst of every port. Returns the number of packets. */
uint32_t rm_spread_duty(void *spread, uint64_t tsc);

#endif
