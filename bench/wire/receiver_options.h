// SPDX-License-Identifier: Apache-2.0
/** What ringmaster-receiver is told to do. */
#ifndef RM_BENCH_WIRE_RECEIVER_OPTIONS_H
#define RM_BENCH_WIRE_RECEIVER_OPTIONS_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "link_endpoint.h"

struct rm_receiver_options {
    uint32_t core_count;
    /** Cores: one thread runs on each. */
    uint32_t core[RM_LINKS_MAX];
    /** How many of the links each core has, in order. */
    uint32_t core_links[RM_LINKS_MAX];

    uint32_t link_count;
    struct rm_link_config link[RM_LINKS_MAX];
    /** Instruments of each link. */
    uint64_t instruments;
    /** Rate of the cycles; 0: not known. */
    double rate_hz;

    double seconds;
    double warm_up_s;
    double idle_s;
    /** File of the cycles; NULL: none. */
    char const *cycles;
};

extern char const rm_receiver_usage[];

/** Reads and checks a command line. RM_E_ARGUMENT says what is wrong. */
enum rm_code rm_receiver_options_read(int argc, char **argv, struct rm_receiver_options *options,
                                      struct rm_error *error);

#endif
