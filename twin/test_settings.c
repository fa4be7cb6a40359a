// SPDX-License-Identifier: Apache-2.0
/** What a twin's setters refuse, and that what they refuse changes nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/twin.h>

#include "track_block.h"

enum { DRIFT, QUADRUPOLE, CORRECTOR, CAVITY, LINEAR_QUADRUPOLE, APERTURE, COUNT };

static struct rm_twin *twin;
static struct rm_lattice *lattice;
static struct rm_error error;

static int make(void **state) {
    (void)state;
    double a[2] = {0, 0}, b[2] = {0, 2.0}, limits[4] = {-1e-3, 1e-3, -1e-3, 1e-3};
    struct rm_element const elements[COUNT] = {
        [DRIFT] = {.name = "D1", .kind = RM_ELEMENT_DRIFT, .pass = RM_PASS_DRIFT, .length_m = 1},
        [QUADRUPOLE] = {.name = "Q1",
                        .kind = RM_ELEMENT_QUADRUPOLE,
                        .pass = RM_PASS_STR_MPOLE,
                        .length_m = 0.3,
                        .steps = 10,
                        .max_order = 1,
                        .polynom_a = a,
                        .polynom_b = b},
        [CORRECTOR] = {.name = "C1", .kind = RM_ELEMENT_CORRECTOR, .pass = RM_PASS_CORRECTOR},
        [CAVITY] =
            {.name = "RF", .kind = RM_ELEMENT_CAVITY, .pass = RM_PASS_IDENTITY, .voltage_v = 1e6, .frequency_hz = 5e8},
        [LINEAR_QUADRUPOLE] = {.name = "Q2",
                               .kind = RM_ELEMENT_MULTIPOLE,
                               .pass = RM_PASS_QUAD_LINEAR,
                               .length_m = 0.3,
                               .max_order = 1,
                               .polynom_a = a,
                               .polynom_b = b},
        [APERTURE] = {.name = "A1",
                      .kind = RM_ELEMENT_APERTURE,
                      .pass = RM_PASS_APERTURE,
                      .rectangle_aperture = limits},
    };
    struct rm_lattice_facts const info = {
        .name = "test", .particle = "relativistic", .charge_e = -1, .energy_ev = 2.4e9, .periodicity = 1};
    assert_int_equal(rm_lattice_make(&info, elements, COUNT, &lattice, &error), RM_OK);
    assert_int_equal(rm_twin_make(lattice, &twin, &error), RM_OK);
    return 0;
}

static int unmake(void **state) {
    (void)state;
    rm_twin_free(twin);
    rm_lattice_free(lattice);
    return 0;
}

/** Refused, with all the words in the text. */
static void assert_refused(enum rm_code code, enum rm_code expected, char const *name, char const *word) {
    assert_int_equal(code, expected);
    assert_int_equal(error.code, expected);
    assert_non_null(strstr(error.text, name));
    assert_non_null(strstr(error.text, word));
}

static void polynoms(void **state) {
    (void)state;
    assert_int_equal(rm_twin_set_polynom(twin, QUADRUPOLE, RM_NORMAL, 1, 3.5, &error), RM_OK);
    assert_true(rm_twin_element(twin, QUADRUPOLE)->polynom_b[1] == 3.5);
    assert_true(rm_lattice_element(lattice, QUADRUPOLE)->polynom_b[1] == 2.0);
    assert_refused(rm_twin_set_polynom(twin, QUADRUPOLE, RM_NORMAL, 2, 1, &error), RM_E_ARGUMENT, "Q1", "orders to 1");
    assert_refused(rm_twin_set_polynom(twin, QUADRUPOLE, RM_SKEW, 1, NAN, &error), RM_E_ARGUMENT, "Q1", "finite");
    assert_refused(rm_twin_set_polynom(twin, DRIFT, RM_SKEW, 0, 1, &error), RM_E_ARGUMENT, "D1", "no polynom_a");
    assert_refused(rm_twin_set_polynom(twin, COUNT, RM_SKEW, 0, 1, &error), RM_E_ARGUMENT, "no element 6",
                   "there are 6");
    assert_true(rm_twin_element(twin, QUADRUPOLE)->polynom_a[1] == 0);
}

static void kicks(void **state) {
    (void)state;
    assert_int_equal(rm_twin_set_kick(twin, CORRECTOR, 1e-5, -2e-5, &error), RM_OK);
    assert_int_equal(rm_twin_set_kick(twin, QUADRUPOLE, 1e-5, 0, &error), RM_OK);
    assert_true(rm_twin_element(twin, CORRECTOR)->kick_angle_rad[1] == -2e-5);
    assert_refused(rm_twin_set_kick(twin, DRIFT, 1e-5, 0, &error), RM_E_ARGUMENT, "D1", "no kick");
    assert_refused(rm_twin_set_kick(twin, LINEAR_QUADRUPOLE, 1e-5, 0, &error), RM_E_ARGUMENT, "Q2", "no kick");
    assert_refused(rm_twin_set_kick(twin, CORRECTOR, 0, INFINITY, &error), RM_E_ARGUMENT, "C1", "finite");
    assert_true(rm_twin_element(twin, CORRECTOR)->kick_angle_rad[1] == -2e-5);
}

