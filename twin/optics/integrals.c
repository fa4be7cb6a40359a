// SPDX-License-Identifier: Apache-2.0
/** Radiation integrals: analytic in each magnet from the optics at its entrance and the dispersion at its exit (R.
 * Helm, M. Lee, P. Morton, M. Sands, IEEE Trans. Nucl. Sci. NS-20, 900), uncoupled, as AT has them. */
#include "integrals.h"

#include <math.h>

#include "../lattice_parts.h"

static double const electron_mass_ev = 510998.95069, light_m_s = 2.99792458e8;
static double const least_angle_rad = 1e-7;
enum { SLICES_OF_A_PERIOD = 60 };

/** A bending magnet between its edges. */
struct bend_optics {
    double length_m, angle_rad, strength; /**< K */
    double beta, alpha, gamma;            /**< behind the entrance edge */
    double eta, eta_slope;                /**< there */
    double eta_exit, eta_exit_slope;      /**< before the exit edge */
    double edge[2];                       /**< tan of the edge angles over ρ */
};

/** Mean dispersion and mean H over the magnet. */
static void bend_means(struct bend_optics const *bend, double *eta, double *h) {
    double const length = bend->length_m, rho = length / bend->angle_rad, k = bend->strength + 1 / (rho * rho);
    double const h0 = bend->gamma * bend->eta * bend->eta + 2 * bend->alpha * bend->eta * bend->eta_slope +
                      bend->beta * bend->eta_slope * bend->eta_slope;
    if (k == 0) {
        double const first = 2 * (bend->alpha * bend->eta + bend->beta * bend->eta_slope) / rho;
        double const second = 2 * (-bend->alpha * bend->eta_slope + bend->beta / rho - bend->gamma * bend->eta) / rho;
        *eta = 0.5 * (bend->eta + bend->eta_exit) - length * length / 12 / rho;
        *h = h0 + first * length / 2 + second * length * length / 6 - bend->alpha * pow(length, 3) / 4 / (rho * rho) +
             bend->gamma * pow(length, 4) / 20 / (rho * rho);
        return;
    }
    double const angle = length * sqrt(fabs(k));
    double const s = (k > 0 ? sin(angle) : sinh(angle)) / angle, c = k > 0 ? cos(angle) : cosh(angle);
    double const b = 2 * (bend->alpha * bend->eta + bend->beta * bend->eta_slope) * rho;
    double const a = -2 * (bend->alpha * bend->eta_slope + bend->gamma * bend->eta) * rho;
    *eta = (bend->angle_rad - (bend->eta_exit_slope - bend->eta_slope)) / k / length;
    *h = h0 + (a * (1 - s) + b * (1 - c) / length + bend->gamma * (3 - 4 * s + s * c) / 2 / k -
               bend->alpha * (1 - c) * (1 - c) / k / length + bend->beta * (1 - s * c) / 2) /
                  k / (rho * rho);
}

/** A quadrupole's bending is that of the orbit through it. */
static void integrate_magnet(struct rm_element const *e, struct rm_optics const *in, struct rm_optics const *out,
                             double integral[5]) {
    double const angle = e->kind == RM_ELEMENT_DIPOLE ? e->bending_angle_rad
                                                      : in->closed_orbit[1] / (1 + in->closed_orbit[4]) -
                                                            out->closed_orbit[1] / (1 + out->closed_orbit[4]);
    if (fabs(angle) < least_angle_rad || e->length_m == 0)
        return;
    double const rho = e->length_m / angle, length = e->length_m, rho2 = rho * rho;
    double const entrance = tan(e->entrance_angle_rad) / rho, exit = tan(e->exit_angle_rad) / rho;
    struct bend_optics bend = {.length_m = length,
                               .angle_rad = angle,
                               .strength = e->polynom_b != NULL && e->max_order >= 1 ? e->polynom_b[1] : 0,
                               .beta = in->beta_m[0],
                               .alpha = in->alpha[0] - in->beta_m[0] * entrance,
                               .eta = in->dispersion[0],
                               .eta_slope = in->dispersion[1] + in->dispersion[0] * entrance,
                               .eta_exit = out->dispersion[0],
                               .eta_exit_slope = out->dispersion[1] - out->dispersion[0] * exit};
    bend.gamma = (1 + bend.alpha * bend.alpha) / bend.beta;
    double eta, h;
    bend_means(&bend, &eta, &h);
    integral[0] += eta * length / rho;
    integral[1] += length / rho2;
    integral[2] += length / fabs(rho) / rho2;
    integral[3] +=
        eta * length * (2 * bend.strength + 1 / rho2) / rho - (bend.eta * entrance + bend.eta_exit * exit) / rho;
    integral[4] += h * length / fabs(rho) / rho2;
}

