// SPDX-License-Identifier: Apache-2.0
/** What passes between the stepping thread and the solver's thread: the question what to solve, and the answer. */
#ifndef FEEDBACK_ASK_H
#define FEEDBACK_ASK_H

#include "../state/feedback.h"

/** Settles which rows and columns shall take part, and asks for a solution when that is not what was asked for last. */
void feedback_ask(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given);

/** The loop takes a new solution, if there is one and the step may take it. */
void feedback_take_answer(struct feedback *feedback, struct rm_step const *given);

#endif
