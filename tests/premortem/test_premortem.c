// SPDX-License-Identifier: Apache-2.0
/** The application as a host loads it, step by step: shadow, arming, permits, masks, resets, and inputs that are garbage.
 * Argument: the path of premortem.so. */
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

static char const *premortem;

enum { INPUTS = 2, ACTUATORS = 2, PERMIT = 0, DRIVE = 1, PERIOD = 100 };

static char const FILE_TEXT[] = "mask_most_s: 0.01\n"
                                "actions:\n"
                                "  - {name: dump, permit: mps/permit}\n"
                                "  - {name: down, supply: rf/drive, value: 1}\n"
                                "  - {name: hold, parameter: feedback/loop, value: 2}\n"
                                "detectors:\n"
                                "  - {name: losses, kind: rise, signals: [\"blm01/loss*\"], steps: 1, slow_steps: 4,\n"
                                "     threshold: 50, frozen_steps: 0, acts: [dump, hold]}\n"
                                "  - {name: phase, kind: excursion, signals: [llrf01/phase], steps: 2, slow_steps: 4,\n"
                                "     threshold: 100, frozen_steps: 20, acts: [down]}\n";

static char const *const inputs[INPUTS] = {"blm01/raw", "llrf01/raw"};
static struct rm_host_actuator const actuators[ACTUATORS] = {
    {.name = "mps/permit", .unit = "", .low = 0.0, .high = 1.0, .slew_per_s = 1e6},
    {.name = "rf/drive", .unit = "V", .low = 0.0, .high = 10.0, .slew_per_s = 1e6},
};

/** What the two instruments say, and what the guard did. */
struct test {
    struct rm_stream blm, llrf;
    /** Of the last step. */
    struct rm_record record[INPUTS];
    struct rm_host_setup setup;
    struct rm_host_program *program;
    rm_turn turn;
    double losses[2], phase;
    char file[64];
    bool is_missing[INPUTS];
    /** Turns that the records had to do without; of the losses, which are no decimated stream, it says nothing. */
    uint16_t turns_missing;
    /** The guard sends nothing of it. */
    bool is_stopped;
};

static void describe_lane(struct rm_stream *stream, unsigned lane, char const *name, enum rm_lane_type type) {
    snprintf(stream->lane[lane].name, sizeof stream->lane[lane].name, "%s", name);
    stream->lane[lane].type = type;
}

