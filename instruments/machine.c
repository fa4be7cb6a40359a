// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"
#include "noise.h"

static double const LOST_NM = 1e6; /**< RMS of what BPMs read where there is no beam */
static double const NM = 1e9;

/* ── making ── */

static enum rm_code machine_allocate(struct rm_machine *machine, struct rm_error *error) {
    uint32_t const rows = 2 * machine->bpm_count, columns = machine->column_count;
    machine->response = calloc((size_t)rows * (machine->steerer_count + 1), sizeof *machine->response);
    machine->orbit = calloc(machine->bpm_count, sizeof *machine->orbit);
    machine->column_now = calloc(columns, sizeof *machine->column_now);
    machine->now = calloc(columns, sizeof *machine->now);
    machine->now_shared = calloc(columns, sizeof *machine->now_shared);
    machine->strength_shared = calloc(machine->strength_count + 1, sizeof *machine->strength_shared);
    machine->strength_now = calloc(machine->strength_count + 1, sizeof *machine->strength_now);
    machine->weight = calloc(machine->fast_count, sizeof *machine->weight);
    machine->bpm = calloc(machine->bpm_count, sizeof *machine->bpm);
    machine->optics = calloc(machine->bpm_count, sizeof *machine->optics);
    if (machine->response == NULL || machine->orbit == NULL || machine->column_now == NULL || machine->now == NULL ||
        machine->now_shared == NULL || machine->strength_shared == NULL || machine->strength_now == NULL ||
        machine->weight == NULL || machine->bpm == NULL || machine->optics == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a machine of %u BPMs", machine->bpm_count);
    enum rm_code code = RM_OK;
    for (int m = 0; code == RM_OK && m < 3; ++m)
        code = rm_machine_model_make(machine, &machine->model[m], error);
    if (code == RM_OK && !rm_optics_points_make(machine))
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for the optics at %u BPMs", machine->bpm_count);
    return code;
}

static enum rm_code allocate_orbits(struct rm_machine *machine, struct rm_error *error) {
    struct rm_orbit_matrix const *shape = &machine->model[0].fast;
    machine->true_orbit = rm_orbit_vector(shape);
    machine->rest = rm_orbit_vector(shape);
    machine->seen = rm_orbit_vector(shape);
    machine->late = rm_orbit_vector(shape);
    bool good = machine->true_orbit != NULL && machine->rest != NULL && machine->seen != NULL && machine->late != NULL;
    for (int h = 0; h < RM_MACHINE_HISTORY; ++h)
        good = (machine->history[h] = rm_orbit_vector(shape)) != NULL && good;
    if (!good || !rm_machine_ground_make(machine))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the orbits of %u BPMs", machine->bpm_count);
    return RM_OK;
}

/** A ring with cavities has a longitudinal plane, and so an orbit that follows its RF. */
static enum rm_code enable_cavities(struct rm_machine *machine, struct rm_error *error) {
    if (rm_lattice_find(machine->lattice, NULL, RM_ELEMENT_CAVITY, NULL, 0) != 0)
        return rm_twin_enable_6d(machine->twin, error);
    if (machine->rf_column < 0)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "machine.rf: %s has no cavity, expected no key \"rf\"",
                   machine->config->lattice);
}

/** The first look, which the first step finds ready. */
static enum rm_code look_first(struct rm_machine *machine, struct rm_error *error) {
    enum rm_code code = rm_machine_look(machine, error);
    if (code != RM_OK)
        return code;
    rm_machine_scale_mains(machine);
    machine->active = &machine->model[0];
    machine->build = &machine->model[1];
    atomic_store_explicit(&machine->spare, &machine->model[2], memory_order_relaxed);
    code = rm_machine_refresh(machine, error);
    if (code == RM_OK)
        rm_machine_begin_motion(machine);
    return code;
}

static enum rm_code machine_make(struct rm_machine *machine, struct rm_error *error) {
    enum rm_code code = rm_lattice_read(machine->config->lattice, NULL, &machine->lattice, error);
    if (code == RM_OK)
        code = rm_twin_make(machine->lattice, &machine->twin, error);
    if (code == RM_OK)
        code = rm_machine_find(machine, error);
    if (code == RM_OK)
        code = machine_allocate(machine, error);
    if (code != RM_OK)
        return code;
    if (!rm_machine_draw_yokes(machine))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the magnets of %s", machine->config->lattice);
    rm_machine_draw_bpms(machine);
    code = rm_machine_beat(machine, error);
    if (code == RM_OK)
        code = enable_cavities(machine, error);
    if (code == RM_OK)
        code = rm_machine_misalign(machine, error);
    if (code == RM_OK)
        code = rm_machine_find_rf(machine, error);
    if (code != RM_OK)
        return code;
    rm_machine_strengths_begin(machine);
    code = look_first(machine, error);
    if (code == RM_OK)
        code = rm_machine_apertures_make(machine, error);
    return code == RM_OK ? allocate_orbits(machine, error) : code;
}

