// SPDX-License-Identifier: Apache-2.0
/** What ringmaster-generator is told to do. */
#ifndef RM_BENCH_WIRE_GENERATOR_OPTIONS_H
#define RM_BENCH_WIRE_GENERATOR_OPTIONS_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "link_endpoint.h"

struct rm_generator_options {
    uint64_t core;
    uint32_t link_count;
    struct rm_link_config link[RM_LINKS_MAX];
    /** Instruments on each link. */
    uint64_t instruments;
    /** Number of the first instrument. */
    uint64_t first_flow;
    /** 0: as fast as the links take them. */
    double rate_hz;

    double seconds;
    uint64_t payload_bytes;
    /** File of the cycles; NULL: none. */
    char const *cycles_path;

    double jitter_us;
    uint64_t seed;
    /** Every so many-th datagram is dropped on purpose; 0: none. */
    uint64_t drop_every;
    /** Time from one link's group to the next link's. */
    double group_gap_us;
};

extern char const rm_generator_usage[];

/** Reads and checks a command line. RM_E_ARGUMENT says what is wrong. */
enum rm_code rm_generator_options_read(int argc, char **argv, struct rm_generator_options *options,
                                       struct rm_error *error);

#endif
