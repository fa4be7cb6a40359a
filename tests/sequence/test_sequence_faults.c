// SPDX-License-Identifier: Apache-2.0
/** What befalls sequences: aborts, timeouts, beam, inputs, supplies, values, a server that ends; and files that are
 * refused. Argument: the path of sequence.so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rig.h"

static char const *code;

enum cause {
    ABORT = 1,
    STATE_TIMEOUT,
    TIMEOUT,
    ENABLE,
    BEAM,
    INPUT,
    SUPPLY,
    VALUE,
    REFUSED,
    SERVER,
    STOPPED,
    FAILED_STATE
};

#define HEAD                                                                                                           \
    "inputs: [{name: x1, lane: bpm01/raw.x1}]\n"                                                                       \
    "parameters: [{name: current, parameter: machine/current_ma}]\n"                                                   \
    "variables: [{name: amplitude, value: 4, low: 0, high: 8}]\n"                                                      \
    "supplies: [{name: a, supplies: [\"a/?\"]}, {name: a1, supplies: [a/1]}, {name: b, supplies: [b], low: -0.9}]\n"   \
    "beam_lost: x1 < -100\n"

/** Up within 0.1 s; its abort goes back within 20 ms. */
#define LONG                                                                                                           \
    HEAD "sequences: [{name: long, timeout_s: 0.09, enable: x1 < 100, abort: back, states: [\n"                        \
         "  {name: up, do: [{ramp: a, to: base + amplitude, in_s: 0.1, shape: linear}], then: [{to: end}]},\n"         \
         "  {name: back, do: [{ramp: a, to: base, in_s: 0.02}], then: [{to: end}]}, {name: end, end: done}]}]\n"

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

static void assert_cause(struct sequence_rig const *rig, enum cause cause) {
    if (rig_reading(rig, "cause") != cause)
        fail_msg("cause %g, expected %d", rig_reading(rig, "cause"), cause);
}

/** Begins LONG, and lets it go for 50 ms: supplies are 2 A off. */
static void begin_long(struct sequence_rig *rig) {
    rig_begin(rig, LONG);
    rig_run(rig, 1.0);
    rig_steps(rig, 500);
    assert_true(fabs(rig_setpoint(rig, 0) - 3.0) < 1e-9);
}

/** It is on the way of its abort, which ends where all stood. */
static void assert_it_goes_back(struct sequence_rig *rig, enum cause cause) {
    rm_turn const turn = rig->turn;
    assert_cause(rig, cause);
    assert_true(rig_reading(rig, "aborting") == 1.0 && rig_reading(rig, "state") == 2.0);
    assert_true(rig_reading(rig, "cause_state") == 1.0 && rig_reading(rig, "cause_turn") == (double)turn);
    assert_in_range(rig_finish(rig, 300), 199, 201);
    assert_true(rig_setpoint(rig, 0) == 1.0 && rig_setpoint(rig, 2) == 3.0);
    assert_true(rig_reading(rig, "result") == 3.0 && rig_reading(rig, "aborting") == 0.0);
    assert_cause(rig, cause);
}

static void test_abort_goes_its_way(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    assert_true(rig_set(rig, "abort", 0, 1.0));
    rig_steps(rig, 1);
    assert_it_goes_back(rig, ABORT);
    assert_true(rig_set(rig, "run", 0, 0.0));
    rig_steps(rig, 1);
    assert_false(rig_set(rig, "run", 0, 1.0)); /* while abort is 1 */
    assert_true(rig_set(rig, "abort", 0, 0.0) && rig_set(rig, "run", 0, 1.0));
    rig_steps(rig, 1);
    assert_true(rig_reading(rig, "result") == 1.0 && rig_reading(rig, "cause") == 0.0);
}

static void test_timeout_enable_and_beam(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    rig_steps(rig, 400);
    assert_it_goes_back(rig, TIMEOUT);
    begin_long(rig);
    rig->x1 = 100.0;
    rig_steps(rig, 1);
    assert_it_goes_back(rig, ENABLE);
    rig->x1 = 0.0;
    begin_long(rig);
    rig->x1 = -101.0;
    rig_steps(rig, 1);
    assert_it_goes_back(rig, BEAM);
    assert_true(rig_set(rig, "run", 0, 0.0));
    rig_steps(rig, 1);
    rig_run(rig, 1.0); /* it does not begin without beam, and moves nothing */
    assert_cause(rig, BEAM);
    assert_true(rig_reading(rig, "result") == 3.0 && rig_reading(rig, "moving") == 0.0);
}

