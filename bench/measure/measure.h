// SPDX-License-Identifier: Apache-2.0
/** What a receive role costs per packet on this machine, beside "poll and free": `ringmaster-measure`.
 *
 * One thread, one core, no other process: the port is a ring (RM_PORT_RING), which gives back what was sent into it. A
 * fill of N frames is sent, untimed; then it is drained against the clock, and two kinds of drain take turns:
 *
 *     poll and free   rm_port_discard: takes a burst and gives its buffers back, unread
 *     whole           rm_port_receive, all that the role does with a burst, rm_port_release
 *
 * Their difference, pair by pair, is what the role adds. N decides where the frames are when they are drained: 1024
 * are in the caches yet ("hot"), 262144 are not ("cold").
 *
 *     measure_options.c   the command line
 *     measure_prepare.c   what the configuration must be, and what becomes of it
 *     measure_feed.c      the frames
 *     measure.c           fills, drains, rounds
 *     measure_report.c    quartiles, JSON
 */
#ifndef RM_BENCH_MEASURE_H
#define RM_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdio.h>

#include <ringmaster/error.h>

#include "config/config.h"

enum {
    /** Datagrams of a hot fill; 4 cache lines each: 256 KiB. */
    RM_MEASURE_HOT = 1024,
    /** Datagrams of a cold fill: 64 MiB. */
    RM_MEASURE_COLD = 1 << 18,
    /** Most datagrams of a fill: the slots of a ring port. */
    RM_MEASURE_DATAGRAMS_MAX = 1 << 19,

    RM_MEASURE_ROUNDS = 21,
    RM_MEASURE_ROUNDS_MAX = 10000,
};

struct rm_measure_options {
    char const *config_path;
    /** Datagrams of a fill; 0: first RM_MEASURE_HOT, then RM_MEASURE_COLD. */
    uint32_t datagrams;
    /** Number of rounds that count, 1 … RM_MEASURE_ROUNDS_MAX. */
    uint32_t rounds;
    /** Lanes of every instrument, 1 … RM_LANES; 0: as configured. */
    uint32_t lanes;
    /** Instruction set of the filters. */
    enum rm_simd simd;
    /** Each turn's datagrams in the order of the configuration; false: shuffled. */
    bool by_turn;
};

/** RM_E_ARGUMENT for what the command line has wrong. */
enum rm_code rm_measure_options_read(int argc, char **argv, struct rm_measure_options *options, struct rm_error *error);

/** Measures, and prints one JSON object. It changes the configuration: the port, and the workspace, which is removed
 * at the end. RM_E_CONFIG when the configuration does not fit; RM_E_SYSTEM when the role did not take every datagram
 * of the whole drains, and after SIGINT or SIGTERM. */
enum rm_code rm_measure(struct rm_config *config, struct rm_measure_options const *options, FILE *out,
                        struct rm_error *error);

/** Checks that the first receive role polls one queue of a ring, to which all instruments send natively and every turn;
 * then fits the configuration to the measurement. */
enum rm_code rm_measure_prepare(struct rm_config *config, struct rm_measure_options const *options,
                                struct rm_error *error);

/** Index of the first receive role. There is one. */
uint32_t rm_measure_role(struct rm_config const *config);

#endif
