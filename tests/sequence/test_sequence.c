// SPDX-License-Identifier: Apache-2.0
/** What sequences do, step by step, as a host loads them. Argument: the path of sequence.so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/test_copied.h"
#include "rig.h"

static char const *code;

#define HEAD                                                                                                           \
    "inputs: [{name: x1, lane: bpm01/raw.x1}, {name: i_b, supply: b}]\n"                                               \
    "variables: [{name: amplitude, value: 4, low: 0, high: 5, unit: A}]\n"                                             \
    "supplies: [{name: a, supplies: [\"a/*\"]}, {name: a1, supplies: [a/1]}, {name: b, supplies: [b], low: -0.9}]\n"   \
    "tables: [{name: hump, points: [0, 0.5, 1.5, 1]}]\n"

#define ONE(actions)                                                                                                   \
    HEAD "sequences: [{name: one, timeout_s: 9, states: [{name: go, do: [" actions                                     \
         "], then: [{to: end}]}, {name: end, end: done}]}]\n"

static int set_up(void **state) {
    struct sequence_rig *const rig = aligned_alloc(_Alignof(struct sequence_rig), sizeof *rig);
    *state = rig;
    if (rig == NULL)
        return -1;
    rig_set_up(rig, code);
    return 0;
}

static int tear_down(void **state) {
    rig_tear_down(*state);
    free(*state);
    return 0;
}

static void assert_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-12))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/** A polynomial of fifth order from where each stands, and there to the bit. */
static void test_ramp_goes_by_an_s_curve(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, ONE("{ramp: a, to: base + amplitude, in_s: 0.1}"));
    rig_steps(rig, 3);
    assert_true(rig_setpoint(rig, 0) == 1.0 && rig_reading(rig, "result") == 0.0);
    rig_run(rig, 1.0);
    assert_true(rig_setpoint(rig, 0) == 1.0 && rig_reading(rig, "state") == 1.0 && rig_reading(rig, "moving") == 1.0);
    rig_steps(rig, 250);
    double const x = 0.25;
    for (uint32_t i = 0; i < 3; ++i)
        assert_near(rig_setpoint(rig, i), i + 1.0 + 4.0 * x * x * x * (10.0 - 15.0 * x + 6.0 * x * x));
    assert_true(rig_finish(rig, 2000) == 750);
    assert_true(rig_setpoint(rig, 0) == 5.0 && rig_setpoint(rig, 2) == 7.0 && rig_setpoint(rig, 3) == 0.5);
    assert_true(rig_reading(rig, "result") == 2.0 && rig_reading(rig, "state") == 0.0);
    assert_true(rig_reading(rig, "cause") == 0.0 && rig_reading(rig, "transitions") == 2.0);
}

/** At their slew, the farthest without a break, all in the same step; and no ramp is faster than that. */
static void test_set_arrives_together(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, ONE("{set: a, to: 4}"));
    rig_run(rig, 1.0);
    rig_steps(rig, 15);
    assert_near(rig_setpoint(rig, 0), 2.5);
    assert_near(rig_setpoint(rig, 1), 3.0);
    assert_true(rig_finish(rig, 100) == 15);
    assert_true(rig_setpoint(rig, 0) == 4.0 && rig_setpoint(rig, 1) == 4.0 && rig_setpoint(rig, 2) == 4.0);
    rig_begin(rig, ONE("{ramp: a1, to: 5, in_s: 0.0001, shape: linear}"));
    rig_run(rig, 1.0);
    assert_true(rig_finish(rig, 100) == 40);
}

static void test_pulse_comes_back(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, ONE("{pulse: a1, to: base + 1, in_s: 0.005}"));
    rig_run(rig, 1.0);
    rig_steps(rig, 10);
    assert_near(rig_setpoint(rig, 0), 2.0);
    rig_steps(rig, 40);
    assert_near(rig_setpoint(rig, 0), 2.0);
    rig_steps(rig, 5);
    assert_near(rig_setpoint(rig, 0), 1.5);
    assert_true(rig_finish(rig, 100) == 5 && rig_setpoint(rig, 0) == 1.0);
}

static void test_table_goes_beyond_its_end(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, ONE("{ramp: a1, to: 3, in_s: 0.3, table: hump}"));
    rig_run(rig, 1.0);
    rig_steps(rig, 1000);
    assert_near(rig_setpoint(rig, 0), 2.0);
    rig_steps(rig, 1000);
    assert_near(rig_setpoint(rig, 0), 4.0);
    assert_true(rig_finish(rig, 2000) == 1000 && rig_setpoint(rig, 0) == 3.0);
}

