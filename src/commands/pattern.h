// SPDX-License-Identifier: Apache-2.0
/** How a line fits a command's pattern (command.h). */
#ifndef RM_COMMANDS_PATTERN_H
#define RM_COMMANDS_PATTERN_H

#include <stdbool.h>

#include "commands/words.h"

/** True when the words are what the pattern says; `arguments` are then those of its places in capitals. */
bool rm_pattern_fits(char const *pattern, struct rm_words const *words, struct rm_arguments *arguments);

/** How many of the words fit the beginning of the pattern, from the first on. */
uint32_t rm_pattern_begins(char const *pattern, struct rm_words const *words);

/** Copies word `index` of the pattern; its last one, "…", stands for all that follow. False where there is none. */
bool rm_pattern_word(char const *pattern, uint32_t index, char word[RM_COMMAND_LINE_BYTES]);

/** Copies choice `index` of an argument that is one of several words: of "SRC|DST" the second is "dst". False where there
 * is none, and for other arguments. */
bool rm_pattern_choice(char const *word, uint32_t index, char choice[RM_COMMAND_LINE_BYTES]);

/** True for "PORTS" and "…", false for "set". */
bool rm_pattern_is_argument(char const *word);

#endif
