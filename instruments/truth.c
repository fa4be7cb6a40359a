// SPDX-License-Identifier: Apache-2.0
#include "truth.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "chains.h"
#include "truth_magnets.h"

/** Where it is written, and whether an object of the list has been. */
struct truth {
    struct rm_ring_config const *ring;
    struct rm_machine const *machine;
    FILE *file;
    bool another;
};

static void write_text(struct truth const *truth, char const *key, char const *text) {
    fprintf(truth->file, "\"%s\": ", key);
    rm_json_text(truth->file, text);
}

static void write_number(struct truth const *truth, char const *key, double value) {
    fprintf(truth->file, ", \"%s\": %.17g", key, value);
}

static void begin_list(struct truth *truth, char const *key) {
    fprintf(truth->file, "\"%s\": [", key);
    truth->another = false;
}

static void begin_object(struct truth *truth, char const *name) {
    fputs(truth->another ? ",\n{" : "\n{", truth->file);
    write_text(truth, "name", name);
    truth->another = true;
}

static char const *element_name(struct truth const *truth, uint32_t element) {
    return rm_lattice_element(truth->machine->lattice, element)->name;
}

/* ── magnets ── */

static void write_magnets(struct truth *truth) {
    begin_list(truth, "magnets");
    for (uint32_t y = 0; y < truth->machine->yoke_count; ++y) {
        struct rm_machine_yoke const *yoke = &truth->machine->yoke[y];
        begin_object(truth, element_name(truth, yoke->first));
        write_number(truth, "first", yoke->first);
        write_number(truth, "end", yoke->end);
        write_number(truth, "dx_m", yoke->offset_m[0]);
        write_number(truth, "dy_m", yoke->offset_m[1]);
        write_number(truth, "roll_rad", yoke->roll_rad);
        write_number(truth, "sextupole", yoke->sextupole);
        write_number(truth, "skew_per_m", yoke->skew_per_m);
        fputc('}', truth->file);
    }
    fputs("],\n", truth->file);
    begin_list(truth, "gradients");
    for (uint32_t q = 0; q < truth->machine->quadrupole_count; ++q) {
        struct rm_machine_magnet const *magnet = &truth->machine->magnet[q];
        struct rm_element const *design = rm_lattice_element(truth->machine->lattice, magnet->element);
        begin_object(truth, design->name);
        write_number(truth, "element", magnet->element);
        write_number(truth, "relative", magnet->gradient / design->polynom_b[1] - 1);
        fputc('}', truth->file);
    }
    fputs("],\n", truth->file);
}

/* ── correctors ── */

static void write_steering(struct truth *truth) {
    struct rm_machine const *machine = truth->machine;
    begin_list(truth, "steering");
    for (uint32_t e = 0; e < rm_lattice_count(machine->lattice); ++e) {
        double const *design = rm_lattice_element(machine->lattice, e)->kick_angle_rad;
        double const x = machine->base_kick[e][0] - design[0], y = machine->base_kick[e][1] - design[1];
        if (x == 0 && y == 0)
            continue;
        begin_object(truth, element_name(truth, e));
        write_number(truth, "element", e);
        write_number(truth, "x_rad", x);
        write_number(truth, "y_rad", y);
        fputc('}', truth->file);
    }
    fputs("],\n", truth->file);
}

static void write_supply(struct truth const *truth, uint32_t supply) {
    struct rm_ring_supplies const *supplies = &truth->ring->supplies;
    uint32_t chain = 0;
    while (chain + 1 < supplies->chain_count && supplies->chains[chain + 1].first <= supply)
        ++chain;
    write_text(truth, "chain", supplies->chains[chain].name);
    write_number(truth, "supply", supply - supplies->chains[chain].first + 1);
}

static void write_correctors(struct truth *truth) {
    struct rm_machine const *machine = truth->machine;
    begin_list(truth, "correctors");
    for (uint32_t l = 0; l < machine->lever_count; ++l) {
        struct rm_machine_term const *term = &machine->term[machine->column[l].first];
        if ((int32_t)l == machine->rf_column)
            continue;
        uint32_t const element = machine->steerer[term->steerer].element;
        begin_object(truth, element_name(truth, element));
        write_number(truth, "element", element);
        fputs(", ", truth->file);
        write_supply(truth, machine->lever[l].supply);
        write_number(truth, "x_rad_per_unit", term[0].rad);
        write_number(truth, "y_rad_per_unit", term[1].rad);
        fputc('}', truth->file);
    }
    fputs("],\n", truth->file);
}

/* ── supplies of magnets ── */

static void write_pieces(struct truth const *truth, struct rm_machine_strength const *strength) {
    fputs(", \"elements\": [", truth->file);
    for (uint32_t p = 0; p < strength->count; ++p)
        fprintf(truth->file, "%s%u", p == 0 ? "" : ", ", rm_truth_piece_element(truth->machine, strength, p));
    fputs("], ", truth->file);
}