/** Whatever steps are skipped, a turn has its phase; and at the end it stands where it stood. */
static void test_sine_is_of_its_turn(void **state) {
    struct sequence_rig *const rig = *state;
    double const two_pi = 6.283185307179586;
    rig_begin(rig, ONE("{excite: b, amplitude: 0.1, hz: 37, in_s: 1, ramp_s: 0.02, phase: 0.5}"));
    rig_run(rig, 1.0);
    rm_turn const begun = rig->turn;
    for (uint32_t i = 0; i < 3000; ++i) {
        rig_step_behind(rig, i % 700 == 50 ? 3 : 0);
        double const s = (double)(rig->turn - begun) / RIG_RATE_HZ;
        double const envelope = fmin(1.0, s / 0.02);
        if (!(fabs(rig_setpoint(rig, 3) - 0.5 - 0.1 * envelope * sin(two_pi * 37.0 * s + 0.5)) < 1e-10))
            fail_msg("step %u: %.17g", i, rig_setpoint(rig, 3));
    }
    rig_finish(rig, 9000);
    assert_true(rig_setpoint(rig, 3) == 0.5);
}

#define WAYS                                                                                                           \
    HEAD "sequences: [{name: ways, timeout_s: 9, states: [\n"                                                          \
         "  {name: look, timeout_s: 0.01, on_timeout: late, then: [{when: x1 > 100 and seconds >= 0.002, to: high},\n" \
         "    {when: \"abs(i_b - 0.5) > 0.2\", to: moved}]},\n"                                                        \
         "  {name: high, do: [{record: high}, {wait: 0.001}], then: [{to: end}]}, {name: late, do: [{record: l}],\n"   \
         "   then: [{to: high}]}, {name: moved, then: [{to: end}]}, {name: end, end: done}]}]\n"

static void test_ways_out(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, WAYS);
    rig->x1 = 200.0;
    rig_run(rig, 1.0);
    rig_steps(rig, 19);
    assert_true(rig_reading(rig, "state") == 1.0);
    rig_steps(rig, 1);
    assert_true(rig_reading(rig, "state") == 2.0 && rig_reading(rig, "marks") == 1.0);
    assert_true(rig_finish(rig, 100) == 10);
    rig->x1 = 0.0;
    assert_true(rig_set(rig, "run", 0, 0.0));
    rig_steps(rig, 1);
    rig_run(rig, 1.0);
    rig_steps(rig, 100);
    assert_true(rig_reading(rig, "state") == 3.0); /* its timeout */
    assert_true(rig_finish(rig, 100) == 11 && rig_reading(rig, "result") == 2.0 && rig_reading(rig, "marks") == 2.0);
    assert_true(rig_reading(rig, "runs") == 2.0 && rig_reading(rig, "last") == 1.0);
}

#define NEST                                                                                                           \
    HEAD "sequences:\n"                                                                                                \
         "- {name: outer, timeout_s: 9, states: [{name: go, do: [{call: inner}, {ramp: b, to: 0, in_s: 0.001}],\n"     \
         "    then: [{to: end}]}, {name: end, end: done}]}\n"                                                          \
         "- {name: inner, timeout_s: 9, states: [{name: up, do: [{ramp: a, to: here + 1, in_s: 0.02}],\n"              \
         "    then: [{to: back}]}, {name: back, do: [{set: a, to: base}], then: [{to: end}]}, {name: end, end: "       \
         "done}]}\n"

static void test_called_sequence_runs_beside(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, NEST);
    rig_run(rig, 1.0);
    assert_true(rig_reading(rig, "sequence") == 2.0 && rig_reading(rig, "state") == 3.0);
    assert_true(rig_reading(rig, "depth") == 2.0 && rig_reading(rig, "moving") == 2.0);
    rig_steps(rig, 200);
    assert_true(rig_setpoint(rig, 3) == 0.0 && rig_setpoint(rig, 1) == 3.0);
    rig_steps(rig, 10);
    assert_true(rig_setpoint(rig, 1) == 2.0 && rig_reading(rig, "depth") == 1.0);
    assert_true(rig_finish(rig, 10) == 1 && rig_reading(rig, "result") == 2.0);
}

