// SPDX-License-Identifier: Apache-2.0
/* The table of calibrations: what it may say, and what is said of what it may not. */
#include "calibration/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BPM01, BLM01, PICKUP, INSTRUMENTS };

/** A temporary file, and three instruments: bpm01 with x1 … y2 in nm, blm01 with two losses, pickup with x, y in
 * counts. */
struct fixture {
    char path[64];
    struct rm_lane_info lane[INSTRUMENTS][RM_LANES];
    struct rm_calibration_instrument instrument[INSTRUMENTS];
};

static void set_lanes(struct fixture *fixture, int index, char const *name, char const *unit,
                      char const *const lanes[]) {
    struct rm_calibration_instrument *instrument = &fixture->instrument[index];
    *instrument = (struct rm_calibration_instrument){.name = name, .lane = fixture->lane[index]};
    for (; lanes[instrument->lane_count] != NULL; ++instrument->lane_count) {
        struct rm_lane_info *lane = &fixture->lane[index][instrument->lane_count];
        strcpy(lane->name, lanes[instrument->lane_count]);
        strcpy(lane->unit, unit);
        lane->type = RM_LANE_I32;
    }
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return -1;
    strcpy(fixture->path, "/tmp/ringmaster-calibration-XXXXXX");
    int const file = mkstemp(fixture->path);
    if (file < 0)
        return -1;
    close(file);
    set_lanes(fixture, BPM01, "bpm01", "nm", (char const *const[]){"x1", "y1", "sum1", "x2", "y2", NULL});
    set_lanes(fixture, BLM01, "blm01", "counts", (char const *const[]){"loss1", "loss2", NULL});
    set_lanes(fixture, PICKUP, "pickup", "counts", (char const *const[]){"x", "y", NULL});
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    unlink(fixture->path);
    free(fixture);
    return 0;
}