static void write_text(char const *path, char const *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state) {
    struct test *test = aligned_alloc(_Alignof(struct test), sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    memset(test, 0, sizeof *test);
    snprintf(test->file, sizeof test->file, "/dev/shm/ringmaster-premortem-%ld", (long)getpid());
    write_text(test->file, FILE_TEXT);
    test->setup = (struct rm_host_setup){
        .name = "premortem",
        .code = premortem,
        .turn_rate_hz = 1e6,
        .period_turns = PERIOD,
        .input_count = INPUTS,
        .input = inputs,
        .actuator_count = ACTUATORS,
        .actuator = actuators,
        .configuration = test->file,
    };
    describe_lane(&test->blm, 0, "loss1", RM_LANE_I32);
    describe_lane(&test->blm, 1, "loss2", RM_LANE_F32);
    describe_lane(&test->llrf, 0, "phase", RM_LANE_F32);
    snprintf(test->blm.filter, sizeof test->blm.filter, "none");
    snprintf(test->llrf.filter, sizeof test->llrf.filter, "low-latency");
    test->turn = 1000000;
    test->losses[0] = test->losses[1] = 10.0;
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    rm_host_program_close(test->program);
    unlink(test->file);
    free(test);
    return 0;
}

static void open_program(struct test *test) {
    struct rm_error error;
    rm_host_program_close(test->program);
    if (rm_host_program_open(&test->setup, &test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    test->program->input[0] = &test->blm;
    test->program->input[1] = &test->llrf;
}

static void begin(struct test *test, double permit_sent) {
    struct rm_error error;
    open_program(test);
    test->program->sent[PERMIT] = permit_sent;
    test->program->sent[DRIVE] = 7.0;
    if (rm_host_program_init(test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static double reading(struct test *test, char const *name, uint32_t element) {
    struct rm_application_code const *code = test->program->code.it;
    uint32_t i = 0;
    while (i < code->reading_count && strcmp(code->readings[i].name, name) != 0)
        ++i;
    assert_in_range(i, 0, code->reading_count - 1);
    return test->program->reading[test->program->reading_at[i] + element];
}

static bool set(struct test *test, char const *name, uint32_t first, double value) {
    struct rm_error error;
    return rm_host_program_set(test->program, name, first, &value, 1, &error) == RM_OK;
}

/** One step; the guard then sends what it wants. Readings differ from one record to the next, as real ones do. */
static void step(struct test *test) {
    struct rm_record *const record = test->record;
    uint32_t missing = 0;
    memset(record, 0, sizeof test->record);
    test->turn += PERIOD;
    double const ripple = test->turn / PERIOD % 2 ? 0.5 : -0.5;
    record[0].turn = record[1].turn = test->turn;
    record[0].lane[0].i = (int32_t)test->losses[0];
    record[0].lane[1].f = (float)(test->losses[1] + ripple);
    record[1].lane[0].f = (float)(test->phase + ripple);
    record[0].tag = record[1].tag = rm_tag_decimated(0, 0, test->turns_missing);
    for (unsigned i = 0; i < INPUTS; ++i)
        missing += test->is_missing[i];
    rm_host_program_expect(test->program, NULL);
    rm_host_program_step(test->program, test->turn, record, test->is_missing, missing);
    for (unsigned i = 0; i < ACTUATORS; ++i)
        test->program->sent[i] = test->is_stopped ? 0.0 : test->program->command.setpoint[i];
    rm_host_program_prepare(test->program);
}

static void steps(struct test *test, unsigned count) {
    while (count-- > 0)
        step(test);
}

static double permit(struct test *test) { return test->program->command.setpoint[PERMIT]; }

static void arm(struct test *test) {
    assert_true(set(test, "reset", 0, 1.0));
    steps(test, 8);
    assert_true(set(test, "arm", 0, 1.0));
    step(test);
    assert_true(permit(test) == 1.0);
}

static void test_shadow_says_what_it_would_have_done(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    assert_true(test->program->reading_values == 7 * 2 + 10);
    steps(test, 8);
    assert_true(permit(test) == 1.0 && reading(test, "permit", 0) == 2.0);
    assert_true(reading(test, "state", 0) == 0.0 && reading(test, "alarms", 0) == 0.0);
    test->losses[0] = test->losses[1] = 80.0;
    step(test);
    assert_true(permit(test) == 1.0);
    assert_true(reading(test, "state", 0) == 5.0 && reading(test, "latched", 0) == 1.0);
    assert_true(reading(test, "alarms", 0) == 1.0 && reading(test, "alarm_detector", 0) == 0.0);
    assert_true(reading(test, "alarm_turn", 0) == (double)test->turn &&
                reading(test, "crossed", 0) == (double)test->turn);
    assert_true(reading(test, "shadowed", 0) == 2.0 && reading(test, "acted", 0) == 0.0);
    assert_false(set(test, "arm", 0, 1.0)); /* not with an alarm of before */
    assert_true(reading(test, "crossed", 1) == -1.0);
}

/** In the very step of the record that crossed, and until a person resets. */
static void test_armed_it_withdraws_the_permit_at_once(void **state) {
    struct test *test = *state;
    begin(test, 0.0);
    steps(test, 8);
    assert_true(permit(test) == 0.0); /* nothing gives it by itself */
    arm(test);
    test->losses[0] = test->losses[1] = 80.0;
    step(test);
    assert_true(permit(test) == 0.0 && reading(test, "alarm_turn", 0) == (double)test->turn);
    test->losses[0] = test->losses[1] = 10.0;
    steps(test, 20);
    assert_true(permit(test) == 0.0 && reading(test, "state", 0) == 5.0);
    assert_true(reading(test, "acted", 0) == 2.0);
    rm_host_program_work(test->program);
    step(test);
    assert_true(reading(test, "refused", 0) == 1.0); /* there is no workspace to ask in */
    assert_true(set(test, "arm", 0, 0.0));
    step(test);
    assert_true(permit(test) == 0.0); /* disarming gives nothing back */
    assert_true(set(test, "reset", 0, 2.0));
    steps(test, 3);
    assert_true(permit(test) == 1.0 && reading(test, "state", 0) == 0.0 && reading(test, "count", 0) == 1.0);
}

/** The step that gives the permit is not given an alarm that goes on. */
static void test_a_reset_during_an_alarm_gives_nothing(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    test->losses[0] = test->losses[1] = 80.0;
    steps(test, 3);
    assert_true(set(test, "reset", 0, 5.0));
    for (unsigned i = 0; i < 5; ++i) {
        step(test);
        assert_true(permit(test) == 0.0);
    }
    assert_true(reading(test, "count", 0) == 2.0);
}

/** Its process was stopped, and goes on: the guard has withdrawn meanwhile. */
static void test_a_permit_that_the_guard_withdrew_stays_away(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    test->is_stopped = true;
    step(test);
    test->is_stopped = false;
    steps(test, 5);
    assert_true(permit(test) == 0.0 && reading(test, "permit_lost", 0) == 1.0 && reading(test, "alarms", 0) == 0.0);
}

static void test_a_supply_goes_to_its_value_and_back(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    test->phase = -300.0;
    step(test); /* half of it is in the mean of two: 150 > 100 */
    assert_true(test->program->command.setpoint[DRIVE] == 1.0 && permit(test) == 1.0);
    test->phase = 0.0;
    steps(test, 10);
    assert_true(test->program->command.setpoint[DRIVE] == 1.0);
    assert_true(set(test, "reset", 0, 7.0));
    step(test);
    assert_true(test->program->command.setpoint[DRIVE] == 7.0);
}

static void test_masks_expire_by_turn(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    assert_false(set(test, "masked_until", 0, (double)test->turn + 10001.0)); /* 10 ms at 1 MHz */
    assert_true(set(test, "masked_until", 0, (double)test->turn + 5.0 * PERIOD));
    test->losses[0] = test->losses[1] = 80.0;
    for (unsigned i = 0; i < 4; ++i) {
        step(test);
        assert_true(permit(test) == 1.0 && reading(test, "state", 0) == 2.0);
    }
    assert_true(reading(test, "masked", 0) == 1.0);
    step(test);
    assert_true(permit(test) == 0.0 && reading(test, "count", 0) == 1.0);
    assert_true(set(test, "reset", 0, 9.0));
    assert_true(set(test, "masked_until", 0, (double)test->turn + 10000.0));
    test->turn = 5000; /* the machine's turns begin anew: the mask is far away, and over; detectors learn anew */
    test->losses[0] = test->losses[1] = 10.0;
    step(test);
    assert_true(reading(test, "state", 0) == 1.0);
    steps(test, 8);
    assert_true(reading(test, "state", 0) == 0.0);
}

/** NaN, ends of a range, missing and late records, and the same again and again. */
static void test_garbage_never_acts(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    test->is_missing[0] = test->is_missing[1] = true;
    test->losses[0] = test->losses[1] = test->phase = 1e6;
    steps(test, 5);
    test->is_missing[0] = test->is_missing[1] = false;
    test->losses[0] = INT32_MAX;
    test->losses[1] = NAN;
    test->phase = NAN;
    steps(test, 3);
    assert_true(reading(test, "bad", 0) == 8.0 && reading(test, "bad", 1) == 8.0);
    test->losses[1] = INFINITY;
    test->phase = -INFINITY;
    steps(test, 30);
    assert_true(reading(test, "state", 0) == 4.0 && reading(test, "state", 1) == 4.0);
    assert_true(reading(test, "bad", 0) == 38.0 && reading(test, "alarms", 0) == 0.0 && permit(test) == 1.0);
    test->losses[0] = test->losses[1] = 3000.0; /* what it sees first after that is where it begins */
    test->phase = 5000.0;
    steps(test, 10);
    assert_true(reading(test, "state", 0) == 0.0 && reading(test, "state", 1) == 0.0);
    assert_true(reading(test, "alarms", 0) == 0.0 && reading(test, "acted", 0) == 0.0);
}

/** Behind a decimator, what is lost is what came last; its tag tells. */
static void test_decimated_records_without_their_turns_are_bad(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    test->turns_missing = 1;
    test->phase = 1e6;
    steps(test, 5);
    assert_true(reading(test, "bad", 0) == 0.0 && reading(test, "bad", 1) == 5.0);
    assert_true(reading(test, "alarms", 0) == 0.0);
}

static void test_a_frozen_input_is_blind(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    for (unsigned i = 0; i < 40; ++i) {
        struct rm_record record[INPUTS];
        memset(record, 0, sizeof record);
        test->turn += PERIOD;
        record[0] = (struct rm_record){.turn = test->turn, .lane = {{.i = 10}, {.f = 10.0F + 0.1F * (float)(i % 3)}}};
        record[1] = (struct rm_record){.turn = i % 2 ? test->turn : test->turn - PERIOD}; /* and now and then late */
        rm_host_program_expect(test->program, NULL);
        rm_host_program_step(test->program, test->turn, record, test->is_missing, 0);
    }
    assert_true(reading(test, "state", 0) == 0.0); /* counters may stand still: frozen_steps: 0 */
    assert_true(reading(test, "bad", 1) == 20.0 + 1.0 && reading(test, "alarms", 0) == 0.0);
}

/** From the first record on it is compared with what the file says; learning anew changes nothing of that. */
static void test_a_golden_orbit_comes_from_a_file(void **state) {
    struct test *test = *state;
    char golden[80], text[256];
    struct rm_error error;
    snprintf(golden, sizeof golden, "%s.csv", test->file);
    snprintf(
        text, sizeof text,
        "detectors: [{name: orbit, kind: runaway, signals: [llrf01/phase], steps: 1, threshold: 100, golden: %s}]\n",
        golden);
    write_text(test->file, text);
    write_text(golden, ",nm\nllrf01/phase,1000\n");
    begin(test, 1.0);
    test->phase = 1000.0;
    step(test);
    assert_true(reading(test, "level", 0) == 0.5 && reading(test, "state", 0) == 0.0);
    test->phase = 1060.0;
    assert_true(set(test, "learn", 0, 1.0));
    step(test);
    assert_true(fabs(reading(test, "level", 0) - 60.0) < 1.0 && reading(test, "state", 0) == 3.0);
    write_text(golden, ",nm\nllrf01/other,1000\n");
    open_program(test);
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "the golden orbit has no row llrf01/phase"));
    unlink(golden);
}

static void test_what_does_not_fit_is_refused(void **state) {
    struct test *test = *state;
    struct rm_host_actuator slow[ACTUATORS] = {actuators[0], actuators[1]};
    struct rm_error error;
    slow[PERMIT].slew_per_s = 9999.0; /* a hundredth of a permit short of a step at 10 kHz */
    test->setup.actuator = slow;
    open_program(test);
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "would not be withdrawn within a cycle"));
    slow[PERMIT].slew_per_s = 1e6;
    snprintf(test->llrf.lane[0].name, sizeof test->llrf.lane[0].name, "amplitude");
    open_program(test);
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "the detector phase has no signal"));
}

