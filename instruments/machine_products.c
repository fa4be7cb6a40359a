// SPDX-License-Identifier: Apache-2.0
/** What a sextupole makes of the orbit's square, at each step. Of a sextupole whose supply changes B₂L by Δ, a beam that
 * is (x, y) away from the orbit of the last look is kicked by −Δ (x² − y²) and 2 Δ x y, beside what is linear in x and
 * y and in the matrix of the look. So the difference of two settings of a sextupole is right while the orbit swings
 * between two looks.
 *
 * Of the whole B₂L the design's part is left out in all sextupoles alike, or a sextupole that stands off its design
 * would differ from one that does not by all of its field. A place is an element: the mean of its two ends. Lanes of a
 * block are the x of its places, then their y. All sums have one order, so that they have one result.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "machine_parts.h"

enum { PLACES = 8, LANES = 2 * PLACES, QUARTER = 4, QUARTERS = LANES / QUARTER };

/** Lanes in one register of any processor. */
typedef float quarter __attribute__((vector_size(QUARTER * sizeof(float))));

/** A sextupole whose field is nearer to its design's, relatively, has no products: supplies are never quite at zero. */
static double const LEAST_CHANGE = 1e-4;

/** What a look finds of the sextupoles that stand off their design. */
struct products_look {
    uint32_t point_count;
    uint32_t *point;
    /** [place] the windings, and the first of their two points. */
    uint32_t *winding, *first;
    struct rm_steerer *steerer;
    /** [2][point][steerer of the machine + 1] and [2][bpm][2 · place + 1]. */
    double *at_places, *at_bpms;
};

static double element_length(struct rm_machine const *machine, uint32_t winding) {
    return rm_lattice_element(machine->lattice, machine->winding[winding].element)->length_m;
}

/** Fields of no length take no kick in the twin. */
static bool has_products(struct rm_machine const *machine, uint32_t winding) {
    return machine->winding[winding].component == RM_NORMAL && element_length(machine, winding) != 0;
}

/** Points of a response ascend. */
static void insert_by_element(struct rm_machine *machine, uint32_t winding) {
    struct rm_machine_products *products = &machine->products;
    uint32_t at = products->count++;
    for (; at > 0 && machine->winding[products->winding[at - 1]].element > machine->winding[winding].element; --at)
        products->winding[at] = products->winding[at - 1];
    products->winding[at] = winding;
}

enum rm_code rm_machine_products_make(struct rm_machine *machine, struct rm_error *error) {
    struct rm_machine_products *products = &machine->products;
    products->winding = calloc(machine->winding_count + 1ul, sizeof *products->winding);
    products->kick = calloc(2ul * machine->winding_count + LANES, sizeof *products->kick);
    if (products->winding == NULL || products->kick == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the sextupoles of a lattice");
    for (uint32_t w = 0; w < machine->winding_count; ++w)
        if (has_products(machine, w))
            insert_by_element(machine, w);
    return RM_OK;
}

void rm_machine_products_free(struct rm_machine *machine) {
    free(machine->products.winding);
    free(machine->products.kick);
}

static uint32_t block_count(uint32_t places) { return (places + PLACES - 1) / PLACES; }

size_t rm_products_model_places(struct rm_machine const *machine) {
    return (size_t)block_count(machine->products.count) * machine->fast_count * LANES;
}

bool rm_products_model_make(struct rm_machine const *machine, struct rm_products_model *model) {
    if (machine->products.count == 0)
        return true;
    model->place = rm_zeroed(rm_products_model_places(machine), sizeof *model->place);
    return model->place != NULL &&
           rm_orbit_matrix_make(&model->orbit, 2 * machine->bpm_count, block_count(machine->products.count) * LANES);
}

void rm_products_model_free(struct rm_products_model *model) {
    rm_orbit_matrix_free(&model->orbit);
    free(model->place);
}

/* ── the background's ── */

static bool look_allocate(struct rm_machine const *machine, struct products_look *look) {
    size_t const places = machine->products.count;
    look->point = calloc(2 * places, sizeof *look->point);
    look->winding = calloc(places, sizeof *look->winding);
    look->first = calloc(places, sizeof *look->first);
    look->steerer = calloc(2 * places, sizeof *look->steerer);
    return look->point != NULL && look->winding != NULL && look->first != NULL && look->steerer != NULL;
}

static void look_free(struct products_look *look) {
    free(look->point);
    free(look->winding);
    free(look->first);
    free(look->steerer);
    free(look->at_places);
    free(look->at_bpms);
}

/** The sextupoles that stand off their design now; two elements that touch share a point. */
static uint32_t find_changed(struct rm_machine const *machine, struct products_look *look) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < machine->products.count; ++p) {
        uint32_t const winding = machine->products.winding[p], element = machine->winding[winding].element;
        if (!(fabs(machine->points.winding_change[winding]) > LEAST_CHANGE))
            continue;
        if (look->point_count == 0 || look->point[look->point_count - 1] != element)
            look->point[look->point_count++] = element;
        look->first[count] = look->point_count - 1;
        look->point[look->point_count++] = element + 1;
        look->steerer[2 * count] = (struct rm_steerer){element, RM_HORIZONTAL};
        look->steerer[2 * count + 1] = (struct rm_steerer){element, RM_VERTICAL};
        look->winding[count++] = winding;
    }
    return count;
}

