// SPDX-License-Identifier: Apache-2.0
/** The control law of a family. controllers.h has its states, channel by channel.
 *
 * A channel is a mode of the family's response (`per: mode`) or an actuator (`per: corrector`). Its error z arrives in
 * the actuator's unit, the pseudo-inverse applied already, and is what is wanted less what is measured: an output w
 * takes P w off it. The law is
 *
 *     w = (K_p + K_i / (1 − z⁻¹)) · (z + p)  +  Σ Re{ c_j / (1 − ρ_j e^{iω_j} z⁻¹) } · z
 *
 * with a resonator j per line of the mains' harmonics. p is the internal model's correction for the delay (Smith): the
 * plant's model with its delay less the one without, both driven by what was really sent. It depends on the past alone.
 * The resonators look at z itself: at a line the model with its delay and the one without differ for good, so what
 * looks at z + p cannot take a line away.
 *
 * ## Two halves of a cycle
 *     w(t) = direct · z(t) + ahead(t)
 *
 * `direct` is constant, so that it is folded into the matrix of the product (product.h). All else is known before
 * z(t): `ahead`, made by feedback_controllers_update after the last cycle's row was committed.
 *
 * ## Numbers
 * State and coefficients are double. A resonator is a rotation in the complex plane: x ← ρ e^{iω} (x + c z), whose
 * frequency stays exact at any sampling rate. (As a biquad in single precision, with 2 cos ω as its coefficient, 50 Hz
 * would ring at 63.6 Hz at the turn rate: test_law.c shows both.)
 *
 * ## Design
 * Let G = P / (1 + C_pi P_0) be what a resonator's output does to z around the loop of P and I, P_0 being the plant
 * without its delay if the law predicts, and P itself if not. Near its line a resonator is ½ c / (δ + leak), so that
 *
 *     c_j = 2 · 2π width_hz / rate_hz / G(ω_j)      ρ_j = exp(−2π leak_hz / rate_hz)
 *
 * make its loop real and positive there: the notch is |δ| / |δ + i width|, whatever plant and PI do at the line, and as
 * deep as leak / width. Lines do not know of each other; at the distances and widths below they need not. (Designing
 * each with all others in the loop was tried: it costs 1 to 2 dB at the flanks at a like peak of S.)
 *
 * ## Tunings that do
 * feedback_tuning_choose gives them. With L = delay + half a cycle:
 * - integral_hz = 0.2 / (2π L), and proportional such that the zero of P and I lies on the plant's slowest pole;
 *   at most 1, so that noise of the BPMs is not sent on magnified. Predicting.
 * - width_hz = 1.25 % of the line, which keeps 20 dB over ± 0.1 % of it, with a rest for S > 1 beside the line.
 * - leak_hz = 0.4 % of the width: 48 dB at the line.
 * Then, for thirteen lines from 50 to 900 Hz, a plant of 1 or 5 kHz and delays of 1.5 to 3 cycles of 9.6 kHz, S peaks
 * at 1.31 to 1.55; at 96 kHz below 1.25. test_law.c holds them to it, and with the plant off by 10 % in gain and delay.
 */
#ifndef FEEDBACK_LAW_H
#define FEEDBACK_LAW_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    FEEDBACK_RESONATORS_MAX = 16,
    /** Longest delay, in cycles. */
    FEEDBACK_DELAY_MOST = 64,
};

/** The plant as the controller thinks of it: from the setpoint computed in a cycle to the readings of later ones. Its
 * unit is the channel's: what arrives after long is what was sent. */
struct feedback_plant {
    /** Rate of the cycles. */
    double rate_hz;
    /** First pole, of supply and vacuum chamber; 0: none. */
    double bandwidth_hz;
    /** Second pole; 0: none. */
    double second_hz;
    /** All that is pure delay, from the turn of a cycle's readings until the readings begin to show the setpoint that
     * was computed from them: its way there, the supply's own delay and the group delay of the readings' filter. The
     * setpoint is held for a cycle; that it is, is known and is no part of this delay. */
    double delay_s;
};

/** The plant's response at `hz`, of a held setpoint and sampled readings. */
double complex feedback_plant_response(struct feedback_plant const *plant, double hz);

struct feedback_tuning {
    /** K_p. */
    double proportional;
    /** Where the integral alone has a loop gain of 1: K_i = 2π integral_hz / rate_hz. */
    double integral_hz;
    /** Uses Smith's predictor. */
    bool predicts;

    uint32_t resonator_count;
    struct {
        /** Nominal frequency of the line, below half of the rate. */
        double hz;
        /** Half width of the notch at −3 dB; it has −20 dB at a tenth of it. */
        double width_hz;

        double leak_hz;
    } resonator[FEEDBACK_RESONATORS_MAX];
};

/** Chooses proportional, integral and predictor for a plant, and width and leak for each line in `hz`, as described
 * above. */
void feedback_tuning_choose(struct feedback_plant const *plant, double const *hz, uint32_t count,
                            struct feedback_tuning *tuning);

/** The law as numbers per cycle. */
struct feedback_law {
    struct feedback_plant plant;
    struct feedback_tuning tuning;
    /** K_p + K_i + Σ Re c_j over the resonators that are on. */
    double direct;
    /** K_i. */
    double integral;
    /** The resonators are on. */
    bool resonates;
    /** ρ e^{iω} of each resonator. */
    double complex rotation[FEEDBACK_RESONATORS_MAX];
    /** c of each resonator. */
    double complex coupling[FEEDBACK_RESONATORS_MAX];
    /** The plant's model is two poles in parallel; factor per cycle, 0: that pole follows at once. */
    double pole[2];
    /** Share of each pole in the output. */
    double share[2];
    /** Share of the cycle before in a pole's output at the delay's fraction of a cycle. */
    double late[2];
    /** Whole cycles of the plant's delay. */
    uint32_t delay;
    /** The rest of the delay, as a fraction of a cycle: 0 to 1. */
    double fraction;
};

/** Computes the law. With `resonates` false it has no resonators. A delay above FEEDBACK_DELAY_MOST cycles counts as
 * that. */
void feedback_law_make(struct feedback_law *law, struct feedback_plant const *plant,
                       struct feedback_tuning const *tuning, bool resonates);

/** Resonators at `scale` times their nominal frequencies: the mains' measured frequency over its nominal one. Rotations
 * alone change, so `direct`, and what is folded with it, stays. */
void feedback_law_follow(struct feedback_law *law, double scale);

/** What the integral has of a line whose error is taken away, relative to its resonator's state: Smith's correction is
 * not 0 there, and the integral follows it. So where a resonator goes on turning unwatched, the integral must turn
 * with it. */
double complex feedback_law_follows(struct feedback_law const *law, uint32_t line);

/** C(f) as designed, Smith's correction included; and S = 1 / (1 + C P). C of 0 Hz is infinite, S is 0 there. */
double complex feedback_law_response(struct feedback_law const *law, double hz);
double complex feedback_law_sensitivity(struct feedback_law const *law, double hz);

#endif
