// SPDX-License-Identifier: Apache-2.0
#include "planes.h"

#include <string.h>

char feedback_row_plane(char const *name) {
    char const *lane = strrchr(name, '/');
    lane = lane == NULL ? name : lane + 1;
    if (*lane == 'x' || *lane == 'y')
        return *lane;
    return '\0';
}

char feedback_column_plane(struct rm_table const *matrix, uint32_t column) {
    double x = 0;
    double y = 0;
    for (uint32_t r = 0; r < matrix->rows; ++r) {
        double const value = matrix->value[(size_t)r * matrix->columns + column];
        double *of_plane = feedback_row_plane(matrix->row_name[r]) == 'y' ? &y : &x;
        *of_plane += value * value;
    }
    return y > x ? 'y' : 'x';
}
