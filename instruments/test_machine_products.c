// SPDX-License-Identifier: Apache-2.0
/** What sextupoles make of an orbit that swings between two looks, beside the nonlinear closed orbits of a twin that has
 * the same kicks and fields. Argument: the lattice. */
#include "test_machine_rig.h"

#include <ringmaster/twin.h>

#include "machine_parts.h"

enum { PHASES = 16, SWING_X = 3, SWING_Y = FAST + 20 };

static double const CHANGE = 0.2, PER_UNIT = 0.01, SWING_UNITS[2] = {20, 28};

struct products {
    struct machine_rig rig;
    struct rm_lattice *lattice;
    struct rm_twin *twin;
    uint32_t bpm[BPMS], corrector[FAST];
};

/** Orbits of all BPMs and phases, x and y. */
typedef double swings[PHASES][BPMS][2];

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static void make_rig(struct machine_rig *rig) {
    static char sextupole[] = "SD1_S05_01";
    rig_init(rig);
    rig->config.group[2].elements = sextupole;
    rig->config.group[2].change = RM_CHANGE_SEXTUPOLE;
    rig->config.group[2].per_unit = PER_UNIT;
    rig_make(rig);
}

static int products_open(void **state) {
    struct products *it = calloc(1, sizeof *it);
    assert_non_null(it);
    make_rig(&it->rig);
    check(rm_lattice_read(rig_lattice(), NULL, &it->lattice, &it->rig.error), &it->rig.error);
    check(rm_twin_make(it->lattice, &it->twin, &it->rig.error), &it->rig.error);
    check(rm_twin_enable_6d(it->twin, &it->rig.error), &it->rig.error);
    assert_int_equal(rm_lattice_find(it->lattice, "BPM_*", RM_ELEMENT_KINDS, it->bpm, BPMS), BPMS);
    assert_int_equal(rm_lattice_find(it->lattice, "CF_*", RM_ELEMENT_KINDS, it->corrector, FAST), FAST);
    *state = it;
    return 0;
}

static int products_close(void **state) {
    struct products *it = *state;
    rig_free(&it->rig);
    rm_twin_free(it->twin);
    rm_lattice_free(it->lattice);
    free(it);
    return 0;
}

/** Currents of the two correctors at a phase: x and y are a quarter of a period apart, with an orbit at rest. */
static void set_swing(double *current, uint32_t phase) {
    double const at = 2 * M_PI * phase / PHASES;
    current[SWING_X] = SWING_UNITS[0] * (0.3 + sin(at));
    current[SWING_Y] = SWING_UNITS[1] * (0.2 + cos(at));
}

/** The machine's orbits, from one look at the phase `look` alone. */
static void swing_machine(struct products *it, double change, uint32_t look, swings orbit) {
    struct machine_rig *rig = &it->rig;
    rig->current[STRENGTH] = change / PER_UNIT;
    set_swing(rig->current, look);
    step(rig);
    refresh(rig);
    for (uint32_t p = 0; p < PHASES; ++p) {
        set_swing(rig->current, p);
        step(rig);
        for (uint32_t b = 0; b < BPMS; ++b)
            rm_machine_true_orbit(rig->machine, b, &orbit[p][b][0], &orbit[p][b][1]);
    }
}

static void set_sextupole(struct products *it, double change) {
    uint32_t piece[4];
    uint32_t const pieces = rm_lattice_find(it->lattice, "SD1_S05_01", RM_ELEMENT_KINDS, piece, 4);
    for (uint32_t i = 0; i < pieces; ++i)
        check(rm_twin_set_polynom(it->twin, piece[i], RM_NORMAL, 2,
                                  rm_lattice_element(it->lattice, piece[i])->polynom_b[2] * (1 + change),
                                  &it->rig.error),
              &it->rig.error);
}

