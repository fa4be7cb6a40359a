// SPDX-License-Identifier: Apache-2.0
#include "interval.h"

#include <math.h>

static struct sequence_interval const ANY = {-(double)INFINITY, (double)INFINITY};
static struct sequence_interval const TRUTH = {0.0, 1.0};

/** A comparison with what is no number is false, so nothing that the machine says makes one certain. */
static struct sequence_interval widen(struct sequence_interval interval) {
    return (struct sequence_interval){isnan(interval.low) ? -(double)INFINITY : interval.low,
                                      isnan(interval.high) ? (double)INFINITY : interval.high};
}

static struct sequence_interval of_operand(struct sequence_program const *program, struct sequence_op const *op,
                                           struct sequence_interval supply) {
    switch (op->code) {
    case SEQUENCE_CONSTANT:
        return (struct sequence_interval){op->value, op->value};
    case SEQUENCE_VARIABLE:
        return (struct sequence_interval){program->file->variable[op->index].low,
                                          program->file->variable[op->index].high};
    case SEQUENCE_COUNTER:
        return widen(
            (struct sequence_interval){program->file->counter[op->index].low, program->file->counter[op->index].high});
    case SEQUENCE_SECONDS:
    case SEQUENCE_TURNS:
        return (struct sequence_interval){0.0, (double)INFINITY};
    case SEQUENCE_BASE:
    case SEQUENCE_HERE:
        return supply;
    case SEQUENCE_DONE:
        return TRUTH;
    default:
        return ANY;
    }
}

static struct sequence_interval of_one(enum sequence_code code, struct sequence_interval x) {
    bool const has_zero = x.low <= 0.0 && x.high >= 0.0;
    double const a = fabs(x.low), b = fabs(x.high);
    switch (code) {
    case SEQUENCE_NEGATE:
        return (struct sequence_interval){-x.high, -x.low};
    case SEQUENCE_ABS:
        return (struct sequence_interval){has_zero ? 0.0 : fmin(a, b), fmax(a, b)};
    case SEQUENCE_SQRT:
        return (struct sequence_interval){sqrt(fmax(x.low, 0.0)), sqrt(fmax(x.high, 0.0))};
    case SEQUENCE_NOT:
        return (struct sequence_interval){1.0 - x.high, 1.0 - x.low};
    default:
        return (struct sequence_interval){-1.0, 1.0};
    }
}

/** 0 × ∞ is 0 here: the bound of a product is none of it. */
static double product(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

static struct sequence_interval multiply(struct sequence_interval a, struct sequence_interval b) {
    double const corner[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                             product(a.high, b.high)};
    return (struct sequence_interval){fmin(fmin(corner[0], corner[1]), fmin(corner[2], corner[3])),
                                      fmax(fmax(corner[0], corner[1]), fmax(corner[2], corner[3]))};
}

static struct sequence_interval divide(struct sequence_interval a, struct sequence_interval b) {
    if (b.low <= 0.0 && b.high >= 0.0)
        return ANY;
    return multiply(a, (struct sequence_interval){1.0 / b.high, 1.0 / b.low});
}

/** `is_never` and `is_always` of a comparison. */
static struct sequence_interval truth(bool is_never, bool is_always) {
    return (struct sequence_interval){is_always ? 1.0 : 0.0, is_never ? 0.0 : 1.0};
}

static struct sequence_interval compare(enum sequence_code code, struct sequence_interval a,
                                        struct sequence_interval b) {
    bool const is_one = a.low == a.high && b.low == b.high && a.low == b.low;
    bool const is_apart = a.high < b.low || a.low > b.high;
    switch (code) {
    case SEQUENCE_LESS:
        return truth(a.low >= b.high, a.high < b.low);
    case SEQUENCE_LESS_EQUAL:
        return truth(a.low > b.high, a.high <= b.low);
    case SEQUENCE_MORE:
        return truth(a.high <= b.low, a.low > b.high);
    case SEQUENCE_MORE_EQUAL:
        return truth(a.high < b.low, a.low >= b.high);
    case SEQUENCE_EQUAL:
        return truth(is_apart, is_one);
    default:
        return truth(is_one, is_apart);
    }
}

static struct sequence_interval of_two(enum sequence_code code, struct sequence_interval a,
                                       struct sequence_interval b) {
    switch (code) {
    case SEQUENCE_ADD:
        return (struct sequence_interval){a.low + b.low, a.high + b.high};
    case SEQUENCE_SUBTRACT:
        return (struct sequence_interval){a.low - b.high, a.high - b.low};
    case SEQUENCE_MULTIPLY:
        return multiply(a, b);
    case SEQUENCE_DIVIDE:
        return divide(a, b);
    case SEQUENCE_MIN:
    case SEQUENCE_AND:
        return (struct sequence_interval){fmin(a.low, b.low), fmin(a.high, b.high)};
    case SEQUENCE_MAX:
    case SEQUENCE_OR:
        return (struct sequence_interval){fmax(a.low, b.low), fmax(a.high, b.high)};
    default:
        return compare(code, a, b);
    }
}

struct sequence_interval sequence_interval_of(struct sequence_program const *program, struct sequence_value value,
                                              struct sequence_interval supply) {
    struct sequence_interval stack[SEQUENCE_STACK_MAX] = {{0.0, 0.0}}, *top = stack;
    stack[0] = ANY;
    for (uint32_t i = value.first; i < value.first + value.ops; ++i) {
        struct sequence_op const *op = &program->op[i];
        if (op->code <= SEQUENCE_DONE) {
            *top++ = of_operand(program, op, supply);
        } else if (op->code <= SEQUENCE_COS || op->code == SEQUENCE_NOT) {
            top[-1] = widen(of_one(op->code, top[-1]));
        } else {
            --top;
            top[-1] = widen(of_two(op->code, top[-1], top[0]));
        }
    }
    return stack[0];
}

uint32_t sequence_value_uses(struct sequence_program const *program, struct sequence_value value) {
    uint32_t uses = 0;
    for (uint32_t i = value.first; i < value.first + value.ops; ++i)
        uses |= 1u << program->op[i].code;
    return uses;
}

bool sequence_value_is_known(struct sequence_program const *program, struct sequence_value value) {
    uint32_t const operands = (2u << SEQUENCE_DONE) - 1;
    uint32_t const known = 1u << SEQUENCE_CONSTANT | 1u << SEQUENCE_VARIABLE;
    return (sequence_value_uses(program, value) & operands & ~known) == 0;
}
