// SPDX-License-Identifier: Apache-2.0
/** Feed-forward: what actuators get for the value of somebody's lane, linear between the lines of a table, and its ends
 * beyond. The table is a file like a response matrix (matrix.h): names of lines are the lane's values, rising. */
#ifndef FEEDBACK_FORWARD_H
#define FEEDBACK_FORWARD_H

#include <stdint.h>

#include <ringmaster/error.h>

struct feedback_forward {
    uint32_t points, columns;
    /** [point] */
    double *at;
    /** [point · columns + column]. */
    double *value;
    /** [column] actuators. */
    char **name;
    /** [column] where it goes, UINT32_MAX: nowhere; filled in by who knows. */
    uint32_t *output;
};

enum rm_code feedback_forward_load(char const *path, struct feedback_forward *table, struct rm_error *error);
void feedback_forward_free(struct feedback_forward *table);

/** Adds to `ahead[output]`. A value that is no number adds nothing. */
void feedback_forward_add(struct feedback_forward const *table, double value, double *ahead);

#endif
