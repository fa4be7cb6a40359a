// SPDX-License-Identifier: Apache-2.0
/** The rows of a cycle: each record as it comes, then what is missing, and in the end which of them are used. */
#ifndef FEEDBACK_ROWS_H
#define FEEDBACK_ROWS_H

#include "../state/feedback.h"

/** An input's record has come. Its rows are watched, and their errors are added to the product. Its other lanes are
 * taken too: sums, the gate, tables, another system's readbacks. Signature as in struct rm_application_code. */
void feedback_rows_arrive(struct rm_application_setup const *setup, void *state, uint32_t number,
                          struct rm_record const *record);

/** Called in the step, after the records. In a cycle in which too much did not come, a row that is missing or leapt is
 * not blamed for it. */
void feedback_rows_reconcile(struct feedback *feedback, struct rm_application_setup const *setup,
                             struct rm_step const *given);

/** Ends the cycle: which rows are at fault, and which are used. `mask` has an element per row. */
void feedback_rows_close(struct feedback *feedback, double const *mask);

#endif
