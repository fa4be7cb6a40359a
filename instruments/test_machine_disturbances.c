// SPDX-License-Identifier: Apache-2.0
/** What disturbs a machine: mains, ground, steps, insertion devices, top-up; as large as configured, each with its
 * knob. Argument: the lattice. */
#include "test_machine_rig.h"

static void test_mains_reach_their_orbit_at_the_worst_bpm(void **state) {
    (void)state;
    struct machine_rig rig;
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
static double phase_of(struct machine_rig *rig, double hz, int steps, double *size) {
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
    struct machine_rig rig;
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

/** Phases of two lines whose frequencies are exact, once a second. */
static void test_each_line_has_a_phase_of_its_own(void **state) {
    (void)state;
    enum { SECONDS = 40 };
    struct machine_rig rig;
    double phase[2][SECONDS], mean[2] = {0}, spread[2] = {0}, together = 0, size;
    rig_init(&rig);
    for (int line = 0; line < 2; ++line) {
        rig.config.disturbances.mains[line].hz = 100 * (line + 1);
        rig.config.disturbances.mains[line].orbit_m = 10e-6;
        rig.config.disturbances.mains[line].phase_rad = 0.3;
    }
    rig.config.disturbances.mains_count = 2;
    rig_make(&rig);
    for (int second = 0; second < SECONDS; ++second)
        for (int line = 0; line < 2; ++line) {
            rig.steps = (uint64_t)((2 * second + line + 1) * RATE_HZ);
            phase[line][second] = phase_of(&rig, 100 * (line + 1), 100, &size);
            phase[line][second] = remainder(phase[line][second] - phase[line][0], 2 * M_PI);
            mean[line] += phase[line][second] / SECONDS;
        }
    for (int second = 0; second < SECONDS; ++second) {
        for (int line = 0; line < 2; ++line)
            spread[line] += pow(phase[line][second] - mean[line], 2) / SECONDS;
        together += (phase[0][second] - mean[0]) * (phase[1][second] - mean[1]) / SECONDS;
    }
    for (int line = 0; line < 2; ++line)
        assert_true(fabs(sqrt(spread[line]) / 0.3 - 1) < 0.3);
    assert_true(fabs(together) < 0.5 * sqrt(spread[0] * spread[1]));
    rig_free(&rig);
}

static void disturb_all(struct machine_rig *rig) {
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
    struct machine_rig rig;
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
static double restless(struct machine_rig *rig, int steps) {
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
    struct machine_rig rig;
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
    struct machine_rig rig;
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
        struct machine_rig rig;
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

int main(int argc, char **argv) {
    if (!rig_take_lattice(argc, argv))
        return EXIT_FAILURE;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_mains_reach_their_orbit_at_the_worst_bpm),
        cmocka_unit_test(test_mains_wander_together_and_slowly),
        cmocka_unit_test(test_each_line_has_a_phase_of_its_own),
        cmocka_unit_test(test_equal_seeds_give_equal_bits),
        cmocka_unit_test(test_each_disturbance_has_its_knob),
        cmocka_unit_test(test_topup_kicks_for_its_turns),
        cmocka_unit_test(test_ground_is_as_restless_as_configured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
