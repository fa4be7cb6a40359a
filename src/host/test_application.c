// SPDX-License-Identifier: Apache-2.0
/** An application for the host's tests: adds up what it is given, and behaves badly on request. */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include <ringmaster/application.h>

#include "host/test_application.h"

static struct rm_setting const settings[TEST_SETTINGS] = {
    [TEST_OFFSET] = {.name = "offset",
                     .unit = "A",
                     .description = "added to where the supplies stood",
                     .limits = {.control_low = -10.0, .control_high = 10.0}},
    [TEST_GAIN] = {.name = "gain", .unit = "A/nm", .description = "of what the inputs say"},
    [TEST_MODE] = {.name = "mode", .description = "how it behaves: enum test_mode"},
    [TEST_ENABLE] = {.name = "enable",
                     .description = "does nothing",
                     .value = TEST_ENABLE_FIRST,
                     .limits = {.control_high = 1.0},
                     .is_permission = true},
};

static struct rm_reading const readings[TEST_READINGS] = {
    [TEST_TURN] = {.name = "turn", .unit = "turn", .description = "of the last step"},
    [TEST_STEPS] = {.name = "steps",
                    .description = "before the last one",
                    .limits = {.minor_high = 0.5, .major_high = 1.5}},
    [TEST_MISSING] = {.name = "missing", .description = "inputs that were"},
};

struct state {
    double stood[16];
    double sum;
};

static enum rm_code init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct state *it = state;
    it->sum = 0.0;
    if (setup->setting[TEST_MODE] != TEST_REFUSES_INIT)
        return RM_OK;
    snprintf(error->text, sizeof error->text, "the test wants it so");
    return RM_E_CONFIG;
}

static void misbehave(enum test_mode mode) {
    if (mode == TEST_CRASHES)
        raise(SIGSEGV);
    enum test_mode volatile const for_ever = mode;
    while (for_ever == TEST_FREEZES) {
        /* Until it is killed. */
    }
}

static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_command *command) {
    struct state *it = state;
    enum test_mode const mode = (enum test_mode)given->setting[TEST_MODE];
    misbehave(mode);
    for (uint32_t i = 0; i < setup->input_count; ++i)
        it->sum += given->is_missing[i] ? 0.0 : given->setting[TEST_GAIN] * (double)given->record[i].lane[0].i;
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        if (given->steps == 0)
            it->stood[i] = command->setpoint[i];
        command->setpoint[i] = mode == TEST_SAYS_NAN ? NAN : it->stood[i] + it->sum + given->setting[TEST_OFFSET];
    }
    command->reading[TEST_TURN] = (double)given->turn;
    command->reading[TEST_STEPS] = (double)given->steps;
    command->reading[TEST_MISSING] = given->missing;
    return mode == TEST_IS_QUIET ? RM_STEP_QUIET : RM_STEP_SEND;
}

static bool accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error) {
    (void)setup;
    (void)state;
    if (setting[TEST_OFFSET] * setting[TEST_GAIN] <= 1.0)
        return true;
    if (error != NULL)
        snprintf(error->text, sizeof error->text, "offset times gain is above 1");
    return false;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = TEST_ABI_VERSION,
    .state_bytes = sizeof(struct state),
    .settings = settings,
    .setting_count = TEST_SETTINGS,
    .reading_count = TEST_READINGS,
    .readings = readings,
    .init = init,
    .step = TEST_STEP,
    .accept = accept,
};
