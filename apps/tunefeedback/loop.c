// SPDX-License-Identifier: Apache-2.0
#include "loop.h"

#include <math.h>
#include <string.h>

/** Over which the power of tunes is averaged. */
static double const POWER_S = 1.0;

static uint32_t steps_of(double seconds, double steps_per_second) {
    double const steps = ceil(seconds * steps_per_second);
    return steps < 1.0 ? 1 : steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX;
}

void tunefeedback_loop_begin(struct tunefeedback_loop *loop, struct tunefeedback_file const *file,
                             double steps_per_second) {
    *loop = (struct tunefeedback_loop){
        .states = {.hold_steps = steps_of(file->enable.hold_s, steps_per_second),
                   .return_steps = steps_of(file->enable.return_s, steps_per_second)},
        .push_steps = steps_of(file->enable.limit_s, steps_per_second),
        .most_powers = steps_of(POWER_S, steps_per_second),
        .target_step = file->target_speed_per_s / steps_per_second,
    };
    memcpy(loop->integrator.inverse, file->inverse, sizeof loop->integrator.inverse);
    loop->integrator.share = 6.28318530717958647692 * file->integral_hz / steps_per_second;
}

/* ── tunes ── */

static bool has_quality(struct rm_tune const *tune) {
    return tune != NULL && tune->quality[0] == 0 && tune->quality[1] == 0 && isfinite(tune->tune[0]) &&
           isfinite(tune->tune[1]);
}

static bool is_sharp(struct rm_tune const *tune, double most) {
    return tune != NULL && tune->sigma[0] <= most && tune->sigma[1] <= most;
}

/** Before there is something to want, what there is may be anywhere. With a target it is near that, and on the same side
 * of the coupling resonance. */
static bool is_near(struct tunefeedback_loop const *loop, struct tunefeedback_given const *given, double most) {
    bool const has_target = given->target[0] > 0.0 && given->target[1] > 0.0;
    double const *const wanted = loop->has_wanted ? loop->wanted : given->target;
    if (given->tune == NULL)
        return false;
    if (!loop->has_wanted && !has_target)
        return true;
    double const *const tune = given->tune->tune;
    return fabs(tune[0] - wanted[0]) <= most && fabs(tune[1] - wanted[1]) <= most &&
           (tune[0] > tune[1]) == (wanted[0] > wanted[1]);
}

/** Judges the tune. Returns whether this one is good, and adds what is missing. */
static bool judge_tune(struct tunefeedback_loop *loop, struct tunefeedback_file const *file,
                       struct tunefeedback_given const *given) {
    struct tunefeedback_enable const *const enable = &file->enable;
    struct rm_tune const *const tune = given->tune;
    bool const quality = has_quality(tune), sigma = is_sharp(tune, enable->sigma);
    bool const near = is_near(loop, given, enable->far);
    uint32_t const least = enable->trusted, last = enable->last;
    if (tune == NULL)
        loop->missing |= TUNEFEEDBACK_NO_TUNE;
    else if (((tune->quality[0] | tune->quality[1]) & RM_TUNE_NO_BEAM) != 0)
        loop->missing |= TUNEFEEDBACK_NO_BEAM;
    if (tunefeedback_trust_add(&loop->quality, quality, last) < least)
        loop->missing |= TUNEFEEDBACK_QUALITY;
    /* What there is no tune of has neither a sigma nor a distance: that is told once. */
    if (tunefeedback_trust_add(&loop->sigma, sigma || !quality, last) < least)
        loop->missing |= TUNEFEEDBACK_SIGMA;
    if (tunefeedback_trust_add(&loop->near, near || !quality, last) < least)
        loop->missing |= TUNEFEEDBACK_FAR;
    bool const is_good = quality && sigma && near;
    loop->trusted = tunefeedback_trust_add(&loop->whole, is_good, last);
    if (loop->missing == 0 && loop->trusted < least) /* each reason alone would do */
        loop->missing |= TUNEFEEDBACK_QUALITY;
    return is_good;
}

