// SPDX-License-Identifier: Apache-2.0
/** The electronics of BPMs as a ring's file describes them: bpm_errors, and what machine.errors draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_files.h"

static char const RING[] = "instruments:\n"
                           "  - {name: blm, kind: blm, id: 9, port: ring, source: 10.20.0.9}\n"
                           "  - {name: bpm, kind: bpm, id: 1, count: 3, port: ring, source: 10.20.0.1}\n"
                           "  - {name: slow, kind: bpm, id: 7, port: ring, source: 10.20.0.7, period_turns: 10}\n";

static void a_ring_of_which_nothing_is_said_has_ideal_electronics(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(RING, "", &config);
    assert_int_equal(config.readout_count, 0);
    rm_ring_config_free(&config);
    test_files_load_good(RING, "bpm_errors: [{instruments: all, adc_range_um: 100, swapped: false}]\n", &config);
    assert_int_equal(config.readout_count, 0);
    rm_ring_config_free(&config);
}

static void later_entries_say_it_over_earlier_ones(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(
        RING,
        "bpm_errors:\n"
        "  - {instruments: \"bpm*\", noise_um: 2, corner_hz: 10, glitch_per_s: 3, glitch_um: 40, adc_bits: 16}\n"
        "  - {instruments: bpm02, bpm: 2, noise_um: 0, inverted: xy, swapped: true, adc_range_um: 5000}\n"
        "  - {instruments: slow, inverted: y}\n",
        &config);
    assert_int_equal(config.readout_count, 8);
    struct rm_readout_config const *first = &config.readouts[0], *second = &config.readouts[3],
                                   *slow = &config.readouts[7];
    assert_true(first->instrument == 1 && first->lane == 0 && first->period_turns == 1);
    assert_true(first->noise_nm == 2000 && first->corner_hz == 10 && first->glitch_per_s == 3);
    assert_true(first->glitch_nm == 40e3 && first->adc_bits == 16 && first->adc_range_nm == 10e6);
    assert_true(first->inverted == 0 && !first->swapped);
    assert_true(second->instrument == 2 && second->lane == 4);
    assert_true(second->noise_nm == 0 && second->corner_hz == 10 && second->adc_range_nm == 5e6);
    assert_true(second->inverted == (RM_READOUT_X | RM_READOUT_Y) && second->swapped);
    assert_true(slow->instrument == 4 && slow->period_turns == 10 && slow->noise_nm < 0);
    assert_true(slow->inverted == RM_READOUT_Y && slow->adc_bits == 0);
    rm_ring_config_free(&config);
}

static char const MANY[] = "instruments:\n"
                           "  - {name: bpm, kind: bpm, id: 1, count: 200, port: ring, source: 10.20.0.1}\n"
                           "  - {name: slow, kind: bpm, id: 301, port: ring, source: 10.20.1.1, period_turns: 10}\n";
static char const DRAWN[] = "machine: {lattice: elettra2_like, seed: %u, errors: {bpm_inverted: 0.1, bpm_swapped: 0.2, "
                            "bpm_turn_shift: 0.3}}\n";

struct drawn {
    uint32_t inverted, swapped, early, late;
    uint64_t sum;
};

static struct drawn draw(unsigned seed) {
    struct rm_ring_config config;
    struct drawn drawn = {0};
    char overlay[200];
    snprintf(overlay, sizeof overlay, DRAWN, seed);
    test_files_load_good(MANY, overlay, &config);
    for (uint32_t r = 0; r < config.readout_count; ++r) {
        struct rm_readout_config const *readout = &config.readouts[r];
        drawn.inverted += (uint32_t)__builtin_popcount(readout->inverted);
        drawn.swapped += readout->swapped;
        drawn.sum = drawn.sum * 31 + readout->instrument * 8 + readout->inverted * 2 + readout->swapped;
    }
    for (uint32_t i = 0; i < config.instrument_count; ++i) {
        assert_int_equal(config.instruments[i].turn_error, config.instruments[i].drawn_shift_turns);
        drawn.early += config.instruments[i].turn_error == -1;
        drawn.late += config.instruments[i].turn_error == 1;
        drawn.sum = drawn.sum * 31 + (uint64_t)config.instruments[i].turn_error;
    }
    assert_int_equal(config.instruments[200].turn_error, 0); /* it does not read every turn */
    rm_ring_config_free(&config);
    return drawn;
}

static void shares_are_drawn_from_the_machines_seed(void **state) {
    (void)state;
    struct drawn const one = draw(1), again = draw(1), two = draw(2);
    assert_in_range(one.inverted, 50, 115); /* of 804 planes */
    assert_in_range(one.swapped, 50, 115);  /* of 402 BPMs */
    assert_in_range(one.early, 15, 45);
    assert_in_range(one.late, 15, 45);
    assert_true(one.sum == again.sum);
    assert_true(one.sum != two.sum);
}

static void an_entry_takes_a_drawn_error_away(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(RING,
                         "machine: {lattice: elettra2_like, errors: {bpm_inverted: 1, bpm_swapped: 1}}\n"
                         "bpm_errors: [{instruments: bpm01, inverted: none, swapped: false}]\n",
                         &config);
    assert_int_equal(config.readout_count, 6);
    assert_int_equal(config.readouts[0].instrument, 2);
    rm_ring_config_free(&config);
}

static void all_that_is_wrong_is_reported(void **state) {
    (void)state;
    static char const *const EXPECTED[] = {
        "bpm_errors[0].noise_um: found -1",
        "bpm_errors[0].adc_bits: found 33, expected 0 to 32",
        "bpm_errors[0].bpm: found 3",
        "bpm_errors[1].instruments: found \"blm\"",
    };
    TEST_FILES_EXPECT_ALL(RING,
                          "bpm_errors:\n  - {instruments: bpm, noise_um: -1, adc_bits: 33, bpm: 3}\n"
                          "  - {instruments: blm, swapped: true}\n",
                          EXPECTED);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_ring_of_which_nothing_is_said_has_ideal_electronics),
        cmocka_unit_test(later_entries_say_it_over_earlier_ones),
        cmocka_unit_test(shares_are_drawn_from_the_machines_seed),
        cmocka_unit_test(an_entry_takes_a_drawn_error_away),
        cmocka_unit_test(all_that_is_wrong_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
