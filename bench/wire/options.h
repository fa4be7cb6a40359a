// SPDX-License-Identifier: Apache-2.0
/** The words of a command line, for the programs of this room: "--NAME VALUE" in any order, and one positional word
 * where a program wants it. Errors name the option, what was found and what was expected. */
#ifndef RM_BENCH_WIRE_OPTIONS_H
#define RM_BENCH_WIRE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum rm_option_kind {
    /** A double. */
    RM_OPTION_NUMBER,
    /** A uint64_t. */
    RM_OPTION_WHOLE,
    /** A char const * into argv. */
    RM_OPTION_TEXT,
    /** The value is handed to `take` in the order of the command line: for options that may be repeated, or whose
     * meaning depends on their place. */
    RM_OPTION_TAKE,
};

struct rm_option {
    /** The name without its dashes. */
    char const *name;
    /** Where the value is stored; left alone when the option is not given. */
    void *value;
    /** Smallest and largest number that is allowed. */
    double least, most;

    enum rm_code (*take)(void *value, char const *text, struct rm_error *error);
    enum rm_option_kind kind;
    bool required;
    /** The option was given. Set by rm_options_read. */
    bool given;
};

/** Reads argv[1 …]. `*word` is the positional one, which must be there; with `word` NULL there must be none.
 * RM_E_ARGUMENT, also for an option that is missing, unknown, or repeated without being RM_OPTION_TAKE. */
enum rm_code rm_options_read(int argc, char **argv, struct rm_option *options, size_t count, char const **word,
                             struct rm_error *error);

/** True when the command line asks for help by "--help" or "-h" anywhere. */
bool rm_options_help(int argc, char **argv);

/** A whole decimal number of `least` to `most`, to its last character. */
bool rm_whole_parse(char const *text, uint64_t least, uint64_t most, uint64_t *number);

/** A number of `least` to `most`; neither "nan" nor "inf". */
bool rm_number_parse(char const *text, double least, double most, double *number);

#endif
