// SPDX-License-Identifier: Apache-2.0
/** Grants: what the server allows an application, and what its guard has seen of it.
 *
 * The server's segment has an object "grant/APPLICATION" for each application of the configuration, and one for the
 * operator, which is every request that sets a supply by hand. The transmit role writes it; every process may read it.
 *
 * An application that starts has a segment of its own with an `instance` (rm_segment_header.generation) and a process.
 * The server sees it, and grants it a number: a number that no application had before, in this server's life or an
 * earlier one's. Each setpoint vector carries the grant number, and a vector with another one is refused. So what a
 * dead instance left behind moves nothing. An application may begin when `instance` and `pid` are its own.
 *
 * Memory ordering: `sequence` is the sequence lock of clock.h around the members behind it. A reader's acquire load of
 * an even `sequence` pairs with the release store that ends write_grant in src/engine/transmit_publish.c; its acquire
 * fence after the copy pairs with the release fence that begins it. `offence` has a lock of its own (write_offence).
 * The members before `sequence` are constant, and are seen with the segment's `magic` (segment.h).
 */
#ifndef RINGMASTER_GRANT_H
#define RINGMASTER_GRANT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

/** How the server sees an application. */
enum rm_application_state {
    /** It was never started, or it stopped in good order. */
    RM_APPLICATION_ABSENT = 0,
    /** It has a grant, but no good vector of it came yet. */
    RM_APPLICATION_JOINED = 1,
    /** Its good vectors come. */
    RM_APPLICATION_RUNNING = 2,
    /** Its process lives, but no good vector came for `watchdog_cycles` cycles. */
    RM_APPLICATION_STALLED = 3,
    /** Its process ended without closing its segment. */
    RM_APPLICATION_DEAD = 4,
};

/** Why the guard did not do what a vector wanted. The reasons GRANT, STALE and FUTURE refuse the vector whole,
 * the others one value. They stand in the order of the counters of set "guard" from RM_GUARD_REFUSED_GRANT on. */
enum rm_refusal {
    /** Nothing was refused. */
    RM_REFUSED_NOTHING = 0,
    /** The vector has another grant number than the granted one. */
    RM_REFUSED_GRANT = 1,
    /** The vector's input turn lies further back than `freshness_turns`. */
    RM_REFUSED_STALE = 2,
    /** The vector's input turn lies in the future. */
    RM_REFUSED_FUTURE = 3,
    /** The value is NaN or infinite. */
    RM_REFUSED_NUMBER = 4,
    /** The value is below the supply's lower limit. */
    RM_REFUSED_LOW = 5,
    /** The value is above the supply's upper limit. */
    RM_REFUSED_HIGH = 6,
    /** The value is further away than the slew allows in a cycle. The step was shortened. */
    RM_REFUSED_SLEW = 7,
    /** A request wanted to set a supply that belongs to an application. */
    RM_REFUSED_OWNERSHIP = 8,
    /** The supply is tripped or its chain is lost. It stays where it is. */
    RM_REFUSED_FAULT = 9,
};

/** What the server does with the supplies when the application stops sending good vectors. */
enum rm_stop_action {
    /** The supplies stay at what was sent last. */
    RM_STOP_HOLD = 0,
    /** The supplies go to their safe values, at their safe rates. */
    RM_STOP_RAMP = 1,
};

/** The newest refusal of a grant. guard.h of src/engine lists what `value` and `limit` are for each reason. */
struct rm_offence {
    /** Odd while the members below change. Two more per change. */
    _Atomic uint64_t sequence;
    /** enum rm_refusal. 0 while nothing was refused. */
    _Atomic uint64_t refusal;
    /** Index of the value in the application's vector. UINT64_MAX when the vector was refused whole. For the operator
     * it is the index of the supply. */
    _Atomic uint64_t actuator;
    /** double: what was wanted. Of a stale or a future vector its input turn; of a wrong grant number the grant
     * number. */
    _Atomic uint64_t value;
    /** double: what it was compared with. */
    _Atomic uint64_t limit;
    /** Turn of the cycle in which it was refused. */
    _Atomic uint64_t turn;
    /** Number of the vector, from 0. UINT64_MAX for the operator, which has no vectors. */
    _Atomic uint64_t vector;
    /** When it was refused: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t tai_ns;
};

/** A grant object. */
struct rm_grant {
    /* Constant since the segment was finished. */

    /** Name of the application, or of the operator. */
    char application[RM_OWNER_BYTES];
    /** Supplies that belong to it: the values of its vector. */
    uint64_t actuator_count;
    /** Turns from one vector to the next. */
    uint64_t period_turns;
    /** How many turns a vector's input turn may lie back. */
    uint64_t freshness_turns;
    /** After so many cycles without a good vector the application counts as stalled. */
    uint64_t watchdog_cycles;
    /** enum rm_stop_action */
    uint64_t stop;

    uint64_t reserved[7];

    /* Written by the transmit role. */

    /** Odd while the members below change. Two more per change. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** The grant number that is granted now. 0: no vectors are taken. */
    _Atomic uint64_t grant_number;
    /** rm_segment_header.generation of the segment that it was granted to. */
    _Atomic uint64_t instance;
    /** Process of that segment. */
    _Atomic uint64_t pid;
    /** enum rm_application_state */
    _Atomic uint64_t state;
    /** When `state` became what it is: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t since_tai_ns;
    /** How often the application stalled since the server started. */
    _Atomic uint64_t stalls;
    /** How often an instance followed another one since the server started. */
    _Atomic uint64_t restarts;

    _Alignas(RM_CACHE_LINE) struct rm_offence offence;
};

/** A consistent copy of a grant in private memory. The members have the same meaning. */
struct rm_grant_reading {
    uint64_t grant_number;
    uint64_t instance;
    uint64_t pid;
    enum rm_application_state state;
    uint64_t since_tai_ns;
    uint64_t stalls;
    uint64_t restarts;
};

/** The same of an offence. */
struct rm_offence_reading {
    enum rm_refusal refusal;
    uint64_t actuator;
    double value, limit;
    rm_turn turn;
    uint64_t vector;
    uint64_t tai_ns;
};

/** Copy a grant, or its newest offence; wait while the transmit role is inside. After a tenth of a second they give up
 * and return false: the role was killed between two stores. The acquire load of an even sequence, and the acquire fence
 * before the second load, pair with the stores of the transmit role, rm_sequence_end and rm_sequence_begin. */
bool rm_grant_read(struct rm_grant const *grant, struct rm_grant_reading *reading);
bool rm_offence_read(struct rm_offence const *offence, struct rm_offence_reading *reading);

#endif
