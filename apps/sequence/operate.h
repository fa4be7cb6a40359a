// SPDX-License-Identifier: Apache-2.0
/** What each operator and function of an expression does. Both evaluators use it, the one on a stack (evaluate.h) and
 * the one of a step (cells.h), so that they agree to the bit. Truths are 0 and 1, which the compiler has seen to. */
#ifndef SEQUENCE_OPERATE_H
#define SEQUENCE_OPERATE_H

#include <math.h>
#include <stdint.h>

#include "program.h"

/** Of one operand, `b` is ignored. */
static inline double sequence_operate(uint32_t code, double a, double b) {
    switch (code) {
    case SEQUENCE_NEGATE:
        return -a;
    case SEQUENCE_ABS:
        return fabs(a);
    case SEQUENCE_SQRT:
        return sqrt(a);
    case SEQUENCE_SIN:
        return sin(a);
    case SEQUENCE_COS:
        return cos(a);
    case SEQUENCE_ADD:
        return a + b;
    case SEQUENCE_SUBTRACT:
        return a - b;
    case SEQUENCE_MULTIPLY:
        return a * b;
    case SEQUENCE_DIVIDE:
        return a / b;
    case SEQUENCE_MIN:
        return b < a ? b : a;
    case SEQUENCE_MAX:
        return b > a ? b : a;
    case SEQUENCE_LESS:
        return a < b;
    case SEQUENCE_LESS_EQUAL:
        return a <= b;
    case SEQUENCE_MORE:
        return a > b;
    case SEQUENCE_MORE_EQUAL:
        return a >= b;
    case SEQUENCE_EQUAL:
        return a == b;
    case SEQUENCE_NOT_EQUAL:
        return a != b;
    case SEQUENCE_AND:
        return a * b;
    case SEQUENCE_OR:
        return b > a ? b : a;
    default: /* SEQUENCE_NOT */
        return 1.0 - a;
    }
}

#endif
