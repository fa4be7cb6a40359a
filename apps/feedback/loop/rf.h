// SPDX-License-Identifier: Apache-2.0
/** The RF frequency: takes the dispersive part of the orbit, at most ten times a second, and moves no faster than its
 * slew. In between it averages, and goes on its way to where it shall be. */
#ifndef FEEDBACK_RF_H
#define FEEDBACK_RF_H

#include <stdint.h>

struct feedback_rf {
    /** Cycles from one look to the next. */
    uint32_t every;
    /** `slew` is in the actuator's unit per cycle. */
    double gain, slew;
    /** Where the actuator stood when the loop went on. */
    double base;
    /** Sum of the dispersive parts since the last look. */
    double sum;
    /** Cycles in that sum. */
    uint32_t count;
    /** Where it shall be, and where it is now, both relative to `base`. */
    double wanted, now;
};

/** Begins from where the actuator stands. */
void feedback_rf_begin(struct feedback_rf *rf, double base);

/** One cycle, whose dispersive part is η⁺e in the actuator's unit. Returns what to send, within its limits. */
double feedback_rf_step(struct feedback_rf *rf, double dispersive, double low, double high);

#endif
