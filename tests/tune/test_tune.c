// SPDX-License-Identifier: Apache-2.0
/** The application as a host loads it, step by step: tunes of a line in noise, lost turns, skipped steps, no beam, a
 * restarted turn counter, bad input, and inputs that do not fit. Argument: the path of tune.so. */
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

enum {
    PERIOD = 100,
    WINDOW = 1024,
    NO_BEAM = 1,
    NO_PEAK = 2,
    KNOWN_LINE = 8,
    SATURATED = 32,
    FROZEN = 64,
    LOST_TURNS = 128
};
enum { X, Y, SUM, LANES };

static double const TUNE_X = 0.2137, TUNE_Y = 0.3291, AMPLITUDE_NM = 20000.0, NOISE_NM = 1000.0;
static char const *tune;
static char const *const inputs[] = {"bpm01/turn"};
static char const FILE_TEXT[] = "window_turns: 1024\n"
                                "spectrum_rows_hz: 5000\n" /* every second step */
                                "sliding: {low_x: 0.2, high_x: 0.23}\n"
                                "low_x: 0.15\nhigh_x: 0.3\nlow_y: 0.3\nhigh_y: 0.45\n"
                                "beam: bpm01/sum\nleast_beam: 100\n"
                                "bpms: [{x: bpm01/x, y: bpm01/y}]\n";

struct test {
    struct rm_stream bpm;
    struct rm_host_setup setup;
    struct rm_host_program *program;
    /** The last turn that was given. */
    rm_turn turn;
    int32_t sum;
    /** So many turns at the end of the next step do not come. */
    unsigned lost;
    /** Steps before the next one that the host skips. */
    unsigned skipped;
    /** What befalls a record; NULL: nothing. */
    void (*spoil)(struct rm_record *record);
    uint64_t random;
    /** Of the last step. */
    struct rm_record last;
    char file[64];
};

