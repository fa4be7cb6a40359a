// SPDX-License-Identifier: Apache-2.0
/** A state is entered: its values are worked out, and its actions begin. Either all of them do, or none, but
 * for what `let` has set by then. */
#ifndef SEQUENCE_ENTER_H
#define SEQUENCE_ENTER_H

#include "run.h"

/** Enters a state of the frame's sequence. Returns SEQUENCE_CAUSE_NONE; or why it cannot be, with the supply in
 * `run->cause_of`, and no motion. */
enum sequence_cause sequence_enter(struct sequence_run *run, struct sequence_step *step, struct sequence_frame *frame,
                                   uint32_t node);

#endif
