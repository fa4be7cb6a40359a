// SPDX-License-Identifier: Apache-2.0
/** Where everything stands in the lattice: BPMs, correctors, magnets, and what each of them kicks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"
#include "noise.h"

enum { KEY_LEVER_GAIN = 1 << 20, KEY_LEVER_ROLL = 2 << 20, KEY_MAINS = 3 << 20, KEY_STEPS = 4 << 20 };

static uint64_t lattice_key_of(struct rm_machine const *machine, uint64_t what) {
    return rm_noise_u64(machine->config->seed) ^ rm_noise_u64(what);
}

uint32_t *rm_machine_elements(struct rm_lattice const *lattice, char const *pattern, enum rm_element_kind kind,
                              uint32_t *count) {
    *count = rm_lattice_find(lattice, pattern, kind, NULL, 0);
    uint32_t *found = calloc(*count + 1, sizeof *found);
    if (found != NULL)
        rm_lattice_find(lattice, pattern, kind, found, *count);
    return found;
}

/** Elements of several patterns, one after the other, with blanks between: one that two of them mean is there twice. */
static uint32_t *find_in_turn(struct rm_lattice const *lattice, char const *patterns, uint32_t *count) {
    char *words = strdup(patterns), *rest = words;
    uint32_t *all = words == NULL ? NULL : calloc(1, sizeof *all);
    *count = 0;
    for (char *word; all != NULL && (word = strtok_r(rest, " ", &rest)) != NULL;) {
        uint32_t found;
        uint32_t *some = rm_machine_elements(lattice, word, RM_ELEMENT_KINDS, &found);
        uint32_t *more = some == NULL ? NULL : realloc(all, (*count + found + 1) * sizeof *all);
        if (more == NULL) {
            free(all);
            all = NULL;
        } else {
            all = more;
            memcpy(all + *count, some, found * sizeof *all);
            *count += found;
        }
        free(some);
    }
    free(words);
    return all;
}

static bool takes_kick(struct rm_element const *e) {
    return e->pass == RM_PASS_CORRECTOR ||
           ((e->pass == RM_PASS_STR_MPOLE || e->pass == RM_PASS_BND_MPOLE || e->pass == RM_PASS_BND_STR_MPOLE) &&
            e->length_m != 0);
}

static int by_element_index(void const *a, void const *b) {
    uint32_t const x = *(uint32_t const *)a, y = *(uint32_t const *)b;
    return (x > y) - (x < y);
}

/** Of the elements that the instruments read, in their order: each once, ascending, and which of these each was. */
static bool order_bpms(struct rm_machine *machine, uint32_t const *read, uint32_t count) {
    uint32_t *element = machine->bpm_element = calloc(count + 1, sizeof *element);
    machine->bpm_of = calloc(count + 1, sizeof *machine->bpm_of);
    if (element == NULL || machine->bpm_of == NULL)
        return false;
    memcpy(element, read, count * sizeof *element);
    qsort(element, count, sizeof *element, by_element_index);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (unique == 0 || element[unique - 1] != element[i])
            element[unique++] = element[i];
    machine->bpm_count = unique;
    for (uint32_t i = 0; i < count; ++i)
        machine->bpm_of[i] =
            (uint32_t)((uint32_t *)bsearch(&read[i], element, unique, sizeof *element, by_element_index) - element);
    return true;
}

static enum rm_code find_lattice_bpms(struct rm_machine *machine, struct rm_error *error) {
    struct rm_ring_machine const *config = machine->config;
    uint32_t count;
    uint32_t *read = find_in_turn(machine->lattice, config->bpms, &count);
    bool const ordered = read != NULL && order_bpms(machine, read, count);
    free(read);
    if (!ordered)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the BPMs of a lattice");
    if (count != config->bpm_count)
        return rm_fail(error, RM_E_CONFIG,
                       "machine.bpms: \"%s\" are %u elements of %s, expected as many as the instruments have BPMs: %u",
                       config->bpms, count, config->lattice, config->bpm_count);
    return RM_OK;
}

/** The steerer of an element and plane, which becomes one if it is none yet. */
static uint32_t steerer_of(struct rm_machine *machine, uint32_t element, enum rm_plane plane) {
    for (uint32_t s = machine->steerer_count; s-- > 0;)
        if (machine->steerer[s].element == element && machine->steerer[s].plane == plane)
            return s;
    machine->steerer[machine->steerer_count] = (struct rm_steerer){element, plane};
    return machine->steerer_count++;
}