static void write_text(char const *path, char const *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state) {
    static char const *const lanes[LANES] = {"x", "y", "sum"};
    struct test *test = aligned_alloc(_Alignof(struct test), sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    memset(test, 0, sizeof *test);
    snprintf(test->file, sizeof test->file, "/dev/shm/ringmaster-tune-%ld", (long)getpid());
    write_text(test->file, FILE_TEXT);
    test->setup = (struct rm_host_setup){
        .name = "tune",
        .code = tune,
        .turn_rate_hz = 1e6,
        .period_turns = PERIOD,
        .input_count = 1,
        .input = inputs,
        .configuration = test->file,
    };
    test->bpm.period = 1;
    for (int lane = 0; lane < LANES; ++lane) {
        snprintf(test->bpm.lane[lane].name, sizeof test->bpm.lane[lane].name, "%s", lanes[lane]);
        test->bpm.lane[lane].type = RM_LANE_I32;
        snprintf(test->bpm.lane[lane].unit, sizeof test->bpm.lane[lane].unit, "%s", lane == SUM ? "counts" : "nm");
    }
    test->turn = 1000000;
    test->sum = 1000;
    test->random = 1;
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    rm_host_program_close(test->program);
    unlink(test->file);
    free(test);
    return 0;
}

static enum rm_code begin(struct test *test, struct rm_error *error) {
    rm_host_program_close(test->program);
    test->program = NULL;
    enum rm_code code = rm_host_program_open(&test->setup, &test->program, error);
    if (code != RM_OK)
        return code;
    test->program->input[0] = &test->bpm;
    return rm_host_program_init(test->program, error);
}

static void begin_well(struct test *test) {
    struct rm_error error;
    if (begin(test, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** White, of variance 1: Knuth's generator, twelve of which are summed. */
static double draw_normal(struct test *test) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
        test->random = test->random * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(test->random >> 11) * 0x1p-53;
    }
    return sum;
}

static int32_t position(struct test *test, double of_plane, rm_turn turn) {
    double const phase = 6.283185307179586 * of_plane * (double)(turn % 1000000);
    return (int32_t)lrint(AMPLITUDE_NM * cos(phase) + NOISE_NM * draw_normal(test));
}

static void step(struct test *test) {
    static struct rm_record record[RM_RUN_STEPS_MAX * PERIOD];
    unsigned const turns = (1 + test->skipped) * PERIOD;
    bool is_missing[1] = {test->lost > 0};
    assert_in_range(turns, PERIOD, RM_RUN_STEPS_MAX * PERIOD);
    memset(record, 0, sizeof record);
    for (unsigned n = 0; n < turns; ++n) {
        ++test->turn;
        record[n].turn = test->turn;
        record[n].lane[X].i = position(test, TUNE_X, test->turn);
        record[n].lane[Y].i = position(test, TUNE_Y, test->turn);
        record[n].lane[SUM].i = test->sum;
        if (test->spoil != NULL)
            test->spoil(&record[n]);
        if (n + test->lost >= turns)
            record[n] = (struct rm_record){.turn = RM_TURN_NONE};
    }
    struct rm_run const run[1] = {{record, turns}};
    test->program->given.run = run;
    test->program->given.run_turns = turns;
    rm_host_program_expect(test->program, NULL);
    assert_int_equal(rm_host_program_step(test->program, test->turn, &record[turns - 1], is_missing, is_missing[0]),
                     RM_STEP_SEND);
    rm_host_program_prepare(test->program);
    test->last = record[turns - 1];
    test->lost = test->skipped = 0;
}

static void steps(struct test *test, unsigned count) {
    while (count-- > 0)
        step(test);
}

static double reading(struct test const *test, char const *name) {
    struct rm_application_code const *code = test->program->code.it;
    uint32_t i = 0;
    while (i < code->reading_count && strcmp(code->readings[i].name, name) != 0)
        ++i;
    assert_in_range(i, 0, code->reading_count - 1);
    return test->program->reading[test->program->reading_at[i]];
}

/** As many as a window needs, and the step that completes it. */
enum { WHOLE = (WINDOW + PERIOD - 1) / PERIOD };

static void assert_good(struct test const *test) {
    assert_true(reading(test, "quality_x") == 0.0 && reading(test, "quality_y") == 0.0);
    assert_true(fabs(reading(test, "tune_x") - TUNE_X) < 6.0 * reading(test, "sigma_x"));
    assert_true(fabs(reading(test, "tune_y") - TUNE_Y) < 6.0 * reading(test, "sigma_y"));
    assert_true(reading(test, "sigma_x") > 1e-8 && reading(test, "sigma_x") < 5e-6);
    assert_true(fabs(reading(test, "amplitude_x") / AMPLITUDE_NM - 1.0) < 0.02);
    assert_true(reading(test, "snr_y") > 100.0 && reading(test, "bpms") == 1.0);
}

/** The record has the same numbers, in single precision. */
static void assert_told(struct test const *test) {
    struct rm_application_stream const *const stream = &test->program->code.it->streams[0];
    for (uint32_t lane = 0; lane < RM_LANES; ++lane) {
        float const told = test->program->stream[0][lane];
        float const expected = (float)reading(test, stream->lane[lane].name);
        assert_true(told == expected || (isnan(told) && isnan(expected)));
    }
}

static void test_measures_both_planes_from_a_whole_window_on(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, WHOLE - 1);
    assert_true(reading(test, "quality_x") == NO_PEAK && isnan(reading(test, "tune_x")));
    assert_told(test);
    for (unsigned i = 0; i < 3; ++i) {
        step(test);
        assert_good(test);
        assert_told(test);
    }
    assert_true(reading(test, "delay") == 0.5 * (WINDOW - 1));
    assert_true(test->program->delay[0] == 0.5 * (WINDOW - 1));
    assert_true(reading(test, "window") == 1);
}

static void test_lost_turns_are_counted(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, WHOLE);
    test->lost = 7;
    step(test);
    assert_true(reading(test, "lost_turns") == 7.0);
    assert_good(test);
    test->turn += PERIOD; /* the host was so late that records were overwritten */
    step(test);
    assert_int_equal((int)reading(test, "quality_y"), LOST_TURNS | NO_PEAK);
    assert_true(reading(test, "bpms") == 0.0 && isnan(reading(test, "tune_y")));
    steps(test, WHOLE);
    assert_good(test);
}

