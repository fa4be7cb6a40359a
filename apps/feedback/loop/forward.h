// SPDX-License-Identifier: Apache-2.0
/** Feed-forward: what actuators get for the value of a lane, which need not be a BPM's. Between the lines of a table
 * it is linear; beyond its ends it is that of the nearest line. The table is a file like a response matrix (matrix.h):
 * names of lines are the lane's values, rising. */
#ifndef FEEDBACK_FORWARD_H
#define FEEDBACK_FORWARD_H

#include <stdint.h>

#include <ringmaster/error.h>

struct feedback_forward {
    uint32_t points, columns;
    /** [point] value of the lane. */
    double *at;
    /** [point · columns + column] what the actuator gets there. */
    double *value;
    /** [column] name of the actuator. */
    char **name;
    /** [column] output of that actuator, UINT32_MAX: none. The caller fills it in. */
    uint32_t *output;
};

enum rm_code feedback_forward_load(char const *path, struct feedback_forward *table, struct rm_error *error);
void feedback_forward_free(struct feedback_forward *table);

/** Adds the table's outputs for `value` to `ahead[output]`. A value that is not a number adds nothing. */
void feedback_forward_add(struct feedback_forward const *table, double value, double *ahead);

#endif
