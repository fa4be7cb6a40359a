// SPDX-License-Identifier: Apache-2.0
#include "controllers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"
#include "controllers_pass.h"

enum {
    RING = FEEDBACK_DELAY_MOST + 1,
    STATES = 4 + 2 * FEEDBACK_RESONATORS_MAX + RING, /**< of a channel, at most */
    OTHERS = 3,                                      /**< gain, correction, ahead */
    SCRATCH = FEEDBACK_CHANNEL_BLOCK,                /**< eight states beside each other */
};

static void take_law(struct feedback_controllers *controllers, struct feedback_law const *law) {
    controllers->law = *law;
    for (uint32_t j = 0; j < FEEDBACK_RESONATORS_MAX; ++j) {
        controllers->line[j].cosine = creal(law->rotation[j]);
        controllers->line[j].sine = cimag(law->rotation[j]);
        controllers->line[j].real = creal(law->coupling[j]);
        controllers->line[j].imaginary = cimag(law->coupling[j]);
    }
}

/** The gains first: the rest is what clearing clears. */
static void lay_out_controllers(struct feedback_controllers *controllers) {
    double *next = controllers->memory;
    double **const array[] = {&controllers->gain,    &controllers->correction, &controllers->ahead,
                              &controllers->held,    &controllers->integral,   &controllers->model[0],
                              &controllers->model[1]};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i, next += controllers->padded)
        *array[i] = next;
    for (uint32_t j = 0; j < FEEDBACK_RESONATORS_MAX; ++j, next += (size_t)2 * controllers->padded) {
        controllers->real[j] = next;
        controllers->imaginary[j] = next + controllers->padded;
    }
    for (uint32_t i = 0; i < RING; ++i, next += controllers->padded)
        controllers->past[i] = next;
    controllers->scratch = next;
}

bool feedback_controllers_make(struct feedback_controllers *controllers, uint32_t channels,
                               struct feedback_law const *law) {
    uint32_t const padded = (channels + FEEDBACK_CHANNEL_BLOCK - 1) / FEEDBACK_CHANNEL_BLOCK * FEEDBACK_CHANNEL_BLOCK;
    *controllers =
        (struct feedback_controllers){.channels = channels, .padded = padded, .simd = rm_simd_choose(RM_SIMD_BEST)};
    size_t const numbers = (size_t)(STATES + OTHERS + SCRATCH) * (padded > 0 ? padded : FEEDBACK_CHANNEL_BLOCK);
    controllers->memory = rm_zeroed(numbers, sizeof(double));
    if (controllers->memory == NULL)
        return false;
    lay_out_controllers(controllers);
    take_law(controllers, law);
    for (uint32_t i = 0; i < channels; ++i)
        controllers->gain[i] = 1;
    return true;
}

void feedback_controllers_free(struct feedback_controllers *controllers) {
    free(controllers->memory);
    *controllers = (struct feedback_controllers){0};
}

void feedback_controllers_clear(struct feedback_controllers *controllers) {
    // Everything but the gains, which are first.
    size_t const count = (size_t)(STATES + OTHERS - 1) * controllers->padded;
    memset(controllers->correction, 0, count * sizeof(double));
    controllers->newest = 0;
}

static bool controllers_line_rings(struct feedback_law const *law, uint32_t line) {
    return law->resonates && line < law->tuning.resonator_count;
}

/** p of the coming cycle as the law has it. */
static double controllers_correction(struct feedback_controllers const *controllers, uint32_t channel) {
    struct feedback_law const *const law = &controllers->law;
    double const *const delayed = controllers->past[(controllers->newest + RING - law->delay) % RING];
    double const model =
        law->share[0] * controllers->model[0][channel] + law->share[1] * controllers->model[1][channel];
    return law->tuning.predicts ? controllers->gain[channel] * (delayed[channel] - model) : 0;
}

/** What the states but the integral say of the coming cycle. */
static double controllers_sum_others(struct feedback_controllers const *controllers, uint32_t channel) {
    struct feedback_law const *const law = &controllers->law;
    double sum = (law->tuning.proportional + law->integral) * controllers->correction[channel];
    for (uint32_t j = 0; controllers_line_rings(law, j); ++j)
        sum += controllers->real[j][channel];
    return sum;
}

