// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <string.h>

#include "operate.h"

enum { NUMBERS_MAX = SEQUENCE_CELLS - SEQUENCE_CELL_NUMBER };

/** The cell of a number, bit by bit; SEQUENCE_CELLS: there is no room for it. */
static uint32_t cell_of_number(double value, double *number, uint32_t *count) {
    uint32_t i = 0;
    while (i < *count && memcmp(&number[i], &value, sizeof value) != 0)
        ++i;
    if (i == NUMBERS_MAX)
        return SEQUENCE_CELLS;
    number[i] = value;
    *count = i == *count ? i + 1 : *count;
    return SEQUENCE_CELL_NUMBER + i;
}

static uint32_t cell_of_operand(struct sequence_op const *op, double *number, uint32_t *count) {
    switch (op->code) {
    case SEQUENCE_VARIABLE:
        return SEQUENCE_CELL_VARIABLE + op->index;
    case SEQUENCE_PARAMETER:
        return SEQUENCE_CELL_PARAMETER + op->index;
    case SEQUENCE_COUNTER:
        return SEQUENCE_CELL_COUNTER + op->index;
    case SEQUENCE_INPUT:
        return SEQUENCE_CELL_INPUT + op->index;
    case SEQUENCE_SECONDS:
        return SEQUENCE_CELL_SECONDS;
    case SEQUENCE_TURNS:
        return SEQUENCE_CELL_TURNS;
    case SEQUENCE_DONE:
        return SEQUENCE_CELL_DONE;
    case SEQUENCE_BASE:
        return SEQUENCE_CELL_BASE;
    case SEQUENCE_HERE:
        return SEQUENCE_CELL_HERE;
    default:
        return cell_of_number(op->value, number, count);
    }
}

bool sequence_lower(struct sequence_expression const *expression, double *number, uint32_t *count,
                    struct sequence_lowered *lowered) {
    uint32_t stack[SEQUENCE_STACK_MAX + 1] = {0}, depth = 0;
    lowered->instructions = 0;
    for (uint32_t i = 0; i < expression->ops; ++i) {
        struct sequence_op const *const op = &expression->op[i];
        uint32_t const operands = sequence_code_operands(op->code);
        if (operands == 0) {
            stack[depth] = cell_of_operand(op, number, count);
            if (stack[depth++] == SEQUENCE_CELLS)
                return false;
            continue;
        }
        depth -= operands - 1;
        lowered->instruction[lowered->instructions++] =
            (struct sequence_instruction){.code = (uint16_t)op->code,
                                          .to = (uint16_t)(SEQUENCE_CELL_STACK + depth - 1),
                                          .a = (uint16_t)stack[depth - 1],
                                          .b = (uint16_t)(operands == 2 ? stack[depth] : stack[depth - 1])};
        stack[depth - 1] = SEQUENCE_CELL_STACK + depth - 1;
    }
    lowered->cell = stack[0];
    return true;
}

void sequence_work_out(struct sequence_instruction const *instruction, uint32_t count, double *cell) {
    for (struct sequence_instruction const *const end = instruction + count; instruction < end; ++instruction)
        cell[instruction->to] = sequence_operate(instruction->code, cell[instruction->a], cell[instruction->b]);
}
