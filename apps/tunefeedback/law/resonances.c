// SPDX-License-Identifier: Apache-2.0
#include "resonances.h"

#include <math.h>
#include <stdio.h>

static char const planes[2] = {'x', 'y'};

static bool is_apart(double tune, double line, double margin, char plane, char const *name, char *text, size_t bytes) {
    double const distance = fabs(tune - line);
    if (distance >= margin && tune > 0.0 && tune < 0.5)
        return true;
    snprintf(text, bytes, "%c: %g is %.4g from the %s resonance at %g, expected at least %g", plane, tune, distance,
             name, line, margin);
    return false;
}

bool tunefeedback_resonances_allow(struct tunefeedback_resonances const *margin, double const tune[2],
                                   double const from[2], char *text, size_t bytes) {
    double const apart = tune[0] - tune[1];
    for (int plane = 0; plane < 2; ++plane)
        if (!is_apart(tune[plane], 0.0, margin->integer, planes[plane], "integer", text, bytes) ||
            !is_apart(tune[plane], 0.5, margin->half, planes[plane], "half-integer", text, bytes))
            return false;
    if (fabs(apart) < margin->coupling) {
        snprintf(text, bytes, "x %g and y %g are %.4g apart, expected at least %g, because of the coupling resonance",
                 tune[0], tune[1], fabs(apart), margin->coupling);
        return false;
    }
    if (from == NULL || (from[0] - from[1] > 0.0) == (apart > 0.0))
        return true;
    snprintf(text, bytes, "the way from x %g, y %g to x %g, y %g crosses the coupling resonance x = y", from[0],
             from[1], tune[0], tune[1]);
    return false;
}
