// SPDX-License-Identifier: Apache-2.0
#include "enable_conditions.h"

#include <math.h>

#include "../law/clamp.h"

void feedback_beam_add(struct feedback_beam *beam, double value) {
    double const most = 1e12; /* of 1024 lanes the sum stays within 64 bits */
    double const held = isfinite(value) ? feedback_clamp(value, -most, most) : 0.0;
    beam->sum += (int64_t)(held * FEEDBACK_SUM_FRACTION);
    ++beam->count;
}

bool feedback_beam_judge(struct feedback_beam *beam) {
    if (!beam->watched)
        return true;
    if (beam->count > 0) {
        double const mean = (double)beam->sum / FEEDBACK_SUM_FRACTION / beam->count;
        if (beam->distrust > 0)
            --beam->distrust;
        if (mean < (1.0 - beam->drop) * beam->mean)
            beam->distrust = beam->return_cycles;
        beam->mean = mean;
    }
    beam->sum = 0;
    beam->count = 0;
    return beam->mean >= beam->least && beam->distrust == 0;
}

void feedback_gate_see(struct feedback_gate *gate, bool bit) {
    if (bit && !gate->was)
        gate->left = gate->cycles;
    gate->was = bit;
}

bool feedback_gate_judge(struct feedback_gate *gate) {
    if (gate->left == 0)
        return false;
    --gate->left;
    return true;
}