static void cavities(void **state) {
    (void)state;
    assert_int_equal(rm_twin_set_cavity(twin, CAVITY, 2e6, 4.99e8, 0.1, &error), RM_OK);
    assert_true(rm_twin_element(twin, CAVITY)->time_lag_m == 0.1);
    assert_refused(rm_twin_set_cavity(twin, QUADRUPOLE, 2e6, 4.99e8, 0, &error), RM_E_ARGUMENT, "Q1", "no cavity");
    assert_refused(rm_twin_set_cavity(twin, CAVITY, 2e6, 0, 0, &error), RM_E_ARGUMENT, "RF", "above 0");
    assert_refused(rm_twin_set_cavity(twin, CAVITY, NAN, 5e8, 0, &error), RM_E_ARGUMENT, "RF", "finite");
    assert_true(rm_twin_element(twin, CAVITY)->voltage_v == 2e6);
}

static void dimensions(void **state) {
    (void)state;
    assert_false(rm_twin_is_6d(twin));
    assert_int_equal(rm_twin_enable_6d(twin, &error), RM_OK);
    assert_true(rm_twin_is_6d(twin));
    assert_int_equal(rm_twin_element(twin, QUADRUPOLE)->radiation, RM_RADIATION_CLASSICAL);
    assert_int_equal(rm_twin_set_cavity(twin, CAVITY, 0, 5e8, 0, &error), RM_OK);
    assert_false(rm_twin_is_6d(twin));
    rm_twin_disable_6d(twin);
    assert_int_equal(rm_twin_element(twin, CAVITY)->pass, RM_PASS_IDENTITY);
    assert_int_equal(rm_twin_element(twin, QUADRUPOLE)->radiation, RM_RADIATION_NONE);
}

static void radiation(void **state) {
    (void)state;
    assert_int_equal(rm_twin_set_radiation(twin, QUADRUPOLE, RM_RADIATION_QUANTUM, &error), RM_OK);
    assert_refused(rm_twin_set_radiation(twin, DRIFT, RM_RADIATION_CLASSICAL, &error), RM_E_ARGUMENT, "D1",
                   "classical");
    assert_int_equal(rm_twin_set_radiation(twin, DRIFT, RM_RADIATION_NONE, &error), RM_OK);
    assert_refused(rm_twin_set_radiation(twin, COUNT, RM_RADIATION_NONE, &error), RM_E_ARGUMENT, "element 6", "are 6");
    assert_refused(rm_twin_set_radiation(twin, QUADRUPOLE, (enum rm_radiation)7, &error), RM_E_ARGUMENT, "Q1", "7");
    assert_int_equal(rm_twin_element(twin, QUADRUPOLE)->radiation, RM_RADIATION_QUANTUM);
}

/** A quadrupole whose pass cannot radiate is named, and nothing is half done. */
static void enable_is_all_or_nothing(void **state) {
    (void)state;
    double a[2] = {0}, b[2] = {0, 1};
    struct rm_element const elements[] = {
        {.name = "RF", .kind = RM_ELEMENT_CAVITY, .pass = RM_PASS_IDENTITY, .voltage_v = 1e6, .frequency_hz = 5e8},
        {.name = "QL",
         .kind = RM_ELEMENT_QUADRUPOLE,
         .pass = RM_PASS_QUAD_LINEAR,
         .length_m = 1,
         .max_order = 1,
         .polynom_a = a,
         .polynom_b = b},
    };
    struct rm_lattice_facts const info = {.name = "test", .charge_e = -1, .energy_ev = 2.4e9, .periodicity = 1};
    struct rm_lattice *other;
    struct rm_twin *linear;
    assert_int_equal(rm_lattice_make(&info, elements, 2, &other, &error), RM_OK);
    assert_int_equal(rm_twin_make(other, &linear, &error), RM_OK);
    assert_refused(rm_twin_enable_6d(linear, &error), RM_E_CONFIG, "QL", "QuadLinearPass");
    assert_false(rm_twin_is_6d(linear));
    rm_twin_free(linear);
    rm_lattice_free(other);
}