static enum rm_code find_responses(struct rm_machine *machine, struct products_look *look, uint32_t places,
                                   struct rm_error *error) {
    struct rm_response_options options = {.orbit.guess = machine->at_start};
    if (machine->rf_column >= 0)
        options.orbit.rf_offset_hz = machine->column_now[machine->rf_column];
    look->at_places = calloc(2ul * look->point_count * (machine->steerer_count + 1ul), sizeof *look->at_places);
    look->at_bpms = calloc(2ul * machine->bpm_count * (2ul * places + 1), sizeof *look->at_bpms);
    if (look->at_places == NULL || look->at_bpms == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the response of %u sextupoles", places);
    enum rm_code code = rm_twin_response(machine->twin, &options, look->point, look->point_count, machine->steerer,
                                         machine->steerer_count, look->at_places, error);
    if (code == RM_OK)
        code = rm_twin_response(machine->twin, &options, machine->bpm_element, machine->bpm_count, look->steerer,
                                2 * places, look->at_bpms, error);
    return code;
}

static double column_at_place(struct rm_machine const *machine, struct products_look const *look, uint32_t column,
                              uint32_t place, uint32_t plane) {
    size_t const stride = machine->steerer_count + 1ul;
    double const *entrance = &look->at_places[((size_t)plane * look->point_count + look->first[place]) * stride];
    return (rm_machine_column_of(machine, entrance, column) +
            rm_machine_column_of(machine, entrance + stride, column)) /
           2;
}

static void fill_place(struct rm_machine const *machine, struct products_look const *look, uint32_t place,
                       uint32_t places, struct rm_products_model *model) {
    struct rm_machine_winding const *winding = &machine->winding[look->winding[place]];
    double const change = machine->points.winding_change[look->winding[place]] * winding->per_change *
                          element_length(machine, look->winding[place]);
    double const per_square[2] = {-change, 2 * change};
    for (uint32_t plane = 0; plane < 2; ++plane) {
        uint32_t const lane = plane * PLACES + place % PLACES, block = place / PLACES;
        float *value = &model->place[(size_t)block * machine->fast_count * LANES + lane];
        for (uint32_t c = 0; c < machine->fast_count; ++c)
            value[(size_t)c * LANES] = (float)column_at_place(machine, look, c, place, plane);
        for (uint32_t r = 0; r < 2 * machine->bpm_count; ++r)
            *rm_orbit_matrix_at(&model->orbit, r, block * LANES + lane) =
                (float)(per_square[plane] * look->at_bpms[(size_t)r * (2ul * places + 1) + 2ul * place + plane]);
    }
}

static enum rm_code look_at_changed(struct rm_machine *machine, struct products_look *look,
                                    struct rm_products_model *model, struct rm_error *error) {
    uint32_t const places = find_changed(machine, look);
    model->blocks = block_count(places);
    if (places == 0)
        return RM_OK;
    enum rm_code const code = find_responses(machine, look, places, error);
    if (code != RM_OK)
        return code;
    memset(model->place, 0, (size_t)model->blocks * machine->fast_count * LANES * sizeof *model->place);
    for (uint32_t p = 0; p < places; ++p)
        fill_place(machine, look, p, places, model);
    return RM_OK;
}

enum rm_code rm_machine_products_fill(struct rm_machine *machine, struct rm_machine_model *model,
                                      struct rm_error *error) {
    struct products_look look = {0};
    if (machine->products.count == 0)
        return RM_OK;
    enum rm_code const code =
        look_allocate(machine, &look)
            ? look_at_changed(machine, &look, &model->products, error)
            : rm_fail(error, RM_E_NO_SPACE, "no memory for a look at %u sextupoles", machine->products.count);
    look_free(&look);
    return code;
}

/* ── the fast part's ── */

/** Squares of how far the orbit at the places of a block is from that of the look. */
static void find_squares(float const *place, uint32_t columns, float const *weight, float *kick) {
    void const *at = place;
    quarter const *value = at;
    quarter sum[QUARTERS] = {0};
    float away[LANES];
    for (uint32_t c = 0; c < columns; ++c)
        for (uint32_t q = 0; q < QUARTERS; ++q)
            sum[q] += value[c * QUARTERS + q] * weight[c];
    memcpy(away, sum, sizeof away);
    for (uint32_t p = 0; p < PLACES; ++p) {
        float const x = away[p], y = away[PLACES + p];
        kick[p] = x * x - y * y;
        kick[PLACES + p] = x * y;
    }
}

void rm_machine_add_products(struct rm_machine *machine, struct rm_machine_model const *model, float *orbit) {
    struct rm_products_model const *products = &model->products;
    float *kick = machine->products.kick;
    for (uint32_t b = 0; b < products->blocks; ++b)
        find_squares(&products->place[(size_t)b * machine->fast_count * LANES], machine->fast_count, machine->weight,
                     &kick[(size_t)b * LANES]);
    if (products->blocks != 0)
        rm_orbit_matrix_add(&products->orbit, 0, products->blocks * LANES, kick, orbit);
}
