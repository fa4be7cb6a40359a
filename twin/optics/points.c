// SPDX-License-Identifier: Apache-2.0
#include "points.h"

#include <stddef.h>
#include <string.h>

#include "../lattice_parts.h"
#include "frames.h"

static void optics_functions(struct rm_optics *o, int modes) {
    for (int k = 0; k < 2; ++k) {
        o->beta_m[k] = o->r[k][14 * k];
        o->alpha[k] = -o->r[k][14 * k + 6];
    }
    for (int k = 0; k < modes; ++k)
        o->mu_rad[k] = rm_modes_phase(o->a, k);
}

static void dispersion_of(struct rm_optics *o, bool is_6d, double const at_start[6]) {
    for (int i = 0; i < 4; ++i) {
        o->dispersion[i] = is_6d ? o->r[2][6 * i + 4] / o->r[2][6 * 4 + 4] : 0;
        for (int k = 0; !is_6d && k < 5; ++k)
            o->dispersion[i] += o->m[6 * i + k] * at_start[k];
    }
}

void rm_points_fill(struct rm_twin const *twin, struct rm_closed const *closed, struct rm_modes const *modes,
                    double const dispersion[6], uint32_t const *refpts, uint32_t count, struct rm_optics *optics) {
    rm_frames_fill(closed->points, count, modes, optics, RM_SIMD_BEST);
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_optics *const o = &optics[i];
        o->s_m = twin->lattice->s_m[refpts[i]];
        memset(o->mu_rad, 0, sizeof o->mu_rad);
        memset(o->w, 0, sizeof *o - offsetof(struct rm_optics, w));
        optics_functions(o, modes->count);
        dispersion_of(o, closed->is_6d, dispersion);
    }
}
