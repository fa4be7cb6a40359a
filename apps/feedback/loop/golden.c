// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <math.h>

#include "../law/clamp.h"

static void golden_move_towards(struct feedback_golden *golden, double const *wanted, double share) {
    for (uint32_t row = 0; row < golden->rows; ++row) {
        golden->now[row] = share < 1.0 ? golden->now[row] + share * (wanted[row] - golden->now[row]) : wanted[row];
        golden->whole[row] = (int32_t)lrint(golden->now[row]);
    }
}

void feedback_golden_begin(struct feedback_golden *golden, double const *wanted) {
    golden_move_towards(golden, wanted, 1.0);
}

void feedback_golden_approach(struct feedback_golden *golden, double const *wanted, uint32_t cycles) {
    double const most = golden->most * cycles;
    double furthest = 0.0;
    for (uint32_t row = 0; row < golden->rows; ++row)
        furthest = feedback_max(fabs(wanted[row] - golden->now[row]), furthest);
    if (furthest > 0.0)
        golden_move_towards(golden, wanted, most < furthest ? most / furthest : 1.0);
}
