// SPDX-License-Identifier: Apache-2.0
/** Jacobians against central differences of the same particle, with every instruction set; and the diffusion's way
 * back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "turn.h"

static double a[] = {1e-4, 0.3, 4, 50}, b[] = {-2e-4, 1.9, -12, 300}, none[] = {0, 0, 0, 0};
static double t1[] = {1e-4, 0, -2e-4, 0, 0, 0}, t2[] = {-1e-4, 0, 2e-4, 0, 0, 0};
static double turned[36], straight[36];
static double matrix[36], integrals[] = {0, 0.01, 1e-4, 2e-6, 1e-4, 0, 0.02, 2e-4, 3e-6, 2e-4};

static struct rm_wiggler_harmonic const vertical[] = {{1, 1, 0.2, 1.0198039027185569, 1, 0.3}},
                                        horizontal[] = {{2, 0.4, 2, 0, 2, 0}};
static struct rm_wiggler wiggler = {.period_m = 0.1,
                                    .peak_field_t = 1.2,
                                    .steps_per_period = 6,
                                    .method = 4,
                                    .by_count = 1,
                                    .bx_count = 1,
                                    .by = vertical,
                                    .bx = horizontal};

/** One of each family; radiating where it can. */
static struct rm_element const elements[] = {
    {.name = "drift", .pass = RM_PASS_DRIFT, .length_m = 0.7},
    {.name = "exact", .pass = RM_PASS_EXACT_DRIFT, .length_m = 0.4},
    {.name = "quadrupole",
     .pass = RM_PASS_STR_MPOLE,
     .length_m = 0.3,
     .steps = 4,
     .max_order = 1,
     .polynom_a = a,
     .polynom_b = b,
     .kick_angle_rad = {1e-4, -2e-4},
     .t1 = t1,
     .t2 = t2,
     .r1 = turned,
     .r2 = straight},
    {.name = "octupole",
     .pass = RM_PASS_STR_MPOLE,
     .radiation = RM_RADIATION_CLASSICAL,
     .length_m = 0.3,
     .steps = 3,
     .max_order = 3,
     .polynom_a = a,
     .polynom_b = b},
    {.name = "fringe",
     .pass = RM_PASS_STR_MPOLE,
     .length_m = 0.3,
     .steps = 3,
     .max_order = 1,
     .polynom_a = none,
     .polynom_b = b,
     .fringe_quad = {2, 1},
     .fringe_integrals = integrals},
    {.name = "dipole",
     .pass = RM_PASS_BND_MPOLE,
     .radiation = RM_RADIATION_CLASSICAL,
     .length_m = 0.8,
     .steps = 5,
     .max_order = 2,
     .polynom_a = none,
     .polynom_b = b,
     .bending_angle_rad = 0.1,
     .entrance_angle_rad = 0.03,
     .exit_angle_rad = 0.05,
     .full_gap_m = 0.04,
     .fringe_int = {0.5, 0.6},
     .fringe_bend = {1, 2}},
    {.name = "thomx",
     .pass = RM_PASS_BND_MPOLE,
     .length_m = 0.8,
     .steps = 5,
     .max_order = 1,
     .polynom_a = none,
     .polynom_b = b,
     .bending_angle_rad = 0.1,
     .entrance_angle_rad = 0.03,
     .exit_angle_rad = 0.05,
     .fringe_bend = {3, 3}},
    {.name = "e2",
     .pass = RM_PASS_BND_MPOLE_E2,
     .radiation = RM_RADIATION_CLASSICAL,
     .length_m = 0.8,
     .steps = 3,
     .max_order = 2,
     .polynom_a = none,
     .polynom_b = b,
     .bending_angle_rad = 0.1,
     .entrance_angle_rad = 0.03,
     .exit_angle_rad = 0.05,
     .curvature_1 = 0.2},
    {.name = "e2 still",
     .pass = RM_PASS_BND_MPOLE_E2,
     .length_m = 0.8,
     .steps = 3,
     .max_order = 2,
     .polynom_a = none,
     .polynom_b = b,
     .bending_angle_rad = 0.1},
    {.name = "straight bend",
     .pass = RM_PASS_BND_STR_MPOLE,
     .length_m = 0.8,
     .steps = 3,
     .max_order = 2,
     .polynom_a = none,
     .polynom_b = b,
     .bending_angle_rad = 0.1,
     .entrance_angle_rad = 0.05,
     .exit_angle_rad = 0.05,
     .full_gap_m = 0.04,
     .fringe_int = {0.5, 0.6},
     .reference_x_m = 1e-3},
    {.name = "wiggler", .pass = RM_PASS_GWIG, .length_m = 0.2, .wiggler = &wiggler},
    {.name = "radiating wiggler",
     .pass = RM_PASS_GWIG,
     .radiation = RM_RADIATION_CLASSICAL,
     .length_m = 0.2,
     .wiggler = &wiggler},
    {.name = "lens", .pass = RM_PASS_QUAD_LINEAR, .length_m = 0.3, .max_order = 1, .polynom_a = none, .polynom_b = b},
    {.name = "sector",
     .pass = RM_PASS_BEND_LINEAR,
     .length_m = 0.8,
     .max_order = 1,
     .polynom_a = none,
     .polynom_b = b,
     .bending_angle_rad = 0.1,
     .entrance_angle_rad = 0.05,
     .fringe_bend = {1, 1}},
    {.name = "solenoid", .pass = RM_PASS_SOLENOID_LINEAR, .length_m = 0.5, .solenoid_strength = 0.7},
    {.name = "corrector", .pass = RM_PASS_CORRECTOR, .length_m = 0.2, .kick_angle_rad = {3e-4, 1e-4}},
    {.name = "thin",
     .pass = RM_PASS_THIN_MPOLE,
     .max_order = 2,
     .polynom_a = a,
     .polynom_b = b,
     .bending_angle_rad = 0.01},
    {.name = "cavity",
     .pass = RM_PASS_RF_CAVITY,
     .kind = RM_ELEMENT_CAVITY,
     .length_m = 0.3,
     .voltage_v = 2e6,
     .frequency_hz = 5e8,
     .time_lag_m = 0.01,
     .phase_lag_rad = 0.1},
    {.name = "matrix", .pass = RM_PASS_MATRIX66, .matrix = matrix},
};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

