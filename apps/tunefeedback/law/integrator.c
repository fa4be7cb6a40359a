// SPDX-License-Identifier: Apache-2.0
#include "integrator.h"

#include <math.h>

static double const LEAST_DETERMINANT = 0.01;

bool tunefeedback_invert(double const matrix[TUNEFEEDBACK_PLANES][TUNEFEEDBACK_FAMILIES],
                         double inverse[TUNEFEEDBACK_FAMILIES][TUNEFEEDBACK_PLANES]) {
    double const determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
    double const most = hypot(matrix[0][0], matrix[1][0]) * hypot(matrix[0][1], matrix[1][1]);
    if (!(fabs(determinant) >= LEAST_DETERMINANT * most) || most == 0.0)
        return false;
    inverse[0][0] = matrix[1][1] / determinant;
    inverse[0][1] = -matrix[0][1] / determinant;
    inverse[1][0] = -matrix[1][0] / determinant;
    inverse[1][1] = matrix[0][0] / determinant;
    return true;
}

/** The share of a move for which there is room. */
static double share_within(double move, double low, double high) {
    if (move > high)
        return fmax(high, 0.0) / move;
    if (move < low)
        return fmin(low, 0.0) / move;
    return 1.0;
}

bool tunefeedback_move(struct tunefeedback_integrator const *integrator, double const error[TUNEFEEDBACK_PLANES],
                       double gain, double move_a[TUNEFEEDBACK_FAMILIES]) {
    double step = 1.0, excursion = 1.0;
    for (int family = 0; family < TUNEFEEDBACK_FAMILIES; ++family) {
        move_a[family] = 0.0;
        for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane)
            move_a[family] += gain * integrator->share * integrator->inverse[family][plane] * error[plane];
        double const offset = integrator->offset_a[family], most = integrator->step_a[family];
        step = fmin(step, share_within(move_a[family], -most, most));
        excursion = fmin(excursion, share_within(move_a[family], integrator->low_a[family] - offset,
                                                 integrator->high_a[family] - offset));
    }
    for (int family = 0; family < TUNEFEEDBACK_FAMILIES; ++family)
        move_a[family] *= fmin(step, excursion);
    return excursion < step;
}
