// SPDX-License-Identifier: Apache-2.0
/** How the feedback is made from its configuration, how it begins, and how it ends. */
#ifndef FEEDBACK_OPEN_H
#define FEEDBACK_OPEN_H

#include <ringmaster/application.h>
#include <ringmaster/error.h>

struct feedback;

/** Reads the file that the setup names, and allocates. */
enum rm_code feedback_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error);
void feedback_close(void *memory);

/** Sets all states to their first values, and finds the inputs. What was solved is kept. */
enum rm_code feedback_begin(struct feedback *feedback, struct rm_application_setup const *setup,
                            struct rm_error *error);

/** Forgets where actuators were left: from now on that is unknown. */
void feedback_forget_standing(struct feedback *feedback);

#endif
