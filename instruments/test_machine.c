// SPDX-License-Identifier: Apache-2.0
/** The machine as its lattice has it, and what is between supplies, orbit and readings. Argument: the lattice. */
#include "test_machine_rig.h"

#include <time.h>

#include "machine_orbit.h"

static void test_new_orbit_is_blended_in(void **state) {
    (void)state;
    struct machine_rig rig;
    double before[2], at_once[2], after[2];
    rig_init(&rig);
    rig.config.blend_s = 10 / RATE_HZ;
    rig_make(&rig);
    for (uint32_t s = 0; s < 2 * FAST; ++s)
        rig.current[s] = 5 * sin(s * s);
    step(&rig);
    rm_machine_true_orbit(rig.machine, 3, &before[0], &before[1]);
    refresh(&rig);
    step(&rig);
    rm_machine_true_orbit(rig.machine, 3, &at_once[0], &at_once[1]);
    for (int s = 0; s < 10; ++s)
        step(&rig);
    rm_machine_true_orbit(rig.machine, 3, &after[0], &after[1]);
    assert_true(fabs(after[0] - before[0]) > 1e-9);
    assert_true(fabs(at_once[0] - before[0]) < 0.11 * fabs(after[0] - before[0]) + 1e-10);
    rig_free(&rig);
}

static void test_lost_beam(void **state) {
    (void)state;
    struct machine_rig rig;
    double x, y, later;
    rig_init(&rig);
    rig_make(&rig);
    step(&rig);
    assert_true(rm_machine_beam(rig.machine) == 1);
    rm_machine_read(rig.machine, 0, &x, &y);
    assert_true(fabs(y) < 1);
    rm_machine_set(rig.machine, knob(&rig, "beam"), 0);
    step(&rig);
    assert_true(rm_machine_beam(rig.machine) == 0);
    rm_machine_read(rig.machine, 0, &x, &y);
    step(&rig);
    rm_machine_read(rig.machine, 0, &x, &later);
    assert_true(y != later && fabs(y - later) > 1000);
    rig_free(&rig);
}

static void test_unstable_lattice_loses_the_beam_until_it_is_stable_again(void **state) {
    (void)state;
    struct machine_rig rig;
    rig_init(&rig);
    rig_make(&rig);
    step(&rig);
    rm_machine_set(rig.machine, knob(&rig, "QF1_S01_01"), 5);
    assert_int_equal(rm_machine_refresh(rig.machine, &rig.error), RM_E_CONFIG);
    step(&rig);
    assert_true(rm_machine_beam(rig.machine) == 0);
    assert_int_equal(rm_machine_says(rig.machine).failures, 1);
    rm_machine_set(rig.machine, knob(&rig, "QF1_S01_01"), 0);
    refresh(&rig);
    step(&rig);
    assert_true(rm_machine_beam(rig.machine) == 1);
    rig_free(&rig);
}

static void test_eddy_currents_are_a_first_order(void **state) {
    (void)state;
    struct machine_rig rig;
    double x, quiet, once, all;
    rig_init(&rig);
    rig.config.group[1].eddy_hz = 500;
    rig_make(&rig);
    step(&rig);
    rm_machine_true_orbit(rig.machine, 9, &x, &quiet);
    rig.current[FAST + 3] = 5;
    step(&rig);
    rm_machine_true_orbit(rig.machine, 9, &x, &once);
    for (int s = 0; s < 200; ++s)
        step(&rig);
    rm_machine_true_orbit(rig.machine, 9, &x, &all);
    assert_true(fabs(all - quiet) > 1e-6);
    assert_true(fabs((once - quiet) / (all - quiet) - (1 - exp(-2 * M_PI * 500 / RATE_HZ))) < 1e-3);
    rig_free(&rig);
}

/** What is left of a step t later: (b e^(−a t) − a e^(−b t)) / (b − a). */
static double left_of_two_poles(double a, double b, double t) {
    return a == b ? (1 + a * t) * exp(-a * t) : (b * exp(-a * t) - a * exp(-b * t)) / (b - a);
}

static void test_a_thick_chamber_has_two_poles(void **state) {
    (void)state;
    double const second_hz[] = {2000, 500};
    for (int p = 0; p < 2; ++p) {
        struct machine_rig rig;
        double x, quiet, all, now[5];
        rig_init(&rig);
        rig.config.group[1].eddy_hz = 500;
        rig.config.group[1].eddy2_hz = second_hz[p];
        rig_make(&rig);
        step(&rig);
        rm_machine_true_orbit(rig.machine, 9, &x, &quiet);
        rig.current[FAST + 3] = 5;
        for (int s = 0; s < 5; ++s) {
            step(&rig);
            rm_machine_true_orbit(rig.machine, 9, &x, &now[s]);
        }
        for (int s = 0; s < 200; ++s)
            step(&rig);
        rm_machine_true_orbit(rig.machine, 9, &x, &all);
        for (int s = 0; s < 5; ++s)
            assert_true(fabs((all - now[s]) / (all - quiet) -
                             left_of_two_poles(2 * M_PI * 500, 2 * M_PI * second_hz[p], (s + 1) / RATE_HZ)) < 1e-3);
        rig_free(&rig);
    }
}

