// SPDX-License-Identifier: Apache-2.0
/** An application for the host's tests that uses all that is for those in a latency-critical. Its own file holds one
 * number: how long its arrays are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/application.h>

#include "host/test_latency_critical.h"

static struct rm_setting const settings[CRITICAL_SETTINGS] = {
    [CRITICAL_SCALE] = {.name = "scale", .unit = "A/nm", .description = "of the sum", .value = 0.5},
    [CRITICAL_WEIGHT] = {.name = "weight",
                         .description = "of each",
                         .limits = {.control_low = -100.0, .control_high = 100.0},
                         .is_array = true},
    [CRITICAL_OFFSET] = {.name = "off_set", .unit = "A", .description = "behind an array"},
};

static struct rm_reading const readings[CRITICAL_READINGS] = {
    [CRITICAL_SUM] = {.name = "sum", .unit = "nm", .description = "of all that arrived"},
    [CRITICAL_ECHO] = {.name = "echo", .description = "the weights, and the step before the first", .is_array = true},
    [CRITICAL_ARRIVED] = {.name = "arrived", .description = "records in the last cycle"},
    [CRITICAL_TWICE] = {.name = "twice", .description = "records that came twice, or were none of this cycle"},
};

static struct rm_application_stream const streams[] = {
    {.name = "total", .description = "what it added up", .lane = {{"sum", "nm"}, {"missing", ""}, {"order", ""}}},
    {.name = "constant", .description = "always the same", .lane = {{"seven", "V"}}},
};

static struct rm_application_rows const rows[] = {
    {.name = "profile", .description = "the sum, and steps from it"},
    {.name = "absent", .description = "the shape says that there are none"},
};

static void shape(struct rm_application_setup const *setup, uint32_t which, struct rm_rows_shape *shape) {
    (void)setup;
    if (which == 0)
        *shape = (struct rm_rows_shape){.width = CRITICAL_ROW_WIDTH,
                                        .depth = 3,
                                        .period_steps = CRITICAL_ROW_STEPS,
                                        .unit = "nm",
                                        .axis_first = 0.5,
                                        .axis_step = 0.25,
                                        .axis_name = "place",
                                        .axis_unit = "m",
                                        .delay_turns = 12.5};
}

struct state {
    double stood[1024];
    double sum;
    double order; /**< depends on the order of arrival, for the test to see it */
    uint32_t arrived, twice;
    rm_turn turn;
    uint8_t has_come[1024];
};

static enum rm_code open_it(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    FILE *file = setup->configuration != NULL ? fopen(setup->configuration, "r") : NULL;
    struct critical_memory *made = calloc(1, sizeof *made);
    bool const good = file != NULL && made != NULL && fscanf(file, "%u", &made->length) == 1;
    if (file != NULL)
        fclose(file);
    if (!good) {
        free(made);
        snprintf(error->text, sizeof error->text, "%s: no number in it",
                 setup->configuration != NULL ? setup->configuration : "no file");
        return RM_E_CONFIG;
    }
    snprintf(made->closed, sizeof made->closed, "%s.closed", setup->configuration);
    *memory = made;
    return RM_OK;
}

static void close_it(void *memory) {
    struct critical_memory *it = memory;
    FILE *file = fopen(it->closed, "w");
    if (file != NULL)
        fclose(file);
    free(it);
}

static uint32_t length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    (void)is_reading;
    (void)index;
    return ((struct critical_memory const *)setup->memory)->length;
}

static void first(struct rm_application_setup const *setup, uint32_t setting, double *values) {
    for (uint32_t i = 0; i < setup->setting_length[setting]; ++i)
        values[i] = 0.125 * i;
}

static bool accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error) {
    (void)state;
    double sum = 0.0;
    for (uint32_t i = 0; i < setup->setting_length[CRITICAL_WEIGHT]; ++i)
        sum += setting[setup->setting_at[CRITICAL_WEIGHT] + i] > 99.0;
    if (sum <= 1.0)
        return true;
    if (error != NULL)
        snprintf(error->text, sizeof error->text, "two weights are above 99");
    return false;
}

static void arrive(struct rm_application_setup const *setup, void *state, uint32_t input,
                   struct rm_record const *record) {
    (void)setup;
    struct state *it = state;
    if (it->has_come[input] || (it->arrived > 0 && record->turn != it->turn))
        ++it->twice;
    it->has_come[input] = 1;
    it->turn = record->turn;
    ++it->arrived;
    it->sum += (double)record->lane[0].i;
    it->order = 2.0 * it->order + input;
}

static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_command *command) {
    struct state *it = state;
    if (it->arrived > 0 && it->turn != given->turn)
        ++it->twice;
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        if (given->steps == 0)
            it->stood[i] = command->setpoint[i];
        command->setpoint[i] = it->stood[i] + given->setting[setup->setting_at[CRITICAL_SCALE]] * it->sum +
                               given->setting[setup->setting_at[CRITICAL_OFFSET]];
    }
    return RM_STEP_SEND;
}

static void prepare(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                    struct rm_command *command) {
    struct state *it = state;
    command->reading[setup->reading_at[CRITICAL_SUM]] = it->sum;
    command->reading[setup->reading_at[CRITICAL_ARRIVED]] = it->arrived;
    command->reading[setup->reading_at[CRITICAL_TWICE]] = it->twice;
    double *echo = command->reading + setup->reading_at[CRITICAL_ECHO];
    memcpy(echo, given->setting + setup->setting_at[CRITICAL_WEIGHT],
           setup->reading_length[CRITICAL_ECHO] * sizeof echo[0]);
    echo[0] = (double)given->steps;
    command->stream[0][CRITICAL_LANE_SUM] = (float)it->sum;
    command->stream[0][CRITICAL_LANE_MISSING] = (float)given->missing;
    command->stream[0][CRITICAL_LANE_ORDER] = (float)it->order;
    command->stream[1][0] = 7.0f;
    for (uint32_t i = 0; command->row[0].value != NULL && i < CRITICAL_ROW_WIDTH; ++i)
        command->row[0].value[i] = (float)(it->sum + i);
    command->row[0].quality = given->missing;
    it->sum = 0.0;
    it->order = 0.0;
    it->arrived = 0;
    memset(it->has_come, 0, sizeof it->has_come);
}

static void work(struct rm_application_setup const *setup) {
    struct critical_memory *it = setup->memory;
    atomic_fetch_add(&it->worked, 1);
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct state),
    .settings = settings,
    .setting_count = CRITICAL_SETTINGS,
    .reading_count = CRITICAL_READINGS,
    .readings = readings,
    .step = step,
    .accept = accept,
    .streams = streams,
    .stream_count = sizeof streams / sizeof streams[0],
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
    .shape = shape,
    .open = open_it,
    .close = close_it,
    .length = length,
    .first = first,
    .arrive = arrive,
    .prepare = prepare,
    .work = work,
};
