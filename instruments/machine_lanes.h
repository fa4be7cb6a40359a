// SPDX-License-Identifier: Apache-2.0
/** A living machine at the instruments of a ring: it steps as turns pass, and its orbit is in what the BPMs read. */
#ifndef RM_INSTRUMENTS_MACHINE_LANES_H
#define RM_INSTRUMENTS_MACHINE_LANES_H

#include <stdint.h>

#include "beam.h"
#include "machine.h"
#include "ring_config.h"

/** Where the supplies' currents are from: all of them, at turn `index` of the run. */
struct rm_machine_currents {
    void (*at)(void *state, uint64_t index, double *current);
    void *state;
};

struct rm_machine_lanes {
    struct rm_ring_config const *ring;
    struct rm_machine *machine;
    struct rm_machine_currents currents;
    /** Of each supply, 0 where there are no chains. */
    double *current;
    /** nm, of each BPM, as of the last step. */
    int32_t (*reading)[2];
    /** [instrument]: of its BPMs, which stand together; [count] the end. */
    uint32_t *first_bpm;
    /** Turn of the run of the next step. */
    uint64_t due;

    double beam;
};

/** Takes the machine's tunes over into the configuration of the beam; before that is made. */
void rm_machine_lanes_tune(struct rm_machine const *machine, struct rm_beam_config *beam);

/** Takes the machine's optics over into the beam, so that turn-by-turn motion is of the same lattice. Instruments that
 * send less often than every turn have averaged over their period (rm_beam_average). All arguments stay in use.
 * RM_E_NO_SPACE. */
enum rm_code rm_machine_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine,
                                   struct rm_machine_currents const *currents, struct rm_beam *beam,
                                   struct rm_machine_lanes *lanes, struct rm_error *error);
void rm_machine_lanes_free(struct rm_machine_lanes *lanes);

/** Makes the steps that are due until turn `index` of the run: at the first, and at each whose number is a multiple of
 * step_turns. After a gap only so many as a BPM's filter remembers. */
void rm_machine_lanes_advance(struct rm_machine_lanes *lanes, uint64_t index);

/** Adds to what rm_beam_turn gave as `values` for turn `index` of the run and `count` instruments from `first` on,
 * after the steps until then. */
void rm_machine_lanes_add(struct rm_machine_lanes *lanes, struct rm_beam *beam, union rm_lane const *values,
                          uint64_t index, uint32_t first, uint32_t count);

#endif
