// SPDX-License-Identifier: Apache-2.0
#include "rf.h"

#include <math.h>

static double rf_clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

void feedback_rf_begin(struct feedback_rf *rf, double base) {
    rf->base = base;
    rf->sum = rf->wanted = rf->now = 0.0;
    rf->count = 0;
}

double feedback_rf_step(struct feedback_rf *rf, double dispersive, double low, double high) {
    rf->sum += dispersive;
    if (++rf->count >= rf->every) {
        rf->wanted = rf_clamp(rf->wanted + rf->gain * rf->sum / rf->count, low - rf->base, high - rf->base);
        rf->sum = 0.0;
        rf->count = 0;
    }
    rf->now += rf_clamp(rf->wanted - rf->now, -rf->slew, rf->slew);
    return rf->base + rf->now;
}
