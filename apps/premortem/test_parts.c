// SPDX-License-Identifier: Apache-2.0
/** The file, and one detector of it: what is refused, and what bad records do. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "detector.h"
#include "file.h"

static enum rm_code load_text(char const *text, struct premortem_file *file, struct rm_errors *errors) {
    char path[32];
    int const memory = memfd_create("premortem", MFD_CLOEXEC);
    assert_int_equal(write(memory, text, strlen(text)), strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    *file = (struct premortem_file){0};
    *errors = (struct rm_errors){.count = 0};
    enum rm_code const code = rm_configuration_load(path, premortem_keys, file, premortem_file_check, errors);
    close(memory);
    return code;
}

static void expect_error(char const *text, char const *words) {
    struct premortem_file file;
    struct rm_errors errors;
    assert_int_equal(load_text(text, &file, &errors), RM_E_CONFIG);
    for (uint32_t e = 0; e < errors.count; ++e)
        if (strstr(errors.first[e].text, words) != NULL)
            return;
    fail_msg("%s: \"%s\" is not said: %s", text, words, errors.first[0].text);
}

#define DETECTOR "detectors:\n  - {name: a, kind: rise, signals: [b/l], threshold: 1"

static void test_file_has_defaults(void **state) {
    (void)state;
    struct premortem_file file;
    struct rm_errors errors;
    assert_int_equal(load_text("actions: [{name: dump, permit: p}, {name: hold, parameter: f/l, value: 2}]\n" DETECTOR
                               ", acts: [hold]}\n",
                               &file, &errors),
                     RM_OK);
    assert_int_equal(file.detectors, 1);
    struct premortem_plan const *plan = &file.detector[0];
    assert_int_equal(plan->kind, PREMORTEM_RISE);
    assert_int_equal(plan->actions, 2);
    assert_int_equal(plan->confirm, 1);
    assert_true(plan->steps == 8 && plan->warning == 0.5 && plan->good == 0.8 && file.mask_most_s == 600.0);
    rm_configuration_free(premortem_keys, &file);
}

static void test_what_is_refused(void **state) {
    (void)state;
    expect_error("actions: []\n", "\"detectors\" is missing");
    expect_error(DETECTOR ", acts: [dump]}\n", "detectors[0].acts: found \"dump\"");
    expect_error(DETECTOR "}\n  - {name: a, kind: rise, signals: [b/l], threshold: 1}\n", "detectors[0] has that name");
    expect_error(DETECTOR ", steps: 257}\n", "detectors[0].steps: found 257");
    expect_error(DETECTOR ", golden: g.csv}\n", "only runaway");
    expect_error("detectors: [{name: a, kind: growth, signals: [b/l], threshold: 1}]\n", "floor: growth needs");
    expect_error("detectors: [{name: a, kind: growth, signals: [b/l], threshold: 1, floor: 1, band_low_hz: 5}]\n",
                 "expected both edges");
    expect_error("detectors: [{name: a, kind: drift, signals: [b/l], threshold: 1}]\n", "drift needs a limit");
    expect_error("detectors: [{name: a, kind: drift, signals: [b/l], threshold: 1, low: 3, high: 2}]\n",
                 "expected more than low, 3");
    expect_error("detectors: [{name: a, kind: jump, signals: [b/l], threshold: 1}]\n", "found \"jump\"");
    expect_error("detectors: [{name: a, kind: rise, signals: [b/l], threshold: 0}]\n", "threshold: found 0");
    expect_error("actions: [{name: x, permit: p, supply: q}]\n" DETECTOR "}\n",
                 "has 2 of permit, supply and parameter");
    expect_error("actions: [{name: x, permit: p, value: 1}]\n" DETECTOR "}\n", "a permit is 1 or 0");
    expect_error("actions: [{name: x, supply: p}]\n" DETECTOR "}\n", "expected what it goes to");
    expect_error("actions: [{name: x, permit: p}, {name: x, permit: q}]\n" DETECTOR "}\n", "actions[0] has that name");
}

/** Of `count` signals, the first `good` have this value. */
static struct premortem_values values_of(double value, uint32_t good) {
    static double values[4];
    static bool is_good[4];
    for (uint32_t i = 0; i < 4; ++i) {
        values[i] = i < good ? value : 1e300;
        is_good[i] = i < good;
    }
    return (struct premortem_values){.value = values, .is_good = is_good, .good = good};
}

