// SPDX-License-Identifier: Apache-2.0
/** Supplies that change the fields of magnets. A magnet is all elements of one name that follow each other among those
 * that a group means, as a sextupole about its corrector. Gradients are those of `magnet`, with a knob beside the
 * supplies and a slope of the tunes; all other fields are windings.
 *
 * One current makes the gradient of a bend and its angle: a relative change ε of a bend of curvature h adds the dipole
 * field ε h, as a corrector in it would.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"

static uint32_t const SEXTUPOLE_ORDER = 2;

struct rm_machine_magnet *rm_machine_magnet_at(struct rm_machine *machine, uint32_t element) {
    for (uint32_t q = 0; q < machine->magnet_count; ++q)
        if (machine->magnet[q].element == element)
            return &machine->magnet[q];
    return NULL;
}

double rm_machine_magnet_knob(struct rm_machine const *machine, uint32_t magnet) {
    uint32_t const knob = machine->magnet[magnet].knob;
    return knob == RM_MACHINE_KNOBS_NONE ? 0 : atomic_load_explicit(&machine->knob[knob], memory_order_relaxed);
}

bool rm_machine_strengths_allocate(struct rm_machine *machine) {
    uint32_t const elements = rm_lattice_count(machine->lattice), supplies = machine->config->supply_count;
    uint32_t const pieces = machine->config->group_count * elements;
    machine->strength = calloc(supplies + 1ul, sizeof *machine->strength);
    machine->magnet = calloc(elements + 1ul, sizeof *machine->magnet);
    machine->winding = calloc((RM_MACHINE_CHANGES - 1) * elements + 1ul, sizeof *machine->winding);
    machine->piece = calloc(pieces + 1ul, sizeof *machine->piece);
    return machine->strength != NULL && machine->magnet != NULL && machine->winding != NULL && machine->piece != NULL;
}

void rm_machine_strengths_free(struct rm_machine *machine) {
    free(machine->strength);
    free(machine->magnet);
    free(machine->winding);
    free(machine->piece);
    rm_machine_products_free(machine);
}

/* ── one element ── */

/** The gradient of an element; a bend's becomes one by this. False: it has none that a supply could change. */
static bool find_gradient(struct rm_machine *machine, uint32_t element, uint32_t *magnet) {
    struct rm_machine_magnet const *known = rm_machine_magnet_at(machine, element);
    struct rm_element const *e = rm_lattice_element(machine->lattice, element);
    *magnet = known == NULL ? machine->magnet_count : (uint32_t)(known - machine->magnet);
    if (known != NULL)
        return true;
    if (e->kind != RM_ELEMENT_DIPOLE || e->polynom_b == NULL || e->max_order < 1 || e->polynom_b[1] == 0 ||
        !(e->length_m > 0))
        return false;
    machine->magnet[machine->magnet_count++] =
        (struct rm_machine_magnet){element, RM_MACHINE_KNOBS_NONE, e->polynom_b[1], e->bending_angle_rad / e->length_m};
    return true;
}

static uint32_t winding_order(struct rm_machine_winding const *winding) {
    return winding->component == RM_SKEW ? 1 : SEXTUPOLE_ORDER;
}

/** Another field of an element. False: it has none. */
static bool find_winding(struct rm_machine *machine, uint32_t element, enum rm_machine_change change, double length_m,
                         uint32_t *winding) {
    struct rm_element const *e = rm_lattice_element(machine->lattice, element);
    bool const skew = change == RM_CHANGE_SKEW;
    struct rm_machine_winding const wanted = {
        .element = element, .component = skew ? RM_SKEW : RM_NORMAL, .per_change = skew ? 1 / length_m : 0};
    for (*winding = 0; *winding < machine->winding_count; ++*winding) {
        struct rm_machine_winding const *known = &machine->winding[*winding];
        if (known->element == element && known->component == wanted.component)
            return true;
    }
    if (e->polynom_a == NULL || e->polynom_b == NULL || e->max_order < winding_order(&wanted) ||
        (!skew && e->polynom_b[SEXTUPOLE_ORDER] == 0))
        return false;
    machine->winding[machine->winding_count++] = wanted;
    return true;
}

static enum rm_code fail_field(struct rm_machine const *machine, struct rm_machine_group const *group, uint32_t element,
                               struct rm_error *error) {
    static char const *const expected[RM_MACHINE_CHANGES] = {
        [RM_CHANGE_GRADIENT] =
            "no gradient that a supply could change, expected a quadrupole, or a bend with a gradient",
        [RM_CHANGE_SKEW] = "no room for a skew gradient, expected a magnet whose MaxOrder is 1 or more",
        [RM_CHANGE_SEXTUPOLE] =
            "no sextupole field that a supply could change, expected MaxOrder 2 or more and a PolynomB[2]"};
    return rm_fail(error, RM_E_CONFIG, "machine.strengths: \"%s\" means %s too, which has %s", group->elements,
                   rm_lattice_element(machine->lattice, element)->name, expected[group->change]);
}

/* ── groups ── */

/** The length of a magnet's pieces; of a thin one 1, as its fields are integrated ones. */
static double pieces_length(struct rm_machine const *machine, uint32_t const *element, uint32_t count) {
    double length = 0;
    for (uint32_t i = 0; i < count; ++i)
        length += rm_lattice_element(machine->lattice, element[i])->length_m;
    return length > 0 ? length : 1;
}