/** Another server that has a copy of its state tells and commands the same, to the bit. */
static void test_another_server_goes_on(void **state) {
    struct test *test = *state;
    begin(test, 1.0);
    arm(test);
    for (unsigned i = 1; i < 300; ++i) {
        test->losses[0] = 10.0 + i % 17 * (i % 60 > 50 ? 8.0 : 1.0);
        test->phase = i % 5 * 20.0;
        if (i % 71 == 0)
            set(test, "reset", 0, 1.0 + i);
        step(test);
        if (i % 13 != 0)
            continue;
        struct rm_host_program *const leads = test->program, *const copy = copied(leads, test->record);
        rm_turn const turn = test->turn;
        steps(test, 6);
        test->turn = turn;
        test->program = copy;
        steps(test, 6);
        assert_as_copied(leads, copy);
        rm_host_program_close(leads);
    }
    assert_true(reading(test, "alarms", 0) > 1.0);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return EXIT_FAILURE;
    premortem = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_shadow_says_what_it_would_have_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_armed_it_withdraws_the_permit_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_reset_during_an_alarm_gives_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_permit_that_the_guard_withdrew_stays_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_supply_goes_to_its_value_and_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masks_expire_by_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_garbage_never_acts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_decimated_records_without_their_turns_are_bad, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_frozen_input_is_blind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_golden_orbit_comes_from_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_server_goes_on, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
