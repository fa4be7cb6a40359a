// SPDX-License-Identifier: Apache-2.0
/** The clocks, and how they hang together: turn ↔ TSC ↔ TAI.
 *
 * One writer (the server's housekeeping) publishes the fit under a sequence lock: it makes `sequence` odd, release
 * fence, stores the members, stores `sequence` even with release. A reader loads `sequence` with acquire, copies,
 * acquire fence, loads it again, and repeats while it was odd or changed (rm_clock_read pairs with rm_clock_publish in
 * src/fabric/clock.c).
 *
 * The fit follows the lower envelope of arrivals: the datagrams that were delayed least. So "the TSC of turn T" is when
 * the promptest instruments' datagrams of turn T arrive, and every delay measured against it is ≥ 0 but for noise.
 *
 * The fit looks at windows of 10 ms. What instruments counted over 0.3 s and more is measured beside it, and bounds it.
 * `supported` says that both agree and that nothing held arrivals up for long. While it is false the fitted rate is a
 * guess: at the start, on a host that takes the server's or the sender's core away, and when nothing comes.
 */
#ifndef RINGMASTER_CLOCK_H
#define RINGMASTER_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

/** As it lies in shared memory. Doubles are stored as their bit patterns. */
struct rm_clock {
    /** Odd while the writer changes the members below. Two more per change. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** 1 once a first turn was accepted, else 0. While it is 0 the members about turns mean nothing. */
    _Atomic uint64_t anchored;
    /** Turn-counter epoch of the turns, as in the streams. */
    _Atomic uint64_t turn_epoch;
    /** The turn of the fit at `turn_tsc`. */
    _Atomic uint64_t turn;
    /** TSC at which the datagrams of `turn` are expected. */
    _Atomic uint64_t turn_tsc;
    /** double: TSC ticks from one turn to the next, by the fit. */
    _Atomic uint64_t ticks_per_turn_bits;
    /** double: RMS distance of the envelope of arrivals from the fit, in TSC ticks. */
    _Atomic uint64_t residual_ticks_bits;
    /** double: TSC ticks per second of TAI. */
    _Atomic uint64_t tsc_hz_bits;
    /** TSC at which TAI was `tai_ns`. */
    _Atomic uint64_t tai_tsc;
    /** Nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t tai_ns;
    /** double: TSC ticks from one turn to the next, by counting over 0.3 s and more. 0 until it is measured. */
    _Atomic uint64_t measured_ticks_per_turn_bits;
    /** 1 while the measured rate supports the fit, else 0. */
    _Atomic uint64_t supported;

    uint64_t reserved[4];
};

/** A consistent copy of struct rm_clock in private memory. The members have the same meaning. */
struct rm_clock_reading {
    bool anchored;
    uint64_t turn_epoch;
    rm_turn turn;
    uint64_t turn_tsc;
    double ticks_per_turn;
    double residual_ticks;
    double tsc_hz;
    uint64_t tai_tsc;
    uint64_t tai_ns;
    double measured_ticks_per_turn;
    bool supported;
};

/** Copies the clock; waits while the writer is inside (some 20 ns, more if it lost its core there). After a tenth of a
 * second it gives up and returns false: the writer was killed between two stores. */
bool rm_clock_read(struct rm_clock const *clock, struct rm_clock_reading *reading);

/** The same for real-time threads: it never sleeps. False also where the writer has just lost its core inside; then
 * `*reading` is as it was: go on with it, and look again. */
bool rm_clock_look(struct rm_clock const *clock, struct rm_clock_reading *reading);

/** Turn at a TSC, fractional turns cut off; extrapolated with the fitted rate. 0 for what lies before turn 0. Needs
 * `anchored`. */
rm_turn rm_clock_turn(struct rm_clock_reading const *reading, uint64_t tsc);

/** TSC at which the datagrams of `turn` are expected. Needs `anchored`. */
uint64_t rm_clock_tsc(struct rm_clock_reading const *reading, rm_turn turn);

/** TAI nanoseconds since 1970-01-01 at a TSC, extrapolated with `tsc_hz`. Does not need `anchored`. */
uint64_t rm_clock_tai_ns(struct rm_clock_reading const *reading, uint64_t tsc);

#endif
