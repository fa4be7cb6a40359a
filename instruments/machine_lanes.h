// SPDX-License-Identifier: Apache-2.0
/** A living machine at the instruments of a ring: it steps as turns pass, and its orbit is in what the BPMs read. */
#ifndef RM_INSTRUMENTS_MACHINE_LANES_H
#define RM_INSTRUMENTS_MACHINE_LANES_H

#include <stdint.h>

#include "beam.h"
#include "machine.h"
#include "ring_config.h"

/** Where the supplies' currents come from: all of them, at turn `index` of the run. */
struct rm_machine_currents {
    void (*at)(void *state, uint64_t index, double *current);
    void *state;
};

struct rm_machine_lanes {
    struct rm_ring_config const *ring;
    struct rm_machine *machine;
    struct rm_machine_currents currents;
    /** [supply] current; 0 where there are no chains. */
    double *current;
    /** [BPM] reading in nm, at the last step. */
    int32_t (*reading)[2];
    /** [instrument] its first BPM; its BPMs stand together. [count] is the end. */
    uint32_t *first_bpm;
    /** Turn of the run at which the next step is due. */
    uint64_t due;

    double beam;
};

/** Puts the machine's tunes into the configuration of the beam; before the beam is made. */
void rm_machine_lanes_tune(struct rm_machine const *machine, struct rm_beam_config *beam);

/** Puts the machine's optics into the beam, so that turn-by-turn motion is that of the same lattice. Instruments that
 * send less often than every turn average over their period (rm_beam_average). All arguments stay in use.
 * RM_E_NO_SPACE. */
enum rm_code rm_machine_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine,
                                   struct rm_machine_currents const *currents, struct rm_beam *beam,
                                   struct rm_machine_lanes *lanes, struct rm_error *error);
void rm_machine_lanes_free(struct rm_machine_lanes *lanes);

/** Makes the steps that are due until turn `index` of the run: at the first turn, and at each whose number is a
 * multiple of step_turns. After a gap it makes only as many as a BPM's filter remembers. */
void rm_machine_lanes_advance(struct rm_machine_lanes *lanes, uint64_t index);

/** Adds the orbit to `values`, which rm_beam_turn gave for turn `index` of the run and `count` instruments from
 * `first` on. The steps until then must have been made. */
void rm_machine_lanes_add(struct rm_machine_lanes *lanes, struct rm_beam *beam, union rm_lane const *values,
                          uint64_t index, uint32_t first, uint32_t count);

#endif
