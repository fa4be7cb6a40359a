// SPDX-License-Identifier: Apache-2.0
#include "lock_step.h"

#include "base/timebase.h"

static double const SPIN_SECONDS = 200e-6; /**< a server with a core of its own has answered by then */

/* A host that takes the core away for seconds is no server that hangs: the ring has looked so often meanwhile, too. */
static uint64_t const LEAST_LOOKS = 1000;

bool rm_lock_step_needs(struct rm_lock_step_config const *config, rm_turn turn, rm_turn *cycle) {
    if (config->period_turns == 0 || turn < config->answer_turns)
        return false;
    *cycle = (turn - config->answer_turns) / config->period_turns * config->period_turns;
    return true;
}

void rm_lock_step_go_on(struct rm_lock_step *lock_step) { rm_idle_end(&lock_step->idle); }

bool rm_lock_step_wait(struct rm_lock_step *lock_step) {
    uint64_t const now = rm_tsc();
    if (lock_step->idle.since_tsc == 0)
        lock_step->looks = 0;
    else if (++lock_step->looks > LEAST_LOOKS &&
             (double)(now - lock_step->idle.since_tsc) / lock_step->tsc_hz > RM_LOCK_STEP_SECONDS)
        return false;
    rm_idle_wait(&lock_step->idle, now, lock_step->naps ? 0 : (uint64_t)(SPIN_SECONDS * lock_step->tsc_hz));
    return true;
}
