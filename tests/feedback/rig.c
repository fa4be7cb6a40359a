// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

double rms_nm(struct feedback_test const *test, uint32_t plane) {
    double squares = 0.0;
    for (uint32_t row = plane; row < ROWS; row += 2)
        squares += test->machine.orbit[row] * test->machine.orbit[row];
    return sqrt(squares / (ROWS / 2.0));
}

double reading(struct feedback_test const *test, enum feedback_reading number, uint32_t element) {
    return test->program->reading[test->program->reading_at[number] + element];
}

enum feedback_state state_of(struct feedback_test const *test) {
    return (enum feedback_state)reading(test, FEEDBACK_STATE, 0);
}

static void rig_guard_setpoints(struct feedback_test *test) {
    struct feedback_machine *machine = &test->machine;
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        double const command = test->setpoint[c];
        if (test->result == RM_STEP_SEND && isfinite(command) && !machine->wrongs.lost[c])
            machine->sent[c] = fmin(fmax(command, -LIMIT), LIMIT);
        if (machine->ruled)
            machine->sent[c] = machine->other[c];
        test->program->sent[c] = machine->wrongs.lost[c] ? NAN : machine->sent[c];
    }
}

void cycle(struct feedback_test *test) {
    struct rm_host_program *program = test->program;
    struct feedback_machine *machine = &test->machine;
    struct rm_record record[ALL];
    bool is_missing[ALL];
    uint32_t missing = 0;
    rm_turn const turn = 1000 * PERIOD + machine->cycle * PERIOD;
    move(machine);
    rm_host_program_expect(program, NULL);
    for (uint32_t i = 0; i < ALL; ++i) {
        is_missing[i] = i < INPUTS && machine->wrongs.silent[i];
        missing += is_missing[i];
        record[i] = is_missing[i] ? machine->last[i] : read_input(machine, i, turn);
    }
    for (uint32_t k = 0; k < ALL; ++k) {
        uint32_t const i = machine->wrongs.backwards ? ALL - 1 - k : k;
        if (!is_missing[i])
            rm_host_program_arrive(program, i, &record[i]);
    }
    test->result = rm_host_program_step(program, turn, record, is_missing, missing);
    memcpy(test->setpoint, program->command.setpoint, sizeof test->setpoint);
    rm_host_program_prepare(program);
    rig_guard_setpoints(test);
}

void cycles(struct feedback_test *test, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        cycle(test);
}

void solve(struct feedback_test *test) {
    for (uint32_t i = 0; i < 4; ++i) {
        rm_host_program_work(test->program);
        cycle(test);
    }
}

void put(struct feedback_test *test, enum feedback_setting setting, uint32_t first, double const *values,
         uint32_t count) {
    struct rm_error error;
    if (rm_host_program_set(test->program, feedback_settings[setting].name, first, values, count, &error) != RM_OK)
        fail_msg("%s", error.text);
}

void set(struct feedback_test *test, enum feedback_setting setting, double value) { put(test, setting, 0, &value, 1); }

void disturb(struct feedback_test *test, double size) {
    for (uint32_t row = 0; row < ROWS; ++row) {
        test->machine.wrongs.disturbance[row] = 0.0;
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            test->machine.wrongs.disturbance[row] +=
                size * (is_fast(c) ? 0.4 - 0.2 * (c % 3) : 0.0) * test->machine.response[row][c];
    }
}

void close_loop(struct feedback_test *test) {
    cycles(test, 20);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    cycles(test, 2000);
    if (state_of(test) != FEEDBACK_ON)
        fail_msg("state %d, enable conditions %g, cause %g", state_of(test),
                 reading(test, FEEDBACK_ENABLE_CONDITIONS, 0), reading(test, FEEDBACK_CAUSE, 0));
}

double largest_step(struct feedback_test *test, uint32_t count) {
    double largest = 0.0, last[CORRECTORS];
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(last, test->setpoint, sizeof last);
        cycle(test);
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            largest = fmax(largest, fabs(test->setpoint[c] - last[c]));
    }
    return largest;
}

void expect_stable(struct feedback_test *test, double generation) {
    double const noise = 0.02;
    assert_true(largest_step(test, 20) < noise);
    solve(test);
    assert_true(reading(test, FEEDBACK_GENERATION, 0) > generation);
    assert_true(largest_step(test, 500) < noise);
    assert_true(rms_nm(test, X) < 300.0 && rms_nm(test, Y) < 300.0);
}
