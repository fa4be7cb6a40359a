// SPDX-License-Identifier: Apache-2.0
/** How the tunes change with the amplitudes of the motion: found by tracking three particles, one after the making.
 *
 * The phase that a particle's mode advances per turn is averaged under a smooth window, by which what oscillates about
 * it falls out (S. Das et al., Nonlinearity 30, 4111: weighted Birkhoff averages).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"

enum { DETUNING_TURNS = 256, PARTICLES = 3 };

static double const LARGE_M = 100e-6; /**< amplitude at mean β of what is compared with next to nothing */
static double const SMALL = 1. / 30;  /**< of the large one */

/** The tune of a mode of one particle, less that of the optics. */
static double tune_of(struct rm_machine const *machine, double (*out)[PARTICLES][6], int particle, unsigned u) {
    struct rm_oscillation_optics const *optics = &machine->motion.oscillation.optics;
    double const expected = 2 * M_PI * optics->tune[u];
    double sum = 0, weights = 0, before = 0;
    for (int turn = 0; turn < DETUNING_TURNS; ++turn) {
        double z[4], xp[2];
        for (int row = 0; row < 4; ++row)
            z[row] = out[turn][particle][row] - machine->at_start[row];
        rm_oscillation_normalise(optics, z, u, xp);
        double const phase = atan2(-xp[1], xp[0]), place = (turn + 0.5) / DETUNING_TURNS;
        double const weight = exp(-1 / (place * (1 - place)));
        sum += turn == 0 ? 0 : weight * remainder(phase - before - expected, 2 * M_PI);
        weights += turn == 0 ? 0 : weight;
        before = phase;
    }
    return sum / weights / (2 * M_PI);
}

static enum rm_code track_particles(struct rm_machine *machine, double const large[2], double (*out)[PARTICLES][6],
                                    struct rm_error *error) {
    double const(*a)[4] = (double const(*)[4])machine->motion.oscillation.optics.start;
    double particle[PARTICLES][RM_COORDINATES];
    uint32_t const start = 0;
    for (int p = 0; p < PARTICLES; ++p) {
        memcpy(particle[p], machine->at_start, sizeof particle[p]);
        for (int row = 0; row < 4; ++row)
            for (int u = 0; u < 2; ++u)
                particle[p][row] += a[row][2 * u] * large[u] * (p == u + 1 ? 1 : SMALL);
    }
    struct rm_tracking const tracking = {
        .turns = DETUNING_TURNS, .refpts = &start, .refpt_count = 1, .out = &out[0][0][0]};
    rm_twin_set_turn(machine->twin, 0);
    return rm_twin_track(machine->twin, particle, PARTICLES, &tracking, error);
}

enum rm_code rm_machine_find_detuning(struct rm_machine *machine, struct rm_error *error) {
    double(*out)[PARTICLES][6] = calloc(DETUNING_TURNS, sizeof *out), large[2];
    if (out == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to track %d particles", PARTICLES);
    for (int u = 0; u < 2; ++u)
        large[u] = LARGE_M / machine->motion.mean_root[u];
    enum rm_code const code = track_particles(machine, large, out, error);
    for (unsigned u = 0; code == RM_OK && u < 2; ++u)
        for (int v = 0; v < 2; ++v) {
            double const shift = tune_of(machine, out, v + 1, u) - tune_of(machine, out, 0, u);
            machine->motion.detuning[u][v] = isfinite(shift) ? shift / (large[v] * large[v] * (1 - SMALL * SMALL)) : 0;
        }
    free(out);
    return code;
}
