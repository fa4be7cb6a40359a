// SPDX-License-Identifier: Apache-2.0
/** Where the chamber of a living machine is narrow, and what its orbit is there.
 *
 * Of all elements those are taken that are narrowest against √β in each of 32 parts of the ring, in each plane, that
 * which is narrowest against the dispersion, and those whose apertures a file names. The orbit there is linear about
 * a look of the background, as at the BPMs, but of each tenth look alone, which else would cost twice as much; and
 * without what is still blended and the ground's motion since: some µm, of mm.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"

enum { PARTS = 32, NAMED_MAX = 64, LOOKS_BETWEEN = 10 };

/** Vertical emittance over the horizontal one: the coupling of a ring that is corrected. */
static double const COUPLING = 0.01;

/** All elements while the apertures are chosen. */
struct choosing {
    uint32_t count;
    struct rm_loss_aperture *at;
    bool *named, *chosen;
};

static bool choosing_allocate(struct choosing *choosing, uint32_t count) {
    choosing->count = count;
    choosing->at = calloc(count, sizeof *choosing->at);
    choosing->named = calloc(count, sizeof *choosing->named);
    choosing->chosen = calloc(count, sizeof *choosing->chosen);
    return choosing->at != NULL && choosing->named != NULL && choosing->chosen != NULL;
}

static void choosing_free(struct choosing *choosing) {
    free(choosing->at);
    free(choosing->named);
    free(choosing->chosen);
}

/** The chamber, or what the lattice has in its place. */
static void take_chamber(struct rm_machine const *machine, uint32_t element, struct rm_loss_aperture *at) {
    struct rm_element const *e = rm_lattice_element(machine->lattice, element);
    at->s_m = rm_lattice_s_m(machine->lattice, element);
    for (int plane = 0; plane < 2; ++plane) {
        at->half_m[plane] = machine->config->chamber_m[plane];
        at->centre_m[plane] = 0;
        if (e->elliptic_aperture != NULL)
            at->half_m[plane] = fmin(at->half_m[plane], e->elliptic_aperture[plane]);
        if (e->rectangle_aperture == NULL)
            continue;
        double const low = e->rectangle_aperture[2 * plane], high = e->rectangle_aperture[2 * plane + 1];
        if (!((high - low) / 2 < at->half_m[plane]))
            continue;
        at->half_m[plane] = (high - low) / 2;
        at->centre_m[plane] = (high + low) / 2;
    }
}

static enum rm_code take_one_named(struct rm_machine const *machine, struct rm_ring_aperture const *named,
                                   struct choosing *choosing, uint32_t *found, struct rm_error *error) {
    uint32_t const count = rm_lattice_find(machine->lattice, named->elements, RM_ELEMENT_KINDS, found, choosing->count);
    for (uint32_t f = 0; f < count; ++f) {
        choosing->named[found[f]] = true;
        for (int plane = 0; plane < 2; ++plane)
            if (named->half_m[plane] > 0)
                choosing->at[found[f]].half_m[plane] = named->half_m[plane];
    }
    if (count != 0)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "machine.chamber.apertures: %s has no element \"%s\"", machine->config->lattice,
                   named->elements);
}