static void keep_tune(struct tunefeedback_loop *loop, struct rm_tune const *tune) {
    loop->powers += loop->powers < loop->most_powers ? 1 : 0;
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane) {
        double const power = tune->amplitude[plane] * tune->amplitude[plane];
        loop->power[plane] += (power - loop->power[plane]) / loop->powers;
        loop->late[plane][loop->lates % TUNEFEEDBACK_LAST_MAX] = tune->tune[plane];
    }
    ++loop->lates;
}

/** What counts of the errors: by the power of their tunes, and none below the deadband. */
static void weigh_errors(struct tunefeedback_loop const *loop, struct tunefeedback_file const *file,
                         struct rm_tune const *tune, double error[TUNEFEEDBACK_PLANES]) {
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane) {
        double const power = tune->amplitude[plane] * tune->amplitude[plane];
        double const weight = power < loop->power[plane] ? power / loop->power[plane] : 1.0;
        error[plane] = fabs(loop->error[plane]) > file->deadband ? weight * loop->error[plane] : 0.0;
    }
}

/** Mean of the good tunes of late, of which there are `count` where the loop may be closed. */
static double late_mean(struct tunefeedback_loop const *loop, int plane, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 1; i <= count; ++i)
        sum += loop->late[plane][(loop->lates - i) % TUNEFEEDBACK_LAST_MAX];
    return sum / count;
}

/* ── where the tunes are to be ── */

static void begin_wanted(struct tunefeedback_loop *loop, uint32_t trusted) {
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane)
        loop->wanted[plane] = late_mean(loop, plane, trusted);
    loop->has_wanted = true;
}

/** Goes straight to the target: both planes arrive in the same step. */
static void approach_target(struct tunefeedback_loop *loop, double const target[TUNEFEEDBACK_PLANES]) {
    double way[TUNEFEEDBACK_PLANES], longest = 0.0;
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane) {
        way[plane] = target[plane] > 0.0 ? target[plane] - loop->wanted[plane] : 0.0;
        longest = fmax(longest, fabs(way[plane]));
    }
    double const share = longest <= loop->target_step ? 1.0 : loop->target_step / longest;
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane)
        loop->wanted[plane] += share * way[plane];
}

/* ── one step ── */

/** Whether the loop has pushed against an excursion for too long; nothing is moved. */
static bool is_pushing(struct tunefeedback_loop *loop, double const error[TUNEFEEDBACK_PLANES], double gain) {
    double move_a[TUNEFEEDBACK_FAMILIES];
    loop->pushed = tunefeedback_move(&loop->integrator, error, gain, move_a) ? loop->pushed + 1 : 0;
    return loop->pushed >= loop->push_steps;
}

void tunefeedback_loop_step(struct tunefeedback_loop *loop, struct tunefeedback_file const *file,
                            struct tunefeedback_given const *given) {
    loop->missing = given->supplies_follow ? 0 : TUNEFEEDBACK_SUPPLIES;
    if (!given->closed || !loop->was_closed) {
        loop->has_wanted = loop->is_limited = false;
        loop->pushed = 0;
    }
    loop->was_closed = given->closed;
    bool const is_good = judge_tune(loop, file, given);
    if (is_good)
        keep_tune(loop, given->tune);
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane)
        loop->error[plane] =
            loop->has_wanted && given->tune != NULL ? loop->wanted[plane] - given->tune->tune[plane] : 0.0;
    double counts[TUNEFEEDBACK_PLANES] = {0.0, 0.0};
    if (is_good)
        weigh_errors(loop, file, given->tune, counts);
    if (is_good && loop->has_wanted)
        loop->is_limited = is_pushing(loop, counts, given->gain);
    if (loop->is_limited)
        loop->missing |= TUNEFEEDBACK_LIMIT;
    if (tunefeedback_states_next(&loop->states, given->closed, loop->missing) != TUNEFEEDBACK_ON)
        return;
    if (!loop->has_wanted)
        begin_wanted(loop, file->enable.trusted);
    approach_target(loop, given->target);
    double move_a[TUNEFEEDBACK_FAMILIES];
    tunefeedback_move(&loop->integrator, counts, given->gain, move_a);
    for (int family = 0; family < TUNEFEEDBACK_FAMILIES; ++family)
        loop->integrator.offset_a[family] += move_a[family];
}
