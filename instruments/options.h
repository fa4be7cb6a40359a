// SPDX-License-Identifier: Apache-2.0
/** The command line of ringmaster-instruments. */
#ifndef RM_INSTRUMENTS_OPTIONS_H
#define RM_INSTRUMENTS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "net/port.h"

enum rm_subcommand { RM_SUBCOMMAND_RUN, RM_SUBCOMMAND_CHECK, RM_SUBCOMMAND_REPLAY };

/** Options that were not given are NULL, or have the value that says so. */
struct rm_instruments_options {
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
    /** RM_TURN_NONE: not given. */
    rm_turn first_turn;
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
    char const *checkpoint;
    char const *truth;
};

extern char const rm_instruments_usage[];

/** RM_E_ARGUMENT says what was wrong with the command line. */
enum rm_code rm_instruments_options_read(int argc, char **argv, struct rm_instruments_options *options,
                                         struct rm_error *error);

#endif
