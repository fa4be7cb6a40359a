// SPDX-License-Identifier: Apache-2.0
/** The part of MATLAB's language that lattice files are written in: assignments of numbers, texts, matrices, cell
 * arrays, struct() and the Accelerator Toolbox's constructors (atdrift, atquadrupole, …), as pyAT's save_m and MATLAB's
 * atwritem write them and as people do by hand. Nothing is executed but arithmetic. */
#ifndef RM_TWIN_READ_M_H
#define RM_TWIN_READ_M_H

#include "reading.h"

enum { RM_M_NAME_BYTES = 64, RM_M_MOST_ARGUMENTS = 64, RM_M_MOST_NUMBERS = 1 << 16 };

struct rm_m_parser {
    struct rm_lattice_reading *reading;
    /** The text that is left; there is a zero at `end`. */
    char const *at;

    char const *end;
    uint32_t line;
    uint32_t depth;
    /** Spaces separate numbers, as in [1 -2]. */
    bool in_matrix;

    struct rm_value_field *variables;
    uint32_t variable_count, variable_room;
};

/** Skips spaces, comments, continuations (…) and, unless within a matrix or told not to, ends of lines. */
void rm_m_skip(struct rm_m_parser *parser, bool lines);

/** True when `mark` is next; it is then skipped. */
bool rm_m_accept(struct rm_m_parser *parser, char mark);

/** Skips `mark`; a failure unless it is next. */
bool rm_m_expect(struct rm_m_parser *parser, char mark, char const *where);

/** Reads a name, if one is next; empty: there is none. */
void rm_m_name(struct rm_m_parser *parser, char name[RM_M_NAME_BYTES]);

/** Sets the reading's place to this line. */
void rm_m_here(struct rm_m_parser *parser);

/** Reads a value: numbers, a text, a cell array, or fields. */
bool rm_m_expression(struct rm_m_parser *parser, struct rm_value *value);

/** Reads […] or {…}, from behind the opening bracket. */
bool rm_m_matrix(struct rm_m_parser *parser, struct rm_value *value);
bool rm_m_cells(struct rm_m_parser *parser, struct rm_value *value);

/** Makes the value of a call whose name and arguments have been read: a constructor or a function. */
bool rm_m_call(struct rm_m_parser *parser, char const *name, struct rm_value const *arguments, uint32_t count,
               struct rm_value *value);

/** Makes a value of one number. */
bool rm_m_number(struct rm_m_parser *parser, double number, struct rm_value *value);

#endif
