// SPDX-License-Identifier: Apache-2.0
/** What the events of a ring do: the one place that knows. */
#ifndef RM_INSTRUMENTS_EVENT_TARGETS_H
#define RM_INSTRUMENTS_EVENT_TARGETS_H

#include "ring_turns.h"

/** An event begins or ends at `turn`; `turns` is a struct rm_ring_turns. What it befalls and is not there (supplies
 * before their chains are open) stays as it is. */
void rm_event_targets_apply(void *turns, struct rm_ring_event const *event, rm_turn turn, bool begins);

/** The events of supplies alone, for a ring that has no instruments: at `time` on the chains' clock. */
void rm_event_targets_apply_supplies(struct rm_chains *chains, struct rm_ring_event const *event, double time,
                                     bool begins);

#endif
