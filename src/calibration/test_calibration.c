// SPDX-License-Identifier: Apache-2.0
/* The mathematics: by cases worked out by hand, and the server's fast version against the readers' exact one. */
#include "calibration/compiled.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { X1, Y1, SUM1, LOSS, X2, Y2, LANES };

static void name_lanes(struct rm_lane_info lanes[RM_LANES]) {
    static char const *const names[LANES] = {"x1", "y1", "sum1", "loss", "x2", "y2"};
    memset(lanes, 0, RM_LANES * sizeof *lanes);
    for (int i = 0; i < LANES; ++i) {
        strcpy(lanes[i].name, names[i]);
        lanes[i].type = RM_LANE_I32;
    }
}

static void make(struct rm_lane_info lanes[RM_LANES], struct rm_calibration *calibration, uint32_t calibrated) {
    name_lanes(lanes);
    rm_calibration_identity(calibration, lanes, LANES);
    calibration->calibrated_lanes = calibrated;
}

static struct rm_record record_of(int32_t x, int32_t y) {
    return (struct rm_record){.turn = 77, .tag = 5, .lane = {{x}, {y}, {1000}, {-3}, {2 * x}, {2 * y}}};
}

static void assert_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

static void test_identity_changes_nothing(void **state) {
    (void)state;
    struct rm_lane_info lanes[RM_LANES];
    struct rm_calibration calibration;
    make(lanes, &calibration, 0x3F);
    assert_int_equal((int)calibration.bpm_count, 2);
    assert_int_equal((int)calibration.bpm[1].x_lane, X2);
    assert_int_equal((int)calibration.bpm[1].y_lane, Y2);
    assert_true(rm_calibration_is_good(&calibration));
    struct rm_record const record = record_of(-5, 7);
    double out[RM_LANES];
    rm_calibrate(&calibration, &record, lanes, out);
    double const expected[RM_LANES] = {-5, 7, 1000, -3, -10, 14};
    assert_memory_equal(out, expected, sizeof out);
}

static void test_lanes_follow_their_polynomial(void **state) {
    (void)state;
    struct rm_lane_info lanes[RM_LANES];
    struct rm_calibration calibration;
    make(lanes, &calibration, 1u << LOSS);
    calibration.lane[LOSS] = (struct rm_calibration_lane){{1, 2, 3, 4}};
    calibration.lane[SUM1] = (struct rm_calibration_lane){{9, 9, 9, 9}}; /* not marked: stays raw */
    struct rm_record const record = record_of(0, 0);
    double out[RM_LANES];
    rm_calibrate(&calibration, &record, lanes, out);
    assert_near(out[LOSS], 1 - 6 + 27 - 108);
    assert_near(out[SUM1], 1000);
}

/* A roll by 90 degrees: what the turned pick-up calls x is the beam's y, and its y is the beam's -x. */
static void test_roll_turns_from_x_to_y(void **state) {
    (void)state;
    struct rm_lane_info lanes[RM_LANES];
    struct rm_calibration calibration;
    make(lanes, &calibration, 3);
    calibration.bpm[0].roll_rad = M_PI / 2;
    struct rm_record const record = record_of(10, 3);
    double out[RM_LANES];
    rm_calibrate(&calibration, &record, lanes, out);
    assert_near(out[X1], -3);
    assert_near(out[Y1], 10);
    assert_near(out[X2], 20); /* the other BPM is not turned */
}

static void test_offsets_are_subtracted_before_and_after_the_roll(void **state) {
    (void)state;
    struct rm_lane_info lanes[RM_LANES];
    struct rm_calibration calibration;
    make(lanes, &calibration, 3);
    calibration.bpm[0].roll_rad = M_PI / 2;
    calibration.bpm[0].x.electrical_offset = 1;
    calibration.bpm[0].y.electrical_offset = 2;
    calibration.bpm[0].x.mechanical_offset = 100;
    calibration.bpm[0].y.mechanical_offset = 200;
    struct rm_record const record = record_of(10, 3);
    double out[RM_LANES];
    rm_calibrate(&calibration, &record, lanes, out);
    assert_near(out[X1], -(3 - 2) - 100);
    assert_near(out[Y1], (10 - 1) - 200);
}

static void test_each_order_has_its_power(void **state) {
    (void)state;
    double const x = 2, y = 3;
    double const power[RM_K_COUNT] = {1, x * x, y * y, x * x * x * x, x * x * y * y, y * y * y * y};
    double const power_y[RM_K_COUNT] = {1, y * y, x * x, y * y * y * y, x * x * y * y, x * x * x * x};
    for (int order = 0; order < RM_K_COUNT; ++order) {
        struct rm_lane_info lanes[RM_LANES];
        struct rm_calibration calibration;
        make(lanes, &calibration, 3);
        calibration.bpm[0].x.k[RM_K10] = calibration.bpm[0].y.k[RM_K10] = 0;
        calibration.bpm[0].x.k[order] = 0.5;
        calibration.bpm[0].y.k[order] = 0.25;
        struct rm_record const record = record_of(2, 3);
        double out[RM_LANES];
        rm_calibrate(&calibration, &record, lanes, out);
        assert_near(out[X1], x * 0.5 * power[order]);
        assert_near(out[Y1], y * 0.25 * power_y[order]);
    }
}

static void test_windows_have_nan_where_a_record_is_missing(void **state) {
    (void)state;
    struct rm_lane_info lanes[RM_LANES];
    struct rm_calibration calibration;
    make(lanes, &calibration, 0);
    lanes[LOSS].type = RM_LANE_F32;
    struct rm_record records[2] = {{.turn = RM_TURN_NONE}, record_of(1, 2)};
    records[1].lane[LOSS].f = 0.5f;
    double out[2][RM_LANES];
    rm_calibrate_window(&calibration, records, 2, lanes, out);
    for (int lane = 0; lane < RM_LANES; ++lane)
        assert_true(isnan(out[0][lane]));
    assert_near(out[1][LOSS], 0.5);
    assert_near(out[1][Y1], 2);
}

