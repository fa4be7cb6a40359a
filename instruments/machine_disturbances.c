// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "machine_parts.h"
#include "noise.h"

enum { KEY_STEP = 7 << 20, KEY_PHASE = 8 << 20, KEY_GROUND = 9 << 20, KEY_LINE = 12 << 20, WANDERS = 3 };

static double const KNOT_S = 1e-3;                         /**< the ground does not move faster than that */
static double const CORNER_SHARE = 0.05;                   /**< of a corner's period a knot may take */
static double const FORGOTTEN = 20;                        /**< a motion that has fallen by e^20 */
static double const WANDER_S[WANDERS] = {7.3, 17.9, 41.3}; /**< periods of the mains' frequency */

static uint64_t disturbance_key_of(struct rm_machine const *machine, uint64_t what) {
    return rm_noise_u64(machine->config->seed) ^ rm_noise_u64(what);
}

static double disturbance_knob(struct rm_machine const *machine, enum rm_machine_first_knob knob) {
    return atomic_load_explicit(&machine->knob[knob], memory_order_relaxed);
}

/* ── mains ── */

void rm_machine_scale_mains(struct rm_machine *machine) {
    for (uint32_t line = 0; line < machine->config->disturbances.mains_count; ++line) {
        struct rm_machine_column const *column = &machine->column[machine->mains_column + line];
        double peak[2] = {0, 0};
        for (uint32_t row = 0; row < 2 * machine->bpm_count; ++row) {
            double const orbit = fabs(rm_machine_column_orbit(machine, machine->mains_column + line, row));
            double *of = &peak[row / machine->bpm_count];
            *of = orbit > *of ? orbit : *of;
        }
        for (uint32_t t = column->first; t < column->first + column->count; ++t) {
            enum rm_plane const plane = machine->steerer[machine->term[t].steerer].plane;
            machine->term[t].rad *=
                peak[plane] > 0 ? machine->config->disturbances.mains[line].orbit_m / peak[plane] : 0;
        }
    }
}

/** Time as the mains count it: their frequency is off by up to mains_wander, and so are all lines together. */
static double mains_time(struct rm_machine const *machine, double time) {
    double off = 0;
    for (int w = 0; w < WANDERS; ++w) {
        double const rate = 2 * M_PI / WANDER_S[w], phase = machine->events.wander_phase[w];
        off += (cos(phase) - cos(phase + rate * time)) / (rate * WANDERS);
    }
    return time + machine->config->disturbances.mains_wander * off;
}

/** By how much a line's own phase is off, of RMS phase_rad: three sines whose periods and phases are drawn. */
static double line_phase(struct rm_machine const *machine, uint32_t line, double time) {
    double const rms = machine->config->disturbances.mains[line].phase_rad;
    double off = 0;
    for (uint32_t w = 0; rms > 0 && w < WANDERS; ++w) {
        uint64_t const key = disturbance_key_of(machine, KEY_LINE + 2 * ((uint64_t)line * WANDERS + w));
        double const turns = time / (WANDER_S[w] * (0.5 + rm_noise_uniform(key))) + rm_noise_uniform(key + 1);
        off += sin(2 * M_PI * (turns - floor(turns)));
    }
    return rms * sqrt(2.0 / WANDERS) * off;
}

static void shake_magnets(struct rm_machine *machine, double time) {
    double const counted = mains_time(machine, time), factor = disturbance_knob(machine, RM_MACHINE_MAINS);
    for (uint32_t line = 0; line < machine->config->disturbances.mains_count; ++line) {
        double const turns = machine->config->disturbances.mains[line].hz * counted;
        machine->now[machine->mains_column + line] =
            factor * sin(2 * M_PI * (turns - floor(turns)) + machine->events.mains_phase[line] +
                         line_phase(machine, line, time));
    }
}

/* ── steps, insertion devices, top-up ── */

