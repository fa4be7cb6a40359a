// SPDX-License-Identifier: Apache-2.0
/** Makes sense of the key `machine` of a ring's file. */
#include "ring_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "lane_names.h"
#include "ring_resolve.h"

/** One number of a part of the machine. */
struct machine_key {
    char const *key;
    /** Offset of a double * in the part. */
    size_t from;
    /** Offset of a double in struct rm_ring_machine. */
    size_t to;
    /** From the key's unit. */
    double scale;
};

#define MACHINE_KEY(part, name, to, scale)                                                                             \
    { #name, offsetof(struct part, name), offsetof(struct rm_ring_machine, to), scale }

static struct machine_key const machine_keys[] = {
    MACHINE_KEY(rm_ring_file_machine, refresh_ms, refresh_s, 1e-3),
    MACHINE_KEY(rm_ring_file_machine, blend_ms, blend_s, 1e-3),
    MACHINE_KEY(rm_ring_file_machine, current_ma, current_ma, 1),
    MACHINE_KEY(rm_ring_file_machine, lifetime_h, lifetime_s, 3600),
    {0},
};

static struct machine_key const filter_keys[] = {
    MACHINE_KEY(rm_ring_file_machine_filter, delay_us, bpm_delay_s, 1e-6),
    MACHINE_KEY(rm_ring_file_machine_filter, bandwidth_hz, bpm_bandwidth_hz, 1),
    {0},
};

static struct machine_key const motion_keys[] = {
    MACHINE_KEY(rm_ring_file_machine_motion, momentum_aperture, momentum_aperture, 1),
    MACHINE_KEY(rm_ring_file_machine_motion, rf_fill_us, rf_fill_s, 1e-6),
    MACHINE_KEY(rm_ring_file_machine_motion, saturation_um, saturation_m, 1e-6),
    MACHINE_KEY(rm_ring_file_machine_motion, excitation_um, excitation_m, 1e-6),
    {0},
};

static struct machine_key const chamber_keys[] = {
    MACHINE_KEY(rm_ring_file_chamber, x_mm, chamber_m[0], 1e-3),
    MACHINE_KEY(rm_ring_file_chamber, y_mm, chamber_m[1], 1e-3),
    {0},
};

static struct machine_key const error_keys[] = {
    MACHINE_KEY(rm_ring_file_machine_errors, beta_beat, errors.beta_beat, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_gain, errors.bpm_gain, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_offset_um, errors.bpm_offset_m, 1e-6),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_roll_mrad, errors.bpm_roll_rad, 1e-3),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_crosstalk, errors.bpm_crosstalk, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, corrector_gain, errors.corrector_gain, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, corrector_roll_mrad, errors.corrector_roll_rad, 1e-3),
    MACHINE_KEY(rm_ring_file_machine_errors, magnet_offset_um, errors.magnet_offset_m, 1e-6),
    MACHINE_KEY(rm_ring_file_machine_errors, magnet_roll_mrad, errors.magnet_roll_rad, 1e-3),
    MACHINE_KEY(rm_ring_file_machine_errors, sextupole, errors.sextupole, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, skew_per_m, errors.skew_per_m, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_pincushion_per_mm2, errors.bpm_pincushion_per_m2, 1e6),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_inverted, errors.bpm_inverted, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_swapped, errors.bpm_swapped, 1),
    MACHINE_KEY(rm_ring_file_machine_errors, bpm_turn_shift, errors.bpm_turn_shift, 1),
    {0},
};

enum rm_code rm_resolve_machine_number(struct rm_resolve const *resolve, char const *key, double value) {
    char place[80];
    snprintf(place, sizeof place, "machine.%s", key);
    struct rm_yaml_key const *known = rm_yaml_key_at(&rm_ring_schema, place);
    if (rm_yaml_in_range(known, value))
        return RM_OK;
    return rm_resolve_fail_at(resolve, place, "found %g, expected %g to %g", value, known->min, known->max);
}

