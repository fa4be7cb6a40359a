// SPDX-License-Identifier: Apache-2.0
/** Whether vectors reach the supplies. Who goes on integrating while nobody sends what it commands answers the same
 * error again and again, and when all of it is sent at once no loop survives it. So when what was sent last is none of
 * the last two vectors, the loop holds: its command stands still then, and is what was sent as soon as somebody sends
 * again.
 */
#ifndef FEEDBACK_DELIVERY_H
#define FEEDBACK_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

/** The vector of the last cycle may still be under way. */
enum { FEEDBACK_DELIVERY_VECTORS = 2 };

struct feedback_delivery {
    uint32_t actuators;
    /** [actuator] setpoints travel in single precision. */
    double *tolerance;
    /** [actuator] the newest first. */
    double *commanded[FEEDBACK_DELIVERY_VECTORS];
};

bool feedback_delivery_make(struct feedback_delivery *delivery, uint32_t actuators, double const *low,
                            double const *high);
void feedback_delivery_free(struct feedback_delivery *delivery);

/** As if these had been commanded, and sent, for ever. */
void feedback_delivery_begin(struct feedback_delivery *delivery, double const *command);

/** Once per cycle, after its vector: `sent` as it was before the cycle. False when more than a quarter of the actuators
 * whose place is known are elsewhere than any of the last vectors commanded. */
bool feedback_delivery_judge(struct feedback_delivery *delivery, double const *sent, double const *command);

#endif
