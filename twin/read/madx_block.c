// SPDX-License-Identifier: Apache-2.0
/** IF, ELSEIF, ELSE and WHILE. */
#include <ctype.h>
#include <string.h>

#include "madx_text.h"

/** Where a chain of IF, ELSEIF and ELSE is. */
enum chain { NO_CHAIN, SEEKING, TAKEN };

/** The text as a statement is looked at: each end of line a space, none at its end. */
static char *flatten_text(struct rm_madx *madx, char const *text, size_t count) {
    while (count > 0 && isspace((unsigned char)text[count - 1]))
        --count;
    char *const copy = rm_reading_text(madx->reading, text, count);
    for (char *c = copy; c != NULL && *c != '\0'; ++c)
        *c = (char)(*c == '\n' ? ' ' : *c);
    return copy;
}

/** The condition in parentheses behind IF, ELSEIF or WHILE. */
static bool piece_holds(struct rm_madx *madx, struct rm_madx_piece const *piece, bool *result) {
    char const *const text = flatten_text(madx, piece->head, piece->count);
    madx->here.line = piece->line;
    rm_madx_at(madx, &madx->here, NULL);
    char const *const open = text != NULL ? strchr(text, '(') : NULL;
    if (text != NULL && open == NULL)
        return rm_reading_fail(madx->reading, "expected a condition in parentheses behind %s",
                               rm_madx_block_name(piece->block));
    return text != NULL && rm_madx_condition(madx, open, result);
}

static bool run_while(struct rm_madx *madx, struct rm_madx_piece const *piece) {
    bool more = false;
    for (;;) {
        if (!piece_holds(madx, piece, &more))
            return false;
        if (!more || madx->ended)
            return true;
        if (!rm_madx_round(madx, (size_t)(piece->body.end - piece->body.at)) || !rm_madx_run_text(madx, piece->body))
            return false;
    }
}

/** A branch is taken when its condition is the first that holds. MAD-X forgets at a semicolon that there was an IF, and
 * then takes every ELSE: that is refused. */
static bool run_branch(struct rm_madx *madx, struct rm_madx_piece const *piece, enum chain *chain) {
    bool taken = true;
    if (piece->block != RM_MADX_IF && *chain == NO_CHAIN)
        return rm_reading_fail(madx->reading, "%s without an IF right before it; take out the semicolon between them",
                               rm_madx_block_name(piece->block));
    bool const already = piece->block != RM_MADX_IF && *chain == TAKEN;
    if (!already && piece->block != RM_MADX_ELSE && !piece_holds(madx, piece, &taken))
        return false;
    *chain = piece->block == RM_MADX_ELSE ? NO_CHAIN : already || taken ? TAKEN : SEEKING;
    return already || !taken || rm_madx_run_text(madx, piece->body);
}

static bool run_piece(struct rm_madx *madx, struct rm_madx_piece const *piece, enum chain *chain) {
    madx->here.line = piece->line;
    rm_madx_at(madx, &madx->here, NULL);
    switch (piece->block) {
    case RM_MADX_IF:
    case RM_MADX_ELSEIF:
    case RM_MADX_ELSE:
        return run_branch(madx, piece, chain);
    case RM_MADX_WHILE:
        *chain = NO_CHAIN;
        return run_while(madx, piece);
    case RM_MADX_MACRO_BLOCK:
        *chain = NO_CHAIN;
        return rm_madx_define_macro(madx, piece);
    case RM_MADX_STATEMENT:
        break;
    }
    *chain = NO_CHAIN;
    char const *const statement = flatten_text(madx, piece->head, piece->count);
    return statement != NULL && (statement[0] == '\0' || rm_madx_statement(madx, statement));
}

bool rm_madx_round(struct rm_madx *madx, size_t count) {
    madx->repeated += count;
    if (++madx->rounds <= RM_MADX_MOST_ROUNDS && madx->repeated <= RM_MOST_FILE_BYTES)
        return true;
    return rm_reading_fail(
        madx->reading,
        "loops, macros and called files went round %u times and have not ended; look at the condition of WHILE",
        madx->rounds);
}

bool rm_madx_run_text(struct rm_madx *madx, struct rm_madx_text text) {
    struct rm_madx_piece piece;
    enum chain chain = NO_CHAIN;
    if (madx->depth >= RM_MOST_DEPTH)
        return rm_reading_fail(madx->reading, "IF, WHILE and macros stand in each other more than %d deep",
                               RM_MOST_DEPTH);
    ++madx->depth;
    bool held = true;
    while (held && !madx->ended && rm_madx_cut(madx, &text, &piece))
        held = rm_madx_step(madx) && run_piece(madx, &piece, &chain);
    --madx->depth;
    return held && !madx->reading->failed;
}

bool rm_madx_run(struct rm_madx *madx, char const *path, char const *text, size_t count) {
    struct rm_madx_where const outer = madx->here;
    char const *const clean = rm_madx_clean(madx, text, count);
    madx->here = (struct rm_madx_where){path, 1};
    madx->ended = false;
    bool const held = clean != NULL && rm_madx_run_text(madx, (struct rm_madx_text){clean, clean + count, 1});
    madx->ended = madx->stopped;
    madx->here = outer;
    return held;
}