/** The error of the field that the supply changes, in the terms of its change. */
static double field_error(struct rm_machine const *machine, struct rm_machine_strength const *strength,
                          struct rm_machine_yoke const *yoke) {
    if (strength->change != RM_CHANGE_GRADIENT)
        return yoke == NULL ? 0 : strength->change == RM_CHANGE_SKEW ? yoke->skew_per_m : yoke->sextupole;
    struct rm_machine_magnet const *magnet = &machine->magnet[machine->piece[strength->first]];
    return magnet->gradient / rm_lattice_element(machine->lattice, magnet->element)->polynom_b[1] - 1;
}

static void write_strengths(struct truth *truth) {
    static char const *const changes[RM_MACHINE_CHANGES] = {
        [RM_CHANGE_GRADIENT] = "gradient", [RM_CHANGE_SKEW] = "skew", [RM_CHANGE_SEXTUPOLE] = "sextupole"};
    struct rm_machine const *machine = truth->machine;
    begin_list(truth, "strengths");
    for (uint32_t s = 0; s < machine->strength_count; ++s) {
        struct rm_machine_strength const *strength = &machine->strength[s];
        uint32_t const element = rm_truth_piece_element(machine, strength, 0);
        struct rm_machine_yoke const *yoke = rm_truth_yoke_of(machine, element);
        begin_object(truth, element_name(truth, element));
        write_pieces(truth, strength);
        write_supply(truth, strength->supply);
        fputs(", ", truth->file);
        write_text(truth, "change", changes[strength->change]);
        write_number(truth, "per_unit", strength->per_unit);
        write_number(truth, "error", field_error(machine, strength, yoke));
        write_number(truth, "dx_m", yoke == NULL ? 0 : yoke->offset_m[0]);
        write_number(truth, "dy_m", yoke == NULL ? 0 : yoke->offset_m[1]);
        write_number(truth, "roll_rad", yoke == NULL ? 0 : yoke->roll_rad);
        fputc('}', truth->file);
    }
    fputs("],\n", truth->file);
}

/* ── BPMs ── */

/** What the BPM reads where the beam goes through the centre of a magnet. */
static void write_centre(struct truth *truth, uint32_t bpm, struct rm_machine_yoke const *yoke, char const *magnet,
                         char const *x, char const *y) {
    double x_nm, y_nm;
    rm_machine_see(truth->machine, bpm, yoke->offset_m[0], yoke->offset_m[1], &x_nm, &y_nm);
    fputs(", ", truth->file);
    write_text(truth, magnet, element_name(truth, yoke->first));
    write_number(truth, x, 1e-9 * x_nm);
    write_number(truth, y, 1e-9 * y_nm);
}

static void write_aligned_magnet(struct truth *truth, uint32_t bpm, uint32_t element) {
    struct rm_machine_yoke const *yoke = rm_truth_aligned_magnet(truth->machine, element);
    if (yoke == NULL)
        return;
    enum rm_element_kind const kind = rm_lattice_element(truth->machine->lattice, yoke->first)->kind;
    write_centre(truth, bpm, yoke, "magnet", "magnet_x_m", "magnet_y_m");
    fputs(", ", truth->file);
    write_text(truth, "kind",
               kind == RM_ELEMENT_QUADRUPOLE ? "quadrupole"
               : kind == RM_ELEMENT_DIPOLE   ? "bend"
                                             : "sextupole");
}

static void write_machine_bpm(struct truth *truth, uint32_t bpm) {
    struct rm_machine const *machine = truth->machine;
    struct rm_machine_bpm const *of = &machine->bpm[machine->bpm_of[bpm]];
    uint32_t const element = machine->bpm_element[machine->bpm_of[bpm]];
    begin_object(truth, element_name(truth, element));
    write_number(truth, "element", element);
    write_number(truth, "xx", of->m[0]);
    write_number(truth, "xy", of->m[1]);
    write_number(truth, "yx", of->m[2]);
    write_number(truth, "yy", of->m[3]);
    write_number(truth, "offset_x_m", of->offset_m[0]);
    write_number(truth, "offset_y_m", of->offset_m[1]);
    write_number(truth, "pincushion_per_m2", of->pincushion_per_m2);
    struct rm_machine_yoke const *yoke = rm_truth_nearest_quadrupole(machine, element);
    if (yoke != NULL)
        write_centre(truth, bpm, yoke, "quadrupole", "centre_x_m", "centre_y_m");
    write_aligned_magnet(truth, bpm, element);
}

