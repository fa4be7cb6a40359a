// SPDX-License-Identifier: Apache-2.0
/** From outputs of the loop to actuators, and what becomes of them there. */
#ifndef FEEDBACK_OUTPUTS_H
#define FEEDBACK_OUTPUTS_H

#include "../state/feedback.h"

/** Writes the setpoints of the loop and of the RF into the vector that is sent. */
void feedback_outputs_send(struct feedback *feedback, struct rm_command *command);

/** Finds where each output stands while the loop is off: where it was left, or where its readback says it is. */
void feedback_outputs_stand(struct feedback *feedback, struct rm_step const *given, bool is_shadow);

/** While the loop is on, or would be, and sends: checks whether its vectors are sent on to the supplies. */
void feedback_outputs_delivered(struct feedback *feedback, struct rm_step const *given,
                                struct rm_command const *command, bool is_shadow);

/** Watches the actuators: which is lost, which has been at its limit for too long, and which is back. While the loop
 * does not act, an actuator at its limit is not there because of the loop: the loop begins from there, and may bring
 * it back. */
void feedback_outputs_watch(struct feedback *feedback, struct rm_step const *given);

/** Adds the feed-forward of the tables to the next cycle's outputs. */
void feedback_outputs_forward(struct feedback *feedback);

#endif