/** Also where that is more than a window: the next step has them all. */
static void test_skipped_steps_lose_no_turn(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, WHOLE);
    for (unsigned skipped = 1; skipped <= 3 * WHOLE; skipped += WHOLE) {
        test->skipped = skipped;
        step(test);
        assert_good(test);
        assert_true(reading(test, "lost_turns") == 0.0);
    }
}

static void test_says_where_there_is_no_beam(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, WHOLE);
    test->sum = 99;
    step(test);
    assert_true(reading(test, "quality_x") == NO_BEAM && reading(test, "quality_y") == NO_BEAM);
    test->sum = 1000;
    step(test);
    assert_good(test);
    test->lost = PERIOD;
    step(test);
    assert_int_equal((int)reading(test, "quality_x") & NO_BEAM, NO_BEAM); /* nobody knows */
}

static void test_begins_anew_where_the_turn_counter_restarts(void **state) {
    struct test *test = *state;
    begin_well(test);
    steps(test, WHOLE);
    test->turn = 0;
    steps(test, WHOLE - 1);
    assert_true(reading(test, "quality_x") == NO_PEAK);
    step(test);
    assert_good(test);
    struct rm_error error;
    assert_int_equal(rm_host_program_init(test->program, &error), RM_OK); /* a server that has granted anew */
    step(test);
    assert_true(reading(test, "quality_x") == NO_PEAK);
}

/* ── bad input ── */

static void freeze(struct rm_record *record) { record->lane[X].i = record->lane[Y].i = 777; }

static void saturate(struct rm_record *record) {
    if (record->turn % PERIOD == 0)
        record->lane[Y].i = -100000;
}

/** As streams that are calibrated. */
static void calibrate(struct rm_record *record) {
    for (int lane = X; lane <= Y; ++lane)
        record->lane[lane].f = (float)record->lane[lane].i;
}

static void calibrate_with_nan(struct rm_record *record) { record->lane[X].f = record->lane[Y].f = NAN; }

/** One step of it costs a window; and after that nothing is left of it. */
static void expect_spoilt(struct test *test, void (*spoil)(struct rm_record *record), char const *quality,
                          int reasons) {
    void (*const before)(struct rm_record * record) = test->spoil;
    steps(test, WHOLE);
    assert_good(test);
    test->spoil = spoil;
    step(test);
    test->spoil = before;
    assert_int_equal((int)reading(test, quality), reasons | NO_PEAK);
    steps(test, WHOLE);
    assert_good(test);
}

static void test_a_frozen_or_saturated_bpm_is_left_out(void **state) {
    struct test *test = *state;
    write_text(test->file, "window_turns: 1024\nlow_x: 0.15\nhigh_x: 0.3\nlow_y: 0.3\nhigh_y: 0.45\n"
                           "full_scale: 100000\nbpms: [{x: bpm01/x, y: bpm01/y}]\n");
    begin_well(test);
    expect_spoilt(test, freeze, "quality_x", FROZEN);
    expect_spoilt(test, saturate, "quality_y", SATURATED);
}

static void test_a_calibration_that_is_no_number_gives_no_tune(void **state) {
    struct test *test = *state;
    test->bpm.lane[X].type = test->bpm.lane[Y].type = RM_LANE_F32;
    test->spoil = calibrate;
    begin_well(test);
    expect_spoilt(test, calibrate_with_nan, "quality_x", LOST_TURNS);
    test->spoil = calibrate_with_nan;
    steps(test, 2 * WHOLE);
    assert_int_equal((int)reading(test, "quality_y"), LOST_TURNS | NO_PEAK);
    assert_true(isnan(reading(test, "tune_x")) && reading(test, "bpms") == 0.0);
}

/** The window is the application's own; a ring of two steps will do. */
static void test_a_window_may_be_longer_than_the_ring(void **state) {
    struct test *test = *state;
    test->bpm.capacity = WINDOW / 4;
    test->bpm.margin = 8;
    begin_well(test);
    steps(test, WHOLE);
    assert_good(test);
}

