// SPDX-License-Identifier: Apache-2.0
#include "evaluate.h"

#include "operate.h"

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

/** The compiler has counted: the stack neither overflows nor runs empty. */
double sequence_evaluate(struct sequence_op const *op, uint32_t ops, struct sequence_values const *values) {
    double stack[SEQUENCE_STACK_MAX] = {0.0}, *top = stack;
    for (struct sequence_op const *const end = op + ops; op < end; ++op) {
        if (op->code <= SEQUENCE_DONE) {
            *top++ = evaluate_operand(op, values);
        } else if (op->code <= SEQUENCE_COS || op->code == SEQUENCE_NOT) {
            top[-1] = sequence_operate(op->code, top[-1], top[-1]);
        } else {
            --top;
            top[-1] = sequence_operate(op->code, top[-1], top[0]);
        }
    }
    return stack[0];
}
