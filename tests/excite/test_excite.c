// SPDX-License-Identifier: Apache-2.0
/** excite as a host loads it: what it refuses, where it brings its supplies, and that it is a function of the turn.
 * Argument: the path of excite.so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "host/host_program.h"
#include "host/test_copied.h"

enum { PERIOD = 100, SUPPLIES = 4, IDLE = 0, RISING = 1, FULL = 2, FALLING = 3 };

static double const RATE_HZ = 1e6, STAY = 1e30; /* 10 000 steps a second */

static char const *application;
static struct rm_host_actuator const actuators[SUPPLIES] = {
    {.name = "ps/a", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "ps/b", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 20.0},
    {.name = "ps/c", .unit = "A", .low = 1.0, .high = 3.0, .slew_per_s = 1000.0},
    {.name = "ps/rf", .unit = "Hz", .low = -2000.0, .high = 2000.0, .slew_per_s = 1e6},
};
static double const STANDS[SUPPLIES] = {1.0, -2.0, 2.0, 100.0};

struct test {
    struct rm_host_setup setup;
    struct rm_host_program *program;
    rm_turn turn;
};

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    struct rm_error error;
    *state = test;
    if (test == NULL)
        return -1;
    test->setup = (struct rm_host_setup){.name = "excite",
                                         .code = application,
                                         .turn_rate_hz = RATE_HZ,
                                         .period_turns = PERIOD,
                                         .actuator_count = SUPPLIES,
                                         .actuator = actuators};
    if (rm_host_program_open(&test->setup, &test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    memcpy(test->program->sent, STANDS, sizeof STANDS);
    if (rm_host_program_init(test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    rm_host_program_close(test->program);
    free(test);
    return 0;
}

/** One step, `turns` after the last one. */
static void step_after(struct test *test, uint64_t turns) {
    test->turn += turns;
    rm_host_program_expect(test->program, NULL);
    assert_int_equal(rm_host_program_step(test->program, test->turn, NULL, NULL, 0), RM_STEP_SEND);
    for (int i = 0; i < SUPPLIES; ++i)
        test->program->sent[i] = (double)(float)test->program->command.setpoint[i];
    rm_host_program_prepare(test->program);
}

static void steps(struct test *test, int count) {
    for (; count > 0; --count)
        step_after(test, PERIOD);
}

static double reading(struct test const *test, char const *name) {
    struct rm_application_code const *code = test->program->code.it;
    uint32_t i = 0;
    while (i < code->reading_count && strcmp(code->readings[i].name, name) != 0)
        ++i;
    assert_in_range(i, 0, code->reading_count - 1);
    return test->program->reading[test->program->reading_at[i]];
}

static double setpoint(struct test const *test, int supply) { return test->program->command.setpoint[supply]; }

static void set(struct test *test, char const *name, uint32_t first, double value) {
    struct rm_error error;
    if (rm_host_program_set(test->program, name, first, &value, 1, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void expect_no(struct test *test, char const *name, uint32_t first, double value, char const *words) {
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_host_program_set(test->program, name, first, &value, 1, &error), RM_E_ARGUMENT);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not said: %s", words, error.text);
}

static void test_nothing_moves_by_starting(void **state) {
    struct test *test = *state;
    steps(test, 100);
    for (int i = 0; i < SUPPLIES; ++i) {
        assert_true(setpoint(test, i) == STANDS[i]);
        assert_true(test->program->reading[test->program->reading_at[7] + i] == STANDS[i]);
    }
}

/** A way takes rate_s, or what the slew asks for; a supply that was not named stays. */
static void test_goes_to_positions_within_the_slew(void **state) {
    struct test *test = *state;
    steps(test, 10);
    set(test, "position", 0, 3.0);
    set(test, "position", 1, 2.0); /* 4 A at 20 A/s: 0.375 s */
    double last[2] = {1.0, -2.0}, steepest[2] = {0, 0};
    int arrived[2] = {0, 0};
    for (int n = 1; n < 5000; ++n) {
        steps(test, 1);
        for (int i = 0; i < 2; ++i) {
            steepest[i] = fmax(steepest[i], fabs(setpoint(test, i) - last[i]));
            arrived[i] = arrived[i] == 0 && setpoint(test, i) == (i == 0 ? 3.0 : 2.0) ? n : arrived[i];
            last[i] = setpoint(test, i);
        }
        assert_true(setpoint(test, 2) == 2.0);
        assert_true((reading(test, "moving") == 0.0) == (arrived[0] != 0 && arrived[1] != 0));
    }
    assert_in_range(arrived[0], 1000, 1002);
    assert_in_range(arrived[1], 3751, 3758);
    assert_true(steepest[1] < 20.0 * 1e-4 && steepest[1] > 0.99 * 20.0 * 1e-4);
    set(test, "position", 0, STAY);
    steps(test, 100);
    assert_true(setpoint(test, 0) == 3.0);
}

/** What a supply is to be at a turn of the run. */
static double expected(double amplitude, double hz, double phase, uint64_t since) {
    double const rise = (double)since / RATE_HZ / 0.1, u = rise < 1.0 ? rise : 1.0;
    double const envelope = u * u * u * (10.0 + u * (6.0 * u - 15.0));
    return envelope * amplitude * sin(2.0 * M_PI * hz * (double)since / RATE_HZ + phase);
}

static void test_sines_are_those_of_the_turn(void **state) {
    struct test *test = *state;
    steps(test, 10);
    set(test, "amplitude", 0, 0.5);
    set(test, "hz", 0, 37.0);
    set(test, "amplitude", 3, 20.0);
    set(test, "hz", 3, 5.0);
    set(test, "phase", 3, 1.0);
    set(test, "seconds", 0, 1.0);
    set(test, "run", 0, 1.0);
    steps(test, 1);
    rm_turn const begin = test->turn;
    assert_true(reading(test, "begin_turn") == (double)begin && reading(test, "state") == RISING);
    assert_true(setpoint(test, 0) == 1.0);
    for (int n = 1; n < 10990; ++n) {
        step_after(test, n % 1000 == 7 ? 3 * PERIOD : PERIOD); /* some steps are left out */
        uint64_t const since = test->turn - begin;
        if (since >= 1100000)
            break;
        assert_true(fabs(setpoint(test, 0) - 1.0 - expected(0.5, 37.0, 0.0, since)) < 1e-11);
        assert_true(fabs(setpoint(test, 3) - 100.0 - expected(20.0, 5.0, 1.0, since)) < 1e-9);
        assert_true(setpoint(test, 1) == -2.0);
        assert_true(reading(test, "state") == (since < 100000 ? RISING : FULL));
    }
    assert_true(reading(test, "state") == FALLING && reading(test, "full_turn") == (double)begin + 100000);
    steps(test, 1100);
    assert_true(reading(test, "state") == IDLE && reading(test, "runs") == 1.0 && reading(test, "clipped") == 0.0);
    assert_true(reading(test, "end_turn") == (double)begin + 1200000);
    assert_true(setpoint(test, 0) == 1.0 && setpoint(test, 3) == 100.0);
    steps(test, 100);
    assert_true(reading(test, "state") == IDLE); /* run is still 1 */
    set(test, "run", 0, 0.0);
    steps(test, 1);
    set(test, "run", 0, 1.0);
    steps(test, 1);
    assert_true(reading(test, "state") == RISING);
}

static void test_what_does_not_fit_is_refused(void **state) {
    struct test *test = *state;
    steps(test, 10);
    expect_no(test, "position", 2, 3.5, "not within the limits 1 … 3 of ps/c");
    expect_no(test, "amplitude", 2, 1.5, "not within the limits 1 … 3 of ps/c");
    set(test, "amplitude", 2, 0.9);
    expect_no(test, "position", 2, 2.5, "not within the limits 1 … 3 of ps/c");
    set(test, "hz", 0, 200.0);
    expect_no(test, "amplitude", 0, 1.0, "moves ps/a by 0.1");
    set(test, "amplitude", 0, 0.7);
    expect_no(test, "hz", 0, 6000.0, "expected at most half of 10000 steps per second");
    set(test, "run", 0, 1.0);
    steps(test, 1);
    expect_no(test, "amplitude", 0, 0.5, "stay what they are while it runs");
    expect_no(test, "seconds", 0, 1.0, "stay what they are while it runs");
    set(test, "position", 1, 2.0);
    set(test, "run", 0, 0.0);
    steps(test, 2000);
    set(test, "amplitude", 0, 0.5);
}

/** A position that is put while a sine takes the whole slew: the supply is late, and nothing goes beyond. */
static void test_a_sine_that_is_cut_is_counted(void **state) {
    struct test *test = *state;
    steps(test, 10);
    set(test, "amplitude", 0, 1.5);
    set(test, "hz", 0, 100.0);
    set(test, "run", 0, 1.0);
    steps(test, 2000);
    assert_true(reading(test, "clipped") == 0.0);
    set(test, "position", 0, 8.0);
    double last = setpoint(test, 0);
    for (int n = 0; n < 2000; ++n) {
        steps(test, 1);
        assert_true(fabs(setpoint(test, 0) - last) <= 0.1 + 1e-12);
        last = setpoint(test, 0);
    }
    assert_true(reading(test, "clipped") > 0.0);
}

/** The permission is given again before the run before has fallen: the next one follows it. */
static void test_a_run_follows_one_that_falls(void **state) {
    struct test *test = *state;
    steps(test, 10);
    set(test, "amplitude", 0, 0.5);
    set(test, "hz", 0, 37.0);
    set(test, "run", 0, 1.0);
    steps(test, 2000);
    set(test, "run", 0, 0.0);
    steps(test, 500);
    set(test, "run", 0, 1.0);
    steps(test, 490);
    assert_true(reading(test, "state") == FALLING && reading(test, "runs") == 0.0);
    steps(test, 20);
    assert_true(reading(test, "state") == RISING && reading(test, "runs") == 1.0);
    assert_true(reading(test, "full_turn") == 0.0 && reading(test, "end_turn") == 0.0);
    steps(test, 1000);
    assert_true(reading(test, "state") == FULL);
    assert_true(reading(test, "full_turn") == reading(test, "begin_turn") + 100000.0);
}

/** Another server that has a copy of its state commands the same, to the bit: on its way, and in a run. */
static void test_another_server_goes_on(void **state) {
    struct test *test = *state;
    struct rm_record const none = {0};
    set(test, "amplitude", 0, 0.5);
    set(test, "hz", 0, 37.0);
    set(test, "amplitude", 3, 10.0);
    set(test, "hz", 3, 111.0);
    set(test, "seconds", 0, 0.05);
    for (int i = 1; i < 3000; ++i) {
        if (i == 20)
            set(test, "position", 1, 1.0);
        if (i % 700 == 100 || i % 700 == 500)
            set(test, "run", 0, i % 700 == 100 ? 1.0 : 0.0);
        steps(test, 1);
        if (i % 97 != 0)
            continue;
        struct rm_host_program *const leads = test->program, *const copy = copied(leads, &none);
        rm_turn const turn = test->turn;
        steps(test, 70);
        test->turn = turn;
        test->program = copy;
        steps(test, 70);
        assert_as_copied(leads, copy);
        rm_host_program_close(leads);
    }
    assert_true(reading(test, "runs") > 0.0);
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_moves_by_starting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_to_positions_within_the_slew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sines_are_those_of_the_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_sine_that_is_cut_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_run_follows_one_that_falls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_server_goes_on, set_up, tear_down),
    };
    if (argc != 2)
        return 2;
    application = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
