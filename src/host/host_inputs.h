// SPDX-License-Identifier: Apache-2.0
/** Which turn is due: of the inputs, or of the clock where there are none.
 *
 * There are two ways to use it. rm_host_inputs_due finds when a turn is complete, and rm_host_inputs_read reads its
 * records then. rm_host_inputs_collect reads each record as it comes, and hands it on: for applications that have
 * little time after the last one.
 *
 * All inputs have the application's period, or one that divides it where runs are taken; so one turn addresses a record
 * of each. The turn that is due is the newest that all inputs have reached, or whose deadline has passed. Those before it
 * are skipped and counted: a step that took too long leaves no backlog. A code that takes runs is given their records
 * with it. An input has reached a turn when its head has; a record that its stream skipped
 * is missing at once, and not waited for.
 */
#ifndef RM_HOST_HOST_INPUTS_H
#define RM_HOST_HOST_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

#include "host/host_runs.h"

struct rm_host_inputs {
    uint32_t count;
    struct rm_stream_view const *view;
    /** In turns. */
    uint64_t period;
    /** Turns after the clock expects the last record of a turn. */
    uint64_t deadline_turns;
    /** Turns from a turn until the clock expects its last record. */
    uint64_t closing_turns;
    /** Sum of the turn-counter epochs of streams and clock: when it changes, turns are counted anew. */
    uint64_t turn_epochs;
    /** The clock's alone. */
    uint64_t clock_epoch;
    /** The input that was furthest behind at the last survey. While it stays there, none is needed. */
    uint32_t behind;
    /** The turn after the last step's; RM_TURN_NONE: begin with the newest. No turn gets two steps, also where the
     * streams were started again in between. */
    rm_turn next;
    /** There was no step since the start: turns before it are not skipped. */
    bool begins;
    /** [input] the last record that came. */
    struct rm_record *record;
    /** [input] its record of the last turn is missing. */
    bool *missing;

    /* While records are collected. */
    void (*arrive)(void *context, uint32_t input, struct rm_record const *record);
    void *context;
    /** Turn whose records are waited for. */
    rm_turn turn;
    /** Turns before it that get no step. */
    uint64_t skipped;
    /** [input] its stream's turn-counter epoch at the last survey of all. */
    uint64_t *epoch;
    /** Inputs that have not reached the turn. */
    uint32_t *pending;
    uint32_t pending_count;
    /** Number of inputs that have been seen. While it is 0, a later turn may be waited for instead. */
    uint32_t seen_count;
    /** Number of those whose stream has the record. */
    uint32_t taken_count;
    /** All inputs are among `pending`. */
    bool awaits;
};

struct rm_host_due {
    rm_turn turn;
    /** Turns before it that get no step. */
    uint64_t skipped;
    /** The deadline has passed, and not all inputs have reached the turn. */
    bool late;

    /* Of rm_host_inputs_collect and rm_host_inputs_read_runs. */
    uint32_t missing;
    /** Records that no run has: host_runs.h. */
    uint64_t lost;
    /** TSC at which the last input was seen, before its record was read. */
    uint64_t seen_tsc;
};

/** Memory for `count` inputs; false when there is none. What there is then, rm_host_inputs_free gives back. */
bool rm_host_inputs_allocate(struct rm_host_inputs *inputs, uint32_t count);

/** Starts with these streams, as many as there is memory for; `view` outlives it. A second start takes other streams:
 * the records begin anew. */
void rm_host_inputs_start(struct rm_host_inputs *inputs, struct rm_stream_view const *view);
void rm_host_inputs_free(struct rm_host_inputs *inputs);

/** Steps were made until now by other means: the next one is of `next` or a later turn, as if the step before it had
 * been found here. */
void rm_host_inputs_go_on(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, rm_turn next);

/** True when a turn is due now; it counts as stepped from then on. `clock` may be unanchored: then only inputs make a
 * turn due. */
bool rm_host_inputs_due(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                        struct rm_host_due *due);

/** Takes one look at the inputs that have not come: reads the records of those that have come since, and hands them to
 * `inputs->arrive`, in any order. True when the turn is complete, or its deadline has passed: then it counts as
 * stepped. A turn of which something was handed on is completed in any case; between turns a backlog is skipped. */
bool rm_host_inputs_collect(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                            struct rm_host_due *due);

/** True while nothing of the next turn has been handed on: between two steps. */
static inline bool rm_host_inputs_between(struct rm_host_inputs const *inputs) { return inputs->seen_count == 0; }

/** Reads the records of `turn`. Returns how many are missing; a missing one keeps its last record. */
uint32_t rm_host_inputs_read(struct rm_host_inputs *inputs, rm_turn turn);

/** Reads the runs that end with the turn that is due, and takes the last record of each as that of its turn. Sets the
 * rest of `*due`. */
void rm_host_inputs_read_runs(struct rm_host_inputs *inputs, struct rm_host_runs *runs, struct rm_host_due *due);

#endif
