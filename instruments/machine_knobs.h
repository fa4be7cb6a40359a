// SPDX-License-Identifier: Apache-2.0
/** A living machine as parameters: machine/KNOB, which people set while it runs, and what it publishes:
 * machine/orbit_rms_x and _y, machine/tune_x and _y, machine/refresh_ms, machine/failures, machine/current_ma. The ring's control thread
 * (ring_control.h) calls all this. */
#ifndef RM_INSTRUMENTS_MACHINE_KNOBS_H
#define RM_INSTRUMENTS_MACHINE_KNOBS_H

#include "fabric/segment_file.h"
#include "fellows.h"
#include "machine.h"

enum { RM_MACHINE_READINGS = 7 };

struct rm_knob_parameters {
    /** NULL: there is no machine. */
    struct rm_machine *machine;
    /** [knob] its place in the plan. */
    rm_planned_index *planned;

    rm_planned_index reported[RM_MACHINE_READINGS];
    /** [knob] its parameter; NULL: the knobs are another ring's. */
    struct rm_parameter **parameter;

    struct rm_parameter *reading[RM_MACHINE_READINGS];
    /** [knob] the parameter of another ring that it follows, or NULL. */
    struct rm_parameter const **followed;
    /** [knob] its sequence when it was taken last. */
    uint64_t *taken;
};

/** Adds the published parameters to the plan of a segment. `machine` may be NULL. */
enum rm_code rm_machine_knobs_plan(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                   struct rm_segment_plan *plan, struct rm_error *error);

/** Writes the machine's knobs into the parameters of an open segment. */
void rm_machine_knobs_place(struct rm_knob_parameters *knobs, struct rm_segment_plan const *plan,
                            struct rm_segment const *segment);

/** Follows the knobs of another ring's machine, in place of _plan and _place. `of` gives them by their names, NULL
 * where there is none. What `of` gives stays in use until rm_machine_knobs_free. */
enum rm_code rm_machine_knobs_follow(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                     struct rm_fellows const *of, struct rm_error *error);

/** Gives the machine what was set at the other ring since the last call. */
void rm_machine_knobs_take(struct rm_knob_parameters *knobs);

/** Gives the machine the knob whose parameter this is, after it was set. Other names are none. */
void rm_machine_knobs_turn(struct rm_knob_parameters *knobs, char const *parameter);

/** Publishes what the machine says of itself. */
void rm_machine_knobs_publish(struct rm_knob_parameters *knobs);
void rm_machine_knobs_free(struct rm_knob_parameters *knobs);

#endif
