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
    for (unsigned row = 0; row < FEEDBACK_DELIVERY_ROWS; ++row)
        delivery->wished[row] = calloc(count, sizeof(double));
    if (delivery->tolerance == NULL || delivery->wished[0] == NULL || delivery->wished[1] == NULL)
        return false;
    for (uint32_t i = 0; i < actuators; ++i)
        delivery->tolerance[i] = TOLERANCE * (high[i] - low[i]);
    return true;
}

void feedback_delivery_free(struct feedback_delivery *delivery) {
    free(delivery->tolerance);
    for (unsigned row = 0; row < FEEDBACK_DELIVERY_ROWS; ++row)
        free(delivery->wished[row]);
}

void feedback_delivery_begin(struct feedback_delivery *delivery, double const *wish) {
    for (unsigned row = 0; row < FEEDBACK_DELIVERY_ROWS; ++row)
        memcpy(delivery->wished[row], wish, delivery->actuators * sizeof *wish);
}

bool feedback_delivery_judge(struct feedback_delivery *delivery, double const *sent, double const *wish) {
    uint32_t known = 0, elsewhere = 0;
    for (uint32_t i = 0; i < delivery->actuators; ++i) {
        double const near = delivery->tolerance[i], newest = fabs(sent[i] - delivery->wished[0][i]);
        double const before = fabs(sent[i] - delivery->wished[1][i]);
        known += isfinite(sent[i]) != 0;
        elsewhere += newest > near && before > near;
    }
    double *oldest = delivery->wished[1];
    delivery->wished[1] = delivery->wished[0];
    delivery->wished[0] = memcpy(oldest, wish, delivery->actuators * sizeof *wish);
    return 4 * elsewhere <= known;
}
