// SPDX-License-Identifier: Apache-2.0
/** A MAD-X file's text, cut into pieces: statements up to their semicolons, and blocks in braces. */
#ifndef RM_TWIN_READ_MADX_TEXT_H
#define RM_TWIN_READ_MADX_TEXT_H

#include "madx.h"

/** The rest of a text. */
struct rm_madx_text {
    char const *at, *end;
    uint32_t line;
};

enum rm_madx_block { RM_MADX_STATEMENT, RM_MADX_IF, RM_MADX_ELSEIF, RM_MADX_ELSE, RM_MADX_WHILE, RM_MADX_MACRO_BLOCK };

struct rm_madx_piece {
    enum rm_madx_block block;
    /** The statement, or the text in front of the brace. */
    char const *head;

    size_t count;
    struct rm_madx_text body;
    uint32_t line;
};

/** A macro: the names of its arguments, and its text. */
struct rm_madx_macro {
    char const **names;
    uint32_t count;
    struct rm_madx_text body;
};

/** Makes a copy in which comments are spaces; line ends stay. NULL: a failure. */
char const *rm_madx_clean(struct rm_madx *madx, char const *text, size_t count);

/** Cuts the next piece off a cleaned text; false at its end, or after a failure. */
bool rm_madx_cut(struct rm_madx *madx, struct rm_madx_text *text, struct rm_madx_piece *piece);

char const *rm_madx_block_name(enum rm_madx_block block);

/** The quote within which the next character stands; 0: none. */
char rm_madx_quote(char quote, char c);

/** Runs all pieces of a text. */
bool rm_madx_run_text(struct rm_madx *madx, struct rm_madx_text text);

/** Run NAME(A, B): MACRO = { … }; and EXEC, NAME(1, 2). */
bool rm_madx_define_macro(struct rm_madx *madx, struct rm_madx_piece const *piece);
bool rm_madx_exec(struct rm_madx *madx, char const *text);

/** Counts a round of a loop or a macro, and the bytes it runs; a failure when they are too many. */
bool rm_madx_round(struct rm_madx *madx, size_t count);

#endif
