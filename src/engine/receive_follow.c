// SPDX-License-Identifier: Apache-2.0
#include "engine/receive_follow.h"

#include "fabric/clock_writer.h"

void rm_receive_publish_clock(struct rm_receive *receive) {
    if (receive->clock == NULL)
        return;
    struct rm_clock_reading reading;
    rm_turn_gate_reading(&receive->gate, &reading);
    rm_clock_publish(receive->clock, &reading);
}

static void expire_fragments(struct rm_receive *receive, uint64_t tsc) {
    for (uint32_t i = 0; i < receive->queue_count; ++i) {
        struct rm_receive_queue *queue = &receive->queue[i];
        uint64_t const expired = queue->reassembly != NULL ? rm_reassembly_expire(queue->reassembly, tsc) : 0;
        if (expired != 0)
            rm_counter_add(queue->counters, RM_PORT_FRAGMENT_EXPIRED, expired);
    }
}

static void reconcile_networks(struct rm_instrument *instrument) {
    struct rm_stream_writer const *writer = &instrument->writer;
    if (instrument->path[0] == NULL || writer->head == RM_TURN_NONE ||
        writer->head - writer->first < writer->late_turns)
        return;
    uint64_t const number = (writer->head - writer->late_turns) / writer->period;
    for (int i = 0; i < RM_NETWORKS; ++i)
        rm_mirror_path_reconcile(instrument->path[i], number);
}

/** Whether each instrument sends, for the clock's counters. */
struct liveliness {
    uint32_t live;
    uint32_t voting;
};

static void follow_one(struct rm_receive *receive, struct rm_instrument *instrument, rm_turn now, uint64_t tsc,
                       struct liveliness *liveliness) {
    uint64_t const distance = receive->gate.config.silence_turns;
    uint64_t const period = instrument->counting.period_turns;
    if (now > distance)
        rm_instrument_follow(instrument, (now - distance) / period * period, tsc);
    reconcile_networks(instrument);
    struct rm_gate_vote const *vote = &instrument->vote;
    rm_phase_look(&instrument->phase, &receive->gate, vote, tsc, instrument->counters);
    bool const sends = vote->seen_tsc != 0 && tsc - vote->seen_tsc < receive->follow_ticks * 10;
    liveliness->live += sends;
    liveliness->voting += sends && vote->run >= RM_GATE_VOTE_RUN;
}

/** Tells the gate what the streams know, and the fast paths which instruments it hears. */
static void review_followed_clock(struct rm_receive *receive, uint64_t tsc) {
    rm_turn_gate_review(&receive->gate, tsc, receive->vote, receive->vote_count);
    for (uint32_t i = 0; i < receive->instrument_count; ++i) {
        struct rm_instrument *const instrument = receive->instrument[i];
        rm_fast_path_pause(&instrument->fast_path, instrument->vote.outlier);
        /* An adopted stream was further on, and one whose first turn was not above its old head began again. */
        uint64_t const epoch = atomic_load_explicit(&instrument->writer.stream->turn_epoch, memory_order_relaxed);
        if (epoch > receive->gate.turn_epoch)
            receive->gate.turn_epoch = epoch;
    }
}

void rm_receive_follow(struct rm_receive *receive, uint64_t tsc) {
    struct rm_turn_gate const *gate = &receive->gate;
    receive->follow_tsc = tsc + receive->follow_ticks;
    expire_fragments(receive, tsc);
    rm_receive_flush(receive, tsc);
    if (!gate->clock.anchored)
        return;
    review_followed_clock(receive, tsc);
    rm_turn const now = rm_turn_gate_now(gate, tsc);
    struct liveliness liveliness = {0};
    for (uint32_t i = 0; i < receive->instrument_count; ++i)
        follow_one(receive, receive->instrument[i], now, tsc, &liveliness);
    if (liveliness.voting == 0)
        rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, 0);
    rm_counter_set(gate->counters, RM_CLOCK_STREAMS_LIVE, liveliness.live);
    rm_receive_publish_clock(receive);
}
