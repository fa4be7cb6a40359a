// SPDX-License-Identifier: Apache-2.0
#include "evaluate.h"

#include <math.h>

static double evaluate_operand(struct sequence_op const *op, struct sequence_values const *values) {
    switch (op->code) {
    case SEQUENCE_VARIABLE:
        return values->variable[op->index];
    case SEQUENCE_PARAMETER:
        return values->parameter[op->index];
    case SEQUENCE_COUNTER:
        return values->counter[op->index];
    case SEQUENCE_INPUT:
        return values->input[op->index];
    case SEQUENCE_SECONDS:
        return values->seconds;
    case SEQUENCE_TURNS:
        return values->turns;
    case SEQUENCE_BASE:
        return values->base;
    case SEQUENCE_HERE:
        return values->here;
    case SEQUENCE_DONE:
        return values->done;
    default:
        return op->value;
    }
}

static double evaluate_one(enum sequence_code code, double x) {
    switch (code) {
    case SEQUENCE_NEGATE:
        return -x;
    case SEQUENCE_ABS:
        return fabs(x);
    case SEQUENCE_SQRT:
        return sqrt(x);
    case SEQUENCE_SIN:
        return sin(x);
    case SEQUENCE_COS:
        return cos(x);
    default:
        return x == 0.0 ? 1.0 : 0.0;
    }
}

static double evaluate_two(enum sequence_code code, double a, double b) {
    switch (code) {
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
        return a != 0.0 && b != 0.0;
    default:
        return a != 0.0 || b != 0.0;
    }
}

/** The compiler has counted: the stack neither overflows nor runs empty. */
double sequence_evaluate(struct sequence_op const *op, uint32_t ops, struct sequence_values const *values) {
    double stack[SEQUENCE_STACK_MAX] = {0.0}, *top = stack;
    for (struct sequence_op const *const end = op + ops; op < end; ++op) {
        if (op->code <= SEQUENCE_DONE) {
            *top++ = evaluate_operand(op, values);
        } else if (op->code <= SEQUENCE_COS || op->code == SEQUENCE_NOT) {
            top[-1] = evaluate_one(op->code, top[-1]);
        } else {
            --top;
            top[-1] = evaluate_two(op->code, top[-1], top[0]);
        }
    }
    return stack[0];
}