static struct rm_lattice_facts const info = {
    .energy_ev = 3e9, .charge_e = -1, .periodicity = 1, .particle = "relativistic"};

static void fill_matrices(void) {
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            straight[6 * i + k] = turned[6 * i + k] = i == k;
            matrix[6 * i + k] = (i == k) + 0.01 * (i + 1) * (k - 2);
        }
    for (int i = 0; i < 4; ++i)
        turned[7 * i] = cos(0.01);
    turned[2] = turned[9] = sin(0.01);
    turned[12] = turned[19] = -sin(0.01);
}

static struct rm_twin *twin_of(struct rm_element const *elements_of, uint32_t count, struct rm_lattice **lattice) {
    struct rm_twin *twin;
    struct rm_error error;
    fill_matrices();
    if (rm_lattice_make(&info, elements_of, count, lattice, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(rm_twin_make(*lattice, &twin, &error), RM_OK);
    return twin;
}

static void pass(struct rm_route const *route, double const from[6], struct rm_tangent *t, enum rm_simd simd) {
    rm_tangent_begin(t, from);
    rm_turn(route, t, NULL, NULL, simd);
}

static enum rm_simd const kinds[] = {RM_SIMD_SCALAR, RM_SIMD_AVX2, RM_SIMD_AVX512};

static bool has(enum rm_simd simd) {
    enum rm_simd const best = rm_simd_choose(RM_SIMD_BEST);
    return simd <= best;
}

/** Two pairs of differences: their error is of fourth order. */
static double difference(struct rm_route const *route, double const from[6], int of, int by) {
    double const step = 1e-5, weight[] = {8, -1};
    double sum = 0;
    for (int n = 1; n <= 2; ++n)
        for (int side = -1; side <= 1; side += 2) {
            double z[6];
            struct rm_tangent t;
            memcpy(z, from, sizeof z);
            z[by] += side * n * step;
            pass(route, z, &t, RM_SIMD_SCALAR);
            sum += side * weight[n - 1] * t.z[of];
        }
    return sum / (12 * step);
}

static double const somewhere[6] = {1.1e-3, -4e-4, 7e-4, 3e-4, 2e-3, 0.02};
static double const near[6] = {1.1e-6, -4e-7, 7e-7, 3e-7, 2e-6, 2e-5}; /* stays inside all elements in a row */

static void test_jacobian(void **state) {
    (void)state;
    for (int e = 0; e < ELEMENTS; ++e) {
        struct rm_lattice *lattice;
        struct rm_twin *const twin = twin_of(&elements[e], 1, &lattice);
        struct rm_route route;
        struct rm_tangent t;
        assert_int_equal(rm_route_make(twin, NULL, NULL, 0, &route, NULL), RM_OK);
        pass(&route, somewhere, &t, RM_SIMD_SCALAR);
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 6; ++k) {
                double const expected = difference(&route, somewhere, i, k);
                if (!(fabs(t.j[i][k] - expected) < 2e-9 * (1 + fabs(expected))))
                    fail_msg("%s: derivative of %d by %d is %.12g, by differences %.12g", elements[e].name, i, k,
                             t.j[i][k], expected);
            }
        rm_route_free(&route);
        rm_twin_free(twin);
        rm_lattice_free(lattice);
    }
}

static void test_frequency(void **state) {
    (void)state;
    struct rm_lattice *lattice;
    struct rm_twin *const twin = twin_of(elements, ELEMENTS, &lattice);
    struct rm_tangent t, side[2];
    struct rm_route route;
    double const hz = 1000;
    assert_int_equal(rm_route_make(twin, NULL, NULL, 0, &route, NULL), RM_OK);
    pass(&route, near, &t, RM_SIMD_BEST);
    rm_route_free(&route);
    for (int s = 0; s < 2; ++s) {
        struct rm_route_changes const changes = {.rf_offset_hz = s == 0 ? hz : -hz};
        assert_int_equal(rm_route_make(twin, &changes, NULL, 0, &route, NULL), RM_OK);
        pass(&route, near, &side[s], RM_SIMD_BEST);
        rm_route_free(&route);
    }
    for (int i = 0; i < 6; ++i) {
        double const expected = (side[0].z[i] - side[1].z[i]) / (2 * hz);
        assert_true(fabs(t.j[i][RM_LANE_FREQUENCY] - expected) < 1e-5 * fabs(expected));
    }
    rm_twin_free(twin);
    rm_lattice_free(lattice);
}

static void test_instruction_sets(void **state) {
    (void)state;
    struct rm_lattice *lattice;
    struct rm_twin *const twin = twin_of(elements, ELEMENTS, &lattice);
    struct rm_route route;
    struct rm_tangent reference, t;
    struct rm_diffusion scattered = {0};
    assert_int_equal(rm_route_make(twin, NULL, NULL, 0, &route, NULL), RM_OK);
    rm_tangent_begin(&reference, near);
    rm_turn(&route, &reference, &scattered, NULL, RM_SIMD_SCALAR);
    double most = 0;
    for (int i = 0; i < 6; ++i)
        most = fmax(most, fabs(scattered.d[i][i]));
    assert_true(most > 0);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        struct rm_diffusion also = {0};
        if (!has(kinds[k]))
            continue;
        rm_tangent_begin(&t, near);
        rm_turn(&route, &t, &also, NULL, kinds[k]);
        for (int i = 0; i < 6; ++i) {
            assert_true(fabs(t.z[i] - reference.z[i]) < 1e-12 * (1 + fabs(reference.z[i])));
            for (int j = 0; j < 6; ++j) {
                assert_true(fabs(t.j[i][j] - reference.j[i][j]) < 1e-11 * (1 + fabs(reference.j[i][j])));
                assert_true(fabs(also.d[i][j] - scattered.d[i][j]) <= 1e-7 * most); /* carried back through it all */
            }
        }
    }
    rm_route_free(&route);
    rm_twin_free(twin);
    rm_lattice_free(lattice);
}

