// SPDX-License-Identifier: Apache-2.0
/** What rm_lattice_make refuses, and that its text names the element. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/lattice.h>

static double zeros[RM_POLYNOM_ORDERS + 1];
static struct rm_lattice_facts const good_info = {
    .name = "test", .particle = "electron", .charge_e = -1, .energy_ev = 2.4e9, .periodicity = 1};

static struct rm_element quadrupole(void) {
    return (struct rm_element){.name = "QF",
                               .kind = RM_ELEMENT_QUADRUPOLE,
                               .pass = RM_PASS_STR_MPOLE,
                               .length_m = 0.2,
                               .steps = 10,
                               .max_order = 1,
                               .polynom_a = zeros,
                               .polynom_b = zeros,
                               .fringe_bend = {1, 1}};
}

static struct rm_element of_pass(enum rm_pass pass) {
    struct rm_element element = quadrupole();
    element.pass = pass;
    return element;
}

/** A good element in front, so that the index of the other is 1. */
static enum rm_code make(struct rm_element const *element, struct rm_error *error) {
    struct rm_element const both[2] = {quadrupole(), *element};
    struct rm_lattice *lattice = NULL;
    enum rm_code const code = rm_lattice_make(&good_info, both, 2, &lattice, error);
    rm_lattice_free(lattice);
    return code;
}

static void assert_refused(struct rm_element const *element, char const *words) {
    struct rm_error error = {0};
    assert_int_equal(make(element, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "element 1"));
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, error.text);
}

static void takes_what_is_complete(void **state) {
    (void)state;
    struct rm_element const element = quadrupole();
    assert_int_equal(make(&element, NULL), RM_OK);
}

static void refuses_numbers_that_are_not_finite(void **state) {
    (void)state;
    double broken[6] = {0, 0, NAN, 0, 0, 0};
    struct rm_element element = quadrupole();
    element.t1 = broken;
    assert_refused(&element, "t1[2]");
    element = quadrupole();
    element.length_m = INFINITY;
    assert_refused(&element, "length_m");
    double field[2] = {0, NAN};
    element = quadrupole();
    element.polynom_b = field;
    assert_refused(&element, "polynom_b[1]");
    element = quadrupole();
    element.kick_angle_rad[1] = NAN;
    assert_refused(&element, "kick_angle_rad[1]");
}

static void refuses_what_is_out_of_range(void **state) {
    (void)state;
    struct rm_element element = quadrupole();
    element.steps = 0;
    assert_refused(&element, "steps");
    element = quadrupole();
    element.length_m = -0.1;
    assert_refused(&element, "length");
    element = quadrupole();
    element.max_order = RM_POLYNOM_ORDERS;
    assert_refused(&element, "max_order");
    element = quadrupole();
    element.pass = RM_PASSES;
    assert_refused(&element, "pass");
    element = quadrupole();
    element.kind = RM_ELEMENT_KINDS;
    assert_refused(&element, "kind");
    element = quadrupole();
    element.fringe_quad[1] = 3;
    assert_refused(&element, "fringe");
    element = of_pass(RM_PASS_DRIFT);
    element.radiation = RM_RADIATION_CLASSICAL;
    assert_refused(&element, "radiation");
    memset(element.name, 'x', sizeof element.name);
    element.radiation = RM_RADIATION_NONE;
    assert_refused(&element, "name");
}

static void refuses_a_pass_without_what_it_needs(void **state) {
    (void)state;
    enum rm_pass const with_field[] = {RM_PASS_STR_MPOLE,     RM_PASS_BND_MPOLE,   RM_PASS_BND_MPOLE_E2,
                                       RM_PASS_BND_STR_MPOLE, RM_PASS_QUAD_LINEAR, RM_PASS_BEND_LINEAR,
                                       RM_PASS_THIN_MPOLE};
    for (size_t i = 0; i < sizeof with_field / sizeof with_field[0]; ++i) {
        struct rm_element element = of_pass(with_field[i]);
        assert_int_equal(make(&element, NULL), RM_OK);
        element.polynom_b = NULL;
        assert_refused(&element, "polynom_b");
    }
    struct rm_element element = of_pass(RM_PASS_MATRIX66);
    assert_refused(&element, "matrix");
    element = of_pass(RM_PASS_APERTURE);
    assert_refused(&element, "rectangle_aperture");
    element = of_pass(RM_PASS_GWIG);
    assert_refused(&element, "wiggler");
    element = of_pass(RM_PASS_BND_MPOLE);
    element.length_m = 0;
    assert_refused(&element, "length");
}

