// SPDX-License-Identifier: Apache-2.0
/** A living machine by itself: test_machine LATTICE. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/twin.h>

#include "machine.h"

enum { BPMS = 168, FAST = 72, SUPPLIES = 2 * FAST + 2, STRENGTH = 2 * FAST, RF = STRENGTH + 1 };

static double const RATE_HZ = 10e3, UNIT_RAD = 1e-6;

static char *lattice_path;

/** Horizontal and vertical fast correctors, one quadrupole, and the RF: each with a supply. */
struct rig {
    struct rm_ring_machine config;
    uint32_t supply[SUPPLIES];
    double current[SUPPLIES];
    struct rm_machine *machine;
    struct rm_error error;
    uint64_t steps;
};

static void set_group(struct rig *rig, uint32_t group, char const *elements, char plane, uint32_t first, uint32_t count,
                      double per_unit) {
    rig->config.group[group] =
        (struct rm_machine_group){(char *)(uintptr_t)elements, plane, &rig->supply[first], count, per_unit, 0};
    rig->config.group_count = group + 1;
}

static void rig_init(struct rig *rig) {
    static char bpms[] = "BPM_*", fast[] = "CF_*", quadrupole[] = "QF1_S01_01";
    *rig = (struct rig){.config = {.present = true,
                                   .lattice = lattice_path,
                                   .seed = 7,
                                   .bpms = bpms,
                                   .bpm_count = BPMS,
                                   .supply_count = SUPPLIES,
                                   .step_turns = 120,
                                   .rf_supply = RF,
                                   .rf_hz_per_unit = 10}};
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        rig->supply[s] = s;
    set_group(rig, 0, fast, 'x', 0, FAST, UNIT_RAD);
    set_group(rig, 1, fast, 'y', FAST, FAST, UNIT_RAD);
    set_group(rig, 2, quadrupole, 'q', STRENGTH, 1, 1e-3);
}

static void rig_make(struct rig *rig) {
    if (rm_machine_make(&rig->config, 1.2e6, &rig->machine, &rig->error) != RM_OK)
        fail_msg("%s", rig->error.text);
}

static void rig_free(struct rig *rig) { rm_machine_free(rig->machine); }

static void step(struct rig *rig) { rm_machine_step(rig->machine, (double)rig->steps++ / RATE_HZ, rig->current); }

static void refresh(struct rig *rig) {
    if (rm_machine_refresh(rig->machine, &rig->error) != RM_OK)
        fail_msg("%s", rig->error.text);
}

static uint32_t knob(struct rig const *rig, char const *name) {
    for (uint32_t k = 0; k < rm_machine_knobs(rig->machine); ++k)
        if (strcmp(rm_machine_knob_name(rig->machine, k), name) == 0)
            return k;
    fail_msg("no knob %s", name);
    return 0;
}

/** The largest orbit of a plane at any BPM. */
static double largest(struct rig const *rig, int plane) {
    double most = 0;
    for (uint32_t b = 0; b < BPMS; ++b) {
        double orbit[2];
        rm_machine_true_orbit(rig->machine, b, &orbit[0], &orbit[1]);
        most = fmax(most, fabs(orbit[plane]));
    }
    return most;
}

