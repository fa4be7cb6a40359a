// SPDX-License-Identifier: Apache-2.0
/** Grants: what the server allows an application, and what its guard has seen of it.
 *
 * One object "grant/APPLICATION" in the server's segment for each application of the configuration, and one for the
 * operator (whoever sets a supply by hand). The transmit role writes it; everybody reads it.
 *
 * An application that starts has a segment of its own with an `instance` (rm_segment_header.epoch) and a process. The
 * server sees it, and grants it an epoch, a number that no application ever had before, in this server's life or an
 * earlier one's. Rows carry it; a row with another is refused, so what a dead instance left behind moves nothing. An
 * application knows that it may begin when `instance` and `pid` are its own.
 *
 * `sequence` is the sequence lock of clock.h around the members behind it; `offence` has one of its own.
 */
#ifndef RINGMASTER_GRANT_H
#define RINGMASTER_GRANT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

enum rm_application_state {
    /** Never started, or stopped in good order. */
    RM_APPLICATION_ABSENT = 0,
    /** Granted, but no good row yet. */
    RM_APPLICATION_JOINED = 1,
    /** Good rows come. */
    RM_APPLICATION_RUNNING = 2,
    /** Alive, but no good row for its watchdog's cycles. */
    RM_APPLICATION_STALLED = 3,
    /** Its process ended in the midst of it. */
    RM_APPLICATION_DEAD = 4,
};

/** Why the guard did not do what a row wanted. Those above a row's own refuse it whole; the others one value. The same
 * order as the counters of set "guard" from RM_GUARD_REFUSED_EPOCH on. */
enum rm_refusal {
    RM_REFUSED_NOTHING = 0,
    /** The row: of another epoch than the granted. */
    RM_REFUSED_EPOCH = 1,
    /** The row: its input turn lies too far back. */
    RM_REFUSED_STALE = 2,
    /** The row: its input turn is in the future. */
    RM_REFUSED_FUTURE = 3,
    /** A value: NaN or infinite. */
    RM_REFUSED_NUMBER = 4,
    /** A value: below the supply's lower limit. */
    RM_REFUSED_LOW = 5,
    /** A value: above the supply's upper limit. */
    RM_REFUSED_HIGH = 6,
    /** A value: further away than the slew allows in a cycle; the step was shortened. */
    RM_REFUSED_SLEW = 7,
    /** A request: the supply belongs to an application. */
    RM_REFUSED_OWNERSHIP = 8,
    /** A value: the supply is tripped or its chain is lost; it stays where it is. */
    RM_REFUSED_FAULT = 9,
};

/** What follows when the application stops sending good rows. */
enum rm_stop_action {
    /** Its supplies stay at what was sent last. */
    RM_STOP_HOLD = 0,
    /** They go to their safe values, at their safe rates. */
    RM_STOP_RAMP = 1,
};

/** The newest refusal of each grant. */
struct rm_offence {
    /** Odd while it changes. */
    _Atomic uint64_t sequence;
    /** enum rm_refusal; 0 while there was none. */
    _Atomic uint64_t refusal;
    /** Index in the application's row; UINT64_MAX when the row was refused whole. */
    _Atomic uint64_t actuator;
    /** double: what was wanted; of a stale row its input turn, of an epoch the epoch. */
    _Atomic uint64_t value;
    /** double: what it was held against. */
    _Atomic uint64_t limit;
    /** Of the cycle. */
    _Atomic uint64_t turn;
    /** Number of the row. */
    _Atomic uint64_t row;

    _Atomic uint64_t tai_ns;
};

struct rm_grant {
    /* Constant. */
    char application[RM_OWNER_BYTES];
    uint64_t actuator_count;
    /** One row is expected in so many turns. */
    uint64_t period_turns;
    /** How far back a row's input turn may lie. */
    uint64_t freshness_turns;
    /** Without a good row: stalled. */
    uint64_t watchdog_cycles;
    /** enum rm_stop_action */
    uint64_t stop;

    uint64_t reserved[7];

    /* Written by the transmit role. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** Granted now; 0: nobody may send rows. */
    _Atomic uint64_t epoch;
    /** rm_segment_header.epoch of whom it was granted to. */
    _Atomic uint64_t instance;
    /** And its process. */
    _Atomic uint64_t pid;
    /** enum rm_application_state */
    _Atomic uint64_t state;

    _Atomic uint64_t since_tai_ns;
    /** How often it stalled since the server started. */
    _Atomic uint64_t stalls;
    /** How often an instance followed another. */
    _Atomic uint64_t restarts;

    _Alignas(RM_CACHE_LINE) struct rm_offence offence;
};

#endif
