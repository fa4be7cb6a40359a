// SPDX-License-Identifier: Apache-2.0
/** A ring turn by turn: what happens at a turn, what moves, what is lost, and then what the instruments read of it. One
 * thread; the program of instruments and simulations make their turns by it alike.
 *
 *     events ─▶ machine (at its steps) ─▶ losses ─▶ readings: beam, supplies, machine, electronics, bad instruments
 */
#ifndef RM_INSTRUMENTS_RING_TURNS_H
#define RM_INSTRUMENTS_RING_TURNS_H

#include <stdint.h>

#include "bad_readings.h"
#include "beam.h"
#include "chains.h"
#include "event_schedule.h"
#include "machine_lanes.h"
#include "readouts.h"
#include "ring_config.h"

/** Supplies on the turns' time. */
struct rm_ring_turns_supplies {
    /** NULL: there are none, or none yet. */
    struct rm_chains *chains;
    /** When turn `index` of the run is, on the chains' clock, in s; what has arrived by then is obeyed when it
     * returns. */
    double (*reach)(void *state, uint64_t index);
    void *state;
};

struct rm_ring_turns {
    struct rm_ring_config const *ring;
    struct rm_event_schedule *schedule;
    struct rm_beam *beam;
    /** Without a machine its `machine` is NULL. */
    struct rm_machine_lanes *lanes;
    struct rm_ring_turns_supplies supplies;
    /** NULL: all BPMs' electronics are ideal. */
    struct rm_readouts *readouts;
    struct rm_bad_readings bad;
    /** The next turn of the run that was not made. */
    uint64_t next;
    /** The turn of the run whose readings are in hand. */
    uint64_t index;
};

/** Makes the turns of a ring; all arguments stay in use, `schedule` gets its `apply`. RM_E_NO_SPACE. */
enum rm_code rm_ring_turns_make(struct rm_ring_config const *ring, struct rm_event_schedule *schedule,
                                struct rm_beam *beam, struct rm_machine_lanes *lanes, struct rm_ring_turns *turns,
                                struct rm_error *error);
void rm_ring_turns_free(struct rm_ring_turns *turns);

/** Makes all turns until `index` of the run. */
void rm_ring_turns_reach(struct rm_ring_turns *turns, uint64_t index);

/** What `count` instruments from `first` on send of turn `index` of the run, as rm_turn_source gives it. Makes the
 * turns until then. */
union rm_lane const *rm_ring_turns_read(struct rm_ring_turns *turns, uint64_t index, uint32_t first, uint32_t count);

#endif
