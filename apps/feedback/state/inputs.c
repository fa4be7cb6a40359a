// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <string.h>

#include <ringmaster/errors.h>

/** What is looked through, one input after the other. */
struct input_search {
    struct feedback_configuration const *configuration;
    struct rm_application_setup const *setup;
    struct feedback_input *inputs;
    struct rm_error *error;
    uint32_t others; /**< setpoints of another system found so far */
};

static double unit_in_nm(char const *unit) {
    static struct {
        char const *name;
        double nm;
    } const units[] = {{"nm", 1.0}, {"um", 1e3}, {"µm", 1e3}, {"mm", 1e6}, {"m", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].nm;
    return 0.0;
}

/** "bpm01/x1" of "bpm01/raw" and "x1"? */
static bool is_row_of_lane(char const *row, char const *input, char const *lane) {
    char const *slash = strrchr(input, '/');
    size_t const instrument = slash != NULL ? (size_t)(slash - input) : strlen(input);
    return strncmp(row, input, instrument) == 0 && row[instrument] == '/' && strcmp(row + instrument + 1, lane) == 0;
}

static uint32_t matrix_row_of(struct rm_table const *matrix, char const *input, char const *lane) {
    uint32_t row = 0;
    while (row < matrix->rows && !is_row_of_lane(matrix->row_name[row], input, lane))
        ++row;
    return row;
}

static bool is_sum(struct feedback_configuration const *configuration, char const *lane) {
    for (uint32_t i = 0; i < configuration->enable_conditions.beam.lanes; ++i)
        if (strcmp(configuration->enable_conditions.beam.lane[i], lane) == 0)
            return true;
    return false;
}

static void add_tables(struct input_search const *search, uint32_t i, struct feedback_lane lane, char const *name) {
    struct feedback_input *input = &search->inputs[i];
    for (uint32_t t = 0; t < search->configuration->table_count; ++t) {
        struct feedback_table const *table = &search->configuration->table[t];
        if (strcmp(table->input, search->setup->input_name[i]) != 0 || strcmp(table->lane, name) != 0 ||
            input->tables == RM_LANES)
            continue;
        lane.what = t;
        input->table[input->tables++] = lane;
    }
}

static enum rm_code add_lane(struct input_search const *search, uint32_t i, uint32_t at) {
    struct rm_lane_info const *info = &search->setup->input[i]->lane[at];
    struct feedback_input *input = &search->inputs[i];
    struct rm_table const *matrix = &search->configuration->matrix;
    char const *const name = search->setup->input_name[i];
    struct feedback_lane lane = {.at = at, .is_float = info->type == RM_LANE_F32, .to_unit = 1.0};
    if (info->type == RM_LANE_UNUSED)
        return RM_OK;
    add_tables(search, i, lane, info->name);
    struct feedback_gate_configuration const *gate = &search->configuration->gate;
    if (gate->input != NULL && strcmp(gate->input, name) == 0 && strcmp(gate->lane, info->name) == 0)
        input->gate_lane = (int32_t)at;
    if (is_sum(search->configuration, info->name))
        input->sum[input->sums++] = lane;
    lane.what = matrix_row_of(matrix, name, info->name);
    if (lane.what == matrix->rows)
        return RM_OK;
    lane.to_unit = unit_in_nm(info->unit);
    if (lane.to_unit == 0.0)
        return rm_fail(search->error, RM_E_CONFIG,
                       "%s of the input %s is a row of the response matrix, but its unit is \"%s\"; nm, um, mm or m "
                       "was expected",
                       info->name, name, info->unit);
    input->row[input->rows++] = lane;
    return RM_OK;
}

/** Readbacks of a chain: what is f32 in them are currents, in the order of actuators. */
static void add_others(struct input_search *search, uint32_t i) {
    struct feedback_input *input = &search->inputs[i];
    for (uint32_t at = 0; at < RM_LANES && search->others < search->setup->actuator_count; ++at)
        if (search->setup->input[i]->lane[at].type == RM_LANE_F32)
            input->other[input->others++] =
                (struct feedback_lane){.at = at, .is_float = true, .to_unit = 1.0, .what = search->others++};
}

static enum rm_code find_others(struct input_search *search) {
    for (uint32_t s = 0; s < search->configuration->shadow.inputs; ++s) {
        uint32_t i = 0;
        while (i < search->setup->input_count &&
               strcmp(search->setup->input_name[i], search->configuration->shadow.input[s]) != 0)
            ++i;
        if (i == search->setup->input_count)
            return rm_fail(search->error, RM_E_CONFIG, "%s: shadow: %s is not among the application's inputs",
                           search->configuration->path, search->configuration->shadow.input[s]);
        add_others(search, i);
    }
    return RM_OK;
}

/** Every row once. */
static enum rm_code check_matrix_rows(struct input_search const *search) {
    struct rm_table const *matrix = &search->configuration->matrix;
    for (uint32_t row = 0; row < matrix->rows; ++row) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < search->setup->input_count; ++i)
            for (uint32_t k = 0; k < search->inputs[i].rows; ++k)
                found += search->inputs[i].row[k].what == row;
        if (found != 1)
            return rm_fail(search->error, RM_E_CONFIG,
                           "the row %s of the response matrix %s among the application's inputs; each row needs "
                           "one input with its lane",
                           matrix->row_name[row], found == 0 ? "is nowhere" : "is more than once");
    }
    return RM_OK;
}

static enum rm_code check_others(struct input_search const *search) {
    bool gate = search->configuration->gate.input == NULL;
    uint32_t tables = 0;
    for (uint32_t i = 0; i < search->setup->input_count; ++i) {
        gate = gate || search->inputs[i].gate_lane >= 0;
        tables += search->inputs[i].tables;
    }
    if (!gate)
        return rm_fail(search->error, RM_E_CONFIG, "gate: no input %s with a lane %s",
                       search->configuration->gate.input, search->configuration->gate.lane);
    if (tables < search->configuration->table_count)
        return rm_fail(search->error, RM_E_CONFIG,
                       "feed_forward: a table's input, or its lane, is not among the application's inputs");
    return RM_OK;
}

enum rm_code feedback_inputs_find(struct feedback_configuration const *configuration,
                                  struct rm_application_setup const *setup, struct feedback_input *inputs,
                                  struct rm_error *error) {
    struct input_search search = {configuration, setup, inputs, error, 0};
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        inputs[i] = (struct feedback_input){.gate_lane = -1};
        for (uint32_t at = 0; at < RM_LANES && code == RM_OK; ++at)
            code = add_lane(&search, i, at);
    }
    if (code == RM_OK)
        code = find_others(&search);
    if (code == RM_OK)
        code = check_matrix_rows(&search);
    return code == RM_OK ? check_others(&search) : code;
}