static enum rm_code load(struct fixture *fixture, char const *text, struct rm_error *error) {
    FILE *file = fopen(fixture->path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    *error = (struct rm_error){.text = ""};
    return rm_calibration_load_csv(fixture->path, fixture->instrument, INSTRUMENTS, error);
}

static void assert_loads(struct fixture *fixture, char const *text) {
    struct rm_error error;
    if (load(fixture, text, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** The error is "FILE:place: …", and says `words`. */
static void assert_refused(struct fixture *fixture, char const *text, char const *place, char const *words) {
    struct rm_error error;
    char start[96];
    snprintf(start, sizeof start, "%s:%s: ", fixture->path, place);
    if (load(fixture, text, &error) != RM_E_CONFIG || strncmp(error.text, start, strlen(start)) != 0 ||
        strstr(error.text, words) == NULL)
        fail_msg("found \"%s\", expected \"%s…%s…\"", error.text, start, words);
}

static void test_a_row_calibrates_one_bpm(void **state) {
    struct fixture *fixture = *state;
    assert_loads(fixture, "instrument,bpm,x.gain [mm/nm],y.gain [mm/nm],x.offset [mm],roll [mrad],y.k30 [1/mm^2],"
                          "x.electrical_offset [mm],y.mechanical_offset [mm],x.c2 [mm/nm^2]\n"
                          "bpm01,2,1e-6,2e-6,0.5,3,0.01,-1,+2.5,1e-20\n");
    struct rm_calibration const *calibration = &fixture->instrument[BPM01].calibration;
    assert_int_equal((int)calibration->calibrated_lanes, 3 << 3);
    assert_true(calibration->lane[3].c[0] == 0.5);
    assert_true(calibration->lane[3].c[1] == 1e-6);
    assert_true(calibration->lane[3].c[2] == 1e-20);
    assert_true(calibration->lane[4].c[1] == 2e-6);
    assert_true(fabs(calibration->bpm[1].roll_rad - 3e-3) < 1e-18);
    assert_true(calibration->bpm[1].y.k[RM_K30] == 0.01);
    assert_true(calibration->bpm[1].x.electrical_offset == -1);
    assert_true(calibration->bpm[1].y.mechanical_offset == 2.5);
    assert_true(calibration->lane[0].c[1] == 1);
    assert_string_equal(fixture->instrument[BPM01].unit[3], "mm");
    assert_string_equal(fixture->instrument[BPM01].unit[0], "nm");
    assert_int_equal(fixture->instrument[BPM01].line[3], 2);
    assert_int_equal(fixture->instrument[BPM01].line[0], 0);
    assert_int_equal((int)fixture->instrument[BLM01].calibration.calibrated_lanes, 0);
}

static void test_every_coefficient_has_its_place(void **state) {
    struct fixture *fixture = *state;
    assert_loads(fixture, "instrument,x.offset [mm],x.gain [mm/counts],x.c2 [mm/counts^2],x.c3 [mm/counts^3],x.k10 [1],"
                          "x.k30 [1/mm^2],x.k12 [1/mm^2],x.k50 [1/mm^4],x.k32 [1/mm^4],x.k14 [1/mm^4],"
                          "x.electrical_offset [mm],x.mechanical_offset [mm],y.gain [mm/counts]\n"
                          "pickup,1,2,3,4,5,6,7,8,9,10,11,12,13\n");
    struct rm_calibration const *calibration = &fixture->instrument[PICKUP].calibration;
    struct rm_calibration_plane const *x = &calibration->bpm[0].x;
    for (int i = 0; i < 4; ++i)
        assert_true(calibration->lane[0].c[i] == 1 + i);
    for (int i = 0; i < RM_K_COUNT; ++i)
        assert_true(x->k[i] == 5 + i);
    assert_true(x->electrical_offset == 11 && x->mechanical_offset == 12);
    assert_true(calibration->lane[1].c[1] == 13 && calibration->bpm[0].y.k[RM_K10] == 1);
}

static void test_tables_are_as_spreadsheets_write_them(void **state) {
    struct fixture *fixture = *state;
    assert_loads(fixture, "\xEF\xBB\xBF# machine of today\r\n\"instrument\" , \"loss1.gain [Gy/counts]\",loss2.gain "
                          "[Gy/counts]\r\n\r\n,,\r\n \"blm01\" , 0.5 ,\r\n# the end");
    struct rm_calibration_instrument const *blm = &fixture->instrument[BLM01];
    assert_true(blm->calibration.lane[0].c[1] == 0.5);
    assert_string_equal(blm->unit[0], "Gy");
    assert_int_equal((int)blm->calibration.calibrated_lanes, 1);
    assert_int_equal(blm->line[0], 5);
}

static void test_columns_may_differ_in_unit_alone(void **state) {
    struct fixture *fixture = *state;
    assert_loads(fixture, "instrument,bpm,x.gain [mm/nm],y.gain [mm/nm],x.gain [mm/counts],y.gain [mm/counts]\n"
                          "bpm01,1,1e-6,1e-6,,\npickup,,,,1e-3,2e-3\n");
    assert_true(fixture->instrument[PICKUP].calibration.lane[1].c[1] == 2e-3);
    assert_true(fixture->instrument[BPM01].calibration.lane[0].c[1] == 1e-6);
}

static void test_geometry_alone_calibrates_both_planes(void **state) {
    struct fixture *fixture = *state;
    assert_loads(fixture, "instrument,roll1 [rad],x2.mechanical_offset [nm]\nbpm01,0.25,100\n");
    struct rm_calibration const *calibration = &fixture->instrument[BPM01].calibration;
    assert_int_equal((int)calibration->calibrated_lanes, 3 | 3 << 3);
    assert_true(calibration->bpm[0].roll_rad == 0.25);
    assert_string_equal(fixture->instrument[BPM01].unit[4], "nm");
}

static void test_a_lane_without_a_unit_is_in_ones(void **state) {
    struct fixture *fixture = *state;
    fixture->lane[BLM01][0].unit[0] = '\0';
    assert_loads(fixture, "instrument,loss1.gain [Gy/1],loss1.offset [Gy]\nblm01,2,1\n");
    assert_string_equal(fixture->instrument[BLM01].unit[0], "Gy");
    assert_loads(fixture, "instrument,loss1.offset [1]\nblm01,2\n");
    assert_refused(fixture, "instrument,loss1.gain [Gy/counts]\nblm01,2\n", "2:7", "is sent in 1");
}

static void test_heads_that_are_wrong(void **state) {
    struct fixture *fixture = *state;
    assert_refused(fixture, "", "0:1", "empty");
    assert_refused(fixture, "bpm,x.gain [1]\n", "1:1", "one column \"instrument\"");
    assert_refused(fixture, "instrument,gain\n", "1:12", "LANE.QUANTITY [UNIT]");
    assert_refused(fixture, "instrument,x.gian [mm/nm]\n", "1:12", "did you mean \"gain\"?");
    assert_refused(fixture, "instrument,x.gain\n", "1:12", "without a unit");
    assert_refused(fixture, "instrument,x.gain [mm\n", "1:12", "LANE.QUANTITY [UNIT]");
    assert_refused(fixture, "instrument, roll [deg]\n", "1:13", "[rad], [mrad] or [urad]");
    assert_refused(fixture, "instrument,\"x.gain [mm/nm]\n", "1:12", "does not end in this line");
    assert_refused(fixture, "\"instrument\" x\n", "1:14", "expected a comma");
}

static void test_rows_that_are_wrong(void **state) {
    struct fixture *fixture = *state;
    char const *const head = "instrument,bpm,x.gain [mm/nm],y.gain [mm/nm]\n";
    static struct {
        char const *row, *place, *words;
    } const rows[] = {
        {"bpm1,1,1,1\n", "2:1", "expected the name of an instrument (did you mean \"bpm01\"?)"},
        {",1,1,1\n", "2:1", "expected the name of an instrument"},
        {"bpm01,3,1,1\n", "2:9", "bpm01 has no lane \"x3\" (did you mean"},
        {"bpm01,1,1.0.0,1\n", "2:9", "found \"1.0.0\", expected a number"},
        {"bpm01,1,inf,1\n", "2:9", "expected a number"},
        {"bpm01,1,0x10,1\n", "2:9", "expected a number"},
        {"bpm01,1,1e999,1\n", "2:9", "expected a number"},
        {"bpm01,1,0,1\n", "2:9", "gain of 0"},
        {"bpm01,1,1,1,1\n", "2:13", "5 cells, expected at most 4"},
        {"bpm01,1,1,1\nbpm01,1,1,1\n", "3:9", "in line 2 already"},
        {"bpm01,1,1\n", "2:9", "x1 of bpm01 becomes mm and y1 nm, expected one unit"},
        {"pickup,,1,1\n", "2:9", "unit is mm/nm, expected …/counts: lane x of pickup is sent in counts"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", head, rows[i].row);
        assert_refused(fixture, text, rows[i].place, rows[i].words);
    }
}

static void test_units_that_contradict_each_other(void **state) {
    struct fixture *fixture = *state;
    assert_refused(fixture, "instrument,x1.gain [mm/nm],x1.offset [um]\nbpm01,1,1\n", "2:9",
                   "unit is um, expected mm: lane x1 of bpm01 is sent in nm");
    assert_refused(fixture, "instrument,x1.offset [mm],y1.offset [mm]\nbpm01,1,1\n", "2:7", "its gain too, in mm/nm");
    assert_refused(fixture, "instrument,x1.k30 [1/mm^2]\nbpm01,1\n", "2:7", "unit is 1/mm^2, expected 1/nm^2");
    assert_refused(fixture, "instrument,x1.k10 [mm]\nbpm01,1\n", "2:7", "unit is mm, expected 1");
    assert_refused(fixture, "instrument,loss1.k30 [1/mm^2]\nblm01,1\n", "2:7", "is not the x or y of a BPM");
    assert_refused(fixture, "instrument,loss1.gain [Gy/counts],loss1.gain [mGy/counts]\nblm01,1,2\n", "2:9",
                   "given twice");
    strcpy(fixture->lane[PICKUP][0].name, "xa");
    strcpy(fixture->lane[PICKUP][1].name, "ya");
    assert_refused(fixture, "instrument,bpm,roll [rad]\npickup,a,1\n", "2:10", "xa and ya of pickup are no BPM");
    assert_refused(fixture, "instrument,roll1 [rad],roll1 [mrad]\nbpm01,1,2\n", "2:9", "given twice");
}

static void test_files_that_cannot_be_read(void **state) {
    struct fixture *fixture = *state;
    struct rm_error error;
    assert_int_equal(rm_calibration_load_csv("/nonexistent/calibration.csv", fixture->instrument, INSTRUMENTS, &error),
                     RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/nonexistent/calibration.csv: cannot be read: No such file"));
    assert_int_equal(rm_calibration_load_csv("/tmp", fixture->instrument, INSTRUMENTS, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/tmp: cannot be read: Is a directory"));
    assert_int_equal(rm_calibration_load_csv("/dev/zero", fixture->instrument, INSTRUMENTS, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "/dev/zero: holds a zero byte"));
}

static void test_the_template_loads_and_calibrates_by_the_identity(void **state) {
    struct fixture *fixture = *state;
    FILE *file = fopen(fixture->path, "w");
    assert_non_null(file);
    struct rm_error error;
    assert_int_equal(rm_calibration_write_template(file, fixture->instrument, INSTRUMENTS, &error), RM_OK);
    assert_int_equal(fclose(file), 0);
    if (rm_calibration_load_csv(fixture->path, fixture->instrument, INSTRUMENTS, &error) != RM_OK)
        fail_msg("%s", error.text);
    uint32_t const all[INSTRUMENTS] = {3 | 3 << 3, 3, 3};
    for (int i = 0; i < INSTRUMENTS; ++i) {
        struct rm_calibration_instrument const *instrument = &fixture->instrument[i];
        struct rm_calibration identity;
        rm_calibration_identity(&identity, instrument->lane, instrument->lane_count);
        identity.calibrated_lanes = all[i];
        assert_memory_equal(&instrument->calibration, &identity, sizeof identity);
        assert_string_equal(instrument->unit[0], instrument->lane[0].unit);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_a_row_calibrates_one_bpm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_coefficient_has_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tables_are_as_spreadsheets_write_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_columns_may_differ_in_unit_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_geometry_alone_calibrates_both_planes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lane_without_a_unit_is_in_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heads_that_are_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_that_are_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units_that_contradict_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_that_cannot_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_template_loads_and_calibrates_by_the_identity, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
