// SPDX-License-Identifier: Apache-2.0
/** The RF frequency: takes the dispersive part of the orbit, at most ten times a second, and moves no faster than its
 * slew. In between it averages, and goes on its way to where it shall be. */
#ifndef FEEDBACK_RF_H
#define FEEDBACK_RF_H

#include <stdint.h>

struct feedback_rf {
    /** Cycles from one look to the next. */
    uint32_t every;
    /** Slew per cycle. */
    double gain, slew;
    /** Where the actuator stood. */
    double base;
    /** Of the dispersive parts since the last look. */
    double sum;
    /** Cycles in it. */
    uint32_t count;
    /** Beyond `base`. */
    double wanted, now;
};

/** From where it stands. */
void feedback_rf_begin(struct feedback_rf *rf, double base);

/** One cycle, whose dispersive part is η⁺e in the actuator's unit. Returns what to send, within its limits. */
double feedback_rf_step(struct feedback_rf *rf, double dispersive, double low, double high);

#endif
