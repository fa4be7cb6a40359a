// SPDX-License-Identifier: Apache-2.0
/** The sines of excite, for tests that drive them from Python. */
#include <stdlib.h>

#include <ringmaster/s_curve.h>

#include "apps/excite/law/sines.h"

void property_sines(double const *amplitude, double const *hz, double const *phase, uint32_t count, double step_s,
                    uint64_t const *step, uint32_t steps, double *value);
double property_curve(double share);
double property_steepest(double amplitude, double hz, double step_s);

/** [steps][count] the values of all sines at these steps. */
void property_sines(double const *amplitude, double const *hz, double const *phase, uint32_t count, double step_s,
                    uint64_t const *step, uint32_t steps, double *value) {
    struct excite_sines sines;
    void *memory = malloc(excite_sines_bytes(count) + 1);
    if (memory == NULL)
        return;
    excite_sines_place(&sines, count, memory);
    excite_sines_clear(&sines, step_s);
    for (uint32_t i = 0; i < count; ++i)
        excite_sines_add(&sines, i, amplitude[i], hz[i], phase[i]);
    for (uint32_t s = 0; s < steps; ++s) {
        excite_sines_go(&sines, step[s]);
        excite_sines_add_up(&sines, 1.0, value + (size_t)s * count);
    }
    free(memory);
}

double property_curve(double share) { return rm_s_curve_clamped(share); }

double property_steepest(double amplitude, double hz, double step_s) {
    return excite_sines_steepest(amplitude, hz, step_s);
}
