// SPDX-License-Identifier: Apache-2.0
/** A living machine as parameters: machine/KNOB, which people set while it runs, and what it says of itself:
 * machine/orbit_rms_x and _y, machine/tune_x and _y, machine/refresh_ms, machine/failures. A thread answers requests
 * and publishes, so that the sending loop does neither. */
#ifndef RM_INSTRUMENTS_MACHINE_KNOBS_H
#define RM_INSTRUMENTS_MACHINE_KNOBS_H

#include <pthread.h>
#include <stdatomic.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>

#include "fabric/segment_file.h"
#include "fellows.h"
#include "machine.h"

enum { RM_MACHINE_READINGS = 6 };

struct rm_knob_parameters {
    /** NULL: none. */
    struct rm_machine *machine;
    /** Of each knob. */
    rm_planned_index *planned;

    rm_planned_index reported[RM_MACHINE_READINGS];
    /** Of each knob. */
    struct rm_parameter **parameter;

    struct rm_parameter *reading[RM_MACHINE_READINGS];
    /** Of each knob, or NULL; where another ring's are followed. */
    struct rm_parameter const **followed;

    struct rm_owner *owner;
    struct rm_inbox *inbox;
    atomic_bool ending;
    pthread_t thread;
    bool started;
};

/** Adds what is published to the plan of a segment. */
enum rm_code rm_machine_knobs_plan(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                   struct rm_segment_plan *plan, struct rm_error *error);

/** Follows the knobs of another ring's machine, which `of` gives by their names, NULL where it has none such; instead
 * of the two others. What `of` gives stays until rm_machine_knobs_stop. */
enum rm_code rm_machine_knobs_follow(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                     struct rm_fellows const *of, struct rm_error *error);

/** Writes the knobs as the machine has them, and begins to answer; the segment is open and stays so. */
enum rm_code rm_machine_knobs_start(struct rm_knob_parameters *knobs, char const *workspace,
                                    struct rm_segment_plan const *plan, struct rm_segment const *segment,
                                    struct rm_error *error);

/** Also where it was not started. */
void rm_machine_knobs_stop(struct rm_knob_parameters *knobs);

#endif