/** Lines of so many hertz are where the turn rate of the next start has them. */
static void test_a_rate_that_changes_moves_known_lines(void **state) {
    struct test *test = *state;
    write_text(test->file, "window_turns: 1024\nlow_x: 0.15\nhigh_x: 0.3\nlow_y: 0.3\nhigh_y: 0.45\n"
                           "known_lines_hz: [213700]\nbpms: [{x: bpm01/x, y: bpm01/y}]\n");
    begin_well(test);
    steps(test, WHOLE);
    assert_true(reading(test, "quality_x") == KNOWN_LINE && reading(test, "quality_y") == 0.0);
    test->setup.turn_rate_hz = 1.1e6;
    begin_well(test);
    steps(test, WHOLE);
    assert_good(test);
}

/* ── rows ── */

enum { SPECTRUM_X, SPECTRUM_Y, SLIDING_X, SLIDING_Y };

static struct rm_rows_shape const *shape_of(struct test const *test, unsigned which) {
    return &test->program->rows.shape[which];
}

/** The line stands where the tune is, with its amplitude; all else is noise. */
static void assert_line(struct test const *test, unsigned which, double tune_wanted) {
    struct rm_rows_shape const *const shape = shape_of(test, which);
    float const *const value = test->program->rows.row[which].value;
    assert_non_null(value);
    uint32_t greatest = 0;
    double noise = 0.0;
    for (uint32_t k = 0; k < shape->width; ++k)
        greatest = value[k] > value[greatest] ? k : greatest;
    assert_true(fabs(shape->axis_first + greatest * shape->axis_step - tune_wanted) <= 0.5 * shape->axis_step);
    assert_true((double)value[greatest] > 0.84 * AMPLITUDE_NM && (double)value[greatest] < 1.01 * AMPLITUDE_NM);
    for (uint32_t k = 0; k < shape->width; ++k)
        if (k + 20 < greatest || k > greatest + 20)
            noise = fmax(noise, (double)value[k]);
    assert_true(noise < 0.02 * AMPLITUDE_NM);
}

static void test_rows_have_the_spectrum_of_the_newest_window(void **state) {
    struct test *test = *state;
    begin_well(test);
    struct rm_rows_shape const *const shape = shape_of(test, SPECTRUM_X);
    assert_int_equal(shape->width, 154); /* bins of 1/1024 from 0.15 to 0.3 */
    assert_true(shape->axis_first == 154.0 / WINDOW && shape->axis_step == 1.0 / WINDOW);
    assert_string_equal(shape->unit, "nm");
    assert_int_equal(shape->period_steps, 2);
    assert_true(shape->depth >= 10 * 5000);
    assert_int_equal(shape_of(test, SLIDING_X)->period_steps, 1);
    assert_int_equal(shape_of(test, SLIDING_Y)->width, 0); /* none was asked for */
    steps(test, WHOLE - 1);
    struct rm_row const *const row = test->program->rows.row;
    assert_true(isnan(row[SLIDING_X].value[0]) && row[SLIDING_X].quality == LOST_TURNS);
    assert_true(row[SPECTRUM_X].value != NULL && isnan(row[SPECTRUM_X].value[0]));
    assert_int_equal(row[SPECTRUM_X].quality, LOST_TURNS);
    step(test);
    assert_null(row[SPECTRUM_X].value);
    assert_line(test, SLIDING_X, TUNE_X);
    step(test);
    assert_line(test, SPECTRUM_X, TUNE_X);
    assert_line(test, SPECTRUM_Y, TUNE_Y);
    assert_line(test, SLIDING_X, TUNE_X);
    assert_int_equal(row[SPECTRUM_X].quality | row[SPECTRUM_Y].quality | row[SLIDING_X].quality, 0);
}

static void test_rows_say_when_they_are_not_to_be_trusted(void **state) {
    struct test *test = *state;
    begin_well(test);
    struct rm_row const *const row = test->program->rows.row;
    steps(test, WHOLE + 1);
    test->sum = 99;
    steps(test, 2);
    assert_int_equal(row[SPECTRUM_X].quality, NO_BEAM);
    assert_int_equal(row[SLIDING_X].quality, NO_BEAM);
    assert_line(test, SPECTRUM_X, TUNE_X); /* the numbers are there all the same */
    test->sum = 1000;
    test->lost = PERIOD / 2;
    steps(test, 2);
    assert_int_equal(row[SPECTRUM_Y].quality, LOST_TURNS);
    assert_true(isnan(row[SPECTRUM_Y].value[0])); /* the only BPM was left out */
    assert_int_equal(row[SLIDING_X].quality, LOST_TURNS);
}

