// SPDX-License-Identifier: Apache-2.0
/** From the file to the program: names are found, expressions compiled, and all that is wrong is told at once. */
#ifndef SEQUENCE_COMPILE_H
#define SEQUENCE_COMPILE_H

#include <ringmaster/errors.h>

#include "program.h"

enum { SEQUENCE_PLACE_BYTES = 128 };

/** A file while it is compiled, or checked. */
struct sequence_compiling {
    char const *path;
    struct sequence_file const *file;
    struct sequence_program *program;
    struct rm_errors *errors;
    /** Of the first error. */
    enum rm_code code;
    /** Where it stands: "sequences[1].states[2]". */
    char place[SEQUENCE_PLACE_BYTES];
    struct sequence_symbol
        symbol[SEQUENCE_INPUTS_MAX + SEQUENCE_PARAMETERS_MAX + SEQUENCE_VARIABLES_MAX + SEQUENCE_COUNTERS_MAX];
    uint32_t symbols;
    /** Supplies of the application, once groups are bound to them. */
    uint32_t supplies;
    char const *const *supply_name;
    double const *slew_per_s;
    /** Steps per second; 0: not known yet. */
    double steps_hz;
    /** What is worth knowing and no error; NULL: none are wanted. */
    struct rm_errors *remarks;
};

/** Reads and compiles the file at `path`; `remarks` may be NULL. RM_OK, or all errors in `errors`, and nothing to be
 * freed. */
enum rm_code sequence_load(char const *path, struct sequence_file *file, struct sequence_program *program,
                           struct rm_errors *remarks, struct rm_errors *errors);

/** Adds an error at the key `key` of the present place; NULL: at the place itself. */
void sequence_refuse(struct sequence_compiling *it, char const *key, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Adds a remark, as an error that is none. */
void sequence_remark(struct sequence_compiling *it, char const *key, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same for a name that is none of `count` names, which are the first members of structs of `bytes`: it says which
 * is near. Returns the index, or SEQUENCE_NONE with an error. NULL is NONE without one. */
uint32_t sequence_find(struct sequence_compiling *it, char const *key, char const *what, char const *name,
                       void const *list, uint32_t count, size_t bytes);

/** Compiles an expression of the file into the program. NULL gives none. `allowed` are bits of operands that it may have
 * beside names. */
struct sequence_value sequence_compile_value(struct sequence_compiling *it, char const *key, char const *text,
                                             bool is_condition, uint32_t allowed);

/** The states of all sequences, into tables that have room. */
void sequence_compile_states(struct sequence_compiling *it);

#endif
