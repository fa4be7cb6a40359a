// SPDX-License-Identifier: Apache-2.0
/* Calibrations from the table to a reader: what the server plans and writes, found through the public API. */
#include "engine/calibrate_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/stream_writer.h"
#include "fabric/test_workspace.h"

enum { CAPACITY = 1024, LATE = 64, INSTRUMENTS = 2 };

static char const TABLE[] = "instrument,x1.gain [mm/nm],y1.gain [mm/nm],x1.mechanical_offset [mm]\nbpm01,1e-6,1e-6,2\n";

struct fixture {
    char root[64];
    struct rm_config_instrument instrument[INSTRUMENTS];
    struct rm_config config;
    struct rm_calibrations *calibrations;
    struct rm_segment_plan plan;
    rm_planned_index stream[INSTRUMENTS];
    struct rm_segment segment;
    struct rm_stream_writer writer;
};

static void add_instrument(struct fixture *fixture, uint32_t index, char const *name) {
    struct rm_config_instrument *instrument = &fixture->instrument[index];
    strcpy(instrument->name, name);
    instrument->kind = RM_KIND_BPM;
    instrument->lane_count = 3;
    static char const *const lanes[] = {"x1", "y1", "flags"};
    for (int i = 0; i < 3; ++i) {
        strcpy(instrument->lane[i].name, lanes[i]);
        strcpy(instrument->lane[i].unit, i < 2 ? "nm" : "bits");
        instrument->lane[i].type = RM_LANE_I32;
        instrument->lane[i].reduction = i < 2 ? RM_REDUCE_FIR : RM_REDUCE_OR;
    }
}

static void write_table(struct fixture *fixture, char const *text) {
    FILE *file = fopen(fixture->config.calibration.path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL || !test_workspaces_make(fixture->root, sizeof fixture->root))
        return -1;
    add_instrument(fixture, 0, "bpm01");
    add_instrument(fixture, 1, "bpm02");
    fixture->config.instrument = fixture->instrument;
    fixture->config.instrument_count = INSTRUMENTS;
    snprintf(fixture->config.calibration.path, sizeof fixture->config.calibration.path, "%s/table.csv", fixture->root);
    write_table(fixture, TABLE);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    rm_calibrations_free(fixture->calibrations);
    test_workspaces_remove(fixture->root);
    free(fixture);
    return 0;
}

/** Makes a workspace as the server does. */
static void serve(struct fixture *fixture, enum rm_calibrated apply) {
    struct rm_error error;
    fixture->config.calibration.apply = apply;
    if (rm_calibrations_load(&fixture->config, &fixture->calibrations, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_plan_init(&fixture->plan);
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        struct rm_stream stream = {.capacity = CAPACITY, .period = 1, .lane_count = 3, .filter = "none"};
        memcpy(stream.lane, fixture->instrument[i].lane, sizeof stream.lane);
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "%s/turn", fixture->instrument[i].name);
        rm_calibrations_state(fixture->calibrations, i, &stream);
        fixture->stream[i] = rm_plan_stream(&fixture->plan, name, "a test", &stream);
    }
    rm_calibrations_plan(fixture->calibrations, &fixture->plan);
    if (rm_segment_open("demo", "server", &fixture->plan, &fixture->segment, &error) != RM_OK)
        fail_msg("%s", error.text);
    void *stream = rm_segment_memory(&fixture->segment, &fixture->plan, fixture->stream[0]);
    assert_true(rm_stream_writer_open(&fixture->writer, stream, LATE));
    rm_calibrations_write(fixture->calibrations, &fixture->segment, &fixture->plan);
    rm_segment_finish(&fixture->segment);
}

static void stop(struct fixture *fixture) {
    rm_stream_writer_close(&fixture->writer);
    rm_segment_close(&fixture->segment);
    rm_plan_free(&fixture->plan);
}