/** |B|³ on the axis, averaged over a period by the trapezoidal rule, over (Bρ)³. */
static double mean_cube(struct rm_wiggler const *w, double b_rho) {
    double sum = 0;
    for (int i = 0; i <= SLICES_OF_A_PERIOD; ++i) {
        double const phase = 2 * M_PI * i / SLICES_OF_A_PERIOD;
        double bx = 0, by = 0;
        for (uint32_t k = 0; k < w->by_count; ++k)
            by -= w->peak_field_t * w->by[k].amplitude * cos(w->by[k].kz * phase + w->by[k].phase_rad);
        for (uint32_t k = 0; k < w->bx_count; ++k)
            bx += w->peak_field_t * w->bx[k].amplitude * cos(w->bx[k].kz * phase + w->bx[k].phase_rad);
        sum += (i == 0 || i == SLICES_OF_A_PERIOD ? 0.5 : 1) * pow(hypot(bx, by) / b_rho, 3);
    }
    return sum / SLICES_OF_A_PERIOD;
}

/** On the axis, with the dispersion that the wiggler makes itself left out but as a lower limit of I5. */
static void integrate_wiggler(struct rm_element const *e, struct rm_optics const *in, double b_rho,
                              double integral[5]) {
    struct rm_wiggler const *const w = e->wiggler;
    double const length = e->length_m, kw = 2 * M_PI / w->period_m, inverse = w->peak_field_t / b_rho;
    double const beta = in->beta_m[0], alpha = in->alpha[0], gamma = (1 + alpha * alpha) / beta;
    double const eta = in->dispersion[0], slope = in->dispersion[1];
    double const h = gamma * eta * eta + 2 * alpha * eta * slope + beta * slope * slope;
    double const mean_beta = beta + alpha * length + gamma * length * length / 3;
    double squares = 0;
    for (uint32_t k = 0; k < w->by_count; ++k)
        squares += w->by[k].amplitude * w->by[k].amplitude;
    for (uint32_t k = 0; k < w->bx_count; ++k)
        squares += w->bx[k].amplitude * w->bx[k].amplitude;
    double const first = w->by_count != 0 ? w->by[0].amplitude * inverse : 0;
    double const only = w->by_count != 0 ? first : (w->bx_count != 0 ? w->bx[0].amplitude * inverse : 0);
    double const i2 = length * squares * inverse * inverse / 2;
    double const i3 =
        w->by_count + w->bx_count == 1 ? length * pow(only, 3) * 4 / 3 / M_PI : mean_cube(w, b_rho) * length;
    integral[0] -= i2 / (kw * kw);
    integral[1] += i2;
    integral[2] += i3;
    integral[4] += fmax(h * i3, 4 * mean_beta * length * pow(first, 5) / 15 / M_PI / (kw * kw));
}

void rm_integrals(struct rm_twin const *twin, struct rm_optics const *optics, double integral[5]) {
    struct rm_lattice_facts const *const info = &twin->lattice->info;
    double const mass = info->rest_energy_ev != 0 ? info->rest_energy_ev : electron_mass_ev;
    double const b_rho = sqrt(info->energy_ev * info->energy_ev - mass * mass) / light_m_s;
    for (int i = 0; i < 5; ++i)
        integral[i] = 0;
    for (uint32_t i = 0; i < twin->count; ++i) {
        struct rm_element const *const e = &twin->elements[i];
        if (e->kind == RM_ELEMENT_DIPOLE || e->kind == RM_ELEMENT_QUADRUPOLE)
            integrate_magnet(e, &optics[i], &optics[i + 1], integral);
        else if (e->kind == RM_ELEMENT_WIGGLER && e->pass == RM_PASS_GWIG && e->wiggler != NULL)
            integrate_wiggler(e, &optics[i], b_rho, integral);
    }
}
