// SPDX-License-Identifier: Apache-2.0
/** The tune feedback as a host loads it: what it refuses, which settings it takes, and what it commands of its supplies.
 * Argument: the path of tunefeedback.so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host_program.h"
#include "host/test_copied.h"

enum { PERIOD = 500, SUPPLIES = 3, LANES = 8, READY = 1, ON = 2, HOLD = 3, SUPPLY_MISSING = 32 };
enum { TUNE_X, TUNE_Y, SIGMA_X, SIGMA_Y, QUALITY_X, QUALITY_Y };

static char const *application;
static char const *const inputs[] = {"tune/tune"};
static struct rm_host_actuator const actuators[SUPPLIES] = {
    {.name = "ps/qf_01", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 20.0},
    {.name = "ps/qf_02", .unit = "A", .low = -10.0, .high = 4.5, .slew_per_s = 20.0},
    {.name = "ps/qd_01", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 10.0},
};
static char const MATRIX[] = ",qf,qd\nx,0.003,-0.0002\ny,-0.002,0.0008\n";
#define FAMILIES                                                                                                       \
    "matrix: %s-matrix.csv\nfamilies: [{name: qf, supplies: [ps/qf_*], excursion_a: 2},"                               \
    " {name: qd, supplies: [ps/qd_*], excursion_a: 2}]\n"
static char const REST[] = "enable_conditions: {trusted: 3, last: 4, return_s: 0.01}\n";

struct test {
    struct rm_stream tune;
    struct rm_record record;
    struct rm_host_setup setup;
    struct rm_host_program *program;
    rm_turn turn;
    char file[64], matrix[80];
};

static void write_text(char const *path, char const *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/** The application's own file: the families, and this. */
static void write_file(struct test const *test, char const *rest) {
    char text[1024];
    int const used = snprintf(text, sizeof text, FAMILIES, strrchr(test->file, '/') + 1);
    snprintf(text + used, sizeof text - (size_t)used, "%s", rest);
    write_text(test->file, text);
}

