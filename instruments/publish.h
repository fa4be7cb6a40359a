// SPDX-License-Identifier: Apache-2.0
/** What a virtual ring tells of itself: a segment of its own (owner "ring") beside the server's in the workspace, with
 * counters/sender/NAME per group of instruments, counters/sender/NAME/b for what it sends on a mirrored network,
 * counters/supply/NAME per chain of supplies, the stream machine/tune (tune_stream.h), and the parameters ring/turn_rate_hz, ring/turn_zero,
 * ring/ticks_per_turn, ring/tune_x, ring/tune_y, and supply/current: what the supplies truly do. What happens to it and
 * a living machine add the parameters of ring_control.h and machine_knobs.h. A ring that joins another is the owner "ring-2", and so are
 * its parameters. Without a workspace the same counters lie in private memory. */
#ifndef RM_INSTRUMENTS_PUBLISH_H
#define RM_INSTRUMENTS_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "fabric/segment_file.h"
#include "fellows.h"
#include "ring_config.h"
#include "ring_control.h"
#include "tune_stream.h"

struct rm_publication {
    char owner[RM_OWNER_BYTES];
    /** [group · networks + network] its block of the set `sender`. */
    rm_counter **counters;
    /** Number of blocks. */
    uint32_t count;

    uint32_t networks;
    /** [chain] its block of the set `supply`. */
    rm_counter **supply_counters;

    uint32_t chains, supplies;
    bool shared;
    /** Workspace where the segment is shared, from the configuration. */
    char const *workspace;

    bool has_turns, lock_step;
    /** Planned where there are instruments. */
    rm_planned_index turn_zero, ticks_per_turn;
    /** Planned where there are supplies. */
    rm_planned_index currents;
    /** Of the ring's own machine. */
    struct rm_tune_stream tunes;

    void *private_counters;
    struct rm_segment_plan plan;
    struct rm_segment segment;
    struct rm_ring_control control;
};

/** Opens the segment, or private memory, with all counters at 0. `ring->workspace` may be empty. `simulated` is false
 * where the beam is unknown (a replay). `machine` and `schedule` may be NULL. `fellows` may be NULL where the ring joins none: then
 * its owner is "ring". */
enum rm_code rm_publication_open(struct rm_ring_config const *ring, struct rm_fellows const *fellows,
                                 double turn_rate_hz, bool simulated, struct rm_machine *machine,
                                 struct rm_event_schedule *schedule, struct rm_publication *publication,
                                 struct rm_error *error);
void rm_publication_close(struct rm_publication *publication);

/** Publishes the time of the turns, when they begin. Rings in lock-step, and unpaced ones, publish that they share
 * none. */
void rm_publication_time(struct rm_publication *publication, struct rm_ring_time const *time);

/** Publishes the currents of all supplies; from one thread. */
void rm_publication_currents(struct rm_publication *publication, double const *currents);

#endif
