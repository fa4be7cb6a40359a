// SPDX-License-Identifier: Apache-2.0
#include "lock_step.h"

#include <time.h>

#include "base/timebase.h"

static double const SPIN_SECONDS = 200e-6; /**< a server with a core of its own has answered by then */
static long const NAP_NS = 50 * 1000;

/* A host that takes the core away for seconds is no server that hangs: the ring has looked so often meanwhile, too. */
static uint64_t const LEAST_LOOKS = 1000;

bool rm_lock_step_needs(struct rm_lock_step_config const *config, rm_turn turn, rm_turn *cycle) {
    if (config->period_turns == 0 || turn < config->answer_turns)
        return false;
    *cycle = (turn - config->answer_turns) / config->period_turns * config->period_turns;
    return true;
}

void rm_lock_step_go_on(struct rm_lock_step *lock_step) { lock_step->waits = false; }

bool rm_lock_step_wait(struct rm_lock_step *lock_step) {
    uint64_t const now = rm_tsc();
    if (!lock_step->waits) {
        lock_step->waits = true;
        lock_step->waits_tsc = now;
        lock_step->looks = 0;
    }
    double const seconds = (double)(now - lock_step->waits_tsc) / lock_step->tsc_hz;
    if (++lock_step->looks > LEAST_LOOKS && seconds > RM_LOCK_STEP_SECONDS)
        return false;
    struct timespec const nap = {.tv_nsec = NAP_NS};
    if (seconds > SPIN_SECONDS)
        nanosleep(&nap, NULL);
    else
        rm_pause();
    return true;
}