static int set_up(void **state) {
    static char const *const lanes[LANES] = {"tune_x",    "tune_y",    "sigma_x",     "sigma_y",
                                             "quality_x", "quality_y", "amplitude_x", "amplitude_y"};
    struct test *test = aligned_alloc(_Alignof(struct test), sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    memset(test, 0, sizeof *test);
    snprintf(test->file, sizeof test->file, "/dev/shm/ringmaster-tunefeedback-%ld", (long)getpid());
    snprintf(test->matrix, sizeof test->matrix, "%s-matrix.csv", test->file);
    write_text(test->matrix, MATRIX);
    write_file(test, REST);
    test->setup = (struct rm_host_setup){
        .name = "tunefeedback",
        .code = application,
        .turn_rate_hz = 1e6,
        .period_turns = PERIOD,
        .input_count = 1,
        .input = inputs,
        .actuator_count = SUPPLIES,
        .actuator = actuators,
        .configuration = test->file,
    };
    test->tune.period = PERIOD;
    for (int lane = 0; lane < LANES; ++lane) {
        snprintf(test->tune.lane[lane].name, sizeof test->tune.lane[lane].name, "%s", lanes[lane]);
        test->tune.lane[lane].type = RM_LANE_F32;
    }
    float const values[LANES] = {0.3f, 0.17f, 1e-6f, 1e-6f, 0.0f, 0.0f, 1e3f, 1e3f};
    for (int lane = 0; lane < LANES; ++lane)
        test->record.lane[lane].f = values[lane];
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    rm_host_program_close(test->program);
    unlink(test->file);
    unlink(test->matrix);
    free(test);
    return 0;
}

static enum rm_code begin(struct test *test, struct rm_error *error) {
    rm_host_program_close(test->program);
    test->program = NULL;
    enum rm_code code = rm_host_program_open(&test->setup, &test->program, error);
    if (code != RM_OK)
        return code;
    test->program->input[0] = &test->tune;
    for (int i = 0; i < SUPPLIES; ++i)
        test->program->sent[i] = 4.0;
    return rm_host_program_init(test->program, error);
}

static void begin_well(struct test *test) {
    struct rm_error error;
    if (begin(test, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** Steps, each of which is sent whole, but for a supply that has tripped and is at 0 A. */
static void steps_beside(struct test *test, int count, int tripped) {
    for (; count > 0; --count) {
        test->turn += PERIOD;
        test->record.turn = test->turn;
        bool const is_missing[1] = {false};
        rm_host_program_expect(test->program, NULL);
        assert_int_equal(rm_host_program_step(test->program, test->turn, &test->record, is_missing, 0), RM_STEP_SEND);
        for (int i = 0; i < SUPPLIES; ++i)
            test->program->sent[i] = i == tripped ? 0.0 : (double)(float)test->program->command.setpoint[i];
        rm_host_program_prepare(test->program);
    }
}

static void steps(struct test *test, int count) { steps_beside(test, count, -1); }

static double reading(struct test const *test, char const *name) {
    struct rm_application_code const *code = test->program->code.it;
    uint32_t i = 0;
    while (i < code->reading_count && strcmp(code->readings[i].name, name) != 0)
        ++i;
    assert_in_range(i, 0, code->reading_count - 1);
    return test->program->reading[test->program->reading_at[i]];
}

static void set(struct test *test, char const *name, double first, double second, uint32_t count) {
    double const values[2] = {first, second};
    struct rm_error error;
    if (rm_host_program_set(test->program, name, 0, values, count, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void expect_no(struct test *test, char const *name, double first, double second, uint32_t count,
                      char const *words) {
    double const values[2] = {first, second};
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_host_program_set(test->program, name, 0, values, count, &error), RM_E_ARGUMENT);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not said: %s", words, error.text);
}

static void test_moves_both_families_from_where_they_stand(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, 10);
    assert_true(reading(test, "state") == READY);
    for (int i = 0; i < SUPPLIES; ++i)
        assert_true(test->program->command.setpoint[i] == 4.0);
    set(test, "closed", 1.0, 0.0, 1);
    steps(test, 1);
    assert_true(reading(test, "state") == ON && fabs(reading(test, "wanted_x") - 0.3) < 1e-7);
    test->record.lane[TUNE_X].f = 0.2999f;
    steps(test, 20);
    double const *setpoint = test->program->command.setpoint;
    assert_true(setpoint[0] > 4.0 && setpoint[0] == setpoint[1] && setpoint[2] > 4.0);
    assert_true(fabs(reading(test, "offset_1") - (setpoint[0] - 4.0)) < 1e-12);
    assert_true(test->program->stream[0][6] == (float)reading(test, "offset_1"));
    double const stands = setpoint[0];
    set(test, "closed", 0.0, 0.0, 1);
    steps(test, 20);
    assert_true(test->program->command.setpoint[0] == stands);
}

/** ps/qf_02 may go to 4.5 A, and ps/qd_01 5 mA a step. */
static void test_supplies_own_limits_are_the_families(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, 10);
    set(test, "closed", 1.0, 0.0, 1);
    steps(test, 1);
    test->record.lane[TUNE_X].f = 0.295f;
    double before[SUPPLIES];
    for (int n = 0; n < 4000; ++n) {
        memcpy(before, test->program->command.setpoint, sizeof before);
        steps(test, 1);
        double const *setpoint = test->program->command.setpoint;
        assert_true(fabs(setpoint[0] - before[0]) < 0.01 + 1e-12 && fabs(setpoint[2] - before[2]) < 0.005 + 1e-12);
        assert_true(setpoint[1] <= 4.5);
    }
    assert_true(reading(test, "state") >= HOLD && reading(test, "cause") == 64.0);
}

static void test_a_supply_that_trips_holds(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, 10);
    set(test, "closed", 1.0, 0.0, 1);
    steps(test, 5);
    steps_beside(test, 2, 2);
    assert_true(reading(test, "state") == HOLD && reading(test, "missing") == SUPPLY_MISSING);
    assert_true(reading(test, "cause_turn") == (double)test->turn);
    steps(test, 60);
    assert_true(reading(test, "state") == ON && reading(test, "cause") == SUPPLY_MISSING);
}

static void test_settings_that_are_refused(void **state) {
    struct test *test = *state;
    begin_well(test);
    expect_no(test, "gain", 40.0, 0.0, 1, "leaves a gain margin of 1.");
    expect_no(test, "target", 0.3, 0.0, 2, "expected both tunes, or 0 and 0");
    expect_no(test, "target", 0.3, 0.295, 2, "coupling resonance");
    expect_no(test, "target", 0.01, 0.2, 2, "integer resonance");
    set(test, "target", 0.17, 0.3, 2);
    set(test, "target", 0.0, 0.0, 2);
    steps(test, 10);
    set(test, "closed", 1.0, 0.0, 1);
    steps(test, 1);
    expect_no(test, "target", 0.17, 0.3, 2, "crosses the coupling resonance");
    set(test, "target", 0.301, 0.171, 2);
    set(test, "gain", 2.0, 0.0, 1);
    double const margin = reading(test, "gain_margin");
    steps(test, 1);
    assert_true(fabs(reading(test, "gain_margin") / margin - 0.5) < 1e-3);
}

static void expect_refusal(struct test *test, char const *words) {
    struct rm_error error;
    assert_int_equal(begin(test, &error), RM_E_CONFIG);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not said: %s", words, error.text);
}

static void test_what_does_not_fit_is_refused(void **state) {
    struct test *test = *state;
    write_file(test, "integral_hz: 40\n");
    expect_refusal(test, "integral_hz: found 40, with a gain margin of 1.");
    write_file(test, "tune: other/tune\n");
    expect_refusal(test, "other/tune is not among the 1 inputs");
    write_file(test, REST);
    test->tune.group_delay_turns = 0.5 * 1023;
    expect_refusal(test, "window_turns: found 8192, but tune/tune is 511.5 turns late, expected 1024");
    test->tune.group_delay_turns = 0.5 * 8191;
    begin_well(test);
    test->setup.actuator_count = 2;
    expect_refusal(test, "families[1].supplies: none of the application's 2 supplies");
    static struct rm_host_actuator const other[SUPPLIES] = {
        {.name = "ps/qf_01", .unit = "A"}, {.name = "ps/x", .unit = "A"}, {.name = "ps/qd_01", .unit = "A"}};
    test->setup.actuator_count = SUPPLIES;
    test->setup.actuator = other;
    expect_refusal(test, "ps/x is in none");
}

/** Another server that has a copy of its state commands the same, to the bit: in READY, ON, HOLD, at a gain of 0. */
static void test_another_server_goes_on(void **state) {
    struct test *test = *state;
    begin_well(test);
    for (int i = 1; i < 400; ++i) {
        if (i == 20)
            set(test, "closed", 1.0, 0.0, 1);
        if (i % 50 == 0)
            set(test, "gain", i % 100 == 0 ? 0.5 : 0.0, 0.0, 1);
        test->record.lane[QUALITY_X].f = i % 90 < 6 ? 1.0f : 0.0f;
        test->record.lane[TUNE_X].f = 0.3f + 1e-5f * (float)(i % 7);
        steps(test, 1);
        if (i % 13 != 0)
            continue;
        struct rm_host_program *const leads = test->program, *const copy = copied(leads, &test->record);
        rm_turn const turn = test->turn;
        steps(test, 5);
        test->turn = turn;
        test->program = copy;
        steps(test, 5);
        assert_as_copied(leads, copy);
        rm_host_program_close(leads);
    }
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_moves_both_families_from_where_they_stand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_supplies_own_limits_are_the_families, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_supply_that_trips_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_settings_that_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_server_goes_on, set_up, tear_down),
    };
    if (argc != 2)
        return 2;
    application = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