/** The numbers of a part. */
static enum rm_code resolve_numbers(struct rm_resolve *resolve, char const *part, void const *from,
                                    struct machine_key const *keys) {
    enum rm_code code = RM_OK;
    for (struct machine_key const *key = keys; key->key != NULL; ++key) {
        char name[60];
        double const value = **(double *const *)(void const *)((char const *)from + key->from);
        snprintf(name, sizeof name, "%s%s", part, key->key);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, name, value));
        *(double *)(void *)((char *)&resolve->config->machine + key->to) = value * key->scale;
    }
    return code;
}

/* ── which supplies ── */

static enum rm_code resolve_supplies(struct rm_resolve *resolve, char const *place, char const *text,
                                     struct rm_machine_group *to) {
    struct rm_ring_supplies const *supplies = &resolve->config->supplies;
    to->supply = calloc(supplies->supply_count + 1, sizeof *to->supply);
    if (to->supply == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the supplies", resolve->path);
    to->supply_count = rm_ring_choose_supplies(resolve->config, text, to->supply);
    if (to->supply_count != 0)
        return RM_OK;
    return rm_resolve_fail_at(
        resolve, place,
        "found \"%s\", which means none of the %u supplies, expected the names of chains, such as "
        "\"c*\", some of each, such as \"c*/1-4\", or names of supplies, such as \"sr/ps/ch_*\"",
        text, supplies->supply_count);
}

/** No supply drives two things. */
static enum rm_code check_free(struct rm_resolve *resolve, char const *place, struct rm_machine_group const *group) {
    struct rm_ring_machine const *machine = &resolve->config->machine;
    for (struct rm_machine_group const *other = machine->group; other != group; ++other)
        for (uint32_t o = 0; o < other->supply_count; ++o)
            for (uint32_t s = 0; s < group->supply_count; ++s)
                if (other->supply[o] == group->supply[s])
                    return rm_resolve_fail_at(
                        resolve, place, "means supplies that drive \"%s\" already, expected each to drive one element",
                        other->elements);
    return RM_OK;
}

static enum rm_code resolve_group(struct rm_resolve *resolve, char const *place, char const *elements,
                                  char const *supplies, struct rm_machine_group *to) {
    to->elements = strdup(elements);
    if (to->elements == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the machine", resolve->path);
    enum rm_code const code = resolve_supplies(resolve, place, supplies, to);
    return code == RM_OK ? check_free(resolve, place, to) : code;
}

static enum rm_code check_machine_room(struct rm_resolve *resolve) {
    struct rm_ring_file_machine const *from = resolve->file->machine;
    if (from->correctors_count + from->strengths_count <= RM_MACHINE_GROUPS_MAX)
        return RM_OK;
    return rm_resolve_fail_at(resolve, "machine.strengths",
                              "with the correctors there are %u groups, expected at most %d",
                              from->correctors_count + from->strengths_count, RM_MACHINE_GROUPS_MAX);
}

static enum rm_code resolve_correctors(struct rm_resolve *resolve) {
    struct rm_ring_file_machine const *from = resolve->file->machine;
    struct rm_ring_machine *machine = &resolve->config->machine;
    char place[60];
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < from->correctors_count; ++c) {
        struct rm_ring_file_correctors const *one = &from->correctors[c];
        struct rm_machine_group *to = &machine->group[machine->group_count++];
        *to = (struct rm_machine_group){.plane = one->plane == RM_RING_FILE_X ? 'x' : 'y',
                                        .per_unit = 1e-6 * one->urad_per_unit,
                                        .eddy_hz = *one->eddy_hz,
                                        .eddy2_hz = *one->eddy2_hz};
        snprintf(place, sizeof place, "correctors[%u].urad_per_unit", c);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, one->urad_per_unit));
        snprintf(place, sizeof place, "correctors[%u].eddy_hz", c);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, to->eddy_hz));
        snprintf(place, sizeof place, "correctors[%u].eddy2_hz", c);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, to->eddy2_hz));
        snprintf(place, sizeof place, "machine.correctors[%u].supplies", c);
        code = rm_code_first(code, resolve_group(resolve, place, one->elements, one->supplies, to));
    }
    return code;
}

