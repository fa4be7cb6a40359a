// SPDX-License-Identifier: Apache-2.0
/** The beam's own motion in a machine, beside particles that the twin tracks in the same lattice, with radiation.
 * Arguments: the lattice, and the pattern of its BPMs. Each test prints what it found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine_parts.h"

enum { MISSING_DATA = 77, TURNS = 1000, MOST_BPMS = 256 };

static char *lattice_path, *bpm_pattern;

/** A machine, and a twin of the same lattice whose closed orbit at the BPMs is known. */
struct pair {
    struct rm_ring_machine config;
    struct rm_machine *machine;
    struct rm_lattice *lattice;
    struct rm_twin *twin;
    double start[6], orbit[MOST_BPMS][RM_COORDINATES];
    struct rm_error error;
};

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static void find_closed_orbit(struct pair *pair) {
    check(rm_twin_find_orbit(pair->twin, NULL, pair->start, pair->machine->bpm_element, pair->machine->bpm_count,
                             pair->orbit, &pair->error),
          &pair->error);
}

static struct pair *pair_make(void) {
    struct pair *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    check(rm_lattice_read(lattice_path, NULL, &pair->lattice, &pair->error), &pair->error);
    check(rm_twin_make(pair->lattice, &pair->twin, &pair->error), &pair->error);
    check(rm_twin_enable_6d(pair->twin, &pair->error), &pair->error);
    pair->config = (struct rm_ring_machine){.present = true,
                                            .lattice = lattice_path,
                                            .seed = 7,
                                            .bpms = bpm_pattern,
                                            .step_turns = 120,
                                            .rf_supply = -1,
                                            .momentum_aperture = 0.04};
    pair->config.bpm_count = rm_lattice_find(pair->lattice, bpm_pattern, RM_ELEMENT_KINDS, NULL, 0);
    assert_in_range(pair->config.bpm_count, 1, MOST_BPMS);
    check(rm_machine_make(&pair->config, 1.157e6, &pair->machine, &pair->error), &pair->error);
    check(rm_machine_excite(pair->machine, &(struct rm_beam_config){.turn_rate_hz = 1.157e6}, &pair->error),
          &pair->error);
    find_closed_orbit(pair);
    return pair;
}

static void pair_free(struct pair *pair) {
    rm_machine_free(pair->machine);
    rm_twin_free(pair->twin);
    rm_lattice_free(pair->lattice);
    free(pair);
}

/** Looks at the machine's lattice as it is now, and lets the motion take what it finds. */
static void look(struct pair *pair) {
    check(rm_machine_refresh(pair->machine, &pair->error), &pair->error);
    rm_machine_step(pair->machine, 0, NULL);
    rm_machine_set_strengths(pair->machine, NULL);
}

/** Turns by roll angles of an RMS of 0.5 mrad what has a gradient, in machine and twin: the coupling of a bare ring. */
static void roll_magnets(struct pair *pair) {
    for (uint32_t i = 0; i < rm_lattice_count(pair->lattice); ++i) {
        struct rm_element const *e = rm_lattice_element(pair->lattice, i);
        if (e->kind != RM_ELEMENT_QUADRUPOLE)
            continue;
        double const roll = 7e-4 * sin((double)i * i);
        check(rm_twin_set_misalignment(pair->twin, i, 0, 0, 0, roll, &pair->error), &pair->error);
        check(rm_twin_set_misalignment(pair->machine->twin, i, 0, 0, 0, roll, &pair->error), &pair->error);
    }
    look(pair);
    find_closed_orbit(pair);
}

/** What a BPM shows of a particle that begins `from` beside the closed orbit: [turn][x, y] about the orbit; and δ at
 * the start of the lattice, about that of the orbit. */
