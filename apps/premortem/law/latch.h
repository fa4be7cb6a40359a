// SPDX-License-Identifier: Apache-2.0
/** From a level to an alarm, which stays until it is reset.
 *
 * The level crosses in the first record of a run in which it is the threshold or more, and it is an alarm when `confirm`
 * records in a row are. A level that is NaN ends a run and is no alarm. While it is masked there is no alarm; a run that
 * outlasts the mask is one as soon as that has ended.
 */
#ifndef PREMORTEM_LATCH_H
#define PREMORTEM_LATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

struct premortem_latch {
    /** Records of the present run; 0: the level is below. */
    uint32_t run;
    /** It has alarmed, and was not reset. */
    bool is_latched;
    /** The present run was an alarm, or was counted as masked. */
    bool is_counted, is_hidden;
    /** Turn of the run's first record. */
    rm_turn run_turn;
    /** Turn that crossed of the last alarm; RM_TURN_NONE before the first. */
    rm_turn crossed;
    /** Alarms, and runs that a mask kept from being one. */
    uint64_t alarms, masked;
};

struct premortem_rule {
    double threshold;
    /** At least 1. */
    uint32_t confirm;
    bool is_masked;
};

/** Takes the level of a record. True: here is a new alarm. One that is latched already has no new ones. */
bool premortem_latch_take(struct premortem_latch *latch, struct premortem_rule const *rule, double level, rm_turn turn);

/** Ends the alarm. If the level still is over, the next record is a new one. */
void premortem_latch_reset(struct premortem_latch *latch);

#endif