enum rm_code rm_machine_make(struct rm_ring_machine const *config, double turn_rate_hz, struct rm_machine **machine,
                             struct rm_error *error) {
    struct rm_machine *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a machine");
    made->config = config;
    made->motion.stored = -1;
    made->events.injected_s = -1;
    atomic_init(&made->current_ma, NAN);
    made->turn_rate_hz = turn_rate_hz;
    enum rm_code const code = machine_make(made, error);
    if (code == RM_OK)
        *machine = made;
    else
        rm_machine_free(made);
    return code;
}

static void free_orbits(struct rm_machine *machine) {
    for (int h = 0; h < RM_MACHINE_HISTORY; ++h)
        free(machine->history[h]);
    for (int m = 0; m < 3; ++m)
        rm_machine_model_free(&machine->model[m]);
    rm_machine_ground_free(&machine->ground);
    free(machine->true_orbit);
    free(machine->rest);
    free(machine->seen);
    free(machine->late);
    rm_machine_apertures_free(machine);
    rm_optics_points_free(&machine->points);
}

void rm_machine_free(struct rm_machine *machine) {
    if (machine == NULL)
        return;
    rm_machine_stop(machine);
    free_orbits(machine);
    void *const parts[] = {machine->bpm_element,
                           machine->bpm_of,
                           machine->steerer,
                           machine->base_kick,
                           machine->kick,
                           machine->response,
                           machine->orbit,
                           machine->column_now,
                           machine->column,
                           machine->term,
                           machine->lever,
                           machine->yoke,
                           machine->bpm,
                           machine->optics,
                           (void *)machine->knob_name,
                           (void *)machine->knob,
                           machine->now,
                           machine->weight,
                           (void *)machine->now_shared,
                           (void *)machine->strength_shared,
                           machine->strength_now};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p)
        free(parts[p]);
    rm_machine_strengths_free(machine);
    rm_twin_free(machine->twin);
    rm_lattice_free(machine->lattice);
    free(machine);
}

/* ── knobs ── */

uint32_t rm_machine_knobs(struct rm_machine const *machine) { return machine->knob_count; }

char const *rm_machine_knob_name(struct rm_machine const *machine, uint32_t knob) { return machine->knob_name[knob]; }

double rm_machine_knob(struct rm_machine const *machine, uint32_t knob) {
    return atomic_load_explicit(&machine->knob[knob], memory_order_relaxed);
}

void rm_machine_set(struct rm_machine *machine, uint32_t knob, double value) {
    if (atomic_exchange_explicit(&machine->knob[knob], value, memory_order_relaxed) != value)
        atomic_fetch_add_explicit(&machine->knob_changes, 1,
                                  memory_order_release); /* pairs with rm_machine_set_strengths */
    if (knob == RM_MACHINE_BEAM)
        atomic_fetch_add_explicit(&machine->fills, 1, memory_order_release); /* pairs with rm_machine_fills */
}

uint32_t rm_machine_beam_knob(void) { return RM_MACHINE_BEAM; }

/* ── the fast part ── */

/** The orbit of the columns as they are, by the active model. */
static void add_up(struct rm_machine *machine, double time) {
    struct rm_machine_model const *model = machine->active;
    float *orbit = machine->true_orbit;
    memcpy(orbit, model->base, model->fast.padded * sizeof *orbit);
    for (uint32_t c = 0; c < machine->fast_count; ++c)
        machine->weight[c] = (float)(machine->now[c] - model->then[c]);
    rm_orbit_matrix_add(&model->fast, 0, machine->fast_count, machine->weight, orbit);
    rm_machine_add_products(machine, model, orbit);
    rm_machine_add_ground(machine, time, orbit);
}

/** Takes what the background has ready. What it changes at once is kept as a rest, to be blended away. */
static void take_model(struct rm_machine *machine) {
    struct rm_machine_model *ready =
        atomic_exchange_explicit(&machine->ready, NULL, memory_order_acq_rel); /* pairs with hand_over */
    if (ready == NULL)
        return;
    struct rm_machine_model *left = machine->active;
    machine->active = ready;
    rm_machine_take_motion_optics(machine);
    atomic_store_explicit(&machine->spare, left, memory_order_release); /* pairs with hand_over */
    if (!machine->stepped)
        return;
    float *orbit = machine->true_orbit;
    memcpy(machine->rest, orbit, ready->fast.padded * sizeof *orbit);
    add_up(machine, machine->time);
    for (uint32_t r = 0; r < ready->fast.padded; ++r)
        machine->rest[r] -= orbit[r];
    machine->rest_since = machine->time;
}

