// SPDX-License-Identifier: Apache-2.0
#include "latch.h"

bool premortem_latch_take(struct premortem_latch *latch, struct premortem_rule const *rule, double level,
                          rm_turn turn) {
    if (!(level >= rule->threshold)) {
        latch->run = 0;
        latch->is_counted = latch->is_hidden = false;
        return false;
    }
    if (latch->run == 0)
        latch->run_turn = turn;
    latch->run += latch->run < rule->confirm;
    if (latch->run < rule->confirm || latch->is_counted || latch->is_latched)
        return false;
    if (rule->is_masked) {
        latch->masked += !latch->is_hidden;
        latch->is_hidden = true;
        return false;
    }
    latch->is_counted = latch->is_latched = true;
    latch->crossed = latch->run_turn;
    ++latch->alarms;
    return true;
}

void premortem_latch_reset(struct premortem_latch *latch) { latch->is_latched = latch->is_counted = false; }
