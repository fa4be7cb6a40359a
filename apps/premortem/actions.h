// SPDX-License-Identifier: Apache-2.0
/** What alarms do with the application's own supplies, in the vector of the same step: permits are withdrawn, supplies
 * go to their value. docs/premortem.md has what follows on the way to the supply. */
#ifndef PREMORTEM_ACTIONS_H
#define PREMORTEM_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>

#include "file.h"
#include "law/permit.h"

struct premortem_output {
    /** Index of the supply; UINT32_MAX: the action is a request. */
    uint32_t actuator;
    /** Of a permit. */
    struct premortem_permit permit;
    /** Of a supply that stands at the action's value: where it stood before. */
    double before;
    bool is_on;
};

struct premortem_outputs {
    struct premortem_output output[PREMORTEM_ACTIONS_MAX];
    bool has_begun;
};

/** Finds the supplies of all actions. RM_E_CONFIG where one is not the application's, cannot be what the action wants, or
 * cannot get there within one step. */
enum rm_code premortem_outputs_find(struct premortem_outputs *outputs, struct premortem_file const *file,
                                    struct rm_application_setup const *setup, struct rm_error *error);

/** One step: `wanted` has a bit for each action that an alarm does now; `resets`: a person resets. */
void premortem_outputs_step(struct premortem_outputs *outputs, struct premortem_file const *file,
                            struct rm_step const *given, uint32_t wanted, bool resets, struct rm_command *command);

/** The permit that is least given, and all that were lost; PREMORTEM_WITHDRAWN without any. */
enum premortem_permit_state premortem_outputs_permit(struct premortem_outputs const *outputs,
                                                     struct premortem_file const *file, uint64_t *lost);

#endif
