// SPDX-License-Identifier: Apache-2.0
/** The RF frequency: takes the dispersive part of the orbit, at most ten times a second, and moves no faster than its
 * slew. In between it averages, and goes on its way to where it shall be. */
#ifndef FEEDBACK_RF_H
#define FEEDBACK_RF_H

#include <stdint.h>

struct feedback_rf {
    uint32_t every;     /**< cycles from one look to the next */
    double gain, slew;  /**< slew per cycle */
    double base;        /**< where the actuator stood */
    double sum;         /**< of the dispersive parts since the last look */
    uint32_t count;     /**< cycles in it */
    double wanted, now; /**< beyond `base` */
};

/** From where it stands. */
void feedback_rf_begin(struct feedback_rf *rf, double base);

/** One cycle, whose dispersive part is η⁺e in the actuator's unit. Returns what to send, within its limits. */
double feedback_rf_step(struct feedback_rf *rf, double dispersive, double low, double high);

#endif
