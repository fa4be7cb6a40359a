// SPDX-License-Identifier: Apache-2.0
/** A wiggler by the vector potential of its harmonics in the paraxial Hamiltonian (Y. K. Wu, E. Forest, D. Robin,
 * Phys. Rev. E 68, 046502), and the mean loss of radiation once a slice.
 */
#ifndef RM_TWIN_PASS_WIGGLER_H
#define RM_TWIN_PASS_WIGGLER_H

#include "ray.h"

/** The potential at a point, and what drifts along x and y need of it: ∂/∂y ∫ ax dx and ∂/∂x ∫ ay dy. */
struct rm_potential {
    rm_real ax, axpy, ay, aypx;
};

/** sin(k x) / k, also for k = 0. */
RM_INLINE rm_real rm_sine_over(double k, rm_real x) { return k != 0 ? rm_each(sin, k * x) / k : x; }

static struct rm_potential rm_potential_at(struct rm_wiggler_plan const *wiggler, rm_real x, rm_real y, double z) {
    struct rm_potential sum = {rm_real_of(0), rm_real_of(0), rm_real_of(0), rm_real_of(0)};
    for (uint32_t n = 0; n < wiggler->waves; ++n) {
        struct rm_wiggler_wave const *const wave = &wiggler->wave[n];
        double const kx = wave->kx, ky = wave->ky;
        double const strength = wave->vector_potential * sin(wave->kz * z + wave->phase_rad);
        if (wave->vertical_field) {
            rm_real const cx = rm_each(cos, kx * x), sx = rm_sine_over(kx, x);
            rm_real const cy = rm_each(cosh, ky * y), sy = rm_each(sinh, ky * y);
            sum.ax += strength * cx * cy;
            sum.axpy += strength * ky * sx * sy;
            sum.ay += strength * (kx / ky) * (kx * sx) * sy;
            sum.aypx += strength * (kx / ky) * (kx / ky) * cx * cy;
        } else {
            rm_real const cx = rm_each(cosh, kx * x), sx = rm_each(sinh, kx * x);
            rm_real const cy = rm_each(cos, ky * y), sy = rm_sine_over(ky, y);
            sum.ax += strength * (ky / kx) * sx * (ky * sy);
            sum.axpy += strength * (ky / kx) * (ky / kx) * cx * cy;
            sum.ay += strength * cx * cy;
            sum.aypx += strength * kx * sx * sy;
        }
    }
    return sum;
}

/** |B|² across the beam, T². */
static rm_real rm_wiggler_field(struct rm_wiggler_plan const *wiggler, rm_real x, rm_real y, double z) {
    rm_real bx = rm_real_of(0), by = rm_real_of(0);
    for (uint32_t n = 0; z <= wiggler->length_m && n < wiggler->waves; ++n) {
        struct rm_wiggler_wave const *const wave = &wiggler->wave[n];
        double const kx = wave->kx, ky = wave->ky;
        double const strength = wave->amplitude_t * cos(wave->kz * z + wave->phase_rad);
        if (wave->vertical_field) {
            bx += strength * (kx / ky) * rm_each(sin, kx * x) * rm_each(sinh, ky * y);
            by -= strength * rm_each(cos, kx * x) * rm_each(cosh, ky * y);
        } else {
            bx += strength * rm_each(cosh, kx * x) * rm_each(cos, ky * y);
            by -= strength * (ky / kx) * rm_each(sinh, kx * x) * rm_each(sin, ky * y);
        }
    }
    return bx * bx + by * by;
}

/** Half a drift in y, between the shears that make px and py mechanical there. */
RM_INLINE void rm_wiggler_drift_y(struct rm_ray *ray, struct rm_wiggler_plan const *wiggler, double half, double z) {
    struct rm_potential at = rm_potential_at(wiggler, ray->x, ray->y, z);
    rm_real const scaled = half * ray->inverse;
    ray->px -= at.aypx;
    ray->py -= at.ay;
    ray->y += scaled * ray->py;
    ray->ct += 0.5 * scaled * ray->inverse * ray->py * ray->py;
    at = rm_potential_at(wiggler, ray->x, ray->y, z);
    ray->px += at.aypx;
    ray->py += at.ay;
}

RM_INLINE void rm_wiggler_drift_x(struct rm_ray *ray, struct rm_wiggler_plan const *wiggler, double length, double z) {
    struct rm_potential at = rm_potential_at(wiggler, ray->x, ray->y, z);
    rm_real const scaled = length * ray->inverse;
    ray->px -= at.ax;
    ray->py -= at.axpy;
    ray->x += scaled * ray->px;
    ray->ct += 0.5 * scaled * ray->inverse * ray->px * ray->px;
    at = rm_potential_at(wiggler, ray->x, ray->y, z);
    ray->px += at.ax;
    ray->py += at.axpy;
}

/** The loss over `length`, on the mechanical momenta. */
static void rm_wiggler_radiate(struct rm_ray *ray, struct rm_wiggler_plan const *wiggler, double length, double z) {
    struct rm_potential const at = rm_potential_at(wiggler, ray->x, ray->y, z);
    rm_real const change =
        -wiggler->loss * length * rm_square(1.0 + ray->delta) * rm_wiggler_field(wiggler, ray->x, ray->y, z);
    ray->delta += change;
    ray->px = (ray->px - at.ax) * (1.0 + change) + at.ax;
    ray->py = (ray->py - at.ay) * (1.0 + change) + at.ay;
    rm_ray_renew(ray);
}

/** From mechanical to canonical momenta at the entrance, with `sign` 1; back at the exit, with −1. */
RM_INLINE void rm_wiggler_gauge(struct rm_ray *ray, struct rm_wiggler_plan const *wiggler, double sign, double z) {
    struct rm_potential const at = rm_potential_at(wiggler, ray->x, ray->y, z);
    ray->px += sign * at.ax;
    ray->py += sign * at.ay;
}

static void rm_ray_wiggle(struct rm_ray *ray, struct rm_wiggler_plan const *wiggler) {
    double z = 0;
    if (wiggler->radiating) {
        rm_wiggler_gauge(ray, wiggler, 1, z);
        rm_wiggler_radiate(ray, wiggler, wiggler->slice_m, z);
    }
    for (uint32_t slice = 0; slice < wiggler->slices; ++slice) {
        for (uint32_t part = 0; part < wiggler->parts; ++part) {
            double const length = wiggler->part[part], half = 0.5 * length;
            z += half;
            rm_wiggler_drift_y(ray, wiggler, half, z);
            rm_wiggler_drift_x(ray, wiggler, length, z);
            rm_wiggler_drift_y(ray, wiggler, half, z);
            z += half;
        }
        if (wiggler->radiating)
            rm_wiggler_radiate(ray, wiggler, wiggler->slice_m, z);
    }
    if (wiggler->radiating)
        rm_wiggler_gauge(ray, wiggler, -1, z);
}

static void rm_pass_wiggler(struct rm_bundle *bundle, struct rm_track_step const *step) {
    for (unsigned i = 0; i < RM_RAYS; ++i)
        rm_ray_wiggle(&bundle->ray[i], step->data);
}

#endif