static void write_electronics(struct truth *truth, uint32_t instrument, uint32_t lane) {
    struct rm_ring_config const *ring = truth->ring;
    struct rm_readout_config readout = {0};
    for (uint32_t r = 0; r < ring->readout_count; ++r)
        if (ring->readouts[r].instrument == instrument && ring->readouts[r].lane == lane)
            readout = ring->readouts[r];
    fputs(", ", truth->file);
    write_text(truth, "instrument", ring->instruments[instrument].name);
    fprintf(truth->file,
            ", \"lane\": %u, \"inverted_x\": %s, \"inverted_y\": %s, \"swapped\": %s, \"turn_shift\": %lld}", lane,
            (readout.inverted & RM_READOUT_X) != 0 ? "true" : "false",
            (readout.inverted & RM_READOUT_Y) != 0 ? "true" : "false", readout.swapped ? "true" : "false",
            (long long)ring->instruments[instrument].drawn_shift_turns);
}

static void write_bpms(struct truth *truth) {
    struct rm_ring_config const *ring = truth->ring;
    begin_list(truth, "bpms");
    for (uint32_t b = 0; truth->machine != NULL && b < ring->machine.bpm_count; ++b) {
        write_machine_bpm(truth, b);
        write_electronics(truth, ring->machine.bpm_instrument[b], ring->machine.bpm_lane[b]);
    }
    for (uint32_t r = 0; truth->machine == NULL && r < ring->readout_count; ++r) {
        begin_object(truth, ring->instruments[ring->readouts[r].instrument].name);
        write_electronics(truth, ring->readouts[r].instrument, ring->readouts[r].lane);
    }
    fputs("]", truth->file);
}

/* ── supplies ── */

static void write_supply_draws(struct truth *truth, uint32_t index, struct rm_supply const *supply) {
    if (supply->tick_s == 0 && supply->config->ripple_count == 0)
        return;
    fputs(truth->another ? ",\n{" : "\n{", truth->file);
    truth->another = true;
    write_supply(truth, index);
    write_number(truth, "tick_s", supply->tick_s);
    write_number(truth, "tick_first_s", supply->tick_first);
    fputs(", \"ripple_phase_rad\": [", truth->file);
    for (uint32_t r = 0; r < supply->config->ripple_count; ++r)
        fprintf(truth->file, "%s%.17g", r == 0 ? "" : ", ", supply->phase[r]);
    fputs("]}", truth->file);
}

/** They are drawn when they are made: so they are made once more, without anything to count. */
static enum rm_code write_supplies(struct truth *truth, struct rm_error *error) {
    struct rm_ring_supplies const *config = &truth->ring->supplies;
    struct rm_chains chains;
    rm_counter **counters = calloc(config->chain_count + 1, sizeof(rm_counter *));
    if (counters == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u supplies", config->supply_count);
    enum rm_code const code = rm_chains_make(config, truth->ring->beam.seed, counters, 0, 1, &chains, error);
    begin_list(truth, "supplies");
    for (uint32_t s = 0; code == RM_OK && s < config->supply_count; ++s)
        write_supply_draws(truth, s, &chains.supply[s]);
    fputs("]", truth->file);
    if (code == RM_OK)
        rm_chains_free(&chains);
    free((void *)counters);
    return code;
}

/* ── all of it ── */

static void write_mains(struct truth *truth) {
    fputs(",\n\"mains\": [", truth->file);
    for (uint32_t m = 0; m < truth->machine->config->disturbances.mains_count; ++m)
        fprintf(truth->file, "%s\n{\"hz\": %.17g, \"phase_rad\": %.17g}", m == 0 ? "" : ",",
                truth->machine->config->disturbances.mains[m].hz, truth->machine->events.mains_phase[m]);
    fputs("]", truth->file);
}

enum rm_code rm_truth_write(struct rm_ring_config const *ring, struct rm_machine const *machine, char const *path,
                            struct rm_error *error) {
    struct truth truth = {.ring = ring, .machine = machine, .file = fopen(path, "w")};
    if (truth.file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "--truth: cannot write \"%s\": %s", path, strerror(errno));
    fprintf(truth.file, "{\"seed\": %llu,\n",
            (unsigned long long)(machine != NULL ? ring->machine.seed : ring->beam.seed));
    if (machine != NULL) {
        write_text(&truth, "lattice", ring->machine.lattice);
        write_number(&truth, "beta_beat", machine->design_beat);
        fputs(",\n", truth.file);
        write_magnets(&truth);
        write_steering(&truth);
        write_correctors(&truth);
        write_strengths(&truth);
    }
    write_bpms(&truth);
    fputs(",\n", truth.file);
    enum rm_code const code = write_supplies(&truth, error);
    if (machine != NULL)
        write_mains(&truth);
    fputs("}\n", truth.file);
    bool const failed = ferror(truth.file) != 0;
    if (fclose(truth.file) != 0 || failed)
        return rm_fail(error, RM_E_SYSTEM, "--truth: cannot write \"%s\": %s", path, strerror(errno));
    return code;
}
