// SPDX-License-Identifier: Apache-2.0
/** The machine beside a twin, made of the same file: responses, orbits and optics are the lattice's. Argument: the
 * lattice. */
#include "test_machine_rig.h"

#include <ringmaster/twin.h>

struct beside {
    struct rm_lattice *lattice;
    struct rm_twin *twin;
    uint32_t bpm[BPMS], fast[FAST];
    struct rm_steerer steerer[2 * FAST];
    double matrix[2][BPMS][2 * FAST + 1];
};

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static struct beside *beside_make(void) {
    struct rm_error error;
    struct beside *beside = calloc(1, sizeof *beside);
    assert_non_null(beside);
    check(rm_lattice_read(rig_lattice(), NULL, &beside->lattice, &error), &error);
    check(rm_twin_make(beside->lattice, &beside->twin, &error), &error);
    check(rm_twin_enable_6d(beside->twin, &error), &error);
    assert_int_equal(rm_lattice_find(beside->lattice, "BPM_*", RM_ELEMENT_KINDS, beside->bpm, BPMS), BPMS);
    assert_int_equal(rm_lattice_find(beside->lattice, "CF_*", RM_ELEMENT_KINDS, beside->fast, FAST), FAST);
    for (uint32_t s = 0; s < 2 * FAST; ++s)
        beside->steerer[s] = (struct rm_steerer){beside->fast[s % FAST], s < FAST ? RM_HORIZONTAL : RM_VERTICAL};
    return beside;
}

static void beside_free(struct beside *beside) {
    rm_twin_free(beside->twin);
    rm_lattice_free(beside->lattice);
    free(beside);
}

static void respond(struct beside *beside) {
    struct rm_error error;
    check(rm_twin_response(beside->twin, NULL, beside->bpm, BPMS, beside->steerer, 2 * FAST, &beside->matrix[0][0][0],
                           &error),
          &error);
}

static void change_gradient(struct beside *beside, double relative) {
    struct rm_error error;
    uint32_t at;
    assert_int_equal(rm_lattice_find(beside->lattice, "QF1_S01_01", RM_ELEMENT_KINDS, &at, 1), 1);
    double const design = rm_lattice_element(beside->lattice, at)->polynom_b[1];
    check(rm_twin_set_polynom(beside->twin, at, RM_NORMAL, 1, design * (1 + relative), &error), &error);
}

/** RMS of the machine's response less the twin's, over the RMS of the twin's; the RF's column too. */
static double difference(struct machine_rig *rig, struct beside *beside) {
    double *response = calloc(2 * (size_t)BPMS * SUPPLIES, sizeof *response);
    assert_non_null(response);
    rm_machine_response(rig->machine, response);
    respond(beside);
    double off = 0, all = 0;
    for (uint32_t row = 0; row < 2 * BPMS; ++row)
        for (uint32_t s = 0; s <= 2 * FAST; ++s) {
            double const unit = s == 2 * FAST ? 1e9 * rig->config.rf_hz_per_unit : 1e9 * UNIT_RAD;
            double const wanted = unit * beside->matrix[row / BPMS][row % BPMS][s];
            double const is = response[row * SUPPLIES + (s == 2 * FAST ? RF : s)];
            off += (is - wanted) * (is - wanted);
            all += wanted * wanted;
        }
    free(response);
    return sqrt(off / all);
}

static void test_response_is_the_lattices(void **state) {
    (void)state;
    struct machine_rig rig;
    struct beside *beside = beside_make();
    rig_init(&rig);
    rig_make(&rig);
    assert_true(difference(&rig, beside) < 1e-6);
    change_gradient(beside, 0.02);
    assert_true(difference(&rig, beside) > 1e-2);
    beside_free(beside);
    rig_free(&rig);
}

