// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "meter.h"
#include "test_series.h"

enum { TURNS = 1024, BPMS = 3, FIRST_TURN = 5000 };

static double const TUNE[TUNE_PLANES] = {0.2137, 0.3291}, ROOT_2J = 2.0, NOISE = 0.1;

static struct tune_bpm bpm[BPMS];
static struct tune_meter meter;
static struct tune_reading reading[TUNE_PLANES];
static uint64_t turn;

static void turn_make(float position[TUNE_PLANES][BPMS]) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        for (int b = 0; b < BPMS; ++b) {
            double const phase = TWO_PI * TUNE[plane] * (double)turn + bpm[b].phase_rad;
            position[plane][b] = (float)(ROOT_2J * sqrt(bpm[b].beta_m) * cos(phase) + NOISE * draw_normal());
        }
}

/** Good turns, one after the other. */
static void turns_push(uint32_t count) {
    float position[TUNE_PLANES][BPMS];
    for (uint32_t i = 0; i < count; ++i, ++turn) {
        turn_make(position);
        tune_meter_push(&meter, turn, position[0], 1);
    }
}

static int meter_open(void **state) {
    (void)state;
    for (int b = 0; b < BPMS; ++b)
        bpm[b] = (struct tune_bpm){4.0 + b, 1.1 * b, NOISE};
    struct tune_meter_plan plan = {.turns = TURNS, .kind = TUNE_HANN, .bpms = BPMS, .bpm = {bpm, bpm}};
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        plan.low[plane] = TUNE[plane] - 0.05;
        plan.high[plane] = TUNE[plane] + 0.05;
    }
    plan.limits = tune_quality_limits(TURNS);
    plan.limits.full_scale = 1e3;
    turn = FIRST_TURN;
    return tune_meter_open(&meter, &plan) ? 0 : -1;
}

static int meter_close(void **state) {
    (void)state;
    tune_meter_close(&meter);
    return 0;
}

/** A reading is there, and is that of the line. */
static void assert_good(int plane, uint32_t bpms) {
    struct tune_peak const *const peak = &reading[plane].peak;
    assert_int_equal(reading[plane].reasons, 0);
    assert_int_equal(reading[plane].bpms, bpms);
    assert_int_equal(reading[plane].turn, turn - 1);
    assert_true(fabs(peak->tune - TUNE[plane]) < 6.0 * peak->tune_sigma && peak->tune_sigma < 1e-5);
    assert_true(fabs(peak->amplitude - ROOT_2J) < 8.0 * peak->amplitude_sigma);
}

static void test_reads_both_planes_from_a_whole_window_on(void **state) {
    (void)state;
    turns_push(TURNS - 1);
    assert_false(tune_meter_read(&meter, 100.0, reading));
    for (int i = 0; i < 3; ++i) {
        turns_push(i == 0 ? 1 : 357);
        assert_true(tune_meter_read(&meter, 100.0, reading));
        for (int plane = 0; plane < TUNE_PLANES; ++plane)
            assert_good(plane, BPMS);
        assert_true(reading[0].delay_turns == 0.5 * (TURNS - 1));
    }
}

/** Several turns at once are as one after the other. */
static void test_runs_of_turns_are_the_same(void **state) {
    (void)state;
    enum { RUN = 37, RUNS = 2 * TURNS / RUN };
    static float position[RUNS * RUN][TUNE_PLANES][BPMS];
    struct tune_reading expected[TUNE_PLANES];
    for (uint32_t i = 0; i < RUNS * RUN; ++i, ++turn) {
        turn_make(position[i]);
        position[i][1][2] = i % 300 == 0 ? NAN : position[i][1][2];
        tune_meter_push(&meter, turn, position[i][0], 1);
    }
    assert_true(tune_meter_read(&meter, 100.0, expected));
    for (uint32_t run = 0; run < RUNS; ++run)
        tune_meter_push(&meter, FIRST_TURN + run * RUN, position[run * RUN][0], RUN);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_int_equal(reading[1].lost_turns, 3);
    assert_int_equal(reading[1].turn, expected[1].turn);
    assert_true(reading[1].peak.tune == expected[1].peak.tune && reading[0].peak.floor == expected[0].peak.floor);
}

static void test_turns_that_did_not_come_are_counted(void **state) {
    (void)state;
    turns_push(TURNS);
    turn += 7;
    turns_push(100);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_int_equal(reading[0].lost_turns, 7);
    assert_int_equal(reading[0].reasons, 0);
    turn += 20; /* now more than a hundredth */
    turns_push(1);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_int_equal(reading[1].bpms, 0);
    assert_int_equal(reading[1].reasons, TUNE_LOST_TURNS | TUNE_NO_PEAK);
    assert_true(isnan(reading[1].peak.tune));
    turns_push(TURNS);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_good(1, BPMS);
}