static void misalignments(void **state) {
    (void)state;
    assert_int_equal(rm_twin_set_misalignment(twin, QUADRUPOLE, 1e-4, 0, 0, 0.01, &error), RM_OK);
    assert_non_null(rm_twin_element(twin, QUADRUPOLE)->r1);
    assert_refused(rm_twin_set_misalignment(twin, QUADRUPOLE, NAN, 0, 0, 0, &error), RM_E_ARGUMENT, "Q1", "finite");
    assert_refused(rm_twin_set_misalignment(twin, COUNT, 0, 0, 0, 0, &error), RM_E_ARGUMENT, "element 6", "are 6");
    assert_non_null(rm_twin_element(twin, QUADRUPOLE)->t1);
    assert_int_equal(rm_twin_set_misalignment(twin, QUADRUPOLE, 0, 0, 0, 0, &error), RM_OK);
    assert_null(rm_twin_element(twin, QUADRUPOLE)->t1);
    assert_null(rm_twin_element(twin, QUADRUPOLE)->r2);
}

static void points(void **state) {
    (void)state;
    double particles[1][6] = {{0}}, out[3 * 6];
    uint32_t const down[2] = {2, 1}, beyond[1] = {COUNT + 1}, all[3] = {0, 2, COUNT};
    struct rm_tracking tracking = {.turns = 1, .refpts = down, .refpt_count = 2, .out = out};
    assert_refused(rm_twin_track(twin, particles, 1, &tracking, &error), RM_E_ARGUMENT, "point 1", "ascend");
    tracking.refpts = beyond;
    tracking.refpt_count = 1;
    assert_refused(rm_twin_track(twin, particles, 1, &tracking, &error), RM_E_ARGUMENT, "element 7", "at most 6");
    assert_true(rm_twin_turn(twin) == 0);
    tracking.refpts = all;
    tracking.refpt_count = 3;
    assert_int_equal(rm_twin_track(twin, particles, 1, &tracking, &error), RM_OK);
    assert_true(rm_twin_turn(twin) == 1);
}

/** Each particle has steerers of its own; a thick one acts as its kick angle does. */
static void check_single_kicks(void) {
    enum { PARTICLES = 37 };
    double particles[PARTICLES][6] = {{0}}, expected[PARTICLES][6] = {{0}};
    struct rm_particle_kick kicks[2 * PARTICLES];
    for (uint32_t i = 0; i < PARTICLES; ++i) {
        kicks[i] = (struct rm_particle_kick){QUADRUPOLE, i, {1e-6 * i, -2e-6 * i}};
        kicks[PARTICLES + i] = (struct rm_particle_kick){CORRECTOR, i, {-3e-6 * i, 1e-6}};
    }
    assert_int_equal(
        rm_track_once(twin, particles, PARTICLES, kicks, 2 * PARTICLES, NULL, 0, NULL, RM_SIMD_BEST, &error), RM_OK);
    struct rm_tracking const tracking = {.turns = 1};
    for (uint32_t i = 0; i < PARTICLES; ++i) {
        assert_int_equal(rm_twin_set_kick(twin, QUADRUPOLE, 1e-6 * i, -2e-6 * i, &error), RM_OK);
        assert_int_equal(rm_twin_set_kick(twin, CORRECTOR, -3e-6 * i, 1e-6, &error), RM_OK);
        assert_int_equal(rm_twin_track(twin, &expected[i], 1, &tracking, &error), RM_OK);
        for (int k = 0; k < 6; ++k)
            assert_true(fabs(particles[i][k] - expected[i][k]) < 1e-18);
    }
    assert_true(fabs(expected[PARTICLES - 1][1]) > 1e-5);
}

static void single_kicks(void **state) {
    (void)state;
    check_single_kicks();
    assert_int_equal(rm_twin_set_radiation(twin, QUADRUPOLE, RM_RADIATION_CLASSICAL, &error), RM_OK);
    assert_int_equal(rm_twin_set_kick(twin, QUADRUPOLE, 0, 0, &error), RM_OK);
    assert_int_equal(rm_twin_set_kick(twin, CORRECTOR, 0, 0, &error), RM_OK);
    check_single_kicks();
}

static void single_kicks_are_checked(void **state) {
    (void)state;
    double particles[2][6] = {{0}};
    struct rm_particle_kick const drift = {DRIFT, 0, {1e-6, 0}};
    struct rm_particle_kick const order[2] = {{CORRECTOR, 1, {0}}, {CORRECTOR, 0, {0}}};
    assert_refused(rm_track_once(twin, particles, 2, &drift, 1, NULL, 0, NULL, RM_SIMD_BEST, &error), RM_E_ARGUMENT,
                   "D1", "no kick");
    assert_refused(rm_track_once(twin, particles, 2, order, 2, NULL, 0, NULL, RM_SIMD_BEST, &error), RM_E_ARGUMENT,
                   "kick 1", "order");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void) {
    struct CMUnitTest const tests[] = {
        TEST(polynoms),      TEST(kicks),
        TEST(cavities),      TEST(dimensions),
        TEST(radiation),     TEST(enable_is_all_or_nothing),
        TEST(misalignments), TEST(points),
        TEST(single_kicks),  TEST(single_kicks_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