static void machine_blend_orbits(struct rm_machine *machine, double time) {
    double const blended = time - machine->rest_since, all = machine->config->blend_s;
    if (!(blended < all))
        return;
    float const left = (float)(1 - blended / all);
    for (uint32_t r = 0; r < machine->active->fast.padded; ++r)
        machine->true_orbit[r] += left * machine->rest[r];
}

/** The columns of correctors, the RF and strengths, from the currents. */
static void follow_currents(struct rm_machine *machine, double passed, double const *current) {
    rm_machine_pass_chambers(machine, passed, current);
    if (machine->rf_column >= 0)
        machine->now[machine->rf_column] *= machine->config->rf_hz_per_unit;
    for (uint32_t s = 0; s < machine->strength_count; ++s)
        atomic_store_explicit(&machine->strength_shared[s],
                              machine->strength[s].per_unit * current[machine->strength[s].supply],
                              memory_order_relaxed);
}

static void share_columns(struct rm_machine *machine) {
    uint64_t const sequence = atomic_load_explicit(&machine->now_sequence, memory_order_relaxed);
    atomic_store_explicit(&machine->now_sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* pairs with the acquire in take_columns */
    for (uint32_t c = 0; c < machine->column_count; ++c)
        atomic_store_explicit(&machine->now_shared[c], machine->now[c], memory_order_relaxed);
    atomic_store_explicit(&machine->now_sequence, sequence + 2, memory_order_release);
}

static void say_rms(struct rm_machine *machine) {
    for (uint32_t plane = 0; plane < 2; ++plane) {
        float const *orbit = &machine->true_orbit[plane * machine->bpm_count];
        double sum = 0;
        for (uint32_t b = 0; b < machine->bpm_count; ++b)
            sum += (double)orbit[b] * (double)orbit[b];
        atomic_store_explicit(&machine->rms_m[plane], sqrt(sum / machine->bpm_count), memory_order_relaxed);
    }
}

/** The orbit that was `delay` ago, between the two that are there. */
static void machine_recall_orbit(struct rm_machine *machine, double wanted, float *orbit) {
    uint64_t const last = machine->steps, oldest = last < RM_MACHINE_HISTORY ? 0 : last - RM_MACHINE_HISTORY + 1;
    uint64_t at = last;
    while (at > oldest && machine->history_time[at % RM_MACHINE_HISTORY] > wanted)
        --at;
    double const before = machine->history_time[at % RM_MACHINE_HISTORY];
    uint64_t const next = at < last ? at + 1 : at;
    double const length = machine->history_time[next % RM_MACHINE_HISTORY] - before;
    double const share = length > 0 && wanted > before ? (wanted - before) / length : 0;
    float const *a = machine->history[at % RM_MACHINE_HISTORY], *b = machine->history[next % RM_MACHINE_HISTORY];
    for (uint32_t r = 0; r < machine->active->fast.padded; ++r)
        orbit[r] = a[r] + (float)share * (b[r] - a[r]);
}

/** What the BPMs see: later, and smoothed by their bandwidth. */
static void look_through_filters(struct rm_machine *machine, double time, double passed) {
    uint32_t const padded = machine->active->fast.padded;
    struct rm_ring_machine const *config = machine->config;
    uint64_t const at = machine->steps % RM_MACHINE_HISTORY;
    float *late = machine->true_orbit;
    if (config->bpm_delay_s > 0) {
        memcpy(machine->history[at], machine->true_orbit, padded * sizeof(float));
        machine->history_time[at] = time;
        late = machine->late;
        machine_recall_orbit(machine, time - config->bpm_delay_s, late);
    }
    bool const smooth = config->bpm_bandwidth_hz > 0 && machine->stepped;
    float const share = smooth ? (float)-expm1(-2 * M_PI * config->bpm_bandwidth_hz * passed) : 1;
    if (!smooth)
        memcpy(machine->seen, late, padded * sizeof *late);
    for (uint32_t r = 0; smooth && r < padded; ++r)
        machine->seen[r] += share * (late[r] - machine->seen[r]);
}

void rm_machine_step(struct rm_machine *machine, double time, double const *current) {
    double const passed = time - machine->time;
    take_model(machine);
    follow_currents(machine, passed, current);
    rm_machine_move_orbit(machine);
    rm_machine_disturb(machine, time);
    rm_machine_move_ground(machine, time);
    add_up(machine, time);
    if (machine->stepped)
        machine_blend_orbits(machine, time);
    look_through_filters(machine, time, passed);
    share_columns(machine);
    say_rms(machine);
    machine->time = time;
    machine->stepped = true;
    ++machine->steps;
}

double rm_machine_beam(struct rm_machine const *machine) {
    double const beam = atomic_load_explicit(&machine->knob[RM_MACHINE_BEAM], memory_order_relaxed);
    bool const lost =
        atomic_load_explicit(&machine->lost, memory_order_relaxed) || machine->motion.oscillation.state.lost;
    if (!(beam > 0) || lost)
        return 0;
    return machine->motion.stored < 0 ? beam : machine->motion.stored;
}

void rm_machine_see(struct rm_machine const *machine, uint32_t bpm, double x_m, double y_m, double *x_nm,
                    double *y_nm) {
    struct rm_machine_bpm const *of = &machine->bpm[machine->bpm_of[bpm]];
    double const c = of->pincushion_per_m2;
    double const x = x_m - c * (x_m * x_m - 3 * y_m * y_m) * x_m, y = y_m - c * (y_m * y_m - 3 * x_m * x_m) * y_m;
    *x_nm = NM * (of->m[0] * x + of->m[1] * y + of->offset_m[0]);
    *y_nm = NM * (of->m[2] * x + of->m[3] * y + of->offset_m[1]);
}

void rm_machine_read(struct rm_machine const *machine, uint32_t bpm, double *x_nm, double *y_nm) {
    uint32_t const at = machine->bpm_of[bpm];
    if (!(rm_machine_beam(machine) > 0)) {
        rm_machine_read_nothing(machine, bpm, machine->steps, x_nm, y_nm);
        return;
    }
    rm_machine_see(machine, bpm, (double)machine->seen[at], (double)machine->seen[machine->bpm_count + at], x_nm, y_nm);
}

void rm_machine_read_nothing(struct rm_machine const *machine, uint32_t bpm, rm_turn turn, double *x_nm, double *y_nm) {
    uint64_t const place = rm_noise_u64(machine->config->seed ^ rm_noise_u64(machine->bpm_of[bpm]));
    uint64_t const random = rm_noise_u64(place ^ rm_noise_u64(turn));
    *x_nm = LOST_NM * rm_noise_normal(random);
    *y_nm = LOST_NM * rm_noise_normal(rm_noise_u64(random));
}

/* ── what is said of it ── */

struct rm_machine_bpm_optics rm_machine_optics(struct rm_machine const *machine, uint32_t bpm) {
    return machine->optics[machine->bpm_of[bpm]];
}

struct rm_machine_report rm_machine_says(struct rm_machine const *machine) {
    struct rm_machine_report says = {
        .beta_beat = machine->design_beat,
        .refresh_s = atomic_load_explicit(&machine->refresh_s, memory_order_relaxed),
        .refreshes = atomic_load_explicit(&machine->refreshes, memory_order_relaxed),
        .failures = atomic_load_explicit(&machine->failures, memory_order_relaxed),
        .current_ma = atomic_load_explicit(&machine->current_ma, memory_order_relaxed),
    };
    for (int plane = 0; plane < 2; ++plane) {
        says.tune[plane] = atomic_load_explicit(&machine->tune[plane], memory_order_relaxed);
        says.orbit_rms_m[plane] = atomic_load_explicit(&machine->rms_m[plane], memory_order_relaxed);
    }
    return says;
}

void rm_machine_true_orbit(struct rm_machine const *machine, uint32_t bpm, double *x_m, double *y_m) {
    bpm = machine->bpm_of[bpm];
    *x_m = (double)machine->true_orbit[bpm];
    *y_m = (double)machine->true_orbit[machine->bpm_count + bpm];
}

void rm_machine_response(struct rm_machine const *machine, double *response) {
    struct rm_machine_model const *model = atomic_load_explicit(&machine->ready, memory_order_acquire);
    uint32_t const supplies = machine->config->supply_count;
    uint32_t const bpms = machine->bpm_count, read = machine->config->bpm_count;
    model = model == NULL ? machine->active : model;
    memset(response, 0, 2 * (size_t)read * supplies * sizeof *response);
    for (uint32_t l = 0; l < machine->lever_count; ++l) {
        double const unit = NM * ((int32_t)l == machine->rf_column ? machine->config->rf_hz_per_unit : 1);
        for (uint32_t r = 0; r < read; ++r) {
            uint32_t const b = machine->bpm_of[r];
            double const *m = machine->bpm[b].m;
            double const x = (double)*rm_orbit_matrix_at(&model->fast, b, l);
            double const y = (double)*rm_orbit_matrix_at(&model->fast, bpms + b, l);
            response[(size_t)r * supplies + machine->lever[l].supply] += unit * (m[0] * x + m[1] * y);
            response[(size_t)(read + r) * supplies + machine->lever[l].supply] += unit * (m[2] * x + m[3] * y);
        }
    }
}
