// SPDX-License-Identifier: Apache-2.0
#include "bank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bank_pass.h"

enum {
    LINE_BYTES = 64,
    RING = FEEDBACK_DELAY_MOST + 1,
    STATES = 4 + 2 * FEEDBACK_RESONATORS_MAX + RING, /**< of a channel, at most */
    OTHERS = 3,                                      /**< gain, correction, ahead */
    SCRATCH = FEEDBACK_CHANNEL_BLOCK,                /**< eight states beside each other */
};

static void take_law(struct feedback_bank *bank, struct feedback_law const *law) {
    bank->law = *law;
    for (uint32_t j = 0; j < FEEDBACK_RESONATORS_MAX; ++j) {
        bank->line[j].cosine = creal(law->rotation[j]);
        bank->line[j].sine = cimag(law->rotation[j]);
        bank->line[j].real = creal(law->coupling[j]);
        bank->line[j].imaginary = cimag(law->coupling[j]);
    }
}

/** The gains first: the rest is what clearing clears. */
static void lay_out(struct feedback_bank *bank) {
    double *next = bank->memory;
    double **const array[] = {&bank->gain,     &bank->correction, &bank->ahead,   &bank->held,
                              &bank->integral, &bank->model[0],   &bank->model[1]};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i, next += bank->padded)
        *array[i] = next;
    for (uint32_t j = 0; j < FEEDBACK_RESONATORS_MAX; ++j, next += (size_t)2 * bank->padded) {
        bank->real[j] = next;
        bank->imaginary[j] = next + bank->padded;
    }
    for (uint32_t i = 0; i < RING; ++i, next += bank->padded)
        bank->past[i] = next;
    bank->scratch = next;
}

bool feedback_bank_make(struct feedback_bank *bank, uint32_t channels, struct feedback_law const *law) {
    uint32_t const padded = (channels + FEEDBACK_CHANNEL_BLOCK - 1) / FEEDBACK_CHANNEL_BLOCK * FEEDBACK_CHANNEL_BLOCK;
    *bank = (struct feedback_bank){
        .channels = channels, .padded = padded, .simd = feedback_simd_choose(FEEDBACK_SIMD_BEST)};
    size_t const bytes = (size_t)(STATES + OTHERS + SCRATCH) * (padded > 0 ? padded : FEEDBACK_CHANNEL_BLOCK);
    bank->memory = aligned_alloc(LINE_BYTES, bytes * sizeof(double));
    if (bank->memory == NULL)
        return false;
    memset(bank->memory, 0, bytes * sizeof(double));
    lay_out(bank);
    take_law(bank, law);
    for (uint32_t i = 0; i < channels; ++i)
        bank->gain[i] = 1;
    return true;
}

void feedback_bank_free(struct feedback_bank *bank) {
    free(bank->memory);
    *bank = (struct feedback_bank){0};
}

void feedback_bank_clear(struct feedback_bank *bank) {
    // Everything but the gains, which are first.
    size_t const count = (size_t)(STATES + OTHERS - 1) * bank->padded;
    memset(bank->correction, 0, count * sizeof(double));
    bank->newest = 0;
}

static bool rings(struct feedback_law const *law, uint32_t line) {
    return law->resonates && line < law->tuning.resonator_count;
}

/** p of the coming cycle as the law has it. */
static double correction(struct feedback_bank const *bank, uint32_t channel) {
    struct feedback_law const *const law = &bank->law;
    double const *const delayed = bank->past[(bank->newest + RING - law->delay) % RING];
    double const model = law->share[0] * bank->model[0][channel] + law->share[1] * bank->model[1][channel];
    return law->tuning.predicts ? bank->gain[channel] * (delayed[channel] - model) : 0;
}

/** What the states but the integral say of the coming cycle. */
static double others(struct feedback_bank const *bank, uint32_t channel) {
    struct feedback_law const *const law = &bank->law;
    double sum = (law->tuning.proportional + law->integral) * bank->correction[channel];
    for (uint32_t j = 0; rings(law, j); ++j)
        sum += bank->real[j][channel];
    return sum;
}

