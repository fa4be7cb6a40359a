// SPDX-License-Identifier: Apache-2.0
#include "delivery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double const TOLERANCE = 1e-6; /**< of an actuator's range */

bool feedback_delivery_make(struct feedback_delivery *delivery, uint32_t actuators, double const *low,
                            double const *high) {
    size_t const count = actuators + 1ul;
    *delivery = (struct feedback_delivery){.actuators = actuators, .tolerance = calloc(count, sizeof(double))};
    for (unsigned vector = 0; vector < FEEDBACK_DELIVERY_VECTORS; ++vector)
        delivery->commanded[vector] = calloc(count, sizeof(double));
    if (delivery->tolerance == NULL || delivery->commanded[0] == NULL || delivery->commanded[1] == NULL)
        return false;
    for (uint32_t i = 0; i < actuators; ++i)
        delivery->tolerance[i] = TOLERANCE * (high[i] - low[i]);
    return true;
}

void feedback_delivery_free(struct feedback_delivery *delivery) {
    free(delivery->tolerance);
    for (unsigned vector = 0; vector < FEEDBACK_DELIVERY_VECTORS; ++vector)
        free(delivery->commanded[vector]);
}

void feedback_delivery_begin(struct feedback_delivery *delivery, double const *command) {
    for (unsigned vector = 0; vector < FEEDBACK_DELIVERY_VECTORS; ++vector)
        memcpy(delivery->commanded[vector], command, delivery->actuators * sizeof *command);
}

bool feedback_delivery_judge(struct feedback_delivery *delivery, double const *sent, double const *command) {
    uint32_t known = 0, elsewhere = 0;
    for (uint32_t i = 0; i < delivery->actuators; ++i) {
        double const near = delivery->tolerance[i], newest = fabs(sent[i] - delivery->commanded[0][i]);
        double const before = fabs(sent[i] - delivery->commanded[1][i]);
        known += isfinite(sent[i]) != 0;
        elsewhere += newest > near && before > near;
    }
    double *oldest = delivery->commanded[1];
    delivery->commanded[1] = delivery->commanded[0];
    delivery->commanded[0] = memcpy(oldest, command, delivery->actuators * sizeof *command);
    return 4 * elsewhere <= known;
}
