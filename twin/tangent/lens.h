// SPDX-License-Identifier: Apache-2.0
/** Passes that are the exact solution of a linear field at each momentum: QuadLinearPass, BendLinearPass and
 * SolenoidLinearPass. */
#ifndef RM_TANGENT_LENS_H
#define RM_TANGENT_LENS_H

#include "dual.h"
#include "route.h"

/** One plane of a lens: place and slope at the entrance, strength g = K / (1 + δ). */
struct rm_lens_in_plane {
    struct rm_dual place, slope, g, c, s;
};

static inline struct rm_lens_in_plane rm_lens_plane(struct rm_tangent const *t, int at, double strength,
                                                    double length_m) {
    struct rm_dual const inverse = rm_dual_over(1, rm_dual_shift(rm_dual_of(t, RM_DELTA), 1));
    struct rm_lens_in_plane p = {.place = rm_dual_of(t, at), .slope = rm_dual_mul(rm_dual_of(t, at + 1), inverse)};
    p.g = rm_dual_scale(inverse, strength);
    rm_dual_lens(p.g, length_m, &p.c, &p.s);
    return p;
}

/** Writes place and momentum at the exit. */
static inline void rm_lens_leave(struct rm_tangent *t, int at, struct rm_lens_in_plane const *p) {
    struct rm_dual const slope =
        rm_dual_sub(rm_dual_mul(p->c, p->slope), rm_dual_mul(rm_dual_mul(p->g, p->s), p->place));
    rm_dual_put(t, at, rm_dual_add(rm_dual_mul(p->c, p->place), rm_dual_mul(p->s, p->slope)));
    rm_dual_put(t, at + 1, rm_dual_mul(slope, rm_dual_shift(rm_dual_of(t, RM_DELTA), 1)));
}

/** ½ ∫ x'² ds of a particle that began at `place` from the lens' centre; `mixed` is place times slope. */
static inline struct rm_dual rm_lens_path(struct rm_lens_in_plane const *p, struct rm_dual g, struct rm_dual place,
                                          struct rm_dual mixed, double length_m) {
    struct rm_dual const cs = rm_dual_mul(p->c, p->s);
    struct rm_dual const from_place =
        rm_dual_mul(rm_dual_mul(g, rm_dual_mul(place, place)), rm_dual_shift(rm_dual_scale(cs, -1), length_m));
    struct rm_dual const from_slope = rm_dual_mul(rm_dual_mul(p->slope, p->slope), rm_dual_shift(cs, length_m));
    struct rm_dual const cross = rm_dual_mul(mixed, rm_dual_mul(p->g, rm_dual_mul(p->s, p->s)));
    return rm_dual_sub(rm_dual_scale(rm_dual_add(from_place, from_slope), 0.25), rm_dual_scale(cross, 0.5));
}

/** AT's path of a defocusing quadrupole takes |K| for K where the particle's place squared comes in; so does this. */
static inline void rm_tangent_focus(struct rm_tangent *t, struct rm_leg_lens const *lens) {
    struct rm_lens_in_plane const x = rm_lens_plane(t, RM_X, lens->strength, lens->length_m);
    struct rm_lens_in_plane const y = rm_lens_plane(t, RM_Y, -lens->strength, lens->length_m);
    double const sign = lens->strength > 0 ? 1 : -1;
    struct rm_dual const path =
        rm_dual_add(rm_lens_path(&x, rm_dual_scale(x.g, sign), x.place, rm_dual_mul(x.place, x.slope), lens->length_m),
                    rm_lens_path(&y, rm_dual_scale(y.g, sign), y.place, rm_dual_mul(y.place, y.slope), lens->length_m));
    rm_dual_put(t, RM_CT, rm_dual_add(rm_dual_of(t, RM_CT), path));
    rm_lens_leave(t, RM_X, &x);
    rm_lens_leave(t, RM_Y, &y);
}

/** x turns about where the bend of this momentum would keep it, h δ / (1 + δ) / g. Where the field does not focus
 * (g = 0) that place is infinitely far, and the path's quadratic part is left out, as in AT; as in AT too, the vertical
 * plane's path has x x' where it should have y y'. */
