// SPDX-License-Identifier: Apache-2.0
/** The recorded streams that a simulation leaves, as a recorder of a server and its application would: the inputs, and
 * the decision record of each step (ringmaster/decision.h). They lie in OUT/recorded, a file each (recorded_file.h).
 */
#ifndef RM_SIMULATION_DECISIONS_H
#define RM_SIMULATION_DECISIONS_H

#include <stdio.h>

#include <ringmaster/error.h>

#include "host/host_decision.h"

#define RM_DECISIONS_FOLDER "recorded"

struct rm_simulation_decisions {
    /** NULL: they are not wanted. */
    struct rm_host_program const *program;
    struct rm_host_decisions decisions;
    /** [input], and [stream of the decision record]. */
    FILE **input, **own;
    char *folder;
    /** Settings have changed since the last step. */
    bool has_changed;
};

/** Makes the files. The program has its inputs. */
enum rm_code rm_simulation_decisions_open(struct rm_simulation_decisions *decisions, char const *out,
                                          struct rm_host_program const *program, struct rm_error *error);

/* Those below do nothing where they are not wanted. */

/** Before each step: it has adopted what has changed, and an init where it `begins`. RM_E_NO_SPACE: so much has changed
 * within a few steps that it cannot be told. */
enum rm_code rm_simulation_decisions_adopt(struct rm_simulation_decisions *decisions, bool begins,
                                           struct rm_error *error);

/** After a step, before the next command is expected. */
static inline uint32_t rm_simulation_decisions_setpoints(struct rm_simulation_decisions const *decisions, bool sends) {
    return decisions->program != NULL ? rm_host_decisions_setpoints(&decisions->decisions, sends) : 0;
}

/** After `prepare`. */
void rm_simulation_decisions_record(struct rm_simulation_decisions *decisions, bool sends, uint32_t setpoints);

/** Closes the files. RM_E_SYSTEM when something could not be written. */
enum rm_code rm_simulation_decisions_close(struct rm_simulation_decisions *decisions, struct rm_error *error);

#endif
