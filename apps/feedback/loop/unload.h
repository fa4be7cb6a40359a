// SPDX-License-Identifier: Apache-2.0
/** Moves the DC of a fast family to a slow one, so that the fast one keeps its range.
 *
 *     u_slow += ω dt · H (u_fast − reference)        H = R_slow⁺ R_fast
 *     u_fast −= the same, as slowly as the slow family follows
 *
 * Both are told in the same cycle: the fast family does not wait until its own loop sees what the slow one did, so the
 * orbit sees only by how much the two differ in what they do. The slow one is slow, by its plant's pole; so what the
 * fast one gives up goes through the same pole. What is left is by how much the model is off: rate of the handover
 * times the error of the time constant.
 *
 * ## Stability
 * The pair is a loop of its own: an integrator at the crossover ω, seen by the orbit as a disturbance of H's error
 * alone. With crossover far below the fast loop's bandwidth (feedback_unload_fits: a fifth) that is corrected as it
 * comes.
 */
#ifndef FEEDBACK_UNLOAD_H
#define FEEDBACK_UNLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct feedback_unload {
    /** Number of outputs of the two families. */
    uint32_t fasts, slows;
    /** ω dt, the share that is handed over per cycle. */
    double rate;
    /** The slow plant's pole, as a factor per cycle. */
    double keep;
    /** [slow · fasts + fast] H. */
    double const *handover;
    /** [fast] what the slow family was told, and the fast one has not given up yet. */
    double *pending;
    /** [fast] scratch. */
    double *moved;
};

/** Runs one cycle. `fast` and `slow` are the offsets that are moved, `now` is what the fast ones were sent,
 * `reference` where they shall be. Fast actuators with `is_in` false are left alone. */
void feedback_unload_step(struct feedback_unload *unload, double const *now, double const *reference, bool const *is_in,
                          double *fast, double *slow);

/** Takes `cycles` into account that were not run: the slow outputs went on with what they were told, and the fast ones
 * give that up. */
void feedback_unload_skip(struct feedback_unload *unload, uint32_t cycles, double *fast);

/** True when a loop of this bandwidth may hand over at this crossover. */
static inline bool feedback_unload_fits(double crossover_hz, double integral_hz) {
    return crossover_hz > 0.0 && crossover_hz <= integral_hz / 5.0;
}

#endif
