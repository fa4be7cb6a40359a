// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <ringmaster/s_curve.h>

static double share_of(double turns, double all) { return all > 0.0 ? turns / all : 1.0; }

double excite_run_envelope(struct excite_run const *run, uint64_t turn) {
    switch (run->state) {
    case EXCITE_RISING:
        return rm_s_curve_clamped(share_of((double)(turn - run->begin_turn), run->ramp_turns));
    case EXCITE_FULL:
        return 1.0;
    case EXCITE_FALLING:
        return run->fall_from * (1.0 - rm_s_curve_clamped(share_of((double)(turn - run->fall_turn), run->ramp_turns)));
    default:
        return 0.0;
    }
}

double excite_run_progress(struct excite_run const *run, uint64_t turn) {
    if (run->state == EXCITE_IDLE)
        return 0.0;
    double const share = share_of((double)(turn - run->begin_turn), 2.0 * run->ramp_turns + run->full_turns);
    return share < 1.0 ? share : 1.0;
}

static void begin_fall(struct excite_run *run, uint64_t turn, double from) {
    run->state = EXCITE_FALLING;
    run->fall_turn = turn;
    run->fall_from = from;
}

bool excite_run_go(struct excite_run *run, uint64_t turn, bool asked, double ramp_turns, double full_turns) {
    bool const begins = asked && run->was_asked == 0 && run->state == EXCITE_IDLE;
    if (run->state == EXCITE_IDLE || !asked) /* asked for again while it falls: the next one begins when it is idle */
        run->was_asked = asked;
    if (begins)
        *run = (struct excite_run){.state = EXCITE_RISING,
                                   .was_asked = true,
                                   .begin_turn = turn,
                                   .ramp_turns = ramp_turns,
                                   .full_turns = full_turns};
    double const since = (double)(turn - run->begin_turn), until = run->ramp_turns + run->full_turns;
    if ((run->state == EXCITE_RISING || run->state == EXCITE_FULL) && !asked)
        begin_fall(run, turn, excite_run_envelope(run, turn));
    if (run->state == EXCITE_RISING && since >= run->ramp_turns)
        run->state = EXCITE_FULL;
    if (run->state == EXCITE_FULL && since >= until)
        begin_fall(run, run->begin_turn + (uint64_t)until, 1.0);
    if (run->state == EXCITE_FALLING && (double)(turn - run->fall_turn) >= run->ramp_turns)
        run->state = EXCITE_IDLE;
    return begins;
}