static inline void rm_tangent_sector(struct rm_tangent *t, struct rm_leg_lens const *lens) {
    double const h = lens->curvature, length_m = lens->length_m;
    struct rm_lens_in_plane x = rm_lens_plane(t, RM_X, h * h + lens->strength, length_m);
    struct rm_lens_in_plane const y = rm_lens_plane(t, RM_Y, -lens->strength, length_m);
    struct rm_dual const p = rm_dual_shift(rm_dual_of(t, RM_DELTA), 1);
    struct rm_dual const push = rm_dual_scale(rm_dual_div(rm_dual_of(t, RM_DELTA), p), h);
    struct rm_dual path = rm_lens_path(&y, y.g, y.place, rm_dual_mul(x.place, x.slope), length_m);
    rm_lens_leave(t, RM_Y, &y);
    rm_lens_leave(t, RM_X, &x);
    rm_dual_put(t, RM_PX, rm_dual_add(rm_dual_of(t, RM_PX), rm_dual_mul(p, rm_dual_mul(push, x.s))));
    if (x.g.v == 0) {
        rm_dual_put(t, RM_X, rm_dual_add(rm_dual_of(t, RM_X), rm_dual_scale(push, length_m * length_m / 2)));
        path = rm_dual_add(path, rm_dual_scale(rm_dual_mul(x.slope, x.slope), length_m / 2));
    } else {
        struct rm_dual const centre = rm_dual_div(push, x.g);
        struct rm_dual const away = rm_dual_shift(rm_dual_scale(x.c, -1), 1), from = rm_dual_sub(x.place, centre);
        rm_dual_put(t, RM_X, rm_dual_add(rm_dual_of(t, RM_X), rm_dual_mul(centre, away)));
        struct rm_dual const swing = rm_dual_add(rm_dual_mul(from, x.s), rm_dual_div(rm_dual_mul(x.slope, away), x.g));
        path = rm_dual_add(path, rm_lens_path(&x, x.g, from, rm_dual_mul(from, x.slope), length_m));
        path = rm_dual_add(path, rm_dual_scale(rm_dual_add(swing, rm_dual_scale(centre, length_m)), h));
    }
    rm_dual_put(t, RM_CT, rm_dual_add(rm_dual_of(t, RM_CT), path));
}

static inline void rm_tangent_solenoid(struct rm_tangent *t, struct rm_leg_lens const *lens) {
    struct rm_dual const p = rm_dual_shift(rm_dual_of(t, RM_DELTA), 1), half = rm_dual_over(lens->strength / 2, p);
    double const angle = lens->length_m * half.v;
    struct rm_dual const c = rm_dual_chain(half, cos(angle), -lens->length_m * sin(angle));
    struct rm_dual const s = rm_dual_chain(half, sin(angle), lens->length_m * cos(angle));
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y);
    struct rm_dual const xp = rm_dual_div(rm_dual_of(t, RM_PX), p), yp = rm_dual_div(rm_dual_of(t, RM_PY), p);
    /* In the frame that turns with the field, both planes are lenses of strength half². */
    struct rm_dual const at_x = rm_dual_add(rm_dual_mul(c, x), rm_dual_div(rm_dual_mul(s, xp), half));
    struct rm_dual const at_y = rm_dual_add(rm_dual_mul(c, y), rm_dual_div(rm_dual_mul(s, yp), half));
    struct rm_dual const to_x = rm_dual_sub(rm_dual_mul(c, xp), rm_dual_mul(half, rm_dual_mul(s, x)));
    struct rm_dual const to_y = rm_dual_sub(rm_dual_mul(c, yp), rm_dual_mul(half, rm_dual_mul(s, y)));
    struct rm_dual const kick_x = rm_dual_add(xp, rm_dual_mul(half, y)), kick_y = rm_dual_sub(yp, rm_dual_mul(half, x));
    struct rm_dual const square = rm_dual_add(rm_dual_mul(kick_x, kick_x), rm_dual_mul(kick_y, kick_y));
    rm_dual_put(t, RM_X, rm_dual_add(rm_dual_mul(c, at_x), rm_dual_mul(s, at_y)));
    rm_dual_put(t, RM_Y, rm_dual_sub(rm_dual_mul(c, at_y), rm_dual_mul(s, at_x)));
    rm_dual_put(t, RM_PX, rm_dual_mul(p, rm_dual_add(rm_dual_mul(c, to_x), rm_dual_mul(s, to_y))));
    rm_dual_put(t, RM_PY, rm_dual_mul(p, rm_dual_sub(rm_dual_mul(c, to_y), rm_dual_mul(s, to_x))));
    rm_dual_put(t, RM_CT, rm_dual_add(rm_dual_of(t, RM_CT), rm_dual_scale(square, lens->length_m / 2)));
}

#endif