/* ── a twin beside, made of the same file ── */

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
    check(rm_lattice_read(lattice_path, NULL, &beside->lattice, &error), &error);
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
static double difference(struct rig *rig, struct beside *beside) {
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

/* ── tests ── */

static void test_response_is_the_lattices(void **state) {
    (void)state;
    struct rig rig;
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
    struct rig rig;
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
    struct rig rig;
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
static double orbit_difference(struct rig const *rig, struct beside const *beside) {
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
    struct rig rig;
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

static void test_new_orbit_is_blended_in(void **state) {
    (void)state;
    struct rig rig;
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

static void test_mains_reach_their_orbit_at_the_worst_bpm(void **state) {
    (void)state;
    struct rig rig;
    double most[2] = {0, 0};
    rig_init(&rig);
    rig.config.disturbances.mains[0].hz = 50;
    rig.config.disturbances.mains[0].orbit_m = 100e-6;
    rig.config.disturbances.mains_count = 1;
    rig_make(&rig);
    for (int s = 0; s < 400; ++s) { /* two periods */
        step(&rig);
        for (int plane = 0; plane < 2; ++plane)
            most[plane] = fmax(most[plane], largest(&rig, plane));
    }
    for (int plane = 0; plane < 2; ++plane) /* horizontally on top of the design's own orbit, from radiation */
        assert_true(fabs(most[plane] / 100e-6 - 1) < (plane == 0 ? 0.05 : 0.001));
    rm_machine_set(rig.machine, knob(&rig, "mains"), 0.5);
    for (int s = 0; s < 50; ++s) { /* one look per step: sextupoles shift it, but do not change what it is */
        step(&rig);
        refresh(&rig);
        assert_true(largest(&rig, 1) < 60e-6);
    }
    rm_machine_set(rig.machine, knob(&rig, "mains"), 0);
    refresh(&rig);
    step(&rig);
    refresh(&rig);
    step(&rig);
    assert_true(largest(&rig, 1) < 1e-9);
    rig_free(&rig);
}

/** The sine and cosine of `hz` in the vertical orbit at a BPM, over `steps` from now on: its phase, and its size. */
static double phase_of(struct rig *rig, double hz, int steps, double *size) {
    double sine = 0, cosine = 0;
    for (int s = 0; s < steps; ++s) {
        double const time = (double)rig->steps / RATE_HZ;
        double x, y;
        step(rig);
        rm_machine_true_orbit(rig->machine, 5, &x, &y);
        sine += y * sin(2 * M_PI * hz * time);
        cosine += y * cos(2 * M_PI * hz * time);
    }
    *size = 2 * hypot(sine, cosine) / steps;
    return atan2(cosine, sine);
}

static void test_mains_wander_together_and_slowly(void **state) {
    (void)state;
    struct rig rig;
    double size[2], moved[2], largest_shift = 0;
    rig_init(&rig);
    for (int line = 0; line < 2; ++line) {
        rig.config.disturbances.mains[line].hz = 100 * (line + 1);
        rig.config.disturbances.mains[line].orbit_m = 10e-6;
    }
    rig.config.disturbances.mains_count = 2;
    rig.config.disturbances.mains_wander = 0.001;
    rig_make(&rig);
    double before[2] = {0, 0};
    for (int second = 0; second < 5; ++second) {
        rig.steps += (uint64_t)RATE_HZ;
        for (int line = 0; line < 2; ++line) {
            double const phase = phase_of(&rig, 100 * (line + 1), 200, &size[line]);
            moved[line] = remainder(phase - before[line], 2 * M_PI);
            before[line] = phase;
            assert_true(size[line] > 0.1e-6);
        }
        if (second == 0)
            continue;
        largest_shift = fmax(largest_shift, fabs(moved[0]));
        assert_true(fabs(moved[0]) < 2 * M_PI * 0.1 * 1.1); /* 0.1 % of 100 Hz, for a second */
        assert_true(fabs(remainder(moved[1] - 2 * moved[0], 2 * M_PI)) < 0.1);
    }
    assert_true(largest_shift > 0.01);
    rig_free(&rig);
}

static void disturb_all(struct rig *rig) {
    static char at[] = "LS_S03_01";
    rig->config.errors.beta_beat = 0.05;
    rig->config.errors.bpm_gain = rig->config.errors.corrector_gain = 0.05;
    rig->config.errors.bpm_offset_m = 50e-6;
    rig->config.errors.bpm_roll_rad = rig->config.errors.corrector_roll_rad = 5e-3;
    rig->config.errors.bpm_crosstalk = 0.01;
    rig->config.disturbances.mains[0].hz = 50;
    rig->config.disturbances.mains[0].orbit_m = 20e-6;
    rig->config.disturbances.mains_count = 1;
    rig->config.disturbances.mains_wander = 0.001;
    rig->config.disturbances.ground_rms_m = 50e-9;
    rig->config.disturbances.ground_corner_hz = 10;
    rig->config.disturbances.step_rad = 0.1e-6;
    rig->config.disturbances.step_every_s = 0.01;
    rig->config.disturbances.insertion_at = at;
    rig->config.disturbances.insertion_rad = 1e-6;
    rig->config.disturbances.insertion_ramp_s = 0.01;
    rig->config.disturbances.insertion_every_s = 0.02;
    rig->config.disturbances.topup_rad = 1e-6;
    rig->config.disturbances.topup_every_s = 0.03;
    rig->config.disturbances.topup_turns = 1200;
}

/** A run of half a second's steps with looks between them; a sum that any other bit would change. */
static uint64_t run_all(uint64_t seed) {
    struct rig rig;
    uint64_t sum = 14695981039346656037u;
    rig_init(&rig);
    disturb_all(&rig);
    rig.config.seed = seed;
    rig.config.bpm_delay_s = 150e-6;
    rig.config.bpm_bandwidth_hz = 4000;
    rig_make(&rig);
    for (int s = 0; s < 500; ++s) {
        rig.current[s % STRENGTH] = sin(s);
        if (s % 100 == 99)
            refresh(&rig);
        step(&rig);
        for (uint32_t b = 0; b < BPMS; ++b) {
            double reading[2];
            uint64_t bits[2];
            rm_machine_read(rig.machine, b, &reading[0], &reading[1]);
            memcpy(bits, reading, sizeof bits);
            sum = ((sum ^ bits[0]) * 1099511628211u ^ bits[1]) * 1099511628211u;
        }
    }
    rig_free(&rig);
    return sum;
}

static void test_equal_seeds_give_equal_bits(void **state) {
    (void)state;
    uint64_t const once = run_all(3);
    assert_true(once == run_all(3));
    assert_false(once == run_all(4));
}

/** RMS of the vertical orbit's change from one step to the next. */
static double restless(struct rig *rig, int steps) {
    double before[BPMS], sum = 0, x;
    for (uint32_t b = 0; b < BPMS; ++b)
        rm_machine_true_orbit(rig->machine, b, &x, &before[b]);
    for (int s = 0; s < steps; ++s) {
        step(rig);
        for (uint32_t b = 0; b < BPMS; ++b) {
            double y;
            rm_machine_true_orbit(rig->machine, b, &x, &y);
            sum += (y - before[b]) * (y - before[b]);
            before[b] = y;
        }
    }
    return sqrt(sum / (steps * BPMS));
}

static void test_each_disturbance_has_its_knob(void **state) {
    (void)state;
    static char const *const names[] = {"mains", "ground", "steps", "insertion"};
    struct rig rig;
    rig_init(&rig);
    disturb_all(&rig);
    rig_make(&rig);
    step(&rig);
    for (int k = 0; k < 4; ++k)
        rm_machine_set(rig.machine, knob(&rig, names[k]), 0);
    rm_machine_set(rig.machine, knob(&rig, "topup"), 0);
    restless(&rig, 100); /* the ground comes to rest */
    assert_true(restless(&rig, 500) < 1e-10);
    for (int k = 0; k < 4; ++k) {
        rm_machine_set(rig.machine, knob(&rig, names[k]), 1);
        restless(&rig, 100);
        assert_true(restless(&rig, 500) > 1e-9);
        rm_machine_set(rig.machine, knob(&rig, names[k]), 0);
        restless(&rig, 100);
    }
    rig_free(&rig);
}

static void test_topup_kicks_for_its_turns(void **state) {
    (void)state;
    struct rig rig;
    uint32_t kicked = 0;
    rig_init(&rig);
    rig.config.disturbances.topup_rad = 20e-6;
    rig.config.disturbances.topup_every_s = 0.01;
    rig.config.disturbances.topup_turns = 600; /* of 1.2 million a second: five steps */
    rig_make(&rig);
    for (int s = 0; s < 400; ++s) {
        step(&rig);
        kicked += largest(&rig, 0) > 50e-6;
    }
    assert_int_equal(kicked, 3 * 5);
    rig_free(&rig);
}

/** Quadrupoles, gradient dipoles and reverse bends that move by themselves move the vertical orbit of this lattice by
 * 138 of their own RMS, as examples/orbit_floor.py finds; quadrupoles alone by 61. */
static void test_ground_is_as_restless_as_configured(void **state) {
    (void)state;
    double rms[2];
    for (int twice = 0; twice < 2; ++twice) {
        struct rig rig;
        double sum = 0;
        rig_init(&rig);
        rig.config.disturbances.ground_rms_m = 50e-9 * (twice + 1);
        rig.config.disturbances.ground_corner_hz = 10;
        rig_make(&rig);
        for (int s = 0; s < 4000; ++s) {
            step(&rig);
            for (uint32_t b = 0; s >= 1000 && b < BPMS; ++b) {
                double x, y;
                rm_machine_true_orbit(rig.machine, b, &x, &y);
                sum += y * y;
            }
        }
        rms[twice] = sqrt(sum / (3000 * BPMS));
        rig_free(&rig);
    }
    assert_true(fabs(rms[1] / rms[0] - 2) < 1e-3);
    assert_true(fabs(rms[0] / (50e-9 * 138) - 1) < 0.3); /* in a third of a second there are few of ten hertz */
}

static void test_lost_beam(void **state) {
    (void)state;
    struct rig rig;
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
    struct rig rig;
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
    struct rig rig;
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

static void test_bpms_see_late(void **state) {
    (void)state;
    struct rig rig;
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
    struct rig rig;
    rig_init(&rig);
    rig_make(&rig);
    assert_int_equal(rm_machine_start(rig.machine, 1e-3, &rig.error), RM_OK);
    while (rm_machine_says(rig.machine).refreshes < 20)
        step(&rig);
    rm_machine_stop(rig.machine);
    assert_int_equal(rm_machine_says(rig.machine).failures, 0);
    rig_free(&rig);
}

/** The tunes are those of the looks, and the phases at the BPMs belong to them. */
static void test_optics_are_the_lattices(void **state) {
    (void)state;
    struct rig rig;
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
            struct rm_machine_optics const is = rm_machine_optics(rig.machine, b);
            assert_true(fabs(is.beta_m[plane] / optics[b].beta_m[plane] - 1) < 0.01);
            assert_true(fabs(remainder(is.phase_rad[plane] - optics[b].mu_rad[plane], 2 * M_PI)) < 0.01);
        }
    }
    free(optics);
    rig_free(&rig);
    beside_free(beside);
}

static void expect_error(struct rig *rig, char const *part) {
    assert_int_equal(rm_machine_make(&rig->config, 1.2e6, &rig->machine, &rig->error), RM_E_CONFIG);
    if (strstr(rig->error.text, part) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", rig->error.text, part);
}

static void test_what_a_lattice_has_not(void **state) {
    (void)state;
    static char drifts[] = "LS_*", few[] = "CF_S01_*", dipoles[] = "B1_S01_01", nowhere[] = "nowhere";
    struct rig rig;
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
    expect_error(&rig, "no quadrupole");
    rig_init(&rig);
    rig.config.disturbances.insertion_at = nowhere;
    expect_error(&rig, "no element \"nowhere\"");
    rig_init(&rig);
    rig.config.errors.beta_beat = 50;
    expect_error(&rig, "machine.errors.beta_beat");
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_response_is_the_lattices),
        cmocka_unit_test(test_errors_are_as_large_as_configured),
        cmocka_unit_test(test_moving_a_quadrupole_changes_the_response),
        cmocka_unit_test(test_orbit_is_linear_between_looks_and_true_after_them),
        cmocka_unit_test(test_new_orbit_is_blended_in),
        cmocka_unit_test(test_mains_reach_their_orbit_at_the_worst_bpm),
        cmocka_unit_test(test_mains_wander_together_and_slowly),
        cmocka_unit_test(test_equal_seeds_give_equal_bits),
        cmocka_unit_test(test_each_disturbance_has_its_knob),
        cmocka_unit_test(test_topup_kicks_for_its_turns),
        cmocka_unit_test(test_ground_is_as_restless_as_configured),
        cmocka_unit_test(test_lost_beam),
        cmocka_unit_test(test_unstable_lattice_loses_the_beam_until_it_is_stable_again),
        cmocka_unit_test(test_eddy_currents_are_a_first_order),
        cmocka_unit_test(test_bpms_see_late),
        cmocka_unit_test(test_optics_are_the_lattices),
        cmocka_unit_test(test_background_looks_by_itself),
        cmocka_unit_test(test_what_a_lattice_has_not),
    };
    if (argc < 2)
        return EXIT_FAILURE;
    lattice_path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
