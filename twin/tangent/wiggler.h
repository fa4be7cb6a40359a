// SPDX-License-Identifier: Apache-2.0
/** GWigSymplecticPass: a wiggler by the vector potential of its harmonics in the paraxial Hamiltonian (Y. K. Wu,
 * E. Forest, D. Robin, Phys. Rev. E 68, 046502), and with radiation the mean loss once a slice. */
#ifndef RM_TANGENT_WIGGLER_H
#define RM_TANGENT_WIGGLER_H

#include "dual.h"
#include "multipole.h"
#include "scatter.h"

/** The potential at a point, and what drifts along x and y need of it: ∂/∂y ∫ ax dx and ∂/∂x ∫ ay dy. */
struct rm_dual_potential {
    struct rm_dual ax, ax_by_y, ay, ay_by_x;
};

/** One harmonic at z. That of Bx is that of By with the planes exchanged. `k` is along the plane in which the potential
 * is a cosine and `q` along the other, in which it is hyperbolic. */
static inline void rm_wave_add(struct rm_dual along, struct rm_dual across, double k, double q, double strength,
                               struct rm_dual *a, struct rm_dual *a_by_across, struct rm_dual *b,
                               struct rm_dual *b_by_along) {
    struct rm_dual const c = rm_dual_cos(rm_dual_scale(along, k)), s = rm_dual_sin(rm_dual_scale(along, k));
    struct rm_dual const over = k != 0 ? rm_dual_scale(s, 1 / k) : along; /* sin(k x) / k */
    struct rm_dual const ch = rm_dual_cosh(rm_dual_scale(across, q)), sh = rm_dual_sinh(rm_dual_scale(across, q));
    double const ratio = k / q;
    *a = rm_dual_add(*a, rm_dual_scale(rm_dual_mul(c, ch), strength));
    *a_by_across = rm_dual_add(*a_by_across, rm_dual_scale(rm_dual_mul(over, sh), strength * q));
    *b = rm_dual_add(*b, rm_dual_scale(rm_dual_mul(s, sh), strength * ratio));
    *b_by_along = rm_dual_add(*b_by_along, rm_dual_scale(rm_dual_mul(c, ch), strength * ratio * ratio));
}

static inline struct rm_dual_potential rm_wiggler_potential(struct rm_tangent const *t,
                                                            struct rm_leg_wiggler const *leg, double z) {
    struct rm_wiggler const *const w = leg->wiggler;
    struct rm_dual_potential sum = {.ax = rm_dual_constant(0)};
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y);
    double const kw = 2 * M_PI / w->period_m;
    sum.ax_by_y = sum.ay = sum.ay_by_x = sum.ax;
    for (uint32_t n = 0; n < w->by_count + w->bx_count; ++n) {
        bool const vertical = n < w->by_count;
        struct rm_wiggler_harmonic const *const h = vertical ? &w->by[n] : &w->bx[n - w->by_count];
        double const strength = h->amplitude * leg->potential / h->kz * sin(h->kz * kw * z + h->phase_rad);
        if (vertical)
            rm_wave_add(x, y, h->kx * kw, h->ky * kw, strength, &sum.ax, &sum.ax_by_y, &sum.ay, &sum.ay_by_x);
        else
            rm_wave_add(y, x, h->ky * kw, h->kx * kw, strength, &sum.ay, &sum.ay_by_x, &sum.ax, &sum.ax_by_y);
    }
    return sum;
}

/** |B|² across the beam over (Bρ)²; 0 beyond the end. */
static inline struct rm_dual rm_wiggler_field(struct rm_tangent const *t, struct rm_leg_wiggler const *leg, double z) {
    struct rm_wiggler const *const w = leg->wiggler;
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y);
    struct rm_dual bx = rm_dual_constant(0), by = rm_dual_constant(0);
    double const kw = 2 * M_PI / w->period_m;
    for (uint32_t n = 0; z <= leg->length_m && n < w->by_count + w->bx_count; ++n) {
        bool const vertical = n < w->by_count;
        struct rm_wiggler_harmonic const *const h = vertical ? &w->by[n] : &w->bx[n - w->by_count];
        double const k = kw * (vertical ? h->kx : h->ky), q = kw * (vertical ? h->ky : h->kx);
        double const strength = h->amplitude * leg->field * cos(h->kz * kw * z + h->phase_rad);
        struct rm_dual const along = rm_dual_scale(vertical ? x : y, k), across = rm_dual_scale(vertical ? y : x, q);
        struct rm_dual const main = rm_dual_scale(rm_dual_mul(rm_dual_cos(along), rm_dual_cosh(across)), strength);
        struct rm_dual const side =
            rm_dual_scale(rm_dual_mul(rm_dual_sin(along), rm_dual_sinh(across)), strength * k / q);
        bx = rm_dual_add(bx, vertical ? side : main);
        by = rm_dual_sub(by, vertical ? main : side);
    }
    return rm_dual_add(rm_dual_mul(bx, bx), rm_dual_mul(by, by));
}

