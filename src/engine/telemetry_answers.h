// SPDX-License-Identifier: Apache-2.0
/** What the server answers on DPDK's telemetry socket, /ringmaster/…: docs/metrics.md lists the commands.
 *
 * All values are those of the server's segment, so a command only reads what every reader may read, and the cores know
 * nothing of it. Lists of instruments and the like come in pages: a reply with `next` below `total` goes on at
 * COMMAND,NEXT.
 */
#ifndef RM_ENGINE_TELEMETRY_ANSWERS_H
#define RM_ENGINE_TELEMETRY_ANSWERS_H

#include "config/config.h"
#include "engine/core.h"
#include "engine/store.h"
#include "net/telemetry.h"

enum {
    RM_TELEMETRY_COMMANDS = 6,
    /** Entries of a page, of lists with numbers; and of names alone. */
    RM_TELEMETRY_PAGE = 64,
    RM_TELEMETRY_PAGE_OF_NAMES = 200,
};

/** The counters of all cores at one time. */
struct rm_telemetry_look {
    uint64_t tsc;
    uint64_t busy[RM_CONFIG_CORES_MAX];
    uint64_t idle[RM_CONFIG_CORES_MAX];
};

/** What the commands read; their context. Used by one thread at a time. */
struct rm_telemetry_view {
    struct rm_config const *config;
    struct rm_store const *store;
    /** [role]: where it runs. */
    struct rm_place const *place;
    enum rm_simd simd;
    bool huge_pages;
    double tsc_hz;
    uint64_t started_tsc;
    /** Busy shares are from `before` to now. `last` takes its place a second after it was taken, so a share is of one
     * second at least, but for the first second. */
    struct rm_telemetry_look before, last;
};

extern struct rm_telemetry_command const rm_telemetry_commands[RM_TELEMETRY_COMMANDS];

#endif
