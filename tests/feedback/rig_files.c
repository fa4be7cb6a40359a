// SPDX-License-Identifier: Apache-2.0
/** From files to a feedback that is open. */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char const *module_path;

static void write_matrix(struct feedback_test const *test) {
    char path[128];
    snprintf(path, sizeof path, "%s/response.csv", test->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        fprintf(file, ",%s", test->actuator_name[c]);
    fputc('\n', file);
    for (uint32_t row = 0; row < ROWS; ++row) {
        fprintf(file, "bpm%02u/%s", row / 4 + 1, lane_name[lane_row[row % 4]]);
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            fprintf(file, ",%.9g", test->machine.response[row][c]);
        fputc('\n', file);
    }
    fclose(file);
}

static char const *const enable_conditions =
    " bpms: 0.5, actuators: 0.5, saturated: 3, saturated_s: 0.02, initial_error_um: 500, "
    "missing: 0.4}\n"
    "watch: {missing_cycles: 3, frozen_cycles: 5, jump_um: 300, invalid_status: 1, "
    "return_s: 0.05}\n"
    "golden_speed: 5000\nsoft_start_s: 0.05\nresonators:\n"
    "  - {hz: 50, width_hz: 1.0, leak_hz: 0.005}\n"
    "  - {hz: 100, width_hz: 1.25, leak_hz: 0.005}\n"
    "  - {hz: 150, width_hz: 1.875, leak_hz: 0.0075}\n"
    "  - {hz: 200, width_hz: 2.5, leak_hz: 0.01}\n"
    "  - {hz: 250, width_hz: 3.125, leak_hz: 0.0125}\n"
    "  - {hz: 300, width_hz: 3.75, leak_hz: 0.015}\n"
    "  - {hz: 350, width_hz: 4.375, leak_hz: 0.0175}\n"
    "  - {hz: 400, width_hz: 5, leak_hz: 0.02}\n"
    "  - {hz: 500, width_hz: 6.25, leak_hz: 0.025}\n"
    "  - {hz: 600, width_hz: 7.5, leak_hz: 0.03}\n"
    "  - {hz: 700, width_hz: 8.75, leak_hz: 0.035}\n"
    "  - {hz: 800, width_hz: 10, leak_hz: 0.04}\n"
    "  - {hz: 900, width_hz: 11.25, leak_hz: 0.045}\n";

char const *const one_family =
    "matrix: response.csv\nper: mode\ntikhonov: 0\nfamilies:\n"
    "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, resonators: [50]}\n";

char const *const all_lines =
    "matrix: response.csv\nper: mode\ntikhonov: 0\nfamilies:\n"
    "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, resonators: [50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900]}\n";

char const *const all_kinds =
    "matrix: response.csv\nper: corrector\ntikhonov: 0.01\nfamilies:\n"
    "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, resonators: [50]}\n"
    "rf: {actuator: ps/sx5, hz: 10, gain: 0.5, slew: 20}\n"
    "gate: {input: extra11/raw, lane: l0, bit: 3, cycles: 30}\n"
    "feed_forward:\n  - {input: extra11/raw, lane: l1, table: table.csv}\n"
    "shadow: {inputs: [extra12/raw, extra13/raw]}\n";

char const *const two_families =
    "matrix: response.csv\nper: mode\ntikhonov: 0\nfamilies:\n"
    "  - {name: fast, actuators: [\"ps/f*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, unload_to: slow, crossover_hz: 1}\n"
    "  - {name: slow, actuators: [\"ps/s*\"], plant: {bandwidth_hz: 100, delay_us: 103.7}}\n";

static void write_configuration(struct feedback_test const *test, char const *families) {
    char path[128];
    snprintf(path, sizeof path, "%s/feedback.yaml", test->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(families, file);
    fprintf(file, "enable_conditions: {beam: {lanes: [s1, s2], least: 1e5, drop: 0.5, rearm_s: %g},", test->rearm_s);
    fputs(enable_conditions, file);
    fclose(file);
}

/** An insertion device whose gap moves the orbit as sx2 does; its table takes that away. */
static void write_table(struct feedback_test const *test) {
    char path[128];
    snprintf(path, sizeof path, "%s/table.csv", test->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(",ps/sx2\n0,0\n10,-0.5\n", file);
    fclose(file);
}

static void make_stream(struct rm_stream *stream) {
    memset(stream, 0, sizeof *stream);
    for (uint32_t at = 0; at < 8; ++at) {
        struct rm_lane_info *lane = &stream->lane[at];
        memcpy(lane->name, lane_name[at], sizeof lane_name[at]);
        snprintf(lane->unit, sizeof lane->unit, "%s", at % 4 < 2 ? "nm" : "");
        lane->type = RM_LANE_I32;
    }
}

static void make_extra(struct rm_stream *stream, uint32_t input) {
    memset(stream, 0, sizeof *stream);
    for (uint32_t at = 0; at < RM_LANES; ++at) {
        snprintf(stream->lane[at].name, sizeof stream->lane[at].name, "l%u", at);
        stream->lane[at].type = at == 0 || (input != TIMING && at == 1) ? RM_LANE_I32 : RM_LANE_F32;
    }
}

int set_up(void **state) {
    struct feedback_test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    snprintf(test->folder, sizeof test->folder, "/tmp/ringmaster-feedback-XXXXXX");
    if (mkdtemp(test->folder) == NULL)
        return -1;
    make_machine(&test->machine);
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        test->machine.pole[c] = exp(-2.0 * M_PI * 1000.0 * PERIOD / TURN_RATE);
        snprintf(test->actuator_name[c], sizeof test->actuator_name[c], "ps/%c%c%u", is_fast(c) ? 'f' : 's',
                 plane_of_corrector(c) == X ? 'x' : 'y', c % 6);
        test->actuator[c] = (struct rm_host_actuator){
            .name = test->actuator_name[c], .unit = "A", .low = -LIMIT, .high = LIMIT, .slew_per_s = 1e5};
    }
    for (uint32_t i = 0; i < ALL; ++i) {
        snprintf(test->input_name[i], sizeof test->input_name[i], i < INPUTS ? "bpm%02u/raw" : "extra%02u/raw", i + 1);
        test->input[i] = test->input_name[i];
        if (i < INPUTS)
            make_stream(&test->stream[i]);
        else
            make_extra(&test->stream[i], i);
    }
    return 0;
}

int tear_down(void **state) {
    struct feedback_test *test = *state;
    char path[128];
    rm_host_program_close(test->program);
    snprintf(path, sizeof path, "%s/response.csv", test->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/table.csv", test->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/feedback.yaml", test->folder);
    unlink(path);
    rmdir(test->folder);
    free(test);
    return 0;
}

void open_feedback(struct feedback_test *test, char const *families) {
    static char path[128];
    struct rm_error error;
    write_matrix(test);
    write_configuration(test, families);
    write_table(test);
    snprintf(path, sizeof path, "%s/feedback.yaml", test->folder);
    test->setup = (struct rm_host_setup){.name = "feedback",
                                         .code = module_path,
                                         .turn_rate_hz = TURN_RATE,
                                         .period_turns = PERIOD,
                                         .input_count = ALL,
                                         .input = test->input,
                                         .actuator_count = CORRECTORS,
                                         .actuator = test->actuator,
                                         .configuration = path};
    if (rm_host_program_open(&test->setup, &test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < ALL; ++i)
        test->program->input[i] = &test->stream[i];
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        test->program->sent[c] = test->machine.sent[c];
    if (rm_host_program_init(test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
}

bool take_module(int count, char **argument) {
    module_path = count == 2 ? argument[1] : NULL;
    return module_path != NULL;
}
