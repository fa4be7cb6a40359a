// SPDX-License-Identifier: Apache-2.0
#include "mains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double const LOOK_S = 0.25;   /**< from one look to the next */
static double const TRUST = 0.5;     /**< of a look: the rest is noise */
static double const FURTHEST = 0.01; /**< no mains is off by more */

bool feedback_mains_make(struct feedback_mains *mains, struct feedback_layout const *layout, double rate_hz) {
    *mains = (struct feedback_mains){.every = (uint32_t)fmax(1.0, LOOK_S * rate_hz), .scale = 1.0};
    for (uint32_t p = 0; p < layout->part_count; ++p) {
        mains->phasor[p] = calloc(2 * (size_t)layout->part[p].channels_most + 1, sizeof(double));
        if (mains->phasor[p] == NULL)
            return false;
    }
    return true;
}

void feedback_mains_free(struct feedback_mains *mains) {
    for (uint32_t p = 0; p < FEEDBACK_PARTS_MAX; ++p)
        free(mains->phasor[p]);
    *mains = (struct feedback_mains){0};
}

void feedback_mains_forget(struct feedback_mains *mains, struct feedback_layout const *layout) {
    mains->count = 0;
    for (uint32_t p = 0; p < layout->part_count; ++p)
        memset(mains->phasor[p], 0, 2 * (size_t)layout->part[p].channels_most * sizeof(double));
}

void feedback_mains_apply(struct feedback_mains const *mains, struct feedback_layout const *layout,
                          struct feedback_answer *answer) {
    for (uint32_t p = 0; p < layout->part_count; ++p) {
        if (answer->controllers[p].memory == NULL)
            continue;
        struct feedback_law law = answer->controllers[p].law;
        feedback_law_follow(&law, mains->scale);
        feedback_controllers_retune(&answer->controllers[p], &law);
    }
}

static int32_t line_of(struct feedback_tuning const *tuning, double hz) {
    for (uint32_t j = 0; j < tuning->resonator_count; ++j)
        if (tuning->resonator[j].hz == hz)
            return (int32_t)j;
    return -1;
}

bool feedback_mains_follow(struct feedback_mains *mains, struct feedback_configuration const *configuration,
                           struct feedback_layout const *layout, struct feedback_answer *answer) {
    if (++mains->count < mains->every)
        return false;
    double sum = 0.0, weight = 0.0;
    for (uint32_t p = 0; p < layout->part_count; ++p) {
        struct feedback_controllers *controllers = &answer->controllers[p];
        int32_t const line =
            controllers->memory != NULL ? line_of(&controllers->law.tuning, configuration->mains_hz) : -1;
        if (line < 0 || !controllers->law.resonates)
            continue;
        double strength = 0.0;
        double const drift =
            feedback_controllers_drift(controllers, (uint32_t)line, mains->phasor[p], mains->count, &strength);
        sum += strength * drift;
        weight += strength;
    }
    mains->count = 0;
    if (!(weight > 0.0) || !isfinite(sum))
        return false;
    double const scale = mains->scale * (1.0 + TRUST * sum / weight);
    mains->scale = fmin(fmax(scale, 1.0 - FURTHEST), 1.0 + FURTHEST);
    feedback_mains_apply(mains, layout, answer);
    feedback_mains_forget(mains, layout);
    return true;
}
