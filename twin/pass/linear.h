// SPDX-License-Identifier: Apache-2.0
/** Quadrupole and dipole as their exact linear maps at the particle's energy. */
#ifndef RM_TWIN_PASS_LINEAR_H
#define RM_TWIN_PASS_LINEAR_H

#include "ray.h"

/** Matrix of one plane, for u'' = −g u: u = cosine u0 + sine u0'. */
struct rm_plane_matrix {
    /** u' = back u0 + cosine u0'. */
    rm_real cosine, sine, back;
};

/** Computes the matrix. `sign` is the sign of g. */
RM_INLINE struct rm_plane_matrix rm_plane_map(rm_real g, double sign, double length) {
    if (sign == 0)
        return (struct rm_plane_matrix){rm_real_of(1), rm_real_of(length), rm_real_of(0)};
    rm_real const root = rm_sqrt(sign * g), angle = length * root;
    rm_real const sine = sign > 0 ? rm_each(sin, angle) : rm_each(sinh, angle);
    return (struct rm_plane_matrix){sign > 0 ? rm_each(cos, angle) : rm_each(cosh, angle), sine / root,
                                    -sign * sine * root};
}

/** AT's path length has |K| in it, which is right for K > 0 only; so has this one, to agree with it (docs/twin.md). */
static void rm_pass_quad_linear(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_linear const *const quad = step->data;
    double const length = quad->length_m, sign = quad->gradient > 0 ? 1 : -1;
    for (unsigned i = 0; i < RM_RAYS; ++i) {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real const energy = 1.0 + ray->delta;
        rm_real const g = quad->gradient * ray->inverse;
        struct rm_plane_matrix const h = rm_plane_map(g, sign, length), v = rm_plane_map(-g, -sign, length);
        rm_real const x = ray->x, xp = ray->px * ray->inverse, y = ray->y, yp = ray->py * ray->inverse;
        ray->x = h.cosine * x + h.sine * xp;
        ray->px = (h.back * x + h.cosine * xp) * energy;
        ray->y = v.cosine * y + v.sine * yp;
        ray->py = (v.back * y + v.cosine * yp) * energy;
        ray->ct += 0.25 * sign * g * (x * x * (length - h.cosine * h.sine) - y * y * (length - v.cosine * v.sine));
        ray->ct += 0.25 * (xp * xp * (length + h.cosine * h.sine) + yp * yp * (length + v.cosine * v.sine));
        ray->ct += 0.5 * (x * xp * h.sine * h.back + y * yp * v.sine * v.back);
    }
}

/** AT's path length in the vertical plane has x x' where y y' belongs, and none of the curvature's terms where the
 * horizontal focusing is exactly 0; so has this one, to agree with it (docs/twin.md). */
static void rm_pass_bend_linear(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_linear const *const bend = step->data;
    double const length = bend->length_m, h = bend->curvature;
    double const strength = h * h + bend->gradient;
    double const sign = (double)((strength > 0) - (strength < 0));
    double const vertical = (double)((bend->gradient < 0) - (bend->gradient > 0));
    for (unsigned i = 0; i < RM_RAYS; ++i) {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real const energy = 1.0 + ray->delta;
        rm_real const g1 = strength * ray->inverse, g2 = -bend->gradient * ray->inverse;
        struct rm_plane_matrix const m = rm_plane_map(g1, sign, length), v = rm_plane_map(g2, vertical, length);
        rm_real const x = ray->x, xp = ray->px * ray->inverse, y = ray->y, yp = ray->py * ray->inverse;
        rm_real const off = ray->delta * ray->inverse;
        rm_real const stretch = sign == 0 ? rm_real_of(0.5 * length * length) : (1.0 - m.cosine) / g1;
        ray->x = m.cosine * x + m.sine * xp + off * h * stretch;
        ray->px = (m.back * x + m.cosine * xp + off * h * m.sine) * energy;
        ray->y = v.cosine * y + v.sine * yp;
        ray->py = (v.back * y + v.cosine * yp) * energy;
        ray->ct += 0.25 * xp * xp * (length + m.cosine * m.sine);
        if (sign != 0) {
            rm_real const k = h / g1;
            ray->ct += 0.25 * (length - m.cosine * m.sine) * (x * x * g1 + off * off * h * k - 2.0 * x * h * off);
            ray->ct += 0.5 * m.sine * m.back * (x * xp - xp * off * k);
            ray->ct += h * x * m.sine + xp * (1.0 - m.cosine) * k + off * (length - m.sine) * h * k;
        }
        ray->ct += 0.25 * ((length - v.cosine * v.sine) * y * y * g2 + yp * yp * (length + v.cosine * v.sine));
        ray->ct += 0.5 * v.sine * v.back * x * xp;
    }
}

#endif