static void track(struct pair *pair, uint32_t bpm, double const from[6], uint32_t turns, double (*seen)[2],
                  double *delta) {
    uint32_t const at[2] = {0, pair->machine->bpm_element[bpm]};
    double(*out)[2][6] = calloc(turns, sizeof *out), particle[1][RM_COORDINATES];
    assert_non_null(out);
    assert_true(at[1] > 0);
    for (int c = 0; c < 6; ++c)
        particle[0][c] = pair->start[c] + from[c];
    struct rm_tracking const tracking = {.turns = turns, .refpts = at, .refpt_count = 2, .out = &out[0][0][0]};
    rm_twin_set_turn(pair->twin, 0); /* to which the cavities' phase belongs where their frequency is no harmonic */
    check(rm_twin_track(pair->twin, particle, 1, &tracking, &pair->error), &pair->error);
    for (uint32_t t = 0; t < turns; ++t) {
        seen[t][0] = out[t][1][0] - pair->orbit[bpm][0];
        seen[t][1] = out[t][1][2] - pair->orbit[bpm][2];
        delta[t] = out[t][0][4] - pair->start[4];
    }
    free(out);
}

/** What the machine's BPM shows of its motion, which begins the same. */
static void follow(struct pair *pair, uint32_t bpm, double const from[6], uint32_t turns, double (*seen)[2],
                   double *delta) {
    struct rm_oscillation *oscillation = rm_machine_oscillation(pair->machine);
    double weight[2][RM_SEEN_PARTS];
    memset(oscillation->state.part, 0, sizeof oscillation->state.part);
    rm_machine_bpm_weights(pair->machine, bpm, weight);
    rm_oscillation_displace(oscillation, from, from[4], 0);
    for (uint32_t t = 0; t < turns; ++t) {
        for (int plane = 0; plane < 2; ++plane) {
            seen[t][plane] = 0;
            for (int p = 0; p < RM_SEEN_PARTS; ++p)
                seen[t][plane] += weight[plane][p] * oscillation->state.part[p];
        }
        delta[t] = oscillation->state.part[RM_OSCILLATION_DELTA];
        rm_oscillation_step(oscillation);
    }
}

struct trace {
    double seen[TURNS][2], delta[TURNS];
};

static double rms_of(double (*seen)[2], int plane, uint32_t from, uint32_t to) {
    double sum = 0;
    for (uint32_t t = from; t < to; ++t)
        sum += seen[t][plane] * seen[t][plane] / (to - from);
    return sqrt(sum);
}

/** RMS of the difference over turns, of the RMS of the tracked particle. */
static double off_by(struct trace *tracked, struct trace *followed, int plane, uint32_t from, uint32_t to) {
    double sum = 0;
    for (uint32_t t = from; t < to; ++t) {
        double const off = tracked->seen[t][plane] - followed->seen[t][plane];
        sum += off * off / (to - from);
    }
    return sqrt(sum) / rms_of(tracked->seen, plane, from, to);
}

static void both(struct pair *pair, uint32_t bpm, double const from[6], struct trace *tracked, struct trace *followed) {
    track(pair, bpm, from, TURNS, tracked->seen, tracked->delta);
    follow(pair, bpm, from, TURNS, followed->seen, followed->delta);
}

/** Tune, phase, size and damping at once: after a thousand turns 1 % is a tune that is off by 2e-6. */
static void test_kicked_beam_goes_where_a_particle_goes(void **state) {
    struct pair *pair = *state;
    struct trace *tracked = calloc(2, sizeof *tracked), *followed = tracked + 1;
    double const kick[6] = {0, 2e-7, 0, 2e-7, 0, 0};
    for (uint32_t bpm = 3; bpm < 90; bpm += 40) {
        both(pair, bpm, kick, tracked, followed);
        for (int plane = 0; plane < 2; ++plane) {
            double const early = off_by(tracked, followed, plane, 0, 100),
                         late = off_by(tracked, followed, plane, TURNS - 100, TURNS);
            print_message("kick, BPM %u, %c: %.2f µm RMS; off by %.2f %% at first, %.2f %% after 1000 turns\n", bpm,
                          "xy"[plane], 1e6 * rms_of(tracked->seen, plane, 0, 100), 100 * early, 100 * late);
            assert_true(early < 0.01);
            assert_true(late < 0.02);
        }
    }
    free(tracked);
}

