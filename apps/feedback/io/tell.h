// SPDX-License-Identifier: Apache-2.0
/** Publishes readings and streams of a cycle that is over, as names.h lists them. */
#ifndef FEEDBACK_TELL_H
#define FEEDBACK_TELL_H

#include <ringmaster/application.h>

#include "../state/feedback.h"

void feedback_tell(struct feedback const *feedback, struct rm_application_setup const *setup,
                   struct rm_step const *given, struct rm_command *command);

#endif
