// SPDX-License-Identifier: Apache-2.0
/** The phase error of one instrument: how far its newest turn is from the turn that was due when it came.
 *
 * A single one says how long its datagram was held up; the best of a second says how its turn counter stands. Arrival
 * times tell no single turns apart: `ringmaster align` does, by the beam. What is noted while the turn clock is in
 * doubt would be the clock's error, and is left out.
 */
#ifndef RM_ENGINE_PHASE_H
#define RM_ENGINE_PHASE_H

#include <stdint.h>

#include <ringmaster/counter.h>

#include "engine/turn_gate.h"

struct rm_phase {
    /** TSC at which the present second began; 0: there is none. */
    uint64_t begin_tsc;
    /** TSC of the newest turn that was looked at. */
    uint64_t seen_tsc;

    int64_t least, most;
    /** Looks in this second. */
    uint32_t looks;
};

/** Call it every 10 ms, with an anchored clock. It publishes after each second, in the set "stream". */
void rm_phase_look(struct rm_phase *phase, struct rm_turn_gate const *gate, struct rm_gate_vote const *vote,
                   uint64_t tsc, rm_counter *counters);

#endif