static void test_what_cannot_be_used_is_not_good(void **state) {
    (void)state;
    static struct {
        size_t value;
        double bad;
    } const spoilt[] = {{0, 2},   {1, 7},  {1, 1.5}, {1, -1},      {2, 4096},      {2, 0.5},
                        {52, 12}, {53, 0}, {53, -1}, {4 + 6, NAN}, {54, INFINITY}, {171, NAN}};
    for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; ++i) {
        struct rm_lane_info lanes[RM_LANES];
        struct rm_calibration calibration;
        make(lanes, &calibration, 3);
        assert_true(rm_calibration_is_good(&calibration));
        memcpy((char *)&calibration + spoilt[i].value * sizeof(double), &spoilt[i].bad, sizeof(double));
        if (rm_calibration_is_good(&calibration))
            fail_msg("value %zu may not be %g", spoilt[i].value, spoilt[i].bad);
    }
}

/* ---- the server's version ---- */

static double random_in(double low, double high) { return low + (high - low) * (double)rand() / RAND_MAX; }

/** Coefficients as they occur: raw numbers of some 1e6, physical ones of some 1. */
static void make_random(struct rm_lane_info lanes[RM_LANES], struct rm_calibration *calibration, bool affine) {
    make(lanes, calibration, (uint32_t)(rand() % (1 << LANES)));
    for (int i = 0; i < LANES; ++i) {
        lanes[i].type = rand() % 2 != 0 ? RM_LANE_I32 : RM_LANE_F32;
        calibration->lane[i] = (struct rm_calibration_lane){{random_in(-1, 1), random_in(0.5e-6, 2e-6)}};
        if (!affine) {
            calibration->lane[i].c[2] = random_in(-1e-13, 1e-13);
            calibration->lane[i].c[3] = random_in(-1e-19, 1e-19);
        }
    }
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b) {
        struct rm_calibration_bpm *bpm = &calibration->bpm[b];
        uint32_t const both = 1u << (uint32_t)bpm->x_lane | 1u << (uint32_t)bpm->y_lane;
        uint32_t const calibrated = (uint32_t)calibration->calibrated_lanes;
        calibration->calibrated_lanes = (calibrated & both) != 0 ? calibrated | both : calibrated;
        bpm->roll_rad = random_in(-0.1, 0.1);
        bpm->x.electrical_offset = random_in(-1, 1);
        bpm->y.mechanical_offset = random_in(-1, 1);
        for (int order = 1; !affine && order < RM_K_COUNT; ++order) {
            bpm->x.k[order] = random_in(-0.01, 0.01);
            bpm->y.k[order] = random_in(-0.01, 0.01);
        }
    }
}

static struct rm_record random_record(struct rm_lane_info const lanes[RM_LANES]) {
    struct rm_record record = {.turn = (uint64_t)rand(), .tag = (uint64_t)rand() << 40};
    for (int i = 0; i < RM_LANES; ++i) {
        double const value = random_in(-2e6, 2e6);
        if (lanes[i].type == RM_LANE_F32)
            record.lane[i].f = (float)value;
        else
            record.lane[i].i = (int32_t)value;
    }
    return record;
}

static void check_record(struct rm_calibration const *calibration, struct rm_lane_info const *lanes,
                         struct rm_record const *before, struct rm_record const *after, double tolerance) {
    double out[RM_LANES];
    rm_calibrate(calibration, before, lanes, out);
    assert_true(after->turn == before->turn && after->tag == before->tag);
    for (uint32_t i = 0; i < RM_LANES; ++i) {
        if (!rm_calibration_has_lane(calibration, i))
            assert_int_equal(after->lane[i].i, before->lane[i].i);
        else if (!(fabs((double)after->lane[i].f - out[i]) <= tolerance))
            fail_msg("lane %u: found %.9g, expected %.9g", i, (double)after->lane[i].f, out[i]);
    }
}

/** `largest` is the size of the largest term; a dozen roundings come together. */
static void check_compiled(bool affine, double largest) {
    for (int round = 0; round < 2000; ++round) {
        struct rm_lane_info lanes[RM_LANES];
        struct rm_calibration calibration;
        make_random(lanes, &calibration, affine);
        struct rm_calibration_compiled compiled;
        rm_calibration_compile(&calibration, lanes, &compiled);
        assert_int_equal(compiled.affine, affine);
        struct rm_record const before = random_record(lanes);
        struct rm_record after = before;
        rm_calibrate_record(&compiled, &after);
        check_record(&calibration, lanes, &before, &after, 12 * largest * FLT_EPSILON);
    }
}

static void test_compiled_first_order_is_exact_to_single_precision(void **state) {
    (void)state;
    check_compiled(true, 4);
}

static void test_compiled_higher_orders_are_exact_to_single_precision(void **state) {
    (void)state;
    check_compiled(false, 80);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_identity_changes_nothing),
        cmocka_unit_test(test_lanes_follow_their_polynomial),
        cmocka_unit_test(test_roll_turns_from_x_to_y),
        cmocka_unit_test(test_offsets_are_subtracted_before_and_after_the_roll),
        cmocka_unit_test(test_each_order_has_its_power),
        cmocka_unit_test(test_windows_have_nan_where_a_record_is_missing),
        cmocka_unit_test(test_what_cannot_be_used_is_not_good),
        cmocka_unit_test(test_compiled_first_order_is_exact_to_single_precision),
        cmocka_unit_test(test_compiled_higher_orders_are_exact_to_single_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