static void step_disturbances(struct rm_machine *machine, double time) {
    double const every = machine->config->disturbances.step_every_s,
                 factor = disturbance_knob(machine, RM_MACHINE_STEPS);
    uint64_t const happened = every > 0 && time > 0 ? (uint64_t)(time / every) : 0;
    while (machine->events.step < happened) {
        uint64_t const key = disturbance_key_of(machine, KEY_STEP + ((uint64_t)++machine->events.step << 32));
        machine->events.stepped[key % RM_MACHINE_STEPPERS] =
            machine->config->disturbances.step_rad * rm_machine_draw(key);
    }
    for (uint32_t s = 0; s < RM_MACHINE_STEPPERS; ++s)
        machine->now[machine->step_column + s] = factor * machine->events.stepped[s];
}

/** Closes in ramp_s at each odd multiple of every_s, and opens at each even one. */
static double gap_closed(double time, double every, double ramp) {
    if (!(every > 0) || time < every)
        return 0;
    double const cycle = fmod(time, 2 * every), since = cycle < every ? cycle : cycle - every;
    double const done = ramp > 0 && since < ramp ? since / ramp : 1;
    return cycle < every ? 1 - done : done;
}

/** At each multiple of the period, and when an event injects. */
static bool is_injecting(struct rm_machine const *machine, double time) {
    double const every = machine->config->disturbances.topup_every_s;
    double const lasts = (double)machine->config->disturbances.topup_turns / machine->turn_rate_hz;
    double const since = time - machine->events.injected_s;
    bool const asked = machine->events.injected_s >= 0 && since >= 0 && since < lasts;
    return asked || (every > 0 && time >= every && fmod(time, every) < lasts);
}

void rm_machine_inject(struct rm_machine *machine, double time) { machine->events.injected_s = time; }

bool rm_machine_tops_up(struct rm_machine const *machine, double time, double before) {
    double const every = machine->config->disturbances.topup_every_s;
    return every > 0 && floor(time / every) > floor(before / every) && before >= 0 &&
           disturbance_knob(machine, RM_MACHINE_TOPUP) > 0;
}

void rm_machine_disturb(struct rm_machine *machine, double time) {
    struct rm_ring_machine const *config = machine->config;
    shake_magnets(machine, time);
    step_disturbances(machine, time);
    machine->now[machine->insertion_column] =
        disturbance_knob(machine, RM_MACHINE_INSERTION) * config->disturbances.insertion_rad *
        gap_closed(time, config->disturbances.insertion_every_s, config->disturbances.insertion_ramp_s);
    machine->now[machine->topup_column] =
        is_injecting(machine, time) ? disturbance_knob(machine, RM_MACHINE_TOPUP) * config->disturbances.topup_rad : 0;
}

/* ── ground ── */

/** The drive that gives two first orders with this pole an RMS of 1. */
static double drive_of(double pole) {
    double const left = 1 - pole, loss = 1 - pole * pole;
    double const first = 1 / loss, both = pole * left * first / loss;
    return 1 / sqrt((2 * pole * left * both + left * left * first) / loss);
}

bool rm_machine_ground_make(struct rm_machine *machine) {
    struct rm_machine_ground *ground = &machine->ground;
    double const corner = machine->config->disturbances.ground_corner_hz;
    for (uint32_t line = 0; line < RM_MACHINE_MAINS_MAX; ++line)
        machine->events.mains_phase[line] = 2 * M_PI * rm_noise_uniform(disturbance_key_of(machine, KEY_PHASE + line));
    for (uint32_t w = 0; w < WANDERS; ++w)
        machine->events.wander_phase[w] =
            2 * M_PI * rm_noise_uniform(disturbance_key_of(machine, KEY_PHASE + RM_MACHINE_MAINS_MAX + w));
    ground->column = machine->column_count - machine->ground_column;
    if (!(machine->config->disturbances.ground_rms_m > 0) || !(corner > 0))
        ground->column = 0;
    ground->knot_s = corner * KNOT_S > CORNER_SHARE ? CORNER_SHARE / corner : KNOT_S;
    ground->pole = exp(-2 * M_PI * corner * ground->knot_s);
    ground->drive = drive_of(ground->pole);
    ground->memory = -FORGOTTEN / log(ground->pole);
    bool good = true;
    for (int k = 0; k < 3; ++k) {
        ground->orbit[k] = rm_orbit_vector(&machine->active->ground);
        ground->place[k] = calloc(ground->column + 1, sizeof *ground->place[k]);
        good = good && ground->orbit[k] != NULL && ground->place[k] != NULL;
    }
    for (int s = 0; s < 2; ++s) {
        ground->state[s] = calloc(ground->column + 1, sizeof *ground->state[s]);
        good = good && ground->state[s] != NULL;
    }
    return good;
}