static void refuses_apertures_that_are_turned_around(void **state) {
    (void)state;
    double rectangle[4] = {1, -1, -1, 1};
    double ellipse[2] = {0.01, 0};
    struct rm_element element = quadrupole();
    element.rectangle_aperture = rectangle;
    assert_refused(&element, "xmin");
    element = quadrupole();
    element.elliptic_aperture = ellipse;
    assert_refused(&element, "half axes");
}

static void refuses_a_wiggler_of_broken_periods(void **state) {
    (void)state;
    struct rm_wiggler_harmonic harmonic = {.number = 1, .amplitude = 1, .ky = 1, .kz = 1};
    struct rm_wiggler wiggler = {
        .period_m = 0.1, .peak_field_t = 1, .steps_per_period = 5, .method = 4, .by_count = 1, .by = &harmonic};
    struct rm_element element = of_pass(RM_PASS_GWIG);
    element.wiggler = &wiggler;
    assert_int_equal(make(&element, NULL), RM_OK);
    wiggler.period_m = 0.15;
    assert_refused(&element, "periods");
    wiggler.period_m = 0.1;
    wiggler.method = 3;
    assert_refused(&element, "method");
    wiggler.method = 4;
    harmonic.kz = 0;
    assert_refused(&element, "kz");
}

static void refuses_a_ring_that_cannot_be(void **state) {
    (void)state;
    struct rm_element const element = quadrupole();
    struct rm_lattice *lattice = NULL;
    struct rm_error error = {0};
    assert_int_equal(rm_lattice_make(&good_info, &element, 0, &lattice, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "no elements"));
    struct rm_lattice_facts info = good_info;
    info.energy_ev = NAN;
    assert_int_equal(rm_lattice_make(&info, &element, 1, &lattice, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "energy"));
    info = good_info;
    info.rest_energy_ev = 3e9;
    assert_int_equal(rm_lattice_make(&info, &element, 1, &lattice, &error), RM_E_CONFIG);
    info = good_info;
    info.periodicity = 0;
    assert_int_equal(rm_lattice_make(&info, &element, 1, &lattice, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "periodicity"));
}

static void finds_by_name_and_kind(void **state) {
    (void)state;
    struct rm_element elements[3] = {quadrupole(), quadrupole(), of_pass(RM_PASS_DRIFT)};
    strcpy(elements[1].name, "QD");
    strcpy(elements[2].name, "D");
    elements[2].kind = RM_ELEMENT_DRIFT;
    struct rm_lattice *lattice = NULL;
    assert_int_equal(rm_lattice_make(&good_info, elements, 3, &lattice, NULL), RM_OK);
    uint32_t found[2] = {9, 9};
    assert_int_equal(rm_lattice_find(lattice, "Q*", RM_ELEMENT_KINDS, found, 1), 2);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 9);
    assert_int_equal(rm_lattice_find(lattice, NULL, RM_ELEMENT_DRIFT, found, 2), 1);
    assert_int_equal(found[0], 2);
    assert_true(fabs(rm_lattice_s_m(lattice, 2) - 0.4) < 1e-15);
    assert_true(fabs(rm_lattice_length_m(lattice) - 0.6) < 1e-15);
    rm_lattice_free(lattice);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(takes_what_is_complete),
        cmocka_unit_test(refuses_numbers_that_are_not_finite),
        cmocka_unit_test(refuses_what_is_out_of_range),
        cmocka_unit_test(refuses_a_pass_without_what_it_needs),
        cmocka_unit_test(refuses_apertures_that_are_turned_around),
        cmocka_unit_test(refuses_a_wiggler_of_broken_periods),
        cmocka_unit_test(refuses_a_ring_that_cannot_be),
        cmocka_unit_test(finds_by_name_and_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
