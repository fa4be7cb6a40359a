// SPDX-License-Identifier: Apache-2.0
/** The feedback's law behind plain functions, for tests that are not written in C. */
#include <stdlib.h>

#include "apps/feedback/law/controllers.h"
#include "apps/feedback/law/law.h"

/** Plant and tuning as numbers. */
struct property_design {
    double rate_hz, bandwidth_hz, second_hz, delay_s;
    double proportional, integral_hz;
    uint32_t predicts, lines;
    double hz[FEEDBACK_RESONATORS_MAX], width_hz[FEEDBACK_RESONATORS_MAX], leak_hz[FEEDBACK_RESONATORS_MAX];
};

void property_feedback_response(struct property_design const *design, double scale, double hz, double *plant,
                                double *law, double *sensitivity);
uint32_t property_feedback_run(struct property_design const *design, double gain, uint32_t cycles,
                               double const *disturbance, double const *impulse, uint32_t length, double *error);

static void make_property_law(struct property_design const *design, struct feedback_law *law) {
    struct feedback_plant const plant = {.rate_hz = design->rate_hz,
                                         .bandwidth_hz = design->bandwidth_hz,
                                         .second_hz = design->second_hz,
                                         .delay_s = design->delay_s};
    struct feedback_tuning tuning = {.proportional = design->proportional,
                                     .integral_hz = design->integral_hz,
                                     .predicts = design->predicts != 0,
                                     .resonator_count = design->lines};
    for (uint32_t j = 0; j < design->lines; ++j) {
        tuning.resonator[j].hz = design->hz[j];
        tuning.resonator[j].width_hz = design->width_hz[j];
        tuning.resonator[j].leak_hz = design->leak_hz[j];
    }
    feedback_law_make(law, &plant, &tuning, true);
}

static void put_complex(double complex value, double *out) {
    out[0] = creal(value);
    out[1] = cimag(value);
}

/** Plant, law and sensitivity at a frequency, real and imaginary; resonators at `scale` times their frequency. */
void property_feedback_response(struct property_design const *design, double scale, double hz, double *plant,
                                double *law, double *sensitivity) {
    struct feedback_law made;
    make_property_law(design, &made);
    feedback_law_follow(&made, scale);
    put_complex(feedback_plant_response(&made.plant, hz), plant);
    put_complex(feedback_law_response(&made, hz), law);
    put_complex(feedback_law_sensitivity(&made, hz), sensitivity);
}

/** Controllers of one channel in a loop with a plant of this impulse response (element 0 a cycle after the output):
 * what is left of a disturbance in each cycle. Returns 0 without memory. */
uint32_t property_feedback_run(struct property_design const *design, double gain, uint32_t cycles,
                               double const *disturbance, double const *impulse, uint32_t length, double *error) {
    struct feedback_law law;
    struct feedback_controllers controllers = {0};
    make_property_law(design, &law);
    double *sent = calloc(cycles, sizeof *sent);
    if (sent == NULL || !feedback_controllers_make(&controllers, 1, &law)) {
        free(sent);
        return 0;
    }
    controllers.gain[0] = gain;
    for (uint32_t t = 0; t < cycles; ++t) {
        error[t] = disturbance[t];
        for (uint32_t k = 0; k < length && k < t; ++k)
            error[t] -= impulse[k] * sent[t - 1 - k];
        sent[t] = law.direct * gain * error[t] + controllers.ahead[0];
        feedback_controllers_update(&controllers, &error[t], &sent[t], &sent[t]);
    }
    feedback_controllers_free(&controllers);
    free(sent);
    return cycles;
}
