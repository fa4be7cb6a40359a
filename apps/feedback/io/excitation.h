// SPDX-License-Identifier: Apache-2.0
/** What is excited in the next cycle, and where: a mode's error or an actuator, also while the loop is off. The signal
 * itself is in excite.h. */
#ifndef FEEDBACK_EXCITATION_H
#define FEEDBACK_EXCITATION_H

#include "../state/feedback.h"

void feedback_excitation_prepare(struct feedback *feedback, struct rm_application_setup const *setup,
                                 struct rm_step const *given);

#endif
