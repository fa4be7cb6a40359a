// SPDX-License-Identifier: Apache-2.0
/** Expressions as steps work them out: a program of the stack machine is lowered to one of cells, an instruction for each
 * operator and none for an operand. Names, numbers and what lies on the stack are cells of one array, of which the lower
 * ones change and the numbers stay. Half as many instructions, and none that only moves a value.
 */
#ifndef SEQUENCE_CELLS_H
#define SEQUENCE_CELLS_H

#include "expression.h"
#include "file.h"

enum sequence_cell {
    SEQUENCE_CELL_SECONDS,
    SEQUENCE_CELL_TURNS,
    SEQUENCE_CELL_DONE,
    SEQUENCE_CELL_BASE,
    SEQUENCE_CELL_HERE,
    /** What lies on the stack. */
    SEQUENCE_CELL_STACK = 8,
    SEQUENCE_CELL_VARIABLE = SEQUENCE_CELL_STACK + SEQUENCE_STACK_MAX,
    SEQUENCE_CELL_PARAMETER = SEQUENCE_CELL_VARIABLE + SEQUENCE_VARIABLES_MAX,
    SEQUENCE_CELL_COUNTER = SEQUENCE_CELL_PARAMETER + SEQUENCE_PARAMETERS_MAX,
    SEQUENCE_CELL_INPUT = SEQUENCE_CELL_COUNTER + SEQUENCE_COUNTERS_MAX,
    SEQUENCE_CELL_NUMBER = SEQUENCE_CELL_INPUT + SEQUENCE_INPUTS_MAX,
    SEQUENCE_CELLS = 2048,
};

/** Cell `to` becomes `a` code `b`; of one operand that is `a`. */
struct sequence_instruction {
    /** enum sequence_code */
    uint16_t code;
    uint16_t to, a, b;
};

/** An expression lowered. */
struct sequence_lowered {
    struct sequence_instruction instruction[SEQUENCE_OPS_MAX];
    uint32_t instructions;
    /** Where the value is. */
    uint32_t cell;
};

/** Lowers an expression. Its numbers are looked for among the `*count` that there are, and added: cell NUMBER and the
 * next ones. False: there are more numbers than cells. */
bool sequence_lower(struct sequence_expression const *expression, double *number, uint32_t *count,
                    struct sequence_lowered *lowered);

/** Works instructions out. The hot path. */
void sequence_work_out(struct sequence_instruction const *instruction, uint32_t count, double *cell);

#endif
