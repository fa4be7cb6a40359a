// SPDX-License-Identifier: Apache-2.0
/** What differs from the design, drawn from the seed. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "machine_parts.h"
#include "noise.h"

enum { KEY_BPM = 5 << 20, KEY_GRADIENT = 6 << 20, DRAWS = 8, BEAT_ROUNDS = 12 };

/** RMS of a normal number that is cut at two sigma. */
static double const CUT_RMS = 0.8796256610342398;
static double const CUT = 2;
static double const FIRST_GRADIENT = 1e-3; /**< relative, to begin with */
static double const BEAT_CLOSE = 0.01;     /**< relative; good enough */

double rm_machine_draw(uint64_t key) {
    for (uint64_t draw = 0;; ++draw) {
        double const radius = rm_noise_uniform(rm_noise_u64(key) + 2 * draw);
        double const angle = rm_noise_uniform(rm_noise_u64(key) + 2 * draw + 1);
        double const normal = sqrt(-2 * log(1 - radius)) * cos(2 * M_PI * angle);
        if (fabs(normal) <= CUT)
            return normal / CUT_RMS;
    }
}

void rm_machine_draw_bpms(struct rm_machine *machine) {
    for (uint32_t b = 0; b < machine->bpm_count; ++b) {
        uint64_t const key = rm_noise_u64(machine->config->seed) ^ rm_noise_u64(KEY_BPM + (uint64_t)b * DRAWS);
        double const gain_x = 1 + machine->config->errors.bpm_gain * rm_machine_draw(key);
        double const gain_y = 1 + machine->config->errors.bpm_gain * rm_machine_draw(key + 1);
        double const roll = machine->config->errors.bpm_roll_rad * rm_machine_draw(key + 2);
        double const into_x = machine->config->errors.bpm_crosstalk * rm_machine_draw(key + 3);
        double const into_y = machine->config->errors.bpm_crosstalk * rm_machine_draw(key + 4);
        machine->bpm[b] = (struct rm_machine_bpm){
            .m = {gain_x * cos(roll), gain_x * (sin(roll) + into_x), gain_y * (into_y - sin(roll)), gain_y * cos(roll)},
            .offset_m = {machine->config->errors.bpm_offset_m * rm_machine_draw(key + 5),
                         machine->config->errors.bpm_offset_m * rm_machine_draw(key + 6)},
            .pincushion_per_m2 = machine->config->errors.bpm_pincushion_per_m2 * rm_machine_draw(key + 7),
        };
    }
}

/** Sets all gradients to the design's, and `scale` times their errors. */
static enum rm_code set_gradients(struct rm_machine *machine, double scale, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t q = 0; code == RM_OK && q < machine->quadrupole_count; ++q) {
        struct rm_machine_magnet *magnet = &machine->magnet[q];
        double const design = rm_lattice_element(machine->lattice, magnet->element)->polynom_b[1];
        uint64_t const key = rm_noise_u64(machine->config->seed) ^ rm_noise_u64(KEY_GRADIENT + (uint64_t)q * DRAWS);
        magnet->gradient = design * (1 + scale * rm_machine_draw(key));
        code = rm_twin_set_polynom(machine->twin, magnet->element, RM_NORMAL, 1, magnet->gradient, error);
    }
    return code;
}

/** Optics at the BPMs, as the twin is now. */
static enum rm_code optics_now(struct rm_machine *machine, struct rm_optics *optics, struct rm_error *error) {
    struct rm_optics_summary ring;
    return rm_twin_linopt6(machine->twin, NULL, machine->bpm_element, machine->bpm_count, &ring, optics, error);
}

/** RMS over BPMs and planes of the relative deviation of β. */
static double beta_beat_of(struct rm_optics const *design, struct rm_optics const *optics, uint32_t count) {
    double sum = 0;
    for (uint32_t b = 0; b < count; ++b)
        for (int plane = 0; plane < 2; ++plane) {
            double const off = optics[b].beta_m[plane] / design[b].beta_m[plane] - 1;
            sum += off * off;
        }
    return sqrt(sum / (2 * count));
}

/** Goes for the scale whose beat is the configured one. An unstable lattice is one that beats too much. */
static enum rm_code scale_beat(struct rm_machine *machine, struct rm_optics *design, struct rm_optics *optics,
                               struct rm_error *error) {
    double const wanted = machine->config->errors.beta_beat;
    double scale = FIRST_GRADIENT, stable = 0;
    for (int round = 0; round < BEAT_ROUNDS; ++round) {
        enum rm_code code = set_gradients(machine, scale, error);
        if (code != RM_OK)
            return code;
        if (optics_now(machine, optics, error) != RM_OK) {
            scale = (scale + stable) / 2;
            continue;
        }
        machine->design_beat = beta_beat_of(design, optics, machine->bpm_count);
        if (!(machine->design_beat > 0) || fabs(machine->design_beat / wanted - 1) < BEAT_CLOSE)
            return RM_OK;
        stable = machine->design_beat < wanted ? scale : stable;
        scale *= fmin(wanted / machine->design_beat, 10);
    }
    return rm_fail(error, RM_E_CONFIG,
                   "machine.errors.beta_beat: with seed %llu no gradient errors make a stable lattice of %g, expected "
                   "less, or another seed",
                   (unsigned long long)machine->config->seed, wanted);
}

enum rm_code rm_machine_keep_optics(struct rm_machine *machine, struct rm_error *error) {
    struct rm_optics *optics = calloc((size_t)machine->bpm_count + 1, sizeof *optics);
    if (optics == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the optics at %u BPMs", machine->bpm_count);
    enum rm_code const code = optics_now(machine, optics, error);
    for (uint32_t b = 0; code == RM_OK && b < machine->bpm_count; ++b)
        machine->optics[b] = (struct rm_machine_bpm_optics){
            .beta_m = {optics[b].beta_m[0], optics[b].beta_m[1]},
            .phase_rad = {optics[b].mu_rad[0], optics[b].mu_rad[1]},
            .dispersion_m = optics[b].dispersion[0],
        };
    free(optics);
    return code;
}

enum rm_code rm_machine_beat(struct rm_machine *machine, struct rm_error *error) {
    struct rm_optics *optics = calloc(2 * (size_t)machine->bpm_count + 1, sizeof *optics);
    if (optics == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the optics at %u BPMs", machine->bpm_count);
    enum rm_code code = optics_now(machine, optics, error);
    if (code == RM_OK && machine->config->errors.beta_beat > 0 && machine->quadrupole_count != 0)
        code = scale_beat(machine, optics, optics + machine->bpm_count, error);
    free(optics);
    return code == RM_OK ? rm_machine_keep_optics(machine, error) : code;
}
