// SPDX-License-Identifier: Apache-2.0
/** What a program must keep before it runs. All that does not is told at once.
 *
 *     calls      no sequence calls itself, by whatever way; at most SEQUENCE_DEPTH_MAX stand on each other
 *     states     each can be reached, and from each an end can; each has a timeout, its own or that of its sequence
 *     abort      from its state on no way leads back, and each state has a way out that comes for certain: `done`, or a
 *                timeout of its own
 *     writers    no two actions that may run together move one supply
 *     limits     what a supply goes to lies within its limits, wherever that is known of variables alone; midway too
 */
#ifndef SEQUENCE_CHECK_H
#define SEQUENCE_CHECK_H

#include "compile.h"

/** Checks all of it. Where groups are not bound to supplies yet, a group counts as one supply, with its own limits.
 * Sets depths and costs. */
void sequence_check(struct sequence_compiling *it);

/** Its parts. */
bool sequence_check_calls(struct sequence_compiling *it);
void sequence_check_states(struct sequence_compiling *it);
void sequence_check_abort(struct sequence_compiling *it);
void sequence_check_writers(struct sequence_compiling *it);
void sequence_check_limits(struct sequence_compiling *it);

/** Operations of steps, from the last called sequence to the first caller. */
void sequence_count_costs(struct sequence_program *program);

/** Calls `act` for each state that is reached from `from` by ways and timeouts, `from` included; NONE: for none. */
void sequence_mark_reached(struct sequence_program const *program, uint32_t chart, uint32_t from, bool *is_reached);

/** The state after a state's own timeout; NONE: it has none, or the sequence ends. */
uint32_t sequence_after_timeout(struct sequence_program const *program, uint32_t chart, uint32_t node);

/** Sets the place to a state of a sequence, by their global indices. */
void sequence_place_state(struct sequence_compiling *it, uint32_t chart, uint32_t node);
char const *sequence_state_name(struct sequence_program const *program, uint32_t chart, uint32_t node);

/** The largest of the actions' `call`: where in the file it is. */
uint32_t sequence_calling_act(struct sequence_program const *program, uint32_t node);

#endif
