// SPDX-License-Identifier: Apache-2.0
/** A living machine: all correctors of a lattice in both planes, each with a supply of its own that moves at every step,
 * all disturbances on, at 10 kHz. Every step is timed by itself, as many as there are rounds; printed are the median and
 * the 99th percentile, the share of a core that 10 kHz take, what a turn of the beam's own motion takes in the best of
 * many rounds, with the quadrupoles of the first family felt every RM_MACHINE_STRENGTH_TURNS, what the fastest of ten looks of
 * the background takes, what losing beam costs: the orbit at the apertures, a turn far from them, and a look at a turn
 * that is near; and what steps and looks take while six sextupoles stand off their design. */
#include <stdio.h>
#include <stdlib.h>

#include <ringmaster/lattice.h>

#include "base/timebase.h"
#include "cost.h"
#include "instruments/machine.h"

enum { LOSS_ROUNDS = 1000, LOSS_TURNS = 256, LOOKS = 10, ROUNDS = 200, ROUND_TURNS = 8000, SEXTUPOLES = 6 };

static char *lattice_path;
static double const RATE_HZ = 10e3, TURN_RATE_HZ = 1.157e6;

static uint32_t fill_group(struct rm_machine_group *group, char plane, uint32_t count, uint32_t first) {
    static char all[] = "*";
    *group = (struct rm_machine_group){.elements = all, .plane = plane, .per_unit = 1e-6, .eddy_hz = 8000};
    group->supply = calloc(count, sizeof *group->supply);
    group->supply_count = count;
    for (uint32_t s = 0; group->supply != NULL && s < count; ++s)
        group->supply[s] = first + s;
    return first + count;
}

/** "CS_*", "CL_*", "CF_*" of the shipped lattice; of another all that are correctors. */
static void fill_ring_machine(struct rm_ring_machine *config, struct rm_lattice const *lattice) {
    static char names[][8] = {"CS_*", "CL_*", "CF_*"};
    static char bpms[] = "BPM*", at[] = "CF_S03_01", family[] = "QF1_*", six[] = "SD1_S0[1-3]_0[12]";
    config->bpms = bpms;
    config->bpm_count = rm_lattice_find(lattice, bpms, RM_ELEMENT_KINDS, NULL, 0);
    for (int n = 0; n < 3; ++n)
        for (int plane = 0; plane < 2; ++plane) {
            struct rm_machine_group *group = &config->group[config->group_count++];
            config->supply_count =
                fill_group(group, plane == 0 ? 'x' : 'y', rm_lattice_find(lattice, names[n], RM_ELEMENT_KINDS, NULL, 0),
                           config->supply_count);
            group->elements = names[n];
        }
    struct rm_machine_group *strengths = &config->group[config->group_count++];
    config->supply_count =
        fill_group(strengths, 'q', rm_lattice_find(lattice, family, RM_ELEMENT_KINDS, NULL, 0), config->supply_count);
    strengths->elements = family;
    strengths = &config->group[config->group_count++];
    config->supply_count = fill_group(strengths, 'q', SEXTUPOLES, config->supply_count);
    strengths->elements = six;
    strengths->change = RM_CHANGE_SEXTUPOLE;
    strengths->per_unit = 0.01;
    config->disturbances.insertion_at = at;
    config->chamber_m[0] = config->chamber_m[1] = 13.5e-3;
    config->current_ma = 400;
}

/** The sextupoles' supplies, which come last, stay. */
static void time_steps(struct rm_machine *machine, uint32_t first, uint32_t steps, double *ticks, double *current,
                       uint32_t supplies) {
    for (uint32_t s = 0; s < steps; ++s) {
        for (uint32_t c = 0; c + SEXTUPOLES < supplies; ++c)
            current[c] = (double)((s + c) % 7) - 3;
        uint64_t const begun = rm_tsc();
        rm_machine_step(machine, (first + s) / RATE_HZ, current);
        ticks[s] = (double)(rm_tsc() - begun);
    }
}

