// SPDX-License-Identifier: Apache-2.0
#include "sine.h"

#include <math.h>

void sequence_sine_begin(struct sequence_sine *sine, double rad_per_turn, double phase_rad, uint32_t step_turns) {
    *sine = (struct sequence_sine){.rad_per_turn = rad_per_turn, .phase_rad = phase_rad, .step_turns = step_turns};
    sine->turn_sine = sin(rad_per_turn * step_turns);
    sine->turn_cosine = cos(rad_per_turn * step_turns);
    sequence_sine_place(sine, 0);
}

void sequence_sine_place(struct sequence_sine *sine, uint64_t turn) {
    double const at = sine->rad_per_turn * (double)turn + sine->phase_rad;
    sine->sine = sin(at);
    sine->cosine = cos(at);
    sine->turn = turn;
    sine->rotations = 0;
}
