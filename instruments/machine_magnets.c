// SPDX-License-Identifier: Apache-2.0
/** Where magnets truly stand, and the fields that the design does not have: drawn from the seed, put into the twin. A
 * quadrupole that stands beside the axis kicks the beam by its gradient times the distance. So moving its gradient
 * tells where its centre is, and nothing else does. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "machine_parts.h"
#include "noise.h"

enum { KEY_YOKE = 10 << 20, DRAWS = 8 };

/** Shares of their size by which errors grow: each orbit is found about the one before, and steered. */
static double const FIRST_SHARE = 1.0 / 32, LEAST_SHARE = 1.0 / 1024;

/** A magnet of no length, as some lattices have their sextupoles: its fields are integrated ones. */
static bool is_thin(struct rm_element const *e) { return e->kind == RM_ELEMENT_THIN_MULTIPOLE; }

static bool is_yoke(struct rm_element const *e) {
    bool const magnet =
        e->kind == RM_ELEMENT_QUADRUPOLE || e->kind == RM_ELEMENT_SEXTUPOLE || e->kind == RM_ELEMENT_DIPOLE;
    return is_thin(e) || (magnet && e->length_m != 0);
}

static bool is_piece(struct rm_machine const *machine, struct rm_machine_yoke const *yoke, uint32_t element) {
    struct rm_element const *e = rm_lattice_element(machine->lattice, element);
    return e->kind == rm_lattice_element(machine->lattice, yoke->first)->kind && (is_thin(e) || e->length_m != 0);
}

/** Whether an element has a field of this order, 0 or not. */
static bool has_order(struct rm_element const *e, uint32_t order) {
    return e->polynom_a != NULL && e->polynom_b != NULL && e->max_order >= order;
}

static struct rm_machine_yoke draw_yoke(struct rm_machine const *machine, uint32_t first) {
    struct rm_ring_machine const *config = machine->config;
    uint64_t const key = rm_noise_u64(config->seed) ^ rm_noise_u64(KEY_YOKE + (uint64_t)first * DRAWS);
    struct rm_element const *e = rm_lattice_element(machine->lattice, first);
    bool const sextupole = (is_thin(e) || e->kind == RM_ELEMENT_SEXTUPOLE) && has_order(e, 2);
    bool const wound = e->kind != RM_ELEMENT_DIPOLE && has_order(e, 1);
    return (struct rm_machine_yoke){
        .first = first,
        .end = is_thin(e) ? first + 1 : rm_machine_magnet_end(machine->lattice, first),
        .offset_m = {config->errors.magnet_offset_m * rm_machine_draw(key),
                     config->errors.magnet_offset_m * rm_machine_draw(key + 1)},
        .roll_rad = config->errors.magnet_roll_rad * rm_machine_draw(key + 2),
        .sextupole = sextupole ? config->errors.sextupole * rm_machine_draw(key + 3) : 0,
        .skew_per_m = wound ? config->errors.skew_per_m * rm_machine_draw(key + 4) : 0,
    };
}

bool rm_machine_draw_yokes(struct rm_machine *machine) {
    uint32_t const count = rm_lattice_count(machine->lattice);
    machine->yoke = calloc(count, sizeof *machine->yoke);
    for (uint32_t i = 0; machine->yoke != NULL && i < count; ++i) {
        if (!is_yoke(rm_lattice_element(machine->lattice, i)))
            continue;
        machine->yoke[machine->yoke_count] = draw_yoke(machine, i);
        i = machine->yoke[machine->yoke_count++].end - 1;
    }
    return machine->yoke != NULL;
}

/** Its length, of all pieces; of a thin one 1, as its fields have no length. */
static double yoke_length(struct rm_machine const *machine, struct rm_machine_yoke const *yoke) {
    double length = is_thin(rm_lattice_element(machine->lattice, yoke->first)) ? 1 : 0;
    for (uint32_t i = yoke->first; i < yoke->end; ++i)
        length += is_piece(machine, yoke, i) ? rm_lattice_element(machine->lattice, i)->length_m : 0;
    return length;
}

/** `scale` times the errors of one piece. */
static enum rm_code set_piece(struct rm_machine *machine, struct rm_machine_yoke const *yoke, uint32_t element,
                              double scale, struct rm_error *error) {
    struct rm_element const *design = rm_lattice_element(machine->lattice, element);
    enum rm_code code = RM_OK;
    if (machine->config->errors.magnet_offset_m > 0 || machine->config->errors.magnet_roll_rad > 0)
        code = rm_twin_set_misalignment(machine->twin, element, scale * yoke->offset_m[0], scale * yoke->offset_m[1], 0,
                                        scale * yoke->roll_rad, error);
    if (code == RM_OK && yoke->sextupole != 0)
        code = rm_twin_set_polynom(machine->twin, element, RM_NORMAL, 2,
                                   design->polynom_b[2] * (1 + scale * yoke->sextupole), error);
    if (code == RM_OK && yoke->skew_per_m != 0)
        code = rm_twin_set_polynom(machine->twin, element, RM_SKEW, 1,
                                   design->polynom_a[1] + scale * yoke->skew_per_m / yoke_length(machine, yoke), error);
    return code;
}

static enum rm_code set_yokes(struct rm_machine *machine, double scale, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t y = 0; y < machine->yoke_count; ++y) {
        struct rm_machine_yoke const *yoke = &machine->yoke[y];
        for (uint32_t i = yoke->first; code == RM_OK && i < yoke->end; ++i)
            if (is_piece(machine, yoke, i))
                code = set_piece(machine, yoke, i, scale, error);
    }
    return code;
}

/** Where no orbit is found, it goes on from the last one by half the share. */
static enum rm_code grow_errors(struct rm_machine *machine, struct rm_error *reason) {
    double good = 0, share = FIRST_SHARE;
    while (good < 1) {
        double const scale = fmin(good + share, 1);
        enum rm_code code = set_yokes(machine, scale, reason);
        if (code != RM_OK)
            return code;
        code = rm_machine_steer(machine, reason);
        if (code == RM_OK)
            good = scale;
        else if ((share /= 2) < LEAST_SHARE)
            return code;
    }
    return rm_machine_steer(machine, reason);
}

enum rm_code rm_machine_misalign(struct rm_machine *machine, struct rm_error *error) {
    struct rm_ring_machine const *config = machine->config;
    if (!(config->errors.magnet_offset_m > 0 || config->errors.magnet_roll_rad > 0 || config->errors.sextupole > 0 ||
          config->errors.skew_per_m > 0))
        return RM_OK;
    struct rm_error reason;
    enum rm_code code = grow_errors(machine, &reason);
    if (code == RM_OK)
        code = rm_machine_keep_optics(machine, &reason);
    if (code == RM_OK)
        return RM_OK;
    return rm_fail(error, code,
                   "machine.errors: with seed %llu the lattice with its magnets' errors has no orbit (%s), expected "
                   "less magnet_offset_um, magnet_roll_mrad, sextupole or skew_per_m, more correctors to steer it, or "
                   "another seed",
                   (unsigned long long)config->seed, reason.text);
}
