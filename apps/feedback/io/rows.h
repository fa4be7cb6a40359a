// SPDX-License-Identifier: Apache-2.0
/** The rows of a cycle: each record as it comes, then what is missing, and in the end which of them are used. */
#ifndef FEEDBACK_ROWS_H
#define FEEDBACK_ROWS_H

#include "../state/feedback.h"

/** An input's record has come: errors of its rows, which are watched, and added to the product; and what else it has:
 * sums, the gate, tables, another system's readbacks. As struct rm_application_code has it. */
void feedback_rows_arrive(struct rm_application_setup const *setup, void *state, uint32_t number,
                          struct rm_record const *record);

/** The step's part. What did not come, or leapt, in a cycle in which too much did not come, says nothing of itself. */
void feedback_rows_reconcile(struct feedback *feedback, struct rm_application_setup const *setup,
                             struct rm_step const *given);

/** Ends the cycle: who is at fault, and which rows are used; `mask` has an element per row. */
void feedback_rows_close(struct feedback *feedback, double const *mask);

#endif