/** Kicks of 40 µm: the tune changes with the amplitude, by 10⁻⁴ and more. */
static void test_large_kick_detunes_as_tracked(void **state) {
    struct pair *pair = *state;
    struct trace *tracked = calloc(2, sizeof *tracked), *followed = tracked + 1;
    double const kick[6] = {0, 1e-5, 0, 1e-5, 0, 0};
    both(pair, 3, kick, tracked, followed);
    double(*const d)[2] = pair->machine->motion.detuning;
    print_message("detuning: %.3g %.3g, %.3g %.3g per m\n", d[0][0], d[0][1], d[1][0], d[1][1]);
    for (int plane = 0; plane < 2; ++plane) {
        double const late = off_by(tracked, followed, plane, TURNS - 100, TURNS);
        print_message("large kick, %c: %.1f µm RMS; off by %.2f %% after 1000 turns\n", "xy"[plane],
                      1e6 * rms_of(tracked->seen, plane, 0, 100), 100 * late);
        assert_true(late < 0.15);
    }
    free(tracked);
}

/** A fall of the size is the damping's: from the first to the last hundred turns of 2000. */
static void test_damping_is_the_twins(void **state) {
    enum { LONG = 2000 };
    struct pair *pair = *state;
    double(*seen)[LONG][2] = calloc(2, sizeof *seen), *delta = calloc(LONG, sizeof *delta);
    double const kick[6] = {0, 2e-7, 0, 2e-7, 0, 0};
    track(pair, 3, kick, LONG, seen[0], delta);
    follow(pair, 3, kick, LONG, seen[1], delta);
    for (int plane = 0; plane < 2; ++plane) {
        double rate[2];
        for (int i = 0; i < 2; ++i)
            rate[i] = log(rms_of(seen[i], plane, 0, 200) / rms_of(seen[i], plane, LONG - 200, LONG)) / (LONG - 200);
        print_message("damping, %c: τ = %.0f turns tracked, %.0f of the recursion\n", "xy"[plane], 1 / rate[0],
                      1 / rate[1]);
        assert_float_equal(rate[1] / rate[0], 1, 0.05);
    }
    free(seen);
    free(delta);
}

/** Energy that swings, and the tune with it: ξ δ / Q_s is a phase of 0.1 to 0.7 rad. */
static void test_energy_swings_and_modulates_as_tracked(void **state) {
    struct pair *pair = *state;
    struct trace *tracked = calloc(2, sizeof *tracked), *followed = tracked + 1;
    double const kick[6] = {0, 2e-7, 0, 2e-7, 2e-4, 0};
    both(pair, 3, kick, tracked, followed);
    double delta = 0;
    for (uint32_t t = 0; t < TURNS; ++t)
        delta = fmax(delta, fabs(tracked->delta[t] - followed->delta[t]));
    print_message("energy: δ off by %.2f %% of 2e-4 at most in 1000 turns\n", 100 * delta / 2e-4);
    assert_true(delta < 0.05 * 2e-4);
    for (int plane = 0; plane < 2; ++plane) {
        double const late = off_by(tracked, followed, plane, TURNS - 400, TURNS);
        print_message("with chromaticity %.2f, %c: off by %.2f %% after 1000 turns\n",
                      pair->machine->motion.oscillation.optics.chromaticity[plane], "xy"[plane], 100 * late);
        assert_true(late < 0.05);
    }
    free(tracked);
}

/** Rolled magnets: a horizontal kick is seen vertically, as much and when it is tracked. */
static void test_coupling_is_the_lattices(void **state) {
    (void)state;
    struct pair *pair = pair_make();
    struct trace *tracked = calloc(2, sizeof *tracked), *followed = tracked + 1;
    double const kick[6] = {0, 4e-7, 0, 0, 0, 0};
    roll_magnets(pair);
    both(pair, 3, kick, tracked, followed);
    for (int plane = 0; plane < 2; ++plane) {
        double const off = off_by(tracked, followed, plane, 0, 400);
        print_message("coupled, %c: %.3f µm RMS; off by %.2f %%\n", "xy"[plane],
                      1e6 * rms_of(tracked->seen, plane, 0, 400), 100 * off);
        assert_true(off < 0.02);
    }
    assert_true(rms_of(tracked->seen, 1, 0, 400) > 5e-3 * rms_of(tracked->seen, 0, 0, 400));
    free(tracked);
    pair_free(pair);
}

