// SPDX-License-Identifier: Apache-2.0
/** A sine by rotation, whose phase is that of the turn: sin(rate · turns + phase). A step of the usual number of turns
 * costs four multiplications; behind any other, and now and then, it is worked out anew, so that roundings do not add up
 * and a skipped step loses no phase. */
#ifndef SEQUENCE_LAW_SINE_H
#define SEQUENCE_LAW_SINE_H

#include <stdint.h>

enum { SEQUENCE_SINE_ROTATIONS_MAX = 1024 };

struct sequence_sine {
    double sine, cosine;
    /** One step's rotation. */
    double turn_sine, turn_cosine;
    double rad_per_turn, phase_rad;
    /** Turn that sine and cosine are of. */
    uint64_t turn;
    uint32_t step_turns;
    /** Rotations since it was worked out. */
    uint32_t rotations;
};

void sequence_sine_begin(struct sequence_sine *sine, double rad_per_turn, double phase_rad, uint32_t step_turns);

/** Works it out anew for a turn. */
void sequence_sine_place(struct sequence_sine *sine, uint64_t turn);

/** The sine of a turn, which is not before that of the last call. */
static inline double sequence_sine_at(struct sequence_sine *sine, uint64_t turn) {
    if (turn - sine->turn != sine->step_turns || sine->rotations == SEQUENCE_SINE_ROTATIONS_MAX) {
        sequence_sine_place(sine, turn);
        return sine->sine;
    }
    double const s = sine->sine * sine->turn_cosine + sine->cosine * sine->turn_sine;
    sine->cosine = sine->cosine * sine->turn_cosine - sine->sine * sine->turn_sine;
    sine->sine = s;
    sine->turn = turn;
    ++sine->rotations;
    return s;
}

#endif
