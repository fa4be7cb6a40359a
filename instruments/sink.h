// SPDX-License-Identifier: Apache-2.0
/** Where a sender's bursts go: a port (port_sinks.h), or an array of a test. The functions are those of net/port.h. */
#ifndef RM_INSTRUMENTS_SINK_H
#define RM_INSTRUMENTS_SINK_H

#include <stdbool.h>

#include "net/port.h"

struct rm_sink {
    enum rm_framing framing;
    /** As rm_port_reserve. */
    uint32_t (*reserve)(void *state, struct rm_burst *burst, uint32_t count);
    /** As rm_port_send. */
    uint32_t (*send)(void *state, struct rm_burst *burst);
    /** As rm_port_release. */
    void (*release)(void *state, struct rm_burst *burst);
    /** False: the link is down, takes nothing, and waiting for it is of no use. */
    bool (*link_up)(void *state);

    void *state;
};

#endif
