// SPDX-License-Identifier: Apache-2.0
/** Supplies that change fields of magnets, beside a twin whose fields are set by hand. Argument: the lattice. */
#include "test_machine_rig.h"

#include <ringmaster/twin.h>

enum { GROUPS = 4, FIRST = 2 * FAST - GROUPS };

struct strengths {
    struct machine_rig rig;
    struct rm_lattice *lattice;
    struct rm_twin *twin;
};

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

/** One supply for each change of one magnet; a bend of two pieces, and sextupoles about their correctors. */
static void set_groups(struct machine_rig *rig) {
    static char reverse[] = "RB1_S02_01", bend[] = "B2L_S03_01", skew[] = "SF1_S04_01", sextupole[] = "SD1_S05_01";
    static struct {
        char *elements;
        enum rm_machine_change change;
        double per_unit;
    } const groups[GROUPS] = {{reverse, RM_CHANGE_GRADIENT, 1e-3},
                              {skew, RM_CHANGE_SKEW, 2e-3},
                              {bend, RM_CHANGE_GRADIENT, 1e-3},
                              {sextupole, RM_CHANGE_SEXTUPOLE, 1e-2}};
    rig->config.group_count = GROUPS;
    for (uint32_t g = 0; g < GROUPS; ++g)
        rig->config.group[g] = (struct rm_machine_group){.elements = groups[g].elements,
                                                         .plane = 'q',
                                                         .supply = &rig->supply[FIRST + g],
                                                         .supply_count = 1,
                                                         .change = groups[g].change,
                                                         .per_unit = groups[g].per_unit};
}

static int strengths_open(void **state) {
    struct strengths *it = calloc(1, sizeof *it);
    assert_non_null(it);
    rig_init(&it->rig);
    set_groups(&it->rig);
    rig_make(&it->rig);
    check(rm_lattice_read(rig_lattice(), NULL, &it->lattice, &it->rig.error), &it->rig.error);
    check(rm_twin_make(it->lattice, &it->twin, &it->rig.error), &it->rig.error);
    check(rm_twin_enable_6d(it->twin, &it->rig.error), &it->rig.error);
    *state = it;
    return 0;
}

static int strengths_close(void **state) {
    struct strengths *it = *state;
    rig_free(&it->rig);
    rm_twin_free(it->twin);
    rm_lattice_free(it->lattice);
    free(it);
    return 0;
}

/** Sets a coefficient of the twin's pieces of a name, to what `scale` and `add` make of the design's. */
static void set_field(struct strengths *it, char const *name, enum rm_component component, uint32_t order, double scale,
                      double add) {
    uint32_t piece[4];
    uint32_t const pieces = rm_lattice_find(it->lattice, name, RM_ELEMENT_KINDS, piece, 4);
    assert_in_range(pieces, 1, 2);
    for (uint32_t i = 0; i < pieces; ++i) {
        struct rm_element const *e = rm_lattice_element(it->lattice, piece[i]);
        double const design = (component == RM_SKEW ? e->polynom_a : e->polynom_b)[order];
        check(rm_twin_set_polynom(it->twin, piece[i], component, order, design * scale + add, &it->rig.error),
              &it->rig.error);
    }
}

/** The difference of the orbit at the BPMs from the twin's, and of the tunes. */
static void compare_with_twin(struct strengths *it, double *orbit_m, double *tune) {
    uint32_t bpm[BPMS];
    double start[RM_COORDINATES], orbit[BPMS][RM_COORDINATES], off = 0;
    struct rm_optics_summary ring;
    assert_int_equal(rm_lattice_find(it->lattice, "BPM_*", RM_ELEMENT_KINDS, bpm, BPMS), BPMS);
    check(rm_twin_find_orbit(it->twin, NULL, start, bpm, BPMS, orbit, &it->rig.error), &it->rig.error);
    check(rm_twin_linopt6(it->twin, NULL, NULL, 0, &ring, NULL, &it->rig.error), &it->rig.error);
    for (uint32_t b = 0; b < BPMS; ++b) {
        double x, y;
        rm_machine_true_orbit(it->rig.machine, b, &x, &y);
        off = fmax(off, fmax(fabs(x - orbit[b][0]), fabs(y - orbit[b][2])));
    }
    *orbit_m = off;
    struct rm_machine_report const says = rm_machine_says(it->rig.machine);
    *tune = fmax(fabs(says.tune[0] - ring.tune[0]), fabs(says.tune[1] - ring.tune[1]));
}

/** Sets the supplies, looks, and compares. */
static void look_with(struct strengths *it, double const current[GROUPS], double *orbit_m, double *tune) {
    memcpy(&it->rig.current[FIRST], current, GROUPS * sizeof *current);
    step(&it->rig);
    refresh(&it->rig);
    step(&it->rig);
    compare_with_twin(it, orbit_m, tune);
}