static enum rm_code take_named(struct rm_machine const *machine, struct choosing *choosing, struct rm_error *error) {
    uint32_t *found = calloc(choosing->count + 1ul, sizeof *found);
    enum rm_code code = RM_OK;
    if (found == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the apertures");
    for (uint32_t a = 0; code == RM_OK && a < machine->config->aperture_count; ++a)
        code = take_one_named(machine, &machine->config->aperture[a], choosing, found, error);
    free(found);
    return code;
}

static enum rm_code find_optics(struct rm_machine *machine, struct choosing *choosing, uint32_t *all,
                                struct rm_optics *optics, struct rm_error *error) {
    struct rm_optics_summary ring;
    for (uint32_t i = 0; i < choosing->count; ++i)
        all[i] = i;
    enum rm_code const code = rm_twin_linopt6(machine->twin, NULL, all, choosing->count, &ring, optics, error);
    for (uint32_t i = 0; code == RM_OK && i < choosing->count; ++i)
        for (int plane = 0; plane < 2; ++plane) {
            choosing->at[i].beta_m[plane] = optics[i].beta_m[plane];
            choosing->at[i].dispersion_m[plane] = optics[i].dispersion[2 * plane];
        }
    return code;
}

static enum rm_code take_optics(struct rm_machine *machine, struct choosing *choosing, struct rm_error *error) {
    uint32_t *all = calloc(choosing->count + 1ul, sizeof *all);
    struct rm_optics *optics = calloc(choosing->count + 1ul, sizeof *optics);
    enum rm_code const code =
        all == NULL || optics == NULL
            ? rm_fail(error, RM_E_NO_SPACE, "no memory for the optics of %u elements", choosing->count)
            : find_optics(machine, choosing, all, optics, error);
    free(all);
    free(optics);
    return code;
}

/** Marks the element from `first` to before `end` that is narrowest by `width`. */
static void choose_narrowest(struct choosing *choosing, double (*width)(struct rm_loss_aperture const *at, int plane),
                             int plane, double from_m, double to_m) {
    uint32_t narrowest = choosing->count;
    for (uint32_t i = 0; i < choosing->count; ++i) {
        struct rm_loss_aperture const *at = &choosing->at[i];
        if (at->s_m < from_m || at->s_m >= to_m)
            continue;
        if (narrowest == choosing->count || width(at, plane) < width(&choosing->at[narrowest], plane))
            narrowest = i;
    }
    if (narrowest < choosing->count)
        choosing->chosen[narrowest] = true;
}

static double acceptance_of(struct rm_loss_aperture const *at, int plane) {
    return at->half_m[plane] / sqrt(at->beta_m[plane]);
}

static double energy_acceptance_of(struct rm_loss_aperture const *at, int plane) {
    return at->half_m[plane] / (fabs(at->dispersion_m[plane]) + 1e-9);
}

static void choose_apertures(struct rm_machine const *machine, struct choosing *choosing) {
    double const length = rm_lattice_length_m(machine->lattice);
    uint32_t named = 0;
    for (uint32_t i = 0; i < choosing->count; ++i)
        named += choosing->named[i];
    for (uint32_t i = 0; named <= NAMED_MAX && i < choosing->count; ++i)
        choosing->chosen[i] = choosing->named[i];
    for (int part = 0; part < PARTS; ++part)
        for (int plane = 0; plane < 2; ++plane)
            choose_narrowest(choosing, acceptance_of, plane, length * part / PARTS, length * (part + 1) / PARTS);
    choose_narrowest(choosing, energy_acceptance_of, 0, 0, length);
}

static bool aperture_model_make(struct rm_aperture_model *model, uint32_t rows, uint32_t columns) {
    model->then = calloc(columns + 1ul, sizeof *model->then);
    return model->then != NULL && rm_orbit_matrix_make(&model->matrix, rows, columns) &&
           (model->base = rm_orbit_vector(&model->matrix)) != NULL;
}

void rm_machine_aperture_model_free(struct rm_aperture_model *model) {
    rm_orbit_matrix_free(&model->matrix);
    free(model->base);
    free(model->then);
}

static enum rm_code keep_chosen(struct rm_machine *machine, struct choosing const *choosing, struct rm_error *error) {
    struct rm_machine_apertures *apertures = &machine->apertures;
    for (uint32_t i = 0; i < choosing->count; ++i)
        apertures->count += choosing->chosen[i];
    uint32_t const rows = 2 * apertures->count;
    apertures->at = calloc(apertures->count, sizeof *apertures->at);
    apertures->element = calloc(apertures->count, sizeof *apertures->element);
    apertures->orbit = calloc(apertures->count, sizeof *apertures->orbit);
    apertures->response = calloc((size_t)rows * (machine->steerer_count + 1), sizeof *apertures->response);
    apertures->weight = calloc(machine->fast_count + 1ul, sizeof *apertures->weight);
    bool good = apertures->at != NULL && apertures->element != NULL && apertures->orbit != NULL &&
                apertures->response != NULL && apertures->weight != NULL;
    good = good && aperture_model_make(&apertures->latest, rows, machine->fast_count);
    for (int m = 0; good && m < 3; ++m)
        good = aperture_model_make(&machine->model[m].aperture, rows, machine->fast_count);
    apertures->now = good ? rm_orbit_vector(&apertures->latest.matrix) : NULL;
    if (apertures->now == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u apertures", apertures->count);
    for (uint32_t i = 0, a = 0; i < choosing->count; ++i) {
        if (!choosing->chosen[i])
            continue;
        apertures->at[a] = choosing->at[i];
        apertures->element[a++] = i;
    }
    return RM_OK;
}

static enum rm_code find_apertures(struct rm_machine *machine, struct choosing *choosing, struct rm_error *error) {
    for (uint32_t i = 0; i < choosing->count; ++i)
        take_chamber(machine, i, &choosing->at[i]);
    enum rm_code code = take_named(machine, choosing, error);
    if (code == RM_OK)
        code = take_optics(machine, choosing, error);
    if (code != RM_OK)
        return code;
    choose_apertures(machine, choosing);
    return keep_chosen(machine, choosing, error);
}

static void find_bunch(struct rm_machine *machine) {
    struct rm_ring_parameters ring;
    struct rm_machine_bunch *bunch = &machine->apertures.bunch;
    *bunch = (struct rm_machine_bunch){.damping_turns = 1 / machine->slow_damping[0]};
    if (rm_twin_ring_parameters(machine->twin, &ring, NULL) != RM_OK)
        return; /* a lattice that does not radiate has no emittance, and a wall cuts at once */
    bunch->emittance_m[0] = ring.emittance_x_m;
    bunch->emittance_m[1] = COUPLING * ring.emittance_x_m;
    bunch->energy_spread = ring.energy_spread;
}

enum rm_code rm_machine_apertures_make(struct rm_machine *machine, struct rm_error *error) {
    struct choosing choosing = {0};
    if (!(machine->config->chamber_m[0] > 0 && machine->config->chamber_m[1] > 0))
        return RM_OK;
    enum rm_code code = RM_OK;
    if (!choosing_allocate(&choosing, rm_lattice_count(machine->lattice)))
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for the chamber of %u elements", choosing.count);
    if (code == RM_OK)
        code = find_apertures(machine, &choosing, error);
    choosing_free(&choosing);
    find_bunch(machine);
    for (int m = 0; code == RM_OK && m < 3; ++m)
        code = rm_machine_apertures_fill(machine, &machine->model[m], error);
    return code;
}

void rm_machine_apertures_free(struct rm_machine *machine) {
    free(machine->apertures.at);
    free(machine->apertures.element);
    free(machine->apertures.orbit);
    free(machine->apertures.response);
    free(machine->apertures.now);
    free(machine->apertures.weight);
    rm_machine_aperture_model_free(&machine->apertures.latest);
}

/** A row is an aperture's plane. */
static void aperture_row(struct rm_machine *machine, struct rm_aperture_model *model, uint32_t row, double orbit) {
    double const *response = &machine->apertures.response[(size_t)row * (machine->steerer_count + 1)];
    for (uint32_t c = 0; c < machine->fast_count; ++c)
        *rm_orbit_matrix_at(&model->matrix, row, c) = (float)rm_machine_column_of(machine, response, c);
    model->base[row] = (float)orbit;
}

static enum rm_code look_at_apertures(struct rm_machine *machine, struct rm_error *error) {
    struct rm_machine_apertures *apertures = &machine->apertures;
    struct rm_aperture_model *model = &apertures->latest;
    struct rm_response_options options = {.orbit.guess = machine->at_start};
    double at_start[RM_COORDINATES];
    if (machine->rf_column >= 0)
        options.orbit.rf_offset_hz = machine->column_now[machine->rf_column];
    enum rm_code code = rm_twin_find_orbit(machine->twin, &options.orbit, at_start, apertures->element,
                                           apertures->count, apertures->orbit, error);
    if (code == RM_OK)
        code = rm_twin_response(machine->twin, &options, apertures->element, apertures->count, machine->steerer,
                                machine->steerer_count, apertures->response, error);
    for (uint32_t a = 0; code == RM_OK && a < apertures->count; ++a) {
        aperture_row(machine, model, a, apertures->orbit[a][0]);
        aperture_row(machine, model, apertures->count + a, apertures->orbit[a][2]);
    }
    memcpy(model->then, machine->column_now, machine->fast_count * sizeof *model->then);
    return code;
}

enum rm_code rm_machine_apertures_fill(struct rm_machine *machine, struct rm_machine_model *model,
                                       struct rm_error *error) {
    struct rm_machine_apertures *apertures = &machine->apertures;
    struct rm_aperture_model const *latest = &apertures->latest;
    if (apertures->count == 0)
        return RM_OK;
    if (apertures->looks++ % LOOKS_BETWEEN == 0) {
        enum rm_code const code = look_at_apertures(machine, error);
        if (code != RM_OK)
            return code;
    }
    memcpy(model->aperture.matrix.value, latest->matrix.value,
           (size_t)latest->matrix.padded * latest->matrix.columns * sizeof *latest->matrix.value);
    memcpy(model->aperture.base, latest->base, latest->matrix.padded * sizeof *latest->base);
    memcpy(model->aperture.then, latest->then, latest->matrix.columns * sizeof *latest->then);
    return RM_OK;
}

uint32_t rm_machine_aperture_count(struct rm_machine const *machine) { return machine->apertures.count; }

struct rm_loss_aperture const *rm_machine_aperture_list(struct rm_machine const *machine) {
    return machine->apertures.at;
}

struct rm_machine_bunch rm_machine_bunch(struct rm_machine const *machine) {
    return machine->apertures.bunch;
}

float const *rm_machine_aperture_orbit(struct rm_machine *machine) {
    struct rm_aperture_model const *model = &machine->active->aperture;
    struct rm_machine_apertures *apertures = &machine->apertures;
    memcpy(apertures->now, model->base, model->matrix.padded * sizeof *apertures->now);
    for (uint32_t c = 0; c < machine->fast_count; ++c)
        apertures->weight[c] = (float)(machine->now[c] - model->then[c]);
    rm_orbit_matrix_add(&model->matrix, 0, machine->fast_count, apertures->weight, apertures->now);
    return apertures->now;
}

double rm_machine_length_m(struct rm_machine const *machine) { return rm_lattice_length_m(machine->lattice); }

void rm_machine_store(struct rm_machine *machine, double share) {
    machine->motion.stored = share;
    atomic_store_explicit(&machine->current_ma, share * machine->config->current_ma, memory_order_relaxed);
}

void rm_machine_keep(struct rm_machine *machine, void *at, size_t bytes) {
    assert(machine->kept_count < RM_MACHINE_KEPT_MAX);
    machine->kept[machine->kept_count++] = (struct rm_machine_kept){at, bytes};
}

uint64_t rm_machine_fills(struct rm_machine const *machine) {
    return atomic_load_explicit(&machine->fills, memory_order_acquire);
}
