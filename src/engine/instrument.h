// SPDX-License-Identifier: Apache-2.0
/** One instrument inside the receive role: its streams, its decimators, its counters.
 *
 * A datagram becomes a record in the instrument's own stream, and goes on through the decimators of its rates
 * (rates.h). Decimators take turns in order. While turns come in order they are fed from the record at hand; after a
 * gap they wait until the missing turn came or the head is `gap_records` ahead, and are fed from the ring. After an
 * outage (RM_BRIDGE records beyond that) the first of them begin anew.
 */
#ifndef RM_ENGINE_INSTRUMENT_H
#define RM_ENGINE_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "calibration/compiled.h"
#include "engine/counting.h"
#include "engine/fast_path.h"
#include "engine/mirror.h"
#include "engine/phase.h"
#include "engine/rates.h"
#include "engine/turn_gate.h"
#include "fabric/stream_writer.h"
#include "wire/layout.h"

/** Networks that may carry copies of one instrument's datagrams. */
enum { RM_NETWORKS = 2 };

/** The first two cache lines are what a datagram in its turn needs (fast_path.h). While fast_path.run is not 0,
 * writer, next_decimated, counters and vote are behind by as many records, and the inputs by those of their open group:
 * rm_instrument_flush. */
struct rm_instrument {
    struct rm_fast_path fast_path;
    /** Writer of the stream of its own records. */
    struct rm_stream_writer writer;
    /** Inputs that the fast path fills; NULL: it must not. */
    struct rm_inputs *inputs;
    /** Turn that the decimators need next; RM_TURN_NONE before the first. */
    rm_turn next_decimated;
    /** Counters of the set "stream". */
    rm_counter *counters;

    uint8_t kind;
    uint8_t lane_count;
    /** Layout of its datagrams; NULL: native. */
    struct rm_layout const *layout;

    struct rm_counting counting;
    /** Applied before a record is stored; NULL: none. */
    struct rm_calibration_compiled const *calibration;
    /** NULL unless it sends on two networks. */
    struct rm_mirror_path *path[RM_NETWORKS];

    struct rm_gate_vote vote;
    struct rm_phase phase;
    /** Records by which the head may be ahead of a missing one before that is given up, 1 … 65023. */
    uint64_t gap_records;

    uint64_t shown_skipped;
    struct rm_rates rates;
};

/** Opens the fast path for the datagrams of `sender`, if this instrument may use it: see fast_path.h. Its rates must
 * have been made. */
void rm_instrument_open_fast_path(struct rm_instrument *instrument, struct rm_fast_path_sender const *sender);

/** Stores an accepted record, feeds the decimators, and counts. The instrument must be flushed. The caller counts
 * RM_PUT_DUPLICATE, because it knows by which network the record came. The turn is a multiple of the stream's period,
 * and has passed the gate. */
enum rm_put rm_instrument_store(struct rm_instrument *instrument, struct rm_record const *record);

/** Updates writer, decimators, counters and vote with the records that came by the fast path; the newest came in the
 * burst that arrived at `tsc`, or in an earlier one. Call it before any other use of these, and every 10 ms. */
void rm_instrument_flush(struct rm_instrument *instrument, uint64_t tsc);

/** Closes a group of the decimators' inputs that the fast path has completed. */
void rm_instrument_close_group(struct rm_instrument *instrument);

/** Newest stored turn, RM_TURN_NONE while there is none. */
static inline rm_turn rm_instrument_head(struct rm_instrument const *instrument) {
    struct rm_fast_path const *const fast_path = &instrument->fast_path;
    return fast_path->run != 0 ? fast_path->next - fast_path->period : instrument->writer.head;
}

/** Publishes and counts what the burst that arrived at `tsc` brought; call it between rm_stream_publish_begin and
 * _end. */
void rm_instrument_show(struct rm_instrument *instrument, uint64_t tsc);

/** The same for one instrument alone. */
void rm_instrument_publish(struct rm_instrument *instrument, uint64_t tsc);

/** Lets the heads of a silent instrument's streams follow to `turn`; its decimators stop until it comes back. The
 * instrument must be flushed. */
void rm_instrument_follow(struct rm_instrument *instrument, rm_turn turn, uint64_t tsc);

/** Begins a new turn-counter epoch: all its streams begin again. The instrument must be flushed. */
void rm_instrument_restart(struct rm_instrument *instrument);

#endif
