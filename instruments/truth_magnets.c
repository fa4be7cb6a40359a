// SPDX-License-Identifier: Apache-2.0
#include "truth_magnets.h"

#include <math.h>

/** Where an element begins. */
static double place_of(struct rm_lattice const *lattice, uint32_t element) {
    double s = 0;
    for (uint32_t i = 0; i < element; ++i)
        s += rm_lattice_element(lattice, i)->length_m;
    return s;
}

/** From an element to the middle of a yoke, along the lattice's file. */
static double distance_of(struct rm_machine const *machine, struct rm_machine_yoke const *yoke, uint32_t element) {
    if (yoke == NULL)
        return INFINITY;
    double const ends = place_of(machine->lattice, yoke->first) + place_of(machine->lattice, yoke->end);
    return fabs(ends / 2 - place_of(machine->lattice, element));
}

static enum rm_element_kind kind_of(struct rm_machine const *machine, struct rm_machine_yoke const *yoke) {
    return rm_lattice_element(machine->lattice, yoke->first)->kind;
}

uint32_t rm_truth_piece_element(struct rm_machine const *machine, struct rm_machine_strength const *strength,
                                uint32_t piece) {
    uint32_t const at = machine->piece[strength->first + piece];
    return strength->change == RM_CHANGE_GRADIENT ? machine->magnet[at].element : machine->winding[at].element;
}

struct rm_machine_yoke const *rm_truth_yoke_of(struct rm_machine const *machine, uint32_t element) {
    for (uint32_t y = 0; y < machine->yoke_count; ++y)
        if (machine->yoke[y].first <= element && element < machine->yoke[y].end)
            return &machine->yoke[y];
    return NULL;
}

static bool has_supply(struct rm_machine const *machine, struct rm_machine_yoke const *yoke) {
    for (uint32_t s = 0; s < machine->strength_count; ++s)
        for (uint32_t p = 0; p < machine->strength[s].count; ++p)
            if (rm_truth_yoke_of(machine, rm_truth_piece_element(machine, &machine->strength[s], p)) == yoke)
                return true;
    return false;
}

/** The yoke of a kind (RM_ELEMENT_KINDS: any) whose middle is nearest to an element, with a supply or not. */
static struct rm_machine_yoke const *nearest_yoke(struct rm_machine const *machine, uint32_t element,
                                                  enum rm_element_kind kind, bool supplied) {
    struct rm_machine_yoke const *nearest = NULL;
    double least = INFINITY;
    for (uint32_t y = 0; y < machine->yoke_count; ++y) {
        struct rm_machine_yoke const *yoke = &machine->yoke[y];
        if (kind != RM_ELEMENT_KINDS && kind_of(machine, yoke) != kind)
            continue;
        double const away = distance_of(machine, yoke, element);
        if (!(away < least) || (supplied && !has_supply(machine, yoke)))
            continue;
        nearest = yoke;
        least = away;
    }
    return nearest;
}

struct rm_machine_yoke const *rm_truth_nearest_quadrupole(struct rm_machine const *machine, uint32_t element) {
    return nearest_yoke(machine, element, RM_ELEMENT_QUADRUPOLE, false);
}

/** True where the beam passes an element as it would a drift, but for a kick. */
static bool lets_pass(struct rm_machine const *machine, uint32_t element) {
    static bool const passes[RM_ELEMENT_KINDS] = {[RM_ELEMENT_MARKER] = true,
                                                  [RM_ELEMENT_MONITOR] = true,
                                                  [RM_ELEMENT_DRIFT] = true,
                                                  [RM_ELEMENT_CORRECTOR] = true,
                                                  [RM_ELEMENT_APERTURE] = true};
    return passes[rm_lattice_element(machine->lattice, element)->kind];
}

/** The first element on one side of another, around the ring, that does not let the beam pass; or that element. */
static uint32_t first_on_side(struct rm_machine const *machine, uint32_t element, uint32_t step) {
    uint32_t const count = rm_lattice_count(machine->lattice);
    uint32_t i = (element + step) % count;
    while (i != element && lets_pass(machine, i))
        i = (i + step) % count;
    return i;
}

/** The nearer one of the quadrupoles with a supply that stand beside an element, or NULL. */
static struct rm_machine_yoke const *quadrupole_beside(struct rm_machine const *machine, uint32_t element) {
    uint32_t const count = rm_lattice_count(machine->lattice);
    struct rm_machine_yoke const *beside = NULL;
    double least = INFINITY;
    for (uint32_t side = 0; side < 2; ++side) {
        uint32_t const at = first_on_side(machine, element, side == 0 ? 1 : count - 1);
        struct rm_machine_yoke const *yoke = rm_truth_yoke_of(machine, at);
        double const away = distance_of(machine, yoke, element);
        if (yoke == NULL || kind_of(machine, yoke) != RM_ELEMENT_QUADRUPOLE || !has_supply(machine, yoke) ||
            !(away < least))
            continue;
        beside = yoke;
        least = away;
    }
    return beside;
}

struct rm_machine_yoke const *rm_truth_aligned_magnet(struct rm_machine const *machine, uint32_t element) {
    struct rm_machine_yoke const *magnet = quadrupole_beside(machine, element);
    if (magnet == NULL)
        magnet = nearest_yoke(machine, element, RM_ELEMENT_SEXTUPOLE, true);
    return magnet != NULL ? magnet : nearest_yoke(machine, element, RM_ELEMENT_KINDS, true);
}
