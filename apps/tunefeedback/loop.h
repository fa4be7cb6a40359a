// SPDX-License-Identifier: Apache-2.0
/** The loop's state, and one step of it: a tune in, offsets of both families out.
 *
 * A beam that nothing but noise drives fades now and then, and what phase it has then is the noise's: a tune of such a
 * window is off by many of its standard deviations. The phase noise of a tune is as 1/amplitude². So an error counts with
 * its amplitude² over the mean of that, at most once: the weight that is best for the mean of many tunes. Of a steady
 * oscillation it is 1.
 */
#ifndef TUNEFEEDBACK_LOOP_H
#define TUNEFEEDBACK_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/tune.h>

#include "file.h"
#include "law/integrator.h"
#include "states.h"
#include "trust.h"

struct tunefeedback_loop {
    struct tunefeedback_integrator integrator;
    struct tunefeedback_states states;
    /** Of the last tunes: quality, standard deviation, distance; and all three. */
    struct tunefeedback_trust quality, sigma, near, whole;
    uint32_t trusted;
    /** [plane] good tunes: number n of all is at n % TUNEFEEDBACK_LAST_MAX; and how many there were. */
    double late[TUNEFEEDBACK_PLANES][TUNEFEEDBACK_LAST_MAX];
    uint32_t lates;
    /** Where the tunes are to be now; and most by which that moves in a step. */
    double wanted[TUNEFEEDBACK_PLANES], target_step;
    double error[TUNEFEEDBACK_PLANES];
    /** [plane] mean square of the amplitudes of good tunes, over so many of late; and most of them. */
    double power[TUNEFEEDBACK_PLANES];
    uint32_t powers, most_powers;
    /** Steps in a row in which an excursion was in the way, and most of them. */
    uint32_t pushed, push_steps;
    bool was_closed, has_wanted, is_limited;
    uint32_t missing;
};

/** What a step is given. */
struct tunefeedback_given {
    bool closed;
    /** 0: what there is. */
    double target[TUNEFEEDBACK_PLANES];
    double gain;
    /** NULL: the record is missing. */
    struct rm_tune const *tune;
    bool supplies_follow;
};

/** Begins: nothing is known of the tunes. */
void tunefeedback_loop_begin(struct tunefeedback_loop *loop, struct tunefeedback_file const *file,
                             double steps_per_second);

/** One step. Where it has just been closed, the caller has made the integrator's offsets 0. */
void tunefeedback_loop_step(struct tunefeedback_loop *loop, struct tunefeedback_file const *file,
                            struct tunefeedback_given const *given);

#endif
