// SPDX-License-Identifier: Apache-2.0
/** An application without host, server or segment. Argument: the path of the one in a latency-critical
 * (test_latency_critical.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host_program.h"
#include "host/test_latency_critical.h"

static char const *latency_critical;

enum { INPUTS = 3, ACTUATORS = 2, LENGTH = 600 };

struct test {
    char file[64];
    struct rm_host_setup setup;
    struct rm_host_program *program;
};

static char const *const inputs[INPUTS] = {"bpm01/raw", "bpm02/raw", "bpm03/raw"};
static struct rm_host_actuator const actuators[ACTUATORS] = {
    {.name = "ps/a", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "ps/b", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 2000.0},
};

static void write_file(struct test const *test, char const *text) {
    FILE *file = fopen(test->file, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    snprintf(test->file, sizeof test->file, "/dev/shm/ringmaster-program-%ld", (long)getpid());
    write_file(test, "600\n");
    test->setup = (struct rm_host_setup){
        .name = "app",
        .code = latency_critical,
        .turn_rate_hz = 1e6,
        .period_turns = 100,
        .input_count = INPUTS,
        .input = inputs,
        .actuator_count = ACTUATORS,
        .actuator = actuators,
        .configuration = test->file,
    };
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    char closed[80];
    rm_host_program_close(test->program);
    snprintf(closed, sizeof closed, "%s.closed", test->file);
    unlink(test->file);
    unlink(closed);
    free(test);
    return 0;
}

static struct rm_host_program *open_program(struct test *test) {
    struct rm_error error;
    if (rm_host_program_open(&test->setup, &test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    return test->program;
}

static void init(struct rm_host_program *program, double stands) {
    struct rm_error error;
    for (unsigned i = 0; i < ACTUATORS; ++i)
        program->sent[i] = stands + i;
    if (rm_host_program_init(program, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** One cycle, with the inputs in the order of `order`; UINT32_MAX is one that does not come. */
static void cycle(struct rm_host_program *program, rm_turn turn, uint32_t const order[INPUTS], double *setpoint) {
    struct rm_record record[INPUTS];
    bool is_missing[INPUTS] = {true, true, true};
    uint32_t missing = INPUTS;
    memset(record, 0, sizeof record);
    rm_host_program_expect(program, NULL);
    for (unsigned i = 0; i < INPUTS; ++i) {
        if (order[i] == UINT32_MAX)
            continue;
        record[order[i]] = (struct rm_record){.turn = turn, .lane = {{.i = 10 * (int32_t)order[i] + 1}}};
        is_missing[order[i]] = false;
        --missing;
        rm_host_program_arrive(program, order[i], &record[order[i]]);
    }
    assert_int_equal(rm_host_program_step(program, turn, record, is_missing, missing), RM_STEP_SEND);
    memcpy(setpoint, program->command.setpoint, ACTUATORS * sizeof *setpoint);
    rm_host_program_prepare(program);
}

static void test_life(void **state) {
    struct test *test = *state;
    struct rm_host_program *program = open_program(test);
    assert_int_equal(program->setting_values, 1 + LENGTH + 1);
    assert_int_equal(program->reading_values, 1 + LENGTH + 2);
    assert_int_equal(program->passed.setting_at[CRITICAL_OFFSET], 1 + LENGTH);
    assert_int_equal(program->passed.setting_length[CRITICAL_WEIGHT], LENGTH);
    assert_true(program->setting[0] == 0.5 && program->setting[1 + 8] == 1.0);
    struct critical_memory *memory = program->passed.memory;
    char closed[sizeof memory->closed];
    strcpy(closed, memory->closed);
    rm_host_program_work(program);
    assert_int_equal(memory->worked, 1);
    rm_host_program_close(program);
    test->program = NULL;
    assert_int_equal(access(closed, F_OK), 0);
}

static void test_cycles(void **state) {
    struct test *test = *state;
    struct rm_host_program *program = open_program(test);
    double setpoint[ACTUATORS], permuted[ACTUATORS];
    init(program, 1.5);
    assert_true(program->passed.actuator_slew_per_step[1] == 0.2);
    cycle(program, 1200, (uint32_t[]){0, 1, 2}, setpoint);
    assert_true(setpoint[0] == 1.5 + 0.5 * 33 && setpoint[1] == 2.5 + 0.5 * 33);
    float const order = program->stream[0][CRITICAL_LANE_ORDER];
    assert_true(program->stream[0][CRITICAL_LANE_SUM] == 33.0f && program->stream[1][0] == 7.0f);
    assert_true(program->reading[0] == 33.0 && program->reading[1] == 0.0 && program->reading[2] == 0.125);
    cycle(program, 1300, (uint32_t[]){2, 0, 1}, permuted);
    assert_memory_equal(setpoint, permuted, sizeof setpoint);
    assert_true(program->stream[0][CRITICAL_LANE_ORDER] != order);
    assert_true(program->reading[1] == 1.0);
    cycle(program, 1400, (uint32_t[]){2, UINT32_MAX, 0}, setpoint);
    assert_true(setpoint[0] == 1.5 + 0.5 * 22);
    assert_true(program->stream[0][CRITICAL_LANE_MISSING] == 1.0f);
    assert_true(program->reading[1 + LENGTH] == 2.0 && program->reading[1 + LENGTH + 1] == 0.0);
    init(program, -1.0);
    cycle(program, 1500, (uint32_t[]){0, 1, 2}, setpoint);
    assert_true(setpoint[0] == -1.0 + 0.5 * 33);
}