static enum rm_machine_change change_of(struct rm_ring_file_strengths const *one) {
    static enum rm_machine_change const changes[] = {[RM_RING_FILE_GRADIENT] = RM_CHANGE_GRADIENT,
                                                     [RM_RING_FILE_SKEW] = RM_CHANGE_SKEW,
                                                     [RM_RING_FILE_SEXTUPOLE] = RM_CHANGE_SEXTUPOLE};
    return changes[*one->change];
}

static enum rm_code resolve_strengths(struct rm_resolve *resolve) {
    struct rm_ring_file_machine const *from = resolve->file->machine;
    struct rm_ring_machine *machine = &resolve->config->machine;
    char place[60];
    enum rm_code code = RM_OK;
    for (uint32_t s = 0; s < from->strengths_count; ++s) {
        struct rm_ring_file_strengths const *one = &from->strengths[s];
        struct rm_machine_group *to = &machine->group[machine->group_count++];
        *to = (struct rm_machine_group){.plane = 'q', .change = change_of(one), .per_unit = one->per_unit};
        snprintf(place, sizeof place, "strengths[%u].per_unit", s);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, one->per_unit));
        snprintf(place, sizeof place, "machine.strengths[%u].supplies", s);
        code = rm_code_first(code, resolve_group(resolve, place, one->elements, one->supplies, to));
    }
    return code;
}

static enum rm_code resolve_machine_groups(struct rm_resolve *resolve) {
    enum rm_code code = check_machine_room(resolve);
    if (code != RM_OK)
        return code;
    code = resolve_correctors(resolve);
    return rm_code_first(code, resolve_strengths(resolve));
}

static enum rm_code resolve_rf(struct rm_resolve *resolve) {
    struct rm_ring_file_rf const *from = resolve->file->machine->rf;
    struct rm_ring_machine *machine = &resolve->config->machine;
    struct rm_machine_group rf = {0};
    machine->rf_supply = -1;
    if (from == NULL)
        return RM_OK;
    machine->rf_hz_per_unit = *from->hz_per_unit;
    enum rm_code const range = rm_resolve_machine_number(resolve, "rf.hz_per_unit", machine->rf_hz_per_unit);
    enum rm_code code = resolve_supplies(resolve, "machine.rf.supply", from->supply, &rf);
    if (code == RM_OK && rf.supply_count != 1)
        code = rm_resolve_fail_at(resolve, "machine.rf.supply",
                                  "found \"%s\", which means %u supplies, expected one, such as rf/1", from->supply,
                                  rf.supply_count);
    if (code == RM_OK)
        machine->rf_supply = (int32_t)rf.supply[0];
    free(rf.supply);
    return rm_code_first(range, code);
}

/* ── the chamber ── */

static enum rm_code resolve_aperture(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_aperture const *from = &resolve->file->machine->chamber->apertures[index];
    struct rm_ring_aperture *to = &resolve->config->machine.aperture[index];
    double const *const given[2] = {from->x_mm, from->y_mm};
    static char const *const keys[2] = {"x_mm", "y_mm"};
    enum rm_code code = RM_OK;
    char place[60];
    to->elements = strdup(from->elements);
    if (to->elements == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the machine", resolve->path);
    for (int plane = 0; plane < 2; ++plane) {
        if (given[plane] == NULL)
            continue;
        to->half_m[plane] = 1e-3 * *given[plane];
        snprintf(place, sizeof place, "chamber.apertures[%u].%s", index, keys[plane]);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, *given[plane]));
    }
    return code;
}

