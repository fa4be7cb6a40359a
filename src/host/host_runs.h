// SPDX-License-Identifier: Apache-2.0
/** Runs: the records of inputs that come more often than steps do, all of those since the step before.
 *
 *     struct rm_host_runs runs;
 *     if (!rm_host_runs_open(&runs, inputs, period_turns)) …
 *     for each input: rm_host_runs_make_room(&runs, input, stream)     false without memory
 *     each step:
 *         steps = rm_host_runs_reach(&runs, view, turn, 1 + skipped)   how far back they go
 *         rm_host_runs_span(&runs, turn, steps)                        how many records that are
 *         … runs.record[input][n], of turn rm_host_runs_turn(&runs, input, n), are filled
 *     rm_host_runs_close(&runs);
 *
 * All runs of a step span the same turns, whole periods of the steps, and end with the step's turn. A step that comes
 * after others were skipped spans those too: at most RM_RUN_STEPS_MAX of them, and what the rings still hold. So room is
 * made once, when the streams are known, and a step allocates nothing.
 */
#ifndef RM_HOST_HOST_RUNS_H
#define RM_HOST_HOST_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/stream.h>

struct rm_host_runs {
    /** Of inputs; 0: the code takes no runs, and none are kept. */
    uint32_t count;
    /** Turns from one step to the next. */
    uint64_t period;
    /** Most steps that a run spans: that all inputs have room for. */
    uint64_t steps_max;
    /** The last turn of the runs. */
    rm_turn turn;
    /** [input] as the step is given it: its records lie in `record`. */
    struct rm_run *run;
    /** [input] room for the records of `steps_max` steps. */
    struct rm_record **record;
    /** [input] period of its stream. */
    uint64_t *stream_period;
};

/** For `count` inputs of an application with a step every `period` turns. False without memory. What there is then,
 * rm_host_runs_close gives back; so it does of one that is all zeros. */
bool rm_host_runs_open(struct rm_host_runs *runs, uint32_t count, uint64_t period);
void rm_host_runs_close(struct rm_host_runs *runs);

/** Room for an input from a stream whose period divides that of the steps. A capacity of 0 is not known, as in archives.
 * False without memory. */
bool rm_host_runs_make_room(struct rm_host_runs *runs, uint32_t input, struct rm_stream const *stream);

/** How many of the last `steps` steps all rings still hold, with time to read them: at least 1. */
uint64_t rm_host_runs_reach(struct rm_host_runs const *runs, struct rm_stream_view const *view, rm_turn turn,
                            uint64_t steps);

/** The runs span `steps` steps, at most `steps_max`, that end with `turn`. */
void rm_host_runs_span(struct rm_host_runs *runs, rm_turn turn, uint64_t steps);

/** Turns that each run spans. */
static inline uint64_t rm_host_runs_turns(struct rm_host_runs const *runs) {
    return runs->count > 0 ? runs->run[0].count * runs->stream_period[0] : 0;
}

/** The turn of record `n` of an input. RM_TURN_NONE: it would lie before turn 0. */
static inline rm_turn rm_host_runs_turn(struct rm_host_runs const *runs, uint32_t input, uint64_t n) {
    uint64_t const before = (runs->run[input].count - 1 - n) * runs->stream_period[input];
    return runs->turn >= before ? runs->turn - before : RM_TURN_NONE;
}

/** Records at the end of an input's run that are not there. */
uint64_t rm_host_runs_unfinished(struct rm_run const *run);

/** Fills the runs of `turn` and of the `skipped` steps before it from rings. Returns how many records of all inputs a
 * step will never be given: they did not come in time, or are overwritten. */
uint64_t rm_host_runs_read(struct rm_host_runs *runs, struct rm_stream_view const *view, rm_turn turn,
                           uint64_t skipped);

#endif
