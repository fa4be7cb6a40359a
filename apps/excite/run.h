// SPDX-License-Identifier: Apache-2.0
/** One run of sines: it rises, lasts, and falls. A function of turns and of the permission. */
#ifndef EXCITE_RUN_H
#define EXCITE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"

struct excite_run {
    enum excite_state state;
    /** Whether the permission has begun a run already: one begins where it is given, or when the run before has fallen. */
    uint32_t was_asked;
    uint64_t begin_turn, fall_turn;
    /** [state] turns of the ramp, and at full amplitude. */
    double ramp_turns, full_turns;
    /** The envelope where it begins to fall. */
    double fall_from;
};

/** Goes to the step at `turn`. True: a run begins at it. */
bool excite_run_go(struct excite_run *run, uint64_t turn, bool asked, double ramp_turns, double full_turns);

/** By how much the amplitudes count at a turn, 0 to 1. */
double excite_run_envelope(struct excite_run const *run, uint64_t turn);

/** The share of the run's time that has passed at a turn; 0 of none. */
double excite_run_progress(struct excite_run const *run, uint64_t turn);

#endif