static void test_points(void **state) {
    (void)state;
    uint32_t const refpts[] = {0, 2, 2, ELEMENTS};
    struct rm_lattice *lattice;
    struct rm_twin *const twin = twin_of(elements, ELEMENTS, &lattice);
    struct rm_route route;
    struct rm_tangent t, seen[4];
    struct rm_turn_points const points = {.tangent = seen};
    assert_int_equal(rm_route_make(twin, NULL, refpts, 4, &route, NULL), RM_OK);
    rm_tangent_begin(&t, somewhere);
    rm_turn(&route, &t, NULL, &points, RM_SIMD_BEST);
    assert_memory_equal(seen[0].z, somewhere, sizeof somewhere);
    assert_memory_equal(seen[1].z, seen[2].z, sizeof seen[1].z);
    assert_true(seen[1].z[0] != somewhere[0]);
    assert_memory_equal(seen[3].z, t.z, sizeof t.z);
    rm_route_free(&route);
    rm_twin_free(twin);
    rm_lattice_free(lattice);
}

static void test_points_beyond(void **state) {
    (void)state;
    struct rm_lattice *lattice;
    struct rm_twin *const twin = twin_of(elements, 1, &lattice);
    struct rm_route route;
    struct rm_error error;
    uint32_t const beyond = 2, falling[] = {1, 0};
    assert_int_equal(rm_route_make(twin, NULL, &beyond, 1, &route, &error), RM_E_ARGUMENT);
    assert_int_equal(rm_route_make(twin, NULL, falling, 2, &route, &error), RM_E_ARGUMENT);
    rm_twin_free(twin);
    rm_lattice_free(lattice);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_jacobian), cmocka_unit_test(test_frequency),     cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_points),   cmocka_unit_test(test_points_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