/** Tunes of the twin with all magnets of a name changed by so much. */
static void tunes_with(struct pair *pair, uint32_t knob, double change, double tune[2]) {
    struct rm_machine const *machine = pair->machine;
    struct rm_optics_summary ring;
    for (uint32_t q = 0; q < machine->magnet_count; ++q)
        if (machine->magnet[q].knob == knob)
            check(rm_twin_set_polynom(pair->twin, machine->magnet[q].element, RM_NORMAL, 1,
                                      machine->magnet[q].gradient * (1 + change), &pair->error),
                  &pair->error);
    check(rm_twin_linopt6(pair->twin, NULL, NULL, 0, &ring, NULL, &pair->error), &pair->error);
    memcpy(tune, ring.tune, 2 * sizeof *tune);
}

/** Before any look the tune has moved, in proportion; after it, it is the twin's. */
static void test_tune_follows_a_quadrupole_at_once(void **state) {
    (void)state;
    struct pair *pair = pair_make();
    struct rm_oscillation const *oscillation = rm_machine_oscillation(pair->machine);
    uint32_t const knob = pair->machine->magnet[0].knob;
    for (int size = 0; size < 2; ++size) {
        double const change = (double[]){1e-3, 5e-3}[size];
        double before[2], after[2];
        rm_machine_set(pair->machine, knob, 0);
        look(pair);
        tunes_with(pair, knob, 0, before);
        tunes_with(pair, knob, change, after);
        rm_machine_set(pair->machine, knob, change);
        rm_machine_set_strengths(pair->machine, NULL);
        for (int u = 0; u < 2; ++u) {
            double const truly = after[u] - before[u], off = oscillation->shift[u] - truly;
            print_message("%s by %.2f %%: tune %d moves by %.3e, at once by %.2f %% else\n",
                          rm_machine_knob_name(pair->machine, knob), 100 * change, u + 1, truly, 100 * off / truly);
            assert_true(fabs(off) < 0.01 * fabs(truly) + 10 * truly * truly);
        }
        look(pair);
        for (int u = 0; u < 2; ++u)
            assert_float_equal(oscillation->optics.tune[u] + oscillation->shift[u], after[u], 1e-7);
    }
    pair_free(pair);
}

/** The BPM of the largest dispersion. */
static uint32_t most_dispersive(struct pair const *pair) {
    uint32_t best = 0;
    double most = 0;
    for (uint32_t b = 0; b < pair->machine->bpm_count; ++b) {
        double weight[2][RM_SEEN_PARTS];
        rm_machine_bpm_weights(pair->machine, b, weight);
        if (fabs(weight[0][RM_OSCILLATION_DELTA]) > most) {
            most = fabs(weight[0][RM_OSCILLATION_DELTA]);
            best = b;
        }
    }
    return best;
}

