// SPDX-License-Identifier: Apache-2.0
/** The stack machine that works an expression out: where it is compiled and checked. Steps have cells.h. */
#ifndef SEQUENCE_EVALUATE_H
#define SEQUENCE_EVALUATE_H

#include "expression.h"

/** What names stand for in this step. */
struct sequence_values {
    double const *variable, *parameter, *counter, *input;
    double seconds, turns, done, base, here;
};

/** The value of an expression that was compiled: a truth is 1 or 0. */
double sequence_evaluate(struct sequence_op const *op, uint32_t ops, struct sequence_values const *values);

#endif
