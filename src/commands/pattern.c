// SPDX-License-Identifier: Apache-2.0
#include "commands/pattern.h"

#include <ctype.h>
#include <string.h>

static char const REST[] = "…";

bool rm_pattern_is_argument(char const *word) { return (word[0] >= 'A' && word[0] <= 'Z') || strcmp(word, REST) == 0; }

bool rm_pattern_word(char const *pattern, uint32_t index, char word[RM_COMMAND_LINE_BYTES]) {
    size_t length = strcspn(pattern, " ");
    for (uint32_t i = 0; i < index; i++) {
        if (strncmp(pattern, REST, sizeof REST - 1) == 0)
            break;
        if (pattern[length] == '\0')
            return false;
        pattern += length + 1;
        length = strcspn(pattern, " ");
    }
    if (length >= RM_COMMAND_LINE_BYTES)
        return false;
    memcpy(word, pattern, length);
    word[length] = '\0';
    return true;
}

bool rm_pattern_choice(char const *word, uint32_t index, char choice[RM_COMMAND_LINE_BYTES]) {
    if (!rm_pattern_is_argument(word) || strchr(word, '|') == NULL)
        return false;
    for (; index > 0; index--) {
        word += strcspn(word, "|");
        if (*word++ == '\0')
            return false;
    }
    size_t const length = strcspn(word, "|");
    for (size_t i = 0; i < length; i++)
        choice[i] = (char)tolower((unsigned char)word[i]);
    choice[length] = '\0';
    return true;
}

static bool fits_choice(char const *wanted, char const *said) {
    char choice[RM_COMMAND_LINE_BYTES];
    for (uint32_t i = 0; rm_pattern_choice(wanted, i, choice); i++)
        if (strcmp(choice, said) == 0)
            return true;
    return false;
}

static bool fits_word(char const *pattern, uint32_t index, char const *said) {
    char wanted[RM_COMMAND_LINE_BYTES], choice[RM_COMMAND_LINE_BYTES];
    if (!rm_pattern_word(pattern, index, wanted))
        return false;
    if (rm_pattern_choice(wanted, 0, choice))
        return fits_choice(wanted, said);
    return rm_pattern_is_argument(wanted) || strcmp(wanted, said) == 0;
}

uint32_t rm_pattern_begins(char const *pattern, struct rm_words const *words) {
    uint32_t count = 0;
    while (count < words->count && fits_word(pattern, count, words->word[count]))
        count++;
    return count;
}

bool rm_pattern_fits(char const *pattern, struct rm_words const *words, struct rm_arguments *arguments) {
    char wanted[RM_COMMAND_LINE_BYTES];
    if (rm_pattern_begins(pattern, words) != words->count)
        return false;
    if (rm_pattern_word(pattern, words->count, wanted) && strcmp(wanted, REST) != 0)
        return false; /* something is missing */
    arguments->count = 0;
    for (uint32_t i = 0; i < words->count; i++)
        if (rm_pattern_word(pattern, i, wanted) && rm_pattern_is_argument(wanted))
            arguments->word[arguments->count++] = words->word[i];
    return true;
}
