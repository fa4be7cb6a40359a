// SPDX-License-Identifier: Apache-2.0
/** What the file becomes when it is read: sequences, their states, actions and ways as tables of numbers. Steps only read
 * it. All indices are global: a state is an index among those of all sequences. */
#ifndef SEQUENCE_PROGRAM_H
#define SEQUENCE_PROGRAM_H

#include "cells.h"
#include "expression.h"
#include "file.h"

#define SEQUENCE_NONE UINT32_MAX

/** An expression: operations of the program, from `first` on. None: 0 of them. And what steps work out: instructions
 * from `instruction` on, whose value is in `cell`. */
struct sequence_value {
    uint32_t first, ops;
    uint32_t instruction;
    uint16_t instructions, cell;
};

enum sequence_act_kind {
    SEQUENCE_ACT_SET,
    SEQUENCE_ACT_RAMP,
    SEQUENCE_ACT_PULSE,
    SEQUENCE_ACT_EXCITE,
    SEQUENCE_ACT_WAIT,
    SEQUENCE_ACT_CALL,
    SEQUENCE_ACT_LET,
    SEQUENCE_ACT_PUT,
    SEQUENCE_ACT_FEEDBACK,
    SEQUENCE_ACT_TRIGGER,
    SEQUENCE_ACT_RECORD,

    SEQUENCE_ACT_KINDS,
};

/** An action, compiled. Those up to excite move a group of supplies. */
struct sequence_act {
    /** Of let and put the value, of wait how long. */
    struct sequence_value to, in_s, amplitude, hz, phase;
    double ramp_s;
    /** enum sequence_act_kind, enum sequence_shape */
    uint32_t kind, shape;
    /** Indices; or NONE. `ask` is that of the request that it makes, of all in the program. */
    uint32_t group, table, call, ask, counter;
    uint32_t reserved;
};

struct sequence_arc {
    struct sequence_value when;
    uint32_t to;
    /** Its condition is `done`, and nothing else. */
    bool is_done;
    uint8_t reserved[3];
};

/** A state, compiled. */
struct sequence_node {
    /** INFINITY: none of its own. */
    double timeout_s;
    uint32_t act, acts, arc, arcs;
    /** State after its timeout; NONE: abort. */
    uint32_t on_timeout;
    /** Sequence that it calls; NONE. */
    uint32_t call;
    /** enum sequence_end */
    uint32_t end;
    /** Most operations of a step in it, and of the step that enters it; called sequences included. */
    uint32_t cost_step, cost_enter;
    uint32_t reserved;
};

/** A sequence, compiled. */
struct sequence_chart {
    struct sequence_value enable;
    double timeout_s;
    uint32_t node, nodes, begin;
    /** State of its abort; NONE. */
    uint32_t abort;
    /** How many stand on each other when it runs: 1 without calls. */
    uint32_t depth;
    /** Most operations of any step. */
    uint32_t cost;
};

/** A group, with the supplies that it has: members of the program, from `first` on. */
struct sequence_members {
    uint32_t first, count;
};

struct sequence_program {
    struct sequence_file const *file;
    struct sequence_op *op;
    struct sequence_instruction *instruction;
    struct sequence_chart *chart;
    struct sequence_node *node;
    struct sequence_act *act;
    struct sequence_arc *arc;
    struct sequence_value beam_lost;
    uint32_t ops, charts, nodes, acts, arcs, asks;
    uint32_t instructions, numbers;
    /** Room in `op`, and in `instruction`. */
    uint32_t op_room;
    uint32_t reserved_room;
    /** What the cells from SEQUENCE_CELL_NUMBER on hold. */
    double number[SEQUENCE_CELLS - SEQUENCE_CELL_NUMBER];

    /* What the application has made of it (bind.h); without one nothing. */

    /** [group] */
    struct sequence_members *group;
    /** [member] index of the actuator, and the limits that the group leaves it. */
    uint32_t *member;
    double *low, *high;
    uint32_t members;
    uint32_t reserved;
};

/** What is moved by an action of this kind. */
static inline bool sequence_act_moves(struct sequence_act const *act) { return act->kind <= SEQUENCE_ACT_EXCITE; }

/** "ramp", as the file has it. */
char const *sequence_act_name(uint32_t kind);

void sequence_program_free(struct sequence_program *program);

#endif