static void begin_column(struct rm_machine *machine) {
    machine->column[machine->column_count++] = (struct rm_machine_column){.first = machine->term_count};
}

/** A kick that the last column makes. */
static void add_term(struct rm_machine *machine, uint32_t element, enum rm_plane plane, double rad) {
    machine->term[machine->term_count++] = (struct rm_machine_term){steerer_of(machine, element, plane), rad};
    ++machine->column[machine->column_count - 1].count;
}

static void add_lever(struct rm_machine *machine, uint32_t group, uint32_t supply, uint32_t element) {
    struct rm_ring_machine const *config = machine->config;
    struct rm_machine_group const *of = &config->group[group];
    uint32_t const l = machine->lever_count;
    double const gain =
        1 + config->errors.corrector_gain * rm_machine_draw(lattice_key_of(machine, KEY_LEVER_GAIN + l));
    double const roll =
        config->errors.corrector_roll_rad * rm_machine_draw(lattice_key_of(machine, KEY_LEVER_ROLL + l));
    double const along = of->per_unit * gain * cos(roll), across = of->per_unit * gain * sin(roll);
    machine->lever[machine->lever_count++] = (struct rm_machine_lever){.supply = supply, .group = group};
    begin_column(machine);
    add_term(machine, element, RM_HORIZONTAL, of->plane == 'x' ? along : -across);
    add_term(machine, element, RM_VERTICAL, of->plane == 'x' ? across : along);
}

static enum rm_code count_group(struct rm_machine const *machine, uint32_t group, uint32_t count,
                                struct rm_error *error) {
    struct rm_machine_group const *of = &machine->config->group[group];
    if (count == of->supply_count)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "machine: \"%s\" are %u elements of %s, expected one for each of the group's %u supplies",
                   of->elements, count, machine->config->lattice, of->supply_count);
}

