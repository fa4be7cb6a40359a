// SPDX-License-Identifier: Apache-2.0
/** Expressions of sequences for test_sequence_expression.py: compiled and worked out, and the bounds that are told of
 * them. Names are a, b, c (variables), x, y (inputs). */
#include <stdlib.h>
#include <string.h>

#include "apps/sequence/cells.h"
#include "apps/sequence/evaluate.h"
#include "apps/sequence/interval.h"

int property_expression(char const *text, double const operands[6], double *value, char *why);
int property_interval(char const *text, double const limits[6], double const operands[6], double interval[2]);

static struct sequence_symbol const symbols[] = {{"a", SEQUENCE_VARIABLE, 0},
                                                 {"b", SEQUENCE_VARIABLE, 1},
                                                 {"c", SEQUENCE_VARIABLE, 2},
                                                 {"x", SEQUENCE_INPUT, 0},
                                                 {"y", SEQUENCE_INPUT, 1}};

enum { SYMBOLS = sizeof symbols / sizeof *symbols };

/** What steps work out comes to the same bits. */
static bool is_the_same_in_cells(struct sequence_expression const *made, double const operands[6], double value) {
    double cell[SEQUENCE_CELLS] = {0}, *const number = cell + SEQUENCE_CELL_NUMBER;
    struct sequence_lowered lowered;
    uint32_t numbers = 0;
    if (!sequence_lower(made, number, &numbers, &lowered))
        return false;
    memcpy(cell + SEQUENCE_CELL_VARIABLE, operands, 3 * sizeof *operands);
    memcpy(cell + SEQUENCE_CELL_INPUT, operands + 3, 2 * sizeof *operands);
    cell[SEQUENCE_CELL_SECONDS] = operands[5];
    sequence_work_out(lowered.instruction, lowered.instructions, cell);
    double const found = cell[lowered.cell];
    return memcmp(&found, &value, sizeof value) == 0 || (found != found && value != value);
}

/** `operands` are a, b, c, x, y, seconds. Returns 0 for a number, 1 for a truth; −1 where it is refused, with `why` of
 * SEQUENCE_FAULT_BYTES; −2 where steps would come to another value. */
int property_expression(char const *text, double const operands[6], double *value, char *why) {
    struct sequence_expression made;
    struct sequence_fault fault;
    struct sequence_values const values = {.variable = operands, .input = operands + 3, .seconds = operands[5]};
    if (!sequence_expression_compile(text, symbols, SYMBOLS, &made, &fault)) {
        memcpy(why, fault.text, sizeof fault.text);
        return -1;
    }
    *value = sequence_evaluate(made.op, made.ops, &values);
    return is_the_same_in_cells(&made, operands, *value) ? made.is_truth : -2;
}

/** The interval of an expression whose a, b, c keep `limits` (low and high of each), and may x and y be any number. */
int property_interval(char const *text, double const limits[6], double const operands[6], double interval[2]) {
    struct sequence_variable variables[3] = {{.name = NULL}};
    struct sequence_file const file = {.variable = variables, .variables = 3};
    struct sequence_expression made;
    struct sequence_fault fault;
    struct sequence_program const program = {.file = &file, .op = made.op};
    (void)operands;
    for (int i = 0; i < 3; ++i) {
        variables[i].low = limits[2 * i];
        variables[i].high = limits[2 * i + 1];
    }
    if (!sequence_expression_compile(text, symbols, SYMBOLS, &made, &fault))
        return -1;
    struct sequence_value const value = {.first = 0, .ops = made.ops};
    struct sequence_interval const found =
        sequence_interval_of(&program, value, (struct sequence_interval){-1e300, 1e300});
    interval[0] = found.low;
    interval[1] = found.high;
    return made.is_truth;
}
