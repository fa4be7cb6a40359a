// SPDX-License-Identifier: Apache-2.0
/** From outputs of the loop to actuators, and what becomes of them there. */
#ifndef FEEDBACK_OUTPUTS_H
#define FEEDBACK_OUTPUTS_H

#include "../state/feedback.h"

/** The loop's setpoints, and the RF's, become the row that is sent. */
void feedback_outputs_send(struct feedback *feedback, struct rm_command *command);

/** Where each output stands while the loop is not on: where it was left; or where it is, if it is elsewhere. */
void feedback_outputs_stand(struct feedback *feedback, struct rm_step const *given, bool is_shadow);

/** While the loop is on, or would be, and sends: does somebody send its rows on? */
void feedback_outputs_delivered(struct feedback *feedback, struct rm_step const *given,
                                struct rm_command const *command, bool is_shadow);

/** Actuators: who is lost, who has been at its limit for long, and who is back. While the loop does not act, nobody is
 * where it is because of it: it begins from there, and may bring it back. */
void feedback_outputs_watch(struct feedback *feedback, struct rm_step const *given);

/** What goes ahead of the next cycle, from tables. */
void feedback_outputs_forward(struct feedback *feedback);

#endif