static void test_input_that_is_missing(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    rig->is_missing[0] = true;
    rig_steps(rig, 9);
    rig->is_missing[0] = false;
    rig_steps(rig, 1);
    rig->is_missing[0] = true;
    rig_steps(rig, 9);
    assert_true(rig_reading(rig, "aborting") == 0.0);
    rig_steps(rig, 1);
    assert_true(rig_reading(rig, "cause_of") == 0.0);
    assert_it_goes_back(rig, INPUT);
}

/** What is no longer read of others. */
static void test_parameter_that_is_lost(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    assert_true(rig_set(rig, "lost", 0, 1.0));
    rig_steps(rig, 1);
    assert_it_goes_back(rig, INPUT);
    begin_long(rig);
    assert_true(rig_set(rig, "refused", 0, 1.0));
    rig_steps(rig, 1);
    assert_it_goes_back(rig, REFUSED);
}

/** A supply that trips midway; one that nothing moves may do what it likes. */
static void test_supply_that_trips(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    rig->tripped = 3;
    rig->program->sent[3] = -0.9;
    rig_steps(rig, 100);
    assert_true(rig_reading(rig, "aborting") == 0.0);
    rig->tripped = 1;
    rig->program->sent[1] = 0.0;
    rig_steps(rig, 9);
    assert_true(rig_reading(rig, "aborting") == 0.0);
    rig_steps(rig, 1);
    assert_true(rig_reading(rig, "cause_of") == 1.0);
    assert_it_goes_back(rig, SUPPLY);
    rig->program->sent[1] = (double)NAN;
    assert_true(rig_set(rig, "run", 0, 0.0));
    rig_steps(rig, 1);
    rig_run(rig, 1.0); /* where it stands is not known */
    assert_cause(rig, SUPPLY);
    assert_true(rig_reading(rig, "result") == 3.0 && rig_reading(rig, "moving") == 0.0);
}

/** Nothing moves where one value is out of its limits; then the abort. */
static void test_value_out_of_limits(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, LONG);
    assert_true(rig_set(rig, "variable", 0, 8.0));
    rig_run(rig, 1.0);
    assert_cause(rig, VALUE);
    assert_true(rig_reading(rig, "cause_of") == 2.0 && rig_reading(rig, "state") == 2.0);
    rig_finish(rig, 300);
    for (uint32_t i = 0; i < 3; ++i)
        assert_true(rig_setpoint(rig, i) == i + 1.0);
}

#define QUICK                                                                                                          \
    HEAD "counters: [{name: f, value: 6000}]\nsequences: [{name: quick, timeout_s: 1, states: [\n"                     \
         "  {name: go, do: [{excite: b, amplitude: 1e-4, hz: f, in_s: 0.01}], then: [{to: end}]},\n"                   \
         "  {name: end, end: done}]}]\n"

/** A frequency that is known only when the state is entered, above half of the steps' rate. */
static void test_sine_that_steps_are_too_slow_for(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, QUICK);
    rig_run(rig, 1.0);
    assert_cause(rig, VALUE);
    assert_true(rig_reading(rig, "result") == 3.0 && rig_reading(rig, "moving") == 0.0);
}

static void test_run_0_leaves_all_where_it_is(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    assert_true(rig_set(rig, "run", 0, 0.0));
    rig_steps(rig, 1);
    double const there = rig_setpoint(rig, 0);
    rig_steps(rig, 500);
    assert_true(rig_setpoint(rig, 0) == there && there > 2.9);
    assert_cause(rig, STOPPED);
    assert_true(rig_reading(rig, "result") == 4.0);
}

