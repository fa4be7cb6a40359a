// SPDX-License-Identifier: Apache-2.0
/** The application of host_cost.c: next to nothing, so that what is measured is the host. */
#include <ringmaster/application.h>

enum { FULL, SETTINGS };

static struct rm_setting const settings[SETTINGS] = {
    [FULL] = {.name = "full", .description = "1: writes each setpoint; 0: the first alone"},
};

struct state {
    int64_t sum;
};

static void host_cost_application_arrive(struct rm_application_setup const *setup, void *state, uint32_t input,
                                         struct rm_record const *record) {
    (void)setup;
    (void)input;
    struct state *it = state;
    it->sum += record->lane[0].i;
}

static enum rm_step_result host_cost_application_step(struct rm_application_setup const *setup, void *state,
                                                      struct rm_step const *given, struct rm_command *command) {
    struct state *it = state;
    uint32_t const count = given->setting[FULL] != 0.0 ? setup->actuator_count : 1;
    double const value = (double)it->sum;
    for (uint32_t i = 0; i < count; ++i)
        command->setpoint[i] = value;
    return RM_STEP_SEND;
}

static void host_cost_application_prepare(struct rm_application_setup const *setup, void *state,
                                          struct rm_step const *given, struct rm_command *command) {
    (void)setup;
    (void)given;
    struct state *it = state;
    command->stream[0][0] = (float)it->sum;
    it->sum = 0;
}

static struct rm_application_stream const streams[] = {
    {.name = "sum", .description = "of all inputs", .lane = {{"sum", "nm"}}},
};

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct state),
    .settings = settings,
    .setting_count = SETTINGS,
    .step = host_cost_application_step,
    .streams = streams,
    .stream_count = 1,
    .arrive = host_cost_application_arrive,
    .prepare = host_cost_application_prepare,
};