static inline void rm_wiggler_shear(struct rm_tangent *t, struct rm_dual px, struct rm_dual py, double sign) {
    rm_dual_put(t, RM_PX, rm_dual_add(rm_dual_of(t, RM_PX), rm_dual_scale(px, sign)));
    rm_dual_put(t, RM_PY, rm_dual_add(rm_dual_of(t, RM_PY), rm_dual_scale(py, sign)));
}

/** A drift along one plane, between shears that make that plane's momentum mechanical. */
static inline void rm_wiggler_drift(struct rm_tangent *t, struct rm_leg_wiggler const *leg, int place, double length_m,
                                    double z) {
    for (int side = 0; side < 2; ++side) {
        struct rm_dual_potential const at = rm_wiggler_potential(t, leg, z);
        rm_wiggler_shear(t, place == RM_X ? at.ax : at.ay_by_x, place == RM_X ? at.ax_by_y : at.ay, side == 0 ? -1 : 1);
        if (side == 1)
            break;
        struct rm_dual const slope = rm_dual_div(rm_dual_of(t, place + 1), rm_dual_shift(rm_dual_of(t, RM_DELTA), 1));
        rm_dual_put(t, place, rm_dual_add(rm_dual_of(t, place), rm_dual_scale(slope, length_m)));
        struct rm_dual const path = rm_dual_scale(rm_dual_mul(slope, slope), 0.5 * length_m);
        rm_dual_put(t, RM_CT, rm_dual_add(rm_dual_of(t, RM_CT), path));
    }
}

/** The loss over a slice, on the mechanical momenta. The diffusion is by the field at the reference momentum's slopes,
 * as AT has it. */
static inline void rm_wiggler_radiate(struct rm_tangent *t, struct rm_route const *route,
                                      struct rm_leg_wiggler const *leg, double z, struct rm_diffusion *gathered) {
    struct rm_dual_potential const at = rm_wiggler_potential(t, leg, z);
    struct rm_dual const p = rm_dual_shift(rm_dual_of(t, RM_DELTA), 1), field = rm_wiggler_field(t, leg, z);
    struct rm_dual const loss =
        rm_dual_scale(rm_dual_mul(rm_dual_mul(p, p), field), route->loss_per_kick * leg->slice_m);
    struct rm_dual const left = rm_dual_shift(rm_dual_scale(loss, -1), 1);
    rm_dual_put(t, RM_DELTA, rm_dual_sub(rm_dual_of(t, RM_DELTA), loss));
    rm_wiggler_shear(t, at.ax, at.ay, -1);
    double const slope_x = t->z[RM_PX] / p.v, slope_y = t->z[RM_PY] / p.v;
    rm_dual_put(t, RM_PX, rm_dual_mul(rm_dual_of(t, RM_PX), left));
    rm_dual_put(t, RM_PY, rm_dual_mul(rm_dual_of(t, RM_PY), left));
    rm_wiggler_shear(t, at.ax, at.ay, 1);
    if (gathered != NULL)
        rm_tangent_scatter(t, gathered,
                           route->diffusion_per_kick * leg->slice_m * p.v * p.v * p.v * p.v * field.v * sqrt(field.v),
                           slope_x, slope_y);
}

static inline void rm_wiggler_gauge(struct rm_tangent *t, struct rm_leg_wiggler const *leg, double sign, double z) {
    struct rm_dual_potential const at = rm_wiggler_potential(t, leg, z);
    rm_wiggler_shear(t, at.ax, at.ay, sign);
}

static inline void rm_tangent_wiggler(struct rm_tangent *t, struct rm_route const *route,
                                      struct rm_leg_wiggler const *leg, struct rm_diffusion *gathered) {
    double z = 0;
    if (leg->radiates) {
        rm_wiggler_gauge(t, leg, 1, z);
        rm_wiggler_radiate(t, route, leg, z, gathered);
    }
    for (uint32_t slice = 0; slice < leg->slices; ++slice) {
        for (uint32_t part = 0; part < leg->parts; ++part) {
            double const share = leg->parts == 1 ? 1 : (part == 1 ? rm_kick_2 : rm_kick_1);
            double const length_m = share * leg->slice_m, half = 0.5 * length_m;
            z += half;
            rm_wiggler_drift(t, leg, RM_Y, half, z);
            rm_wiggler_drift(t, leg, RM_X, length_m, z);
            rm_wiggler_drift(t, leg, RM_Y, half, z);
            z += half;
        }
        if (leg->radiates)
            rm_wiggler_radiate(t, route, leg, z, gathered);
    }
    if (leg->radiates)
        rm_wiggler_gauge(t, leg, -1, z);
}

#endif