/** The host has withdrawn the permission; the state is zeroed, and nothing goes on. */
static void test_server_that_ends_midway(void **state) {
    struct sequence_rig *const rig = *state;
    struct rm_error error;
    begin_long(rig);
    assert_true(rig_set(rig, "run", 0, 0.0));
    double const there = rig->program->sent[0];
    assert_int_equal(rm_host_program_init(rig->program, &error), RM_OK);
    rig_steps(rig, 300);
    assert_cause(rig, SERVER);
    assert_true(rig_reading(rig, "result") == 4.0 && rig_reading(rig, "last") == 1.0);
    assert_true(rig_setpoint(rig, 0) == there && rig_reading(rig, "moving") == 0.0);
}

#define NEST                                                                                                           \
    HEAD "sequences:\n"                                                                                                \
         "- {name: outer, timeout_s: 9, abort: home, states: [{name: go, do: [{call: inner}], then: [{to: end}]},\n"   \
         "    {name: home, do: [{set: b, to: base}], then: [{to: end}]}, {name: end, end: done}]}\n"                   \
         "- {name: inner, timeout_s: 0.02, abort: back, states: [\n"                                                   \
         "    {name: up, do: [{ramp: a, to: here + 1, in_s: 0.5}], then: [{when: x1 > 5, to: bad}, {to: end}]},\n"     \
         "    {name: back, do: [{set: a, to: base}, {excite: b, amplitude: 0.1, hz: 9, in_s: 9}],\n"                   \
         "      timeout_s: 0.01, then: [{to: end}]}, {name: bad, end: failed}, {name: end, end: done}]}\n"

/** The called one goes the way of its abort first, then the caller; whatever a way's own timeout cuts stays. */
static void test_called_sequences_are_unwound(void **state) {
    struct sequence_rig *const rig = *state;
    rig_begin(rig, NEST);
    rig_run(rig, 1.0);
    rig_steps(rig, 200);
    assert_cause(rig, TIMEOUT);
    assert_true(rig_reading(rig, "state") == 5.0 && rig_reading(rig, "depth") == 2.0);
    rig_steps(rig, 100); /* the timeout of `back` */
    assert_true(rig_reading(rig, "state") == 2.0 && rig_reading(rig, "depth") == 1.0);
    rig_finish(rig, 100);
    assert_true(rig_setpoint(rig, 0) == 1.0 && rig_setpoint(rig, 3) == 0.5 && rig_reading(rig, "result") == 3.0);
    assert_true(rig_set(rig, "run", 0, 0.0));
    rig_steps(rig, 1);
    rig_run(rig, 1.0);
    rig->x1 = 6.0;
    rig_steps(rig, 1); /* an end that has failed is no way of an abort, but the caller's is */
    assert_cause(rig, FAILED_STATE);
    assert_true(rig_reading(rig, "state") == 2.0 && rig_reading(rig, "depth") == 1.0);
}

/** Another turn counter: time stands still for a step, and goes on. */
static void test_turns_that_go_back(void **state) {
    struct sequence_rig *const rig = *state;
    begin_long(rig);
    double const there = rig_setpoint(rig, 0);
    rig->turn = 1000;
    rig_steps(rig, 1);
    assert_true(rig_setpoint(rig, 0) == there && rig_reading(rig, "result") == 1.0);
    rig_steps(rig, 1);
    assert_true(rig_setpoint(rig, 0) > there);
}

#define WRONG(actions, ways)                                                                                           \
    HEAD "sequences: [{name: w, timeout_s: 9, states: [{name: go, do: [" actions "], then: [" ways                     \
         "]}, {name: end, end: done}]}]\n"
#define END "{to: end}"

