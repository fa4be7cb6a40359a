// SPDX-License-Identifier: Apache-2.0
/** The supplies of both families: which is in which, where they stood, and how far each family may go. */
#ifndef TUNEFEEDBACK_SUPPLIES_H
#define TUNEFEEDBACK_SUPPLIES_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>

#include "file.h"

enum { TUNEFEEDBACK_SUPPLIES_MAX = 1024 };

struct tunefeedback_supplies {
    uint32_t count;
    uint8_t family[TUNEFEEDBACK_SUPPLIES_MAX];
    /** Setpoints from which the offsets count, A. */
    double reference[TUNEFEEDBACK_SUPPLIES_MAX];
};

/** Finds the families' supplies among the actuators. RM_E_CONFIG for one that is in none or in both, and for a family
 * that has none. */
enum rm_code tunefeedback_supplies_find(struct rm_application_setup const *setup, struct tunefeedback_file const *file,
                                        struct tunefeedback_supplies *supplies, struct rm_error *error);

/** Where they stand now is the reference. Ranges and steps of the integrator become what file and supplies allow. */
void tunefeedback_supplies_refer(struct rm_application_setup const *setup, struct tunefeedback_file const *file,
                                 double const *setpoint, struct tunefeedback_supplies *supplies,
                                 struct tunefeedback_integrator *integrator);

/** Whether all supplies are where the loop has sent them, to the three steps that may be under way. One that has tripped,
 * or whose chain does not answer, is not. */
bool tunefeedback_supplies_follow(struct rm_application_setup const *setup,
                                  struct tunefeedback_supplies const *supplies,
                                  struct tunefeedback_integrator const *integrator, double const *setpoint,
                                  double const *sent);

/** Reference and offsets, as setpoints. */
void tunefeedback_supplies_put(struct tunefeedback_supplies const *supplies,
                               struct tunefeedback_integrator const *integrator, double *setpoint);

#endif
