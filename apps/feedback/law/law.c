// SPDX-License-Identifier: Apache-2.0
#include "law.h"

#include <math.h>

static double const two_pi = 6.28318530717958647692;
/** Of a delay in cycles. */
static double const ROUNDING = 1e-9;

/** z⁻¹ at a frequency. */
static double complex inverse_z_at(double hz, double rate_hz) {
    double const angle = two_pi * hz / rate_hz;
    return cos(angle) - I * sin(angle);
}

/** The plant's model as sums of first orders, and its delay in cycles. Two poles that are alike are drawn apart by a
 * thousandth: partial fractions have none that are the same. */
static void law_set_model(struct feedback_law *law, struct feedback_plant const *plant) {
    double const cycles = fmin(fmax(plant->delay_s * plant->rate_hz, 0), FEEDBACK_DELAY_MOST);
    law->delay = (uint32_t)(cycles + ROUNDING); /* 600 µs at 10 kHz are 6 cycles, not 5 and almost another */
    law->fraction = fmax(cycles - law->delay, 0);
    bool const first = plant->bandwidth_hz > 0, second = plant->second_hz > 0;
    double const one = first ? plant->bandwidth_hz : plant->second_hz;
    double two = first && second ? plant->second_hz : 0;
    if (fabs(two - one) < 1e-3 * one)
        two = one * 1.001;
    law->pole[0] = one > 0 ? exp(-two_pi * one / plant->rate_hz) : 0;
    law->pole[1] = two > 0 ? exp(-two_pi * two / plant->rate_hz) : 0;
    law->share[0] = two > 0 ? two / (two - one) : 1;
    law->share[1] = 1 - law->share[0];
    for (int i = 0; i < 2; ++i)
        law->late[i] = 1 - (1 - pow(law->pole[i], 1 - law->fraction)) / (1 - law->pole[i]);
}

/** Of the model, without its delay. */
static double complex law_plant_undelayed(struct feedback_law const *law, double complex z) {
    double complex sum = 0;
    for (int i = 0; i < 2; ++i)
        sum += law->share[i] * (1 - law->pole[i]) * z / (1 - law->pole[i] * z);
    return sum;
}

static double complex law_plant_delayed(struct feedback_law const *law, double complex z) {
    double complex sum = 0, whole = 1;
    for (int i = 0; i < 2; ++i)
        sum += law->share[i] * (1 - law->pole[i]) * z / (1 - law->pole[i] * z) * (1 - law->late[i] + law->late[i] * z);
    for (uint32_t i = 0; i < law->delay; ++i)
        whole *= z;
    return sum * whole;
}

double complex feedback_plant_response(struct feedback_plant const *plant, double hz) {
    struct feedback_law law = {0};
    law_set_model(&law, plant);
    return law_plant_delayed(&law, inverse_z_at(hz, plant->rate_hz));
}

/** The whole of a cycle that a step waits, on average: delay and half of the time for which it is held. */
static double waiting_s(struct feedback_plant const *plant) { return fmax(plant->delay_s, 0) + 0.5 / plant->rate_hz; }

void feedback_tuning_choose(struct feedback_plant const *plant, double const *hz, uint32_t count,
                            struct feedback_tuning *tuning) {
    double const a = plant->bandwidth_hz, b = plant->second_hz;
    double const slowest = a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
    double const fastest = a > 0 && b > 0 ? fmax(a, b) : 0;
    double const wait = waiting_s(plant) + (fastest > 0 ? 1 / (two_pi * fastest) : 0);
    double const pole = slowest > 0 ? exp(-two_pi * slowest / plant->rate_hz) : 0;
    *tuning = (struct feedback_tuning){.integral_hz = 0.2 / (two_pi * wait), .predicts = true};
    double gain = two_pi * tuning->integral_hz / plant->rate_hz;
    if (gain * pole / (1 - pole) > 1) {
        gain = (1 - pole) / pole;
        tuning->integral_hz = gain * plant->rate_hz / two_pi;
    }
    tuning->proportional = gain * pole / (1 - pole);
    tuning->resonator_count = count < FEEDBACK_RESONATORS_MAX ? count : FEEDBACK_RESONATORS_MAX;
    for (uint32_t j = 0; j < tuning->resonator_count; ++j) {
        tuning->resonator[j].hz = hz[j];
        tuning->resonator[j].width_hz = 0.0125 * hz[j];
        tuning->resonator[j].leak_hz = 0.004 * tuning->resonator[j].width_hz;
    }
}