/** What a reader sees of bpm01 at turn 5, and in which unit. */
static void read_physical(struct fixture *fixture, struct rm_calibrated_stream *calibration, double *out) {
    struct rm_record record = {.turn = 5, .lane = {{3000000}, {-1000000}, {7}}};
    struct rm_calibration_compiled const *compiled = rm_calibrations_compiled(fixture->calibrations, 0);
    if (compiled != NULL)
        rm_calibrate_record(compiled, &record);
    assert_int_equal(rm_stream_writer_put(&fixture->writer, &record), RM_PUT_NEW);
    rm_stream_writer_publish(&fixture->writer, 1);

    struct rm_workspace *workspace;
    struct rm_stream_view view = {.header = NULL};
    struct rm_error error;
    if (rm_workspace_attach("demo", 0, &workspace, &error) != RM_OK ||
        rm_stream_calibration(workspace, "bpm01/turn", calibration, &error) != RM_OK ||
        rm_workspace_stream(workspace, "bpm01/turn", &view, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(rm_stream_read(&view, 5, &record), RM_READ_OK);
    rm_calibrate(&calibration->calibration, &record, view.header->lane, out);
    struct rm_calibration found;
    assert_int_equal(rm_instrument_calibration(workspace, "bpm01", &found, &error), RM_OK);
    assert_true(found.bpm[0].x.mechanical_offset == 2);
    assert_int_equal(rm_instrument_calibration(workspace, "bpm02", &found, &error), RM_E_NOT_FOUND);
    assert_int_equal(rm_stream_calibration(workspace, "bpm02/turn", calibration, &error), RM_OK);
    assert_int_equal(calibration->stated, RM_CALIBRATED_NOT);
    assert_int_equal((int)calibration->calibration.calibrated_lanes, 0);
    assert_string_equal(calibration->unit[0], "nm");
    assert_int_equal(rm_stream_calibration(workspace, "bpm01/turn", calibration, &error), RM_OK);
    rm_workspace_detach(workspace);
}

static void check_physical(struct fixture *fixture, enum rm_calibrated apply) {
    struct rm_calibrated_stream calibration;
    double out[RM_LANES];
    serve(fixture, apply);
    read_physical(fixture, &calibration, out);
    assert_int_equal(calibration.stated, apply);
    assert_string_equal(calibration.unit[0], "mm");
    assert_string_equal(calibration.unit[2], "bits");
    assert_true(out[0] > 0.9999999 && out[0] < 1.0000001);
    assert_true(out[1] > -1.0000001 && out[1] < -0.9999999);
    assert_true(out[2] == 7);
    stop(fixture);
}

static void test_in_reading(void **state) {
    struct fixture *fixture = *state;
    check_physical(fixture, RM_CALIBRATED_IN_READING);
    assert_null(rm_calibrations_compiled(fixture->calibrations, 0));
}

static void test_in_the_stream(void **state) {
    struct fixture *fixture = *state;
    check_physical(fixture, RM_CALIBRATED_IN_STREAM);
    assert_int_equal(rm_calibrations_compiled(fixture->calibrations, 0)->calibrated, 3);
    assert_null(rm_calibrations_compiled(fixture->calibrations, 1));
}

/** Starts again, with this table; whether the rings of the last run were taken over. */
static bool adopts(struct fixture *fixture, enum rm_calibrated apply, char const *table) {
    serve(fixture, apply);
    stop(fixture);
    rm_calibrations_free(fixture->calibrations);
    write_table(fixture, table);
    serve(fixture, apply);
    bool const adopted = fixture->segment.adopted;
    stop(fixture);
    rm_calibrations_free(fixture->calibrations);
    fixture->calibrations = NULL;
    return adopted;
}

static void test_rings_are_not_taken_over_with_another_calibration_in_the_stream(void **state) {
    struct fixture *fixture = *state;
    char other[sizeof TABLE];
    strcpy(other, TABLE);
    *strrchr(other, '2') = '3';
    assert_true(adopts(fixture, RM_CALIBRATED_IN_READING, other));
    assert_true(adopts(fixture, RM_CALIBRATED_IN_STREAM, other));
    assert_false(adopts(fixture, RM_CALIBRATED_IN_STREAM, TABLE));
}

static void test_errors_say_where(void **state) {
    struct fixture *fixture = *state;
    struct rm_error error;
    fixture->config.calibration.apply = RM_CALIBRATED_IN_STREAM;
    write_table(fixture, "instrument,flags.gain [V/bits]\nbpm02,1\n");
    assert_int_equal(rm_calibrations_load(&fixture->config, &fixture->calibrations, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "table.csv:2:1: lane flags of bpm02 holds bits"));
    write_table(fixture, "instrument\nbpm1\n");
    assert_int_equal(rm_calibrations_load(&fixture->config, &fixture->calibrations, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "table.csv:2:1: found \"bpm1\""));
    strcpy(fixture->config.calibration.path, "/nonexistent/table.csv");
    assert_int_equal(rm_calibrations_load(&fixture->config, &fixture->calibrations, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "calibration.file: /nonexistent/table.csv: cannot be read"));
    assert_null(fixture->calibrations);
}

static void test_without_a_table_nothing_happens(void **state) {
    struct fixture *fixture = *state;
    struct rm_error error;
    fixture->config.calibration.apply = RM_CALIBRATED_NOT;
    assert_int_equal(rm_calibrations_load(&fixture->config, &fixture->calibrations, &error), RM_OK);
    assert_null(fixture->calibrations);
    struct rm_stream stream = {.calibrated = RM_CALIBRATED_NOT};
    rm_calibrations_state(NULL, 0, &stream);
    assert_int_equal(stream.calibrated, RM_CALIBRATED_NOT);
    assert_null(rm_calibrations_compiled(NULL, 0));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_in_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_the_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rings_are_not_taken_over_with_another_calibration_in_the_stream, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_errors_say_where, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_a_table_nothing_happens, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
