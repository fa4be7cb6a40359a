// SPDX-License-Identifier: Apache-2.0
/** The rates of one instrument: decimators as a tree, and the streams of what leaves them.
 *
 *     records ─┬─▶ ÷12 low-latency ─▶ stream ─▶ ÷10 low-latency ─▶ stream
 *              └─▶ ÷12 sharp ──▶ stream ─▶ ÷10 sharp ──▶ stream ─▶ ÷10 ─▶ ÷10 ─▶ ÷10 ─▶ stream
 *
 * Each decimator takes its inputs in order. An outage, in which the one before gave nothing, is bridged by its last
 * input, up to RM_BRIDGE of its own inputs; after a longer one it begins anew. So half a millisecond without beam does
 * not cost the slow rates the second before it.
 *
 * Part of the receive role: one thread.
 */
#ifndef RM_ENGINE_RATES_H
#define RM_ENGINE_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "config/config.h"
#include "fabric/stream_writer.h"
#include "filter/decimator.h"

/** Beyond twice the taps of the longest filter, bridging an outage would only repeat the last value. */
enum { RM_BRIDGE = 512 };

/** One decimator and what stands behind it. */
struct rm_stage {
    struct rm_decimator decimator;
    /** Writer of the rate that ends here; NULL: no rate ends here. */
    struct rm_stream_writer *writer;
    /** First of the stages that take this one's output, or NULL. */
    struct rm_stage *first;
    /** Next stage that takes the same input, or NULL. */
    struct rm_stage *next;
    /** For a stage that takes the instrument's records: the one whose inputs it shares. */
    struct rm_stage *leader;
    /** Rate whose writer that is. */
    uint32_t rate;
};

/** All zero: an instrument without other rates than its own. */
struct rm_rates {
    /** [rate]; opened and closed by the owner of the streams. */
    struct rm_stream_writer writer[RM_CONFIG_RATES_MAX];
    /** First of the stages that take the instrument's own records, or NULL. */
    struct rm_stage *first;
    /** All stages, in the order of the rates. */
    struct rm_stage *stage;

    uint32_t stage_count;
    /** Number of rates. */
    uint32_t count;
    /** Inputs of an instrument without rates. */
    struct rm_inputs *idle;
    /** Bit i: the stream of rate i may have something to show. */
    uint32_t moved;
};

/** Makes the tree for an instrument whose `count` rates are `rate` (rm_instrument_rates), in memory of the arena.
 * False when there is none. */
bool rm_rates_make(struct rm_rates *rates, struct rm_config_rate const *rate, uint32_t count, enum rm_simd simd,
                   struct rm_decimator_input const *input, struct rm_arena *arena);

/** Begins, or begins again, at an instrument's record; push that record then. Later stages bridge the outage, if they
 * can. */
void rm_rates_start(struct rm_rates *rates, struct rm_record const *record);

/** Takes the instrument's next record, or NULL when it is missing. */
void rm_rates_push(struct rm_rates *rates, struct rm_record const *record);

/** The inputs that all stages share that take the instrument's own records. Where there are no stages, it is an unused
 * one; NULL where the stages' inputs differ. */
struct rm_inputs *rm_rates_inputs(struct rm_rates *rates);

/** Closes the shared inputs, which are complete: the results go into the streams. */
void rm_rates_close(struct rm_rates *rates);

/** Publishes the streams that have moved; call it between rm_stream_publish_begin and _end. */
void rm_rates_show(struct rm_rates *rates, uint64_t tsc);

/** For a silent instrument: skips what would have closed with its record of `turn`, and publishes. */
void rm_rates_follow(struct rm_rates *rates, rm_turn turn, uint64_t tsc);

/** Begins a new turn-counter epoch: all streams begin again, and no decimator remembers anything. */
void rm_rates_restart(struct rm_rates *rates);

#endif
