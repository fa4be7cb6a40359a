// SPDX-License-Identifier: Apache-2.0
#include "actions.h"

#include <math.h>
#include <string.h>

#include <ringmaster/errors.h>

static uint32_t actuator_of(struct rm_application_setup const *setup, char const *name) {
    uint32_t i = 0;
    while (i < setup->actuator_count && strcmp(setup->actuator_name[i], name) != 0)
        ++i;
    return i;
}

/** It must be able to be 0 and 1, or the value; and a permit from one to the other in one step. */
static enum rm_code check_reach(struct premortem_action const *action, struct rm_application_setup const *setup,
                                uint32_t at, struct rm_error *error) {
    char const *supply = setup->actuator_name[at];
    double const low = setup->actuator_low[at], high = setup->actuator_high[at];
    if (action->permit == NULL && (action->value < low || action->value > high))
        return rm_fail(error, RM_E_CONFIG, "%s: action %s: %g is not within the limits %g … %g of %s",
                       setup->configuration, action->name, action->value, low, high, supply);
    if (action->permit == NULL)
        return RM_OK;
    if (low > 0.0 || high < 1.0)
        return rm_fail(error, RM_E_CONFIG, "%s: action %s: a permit is 0 or 1, and %s has the limits %g … %g",
                       setup->configuration, action->name, supply, low, high);
    double const slew = setup->actuator_slew_per_step[at];
    if (slew >= 1.0)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "%s: action %s: %s changes by %g in one step, so the permit would not be withdrawn within a cycle; "
                   "expected 1: raise its slew and its safe_slew to %g per second at least",
                   setup->configuration, action->name, supply, slew, setup->turn_rate_hz / (double)setup->period_turns);
}

enum rm_code premortem_outputs_find(struct premortem_outputs *outputs, struct premortem_file const *file,
                                    struct rm_application_setup const *setup, struct rm_error *error) {
    *outputs = (struct premortem_outputs){.has_begun = false};
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->actions && code == RM_OK; ++i) {
        struct premortem_action const *action = &file->action[i];
        char const *supply = action->permit != NULL ? action->permit : action->supply;
        outputs->output[i].actuator = UINT32_MAX;
        if (supply == NULL)
            continue;
        uint32_t const at = actuator_of(setup, supply);
        if (at == setup->actuator_count)
            return rm_fail(error, RM_E_CONFIG, "%s: action %s: %s is not among the application's supplies",
                           setup->configuration, action->name, supply);
        for (uint32_t k = 0; k < i; ++k)
            if (outputs->output[k].actuator == at)
                return rm_fail(error, RM_E_CONFIG, "%s: action %s: %s is the supply of action %s already",
                               setup->configuration, action->name, supply, file->action[k].name);
        outputs->output[i].actuator = at;
        code = check_reach(action, setup, at, error);
    }
    return code;
}

/** It goes back where it was when nothing wants it any more. */
static void move_supply(struct premortem_output *output, double value, bool is_wanted, double *setpoint) {
    if (is_wanted && !output->is_on)
        output->before = *setpoint;
    if (is_wanted)
        *setpoint = value;
    else if (output->is_on)
        *setpoint = output->before;
    output->is_on = is_wanted;
}

void premortem_outputs_step(struct premortem_outputs *outputs, struct premortem_file const *file,
                            struct rm_step const *given, uint32_t wanted, bool resets, struct rm_command *command) {
    for (uint32_t i = 0; i < file->actions; ++i) {
        struct premortem_output *output = &outputs->output[i];
        bool const is_wanted = (wanted >> i & 1u) != 0;
        if (output->actuator == UINT32_MAX)
            continue;
        double const sent = given->sent[output->actuator];
        double *setpoint = &command->setpoint[output->actuator];
        if (file->action[i].permit == NULL) {
            move_supply(output, file->action[i].value, is_wanted, setpoint);
            continue;
        }
        if (!outputs->has_begun)
            premortem_permit_begin(&output->permit, sent);
        *setpoint = premortem_permit_step(&output->permit, sent, resets, is_wanted);
    }
    outputs->has_begun = true;
}

enum premortem_permit_state premortem_outputs_permit(struct premortem_outputs const *outputs,
                                                     struct premortem_file const *file, uint64_t *lost) {
    enum premortem_permit_state least = PREMORTEM_GIVEN;
    bool has_permit = false;
    *lost = 0;
    for (uint32_t i = 0; i < file->actions; ++i) {
        if (file->action[i].permit == NULL)
            continue;
        struct premortem_permit const *permit = &outputs->output[i].permit;
        has_permit = true;
        least = permit->state < least ? permit->state : least;
        *lost += permit->lost;
    }
    return has_permit ? least : PREMORTEM_WITHDRAWN;
}
