// SPDX-License-Identifier: Apache-2.0
/** What stands in this program in place of net/port.c: a burst that is always ready, and a link that takes everything. */
#ifndef RM_BENCH_COSTS_GIVEN_PORT_H
#define RM_BENCH_COSTS_GIVEN_PORT_H

#include "net/port.h"

enum { GIVEN_FRAME_BYTES = 256 };

struct rm_port {
    /** Frames of a burst from memory of their own, so many bytes apart. */
    uint8_t *in;

    uint32_t spacing_bytes;
    uint32_t length[RM_BURST];
    /** Frames that the next burst has. */
    uint32_t ready;
    /** Frames that were sent. */
    uint64_t sent;

    uint8_t out[RM_BURST][GIVEN_FRAME_BYTES];
};

static inline uint8_t *given_frame(struct rm_port *port, uint32_t i) { return port->in + i * port->spacing_bytes; }

#endif