/** Ticks of steps about a look at which the sextupoles' supplies are off. */
static void time_products(struct rm_machine *machine, uint32_t steps, double *ticks, double *current,
                          uint32_t supplies) {
    struct rm_error error;
    for (uint32_t c = supplies - SEXTUPOLES; c < supplies; ++c)
        current[c] = 20;
    rm_machine_step(machine, steps / RATE_HZ, current);
    bench_must(rm_machine_refresh(machine, &error), &error);
    time_steps(machine, steps + 1, steps, ticks, current, supplies);
}

/** Ticks of a turn of the motion, in the best round: the others have interruptions. */
static double time_turns(struct rm_machine *machine) {
    struct rm_beam_config const beam = {.betatron_um = 1, .synchrotron_um = 1};
    struct rm_oscillation *oscillation = rm_machine_oscillation(machine);
    double *strength = bench_allocate((rm_machine_strengths(machine) + 1) * sizeof *strength), best = 1e18;
    struct rm_error error;
    bench_must(rm_machine_excite(machine, &beam, &error), &error);
    rm_oscillation_average(oscillation, 120);
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t const begun = rm_tsc();
        for (int turn = 0; turn < ROUND_TURNS; ++turn) {
            strength[0] = (double)(turn & 15);
            if (turn % RM_MACHINE_STRENGTH_TURNS == 0)
                rm_machine_set_strengths(machine, strength);
            rm_oscillation_step(oscillation);
        }
        double const took = (double)(rm_tsc() - begun) / ROUND_TURNS;
        best = took < best ? took : best;
    }
    free(strength);
    return best;
}

static double look_at_machine(struct rm_machine *machine) {
    double best = 1e9;
    struct rm_error error;
    for (int l = 0; l < LOOKS; ++l) {
        if (rm_machine_refresh(machine, &error) != RM_OK)
            return -1;
        double const took = rm_machine_says(machine).refresh_s;
        best = took < best ? took : best;
    }
    return best;
}

/** Ticks of the orbit at the apertures, of a turn at which nothing is near, and of one at which all are looked at: the
 * best of many. */
static void time_losses(struct rm_machine *machine, double ticks[3]) {
    double const quiet[2] = {0, 0};
    struct rm_machine_bunch const bunch = rm_machine_bunch(machine);
    struct rm_beam_loss_config const config = {.current_ma = 400,
                                               .emittance_m = {bunch.emittance_m[0], bunch.emittance_m[1]},
                                               .energy_spread = bunch.energy_spread,
                                               .damping_turns = bunch.damping_turns};
    struct rm_beam_loss loss;
    struct rm_error error;
    uint32_t const count = rm_machine_aperture_count(machine);
    bench_must(rm_beam_loss_make(&config, rm_machine_aperture_list(machine), count, &loss, &error), &error);
    for (uint32_t r = 0; r < LOSS_ROUNDS; ++r) {
        uint64_t const begun = rm_tsc();
        float const *orbit = rm_machine_aperture_orbit(machine);
        rm_beam_loss_set_orbit(&loss, orbit, orbit + count, 0);
        uint64_t const set = rm_tsc();
        for (uint32_t t = 0; t < LOSS_TURNS; ++t)
            rm_beam_loss_turn(&loss, t, quiet, 1e-4 * (double)(t % 8));
        uint64_t const turned = rm_tsc();
        loss.state.quiet_until = 0;
        rm_beam_loss_look(&loss, 1, quiet, 0);
        double const took[3] = {(double)(set - begun), (double)(turned - set) / LOSS_TURNS,
                                (double)(rm_tsc() - turned)};
        for (int k = 0; k < 3; ++k)
            ticks[k] = r == 0 || took[k] < ticks[k] ? took[k] : ticks[k];
    }
    rm_beam_loss_free(&loss);
}

