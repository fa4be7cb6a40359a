// SPDX-License-Identifier: Apache-2.0
/** The command line of every program of ours: "--NAME VALUE" or "--NAME=VALUE" in any order, and words without dashes
 * in theirs. "--" ends the options.
 *
 *     char const *config = NULL;
 *     uint64_t turns = 0;
 *     bool json = false;
 *     struct rm_option options[] = {
 *         {"CONFIG", &config, .kind = RM_OPTION_TEXT, .place = RM_WORD},
 *         {"turns", &turns, 1, 1e9, .kind = RM_OPTION_WHOLE},
 *         {"json", &json, .kind = RM_OPTION_FLAG},
 *     };
 *     rm_options_or_exit(argc, argv, USAGE, options, sizeof options / sizeof *options);
 *
 * Errors name the option, what was found and what was expected, and what may have been meant:
 *
 *     ringmaster-program: --turns: found "0", expected a whole number from 1 to 1000000000; see …
 *     ringmaster-program: unknown option "--trun" (did you mean "--turns"?); see ringmaster-program --help
 */
#ifndef RM_BASE_OPTIONS_H
#define RM_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum rm_option_kind {
    /** A bool, which becomes true. It has no value on the command line. */
    RM_OPTION_FLAG,
    /** A double. */
    RM_OPTION_NUMBER,
    /** A uint64_t. */
    RM_OPTION_WHOLE,
    /** A uint64_t: the index of the one of `choices` that was given. */
    RM_OPTION_CHOICE,
    /** A char const * into argv. */
    RM_OPTION_TEXT,
    /** The value is handed to `take` in the order of the command line: for what may be repeated, or whose meaning
     * depends on its place, or that is neither number nor text. */
    RM_OPTION_TAKE,
};

enum rm_option_place {
    /** "--name value", which may be left out. */
    RM_OPTIONAL,
    /** "--name value", which must be there. */
    RM_REQUIRED,
    /** A word without dashes, which must be there. Words are taken in the order of the list; the last one takes all
     * that follow, if it is RM_OPTION_TAKE. */
    RM_WORD,
    /** A word that may be left out. */
    RM_OPTIONAL_WORD,
};

struct rm_option {
    /** The name without its dashes; of a word, what help calls it: "CONFIG". */
    char const *name;
    /** Where the value is stored; left alone when the option is not given. */
    void *value;
    /** Smallest and largest number that is allowed. */
    double least, most;
    /** Ended by NULL. */
    char const *const *choices;

    enum rm_code (*take)(void *value, char const *text, struct rm_error *error);
    enum rm_option_kind kind;
    enum rm_option_place place;
    /** The option was given. Set by rm_options_read. */
    bool given;
};

/** Reads argv[1 …]. RM_E_ARGUMENT, also for an option that is missing, unknown, or repeated without being
 * RM_OPTION_TAKE. */
enum rm_code rm_options_read(int argc, char **argv, struct rm_option *options, size_t count, struct rm_error *error);

/** Finds argv[1] among the commands of a program, which NULL ends. What follows it is read by
 * rm_options_read(argc - 1, argv + 1, …). RM_E_ARGUMENT names the commands there are. */
enum rm_code rm_options_command(int argc, char **argv, char const *const *commands, uint64_t *index,
                                struct rm_error *error);

/** True when the command line asks for help by "--help" or "-h" anywhere. */
bool rm_options_help(int argc, char **argv);

/** True when the command line is "--version". */
bool rm_options_version(int argc, char **argv);

/** Writes one line on standard error, "PROGRAM: text; see PROGRAM --help"; returns the exit status of wrong usage, 2. */
int rm_options_refuse(struct rm_error const *error);

/** For main: reads argv[1 …], or ends the program, with `usage` and status 0 where help is asked for, or as
 * rm_options_refuse says. */
void rm_options_or_exit(int argc, char **argv, char const *usage, struct rm_option *options, size_t count);

/** For main: the index of argv[1] among the commands, or ends the program likewise. */
uint64_t rm_options_command_or_exit(int argc, char **argv, char const *usage, char const *const *commands);

/** A whole decimal number of `least` to `most`, to its last character. */
bool rm_whole_parse(char const *text, uint64_t least, uint64_t most, uint64_t *number);

/** A number of `least` to `most`; neither "nan" nor "inf". */
bool rm_number_parse(char const *text, double least, double most, double *number);

#endif
