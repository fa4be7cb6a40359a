// SPDX-License-Identifier: Apache-2.0
/** The key `machine` of a ring's file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_files.h"

#define SUPPLY "unit: A, limits: [-10, 10], slew: 100"

static char const RING[] =
    "setpoints: {period_turns: 12}\n"
    "instruments:\n"
    "  - {name: blm, kind: blm, id: 9, port: ring, source: 10.20.0.9}\n"
    "  - {name: bpm, kind: bpm, id: 1, count: 3, port: ring, source: 10.20.0.1}\n"
    "chains:\n"
    "  - {name: c, count: 2, id: 5, port: ring, address: 10.30.0.1, supplies: [{count: 8, " SUPPLY
    ", name: \"{chain}_\"}]}\n"
    "  - {name: q, id: 9, port: ring, address: 10.30.0.9, supplies: [{name: q_, count: 2, " SUPPLY "}]}\n"
    "  - {name: rf, id: 10, port: ring, address: 10.30.0.10, supplies: [{name: f, " SUPPLY "}]}\n";

static enum rm_code load(char const *machine, struct rm_ring_config *config, struct rm_error *error) {
    char overlay[2048];
    snprintf(overlay, sizeof overlay, "seed: 5\n%s", machine);
    return test_files_load(RING, overlay, config, error);
}

static void check_loads(char const *machine, struct rm_ring_config *config) {
    struct rm_error error = {0};
    if (load(machine, config, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void without_a_machine_the_beam_has_an_orbit(void **state) {
    (void)state;
    struct rm_ring_config config;
    check_loads("", &config);
    assert_false(config.machine.present);
    assert_float_equal(config.beam.orbit_um, 100, 0);
    rm_ring_config_free(&config);
}

static void absent_keys_make_a_machine_without_errors(void **state) {
    (void)state;
    struct rm_ring_config config;
    check_loads("machine: {lattice: elettra2_like}\nbeam: {drift_um: 2}\n", &config);
    struct rm_ring_machine const *machine = &config.machine;
    assert_true(machine->present);
    assert_int_equal(access(machine->lattice, R_OK), 0);
    assert_non_null(strstr(machine->lattice, "/elettra2_like.m"));
    assert_int_equal(machine->seed, 5);
    assert_string_equal(machine->bpms, "BPM*");
    assert_int_equal(machine->bpm_count, 6);
    assert_int_equal(machine->bpm_instrument[0], 1);
    assert_int_equal(machine->bpm_instrument[5], 3);
    assert_int_equal(machine->bpm_lane[4], 0);
    assert_int_equal(machine->bpm_lane[5], 4);
    assert_int_equal(machine->supply_count, 19);
    assert_int_equal(machine->group_count, 0);
    assert_int_equal(machine->rf_supply, -1);
    assert_int_equal(machine->step_turns, 120);
    assert_float_equal(machine->refresh_s, 0.2, 1e-9);
    assert_float_equal(machine->errors.beta_beat + machine->errors.bpm_gain, 0, 0);
    assert_float_equal(config.beam.orbit_um + config.beam.mains_um, 0, 0);
    assert_float_equal(config.beam.drift_um, 2, 0);
    rm_ring_config_free(&config);
}

static void a_format_without_x2_has_one_bpm_of_each(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(
        "instruments:\n"
        "  - {name: one, kind: bpm, format: libera_grouping, count: 4, id: 1, port: ring, source: 10.20.3.1}\n"
        "  - {name: two, kind: bpm, count: 2, id: 9, port: ring, source: 10.20.3.2}\n",
        "machine: {lattice: elettra2_like}\n", &config);
    assert_int_equal(config.machine.bpm_count, 4 + 2 * 2);
    assert_int_equal(config.machine.bpm_instrument[3], 3);
    assert_int_equal(config.machine.bpm_instrument[7], 5);
    assert_int_equal(config.machine.bpm_lane[3], 0);
    assert_int_equal(config.machine.bpm_lane[7], 4);
    rm_ring_config_free(&config);
}

static void nobody_sees_a_machine_without_bpms(void **state) {
    (void)state;
    test_files_expect("instruments: [{name: blm, kind: blm, id: 1, port: ring, source: 10.20.3.1}]\n",
                      "machine: {lattice: elettra2_like}\n",
                      "no instrument would show it, expected instruments of kind bpm");
}

static void every_key_is_taken(void **state) {
    (void)state;
    struct rm_ring_config config;
    check_loads("machine:\n"
                "  lattice: elettra2_like\n"
                "  seed: 7\n"
                "  bpms: \"BPM_S01_*\"\n"
                "  step_turns: 12\n"
                "  refresh_ms: 50\n"
                "  blend_ms: 5\n"
                "  filter: {delay_us: 30, bandwidth_hz: 4000}\n"
                "  errors: {beta_beat: 0.1, bpm_gain: 0.05, bpm_offset_um: 50, bpm_roll_mrad: 5, bpm_crosstalk: 0.01,\n"
                "           corrector_gain: 0.06, corrector_roll_mrad: 4}\n"
                "  correctors:\n"
                "    - {elements: \"CF_S01_*\", plane: x, supplies: \"c0?/1-6\", urad_per_unit: 10, eddy_hz: 8000}\n"
                "    - {elements: \"CL_S01_*\", plane: y, supplies: \"c02/8\", urad_per_unit: -10}\n"
                "  strengths: [{elements: \"QF1_S01_*\", change: skew, supplies: \"q*\", per_unit: 0.001}]\n"
                "  rf: {supply: rf/1, hz_per_unit: 2}\n"
                "  disturbances:\n"
                "    mains: [{hz: 50, orbit_um: 150}, {hz: 100, orbit_um: 30}]\n"
                "    mains_wander: 0.002\n"
                "    ground: {rms_nm: 50, corner_hz: 20}\n"
                "    steps: {urad: 1, every_s: 5}\n"
                "    insertion: {at: LS_S03_01, urad: 5, ramp_s: 2, every_s: 30}\n"
                "    topup: {urad: 50, every_s: 60, turns: 1000}\n",
                &config);
    struct rm_ring_machine const *machine = &config.machine;
    assert_int_equal(machine->seed, 7);
    assert_int_equal(machine->step_turns, 12);
    assert_float_equal(machine->blend_s, 0.005, 1e-9);
    assert_float_equal(machine->bpm_delay_s, 30e-6, 1e-12);
    assert_float_equal(machine->bpm_bandwidth_hz, 4000, 0);
    assert_float_equal(machine->errors.bpm_roll_rad, 5e-3, 1e-12);
    assert_float_equal(machine->errors.corrector_gain, 0.06, 0);
    assert_int_equal(machine->group_count, 3);
    struct rm_machine_group const *group = machine->group;
    assert_int_equal(group[0].supply_count, 12);
    assert_int_equal(group[0].supply[6], 8);
    assert_int_equal(group[0].plane, 'x');
    assert_float_equal(group[0].per_unit, 10e-6, 1e-15);
    assert_float_equal(group[0].eddy_hz, 8000, 0);
    assert_int_equal(group[1].supply_count, 1);
    assert_int_equal(group[1].supply[0], 15);
    assert_int_equal(group[1].plane, 'y');
    assert_int_equal(group[2].plane, 'q');
    assert_int_equal(group[2].change, RM_CHANGE_SKEW);
    assert_int_equal(group[2].supply[1], 17);
    assert_int_equal(machine->rf_supply, 18);
    assert_float_equal(machine->rf_hz_per_unit, 2, 0);
    assert_int_equal(machine->disturbances.mains_count, 2);
    assert_float_equal(machine->disturbances.mains[0].orbit_m, 150e-6, 1e-12);
    assert_float_equal(machine->disturbances.ground_rms_m, 50e-9, 1e-15);
    assert_float_equal(machine->disturbances.insertion_every_s, 30, 0);
    assert_int_equal(machine->disturbances.topup_turns, 1000);
    rm_ring_config_free(&config);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static struct {
        char const *machine;
        char const *expected;
    } const cases[] = {
        {"{}", "machine: the key \"lattice\" is missing"},
        {"{lattice: nowhere}", "machine.lattice: found \"nowhere\""},
        {"{lattice: ./elettra2_like.m}", "machine.lattice: found \"./elettra2_like.m\""},
        {"{lattice: elettra2_like, step_turns: 0}", "machine.step_turns: found 0"},
        {"{lattice: elettra2_like, refresh_ms: -1}", "machine.refresh_ms: found -1"},
        {"{lattice: elettra2_like, filter: {delay_us: -1}}", "machine.filter.delay_us: found -1"},
        {"{lattice: elettra2_like, errors: {beta_beat: 2}}", "machine.errors.beta_beat: found 2"},
        {"{lattice: elettra2_like, errors: {beta: 2}}", "machine.errors: unknown key \"beta\""},
        {"{lattice: elettra2_like, correctors: [{elements: C, plane: z, supplies: c01, urad_per_unit: 1}]}",
         "machine.correctors[0].plane"},
        {"{lattice: elettra2_like, correctors: [{elements: C, plane: x, supplies: d, urad_per_unit: 1}]}",
         "machine.correctors[0].supplies: found \"d\", which means none of the 19 supplies"},
        {"{lattice: elettra2_like, correctors: [{elements: C, plane: x, supplies: c01/9, urad_per_unit: 1}]}",
         "machine.correctors[0].supplies: found \"c01/9\""},
        {"{lattice: elettra2_like, correctors: [{elements: C, plane: x, supplies: c01/2-1, urad_per_unit: 1}]}",
         "machine.correctors[0].supplies: found \"c01/2-1\""},
        {"{lattice: elettra2_like, correctors: [{elements: C, plane: x, supplies: c01, urad_per_unit: 1},\n"
         "   {elements: D, plane: y, supplies: c01/3, urad_per_unit: 1}]}",
         "machine.correctors[1].supplies: means supplies that drive \"C\" already"},
        {"{lattice: elettra2_like, strengths: [{elements: Q, supplies: q, per_unit: 100}]}",
         "machine.strengths[0].per_unit: found 100"},
        {"{lattice: elettra2_like, strengths: [{elements: Q, change: octupole, supplies: q, per_unit: 1}]}",
         "machine.strengths[0].change: found \"octupole\", expected one of: gradient, skew, sextupole"},
        {"{lattice: elettra2_like, rf: {supply: c01}}", "machine.rf.supply: found \"c01\", which means 8 supplies"},
        {"{lattice: elettra2_like, disturbances: {mains: [{hz: 50, orbit_um: 5000}]}}",
         "machine.disturbances.mains[0].orbit_um: found 5000"},
        {"{lattice: elettra2_like, disturbances: {steps: {urad: 1, every_s: 0}}}",
         "machine.disturbances.steps.every_s: found 0"},
        {"{lattice: elettra2_like, disturbances: {insertion: {at: a, urad: 1, ramp_s: 9, every_s: 5}}}",
         "machine.disturbances.insertion.ramp_s: found 9, expected 0 to 5"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        struct rm_error error = {0};
        char machine[512];
        snprintf(machine, sizeof machine, "machine: %s\n", cases[c].machine);
        assert_int_equal(load(machine, &config, &error), RM_E_CONFIG);
        if (strstr(error.text, cases[c].expected) == NULL)
            fail_msg("expected \"%s\" in \"%s\"", cases[c].expected, error.text);
    }
}

static void all_that_is_wrong_is_reported_at_once(void **state) {
    (void)state;
    static char const *const expected[] = {
        "responses[0].lane: found \"wings\"",
        "machine.step_turns: found 0",
        "machine.refresh_ms: found -1",
        "machine.filter.delay_us: found -1",
        "machine.errors.beta_beat: found 2",
        "machine.errors.bpm_gain: found -1",
        "machine.correctors[0].eddy_hz: found -1",
        "machine.correctors[0].supplies: found \"d\"",
        "machine.correctors[1].supplies: found \"e\"",
        "machine.strengths[0].per_unit: found 100",
        "machine.rf.supply: found \"c01\", which means 8 supplies",
        "machine.disturbances.mains[0].orbit_um: found 5000",
        "machine.disturbances.mains[1].hz: found -1",
        "machine.disturbances.steps.every_s: found 0",
        "machine.disturbances.insertion.ramp_s: found 9",
        "machine.lattice: found \"nowhere\"",
    };
    TEST_FILES_EXPECT_ALL(RING,
                          "responses: [{supply: c01/1, instrument: bpm01, lane: wings, per_unit: 1}]\n"
                          "machine:\n"
                          "  lattice: nowhere\n"
                          "  step_turns: 0\n"
                          "  refresh_ms: -1\n"
                          "  filter: {delay_us: -1}\n"
                          "  errors: {beta_beat: 2, bpm_gain: -1}\n"
                          "  correctors:\n"
                          "    - {elements: C, plane: x, supplies: d, urad_per_unit: 1, eddy_hz: -1}\n"
                          "    - {elements: C, plane: x, supplies: e, urad_per_unit: 1}\n"
                          "  strengths: [{elements: Q, supplies: q, per_unit: 100}]\n"
                          "  rf: {supply: c01}\n"
                          "  disturbances:\n"
                          "    mains: [{hz: 50, orbit_um: 5000}, {hz: -1, orbit_um: 5}]\n"
                          "    steps: {urad: 1, every_s: 0}\n"
                          "    insertion: {at: a, urad: 1, ramp_s: 9, every_s: 5}\n",
                          expected);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(without_a_machine_the_beam_has_an_orbit),
        cmocka_unit_test(absent_keys_make_a_machine_without_errors),
        cmocka_unit_test(a_format_without_x2_has_one_bpm_of_each),
        cmocka_unit_test(nobody_sees_a_machine_without_bpms),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(all_that_is_wrong_is_reported_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
