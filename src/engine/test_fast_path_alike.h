// SPDX-License-Identifier: Apache-2.0
/** Whether two receive roles that were given the same have become the same. */
#ifndef RM_ENGINE_TEST_FAST_PATH_ALIKE_H
#define RM_ENGINE_TEST_FAST_PATH_ALIKE_H

#include <string.h>

#include "engine/test_receive_rig.h"

#define SAME(a, b, member) (memcmp(&(a)->member, &(b)->member, sizeof(a)->member) == 0)

static inline bool same_writer(struct rm_stream_writer const *a, struct rm_stream_writer const *b) {
    return a->head == b->head && a->next == b->next && a->number == b->number && a->limit == b->limit &&
           a->published == b->published && a->skipped == b->skipped && a->run == b->run && a->first == b->first &&
           a->own == b->own && a->stale_until == b->stale_until &&
           atomic_load(&a->stream->head) == atomic_load(&b->stream->head) &&
           atomic_load(&a->stream->first) == atomic_load(&b->stream->first) &&
           atomic_load(&a->stream->turn_epoch) == atomic_load(&b->stream->turn_epoch) &&
           atomic_load(&a->stream->published_tsc) == atomic_load(&b->stream->published_tsc) &&
           memcmp(a->presence, b->presence, RM_PRESENCE_TURNS / 8) == 0;
}

static inline bool same_ring(struct rm_stream_writer const *a, struct rm_stream_writer const *b) {
    return memcmp(a->slot, b->slot, (a->mask + 1) * sizeof *a->slot) == 0;
}

static inline bool same_vote(struct rm_gate_vote const *a, struct rm_gate_vote const *b) {
    return a->turn == b->turn && a->run == b->run && a->known == b->known && a->accepted == b->accepted &&
           a->seen_tsc == b->seen_tsc && a->outlier == b->outlier && a->suspect == b->suspect;
}

static inline bool same_gate(struct rm_turn_gate const *a, struct rm_turn_gate const *b) {
    return a->lowest == b->lowest && a->span == b->span && a->newest == b->newest && a->due == b->due &&
           a->observable == b->observable && a->early_tsc == b->early_tsc && a->review_tsc == b->review_tsc &&
           a->turn_epoch == b->turn_epoch && a->clock.turn == b->clock.turn && a->clock.tsc == b->clock.tsc &&
           SAME(a, b, clock.ticks_per_turn) && SAME(a, b, clock.residual_ticks) && SAME(a, b, clock.least_ticks) &&
           a->clock.least_turn == b->clock.least_turn && a->clock.believed_tsc == b->clock.believed_tsc &&
           a->clock.window_end == b->clock.window_end;
}

/** Names what is not alike after a burst, or NULL. Both roles are flushed by that. Call it only now and then, so that
 * fast paths also run on over several bursts. */
static inline char const *unlike_states(struct receive_rig *a, struct receive_rig *b) {
    rm_receive_flush(&a->receive, 0);
    rm_receive_flush(&b->receive, 0);
    if (!SAME(a, b, port_counters))
        return "counters of ports";
    if (!SAME(a, b, core_counters))
        return "counters of the core";
    if (!SAME(a, b, clock_counters))
        return "counters of the clock";
    if (!SAME(a, b, stream_counters))
        return "counters of streams";
    if (!SAME(a, b, latency))
        return "latencies";
    if (!same_gate(&a->receive.gate, &b->receive.gate))
        return "the gate";
    for (uint32_t i = 0; i < a->config.instruments; ++i) {
        if (!same_vote(&a->instrument[i]->vote, &b->instrument[i]->vote))
            return "votes";
        if (a->instrument[i]->next_decimated != b->instrument[i]->next_decimated)
            return "what the decimators want next";
        if (!same_writer(&a->instrument[i]->writer, &b->instrument[i]->writer))
            return "turn-rate streams";
        for (unsigned rate = 0; rate < RIG_RATES; ++rate)
            if (!same_writer(&a->instrument[i]->rates.writer[rate], &b->instrument[i]->rates.writer[rate]))
                return "decimated streams";
    }
    return NULL;
}

/** The same for all slots of the rings. */
static inline char const *unlike_rings(struct receive_rig const *a, struct receive_rig const *b) {
    for (uint32_t i = 0; i < a->config.instruments; ++i) {
        if (!same_ring(&a->instrument[i]->writer, &b->instrument[i]->writer))
            return "turn-rate rings";
        for (unsigned rate = 0; rate < RIG_RATES; ++rate)
            if (!same_ring(&a->instrument[i]->rates.writer[rate], &b->instrument[i]->rates.writer[rate]))
                return "decimated rings";
    }
    return NULL;
}

#endif
