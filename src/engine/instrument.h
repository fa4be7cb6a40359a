// SPDX-License-Identifier: Apache-2.0
/** One instrument inside the receive role: its streams, its decimators, its counters.
 *
 * A datagram becomes a record in the turn-rate stream, and goes on through two decimators, prompt and sharp, each with
 * a stream of its own (design: a loop is no archive). Decimators take turns in order. While turns come in order they
 * are fed from the record at hand; after a gap they wait until the missing turn came or the head is `gap_turns` ahead,
 * and are fed from the ring. After an outage (more than 512 turns beyond
 * that) they begin anew.
 */
#ifndef RM_ENGINE_INSTRUMENT_H
#define RM_ENGINE_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "engine/turn_gate.h"
#include "fabric/stream_writer.h"
#include "filter/decimator.h"
#include "wire/native.h"

enum { RM_CHAINS = 2 }; /**< prompt and sharp */

struct rm_chain {
    struct rm_decimator decimator;
    struct rm_stream_writer writer;
};

struct rm_instrument {
    struct rm_stream_writer writer; /**< the turn-rate stream */
    rm_counter *counters;           /**< set "stream" */
    uint32_t source_ipv4;
    uint16_t id;
    uint8_t kind;
    uint8_t lane_count;
    int64_t turn_offset; /**< added to the datagram's turn */
    struct rm_gate_vote vote;
    rm_turn next_decimated; /**< turn the decimators want next; RM_TURN_NONE before the first */
    uint64_t gap_turns;     /**< turns the head may be ahead of a missing one before it is given up, 1 … 65023 */
    bool touched;           /**< has something to publish in this burst */
    struct rm_instrument *same_id; /**< next of the same id from another address */
    struct rm_chain chain[RM_CHAINS];
};

/** Stores an accepted record, feeds the decimators, counts. The turn has passed the gate. */
void rm_instrument_store(struct rm_instrument *instrument, struct rm_record const *record);

/** Publishes what the burst that arrived at `tsc` brought. */
void rm_instrument_publish(struct rm_instrument *instrument, uint64_t tsc);

/** Lets the heads of a silent instrument's streams follow to `turn`; its decimators stop until it comes back. */
void rm_instrument_follow(struct rm_instrument *instrument, rm_turn turn, uint64_t tsc);

/** A new machine epoch: all its streams begin again. */
void rm_instrument_restart(struct rm_instrument *instrument);

#endif