/** Dispersion is the twin's orbit per δ. */
static void test_dispersion_is_the_lattices(void **state) {
    struct pair *pair = *state;
    struct rm_response_options const options = {0};
    double *matrix = calloc(2 * (size_t)pair->machine->bpm_count, sizeof *matrix);
    struct rm_ring_parameters ring;
    uint32_t const best = most_dispersive(pair);
    double weight[2][RM_SEEN_PARTS], most = 0;
    check(rm_twin_ring_parameters(pair->twin, &ring, &pair->error), &pair->error);
    check(rm_twin_response(pair->twin, &options, pair->machine->bpm_element, pair->machine->bpm_count, NULL, 0, matrix,
                           &pair->error),
          &pair->error);
    double const per_delta = ring.slip_factor * rm_lattice_info(pair->lattice)->harmonic_number *
                             ring.revolution_frequency_hz; /* Hz of the RF per δ */
    for (uint32_t b = 0; b < pair->machine->bpm_count; ++b) {
        rm_machine_bpm_weights(pair->machine, b, weight);
        most = fmax(most, fabs(weight[0][RM_OSCILLATION_DELTA] - per_delta * matrix[b]));
    }
    rm_machine_bpm_weights(pair->machine, best, weight);
    print_message("dispersion: up to %.1f mm, off by %.3f mm at most\n", 1e3 * weight[0][RM_OSCILLATION_DELTA],
                  1e3 * most);
    assert_true(most < 0.01 * fabs(weight[0][RM_OSCILLATION_DELTA]));
    free(matrix);
}

static void switch_cavities_off(struct pair *pair) {
    for (uint32_t i = 0; i < rm_lattice_count(pair->lattice); ++i) {
        struct rm_element const *e = rm_lattice_element(pair->lattice, i);
        if (e->kind == RM_ELEMENT_CAVITY)
            check(rm_twin_set_cavity(pair->twin, i, 1e-9, e->frequency_hz, 0, &pair->error), &pair->error);
    }
}

/** A trip of the RF: the beam spirals inwards by its dispersion, and is lost at the momentum aperture. */
static void test_rf_trip_is_as_tracked(void **state) {
    (void)state;
    struct pair *pair = pair_make();
    struct trace *tracked = calloc(2, sizeof *tracked), *followed = tracked + 1;
    struct rm_oscillation *oscillation = rm_machine_oscillation(pair->machine);
    uint32_t const bpm = most_dispersive(pair);
    double const nothing[6] = {0};
    switch_cavities_off(pair);
    rm_machine_set(pair->machine, RM_MACHINE_RF_VOLTAGE, 0);
    rm_machine_set_strengths(pair->machine, NULL);
    both(pair, bpm, nothing, tracked, followed);
    uint32_t lost[2] = {TURNS, TURNS};
    for (uint32_t t = TURNS; t-- > 0;)
        if (!(fabs(tracked->delta[t]) <= 0.04))
            lost[0] = t;
    lost[1] = (uint32_t)(oscillation->state.lost_turn + 1);
    print_message("RF trip: x %.2f µm a turn, %.2f as tracked, over the first 50 turns; lost at turn %u, tracked %u\n",
                  2e4 * followed->seen[50][0], 2e4 * tracked->seen[50][0], lost[1], lost[0]);
    assert_float_equal(followed->seen[50][0] / tracked->seen[50][0], 1, 0.1);
    assert_in_range(lost[1], 150, 250);
    assert_true(fabs((double)lost[1] - lost[0]) <= 5);
    free(tracked);
    pair_free(pair);
}

/** The machine as it was made, for the tests that leave it so. */
static int make_shared_pair(void **state) {
    *state = pair_make();
    return 0;
}

static int free_shared_pair(void **state) {
    pair_free(*state);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return EXIT_FAILURE;
    lattice_path = argv[1];
    bpm_pattern = argv[2];
    if (access(lattice_path, R_OK) != 0) {
        fprintf(stderr, "NO LATTICE AT %s, SO THE MOTION IS NOT COMPARED WITH IT\n", lattice_path);
        return MISSING_DATA;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_kicked_beam_goes_where_a_particle_goes),
        cmocka_unit_test(test_large_kick_detunes_as_tracked),
        cmocka_unit_test(test_damping_is_the_twins),
        cmocka_unit_test(test_energy_swings_and_modulates_as_tracked),
        cmocka_unit_test(test_coupling_is_the_lattices),
        cmocka_unit_test(test_tune_follows_a_quadrupole_at_once),
        cmocka_unit_test(test_dispersion_is_the_lattices),
        cmocka_unit_test(test_rf_trip_is_as_tracked),
    };
    return cmocka_run_group_tests(tests, make_shared_pair, free_shared_pair);
}
