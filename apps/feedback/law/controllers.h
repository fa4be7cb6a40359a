// SPDX-License-Identifier: Apache-2.0
/** Controller states per channel: the law of a family (law.h) for every one of its channels, each with a state and a
 * gain of its own.
 *
 *     ahead[] of the last update is on hand
 *     w = direct · gain · z + ahead           the product makes it (product.h)
 *     … limits, holds, the vector is committed …
 *     feedback_controllers_update(controllers, z, command, sent)
 *
 * Scalar, AVX2 and AVX-512 give the same bits: all are one plain file (controllers_alike.h) of sums and products, in
 * one order.
 */
#ifndef FEEDBACK_CONTROLLERS_H
#define FEEDBACK_CONTROLLERS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/simd.h>

#include "law.h"

enum { FEEDBACK_CHANNEL_BLOCK = 8 };

/** Structure of arrays, each of `padded` elements and 64-byte aligned. */
struct feedback_controllers {
    uint32_t channels, padded;
    /** The instruction set, as rm_simd_choose gave it. */
    enum rm_simd simd;

    struct feedback_law law;
    /** Rotation and coupling of the law. */
    struct {
        double cosine, sine, real, imaginary;
    } line[FEEDBACK_RESONATORS_MAX];
    /** [channel] relative gain: 1, or what regularisation leaves of it. It is folded into `direct` too. */
    double *gain;
    /** [channel] state of the integral. */
    double *integral;
    /** [resonator][channel] states, as the coming cycle has them. */
    double *real[FEEDBACK_RESONATORS_MAX], *imaginary[FEEDBACK_RESONATORS_MAX];
    /** [pole][channel] states of the plant's poles, without delay. */
    double *model[2];
    /** The model's output of the last cycles, at the delay's fraction of a cycle: a ring. */
    double *past[FEEDBACK_DELAY_MOST + 1];
    /** Index of the newest cycle in that ring. */
    uint32_t newest;
    /** [channel] what was sent last. It stays in force while nothing is sent. */
    double *held;
    /** [channel] Smith's correction p of the coming cycle. */
    double *correction;
    /** [channel] the states' part of w of the coming cycle. */
    double *ahead;
    /** Scratch of feedback_controllers_map. */
    double *scratch;

    void *memory;
};

/** Makes controllers with gains of 1 and the best instruction set. False: there is no memory. */
bool feedback_controllers_make(struct feedback_controllers *controllers, uint32_t channels,
                               struct feedback_law const *law);
void feedback_controllers_free(struct feedback_controllers *controllers);

/** Sets all states to 0, as if nothing had happened yet. */
void feedback_controllers_clear(struct feedback_controllers *controllers);

/** Another law for the states there are: retuned, resonators on or off, the mains' frequency followed. Without a bump:
 * the integral takes up what a dropped resonator and the predictor held at this moment. A resonator of another nominal
 * frequency is another resonator. */
void feedback_controllers_retune(struct feedback_controllers *controllers, struct feedback_law const *law);

/** Between two cycles. `error` is z(t) of each channel as the product had it, soft-start gain applied. `command` is
 * what the channel's output should have been: law, excitation and all. `sent` is what it was after limits and holds,
 * relative to its offset: it drives the model. What of the command was cut (`command − sent`) is taken out of the
 * integral, and resonators listen as much less as was cut (anti-windup). Makes `correction` and `ahead`. Arrays of
 * `channels`. */
void feedback_controllers_update(struct feedback_controllers *controllers, double const *error, double const *command,
                                 double const *sent);

/** `cycles` went by in which nothing was looked at and what was sent last stayed: resonators have turned, the model has
 * followed what was held, and the integral has kept what is not of the lines. Makes `correction` and `ahead` of the
 * cycle that comes now. Rare, so it is nowhere near as fast as an update. */
void feedback_controllers_skip(struct feedback_controllers *controllers, uint32_t cycles);

/** New states for a new basis of channels: new = map · old, `map` being to.channels × from.channels, row by row: a
 * re-solved matrix takes over without a bump. Gains of `to` are its own, and so is its law; where it has a resonator
 * that `from` has not, that begins at 0. */
void feedback_controllers_map(struct feedback_controllers *to, struct feedback_controllers const *from,
                              double const *map);

/** By how much the mains' true frequency is off the law's, relative, from how far the phasors of the resonator
 * `line` have turned between two looks, `cycles` apart; `strength` is their power. The caller keeps
 * `phasor` [2 · channels], all 0 before the first look, which gives 0 with strength 0. Looks may be as far apart as
 * half a turn of the difference takes: of 0.1 % of 50 Hz, 10 s. */
double feedback_controllers_drift(struct feedback_controllers const *controllers, uint32_t line, double *phasor,
                                  uint32_t cycles, double *strength);

#endif
