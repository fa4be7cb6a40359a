// SPDX-License-Identifier: Apache-2.0
/** A ring whose time waits for the loop.
 *
 * In real time a loop that shares its cores with others misses cycles. In lock-step it misses none: after the turns of
 * a cycle the ring's time stands until the setpoints that answer them are there. So a stall of the host costs time, and
 * no cycle. The turn of a cycle is a multiple of `period_turns`; its setpoints are needed `answer_turns` later, which
 * is therefore the delay of the loop's computer.
 *
 * Nothing is waited for before a server has sent setpoints. Afterwards it sends some in each cycle, whatever becomes of
 * its applications: where none come for RM_LOCK_STEP_SECONDS, the server hangs, and the ring fails. A server that ends
 * takes the link down, where that is memif or vhost; then nothing is waited for before the next one has sent setpoints.
 */
#ifndef RM_INSTRUMENTS_LOCK_STEP_H
#define RM_INSTRUMENTS_LOCK_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

#include "base/idle.h"

enum { RM_LOCK_STEP_PERIOD_MAX = 1000000, RM_LOCK_STEP_SECONDS = 10 };

struct rm_lock_step_config {
    /** 0: the ring does not wait. */
    uint32_t period_turns;
    /** Turns from a cycle's turn until its setpoints are needed: 1 … period_turns. */
    uint32_t answer_turns;
};

struct rm_lock_step {
    struct rm_lock_step_config config;
    double tsc_hz;
    struct rm_idle idle;
    /** Looks since that wait began. */
    uint64_t looks;
    /** The cores are everyone's (polling.naps): it naps at once. */
    bool naps;
};

/** The cycle whose setpoints must be there before `turn` may be sent. False: there is none. */
bool rm_lock_step_needs(struct rm_lock_step_config const *config, rm_turn turn, rm_turn *cycle);

/** Notes that the setpoints that were waited for are there. */
void rm_lock_step_go_on(struct rm_lock_step *lock_step);

/** Lets a little time pass while the setpoints are not there. It leaves some time to a server on the same core, which
 * would answer later without it. False when the wait has been too long. */
bool rm_lock_step_wait(struct rm_lock_step *lock_step);

#endif
