// SPDX-License-Identifier: Apache-2.0
/** The frames of one point after the other. Included once for each instruction set, by a file that names it.
 *
 * A = M A₀, and R_k = A_k S_k (A⁻¹)_k Ωᵀ. With P = Aᵀ Ω A, which the damping keeps near Ω, A⁻¹ = P⁻¹ Aᵀ Ω, so
 * R_k = A_k S_k (P⁻¹)_k Aᵀ: no elimination, and an inverse by Pfaffians. */
#include <string.h>

#include "../tangent/scatter.h"
#include "frames.h"

struct mode_frame {
    double a[6][8];
    /** Rows of S_k (P⁻¹)_k Aᵀ, mode after mode. */
    rm_lanes half[6];
};

static inline void frame_rows(struct rm_tangent const *point, struct rm_modes const *modes, struct rm_tangent *a) {
    int const n = 2 * modes->count;
    rm_lanes start[6];
    for (int k = 0; k < 6; ++k) {
        double const *const row = modes->a + 6 * k;
        start[k] = (rm_lanes){row[0], row[1], row[2], row[3], row[4], row[5]};
    }
    for (int i = 0; i < 6; ++i) {
        a->j[i] = (rm_lanes){0};
        if (i >= n)
            a->j[i][i] = 1; /* 4D: a third plane that does nothing */
        for (int k = 0; i < n && k < n; ++k)
            a->j[i] += point->j[i][k] * start[k];
    }
}

static inline void frame_of(struct rm_tangent const *point, struct rm_modes const *modes, struct mode_frame *frame) {
    struct rm_tangent a;
    double inverse[6][6];
    rm_lanes column[6];
    frame_rows(point, modes, &a);
    memcpy(frame->a, a.j, sizeof frame->a);
    struct rm_pairing const pairing = rm_pairing_of(&a);
    rm_pairing_invert(&pairing, inverse);
    for (int b = 0; b < 6; ++b)
        column[b] =
            (rm_lanes){frame->a[0][b], frame->a[1][b], frame->a[2][b], frame->a[3][b], frame->a[4][b], frame->a[5][b]};
    for (int row = 0; row < 6; ++row) {
        int const other = row ^ 1;
        double const sign = (row % 2 == 0) == (row < 4) ? 1 : -1; /* the third mode turns the other way */
        frame->half[row] = (rm_lanes){0};
        for (int b = 0; b < 6; ++b)
            frame->half[row] += (sign * inverse[other][b]) * column[b];
    }
}

static inline void frame_write(struct rm_tangent const *point, struct mode_frame const *frame, int modes,
                               struct rm_optics *o) {
    memcpy(o->closed_orbit, point->z, sizeof o->closed_orbit);
    for (int i = 0; i < 6; ++i) {
        memcpy(o->m + 6 * i, &point->j[i], 6 * sizeof *o->m);
        if (i < 2 * modes)
            memcpy(o->a + 6 * i, frame->a[i], 6 * sizeof *o->a);
        else
            memset(o->a + 6 * i, 0, 6 * sizeof *o->a);
    }
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 6; ++i) {
            rm_lanes const row =
                frame->a[i][2 * k] * frame->half[2 * k] + frame->a[i][2 * k + 1] * frame->half[2 * k + 1];
            if (k < modes)
                memcpy(o->r[k] + 6 * i, &row, 6 * sizeof *o->a);
            else
                memset(o->r[k] + 6 * i, 0, 6 * sizeof *o->a);
        }
}

static void fill_optics_frames(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                               struct rm_optics *optics) {
    for (uint32_t i = 0; i < count; ++i) {
        struct mode_frame frame;
        frame_of(&points[i], modes, &frame);
        frame_write(&points[i], &frame, modes->count, &optics[i]);
    }
}
