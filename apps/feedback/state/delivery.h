// SPDX-License-Identifier: Apache-2.0
/** Whether vectors reach the supplies. An integral that goes on while nothing is sent answers the same error again and
 * again. When all of that is sent at once, no loop survives it. So when the setpoints sent last are none of the last
 * two vectors, the loop holds: its command stands still, and matches what was sent as soon as vectors are sent again.
 */
#ifndef FEEDBACK_DELIVERY_H
#define FEEDBACK_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

/** The vector of the last cycle may still be under way. */
enum { FEEDBACK_DELIVERY_VECTORS = 2 };

struct feedback_delivery {
    uint32_t actuators;
    /** [actuator] tolerance of the comparison: setpoints travel in single precision. */
    double *tolerance;
    /** [vector][actuator] what was commanded, the newest first. */
    double *commanded[FEEDBACK_DELIVERY_VECTORS];
};

bool feedback_delivery_make(struct feedback_delivery *delivery, uint32_t actuators, double const *low,
                            double const *high);
void feedback_delivery_free(struct feedback_delivery *delivery);

/** Begins as if `command` had been commanded, and sent, for ever. */
void feedback_delivery_begin(struct feedback_delivery *delivery, double const *command);

/** Called once per cycle, after its vector; `sent` is as it was before the cycle. False when more than a quarter of
 * the actuators whose setpoint is known have none of the last commanded ones. */
bool feedback_delivery_judge(struct feedback_delivery *delivery, double const *sent, double const *command);

#endif
