// SPDX-License-Identifier: Apache-2.0
/** Numbers that carry their derivatives: a formula written with them is its own Jacobian. Used where a Jacobian is too
 * rarely needed to be written out. */
#ifndef RM_TANGENT_DUAL_H
#define RM_TANGENT_DUAL_H

#include <math.h>

#include "tangent.h"

struct rm_dual {
    rm_lanes d;
    double v;
};

static inline __attribute__((always_inline)) struct rm_dual rm_dual_of(struct rm_tangent const *t, int coordinate) {
    return (struct rm_dual){t->j[coordinate], t->z[coordinate]};
}

static inline __attribute__((always_inline)) void rm_dual_put(struct rm_tangent *t, int coordinate, struct rm_dual a) {
    t->z[coordinate] = a.v;
    t->j[coordinate] = a.d;
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_constant(double v) {
    return (struct rm_dual){(rm_lanes){0}, v};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_add(struct rm_dual a, struct rm_dual b) {
    return (struct rm_dual){a.d + b.d, a.v + b.v};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_sub(struct rm_dual a, struct rm_dual b) {
    return (struct rm_dual){a.d - b.d, a.v - b.v};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_shift(struct rm_dual a, double by) {
    return (struct rm_dual){a.d, a.v + by};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_scale(struct rm_dual a, double by) {
    return (struct rm_dual){by * a.d, by * a.v};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_mul(struct rm_dual a, struct rm_dual b) {
    return (struct rm_dual){b.v * a.d + a.v * b.d, a.v * b.v};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_over(double a, struct rm_dual b) {
    double const v = a / b.v;
    return (struct rm_dual){(-v / b.v) * b.d, v};
}

static inline __attribute__((always_inline)) struct rm_dual rm_dual_div(struct rm_dual a, struct rm_dual b) {
    return rm_dual_mul(a, rm_dual_over(1, b));
}

/** A function of one number, from its value and its derivative. */
static inline __attribute__((always_inline)) struct rm_dual rm_dual_chain(struct rm_dual a, double v, double slope) {
    return (struct rm_dual){slope * a.d, v};
}

static inline struct rm_dual rm_dual_tan(struct rm_dual a) {
    double const v = tan(a.v);
    return rm_dual_chain(a, v, 1 + v * v);
}

static inline struct rm_dual rm_dual_sqrt(struct rm_dual a) {
    double const v = sqrt(a.v);
    return rm_dual_chain(a, v, 0.5 / v);
}

static inline struct rm_dual rm_dual_sin(struct rm_dual a) { return rm_dual_chain(a, sin(a.v), cos(a.v)); }

static inline struct rm_dual rm_dual_cos(struct rm_dual a) { return rm_dual_chain(a, cos(a.v), -sin(a.v)); }

static inline struct rm_dual rm_dual_sinh(struct rm_dual a) { return rm_dual_chain(a, sinh(a.v), cosh(a.v)); }

static inline struct rm_dual rm_dual_cosh(struct rm_dual a) { return rm_dual_chain(a, cosh(a.v), sinh(a.v)); }

/** cos(L √g) and sin(L √g) / √g, or their hyperbolic sisters for g < 0: the matrix of a lens of strength g. */
static inline void rm_dual_lens(struct rm_dual g, double length_m, struct rm_dual *c, struct rm_dual *s) {
    double const root = sqrt(fabs(g.v)), angle = root * length_m;
    double const cosine = g.v > 0 ? cos(angle) : cosh(angle);
    double const sine = g.v == 0 ? length_m : (g.v > 0 ? sin(angle) : sinh(angle)) / root;
    double const slope = g.v == 0 ? -length_m * length_m * length_m / 6 : (length_m * cosine - sine) / (2 * g.v);
    *c = rm_dual_chain(g, cosine, -0.5 * length_m * sine);
    *s = rm_dual_chain(g, sine, slope);
}

#endif
