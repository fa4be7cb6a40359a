// SPDX-License-Identifier: Apache-2.0
/** RFCavityPass on the twin's turn 0: half its length, δ -= V/E sin(2π f (ct - lag) / c - φ), half its length. */
#ifndef RM_TANGENT_CAVITY_H
#define RM_TANGENT_CAVITY_H

#include <math.h>

#include "drift.h"
#include "route.h"

static inline void rm_tangent_cavity(struct rm_tangent *t, struct rm_leg_cavity const *cavity) {
    double const two_pi_over_c = 2 * M_PI / 2.99792458e8;
    double const wave = two_pi_over_c * cavity->frequency_hz;
    if (cavity->length_m != 0)
        rm_tangent_drift(t, cavity->length_m / 2);
    double const late = t->z[RM_CT] - cavity->time_lag_m;
    double const phase = wave * late - cavity->phase_lag_rad;
    double const slope = cavity->gain * cos(phase);
    double const loss = cavity->gain * sin(phase);
    t->z[RM_DELTA] -= loss;
    t->gained -= loss;
    t->j[RM_DELTA] -= (slope * wave) * t->j[RM_CT];
    t->j[RM_DELTA][RM_LANE_FREQUENCY] -= slope * two_pi_over_c * late;
    if (cavity->length_m != 0)
        rm_tangent_drift(t, cavity->length_m / 2);
}

#endif
