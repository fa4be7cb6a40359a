// SPDX-License-Identifier: Apache-2.0
#include "cycle.h"

#include <math.h>
#include <string.h>

#include "../law/clamp.h"

static double const UM = 1e-3; /* of a nm */

void feedback_cycle_clear(struct feedback_cycle *cycle) {
    memset(cycle->error, 0, cycle->rows * sizeof *cycle->error);
    cycle->pendings = 0;
    cycle->leaps = 0;
}

/** Sum of squares and largest, of one plane. */
struct plane_sum {
    double squares, worst;
    uint32_t count;
};

static void plane_sum_add(struct plane_sum *sum, double error) {
    sum->squares += error * error;
    sum->worst = feedback_max(fabs(error), sum->worst);
    ++sum->count;
}

static double plane_sum_rms(struct plane_sum const *sum) {
    return sum->count > 0 ? sqrt(sum->squares / sum->count) : 0.0;
}

struct feedback_orbit feedback_cycle_orbit(struct feedback_cycle const *cycle, char const *plane, bool const *is_used) {
    struct plane_sum x = {0}, y = {0};
    for (uint32_t row = 0; row < cycle->rows; ++row)
        if (is_used[row])
            plane_sum_add(plane[row] == 'y' ? &y : &x, cycle->error[row] * UM);
    return (struct feedback_orbit){plane_sum_rms(&x), plane_sum_rms(&y), x.worst, y.worst};
}

static void cumulated_finish(struct feedback_cumulated *cumulated, struct feedback_cycle const *cycle,
                             char const *plane, bool const *is_used) {
    struct plane_sum x = {0}, y = {0};
    for (uint32_t row = 0; row < cycle->rows; ++row) {
        struct plane_sum *sum = plane[row] == 'y' ? &y : &x;
        if (is_used[row]) {
            sum->worst += sqrt(cumulated->squares[row] / cumulated->count);
            ++sum->count;
        }
        cumulated->squares[row] = 0.0;
    }
    cumulated->x = x.count > 0 ? x.worst / x.count : 0.0;
    cumulated->y = y.count > 0 ? y.worst / y.count : 0.0;
    cumulated->count = 0;
}

void feedback_cumulate(struct feedback_cumulated *cumulated, struct feedback_cycle const *cycle, char const *plane,
                       bool const *is_used) {
    for (uint32_t row = 0; row < cycle->rows; ++row) {
        double const error = cycle->error[row] * UM;
        cumulated->squares[row] += error * error;
    }
    if (++cumulated->count >= cumulated->most)
        cumulated_finish(cumulated, cycle, plane, is_used);
}