static void machine_cost_measure(struct rm_ring_machine const *config, uint32_t steps) {
    struct rm_machine *machine;
    struct rm_error error;
    double *ticks = bench_allocate(steps * sizeof *ticks);
    double *current = bench_allocate((config->supply_count + 1) * sizeof *current);
    uint64_t const begun = rm_monotonic_ns();
    bench_must(rm_machine_make(config, TURN_RATE_HZ, &machine, &error), &error);
    double const made_ms = 1e-6 * (double)(rm_monotonic_ns() - begun), tick_ns = 1e9 / rm_tsc_hz_measure();
    time_steps(machine, 0, steps, ticks, current, config->supply_count);
    struct bench_figure const figure = bench_figure_of(ticks, steps, 0);
    double const median = tick_ns * figure.median, late = tick_ns * figure.p99;
    printf("%u BPMs, %u supplies: made in %.0f ms\n", config->bpm_count, config->supply_count, made_ms);
    printf("a step: median %.0f ns, 99 %% below %.0f ns; at 10 kHz %.1f %% of a core\n", median, late,
           median * RATE_HZ * 1e-7);
    double const turn_ns = tick_ns * time_turns(machine);
    printf("a turn of the motion, %u supplies of strengths: %.0f ns; at %.3f MHz %.1f %% of a core\n",
           rm_machine_strengths(machine), turn_ns, 1e-6 * TURN_RATE_HZ, turn_ns * TURN_RATE_HZ * 1e-7);
    double losses[3];
    time_losses(machine, losses);
    printf("losses at %u apertures: the orbit %.0f ns, a turn %.1f ns, a look %.0f ns\n",
           rm_machine_aperture_count(machine), tick_ns * losses[0], tick_ns * losses[1], tick_ns * losses[2]);
    printf("a look of the background: %.1f ms\n", 1e3 * look_at_machine(machine));
    time_products(machine, steps, ticks, current, config->supply_count);
    struct bench_figure const products = bench_figure_of(ticks, steps, 0);
    printf("with %d sextupoles off their design: a step: median %.0f ns, 99 %% below %.0f ns; a look %.1f ms\n",
           SEXTUPOLES, tick_ns * products.median, tick_ns * products.p99, 1e3 * look_at_machine(machine));
    rm_machine_free(machine);
    free(ticks);
    free(current);
}

static void machine_run(uint32_t steps) {
    struct rm_lattice *lattice;
    struct rm_error error;
    bench_must(rm_lattice_read(lattice_path, NULL, &lattice, &error), &error);
    struct rm_ring_machine config = {
        .present = true,
        .lattice = lattice_path,
        .seed = 7,
        .step_turns = 120,
        .refresh_s = 0.2,
        .blend_s = 0.02,
        .rf_supply = -1,
        .errors = {.beta_beat = 0.1,
                   .bpm_gain = 0.05,
                   .bpm_offset_m = 50e-6,
                   .bpm_roll_rad = 5e-3,
                   .bpm_crosstalk = 0.01,
                   .corrector_gain = 0.05,
                   .corrector_roll_rad = 5e-3},
        .disturbances = {.mains = {{.hz = 50, .orbit_m = 100e-6},
                                   {.hz = 100, .orbit_m = 30e-6},
                                   {.hz = 150, .orbit_m = 20e-6},
                                   {.hz = 300, .orbit_m = 10e-6}},
                         .mains_count = 4,
                         .mains_wander = 0.001,
                         .ground_rms_m = 50e-9,
                         .ground_corner_hz = 10,
                         .step_rad = 1e-6,
                         .step_every_s = 5,
                         .insertion_rad = 5e-6,
                         .insertion_ramp_s = 2,
                         .insertion_every_s = 20,
                         .topup_rad = 50e-6,
                         .topup_every_s = 60,
                         .topup_turns = 2000},
    };
    fill_ring_machine(&config, lattice);
    rm_lattice_free(lattice);
    machine_cost_measure(&config, steps);
    for (uint32_t g = 0; g < config.group_count; ++g)
        free(config.group[g].supply);
}

struct bench_cost const machine_cost = {.name = "machine",
                                        .about = "to step a living machine at 10 kHz; a round is a step",
                                        .rounds = 20000,
                                        .words = {{"LATTICE", &lattice_path, .kind = RM_OPTION_TEXT, .place = RM_WORD}},
                                        .run = machine_run};
