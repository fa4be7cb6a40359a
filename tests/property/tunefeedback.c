// SPDX-License-Identifier: Apache-2.0
/** The law of the tune feedback, for tests that drive it from Python. */
#include <stdlib.h>

#include "apps/tunefeedback/law/integrator.h"
#include "apps/tunefeedback/law/margins.h"

struct tunefeedback_integrator *property_integrator(double const matrix[2][2], double const limits[7]);
bool property_step(struct tunefeedback_integrator *integrator, double const error[2], double gain, double offset[2]);
void property_margins(double const plant[4], bool is_hann, double integral_hz, double told[2]);
double property_sensitivity(double const plant[4], bool is_hann, double integral_hz, double hz);

/** `limits` is share, and for each family step, low, high. NULL where the matrix cannot be inverted. */
struct tunefeedback_integrator *property_integrator(double const matrix[2][2], double const limits[7]) {
    struct tunefeedback_integrator *made = calloc(1, sizeof *made);
    if (made == NULL || !tunefeedback_invert(matrix, made->inverse)) {
        free(made);
        return NULL;
    }
    made->share = limits[0];
    for (int family = 0; family < 2; ++family) {
        made->step_a[family] = limits[1 + 3 * family];
        made->low_a[family] = limits[2 + 3 * family];
        made->high_a[family] = limits[3 + 3 * family];
    }
    return made;
}

/** One step; writes the offsets. Returns whether an excursion is in the way. */
bool property_step(struct tunefeedback_integrator *integrator, double const error[2], double gain, double offset[2]) {
    double move[2];
    bool const is_limited = tunefeedback_move(integrator, error, gain, move);
    for (int family = 0; family < 2; ++family)
        offset[family] = integrator->offset_a[family] += move[family];
    return is_limited;
}

static struct tunefeedback_plant plant_of(double const plant[4], bool is_hann) {
    return (struct tunefeedback_plant){.turn_rate_hz = plant[0],
                                       .window_turns = (uint32_t)plant[1],
                                       .window = is_hann ? TUNE_HANN : TUNE_RECTANGULAR,
                                       .delay_s = plant[2],
                                       .bandwidth_hz = plant[3]};
}

/** Gain margin and greatest sensitivity. `plant` is turn rate, window, delay, bandwidth. */
void property_margins(double const plant[4], bool is_hann, double integral_hz, double told[2]) {
    struct tunefeedback_plant const it = plant_of(plant, is_hann);
    struct tunefeedback_margins const margins = tunefeedback_margins(&it, integral_hz);
    told[0] = margins.gain;
    told[1] = margins.sensitivity;
}

double property_sensitivity(double const plant[4], bool is_hann, double integral_hz, double hz) {
    struct tunefeedback_plant const it = plant_of(plant, is_hann);
    return tunefeedback_sensitivity(&it, integral_hz, hz);
}
