// SPDX-License-Identifier: Apache-2.0
/** A line, split into words. */
#ifndef RM_COMMANDS_WORDS_H
#define RM_COMMANDS_WORDS_H

#include <ringmaster/error.h>

#include "commands/command.h"

struct rm_words {
    uint32_t count;
    char const *word[RM_COMMAND_WORDS_MAX];
    /** The words' own memory. */
    char text[RM_COMMAND_LINE_BYTES];
};

/** Splits at spaces; a word in double quotes may have spaces; # outside of quotes begins a comment. RM_E_ARGUMENT: too
 * long, too many words, a quote that is not closed, or a byte that no text has. */
enum rm_code rm_words_split(char const *line, struct rm_words *words, struct rm_error *error);

#endif
