// SPDX-License-Identifier: Apache-2.0
#include "shape.h"

#include <math.h>

double sequence_table_peak(double const *point, uint32_t points) {
    double most = 0.0;
    for (uint32_t i = 1; i < points; ++i)
        most = fmax(most, fabs(point[i] - point[i - 1]));
    return most * (points - 1);
}