static enum rm_code add_correctors(struct rm_machine *machine, uint32_t group, struct rm_error *error) {
    struct rm_machine_group const *of = &machine->config->group[group];
    uint32_t count;
    uint32_t *element = rm_machine_elements(machine->lattice, of->elements, RM_ELEMENT_KINDS, &count);
    if (element == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the correctors of a lattice");
    enum rm_code code = count_group(machine, group, count, error);
    for (uint32_t i = 0; code == RM_OK && i < count; ++i) {
        struct rm_element const *e = rm_lattice_element(machine->lattice, element[i]);
        if (takes_kick(e))
            add_lever(machine, group, of->supply[i], element[i]);
        else
            code = rm_fail(error, RM_E_CONFIG, "machine.correctors: \"%s\" means %s too, which takes no kick",
                           of->elements, e->name);
    }
    free(element);
    return code;
}

static bool has_gradient(struct rm_element const *e) {
    return e->kind == RM_ELEMENT_QUADRUPOLE && e->polynom_b != NULL && e->max_order >= 1 && e->polynom_b[1] != 0;
}

/** The knob of a magnet's name. */
static uint32_t knob_of(struct rm_machine *machine, char const *name) {
    for (uint32_t k = machine->knob_count; k-- > RM_MACHINE_KNOBS_FIRST;)
        if (strcmp(machine->knob_name[k], name) == 0)
            return k;
    machine->knob_name[machine->knob_count] = name;
    return machine->knob_count++;
}

static void find_magnets(struct rm_machine *machine) {
    static char const *const names[RM_MACHINE_KNOBS_FIRST] = {
        "mains", "ground", "steps", "insertion", "topup", "beam", "rf_voltage", "rf_phase", "growth_x", "growth_y"};
    for (uint32_t k = 0; k < RM_MACHINE_KNOBS_FIRST; ++k) {
        machine->knob_name[k] = names[k];
        atomic_store_explicit(&machine->knob[k], k <= RM_MACHINE_RF_VOLTAGE ? 1 : 0, memory_order_relaxed);
    }
    machine->knob_count = RM_MACHINE_KNOBS_FIRST;
    for (uint32_t i = 0; i < rm_lattice_count(machine->lattice); ++i) {
        struct rm_element const *e = rm_lattice_element(machine->lattice, i);
        if (has_gradient(e))
            machine->magnet[machine->magnet_count++] =
                (struct rm_machine_magnet){i, knob_of(machine, e->name), e->polynom_b[1], 0};
    }
    machine->quadrupole_count = machine->magnet_count;
}

/** A line shakes all quadrupoles, each by its own share; rm_machine_scale_mains finds how much. */
static void add_mains(struct rm_machine *machine) {
    machine->mains_column = machine->column_count;
    for (uint32_t line = 0; line < machine->config->disturbances.mains_count; ++line) {
        begin_column(machine);
        for (uint32_t q = 0; q < machine->quadrupole_count; ++q) {
            uint64_t const key = lattice_key_of(machine, KEY_MAINS + ((uint64_t)line << 32) + 2 * q);
            add_term(machine, machine->magnet[q].element, RM_HORIZONTAL, 1e-6 * rm_machine_draw(key));
            add_term(machine, machine->magnet[q].element, RM_VERTICAL, 1e-6 * rm_machine_draw(key + 1));
        }
    }
}

/** Steps come from a few dipoles; in a lattice without any, from quadrupoles. */
static enum rm_code add_steppers(struct rm_machine *machine, struct rm_error *error) {
    uint32_t count;
    uint32_t *dipole = rm_machine_elements(machine->lattice, NULL, RM_ELEMENT_DIPOLE, &count);
    if (dipole == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the dipoles of a lattice");
    machine->step_column = machine->column_count;
    for (uint32_t s = 0; s < RM_MACHINE_STEPPERS; ++s) {
        uint64_t const key = lattice_key_of(machine, KEY_STEPS + s);
        bool const bends = count != 0 && takes_kick(rm_lattice_element(machine->lattice, dipole[key % count]));
        begin_column(machine);
        if (bends || machine->quadrupole_count != 0)
            add_term(machine, bends ? dipole[key % count] : machine->magnet[key % machine->quadrupole_count].element,
                     s % 2 == 0 ? RM_HORIZONTAL : RM_VERTICAL, 1);
    }
    free(dipole);
    return RM_OK;
}

/** The element nearest to `at` that takes a kick: an insertion device's ends are in no lattice. */
static uint32_t nearest_kicked_element(struct rm_lattice const *lattice, uint32_t at) {
    uint32_t const count = rm_lattice_count(lattice);
    for (uint32_t away = 0; away < count; ++away) {
        if (at + away < count && takes_kick(rm_lattice_element(lattice, at + away)))
            return at + away;
        if (away <= at && takes_kick(rm_lattice_element(lattice, at - away)))
            return at - away;
    }
    return count;
}

static enum rm_code add_insertion(struct rm_machine *machine, struct rm_error *error) {
    char const *name = machine->config->disturbances.insertion_at;
    uint32_t at;
    machine->insertion_column = machine->column_count;
    begin_column(machine);
    if (name == NULL)
        return RM_OK;
    if (rm_lattice_find(machine->lattice, name, RM_ELEMENT_KINDS, &at, 1) == 0)
        return rm_fail(error, RM_E_CONFIG, "machine.disturbances.insertion.at: %s has no element \"%s\"",
                       machine->config->lattice, name);
    uint32_t const element = nearest_kicked_element(machine->lattice, at);
    if (element == rm_lattice_count(machine->lattice))
        return rm_fail(error, RM_E_CONFIG, "%s has no element that takes a kick", machine->config->lattice);
    add_term(machine, element, RM_HORIZONTAL, 1);
    add_term(machine, element, RM_VERTICAL, -0.5);
    return RM_OK;
}

static void add_topup(struct rm_machine *machine) {
    uint32_t const element = nearest_kicked_element(machine->lattice, 0);
    machine->topup_column = machine->column_count;
    begin_column(machine);
    if (element != rm_lattice_count(machine->lattice))
        add_term(machine, element, RM_HORIZONTAL, 1);
}

/** The integrated gradient of an element that moves with the ground: of a quadrupole with its error, of a dipole with a
 * gradient or a reverse bend as it is; 0 of all else. A dipole's field is the same beside it. */
static double ground_gradient(struct rm_machine *machine, uint32_t element) {
    struct rm_element const *e = rm_lattice_element(machine->lattice, element);
    struct rm_machine_magnet const *magnet = rm_machine_magnet_at(machine, element);
    if (magnet != NULL)
        return magnet->gradient * e->length_m;
    bool const bends = e->kind == RM_ELEMENT_DIPOLE && takes_kick(e) && e->polynom_b != NULL && e->max_order >= 1;
    return bends ? e->polynom_b[1] * e->length_m : 0;
}

uint32_t rm_machine_magnet_end(struct rm_lattice const *lattice, uint32_t first) {
    enum rm_element_kind const kind = rm_lattice_element(lattice, first)->kind;
    uint32_t i = first;
    while (++i < rm_lattice_count(lattice)) {
        struct rm_element const *e = rm_lattice_element(lattice, i);
        if (e->length_m != 0 && e->kind != kind)
            break;
    }
    return i;
}

/** One plane of a magnet that is displaced: each piece kicks by its gradient times its length. */
static void add_moved(struct rm_machine *machine, uint32_t first, uint32_t end, enum rm_plane plane) {
    begin_column(machine);
    for (uint32_t i = first; i < end; ++i) {
        double const per_m = ground_gradient(machine, i);
        if (per_m != 0)
            add_term(machine, i, plane, plane == RM_HORIZONTAL ? per_m : -per_m);
    }
}

/** Quadrupoles and dipoles move each by itself, all pieces of one together. */
static void add_ground(struct rm_machine *machine) {
    uint32_t const count = rm_lattice_count(machine->lattice);
    machine->fast_count = machine->ground_column = machine->column_count;
    for (uint32_t first = 0, end; first < count; first = end) {
        struct rm_element const *e = rm_lattice_element(machine->lattice, first);
        end = first + 1;
        if ((e->kind != RM_ELEMENT_QUADRUPOLE && e->kind != RM_ELEMENT_DIPOLE) || e->length_m == 0)
            continue;
        end = rm_machine_magnet_end(machine->lattice, first);
        double moves = 0;
        for (uint32_t i = first; i < end; ++i)
            moves += fabs(ground_gradient(machine, i));
        if (moves == 0)
            continue;
        add_moved(machine, first, end, RM_HORIZONTAL);
        add_moved(machine, first, end, RM_VERTICAL);
    }
}

/** Only of elements that exist is memory needed. */
static bool machine_lattice_allocate(struct rm_machine *machine) {
    uint32_t const elements = rm_lattice_count(machine->lattice), supplies = machine->config->supply_count;
    uint32_t const columns = supplies + RM_MACHINE_MAINS_MAX + RM_MACHINE_STEPPERS + 3 + 2 * elements;
    uint32_t const terms = 2 * supplies + (RM_MACHINE_MAINS_MAX + 1) * 2 * elements + RM_MACHINE_STEPPERS + 4;
    machine->steerer = calloc(2 * (size_t)elements, sizeof *machine->steerer);
    machine->column = calloc(columns, sizeof *machine->column);
    machine->term = calloc(terms, sizeof *machine->term);
    machine->lever = calloc(supplies + 1, sizeof *machine->lever);
    machine->knob_name = calloc(elements + RM_MACHINE_KNOBS_FIRST, sizeof *machine->knob_name);
    machine->knob = calloc(elements + RM_MACHINE_KNOBS_FIRST, sizeof *machine->knob);
    machine->base_kick = calloc(elements, sizeof *machine->base_kick);
    machine->kick = calloc(elements, sizeof *machine->kick);
    return machine->steerer != NULL && machine->column != NULL && machine->term != NULL && machine->lever != NULL &&
           rm_machine_strengths_allocate(machine) && machine->knob_name != NULL && machine->knob != NULL &&
           machine->base_kick != NULL && machine->kick != NULL;
}

static enum rm_code add_groups(struct rm_machine *machine, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t g = 0; code == RM_OK && g < machine->config->group_count; ++g)
        if (machine->config->group[g].plane != 'q')
            code = add_correctors(machine, g, error);
    if (code == RM_OK)
        code = rm_machine_strengths_find(machine, error);
    machine->rf_column = -1;
    if (code != RM_OK || machine->config->rf_supply < 0)
        return code;
    machine->rf_column = (int32_t)machine->column_count;
    machine->lever[machine->lever_count++] =
        (struct rm_machine_lever){.supply = (uint32_t)machine->config->rf_supply, .group = RM_MACHINE_GROUPS_MAX};
    begin_column(machine);
    return RM_OK;
}

enum rm_code rm_machine_find(struct rm_machine *machine, struct rm_error *error) {
    if (!machine_lattice_allocate(machine))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the machine of %s", machine->config->lattice);
    for (uint32_t i = 0; i < rm_lattice_count(machine->lattice); ++i)
        memcpy(machine->base_kick[i], rm_lattice_element(machine->lattice, i)->kick_angle_rad,
               sizeof machine->base_kick[i]);
    find_magnets(machine);
    enum rm_code code = find_lattice_bpms(machine, error);
    if (code == RM_OK)
        code = add_groups(machine, error);
    if (code != RM_OK)
        return code;
    add_mains(machine);
    code = add_steppers(machine, error);
    if (code == RM_OK)
        code = add_insertion(machine, error);
    if (code != RM_OK)
        return code;
    add_topup(machine);
    add_ground(machine);
    return RM_OK;
}