static void test_files_that_are_refused(void **state) {
    static struct {
        char const *text, *words;
    } const wrong[] = {
        {WRONG("{set: c, to: 1}", END), "there is no group of supplies \"c\""},
        {WRONG("{set: a, to: 11}", END), "it comes to 11, expected -10 to 10"},
        {WRONG("{ramp: a, to: 1 + 2 * amplitude, in_s: 1}", END), "it comes to 17 with amplitude = 8"},
        {WRONG("{set: b, to: -0.95}", END), "expected -0.9 to"},
        {WRONG("{ramp: a, to: base, in_s: -1}", END), "it comes to -1, expected 0 to"},
        {WRONG("{set: a, to: 1}, {pulse: a1, to: 2, in_s: 1}", END), "do[0] moves a/1 too"},
        {WRONG("{excite: b, amplitude: 0.5, hz: 400, in_s: 1}", END), "expected at most the 1000 of"},
        {WRONG("{excite: b, amplitude: 0.0001, hz: 6000, in_s: 1}", END), "expected 0 to 5000"},
        {WRONG("{set: a, to: base, in_s: 1}", END), "set has no \"in_s\""},
        {WRONG("{ramp: a, to: base}", END), "ramp needs the key \"in_s\""},
        {WRONG("{set: a, ramp: b, to: base}", END), "found set and ramp, expected one action"},
        {WRONG("{to: base}", END), "found no action"},
        {WRONG("{set: a, to: bas}", END), "unknown name \"bas\" (did you mean \"base\"?)"},
        {WRONG("{wait: base}", END), "\"base\" has no meaning here"},
        {WRONG("{wait: x1 > 1}", END), "found a condition, expected a number"},
        {WRONG("", "{when: max(x1\xc3\xa9, to: end}"), "found \"?\", expected \",\""}, /* no half of a character */
        {WRONG("", "{when: x1 > 1 aaaaaaaaaaaaaaaaaaa\xc3\xa9, to: end}"), "found \"aaaaaaaaaaaaaaaaaaa?\""},
        {WRONG("", "{when: x1, to: end}"), "found a number, expected a condition"},
        {WRONG("", "{when: amplitude > 9, to: end}"), "is never true"},
        {WRONG("", "{to: ende}"), "there is no state \"ende\" (did you mean \"end\"?)"},
        {WRONG("{call: w}", END), "expected no circle"},
        {HEAD "sequences: [{name: w, timeout_s: 1, states: [{name: a, timeout_s: 1, on_timeout: e, do: [{call: v}],\n"
              "  then: [{to: e}]}, {name: e, end: done}]}, {name: v, states: [{name: e, end: done}]}]",
         "expected no on_timeout"},
        {HEAD "sequences: [{name: w, states: [{name: a, then: [{to: e}]}, {name: e, end: done}]}]", "has no timeout"},
        {HEAD "sequences: [{name: w, timeout_s: 1, states: [{name: a}]}]", "is a dead end"},
        {HEAD "sequences: [{name: w, timeout_s: 1, states: [{name: a, then: [{to: a}]}]}]", "to an end"},
        {HEAD "sequences: [{name: w, timeout_s: 1, states: [{name: e, end: done}, {name: f, end: done}]}]",
         "no way leads to the state \"f\""},
        {HEAD "sequences: [{name: w, timeout_s: 1, abort: b, states: [{name: e, end: done},\n"
              "  {name: b, then: [{when: x1 > 1, to: e}]}]}]",
         "may wait for ever"},
        {HEAD "sequences: [{name: w, timeout_s: 1, abort: b, states: [{name: e, end: done},\n"
              "  {name: b, then: [{when: x1 > 1, to: e}, {to: c}]}, {name: c, then: [{to: b}]}]}]",
         "expected no circle"},
        {"inputs: [{name: x1, lane: bpm01/raw.x2}]\nsequences: [{name: w, states: [{name: e, end: done}]}]",
         "found the lane \"x2\", expected one of x1, y1"},
        {"inputs: [{name: x1, lane: bpm02/raw.x1}]\nsequences: [{name: w, states: [{name: e, end: done}]}]",
         "(did you mean \"bpm01/raw\"?)"},
        {"supplies: [{name: s, supplies: [c/1]}]\nsequences: [{name: w, states: [{name: e, end: done}]}]",
         "\"c/1\" is none of the application's 4 supplies (did you mean \"a/1\"?)"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        rig_refused(*state, wrong[i].text, wrong[i].words);
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_abort_goes_its_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_timeout_enable_and_beam, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_input_that_is_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parameter_that_is_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_supply_that_trips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_value_out_of_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sine_that_steps_are_too_slow_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_0_leaves_all_where_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_server_that_ends_midway, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_called_sequences_are_unwound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_turns_that_go_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_that_are_refused, set_up, tear_down),
    };
    if (argc < 2)
        return 2;
    code = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