static void test_bpms_see_late(void **state) {
    (void)state;
    struct machine_rig rig;
    double x, y, all;
    rig_init(&rig);
    rig.config.bpm_delay_s = 2.5 / RATE_HZ;
    rig_make(&rig);
    step(&rig);
    rig.current[FAST + 3] = 5;
    double seen[6];
    for (int s = 0; s < 6; ++s) {
        step(&rig);
        rm_machine_read(rig.machine, 9, &x, &seen[s]);
    }
    rm_machine_true_orbit(rig.machine, 9, &x, &y);
    all = 1e9 * y;
    assert_true(fabs(seen[0]) < 1 && fabs(seen[1]) < 1);
    assert_true(fabs(seen[2] / all - 0.5) < 1e-3); /* half way between two steps */
    assert_true(fabs(seen[3] / all - 1) < 1e-3 && fabs(seen[5] / all - 1) < 1e-3);
    rig_free(&rig);
}

static void test_background_looks_by_itself(void **state) {
    (void)state;
    struct machine_rig rig;
    rig_init(&rig);
    rig_make(&rig);
    assert_int_equal(rm_machine_start(rig.machine, 1e-3, &rig.error), RM_OK);
    struct timespec const between_cycles = {.tv_nsec = 100000}; // as a ring leaves: without, the looks may find none
    while (rm_machine_says(rig.machine).refreshes < 20) {
        step(&rig);
        nanosleep(&between_cycles, NULL);
    }
    rm_machine_stop(rig.machine);
    assert_int_equal(rm_machine_says(rig.machine).failures, 0);
    rig_free(&rig);
}

static void expect_error(struct machine_rig *rig, char const *part) {
    assert_int_equal(rm_machine_make(&rig->config, 1.2e6, &rig->machine, &rig->error), RM_E_CONFIG);
    if (strstr(rig->error.text, part) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", rig->error.text, part);
}

static void test_what_a_lattice_has_not(void **state) {
    (void)state;
    static char drifts[] = "LS_*", few[] = "CF_S01_*", dipoles[] = "B2H_S01_01", nowhere[] = "nowhere";
    struct machine_rig rig;
    rig_init(&rig);
    rig.config.bpm_count = 100;
    expect_error(&rig, "machine.bpms: \"BPM_*\" are 168 elements");
    rig_init(&rig);
    rig.config.group[0].elements = few;
    expect_error(&rig, "one for each of the group's 72 supplies");
    rig_init(&rig);
    rig.config.group[0].elements = drifts;
    rig.config.group[0].supply_count = 12;
    expect_error(&rig, "takes no kick");
    rig_init(&rig);
    rig.config.group[2].elements = dipoles;
    expect_error(&rig, "no gradient");
    rig_init(&rig);
    rig.config.disturbances.insertion_at = nowhere;
    expect_error(&rig, "no element \"nowhere\"");
    rig_init(&rig);
    rig.config.errors.beta_beat = 50;
    expect_error(&rig, "machine.errors.beta_beat");
    rig_init(&rig);
    rig.config.errors.magnet_offset_m = 1e-3;
    expect_error(&rig, "magnets' errors has no orbit");
}

/** Whatever the processor has: each row adds its columns in their order, and nothing is contracted. */
static void test_sums_have_the_bits_of_a_plain_loop(void **state) {
    (void)state;
    enum { ROWS = 130, COLUMNS = 41, FIRST = 3 };
    struct rm_orbit_matrix matrix;
    float weight[COLUMNS];
    assert_true(rm_orbit_matrix_make(&matrix, ROWS, COLUMNS));
    float *sum = rm_orbit_vector(&matrix);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        weight[c] = (float)sin(7.0 * c);
        for (uint32_t r = 0; r < ROWS; ++r)
            *rm_orbit_matrix_at(&matrix, r, c) = (float)cos(3.0 * r + c);
    }
    for (uint32_t r = 0; r < ROWS; ++r)
        sum[r] = (float)r;
    rm_orbit_matrix_add(&matrix, FIRST, COLUMNS - FIRST, weight, sum);
    for (uint32_t r = 0; r < ROWS; ++r) {
        float plain = (float)r;
        for (uint32_t c = FIRST; c < COLUMNS; ++c)
            plain += *rm_orbit_matrix_at(&matrix, r, c) * weight[c];
        assert_memory_equal(&sum[r], &plain, sizeof plain);
    }
    free(sum);
    rm_orbit_matrix_free(&matrix);
}

int main(int argc, char **argv) {
    if (!rig_take_lattice(argc, argv))
        return EXIT_FAILURE;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_new_orbit_is_blended_in),
        cmocka_unit_test(test_lost_beam),
        cmocka_unit_test(test_unstable_lattice_loses_the_beam_until_it_is_stable_again),
        cmocka_unit_test(test_eddy_currents_are_a_first_order),
        cmocka_unit_test(test_a_thick_chamber_has_two_poles),
        cmocka_unit_test(test_bpms_see_late),
        cmocka_unit_test(test_background_looks_by_itself),
        cmocka_unit_test(test_what_a_lattice_has_not),
        cmocka_unit_test(test_sums_have_the_bits_of_a_plain_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
