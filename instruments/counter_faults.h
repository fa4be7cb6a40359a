// SPDX-License-Identifier: Apache-2.0
/** What is wrong with an instrument's turn counter: jumps and restarts. They are the instrument's own, so both of two
 * mirrored networks see them. They are counted in the instrument's counters of the first network. */
#ifndef RM_INSTRUMENTS_COUNTER_FAULTS_H
#define RM_INSTRUMENTS_COUNTER_FAULTS_H

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "fault.h"

struct rm_counter_faults;

/** Takes those of the `count` faults that befall the turn counter. `*made` is NULL when there are none. RM_E_NO_SPACE.
 */
enum rm_code rm_counter_faults_make(struct rm_fault const *faults, uint32_t count, uint64_t span_turns,
                                    rm_counter *counters, struct rm_counter_faults **made, struct rm_error *error);
void rm_counter_faults_free(struct rm_counter_faults *faults);

/** By how many turns the counter is ahead of the true turn in the datagram whose first turn is `turn`. Call it in
 * order, once for each datagram. */
uint64_t rm_counter_faults_error(struct rm_counter_faults *faults, rm_turn turn);

#endif