static void test_errors_are_as_large_as_configured(void **state) {
    (void)state;
    struct machine_rig rig;
    struct beside *beside = beside_make();
    rig_init(&rig);
    rig.config.errors.bpm_gain = 0.05;
    rig_make(&rig);
    double const gains = difference(&rig, beside);
    rig_free(&rig);
    assert_true(gains > 0.04 && gains < 0.06);
    rig.config.errors.bpm_gain = 0;
    rig.config.errors.beta_beat = 0.1;
    rig_make(&rig);
    double const beat = difference(&rig, beside);
    assert_true(fabs(rm_machine_says(rig.machine).beta_beat - 0.1) < 0.002);
    assert_true(beat > 0.05 && beat < 0.5);
    rig_free(&rig);
    beside_free(beside);
}

static void test_moving_a_quadrupole_changes_the_response(void **state) {
    (void)state;
    struct machine_rig rig;
    struct beside *beside = beside_make();
    rig_init(&rig);
    rig_make(&rig);
    step(&rig);
    rm_machine_set(rig.machine, knob(&rig, "QF1_S01_01"), 0.02);
    step(&rig);
    assert_true(difference(&rig, beside) < 1e-6);
    refresh(&rig);
    step(&rig);
    assert_true(difference(&rig, beside) > 1e-2);
    change_gradient(beside, 0.02);
    assert_true(difference(&rig, beside) < 1e-6);
    rig.current[STRENGTH] = 10; /* and by its supply: 1 % more */
    step(&rig);
    refresh(&rig);
    step(&rig);
    change_gradient(beside, 0.03);
    assert_true(difference(&rig, beside) < 1e-6);
    rig_free(&rig);
    beside_free(beside);
}

/** RMS of the machine's orbit less the twin's closed orbit with all kicks. */
static double orbit_difference(struct machine_rig const *rig, struct beside const *beside) {
    struct rm_orbit_options const options = {.rf_offset_hz = rig->config.rf_hz_per_unit * rig->current[RF]};
    struct rm_error error;
    double start[6], orbit[BPMS][RM_COORDINATES], off = 0;
    for (uint32_t c = 0; c < FAST; ++c)
        check(rm_twin_set_kick(beside->twin, beside->fast[c], UNIT_RAD * rig->current[c],
                               UNIT_RAD * rig->current[FAST + c], &error),
              &error);
    check(rm_twin_find_orbit(beside->twin, &options, start, beside->bpm, BPMS, orbit, &error), &error);
    for (uint32_t b = 0; b < BPMS; ++b) {
        double x, y;
        rm_machine_true_orbit(rig->machine, b, &x, &y);
        off += (x - orbit[b][0]) * (x - orbit[b][0]) + (y - orbit[b][2]) * (y - orbit[b][2]);
    }
    return sqrt(off / (2 * BPMS));
}

static void test_orbit_is_linear_between_looks_and_true_after_them(void **state) {
    (void)state;
    struct machine_rig rig;
    struct beside *beside = beside_make();
    rig_init(&rig);
    rig_make(&rig);
    step(&rig);
    assert_true(orbit_difference(&rig, beside) < 1e-10);
    for (uint32_t s = 0; s < 2 * FAST; ++s)
        rig.current[s] = 5 * sin(s * s); /* µrad */
    rig.current[RF] = 10;
    step(&rig);
    double const linear = orbit_difference(&rig, beside);
    assert_true(largest(&rig, 0) > 50e-6);
    assert_true(linear > 20e-9); /* sextupoles bend it */
    refresh(&rig);
    step(&rig);
    assert_true(orbit_difference(&rig, beside) < 0.5e-9);
    rig_free(&rig);
    beside_free(beside);
}