void rm_machine_ground_free(struct rm_machine_ground *ground) {
    for (int k = 0; k < 3; ++k) {
        free(ground->orbit[k]);
        free(ground->place[k]);
    }
    for (int s = 0; s < 2; ++s)
        free(ground->state[s]);
}

/** One magnet's plane moves on by a knot. */
static double draw_magnet_move(struct rm_machine *machine, uint32_t column) {
    struct rm_machine_ground *ground = &machine->ground;
    uint64_t const key = disturbance_key_of(machine, KEY_GROUND + column) + rm_noise_u64(ground->knot);
    double *first = &ground->state[0][column], *second = &ground->state[1][column];
    *second = ground->pole * *second + (1 - ground->pole) * *first;
    *first = ground->pole * *first + ground->drive * rm_machine_draw(key);
    return *second * machine->config->disturbances.ground_rms_m * disturbance_knob(machine, RM_MACHINE_GROUND);
}

/** Brings `next` up to `known` columns. */
static void ground_draw_columns(struct rm_machine *machine, uint32_t known) {
    struct rm_machine_ground *ground = &machine->ground;
    if (known <= ground->known)
        return;
    for (uint32_t c = ground->known; c < known; ++c)
        ground->place[2][c] = (float)draw_magnet_move(machine, c);
    rm_orbit_matrix_add(&machine->active->ground, ground->known, known - ground->known, ground->place[2],
                        ground->orbit[2]);
    ground->known = known;
}

static void turn_knots(float *knot[3]) {
    float *first = knot[0];
    knot[0] = knot[1];
    knot[1] = knot[2];
    knot[2] = first;
}

static void next_knot(struct rm_machine *machine) {
    struct rm_machine_ground *ground = &machine->ground;
    ground_draw_columns(machine, ground->column);
    turn_knots(ground->orbit);
    turn_knots(ground->place);
    for (uint32_t r = 0; r < machine->active->ground.padded; ++r)
        ground->orbit[2][r] = 0;
    ground->known = 0;
    ++ground->knot;
}

static double share_of(struct rm_machine const *machine, double time) {
    return time / machine->ground.knot_s - (double)machine->ground.knot;
}

void rm_machine_move_ground(struct rm_machine *machine, double time) {
    struct rm_machine_ground *ground = &machine->ground;
    if (ground->column == 0)
        return;
    double const knots = time / ground->knot_s;
    if (knots > (double)ground->knot + ground->memory) /* a ring that joined late: what was before has no effect */
        ground->knot = (uint64_t)(knots - ground->memory);
    while (knots >= (double)(ground->knot + 1))
        next_knot(machine);
    double const share = share_of(machine, time);
    ground_draw_columns(machine, share < 1 ? (uint32_t)ceil(share * ground->column) : ground->column);
    for (uint32_t c = 0; c < ground->column; ++c)
        machine->now[machine->ground_column + c] =
            (double)ground->place[0][c] + share * ((double)ground->place[1][c] - (double)ground->place[0][c]);
}

void rm_machine_add_ground(struct rm_machine const *machine, double time, float *orbit) {
    struct rm_machine_ground const *ground = &machine->ground;
    if (ground->column == 0)
        return;
    float const share = (float)share_of(machine, time);
    float const *from = ground->orbit[0], *to = ground->orbit[1];
    for (uint32_t r = 0; r < machine->active->ground.padded; ++r)
        orbit[r] += from[r] + share * (to[r] - from[r]);
}