#define SHOTS                                                                                                          \
    "supplies: [{name: b, supplies: [b]}]\ncounters: [{name: shot, value: 0, low: 0, high: 3}]\n"                      \
    "sequences: [{name: s, timeout_s: 9, states: [{name: one, do: [{let: shot, value: shot + 1},\n"                    \
    "  {set: b, to: shot / 10}, {wait: 0.001}], then: [{when: done and shot == 3, to: end}, {to: two}]},\n"            \
    "  {name: two, then: [{when: \"turns >= 100\", to: one}]}, {name: end, end: done}]}]\n"

static void test_counter_counts(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, SHOTS);
    for (int round = 0; round < 2; ++round) {
        rig_run(rig, 1.0);
        assert_true(rig_reading(rig, "counter") == 1.0);
        rig_steps(rig, 11);
        assert_true(rig_reading(rig, "counter") == 2.0);
        rig_finish(rig, 100);
        assert_true(rig_reading(rig, "counter") == 3.0 && rig_setpoint(rig, 3) == 3.0 / 10.0);
        assert_true(rig_reading(rig, "result") == 2.0 && rig_set(rig, "run", 0, 0.0));
        rig_steps(rig, 1);
    }
}

static void test_pause_stops_its_time(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, ONE("{ramp: a1, to: 2, in_s: 0.1, shape: linear}"));
    rig_run(rig, 1.0);
    rig_steps(rig, 500);
    assert_true(rig_set(rig, "pause", 0, 1.0));
    rig_steps(rig, 300);
    assert_near(rig_setpoint(rig, 0), 1.5);
    assert_true(rig_set(rig, "pause", 0, 0.0));
    assert_true(rig_finish(rig, 2000) == 500);
}

/** Its numbers are written once more at each value of its variables, and judged. */
static void test_variables_are_judged(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, ONE("{ramp: a1, to: amplitude, in_s: 0.01}"));
    assert_false(rig_set(rig, "variable", 0, 5.5));
    assert_true(rig_set(rig, "variable", 0, 0.25));
    assert_false(rig_set(rig, "run", 0, 2.0));
    assert_false(rig_set(rig, "run", 0, 0.5));
    rig_run(rig, 1.0);
    assert_true(rig_set(rig, "run", 0, 1.0));
    rig_finish(rig, 200);
    assert_true(rig_setpoint(rig, 0) == 0.25);
}

/** Another server goes on from a copy, whatever was under way. */
static void test_copy_goes_on(void **state) {
    struct sequence_rig *const rig = *state;
    for (unsigned steps = 1; steps < 230; steps += 37) {
        rig_begin(rig, NEST);
        rig_run(rig, 1.0);
        rig_steps(rig, steps);
        struct rm_host_program *const leads = rig->program, *const copy = copied(leads, rig->record);
        rm_turn const turn = rig->turn;
        rig_steps(rig, 50);
        rig->program = copy;
        rig->turn = turn;
        rig_steps(rig, 50);
        rig->program = leads;
        assert_as_copied(leads, copy);
        rm_host_program_close(copy);
    }
}

/** The same inputs, settings and turns: the same bits. */
static void test_same_inputs_give_the_same_bits(void **state) {
    struct sequence_rig *const rig = *state;
    static double first[600][RIG_ACTUATORS];
    for (int round = 0; round < 2; ++round) {
        rig_begin(rig, ONE("{excite: b, amplitude: amplitude / 40, hz: 123, in_s: 1}, {ramp: a, to: base - amplitude, "
                           "in_s: 0.02}"));
        rig->turn = 777;
        rig_run(rig, 1.0);
        for (int i = 0; i < 600; ++i) {
            rig_step_behind(rig, i == 100 ? 2 : 0);
            if (round == 0)
                memcpy(first[i], rig->program->command.setpoint, sizeof first[i]);
            else
                assert_memory_equal(first[i], rig->program->command.setpoint, sizeof first[i]);
        }
    }
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_ramp_goes_by_an_s_curve, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set_arrives_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pulse_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_table_goes_beyond_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sine_is_of_its_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ways_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_called_sequence_runs_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counter_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pause_stops_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_variables_are_judged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_copy_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_inputs_give_the_same_bits, set_up, tear_down),
    };
    if (argc < 2)
        return 2;
    code = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
