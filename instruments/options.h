// SPDX-License-Identifier: Apache-2.0
/** The command line of ringmaster-instruments. */
#ifndef RM_INSTRUMENTS_OPTIONS_H
#define RM_INSTRUMENTS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "net/port.h"

enum rm_subcommand { RM_SUBCOMMAND_HELP, RM_SUBCOMMAND_RUN, RM_SUBCOMMAND_CHECK, RM_SUBCOMMAND_REPLAY };

/** Options that were not given are NULL, or have the value that says so. */
struct rm_options {
    enum rm_subcommand command;
    /** Path of CONFIG or FILE. */
    char const *path;
    char const *overlay;
    char const *ports;
    /** --turn-rate or --rate; negative: not given. */
    double rate_hz;
    /** 0: not given. */
    uint64_t turns;
    /** 0: no end. */
    double seconds;
    /** Negative: not given. */
    int64_t first_turn;
    /** RM_RING_ANY_CORE: not given. */
    int32_t core;

    bool json;
    bool loop;
    enum rm_port_kind port_kind;
    char const *socket;
    char const *interface;
    char const *device;
    char const *to;
    char const *to_mac;
    char const *workspace;
};

extern char const rm_usage[];

/** RM_E_ARGUMENT says what was wrong with the command line. */
enum rm_code rm_options_parse(int argc, char **argv, struct rm_options *options, struct rm_error *error);

#endif
