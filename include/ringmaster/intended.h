// SPDX-License-Identifier: Apache-2.0
/** Intended setpoints: what a chain of supplies was sent last, by a server that may have been killed since.
 *
 * The object "setpoints/intended" of the server's segment is an array of struct rm_intended, one for each chain in the
 * configuration's order. It outlives the server: the next one adopts it with the segment. A chain's setpoints have
 * numbers from 1, over all lives of the server. They get a new number when they change; while they rest, nothing is
 * written. Setpoints n are in row n % 2.
 *
 *     transmit role                                  killed after that, its successor finds
 *     composes setpoints n                           transmitted n - 1, intended n - 1
 *     copies them to row n % 2                       transmitted n - 1, intended n - 1
 *     intended = n                                   transmitted n - 1, intended n        in doubt
 *     hands their datagram to the port               transmitted n - 1, intended n        in doubt
 *     transmitted = n                                transmitted n,     intended n
 *
 * A successor begins each supply at its setpoint `transmitted`, where the readback agrees with that within the
 * tolerance. In doubt there are two such setpoints, and the nearer to the readback counts. A readback that agrees with
 * neither is where the supply begins (src/engine/transmit.h).
 *
 * ## What is claimed
 * - Whenever the server is killed, the two numbers and rows name every setpoint that the chain can have been sent last.
 *   Without doubt there is one: the newest that the port has taken.
 * - Nothing here decides what is sent. A server composes its datagrams from its guard's private memory. Its successor
 *   takes a value from a row only where the readback agrees, brings it within the supply's limits, and goes on from
 *   there by its slew.
 *
 * ## What is not claimed
 * - That a datagram arrived. The readback tells that, as far as it is exact: where its noise is more than half of the
 *   step, the successor may take the other of the two setpoints. Between two cycles that is one slew.
 * - Anything after the host itself went down: this memory is gone then, and the readback alone decides.
 * - For a chain without readback, that a doubt is resolved: it begins at `transmitted`.
 *
 * ## Memory ordering
 * A killed process leaves memory as its stores stood in its program's order, so the compiler must keep that order:
 *
 * - `intended` is stored with release after the row. A reader that acquires it sees the row's values. A release fence
 *   stands between it and the port's stores, so no datagram is with the port before it is intended.
 * - `transmitted` is stored with release after the port's stores.
 * - A release fence stands between `transmitted` = n - 1 and row n, which had setpoints n - 2. So a reader that acquires
 *   `transmitted`, copies its row, fences (acquire), and finds `transmitted` unchanged, has a whole copy.
 *
 * The stores are in src/engine/transmit_intended.c and transmit_chain.c. Values need no order among each other, and
 * each arrives whole. On x86-64 none of this order takes an instruction.
 */
#ifndef RINGMASTER_INTENDED_H
#define RINGMASTER_INTENDED_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/supply.h>

/** One chain. */
struct rm_intended {
    /** Number of the newest setpoints that may have been handed to the port. 0: there were none. */
    _Atomic uint64_t intended;
    /** Number of the newest setpoints that the port has taken. 0: there were none. */
    _Atomic uint64_t transmitted;
    /** Supplies of the chain. */
    _Atomic uint64_t supplies;

    /** Highest term (standby.h) under which setpoints may have been handed to the port. 0: there was none. Stored before
     * the first datagram of a term. */
    _Atomic uint64_t term;
    /** Two rows of setpoints: f32 as on the wire, as bit patterns, in the order of the chain. Row r begins at
     * r × `supplies`. */
    _Atomic uint32_t value[2 * RM_CHAIN_SUPPLIES_MAX];
};

#endif