/* ── what is refused ── */

static void expect_refusal(struct test *test, char const *words) {
    struct rm_error error;
    assert_int_equal(begin(test, &error), RM_E_CONFIG);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not said: %s", words, error.text);
}

static void test_what_does_not_fit_is_refused(void **state) {
    struct test *test = *state;
    test->bpm.capacity = 256;
    test->bpm.margin = 64;
    expect_refusal(test, "make `buffers.turn_records` larger");
    test->bpm.capacity = 512;
    begin_well(test);
    test->bpm.period = 10;
    expect_refusal(test, "expected a stream of every turn");
    test->bpm.period = 1;
    snprintf(test->bpm.lane[SUM].name, sizeof test->bpm.lane[SUM].name, "q");
    expect_refusal(test, "beam: none of the application's 1 inputs has the lane bpm01/sum");
    write_text(test->file, "unit: mm\nbpms: [{x: bpm01/x, y: bpm01/y}]\n");
    expect_refusal(test, "lane x of bpm01/turn is in \"nm\", expected \"mm\"");
    write_text(test->file, "bpms: []\n");
    expect_refusal(test, "bpms");
}

/** A step with turns that are lost, or behind some that are skipped, now and then. */
static void disturbed_step(struct test *test, unsigned i) {
    test->lost = i % 17 == 3 ? 5 : 0;
    test->skipped = i % 11 == 5 ? 2 : 0;
    test->sum = i % 29 == 8 ? 50 : 1000;
    test->spoil = i % 67 < 1 ? freeze : NULL;
    step(test);
}

static void assert_rows_as_copied(struct rm_host_rows const *leads, struct rm_host_rows const *copy) {
    for (uint32_t row = 0; row < leads->count; ++row) {
        size_t const bytes = leads->shape[row].width * sizeof(float);
        assert_int_equal(leads->row[row].quality, copy->row[row].quality);
        if (bytes > 0)
            assert_memory_equal(leads->value[row], copy->value[row], bytes);
    }
}

/** The same step of both. */
static void step_both(struct test *test, struct rm_host_program *leads, struct rm_host_program *copy, unsigned i) {
    rm_turn const turn = test->turn;
    uint64_t const random = test->random;
    test->program = leads;
    disturbed_step(test, i);
    test->turn = turn;
    test->random = random;
    test->program = copy;
    disturbed_step(test, i);
    assert_as_copied(leads, copy);
    assert_rows_as_copied(&leads->rows, &copy->rows);
}

/** Another server that has a copy of the window tells the same, to the bit, rows included. */
static void expect_copies_to_go_on(struct test *test) {
    begin_well(test);
    for (unsigned i = 0; i < 600;) {
        for (unsigned k = 0; k < 1 + i % 5; ++k)
            disturbed_step(test, i++);
        struct rm_host_program *const leads = test->program, *const copy = copied(leads, &test->last);
        for (unsigned k = 0; k < 13; ++k)
            step_both(test, leads, copy, i++);
        rm_host_program_close(leads);
    }
}

static void test_another_server_goes_on(void **state) {
    struct test *test = *state;
    char text[sizeof FILE_TEXT + 64];
    expect_copies_to_go_on(test);
    snprintf(text, sizeof text, "%sdriven_windows: 3\n", FILE_TEXT);
    write_text(test->file, text);
    expect_copies_to_go_on(test);
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_measures_both_planes_from_a_whole_window_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_turns_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_skipped_steps_lose_no_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_says_where_there_is_no_beam, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_begins_anew_where_the_turn_counter_restarts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_frozen_or_saturated_bpm_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_calibration_that_is_no_number_gives_no_tune, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_window_may_be_longer_than_the_ring, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_rate_that_changes_moves_known_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_have_the_spectrum_of_the_newest_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_say_when_they_are_not_to_be_trusted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_server_goes_on, set_up, tear_down),
    };
    if (argc != 2)
        return 2;
    tune = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