/** The command comes with the last one, and with what was sent where that was no number; it lies where it is wanted. */
static void test_expects(void **state) {
    struct test *test = *state;
    struct rm_host_program *program = open_program(test);
    double place[ACTUATORS] = {0}, setpoint[ACTUATORS];
    init(program, 1.0);
    program->sent[0] = 5.0; // since init
    rm_host_program_expect(program, place);
    assert_true(place[0] == 5.0 && place[1] == 2.0);
    program->sent[1] = 6.0; // and since then
    rm_host_program_follow(program);
    assert_true(place[0] == 5.0 && place[1] == 6.0);
    cycle(program, 1200, (uint32_t[]){0, 1, 2}, setpoint);
    program->command.setpoint[0] = NAN;
    program->command.setpoint[1] = 7.0;
    program->sent[0] = 3.0;
    rm_host_program_expect(program, place);
    assert_ptr_equal(program->command.setpoint, place);
    assert_true(place[0] == 3.0 && place[1] == 7.0);
    program->sent[0] = 4.0;
    program->sent[1] = 4.0;
    rm_host_program_follow(program);
    assert_true(place[0] == 4.0 && place[1] == 7.0);
}

/** Nothing of the life before is told in the next one. */
static void test_begins_anew(void **state) {
    struct test *test = *state;
    struct rm_host_program *program = open_program(test);
    double setpoint[ACTUATORS];
    init(program, 1.0);
    cycle(program, 1200, (uint32_t[]){0, 1, 2}, setpoint);
    assert_true(program->reading[0] == 33.0 && program->stream[1][0] == 7.0f);
    init(program, 1.0);
    assert_true(program->reading[0] == 0.0 && program->stream[1][0] == 0.0f);
}

static void assert_set(struct rm_host_program *program, char const *name, uint32_t first, double const *values,
                       uint32_t count, enum rm_code wanted, char const *words) {
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_host_program_set(program, name, first, values, count, &error), wanted);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void test_sets(void **state) {
    struct test *test = *state;
    struct rm_host_program *program = open_program(test);
    assert_set(program, "off_set", 0, (double[]){4.0}, 1, RM_OK, "");
    assert_true(program->setting[1 + LENGTH] == 4.0);
    assert_set(program, "weight", 598, (double[]){99.5, 3.0}, 2, RM_OK, "");
    assert_true(program->setting[1 + 598] == 99.5 && program->setting[1 + 599] == 3.0);
    assert_set(program, "weight", 599, (double[]){1.0, 2.0}, 2, RM_E_ARGUMENT, "has 600 elements");
    assert_set(program, "weight", 0, (double[]){1.0, 100.5}, 2, RM_E_CONFIG, "element 1: 100.5 is not within");
    assert_set(program, "weight", 0, (double[]){99.5}, 1, RM_E_ARGUMENT, "two weights are above 99");
    assert_set(program, "weihgt", 0, (double[]){1.0}, 1, RM_E_CONFIG, "did you mean \"weight\"?");
    assert_true(program->setting[1] == 0.0 && program->setting[1 + 598] == 99.5);
}

static void assert_not_opened(struct test *test, char const *words) {
    struct rm_error error;
    assert_int_equal(rm_host_program_open(&test->setup, &test->program, &error), RM_E_CONFIG);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void test_refused(void **state) {
    struct test *test = *state;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"weight", 1.0};
    assert_not_opened(test, "is an array of 600");
    test->setup.setting = &(struct rm_host_setting){"scael", 1.0};
    assert_not_opened(test, "did you mean \"scale\"?");
    test->setup.setting_count = 0;
    write_file(test, "0\n");
    assert_not_opened(test, "setting \"weight\" has 0 elements");
    write_file(test, "802\n"); // the last of the first weights is above its limit
    assert_not_opened(test, "setting \"weight\": element 801: 100.125 is not within its limits -100 … 100");
    write_file(test, "nothing\n");
    assert_not_opened(test, "no number in it");
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    latency_critical = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_life, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cycles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
