// SPDX-License-Identifier: Apache-2.0
/** What is hot of the controllers, once per instruction set: controllers_alike.h. */
#ifndef FEEDBACK_CONTROLLERS_PASS_H
#define FEEDBACK_CONTROLLERS_PASS_H

#include "controllers.h"

/** Share of a resonator's state that goes in a cycle in which as much was cut as was sent, or more: it gives way within
 * some tens of cycles. In between it goes by the square of what was cut over what was sent: an actuator among many that
 * is at its limit takes a little off every mode, and must not cost every mode its resonators. */
static double const feedback_bleed = 1.0 / 16;

/** Makes the correction from the model. What the correction, and resonators that are gone, add to `ahead` is put into
 * the integral: `ahead` stays as it is. */
void feedback_controllers_reconcile(struct feedback_controllers *controllers);

typedef void feedback_controllers_pass(struct feedback_controllers *controllers, double const *error,
                                       double const *command, double const *sent);
typedef void feedback_map_pass(double *to, uint32_t rows, double const *from, uint32_t columns, double const *map);

feedback_controllers_pass feedback_update_scalar, feedback_update_avx2, feedback_update_avx512;
feedback_map_pass feedback_map_scalar, feedback_map_avx2, feedback_map_avx512;

#endif
