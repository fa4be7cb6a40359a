// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emittance.h"
#include "small.h"

/** Numbers between -1 and 1 that are the same everywhere. */
static double next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*seed / 9.3e18;
}

static void fill(double a[36], uint64_t *seed) {
    for (int i = 0; i < 36; ++i)
        a[i] = next(seed);
}

static void check_eigen(double const *a, int n, double precision) {
    double complex value[6], vector[6][6];
    assert_true(rm_small_eigen(a, n, value, vector));
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i) {
            double complex left = 0;
            for (int j = 0; j < n; ++j)
                left += a[6 * i + j] * vector[j][k];
            assert_true(cabs(left - value[k] * vector[i][k]) < precision);
        }
}

static void test_eigenvectors(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 500; ++trial) {
        double a[36];
        fill(a, &seed);
        check_eigen(a, trial % 2 == 0 ? 6 : 4, 1e-13);
    }
}

static void test_eigenvectors_of_rotations(void **state) {
    (void)state;
    double a[36] = {0};
    double const angle[] = {0.3, 0.3000001, 1e-4}; /* two planes on a coupling resonance, and a slow third */
    for (int p = 0; p < 3; ++p) {
        a[14 * p] = a[14 * p + 7] = cos(angle[p]);
        a[14 * p + 1] = 20 * sin(angle[p]);
        a[14 * p + 6] = -sin(angle[p]) / 20;
    }
    a[2] = 1e-3;
    check_eigen(a, 6, 1e-13);
    double identity[36] = {0};
    for (int i = 0; i < 6; ++i)
        identity[7 * i] = 1;
    check_eigen(identity, 6, 1e-15);
}

static void test_solving(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 200; ++trial) {
        double a[36], inverse[36], product[36];
        fill(a, &seed);
        assert_true(rm_small_invert(a, 6, inverse));
        rm_small_multiply(a, inverse, product);
        for (int i = 0; i < 36; ++i)
            assert_true(fabs(product[i] - (i % 7 == 0)) < 1e-10);
    }
    double singular[36] = {0};
    struct rm_small_lu lu;
    assert_false(rm_small_factor(&lu, singular, 6, 6));
}

static void test_congruence(void **state) {
    (void)state;
    uint64_t seed = 3;
    double a[36], b[36], c[36];
    fill(a, &seed);
    fill(b, &seed);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j)
            b[6 * i + j] = b[6 * j + i];
    rm_small_congruence(a, b, c);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            double expected = 0;
            for (int k = 0; k < 6; ++k)
                for (int l = 0; l < 6; ++l)
                    expected += a[6 * i + k] * b[6 * k + l] * a[6 * j + l];
            assert_true(fabs(c[6 * i + j] - expected) < 1e-14);
        }
}

/** A beam of known emittances, sheared by a symplectic matrix. */
static void test_eigen_emittances(void **state) {
    (void)state;
    double const known[] = {1.3e-12, 2e-10, 4e-6}; /* seven orders of magnitude apart */
    double r[36] = {0}, shear[36] = {0}, moved[36], found[3];
    for (int p = 0; p < 3; ++p) {
        r[14 * p] = known[p] * 7;
        r[14 * p + 7] = known[p] / 7;
    }
    for (int i = 0; i < 6; ++i)
        shear[7 * i] = 1;
    shear[6 * 1 + 0] = 0.4; /* px of x, py of y, and both of the other: a quadrupole with a skew part */
    shear[6 * 1 + 2] = shear[6 * 3 + 0] = 0.03;
    shear[6 * 3 + 2] = -0.2;
    shear[6 * 1 + 4] = 0.01; /* dispersion, and the path that goes with it */
    shear[6 * 5 + 0] = 0.01;
    rm_small_congruence(shear, r, moved);
    rm_emittance_eigen(moved, found);
    for (int k = 0; k < 3; ++k)
        assert_true(fabs(found[k] / known[k] - 1) < 1e-8);
}

static void test_flat_beam(void **state) {
    (void)state;
    double r[36] = {0}, found[3], r44[16], emit_xy[2];
    r[0] = 4e-10;
    r[7] = 1e-10;
    r[28] = 1e-6;
    r[35] = 9e-6;
    rm_emittance_eigen(r, found);
    assert_true(found[0] == 0);
    assert_true(fabs(found[1] / 2e-10 - 1) < 1e-12);
    assert_true(fabs(found[2] / 3e-6 - 1) < 1e-12);
    rm_emittance_betatron(r, r44, emit_xy);
    assert_true(fabs(emit_xy[0] / 2e-10 - 1) < 1e-12);
    assert_true(emit_xy[1] == 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_eigenvectors),     cmocka_unit_test(test_eigenvectors_of_rotations),
        cmocka_unit_test(test_solving),          cmocka_unit_test(test_congruence),
        cmocka_unit_test(test_eigen_emittances), cmocka_unit_test(test_flat_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