/** The tunes are those of the looks, and the phases at the BPMs belong to them. */
static void test_optics_are_the_lattices(void **state) {
    (void)state;
    struct machine_rig rig;
    struct beside *beside = beside_make();
    struct rm_optics_summary ring;
    struct rm_optics *optics = calloc(BPMS, sizeof *optics);
    assert_non_null(optics);
    rig_init(&rig);
    rig_make(&rig);
    check(rm_twin_linopt6(beside->twin, NULL, beside->bpm, BPMS, &ring, optics, &rig.error), &rig.error);
    for (int plane = 0; plane < 2; ++plane) {
        assert_float_equal(rm_machine_says(rig.machine).tune[plane], ring.tune[plane], 1e-6);
        for (uint32_t b = 0; b < BPMS; ++b) {
            struct rm_machine_bpm_optics const is = rm_machine_optics(rig.machine, b);
            assert_true(fabs(is.beta_m[plane] / optics[b].beta_m[plane] - 1) < 0.01);
            assert_true(fabs(remainder(is.phase_rad[plane] - optics[b].mu_rad[plane], 2 * M_PI)) < 0.01);
        }
    }
    free(optics);
    rig_free(&rig);
    beside_free(beside);
}

/** Oscillations that a mode makes in the next turn, of a beam with the energy of its orbit. */
static double tune_of_the_next_turn(struct rm_oscillation const *oscillation, int mode) {
    struct rm_oscillation beam = *oscillation;
    double *part = beam.state.part;
    memset(part, 0, sizeof beam.state.part);
    part[2 * mode] = 1e-9;
    rm_oscillation_step(&beam);
    double const turned = -atan2(part[2 * mode + 1], part[2 * mode]) / (2 * M_PI);
    return turned - floor(turned);
}

/** The RF moves the orbit and not the beam. Tunes are at once those that the next look finds. */
static void test_energy_and_tunes_follow_the_rf(void **state) {
    (void)state;
    struct machine_rig rig;
    rig_init(&rig);
    rig_make(&rig);
    struct rm_beam_config const quiet = {.turn_rate_hz = 1.2e6};
    assert_int_equal(rm_machine_excite(rig.machine, &quiet, &rig.error), RM_OK);
    step(&rig);
    struct rm_oscillation const *oscillation = rm_machine_oscillation(rig.machine);
    double const before[2] = {tune_of_the_next_turn(oscillation, 0), tune_of_the_next_turn(oscillation, 1)};
    rig.current[RF] = 1.15; /* 11.5 Hz: a δ of −2e-4 */
    step(&rig);
    assert_float_equal(oscillation->state.orbit_delta, -2e-4, 1e-5);
    assert_float_equal(oscillation->state.part[RM_OSCILLATION_DELTA] + oscillation->state.orbit_delta, 0, 1e-12);
    double const at_once[2] = {tune_of_the_next_turn(oscillation, 0), tune_of_the_next_turn(oscillation, 1)};
    refresh(&rig);
    step(&rig);
    struct rm_machine_report const says = rm_machine_says(rig.machine);
    for (int mode = 0; mode < 2; ++mode) {
        double const shift = says.tune[mode] - before[mode];
        print_message("mode %d: tune %+.3e with the RF, %+.3e by the twin\n", mode + 1, at_once[mode] - before[mode],
                      shift);
        assert_float_equal(shift, -2e-4 * 2, 1e-4); /* the design's chromaticities are 2 */
        assert_float_equal(at_once[mode] - before[mode], shift, 0.01 * fabs(shift));
        assert_float_equal(tune_of_the_next_turn(oscillation, mode), says.tune[mode], 1e-9);
    }
    rig_free(&rig);
}

int main(int argc, char **argv) {
    if (!rig_take_lattice(argc, argv))
        return EXIT_FAILURE;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_response_is_the_lattices),
        cmocka_unit_test(test_errors_are_as_large_as_configured),
        cmocka_unit_test(test_moving_a_quadrupole_changes_the_response),
        cmocka_unit_test(test_orbit_is_linear_between_looks_and_true_after_them),
        cmocka_unit_test(test_optics_are_the_lattices),
        cmocka_unit_test(test_energy_and_tunes_follow_the_rf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
