// SPDX-License-Identifier: Apache-2.0
/** A living machine at the instruments of a ring: it steps as turns pass, and its orbit is in what the BPMs read. */
#ifndef RM_INSTRUMENTS_MACHINE_LANES_H
#define RM_INSTRUMENTS_MACHINE_LANES_H

#include <stdint.h>

#include "beam.h"
#include "loss_lanes.h"
#include "machine.h"
#include "ring_config.h"

/** Where the supplies' currents come from, at turn `index` of the run: all of them, or `count` that are named by their
 * indices. `index` never goes back. */
struct rm_machine_currents {
    void (*at)(void *state, uint64_t index, double *current);
    void (*of)(void *state, uint64_t index, uint32_t const *supply, uint32_t count, double *current);
    void *state;
};

enum { RM_MACHINE_TUNE_TURNS = 512 };

/** Is told the machine's own tunes at each turn that is a multiple of RM_MACHINE_TUNE_TURNS. `put` NULL: nothing is. */
struct rm_machine_tune_listener {
    void (*put)(void *state, rm_turn turn, double const tune[2]);
    void *state;
};

struct rm_machine_lanes {
    struct rm_ring_config const *ring;
    struct rm_machine *machine;
    struct rm_machine_currents currents;
    /** [supply] current; 0 where there are no chains. */
    double *current;
    /** [strength] supply that changes gradients, and its current. */
    uint32_t *strength_supply;
    double *strength;
    uint32_t strength_count;
    /** Turns after which the tunes are those of the magnets again. */
    uint32_t strength_turns;

    struct rm_beam *shown;
    /** From one look of the background to the next, of the machine's time; 0: a thread looks by itself. And how many have
     * been due. */
    double look_s;
    uint64_t looks_due;
    /** Number of the look by which the BPMs see the motion. */
    uint64_t look;
    /** [BPM] reading in nm, at the last step. */
    int32_t (*reading)[2];
    /** [instrument] its first BPM; its BPMs stand together. [count] is the end. */
    uint32_t *first_bpm;
    /** Turn of the run at which the next step is due. */
    uint64_t due;
    /** Turn at which the machine's time began: the run's first, or that of the run which it goes on with. */
    rm_turn origin;

    struct rm_machine_tune_listener listener;
    double beam;
    /** What is lost of it, and tells of that. */
    struct rm_loss_lanes loss;
};

/** Puts the machine's tunes into the configuration of the beam; before the beam is made. */
void rm_machine_lanes_tune(struct rm_machine const *machine, struct rm_beam_config *beam);

/** Makes the beam follow the machine's motion, as its BPMs see it, at rest at the ring's first turn. Instruments that
 * send less often than every turn average over their period (rm_beam_average). All arguments stay in use.
 * RM_E_NO_SPACE. */
enum rm_code rm_machine_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine,
                                   struct rm_machine_currents const *currents, struct rm_beam *beam,
                                   struct rm_machine_lanes *lanes, struct rm_error *error);
void rm_machine_lanes_free(struct rm_machine_lanes *lanes);

/** Lets the stepping thread look by itself, every `look_s` of the machine's time, instead of a thread beside: then all
 * that the machine does is a function of turns and setpoints. */
void rm_machine_lanes_look_by_turns(struct rm_machine_lanes *lanes, double look_s);

/** Again at rest at the ring's first turn, which has changed: the ring has joined another one. */
void rm_machine_lanes_begin(struct rm_machine_lanes *lanes);

/** Writes the machine as it is after the last turn that was made, while no background runs; and makes it what a file
 * says, before the first turn. Then `*first_turn` is the turn after it. Errors as rm_machine_load has them; another one
 * than RM_E_NOT_FOUND leaves lanes that must not be used. */
enum rm_code rm_machine_lanes_save(struct rm_machine_lanes const *lanes, char const *path, struct rm_error *error);
enum rm_code rm_machine_lanes_load(struct rm_machine_lanes *lanes, char const *path, rm_turn *first_turn,
                                   struct rm_error *error);

/** Makes the turns until turn `index` of the run, before rm_beam_turn reads it: the beam's own motion in each, and the
 * steps of the orbit that are due, at the first turn and at each whose number is a multiple of step_turns. After a gap
 * it makes only as many steps as a BPM's filter remembers, and enters the motion anew (oscillation.h). */
void rm_machine_lanes_advance(struct rm_machine_lanes *lanes, uint64_t index);

/** Adds the orbit to `values`, which rm_beam_turn gave for `count` instruments from `first` on, and the turn up to which
 * steps were made. */
void rm_machine_lanes_add(struct rm_machine_lanes *lanes, struct rm_beam *beam, union rm_lane const *values,
                          uint32_t first, uint32_t count);

#endif
