// SPDX-License-Identifier: Apache-2.0
/** Which turn is due: of the inputs, or of the clock where there are none.
 *
 * All inputs have the application's period, so one turn addresses a record of each. The turn that is due is the newest
 * that all inputs have reached, or whose deadline has passed. Those before it are passed over and counted: a step that
 * took too long leaves no backlog. An input has reached a turn when its head has; a record that its stream passed over
 * is missing at once, and not waited for.
 */
#ifndef RM_HOST_HOST_INPUTS_H
#define RM_HOST_HOST_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

struct rm_host_inputs {
    uint32_t count;
    struct rm_stream_view const *view;
    uint64_t period;          /**< turns */
    uint64_t deadline_turns;  /**< after the clock expects the last record of a turn */
    uint64_t closing_turns;   /**< from a turn to when that is */
    uint64_t machine_epochs;  /**< sum of the streams' and the clock's: another one is another count of turns */
    rm_turn next;             /**< the turn after the last step's; RM_TURN_NONE: begin with the newest */
    struct rm_record *record; /**< of each input, the last that came */
    bool *missing;            /**< of each input, in the last turn */
};

struct rm_host_due {
    rm_turn turn;
    uint64_t skipped; /**< turns before it that get no step */
    bool late;        /**< at its deadline: not all inputs have reached it */
};

/** `view` outlives it; false when there is no memory. A second start takes other streams: the records begin anew. */
bool rm_host_inputs_start(struct rm_host_inputs *inputs, struct rm_stream_view const *view, uint32_t count);
void rm_host_inputs_free(struct rm_host_inputs *inputs);

/** The turn that is due now, if there is one; it counts as stepped from then on. `clock` may be unanchored: then only
 * inputs make a turn due. */
bool rm_host_inputs_due(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                        struct rm_host_due *due);

/** Reads the records of `turn`; returns how many are missing, which keep their last record. */
uint32_t rm_host_inputs_read(struct rm_host_inputs *inputs, rm_turn turn);

#endif
