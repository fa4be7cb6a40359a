// SPDX-License-Identifier: Apache-2.0
/** Commands: lines of words by which people, scripts and programs tell a running server what to do.
 *
 * A table lists what can be said. Each command is a pattern of words and arguments:
 *
 *     {"set PORTS rate PERCENT", "send so many percent of what the link carries", set_rate}
 *
 * Words in lower case are said as they are; words in CAPITALS are arguments; of "SRC|DST" one is said, in lower case;
 * "…" at the end takes all that follows, also nothing. The first command fits whose words all do. Words are separated by spaces; one with spaces in it stands
 * in double quotes; # begins a comment.
 *
 * A command does what it says wholly, or it fails with an error and has changed nothing. It writes what it has to tell
 * to `answer`, in lines. Two commands are there without a table: `help [WORDS…]`, and `complete TEXT`, which lists the
 * words that may come next after TEXT.
 */
#ifndef RM_COMMANDS_COMMAND_H
#define RM_COMMANDS_COMMAND_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>

enum {
    /** Bytes of a line, with the terminating zero. */
    RM_COMMAND_LINE_BYTES = 1024,
    /** Most words of a line. */
    RM_COMMAND_WORDS_MAX = 64,
    /** Most tables of one server. */
    RM_COMMAND_TABLES_MAX = 8,
};

/** What the arguments of a line were, in its order. The strings live as long as the call. */
struct rm_arguments {
    uint32_t count;
    char const *word[RM_COMMAND_WORDS_MAX];
};

struct rm_command {
    /** "route add PREFIX via ADDRESS". */
    char const *pattern;
    /** One line, as in a list: "sends packets for PREFIX by the neighbour ADDRESS". */
    char const *help;
    /** `context` is the table's. Errors say what was expected. */
    enum rm_code (*run)(void *context, struct rm_arguments const *arguments, FILE *answer, struct rm_error *error);
};

struct rm_command_table {
    struct rm_command const *command;
    uint32_t count;
    /** Given to each `run`. */
    void *context;
};

/** Does what one line says. An empty line, or a comment, does nothing. RM_E_ARGUMENT: nobody knows such a command; the
 * error lists what it may have meant. Otherwise what the command returns. */
enum rm_code rm_command_run(struct rm_command_table const *table, uint32_t count, char const *line, FILE *answer,
                            struct rm_error *error);

/** Does what the lines of a file say, and stops at the first that fails, with FILE:LINE in its error. */
enum rm_code rm_command_run_file(struct rm_command_table const *table, uint32_t count, char const *path, FILE *answer,
                                 struct rm_error *error);

#endif