static bool step_once(struct premortem_detector *detector, double value, uint32_t good, rm_turn turn) {
    struct premortem_values const values = values_of(value, good);
    struct premortem_wishes const wishes = {.threshold = 10.0};
    bool anew = false;
    bool const alarms = premortem_detector_step(detector, &values, &wishes, turn, &anew);
    if (anew)
        premortem_detector_begin(detector, 1000.0, false);
    return alarms;
}

/** They neither make an alarm nor end one; after some the detector is blind, and learns anew. */
static void test_bad_records_never_alarm(void **state) {
    (void)state;
    struct premortem_plan const plan = {
        .kind = PREMORTEM_RISE, .warning = 0.5, .confirm = 2, .steps = 1, .slow_steps = 5, .good = 0.75};
    struct premortem_detector detector = {.plan = &plan, .signals = 4};
    rm_turn turn = 0;
    premortem_detector_begin(&detector, 1000.0, false);
    for (; turn < 6; ++turn)
        assert_false(step_once(&detector, 1.0, 4, turn));
    assert_int_equal(detector.state, PREMORTEM_WATCHES);
    for (; turn < 6 + PREMORTEM_BRIDGE_STEPS; ++turn)
        assert_false(step_once(&detector, 100.0, 2, turn));
    assert_int_equal(detector.bad, PREMORTEM_BRIDGE_STEPS);
    assert_int_equal(detector.state, PREMORTEM_WATCHES);
    assert_false(step_once(&detector, 100.0, 3, turn++)); /* three of four are enough */
    assert_int_equal(detector.state, PREMORTEM_WARNS);
    assert_false(step_once(&detector, 100.0, 0, turn++)); /* between the two that confirm */
    assert_true(step_once(&detector, 100.0, 4, turn++));
    assert_int_equal(detector.state, PREMORTEM_ALARM);
    premortem_latch_reset(&detector.latch);
    for (unsigned i = 0; i <= PREMORTEM_BRIDGE_STEPS; ++i)
        step_once(&detector, 100.0, 0, turn++);
    assert_int_equal(detector.state, PREMORTEM_BLIND);
    for (unsigned i = 0; i < 7; ++i)
        assert_false(step_once(&detector, 500.0, 4, turn++));
    assert_int_equal(detector.state, PREMORTEM_WATCHES);
}

static void test_delays_are_those_of_the_headers(void **state) {
    (void)state;
    struct premortem_plan plan = {
        .kind = PREMORTEM_RISE, .confirm = 3, .steps = 9, .band_low_hz = NAN, .band_high_hz = NAN};
    assert_true(premortem_detector_delay_steps(&plan, 1000.0) == 2.0 + 4.0);
    plan.kind = PREMORTEM_DRIFT;
    assert_true(premortem_detector_delay_steps(&plan, 1000.0) == 2.0 + 54.0);
    plan.kind = PREMORTEM_GROWTH;
    assert_true(premortem_detector_delay_steps(&plan, 1000.0) == 2.0 + 36.0);
    plan.band_low_hz = 100.0;
    plan.band_high_hz = 200.0;
    assert_true(fabs(premortem_detector_delay_steps(&plan, 1000.0) - (38.0 + 10.0 / 3.14159265358979)) < 1e-6);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_file_has_defaults),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_bad_records_never_alarm),
        cmocka_unit_test(test_delays_are_those_of_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
