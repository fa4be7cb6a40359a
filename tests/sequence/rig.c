// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"

static char const *const inputs[RIG_INPUTS] = {"bpm01/raw"};
static struct rm_host_actuator const actuators[RIG_ACTUATORS] = {
    {.name = "a/1", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "a/2", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "a/3", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "b", .unit = "A", .low = -1.0, .high = 1.0, .slew_per_s = 1000.0},
};

static void describe_lane(struct rm_stream *stream, unsigned lane, char const *name, enum rm_lane_type type) {
    snprintf(stream->lane[lane].name, sizeof stream->lane[lane].name, "%s", name);
    stream->lane[lane].type = type;
}

static void write_file(struct sequence_rig const *rig, char const *text) {
    FILE *const file = fopen(rig->file, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

void rig_set_up(struct sequence_rig *rig, char const *code) {
    memset(rig, 0, sizeof *rig);
    snprintf(rig->file, sizeof rig->file, "/dev/shm/ringmaster-sequence-%ld", (long)getpid());
    rig->setup = (struct rm_host_setup){
        .name = "sequence",
        .code = code,
        .turn_rate_hz = RIG_RATE_HZ,
        .period_turns = RIG_PERIOD,
        .input_count = RIG_INPUTS,
        .input = inputs,
        .actuator_count = RIG_ACTUATORS,
        .actuator = actuators,
        .configuration = rig->file,
    };
    describe_lane(&rig->stream, 0, "x1", RM_LANE_F32);
    describe_lane(&rig->stream, 1, "y1", RM_LANE_I32);
    rig->turn = 5000000;
    rig->tripped = RIG_ACTUATORS;
}

void rig_tear_down(struct sequence_rig *rig) {
    rm_host_program_close(rig->program);
    unlink(rig->file);
}

void rig_begin(struct sequence_rig *rig, char const *text) {
    struct rm_error error;
    rm_host_program_close(rig->program);
    rig->program = NULL;
    write_file(rig, text);
    if (rm_host_program_open(&rig->setup, &rig->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    rig->program->input[0] = &rig->stream;
    for (uint32_t i = 0; i < RIG_ACTUATORS; ++i)
        rig->program->sent[i] = i < 3 ? i + 1.0 : 0.5;
    if (rm_host_program_init(rig->program, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** Looks at what is said in `open` and, if that takes it, in `init`. */
void rig_refused(struct sequence_rig *rig, char const *text, char const *words) {
    struct rm_error error = {.text = ""};
    struct rm_host_program *program = NULL;
    write_file(rig, text);
    enum rm_code code = rm_host_program_open(&rig->setup, &program, &error);
    if (code == RM_OK) {
        program->input[0] = &rig->stream;
        code = rm_host_program_init(program, &error);
    }
    rm_host_program_close(program);
    assert_int_not_equal(code, RM_OK);
    if (strstr(error.text, words) == NULL || strstr(error.text, rig->file) == NULL)
        fail_msg("\"%s\" and the place are not said: %s", words, error.text);
}

bool rig_set(struct sequence_rig *rig, char const *name, uint32_t first, double value) {
    struct rm_error error;
    return rm_host_program_set(rig->program, name, first, &value, 1, &error) == RM_OK;
}

double rig_reading(struct sequence_rig const *rig, char const *name) {
    struct rm_application_code const *const code = rig->program->code.it;
    uint32_t i = 0;
    while (i < code->reading_count && strcmp(code->readings[i].name, name) != 0)
        ++i;
    assert_in_range(i, 0, code->reading_count - 1);
    return rig->program->reading[rig->program->reading_at[i]];
}

void rig_step_behind(struct sequence_rig *rig, uint32_t skipped) {
    struct rm_host_program *const program = rig->program;
    rig->turn += (1 + skipped) * (uint64_t)RIG_PERIOD;
    if (!rig->is_missing[0]) {
        memset(rig->record, 0, sizeof rig->record);
        rig->record[0].turn = rig->turn;
        rig->record[0].lane[0].f = (float)rig->x1;
        rig->record[0].lane[1].i = (int32_t)(rig->turn % 1000);
    }
    rm_host_program_expect(program, NULL);
    rm_host_program_step(program, rig->turn, rig->record, rig->is_missing, rig->is_missing[0]);
    for (uint32_t i = 0; i < RIG_ACTUATORS; ++i)
        if (i != rig->tripped)
            program->sent[i] = (float)program->command.setpoint[i];
    rm_host_program_prepare(program);
}

void rig_steps(struct sequence_rig *rig, unsigned count) {
    while (count-- > 0)
        rig_step_behind(rig, 0);
}

void rig_run(struct sequence_rig *rig, double number) {
    assert_true(rig_set(rig, "run", 0, number));
    rig_steps(rig, 1);
}

unsigned rig_finish(struct sequence_rig *rig, unsigned most) {
    for (unsigned i = 0; i < most; ++i) {
        if (rig_reading(rig, "result") != 1.0)
            return i;
        rig_steps(rig, 1);
    }
    fail_msg("it runs after %u steps, in state %g", most, rig_reading(rig, "state"));
    return most;
}

double rig_setpoint(struct sequence_rig const *rig, uint32_t actuator) {
    return rig->program->command.setpoint[actuator];
}