/** Angle over length of a dipole. */
static double curvature_of(struct strengths const *it, char const *name) {
    uint32_t at;
    assert_true(rm_lattice_find(it->lattice, name, RM_ELEMENT_KINDS, &at, 1) >= 1);
    struct rm_element const *e = rm_lattice_element(it->lattice, at);
    return e->bending_angle_rad / e->length_m;
}

static void test_each_change_is_that_of_the_lattice(void **state) {
    struct strengths *it = *state;
    double orbit_m, tune;
    look_with(it, (double[GROUPS]){0}, &orbit_m, &tune);
    assert_true(orbit_m < 1e-9 && tune < 1e-9);
    look_with(it, (double[GROUPS]){2, 3, -1, 4}, &orbit_m, &tune);
    assert_true(orbit_m > 1e-6 && tune > 1e-5);
    set_field(it, "RB1_S02_01", RM_NORMAL, 1, 1.002, 0); /* the angle of a bend goes with its gradient */
    set_field(it, "RB1_S02_01", RM_NORMAL, 0, 1, 0.002 * curvature_of(it, "RB1_S02_01"));
    set_field(it, "B2L_S03_01", RM_NORMAL, 1, 0.999, 0);
    set_field(it, "B2L_S03_01", RM_NORMAL, 0, 1, -0.001 * curvature_of(it, "B2L_S03_01"));
    compare_with_twin(it, &orbit_m, &tune);
    double const without_others[2] = {orbit_m, tune};
    set_field(it, "SF1_S04_01", RM_SKEW, 1, 1, 6e-3 / 0.2);
    set_field(it, "SD1_S05_01", RM_NORMAL, 2, 1.04, 0);
    compare_with_twin(it, &orbit_m, &tune);
    assert_true(without_others[0] > 1e-7 && without_others[1] > 1e-6);
    assert_true(orbit_m < 1e-9 && tune < 1e-9);
}

/** Before a look the tunes have moved by the gradient of a bend; what its angle does to the orbit comes with the look. */
static void test_tune_follows_a_bend_at_once(void **state) {
    struct strengths *it = *state;
    struct rm_oscillation const *oscillation = rm_machine_oscillation(it->rig.machine);
    double const nothing[GROUPS] = {0}, change = 1e-3;
    double orbit_m, tune;
    struct rm_optics_summary before, after;
    look_with(it, nothing, &orbit_m, &tune);
    assert_int_equal(rm_machine_strengths(it->rig.machine), 2);
    check(rm_twin_linopt6(it->twin, NULL, NULL, 0, &before, NULL, &it->rig.error), &it->rig.error);
    set_field(it, "RB1_S02_01", RM_NORMAL, 1, 1 + change, 0);
    check(rm_twin_linopt6(it->twin, NULL, NULL, 0, &after, NULL, &it->rig.error), &it->rig.error);
    assert_int_equal(rm_machine_strength_supply(it->rig.machine, 0), FIRST);
    rm_machine_set_strengths(it->rig.machine, (double[2]){1, 0});
    for (int u = 0; u < 2; ++u) {
        double const truly = after.tune[u] - before.tune[u];
        print_message("tune %d moves by %.3e, at once by %.3e\n", u + 1, truly, oscillation->shift[u]);
        assert_true(fabs(oscillation->shift[u] / truly - 1) < 0.01);
    }
}

static void expect_refusal(char *elements, enum rm_machine_change change, char const *part) {
    struct machine_rig rig;
    rig_init(&rig);
    set_groups(&rig);
    rig.config.group[0].elements = elements;
    rig.config.group[0].change = change;
    assert_int_equal(rm_machine_make(&rig.config, 1.2e6, &rig.machine, &rig.error), RM_E_CONFIG);
    if (strstr(rig.error.text, part) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", rig.error.text, part);
}

static void test_what_a_magnet_has_not(void **state) {
    (void)state;
    static char sextupole[] = "SF1_S01_01", quadrupole[] = "QF1_S01_01", drift[] = "LS_S01_01", two[] = "RB1_S01_*",
                plain[] = "B2H_S01_01";
    expect_refusal(sextupole, RM_CHANGE_GRADIENT, "SF1_S01_01 too, which has no gradient");
    expect_refusal(plain, RM_CHANGE_GRADIENT, "B2H_S01_01 too, which has no gradient");
    expect_refusal(quadrupole, RM_CHANGE_SEXTUPOLE, "QF1_S01_01 too, which has no sextupole field");
    expect_refusal(drift, RM_CHANGE_SKEW, "LS_S01_01 too, which has no room for a skew gradient");
    expect_refusal(two, RM_CHANGE_GRADIENT, "2 magnets of");
}

int main(int argc, char **argv) {
    if (!rig_take_lattice(argc, argv))
        return EXIT_FAILURE;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_each_change_is_that_of_the_lattice, strengths_open, strengths_close),
        cmocka_unit_test_setup_teardown(test_tune_follows_a_bend_at_once, strengths_open, strengths_close),
        cmocka_unit_test(test_what_a_magnet_has_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