/** A resonator goes on by itself; `follows` is what the integral is to it, channel gains of 1: it goes on with it. */
static void turn_on(struct feedback_bank *bank, uint32_t line, uint32_t cycles) {
    double complex const far = cpow(bank->law.rotation[line], cycles), follows = feedback_law_follows(&bank->law, line);
    double const cosine = creal(far), sine = cimag(far), with = creal(follows), against = cimag(follows);
    double *const x = bank->real[line], *const y = bank->imaginary[line];
    for (uint32_t i = 0; i < bank->padded; ++i) {
        double const real = cosine * x[i] - sine * y[i], imaginary = sine * x[i] + cosine * y[i];
        bank->integral[i] += bank->gain[i] * (with * (real - x[i]) - against * (imaginary - y[i]));
        x[i] = real;
        y[i] = imaginary;
    }
}

/** The model follows what is held: at once to where its past still matters, and from there cycle by cycle. */
static void hold_on(struct feedback_bank *bank, uint32_t cycles) {
    struct feedback_law const *const law = &bank->law;
    uint32_t const each = cycles < law->delay + 2 ? cycles : law->delay + 2;
    double const far[2] = {pow(law->pole[0], cycles - each), pow(law->pole[1], cycles - each)};
    for (int m = 0; m < 2; ++m)
        for (uint32_t i = 0; i < bank->padded; ++i)
            bank->model[m][i] = bank->held[i] + far[m] * (bank->model[m][i] - bank->held[i]);
    for (uint32_t cycle = 0; cycle < each; ++cycle) {
        bank->newest = (bank->newest + 1) % RING;
        double *const late = bank->past[bank->newest];
        for (uint32_t i = 0; i < bank->padded; ++i) {
            double sum = 0;
            for (int m = 0; m < 2; ++m) {
                double const before = bank->model[m][i];
                double const now = bank->held[i] + law->pole[m] * (before - bank->held[i]);
                bank->model[m][i] = now;
                sum += law->share[m] * ((1 - law->late[m]) * now + law->late[m] * before);
            }
            late[i] = sum;
        }
    }
}

void feedback_bank_skip(struct feedback_bank *bank, uint32_t cycles) {
    if (cycles == 0)
        return;
    for (uint32_t j = 0; rings(&bank->law, j); ++j)
        turn_on(bank, j, cycles);
    hold_on(bank, cycles);
    for (uint32_t i = 0; i < bank->padded; ++i) {
        bank->correction[i] = correction(bank, i);
        bank->ahead[i] = bank->integral[i] + others(bank, i);
    }
}

void feedback_bank_settle(struct feedback_bank *bank) {
    for (uint32_t i = 0; i < bank->padded; ++i) {
        bank->correction[i] = correction(bank, i);
        bank->integral[i] = bank->ahead[i] - others(bank, i);
    }
}

void feedback_bank_retune(struct feedback_bank *bank, struct feedback_law const *law) {
    for (uint32_t j = 0; rings(&bank->law, j); ++j)
        if (!rings(law, j) || law->tuning.resonator[j].hz != bank->law.tuning.resonator[j].hz) {
            memset(bank->real[j], 0, bank->padded * sizeof(double));
            memset(bank->imaginary[j], 0, bank->padded * sizeof(double));
        }
    take_law(bank, law);
    feedback_bank_settle(bank);
}

void feedback_bank_update(struct feedback_bank *bank, double const *error, double const *wish, double const *sent) {
    if (bank->simd == FEEDBACK_SIMD_AVX512)
        feedback_update_avx512(bank, error, wish, sent);
    else if (bank->simd == FEEDBACK_SIMD_AVX2)
        feedback_update_avx2(bank, error, wish, sent);
    else
        feedback_update_scalar(bank, error, wish, sent);
}

double feedback_bank_drift(struct feedback_bank const *bank, uint32_t line, double *phasor, uint32_t cycles,
                           double *strength) {
    double real = 0, imaginary = 0, power = 0, power_before = 0;
    for (uint32_t i = 0; i < bank->channels; ++i) {
        double const a = bank->real[line][i], b = bank->imaginary[line][i];
        double const c = phasor[2 * i], d = phasor[2 * i + 1];
        real += a * c + b * d;
        imaginary += b * c - a * d;
        power += a * a + b * b;
        power_before += c * c + d * d;
        phasor[2 * i] = a;
        phasor[2 * i + 1] = b;
    }
    double const turn = carg(bank->law.rotation[line]);
    *strength = power_before > 0 ? power : 0;
    if (!(*strength > 0) || !(turn > 0) || cycles == 0)
        return 0;
    double const off = remainder(atan2(imaginary, real) - turn * cycles, 2 * acos(-1));
    return off / (turn * cycles);
}
