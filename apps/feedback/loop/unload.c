// SPDX-License-Identifier: Apache-2.0
#include "unload.h"

#include <math.h>

void feedback_unload_step(struct feedback_unload *unload, double const *now, double const *reference, bool const *is_in,
                          double *fast, double *slow) {
    for (uint32_t i = 0; i < unload->fasts; ++i) {
        double const surplus = now[i] - reference[i] - unload->pending[i];
        bool const moves = is_in[i] && isfinite(surplus);
        unload->moved[i] = moves ? unload->rate * surplus : 0.0;
        unload->pending[i] = is_in[i] ? unload->pending[i] + unload->moved[i] : 0.0;
        double const given = (1.0 - unload->keep) * unload->pending[i];
        fast[i] -= given;
        unload->pending[i] -= given;
    }
    for (uint32_t s = 0; s < unload->slows; ++s) {
        double const *row = unload->handover + (uint64_t)s * unload->fasts;
        double sum = 0.0;
        for (uint32_t i = 0; i < unload->fasts; ++i)
            sum += row[i] * unload->moved[i];
        slow[s] += sum;
    }
}

void feedback_unload_skip(struct feedback_unload *unload, uint32_t cycles, double *fast) {
    double const given = 1.0 - pow(unload->keep, cycles);
    for (uint32_t i = 0; i < unload->fasts; ++i) {
        fast[i] -= given * unload->pending[i];
        unload->pending[i] -= given * unload->pending[i];
    }
}