/** How many of `count` elements are of the first one's name. */
static uint32_t count_pieces(struct rm_machine const *machine, uint32_t const *element, uint32_t count) {
    char const *name = rm_lattice_element(machine->lattice, element[0])->name;
    uint32_t same = 1;
    while (same < count && strcmp(rm_lattice_element(machine->lattice, element[same])->name, name) == 0)
        ++same;
    return same;
}

static enum rm_code add_strength(struct rm_machine *machine, struct rm_machine_group const *group, uint32_t supply,
                                 uint32_t const *element, uint32_t count, struct rm_error *error) {
    struct rm_machine_strength *made = &machine->strength[machine->strength_count++];
    double const length = pieces_length(machine, element, count);
    *made = (struct rm_machine_strength){machine->piece_count, count, supply, group->change, group->per_unit};
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t *piece = &machine->piece[machine->piece_count++];
        if (group->change == RM_CHANGE_GRADIENT ? !find_gradient(machine, element[i], piece)
                                                : !find_winding(machine, element[i], group->change, length, piece))
            return fail_field(machine, group, element[i], error);
    }
    return RM_OK;
}

static enum rm_code count_magnets(struct rm_machine const *machine, struct rm_machine_group const *group,
                                  uint32_t const *element, uint32_t count, struct rm_error *error) {
    uint32_t magnets = 0;
    for (uint32_t i = 0; i < count; i += count_pieces(machine, &element[i], count - i))
        ++magnets;
    if (magnets == group->supply_count)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "machine.strengths: \"%s\" are %u magnets of %s, expected one for each of the group's %u supplies",
                   group->elements, magnets, machine->config->lattice, group->supply_count);
}

static enum rm_code add_strengths(struct rm_machine *machine, struct rm_machine_group const *group,
                                  struct rm_error *error) {
    uint32_t count, magnet = 0;
    uint32_t *element = rm_machine_elements(machine->lattice, group->elements, RM_ELEMENT_KINDS, &count);
    if (element == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the magnets of a lattice");
    enum rm_code code = count_magnets(machine, group, element, count, error);
    for (uint32_t i = 0; code == RM_OK && i < count; ++magnet) {
        uint32_t const pieces = count_pieces(machine, &element[i], count - i);
        code = add_strength(machine, group, group->supply[magnet], &element[i], pieces, error);
        i += pieces;
    }
    free(element);
    return code;
}

enum rm_code rm_machine_strengths_find(struct rm_machine *machine, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (int others = 0; others < 2; ++others) {
        for (uint32_t g = 0; code == RM_OK && g < machine->config->group_count; ++g) {
            struct rm_machine_group const *group = &machine->config->group[g];
            if (group->plane == 'q' && (group->change != RM_CHANGE_GRADIENT) == (others != 0))
                code = add_strengths(machine, group, error);
        }
        if (others == 0)
            machine->gradient_count = machine->strength_count;
    }
    return code == RM_OK ? rm_machine_products_make(machine, error) : code;
}

/* ── what they do ── */

void rm_machine_strengths_begin(struct rm_machine *machine) {
    for (uint32_t w = 0; w < machine->winding_count; ++w) {
        struct rm_machine_winding *winding = &machine->winding[w];
        struct rm_element const *e = rm_twin_element(machine->twin, winding->element);
        winding->base = (winding->component == RM_SKEW ? e->polynom_a : e->polynom_b)[winding_order(winding)];
        if (winding->component == RM_NORMAL)
            winding->per_change = winding->base;
    }
}

/** Adds what the strengths [first, end) change of each of their pieces. */
static void add_changes(struct rm_machine const *machine, uint32_t first, uint32_t end, double *change) {
    for (uint32_t s = first; s < end; ++s) {
        double const of = atomic_load_explicit(&machine->strength_shared[s], memory_order_relaxed);
        for (uint32_t p = 0; p < machine->strength[s].count; ++p)
            change[machine->piece[machine->strength[s].first + p]] += of;
    }
}

static enum rm_code set_gradient(struct rm_machine *machine, struct rm_machine_magnet const *magnet, double change,
                                 struct rm_error *error) {
    enum rm_code const code =
        rm_twin_set_polynom(machine->twin, magnet->element, RM_NORMAL, 1, magnet->gradient * (1 + change), error);
    if (code != RM_OK || magnet->curvature == 0)
        return code;
    double const field = rm_lattice_element(machine->lattice, magnet->element)->polynom_b[0];
    return rm_twin_set_polynom(machine->twin, magnet->element, RM_NORMAL, 0, field + change * magnet->curvature, error);
}

enum rm_code rm_machine_strengths_set(struct rm_machine *machine, struct rm_error *error) {
    double *const gradient = machine->points.change, *const other = machine->points.winding_change;
    enum rm_code code = RM_OK;
    for (uint32_t q = 0; q < machine->magnet_count; ++q)
        gradient[q] = rm_machine_magnet_knob(machine, q);
    add_changes(machine, 0, machine->gradient_count, gradient);
    for (uint32_t q = 0; code == RM_OK && q < machine->magnet_count; ++q)
        code = set_gradient(machine, &machine->magnet[q], gradient[q], error);
    memset(other, 0, machine->winding_count * sizeof *other);
    add_changes(machine, machine->gradient_count, machine->strength_count, other);
    for (uint32_t w = 0; code == RM_OK && w < machine->winding_count; ++w) {
        struct rm_machine_winding const *winding = &machine->winding[w];
        code = rm_twin_set_polynom(machine->twin, winding->element, winding->component, winding_order(winding),
                                   winding->base + winding->per_change * other[w], error);
    }
    return code;
}