static void test_begins_anew_where_the_turn_counter_restarts(void **state) {
    (void)state;
    turns_push(TURNS);
    turn = 17;
    turns_push(TURNS - 1);
    assert_false(tune_meter_read(&meter, 100.0, reading));
    turns_push(1);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_good(0, BPMS);
    turn += TURNS;
    turns_push(1);
    assert_false(tune_meter_read(&meter, 100.0, reading));
}

/** What a BPM reads while it is bad. */
static float bad_reading(uint32_t reason, uint32_t i) {
    switch (reason) {
    case TUNE_FROZEN:
        return 0.25f;
    case TUNE_SATURATED:
        return i == 0 ? 1e3f : 1.0f;
    default:
        return NAN;
    }
}

/** One BPM, in one plane, for as long as it takes to be frozen; the plane goes on without it until that has left. */
static void test_a_bad_bpm_is_left_out_until_it_is_good(void **state) {
    (void)state;
    static uint32_t const reasons[] = {TUNE_FROZEN, TUNE_SATURATED, TUNE_LOST_TURNS};
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; ++r) {
        uint32_t const bad = meter.plan.limits.frozen_turns + 1;
        turns_push(TURNS);
        for (uint32_t i = 0; i < bad; ++i, ++turn) {
            float position[TUNE_PLANES][BPMS];
            turn_make(position);
            position[1][2] = bad_reading(reasons[r], i);
            tune_meter_push(&meter, turn, position[0], 1);
        }
        assert_true(tune_meter_read(&meter, 100.0, reading));
        assert_good(0, BPMS);
        assert_good(1, BPMS - 1);
        turns_push(TURNS);
        assert_true(tune_meter_read(&meter, 100.0, reading));
        assert_good(1, BPMS);
    }
}

static void test_says_where_there_is_no_beam(void **state) {
    (void)state;
    meter.plan.limits.beam = 1.0;
    turns_push(TURNS);
    assert_true(tune_meter_read(&meter, 0.1, reading));
    assert_int_equal(reading[0].reasons, TUNE_NO_BEAM);
}

/** Of all BPMs, √(2J) at the line; and no number where none is in use. */
static void test_rows_have_the_band_s_amplitudes(void **state) {
    (void)state;
    static float row[TURNS];
    struct tune_band const band = tune_meter_band(TURNS, TUNE[1] - 0.05, TUNE[1] + 0.05);
    uint32_t const bins = band.last - band.first + 1, peak = (uint32_t)lrint(TUNE[1] * TURNS) - band.first;
    assert_true(fabs((double)band.first / TURNS - TUNE[1] + 0.05) < 1.0 / TURNS);
    row[bins] = -7.0f;
    meter.row[1] = row;
    turns_push(TURNS);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_true((double)row[peak] > 0.84 * ROOT_2J && (double)row[peak] < 1.01 * ROOT_2J);
    assert_true(row[0] < 0.02f && row[bins - 1] < 0.02f && row[bins] == -7.0f);
    turn += 20; /* more than a hundredth is lost, of all */
    turns_push(1);
    assert_int_equal(tune_meter_bpm_reasons(&meter, 1, 2), TUNE_LOST_TURNS);
    assert_true(tune_meter_read(&meter, 100.0, reading));
    assert_true(isnan(row[0]) && isnan(row[bins - 1]) && row[bins] == -7.0f);
    meter.row[1] = NULL;
    assert_true(tune_meter_read(&meter, 100.0, reading));
}

static void test_refuses_a_band_without_room(void **state) {
    (void)state;
    struct tune_meter other;
    struct tune_meter_plan plan = meter.plan;
    plan.low[1] = plan.high[1] - 10.0 / TURNS;
    assert_false(tune_meter_open(&other, &plan));
    plan.low[1] = 0.9;
    assert_false(tune_meter_open(&other, &plan));
    plan = meter.plan;
    plan.bpms = 0;
    assert_false(tune_meter_open(&other, &plan));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_both_planes_from_a_whole_window_on, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_runs_of_turns_are_the_same, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_turns_that_did_not_come_are_counted, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_begins_anew_where_the_turn_counter_restarts, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_a_bad_bpm_is_left_out_until_it_is_good, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_says_where_there_is_no_beam, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_rows_have_the_band_s_amplitudes, meter_open, meter_close),
        cmocka_unit_test_setup_teardown(test_refuses_a_band_without_room, meter_open, meter_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