static enum rm_code resolve_chamber(struct rm_resolve *resolve) {
    struct rm_ring_file_chamber const *from = resolve->file->machine->chamber;
    struct rm_ring_machine *machine = &resolve->config->machine;
    enum rm_code code = resolve_numbers(resolve, "chamber.", from, chamber_keys);
    machine->aperture = calloc(from->apertures_count + 1ul, sizeof *machine->aperture);
    if (machine->aperture == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the machine", resolve->path);
    for (uint32_t a = 0; a < from->apertures_count; ++a) {
        machine->aperture_count = a + 1;
        code = rm_code_first(code, resolve_aperture(resolve, a));
    }
    return code;
}

/* ── BPMs ── */

/** Whether a BPM's datagrams tell of lane `lane`. */
static bool format_tells_lane(struct rm_format const *format, uint32_t lane) {
    if (format->layout == NULL)
        return true;
    struct rm_layout_description const *described = rm_layout_described(format->layout);
    for (uint32_t l = 0; l < described->lane_count; ++l)
        if (rm_virtual_lane_find(RM_KIND_BPM, described->lane[l].name) == lane)
            return true;
    return false;
}

static void add_bpm(struct rm_ring_machine *machine, uint32_t instrument, uint32_t lane) {
    machine->bpm_instrument[machine->bpm_count] = instrument;
    machine->bpm_lane[machine->bpm_count++] = lane;
}

/** An electronics reads two BPMs; in a format that names one, one. */
static enum rm_code count_bpms(struct rm_resolve *resolve) {
    struct rm_ring_machine *machine = &resolve->config->machine;
    uint32_t const second = rm_virtual_lane_find(RM_KIND_BPM, "x2");
    machine->bpm_instrument = calloc(2 * (size_t)resolve->config->instrument_count + 1, sizeof(uint32_t));
    machine->bpm_lane = calloc(2 * (size_t)resolve->config->instrument_count + 1, sizeof(uint32_t));
    if (machine->bpm_instrument == NULL || machine->bpm_lane == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the BPMs", resolve->path);
    for (uint32_t g = 0; g < resolve->config->group_count; ++g) {
        struct rm_virtual_group const *group = &resolve->config->groups[g];
        for (uint32_t i = group->first; i < group->first + group->count; ++i) {
            if (resolve->config->instruments[i].kind != RM_KIND_BPM)
                continue;
            add_bpm(machine, i, 0);
            if (format_tells_lane(group->format, second))
                add_bpm(machine, i, second);
        }
    }
    if (machine->bpm_count != 0)
        return RM_OK;
    return rm_resolve_fail_at(resolve, "machine", "no instrument would show it, expected instruments of kind bpm");
}

enum rm_code rm_resolve_machine(struct rm_resolve *resolve) {
    struct rm_ring_file_machine const *from = resolve->file->machine;
    struct rm_ring_machine *machine = &resolve->config->machine;
    if (from == NULL)
        return RM_OK;
    machine->present = true;
    machine->seed = from->seed == NULL ? resolve->config->beam.seed : *from->seed;
    machine->bpms = strdup(from->bpms);
    machine->supply_count = resolve->config->supplies.supply_count;
    machine->step_turns = *from->step_turns;
    if (machine->bpms == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the machine", resolve->path);
    enum rm_code code = rm_resolve_machine_number(resolve, "step_turns", machine->step_turns);
    code = rm_code_first(code, resolve_numbers(resolve, "", from, machine_keys));
    code = rm_code_first(code, resolve_numbers(resolve, "filter.", from->filter, filter_keys));
    code = rm_code_first(code, resolve_numbers(resolve, "motion.", from->motion, motion_keys));
    code = rm_code_first(code, resolve_numbers(resolve, "errors.", from->errors, error_keys));
    enum rm_code (*const parts[])(struct rm_resolve *) = {resolve_machine_groups, resolve_rf, resolve_chamber,
                                                          rm_resolve_disturbances, count_bpms};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p)
        code = rm_code_first(code, parts[p](resolve));
    return rm_code_first(code, rm_resolve_lattice(resolve, from->lattice, &machine->lattice));
}

void rm_ring_machine_free(struct rm_ring_machine *machine) {
    for (uint32_t g = 0; g < machine->group_count; ++g) {
        free(machine->group[g].elements);
        free(machine->group[g].supply);
    }
    for (uint32_t a = 0; a < machine->aperture_count; ++a)
        free(machine->aperture[a].elements);
    free(machine->aperture);
    free(machine->lattice);
    free(machine->bpms);
    free(machine->bpm_instrument);
    free(machine->bpm_lane);
    free(machine->disturbances.insertion_at);
    *machine = (struct rm_ring_machine){0};
}
