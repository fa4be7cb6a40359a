// SPDX-License-Identifier: Apache-2.0
/** Frames for a measurement: native datagrams of all instruments, turn after turn, into a port that gives them back.
 *
 * Every instrument sends once per turn, in an order that is another for each turn, or always that of the configuration.
 * A turn may be cut by the end of a fill: the next goes on where it stopped.
 */
#ifndef RM_BENCH_MEASURE_FEED_H
#define RM_BENCH_MEASURE_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

#include "config/config.h"

struct rm_measure_feed {
    struct rm_config const *config;
    /** Port whose queue 0 is filled; it may be exchanged between fills. */
    struct rm_port *port;
    /** VLAN of the frames; 0: untagged. */
    uint16_t vlan;

    bool shuffled;
    /** Order of this turn: indices into config->instrument. */
    uint32_t *order;
    /** Index into `order` of the next datagram. */
    uint32_t next;

    rm_turn turn;
    /** State of the shuffle. */
    uint64_t random;
};

/** Makes a feed for a configuration that rm_measure_prepare has accepted. False when there is no memory. Call
 * rm_measure_feed_free in any case. */
bool rm_measure_feed_init(struct rm_measure_feed *feed, struct rm_config const *config, uint32_t port_index,
                          bool shuffled);
void rm_measure_feed_free(struct rm_measure_feed *feed);

/** Sends `datagrams`. Returns how many the port took: fewer when its ring or its pool is too small. */
uint32_t rm_measure_feed_fill(struct rm_measure_feed *feed, uint32_t datagrams);

/** Bytes of an instrument's frame. */
uint32_t rm_measure_frame_bytes(struct rm_config const *config, uint32_t instrument);

#endif