/** The twin's. */
static void swing_twin(struct products *it, double change, swings orbit) {
    double current[SUPPLIES] = {0}, start[RM_COORDINATES], found[BPMS][RM_COORDINATES];
    set_sextupole(it, change);
    for (uint32_t p = 0; p < PHASES; ++p) {
        set_swing(current, p);
        check(rm_twin_set_kick(it->twin, it->corrector[SWING_X], UNIT_RAD * current[SWING_X], 0, &it->rig.error),
              &it->rig.error);
        check(rm_twin_set_kick(it->twin, it->corrector[SWING_Y - FAST], 0, UNIT_RAD * current[SWING_Y], &it->rig.error),
              &it->rig.error);
        check(rm_twin_find_orbit(it->twin, NULL, start, it->bpm, BPMS, found, &it->rig.error), &it->rig.error);
        for (uint32_t b = 0; b < BPMS; ++b)
            memcpy(orbit[p][b], (double[2]){found[b][0], found[b][2]}, sizeof orbit[p][b]);
    }
}

static double largest_of(swings orbit, int plane) {
    double most = 0;
    for (uint32_t p = 0; p < PHASES; ++p)
        for (uint32_t b = 0; b < BPMS; ++b)
            most = fmax(most, fabs(orbit[p][b][plane]));
    return most;
}

/** RMS of (up − down) − (exact up − exact down) over that of the exact one, of a plane. */
static double error_of(swings up, swings down, swings exact_up, swings exact_down, int plane) {
    double off = 0, all = 0;
    for (uint32_t p = 0; p < PHASES; ++p)
        for (uint32_t b = 0; b < BPMS; ++b) {
            double const exact = exact_up[p][b][plane] - exact_down[p][b][plane];
            double const found = up[p][b][plane] - down[p][b][plane];
            off += (found - exact) * (found - exact);
            all += exact * exact;
        }
    return sqrt(off / all);
}

static void compare_settings(struct products *it, double up, double down, uint32_t look, double most) {
    swings *orbit = calloc(4, sizeof *orbit);
    swing_machine(it, up, look, orbit[0]);
    swing_machine(it, down, look, orbit[1]);
    swing_twin(it, up, orbit[2]);
    swing_twin(it, down, orbit[3]);
    for (int plane = 0; plane < 2; ++plane) {
        double const off = error_of(orbit[0], orbit[1], orbit[2], orbit[3], plane);
        print_message("%+.1f to %+.1f, look at phase %u, plane %d: %.4f off, %.0f um at most\n", up, down, look, plane,
                      off, 1e6 * largest_of(orbit[0], plane));
        assert_true(largest_of(orbit[0], plane) > 100e-6);
        assert_true(off < most);
    }
    free(orbit);
}

static void test_a_sextupoles_step_is_right_between_looks(void **state) {
    struct products *it = *state;
    compare_settings(it, CHANGE, -CHANGE, 0, 0.1);
    compare_settings(it, CHANGE, -CHANGE, 5, 0.1);
    compare_settings(it, CHANGE, 0, 9, 0.1);
}

static void test_a_sextupole_at_its_design_adds_nothing(void **state) {
    struct products *it = *state;
    step(&it->rig);
    assert_int_equal(it->rig.machine->active->products.blocks, 0);
    it->rig.current[STRENGTH] = 1;
    step(&it->rig);
    refresh(&it->rig);
    step(&it->rig);
    assert_int_equal(it->rig.machine->active->products.blocks, 1);
    it->rig.current[STRENGTH] = 1e-3; /* a supply's ripple */
    step(&it->rig);
    refresh(&it->rig);
    step(&it->rig);
    assert_int_equal(it->rig.machine->active->products.blocks, 0);
}

int main(int argc, char **argv) {
    if (!rig_take_lattice(argc, argv))
        return EXIT_FAILURE;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_a_sextupoles_step_is_right_between_looks, products_open, products_close),
        cmocka_unit_test_setup_teardown(test_a_sextupole_at_its_design_adds_nothing, products_open, products_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