static double complex law_line_rotation(struct feedback_law const *law, uint32_t j, double scale) {
    double const angle = two_pi * law->tuning.resonator[j].hz * scale / law->plant.rate_hz;
    double const stays = exp(-two_pi * law->tuning.resonator[j].leak_hz / law->plant.rate_hz);
    return stays * cos(angle) + I * (stays * sin(angle));
}

static double complex law_line_coupling(struct feedback_law const *law, uint32_t j) {
    double complex const z = inverse_z_at(law->tuning.resonator[j].hz, law->plant.rate_hz);
    double complex const with_delay = law_plant_delayed(law, z);
    double complex const seen = law->tuning.predicts ? law_plant_undelayed(law, z) : with_delay;
    double complex const pi = law->tuning.proportional + law->integral / (1 - z);
    double const width = 2 * two_pi * law->tuning.resonator[j].width_hz / law->plant.rate_hz;
    return width * (1 + pi * seen) / with_delay;
}

void feedback_law_make(struct feedback_law *law, struct feedback_plant const *plant,
                       struct feedback_tuning const *tuning, bool resonates) {
    *law = (struct feedback_law){.plant = *plant, .tuning = *tuning, .resonates = resonates};
    law_set_model(law, plant);
    law->integral = two_pi * tuning->integral_hz / plant->rate_hz;
    law->direct = tuning->proportional + law->integral;
    for (uint32_t j = 0; j < tuning->resonator_count; ++j) {
        double const hz = tuning->resonator[j].hz;
        if (!(hz > 0 && hz < plant->rate_hz / 2))
            continue;
        law->rotation[j] = law_line_rotation(law, j, 1);
        law->coupling[j] = law_line_coupling(law, j);
        law->direct += resonates ? creal(law->coupling[j]) : 0;
    }
}

void feedback_law_follow(struct feedback_law *law, double scale) {
    for (uint32_t j = 0; j < law->tuning.resonator_count; ++j)
        if (law->rotation[j] != 0)
            law->rotation[j] = law_line_rotation(law, j, scale);
}

double complex feedback_law_follows(struct feedback_law const *law, uint32_t line) {
    double const size = cabs(law->rotation[line]);
    if (!law->tuning.predicts || !(size > 0))
        return 0;
    double complex const z = conj(law->rotation[line]) / size;
    double complex const correction = law_plant_delayed(law, z) - law_plant_undelayed(law, z);
    double complex const pi = law->tuning.proportional + law->integral / (1 - z);
    /* output = state + pi · correction · output */
    return law->integral * z / (1 - z) * correction / (1 - pi * correction);
}

/** Sum of the resonators: half of each, and half of its conjugate, is its real part. */
static double complex law_sum_resonators(struct feedback_law const *law, double complex z) {
    double complex sum = 0;
    for (uint32_t j = 0; law->resonates && j < law->tuning.resonator_count; ++j)
        sum += 0.5 * (law->coupling[j] / (1 - law->rotation[j] * z) +
                      conj(law->coupling[j]) / (1 - conj(law->rotation[j]) * z));
    return sum;
}

/** C = over / under, both finite at 0 Hz, where an integral is not. */
struct ratio {
    double complex over, under;
};

static struct ratio law_controller_ratio(struct feedback_law const *law, double complex z) {
    double complex const step = law->integral != 0 ? 1 - z : 1;
    double complex const pi = law->tuning.proportional * step + law->integral;
    double complex const ahead = law->tuning.predicts ? law_plant_undelayed(law, z) - law_plant_delayed(law, z) : 0;
    return (struct ratio){pi + law_sum_resonators(law, z) * step, step + pi * ahead};
}

double complex feedback_law_response(struct feedback_law const *law, double hz) {
    struct ratio const c = law_controller_ratio(law, inverse_z_at(hz, law->plant.rate_hz));
    return c.over / c.under;
}

double complex feedback_law_sensitivity(struct feedback_law const *law, double hz) {
    double complex const z = inverse_z_at(hz, law->plant.rate_hz);
    struct ratio const c = law_controller_ratio(law, z);
    return c.under / (c.under + c.over * law_plant_delayed(law, z));
}
