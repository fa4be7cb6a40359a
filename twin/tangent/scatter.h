// SPDX-License-Identifier: Apache-2.0
/** From what a magnet's kicks gather, in terms of Jᵀ Ω v, to the start's coordinates.
 *
 * J⁻¹ = (Jᵀ Ω J)⁻¹ Jᵀ Ω. The pairing P = Jᵀ Ω J is Ω in a symplectic ring and departs from it by the damping since the
 * start. It is taken as constant within a magnet, at the mean of its ends: that errs by the square of the damping in
 * one magnet, where AT's own diffusion, which leaves it out, errs by its first power.
 */
#ifndef RM_TANGENT_SCATTER_H
#define RM_TANGENT_SCATTER_H

#include "tangent.h"

/** Antisymmetric, row by row. */
struct rm_pairing {
    rm_lanes p[6];
};

static inline void rm_pairing_pair(struct rm_pairing *to, rm_lanes a, rm_lanes b) {
    for (int i = 0; i < 6; ++i)
        to->p[i] += a[i] * b - b[i] * a;
}

/** Ω pairs x with px, y with py, and δ with ct, whose equations of motion are those of a place and its momentum. */
static inline struct rm_pairing rm_pairing_of(struct rm_tangent const *t) {
    struct rm_pairing made = {0};
    rm_pairing_pair(&made, t->j[RM_X], t->j[RM_PX]);
    rm_pairing_pair(&made, t->j[RM_Y], t->j[RM_PY]);
    rm_pairing_pair(&made, t->j[RM_DELTA], t->j[RM_CT]);
    return made;
}

static inline struct rm_pairing rm_pairing_mean(struct rm_pairing a, struct rm_pairing b) {
    for (int i = 0; i < 6; ++i)
        a.p[i] = 0.5 * (a.p[i] + b.p[i]);
    return a;
}

/** Inverse of an antisymmetric 6 × 6 matrix by Pfaffians: (A⁻¹)_ij = ± Pf(A without rows and columns i, j) / Pf(A). */
static inline void rm_pairing_invert(struct rm_pairing const *pairing, double inverse[6][6]) {
    double a[6][8], minor[6][6] = {{0}}, whole = 0;
    __builtin_memcpy(a, pairing->p, sizeof a);
    for (int i = 0; i < 6; ++i)
        for (int j = i + 1; j < 6; ++j) {
            int k[4];
            for (int n = 0, from = 0; from < 6; ++from)
                if (from != i && from != j)
                    k[n++] = from;
            double const pfaffian =
                a[k[0]][k[1]] * a[k[2]][k[3]] - a[k[0]][k[2]] * a[k[1]][k[3]] + a[k[0]][k[3]] * a[k[1]][k[2]];
            minor[i][j] = (i + j) % 2 != 0 ? pfaffian : -pfaffian;
        }
    for (int j = 1; j < 6; ++j)
        whole += a[0][j] * minor[0][j];
    for (int i = 0; i < 6; ++i)
        for (int j = i + 1; j < 6; ++j) {
            inverse[j][i] = minor[i][j] / whole;
            inverse[i][j] = -inverse[j][i];
        }
    for (int i = 0; i < 6; ++i)
        inverse[i][i] = 0;
}

/** to += P⁻¹ gathered P⁻ᵀ, with P⁻ᵀ = -P⁻¹. */
static inline void rm_diffusion_add(struct rm_diffusion *to, struct rm_diffusion const *gathered,
                                    struct rm_pairing pairing) {
    double inverse[6][6];
    rm_lanes back[6], half[6];
    rm_pairing_invert(&pairing, inverse);
    for (int i = 0; i < 6; ++i) {
        back[i] = (rm_lanes){inverse[i][0], inverse[i][1], inverse[i][2], inverse[i][3], inverse[i][4], inverse[i][5]};
        half[i] = (rm_lanes){0};
        for (int k = 0; k < 6; ++k)
            half[i] += inverse[i][k] * gathered->d[k];
    }
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k)
            to->d[i] -= half[i][k] * back[k];
}

/** Adds b u uᵀ, where u is the photon's direction (0, x', 0, y', 1, 0) carried back to the start by Jᵀ Ω: that is J⁻¹
 * up to the damping since the start, which the caller takes out once for each magnet. */
static inline __attribute__((always_inline)) void rm_tangent_scatter(struct rm_tangent const *t,
                                                                     struct rm_diffusion *gathered, double b,
                                                                     double slope_x, double slope_y) {
    rm_lanes const u = slope_x * t->j[RM_X] + slope_y * t->j[RM_Y] - t->j[RM_CT];
    rm_lanes const scaled = b * u;
    for (int i = 0; i < 6; ++i)
        gathered->d[i] += scaled[i] * u;
}

#endif