/** A resonator goes on by itself; `follows` is what the integral is to it, channel gains of 1: it goes on with it. */
static void turn_on(struct feedback_controllers *controllers, uint32_t line, uint32_t cycles) {
    double complex const far = cpow(controllers->law.rotation[line], cycles),
                         follows = feedback_law_follows(&controllers->law, line);
    double const cosine = creal(far), sine = cimag(far), with = creal(follows), against = cimag(follows);
    double *const x = controllers->real[line], *const y = controllers->imaginary[line];
    for (uint32_t i = 0; i < controllers->padded; ++i) {
        double const real = cosine * x[i] - sine * y[i], imaginary = sine * x[i] + cosine * y[i];
        controllers->integral[i] += controllers->gain[i] * (with * (real - x[i]) - against * (imaginary - y[i]));
        x[i] = real;
        y[i] = imaginary;
    }
}

/** The model follows what is held: at once to where its past still matters, and from there cycle by cycle. */
static void hold_on(struct feedback_controllers *controllers, uint32_t cycles) {
    struct feedback_law const *const law = &controllers->law;
    uint32_t const each = cycles < law->delay + 2 ? cycles : law->delay + 2;
    double const far[2] = {pow(law->pole[0], cycles - each), pow(law->pole[1], cycles - each)};
    for (int m = 0; m < 2; ++m)
        for (uint32_t i = 0; i < controllers->padded; ++i)
            controllers->model[m][i] =
                controllers->held[i] + far[m] * (controllers->model[m][i] - controllers->held[i]);
    for (uint32_t cycle = 0; cycle < each; ++cycle) {
        controllers->newest = (controllers->newest + 1) % RING;
        double *const late = controllers->past[controllers->newest];
        for (uint32_t i = 0; i < controllers->padded; ++i) {
            double sum = 0;
            for (int m = 0; m < 2; ++m) {
                double const before = controllers->model[m][i];
                double const now = controllers->held[i] + law->pole[m] * (before - controllers->held[i]);
                controllers->model[m][i] = now;
                sum += law->share[m] * ((1 - law->late[m]) * now + law->late[m] * before);
            }
            late[i] = sum;
        }
    }
}

void feedback_controllers_skip(struct feedback_controllers *controllers, uint32_t cycles) {
    if (cycles == 0)
        return;
    for (uint32_t j = 0; controllers_line_rings(&controllers->law, j); ++j)
        turn_on(controllers, j, cycles);
    hold_on(controllers, cycles);
    for (uint32_t i = 0; i < controllers->padded; ++i) {
        controllers->correction[i] = controllers_correction(controllers, i);
        controllers->ahead[i] = controllers->integral[i] + controllers_sum_others(controllers, i);
    }
}

void feedback_controllers_reconcile(struct feedback_controllers *controllers) {
    for (uint32_t i = 0; i < controllers->padded; ++i) {
        controllers->correction[i] = controllers_correction(controllers, i);
        controllers->integral[i] = controllers->ahead[i] - controllers_sum_others(controllers, i);
    }
}

void feedback_controllers_retune(struct feedback_controllers *controllers, struct feedback_law const *law) {
    for (uint32_t j = 0; controllers_line_rings(&controllers->law, j); ++j)
        if (!controllers_line_rings(law, j) || law->tuning.resonator[j].hz != controllers->law.tuning.resonator[j].hz) {
            memset(controllers->real[j], 0, controllers->padded * sizeof(double));
            memset(controllers->imaginary[j], 0, controllers->padded * sizeof(double));
        }
    take_law(controllers, law);
    feedback_controllers_reconcile(controllers);
}

void feedback_controllers_update(struct feedback_controllers *controllers, double const *error, double const *command,
                                 double const *sent) {
    if (controllers->simd == RM_SIMD_AVX512)
        feedback_update_avx512(controllers, error, command, sent);
    else if (controllers->simd == RM_SIMD_AVX2)
        feedback_update_avx2(controllers, error, command, sent);
    else
        feedback_update_scalar(controllers, error, command, sent);
}

double feedback_controllers_drift(struct feedback_controllers const *controllers, uint32_t line, double *phasor,
                                  uint32_t cycles, double *strength) {
    double real = 0, imaginary = 0, power = 0, power_before = 0;
    for (uint32_t i = 0; i < controllers->channels; ++i) {
        double const a = controllers->real[line][i], b = controllers->imaginary[line][i];
        double const c = phasor[2 * i], d = phasor[2 * i + 1];
        real += a * c + b * d;
        imaginary += b * c - a * d;
        power += a * a + b * b;
        power_before += c * c + d * d;
        phasor[2 * i] = a;
        phasor[2 * i + 1] = b;
    }
    double const turn = carg(controllers->law.rotation[line]);
    *strength = power_before > 0 ? power : 0;
    if (!(*strength > 0) || !(turn > 0) || cycles == 0)
        return 0;
    double const off = remainder(atan2(imaginary, real) - turn * cycles, 2 * acos(-1));
    return off / (turn * cycles);
}
