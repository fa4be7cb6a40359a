// SPDX-License-Identifier: Apache-2.0
/** The command line of ringmaster-simulate. */
#ifndef RM_SIMULATION_OPTIONS_H
#define RM_SIMULATION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "events.h"
#include "instruments/ring_config.h"

/** Bits: which files are written beside simulation.json. */
enum rm_simulate_record {
    RM_RECORD_READINGS = 1 << 0,
    RM_RECORD_SETPOINTS = 1 << 1,
    RM_RECORD_SENT = 1 << 2,
    RM_RECORD_CURRENTS = 1 << 3,
    RM_RECORD_STREAMS = 1 << 4,
    RM_RECORD_REPORTED = 1 << 5,
    RM_RECORD_ALL = (1 << 6) - 1,
    /** Recorded streams; only where they are asked for. */
    RM_RECORD_DECISIONS = 1 << 6,
};

struct rm_simulate_options {
    bool json;
    /** The machine's files. */
    struct rm_ring_files files;
    char const *application;
    char const *out;
    /** File for the errors that the ring has drawn; NULL: none. */
    char const *truth;
    /** Folder to replay; NULL: none. */
    char const *replay;
    /** Folder of recorded streams, or directory of a recorder's archive, to replay; NULL: none. */
    char const *archive;
    /** READING:VALUE[:SECONDS] of the application, until.h; NULL: `seconds` or `cycles` alone say how long. */
    char const *until;
    /** 0: `cycles` says how long. */
    double seconds;
    /** 0: as many as `seconds` have; for a replay, as many as were recorded. */
    uint64_t cycles;
    /** Seed of the order of arrivals; 0: in the order of the inputs. */
    uint64_t shuffle;
    /** Seconds from the setpoint vector to the supplies' network interface, beyond the time that the server waits. */
    double latency_s;
    /** Period of the machine's background; < 0: as configured; 0: it never runs. */
    double refresh_s;
    /** Bits of enum rm_simulate_record. */
    unsigned record;

    struct rm_events events;
};

extern char const rm_simulate_usage[];

/** RM_E_ARGUMENT for what the command line has wrong. Free the events afterwards in any case. */
enum rm_code rm_simulate_options_read(int argc, char **argv, struct rm_simulate_options *options,
                                      struct rm_error *error);

#endif
