// SPDX-License-Identifier: Apache-2.0
/** What may befall a sequence that runs. */
#ifndef SEQUENCE_WATCH_H
#define SEQUENCE_WATCH_H

#include "run.h"

/** Reads the inputs, and counts those that are missing. In each step that something runs. */
void sequence_watch_inputs(struct sequence_run *run, struct sequence_step *step);

/** Looks whether all supplies of the sequence follow what they were commanded in the step before: with the setpoints as
 * they come. */
void sequence_watch_supplies(struct sequence_run *run, struct sequence_step *step);

/** The first that is wrong, beside timeouts of states; NONE: nothing. */
enum sequence_cause sequence_watch(struct sequence_run *run, struct sequence_step *step);

/** Begins to watch the supplies of a sequence: where they stand is their base. Returns SEQUENCE_CAUSE_SUPPLY where that is
 * not known of one. */
enum sequence_cause sequence_watch_begin(struct sequence_run *run, struct sequence_step *step, uint32_t chart);

#endif
