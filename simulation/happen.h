// SPDX-License-Identifier: Apache-2.0
/** What an event of a simulation does: to a setting of the application, to an input, to the ring. */
#ifndef RM_SIMULATION_HAPPEN_H
#define RM_SIMULATION_HAPPEN_H

#include "simulation.h"

/** Does it, between two cycles. An error says what is wrong with the event. */
enum rm_code rm_simulation_happen(struct rm_simulation *simulation, struct rm_event const *event,
                                  struct rm_error *error);

#endif
