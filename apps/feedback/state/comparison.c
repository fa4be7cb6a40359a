// SPDX-License-Identifier: Apache-2.0
#include "comparison.h"

#include <math.h>

double feedback_shadow_rms(double const *ours, double const *theirs, uint32_t count) {
    double squares = 0.0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; ++i) {
        double const difference = ours[i] - theirs[i];
        if (!isfinite(difference))
            continue;
        squares += difference * difference;
        ++known;
    }
    return known > 0 ? sqrt(squares / known) : 0.0;
}
