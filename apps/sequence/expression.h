// SPDX-License-Identifier: Apache-2.0
/** Expressions: from text to a program of a stack machine, which has neither jumps nor calls. So what one takes is the
 * number of its operations, known when the file is read.
 *
 *     base + amplitude            abs(x1 - 100) < 5 and not done           -min(a, b) / 2
 *
 * Two types: numbers and truths. Comparisons make truths of numbers; `and`, `or`, `not` take truths, all else numbers.
 * Precedence is that of C and Python: or, and, not, comparisons (one, not a chain of them), + -, * /, a sign. All
 * operands are always worked out, `and` and `or` included.
 */
#ifndef SEQUENCE_EXPRESSION_H
#define SEQUENCE_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SEQUENCE_OPS_MAX = 128,
    SEQUENCE_STACK_MAX = 16,
    SEQUENCE_FAULT_BYTES = 256,
};

enum sequence_code {
    SEQUENCE_CONSTANT,
    /* Operands; `index` says which, where there are several. */
    SEQUENCE_VARIABLE,
    SEQUENCE_PARAMETER,
    SEQUENCE_COUNTER,
    SEQUENCE_INPUT,
    SEQUENCE_SECONDS,
    SEQUENCE_TURNS,
    SEQUENCE_BASE,
    SEQUENCE_HERE,
    /** A truth, as all from LESS on. */
    SEQUENCE_DONE,
    /* Of one number. */
    SEQUENCE_NEGATE,
    SEQUENCE_ABS,
    SEQUENCE_SQRT,
    SEQUENCE_SIN,
    SEQUENCE_COS,
    /* Of two. */
    SEQUENCE_ADD,
    SEQUENCE_SUBTRACT,
    SEQUENCE_MULTIPLY,
    SEQUENCE_DIVIDE,
    SEQUENCE_MIN,
    SEQUENCE_MAX,
    SEQUENCE_LESS,
    SEQUENCE_LESS_EQUAL,
    SEQUENCE_MORE,
    SEQUENCE_MORE_EQUAL,
    SEQUENCE_EQUAL,
    SEQUENCE_NOT_EQUAL,
    /* Of truths. */
    SEQUENCE_AND,
    SEQUENCE_OR,
    SEQUENCE_NOT,

    SEQUENCE_CODES,
};

struct sequence_op {
    /** Of a constant. */
    double value;
    /** enum sequence_code */
    uint32_t code;
    uint32_t index;
};

/** A name that an expression may use. */
struct sequence_symbol {
    char const *name;
    uint32_t code, index;
};

struct sequence_expression {
    struct sequence_op op[SEQUENCE_OPS_MAX];
    uint32_t ops;
    /** Bits: 1 << enum sequence_code of what is in it. */
    uint32_t uses;
    bool is_truth;
    uint8_t reserved[7];
};

struct sequence_fault {
    /** Character of the text, from 1. */
    uint32_t at;
    char text[SEQUENCE_FAULT_BYTES];
};

/** Compiles a text. False: `fault` says what is wrong. Operations on constants are done here. */
bool sequence_expression_compile(char const *text, struct sequence_symbol const *symbol, uint32_t symbols,
                                 struct sequence_expression *expression, struct sequence_fault *fault);

/** How many values an operation takes: 0, 1 or 2. */
uint32_t sequence_code_operands(uint32_t code);

/** What an operation is called, for people. */
char const *sequence_code_name(enum sequence_code code);

static inline bool sequence_expression_has(uint32_t uses, enum sequence_code code) { return (uses >> code & 1u) != 0; }

#endif
