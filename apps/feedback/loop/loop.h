// SPDX-License-Identifier: Apache-2.0
/** The loop between two cycles: from what was commanded and sent, to what goes ahead of the next cycle's errors.
 *
 *     setpoint = scale · A e  +  ahead
 *     ahead    = base + outputs · (the controllers' ahead, and the excitation) + feed-forward
 *
 * `base` is where the actuators stood when the loop went on: so it begins without moving anything, and it takes up what
 * else must not show: what a new matrix would make of the same states, and what is handed over between families.
 * `scale` is the loop's gain, which grows from 0 when it goes on.
 *
 * An actuator's limits of a cycle are its own, the way it may go in one cycle, and the place where it stands if it is
 * out: so all that holds it back is known here, and told to the controllers (anti-windup, and what the plant's model is
 * driven by).
 */
#ifndef FEEDBACK_LOOP_H
#define FEEDBACK_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "../matrix/solver.h"
#include "unload.h"

/** Something is added to one channel or one output, and what comes of it is looked at. */
struct feedback_excitation_state {
    /** Index of the part that is excited, or −1: none. */
    int32_t part;
    /** Channel of the part, or output. */
    uint32_t number;

    bool at_output;
    /** What is added in this cycle and in the next: nm, or the actuator's unit. */
    double value, next;
};

struct feedback_loop {
    struct feedback_configuration const *configuration;
    struct feedback_layout const *layout;
    double rate_hz;
    /** The solution in use. NULL: it is not solved yet. */
    struct feedback_answer *answer;

    struct feedback_excitation_state excitation;
    /** The loop's gain in the coming cycle. */
    double scale;
    /** The controllers' states are all 0. */
    bool is_clear;

    /* Per output, 64-byte aligned. */
    int64_t *sum;
    double *base, *reference, *ahead, *low, *high, *setpoint, *cut, *forward, *before;
    /** The output's own limits, and its slew per cycle; infinite: none. */
    double *most_low, *most_high, *slew;
    /** The output takes part. */
    bool *is_in;

    /** Per channel, one part after the other. */
    double *z, *command, *sent, *scaled, *modelled;
    /** [row] 'x', 'y' or 0. */
    char *plane;

    struct feedback_unload unload[FEEDBACK_PARTS_MAX];
    void *memory;
};

bool feedback_loop_make(struct feedback_loop *loop, struct feedback_configuration const *configuration,
                        struct feedback_layout const *layout, double rate_hz);
void feedback_loop_free(struct feedback_loop *loop);

/** Computes the channels' errors from the rows', in a fixed order. */
void feedback_loop_look(struct feedback_loop *loop, int32_t const *error_nm);

/** After a cycle that was ON, the controllers learn what was commanded and what was sent. `other` (or NULL) is what
 * another system sent in our place. */
void feedback_loop_learn(struct feedback_loop *loop, double const *other);

/** Takes `cycles` into account in which the last setpoints were held: all states that change with time are advanced. */
void feedback_loop_hold(struct feedback_loop *loop, uint32_t cycles);

/** In a cycle that was not ON, when ON will not follow soon: forgets all states. The outputs stand at `standing`; NaN:
 * unknown. `sets_reference`: the fast families return to that place. */
void feedback_loop_rest(struct feedback_loop *loop, double const *standing, bool sets_reference);

/** Takes an answer over for the next cycle, without a bump. The caller gives the old one back. */
void feedback_loop_take(struct feedback_loop *loop, struct feedback_answer *answer);

/** Hands over between families. */
void feedback_loop_unload(struct feedback_loop *loop);

/** Where the excited output stands in the next cycle while the loop is off: within its limits. */
static inline double feedback_injection_at(struct feedback_loop const *loop) {
    uint32_t const output = loop->excitation.number;
    double const at = loop->setpoint[output] + loop->excitation.next;
    double const low = loop->most_low[output], high = loop->most_high[output];
    return at < low ? low : at > high ? high : at;
}

/** Prefetches what the end of the product needs. */
void feedback_loop_near(struct feedback_loop const *loop);

/** Computes `ahead` of the next cycle. */
void feedback_loop_ahead(struct feedback_loop *loop);

/** Makes `ahead`, the limits and the sums ready for the next cycle. */
void feedback_loop_ready(struct feedback_loop *loop);

#endif
