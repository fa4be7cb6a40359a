// SPDX-License-Identifier: Apache-2.0
/** The tune as an input: lanes by their names, a record that is missing, and inputs that do not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/tune.h>

static char const *const lanes[] = {"quality_y", "tune_y",    "sigma_x",     "other",      "tune_x",
                                    "sigma_y",   "quality_x", "amplitude_x", "amplitude_y"};
enum { LANES = 9 };
static char const *const names[] = {"bpm01/turn", "tune/tune"};

static struct rm_stream stream_of_tune(void) {
    struct rm_stream stream = {.lane_count = LANES};
    for (int i = 0; i < LANES; ++i) {
        snprintf(stream.lane[i].name, sizeof stream.lane[i].name, "%s", lanes[i]);
        stream.lane[i].type = RM_LANE_F32;
    }
    return stream;
}

static void test_reads_both_planes_by_their_names(void **state) {
    (void)state;
    struct rm_stream const other = {.lane_count = 0}, stream = stream_of_tune();
    struct rm_stream const *const input[] = {&other, &stream};
    struct rm_application_setup const setup = {.input_count = 2, .input = input, .input_name = names};
    struct rm_tune_input found;
    struct rm_error error;
    assert_int_equal(rm_tune_find(&setup, "tune/tune", &found, &error), RM_OK);
    struct rm_record record[2] = {{.turn = RM_TURN_NONE}, {.turn = 7}};
    float const values[LANES] = {8.0f, 0.25f, 1e-5f, 99.0f, 0.125f, 2e-5f, 1.0f, 300.0f, 400.0f};
    for (int i = 0; i < LANES; ++i)
        record[1].lane[i].f = values[i];
    bool is_missing[2] = {true, false};
    struct rm_step const step = {.record = record, .is_missing = is_missing};
    struct rm_tune now = {.turn = 0};
    assert_true(rm_tune_read(&setup, &step, &found, &now));
    assert_int_equal(now.turn, 7);
    assert_true(now.tune[0] == 0.125 && now.tune[1] == 0.25);
    assert_true(now.sigma[0] == (double)1e-5f && now.sigma[1] == (double)2e-5f);
    assert_true(now.amplitude[0] == 300.0 && now.amplitude[1] == 400.0);
    assert_true(now.quality[0] == RM_TUNE_NO_BEAM && now.quality[1] == RM_TUNE_KNOWN_LINE);
    record[1].lane[6].f = NAN;
    assert_true(rm_tune_read(&setup, &step, &found, &now));
    assert_true(now.quality[0] != 0);
    is_missing[1] = true;
    record[1].turn = 8;
    assert_false(rm_tune_read(&setup, &step, &found, &now));
    assert_int_equal(now.turn, 7);
}

static void test_says_what_is_not_there(void **state) {
    (void)state;
    struct rm_stream const other = {.lane_count = 0};
    struct rm_stream stream = stream_of_tune();
    struct rm_stream const *const input[] = {&other, &stream};
    struct rm_application_setup const setup = {.input_count = 2, .input = input, .input_name = names};
    struct rm_tune_input found;
    struct rm_error error;
    assert_int_equal(rm_tune_find(&setup, "tune/tine", &found, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "tune/tine is not among the 2 inputs"));
    assert_int_equal(rm_tune_find(&setup, "bpm01/turn", &found, &error), RM_E_CONFIG);
    stream.lane[5].type = RM_LANE_UNUSED;
    assert_int_equal(rm_tune_find(&setup, "tune/tune", &found, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "has no lane \"sigma_y\""));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_reads_both_planes_by_their_names),
        cmocka_unit_test(test_says_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
