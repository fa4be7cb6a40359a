// SPDX-License-Identifier: Apache-2.0
/** A living machine as parameters: machine/KNOB, which people set while it runs, and what it publishes:
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
    /** NULL: there is no machine. */
    struct rm_machine *machine;
    /** [knob] its place in the plan. */
    rm_planned_index *planned;

    rm_planned_index reported[RM_MACHINE_READINGS];
    /** [knob] its parameter. */
    struct rm_parameter **parameter;

    struct rm_parameter *reading[RM_MACHINE_READINGS];
    /** [knob] the parameter of another ring that it follows, or NULL. */
    struct rm_parameter const **followed;

    struct rm_owner *owner;
    struct rm_inbox *inbox;
    atomic_bool ending;
    pthread_t thread;
    bool started;
};

/** Adds the published parameters to the plan of a segment. */
enum rm_code rm_machine_knobs_plan(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                   struct rm_segment_plan *plan, struct rm_error *error);

/** Follows the knobs of another ring's machine; call it instead of _plan and _start. `of` gives them by their names,
 * NULL where there is none. What `of` gives stays in use until rm_machine_knobs_stop. */
enum rm_code rm_machine_knobs_follow(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                     struct rm_fellows const *of, struct rm_error *error);

/** Writes the machine's knobs into the parameters, and begins to answer. The segment is open, and stays so. */
enum rm_code rm_machine_knobs_start(struct rm_knob_parameters *knobs, char const *workspace,
                                    struct rm_segment_plan const *plan, struct rm_segment const *segment,
                                    struct rm_error *error);

/** Ends the thread. It may be called where none was started. */
void rm_machine_knobs_stop(struct rm_knob_parameters *knobs);

#endif
