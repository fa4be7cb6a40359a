// SPDX-License-Identifier: Apache-2.0
#include "engine/receive.h"

#include "base/timebase.h"
#include "fabric/clock_writer.h"
#include "wire/frame.h"
#include "wire/native.h"

/** What a burst has brought so far. */
struct burst_sum {
    uint32_t decoded;
    uint64_t bytes;
    rm_turn due;   /**< newest accepted turn that is not early, or RM_TURN_NONE */
    rm_turn early; /**< oldest accepted turn that is, or RM_TURN_NONE */
};

void rm_receive_index(struct rm_instrument **by_id, struct rm_instrument *instrument) {
    instrument->same_id = by_id[instrument->id];
    by_id[instrument->id] = instrument;
}

static enum rm_port_counter find(struct rm_receive_queue const *queue, struct rm_native const *native,
                                 uint32_t source_ipv4, struct rm_instrument **found) {
    struct rm_instrument *instrument = queue->by_id[native->instrument];
    if (instrument == NULL)
        return RM_PORT_UNKNOWN_INSTRUMENT;
    while (instrument->source_ipv4 != source_ipv4) {
        instrument = instrument->same_id;
        if (instrument == NULL)
            return RM_PORT_UNKNOWN_SOURCE;
    }
    if (instrument->kind != native->kind)
        return RM_PORT_WRONG_KIND;
    if (instrument->lane_count != native->lane_count)
        return RM_PORT_WRONG_LANES;
    *found = instrument;
    return RM_PORT_DECODED;
}

/** Bytes as they came → instrument and native fields; or the counter of what is wrong with them. */
static enum rm_port_counter decode(struct rm_receive const *receive, struct rm_receive_queue const *queue, uint32_t i,
                                   struct rm_native *native, struct rm_instrument **instrument) {
    struct rm_burst const *burst = &receive->burst;
    struct rm_datagram datagram = {
        .payload = burst->data[i],
        .length = burst->length[i],
        .source_ipv4 = burst->source_ipv4[i],
    };
    if (queue->framing == RM_FRAMING_ETHERNET) {
        enum rm_port_counter const frame =
            rm_frame_parse(burst->data[i], burst->length[i], burst->checksum_good[i], &datagram);
        if (frame != RM_PORT_DECODED)
            return frame;
        if (datagram.destination_port != queue->udp_port)
            return RM_PORT_NOT_OUR_PORT;
    }
    enum rm_port_counter const payload = rm_native_parse(datagram.payload, datagram.length, native);
    if (payload != RM_PORT_DECODED)
        return payload;
    return find(queue, native, datagram.source_ipv4, instrument);
}

static void restart_all(struct rm_receive *receive) {
    for (uint32_t i = 0; i < receive->instrument_count; ++i)
        rm_instrument_restart(receive->instrument[i]);
}

static void count_refusal(struct rm_instrument *instrument, bool behind) {
    rm_counter_add(instrument->counters, behind ? RM_STREAM_TURN_BEHIND : RM_STREAM_TURN_AHEAD, 1);
}

static void refuse(struct rm_receive *receive, struct rm_instrument *instrument, rm_turn turn, uint64_t tsc,
                   struct burst_sum *sum) {
    count_refusal(instrument, turn < receive->gate.lowest);
    enum rm_gate_outcome const outcome =
        rm_turn_gate_refused(&receive->gate, turn, tsc, &instrument->vote, receive->vote, receive->instrument_count);
    if (outcome == RM_GATE_REFUSED)
        return;
    if (outcome == RM_GATE_RESTARTED)
        restart_all(receive);
    /* What the burst brought before must not be shown to the clock that stands elsewhere now. */
    sum->due = sum->early = RM_TURN_NONE;
}

/** Notes an accepted turn for the clock. */
static void note(struct burst_sum *sum, struct rm_turn_gate const *gate, rm_turn turn) {
    if (turn > gate->observable)
        sum->early = turn < sum->early ? turn : sum->early;
    else if (sum->due == RM_TURN_NONE || turn > sum->due)
        sum->due = turn;
}

static void take(struct rm_receive *receive, struct rm_instrument *instrument, struct rm_native const *native,
                 uint64_t tsc, struct burst_sum *sum) {
    rm_turn const turn = native->turn + (uint64_t)instrument->turn_offset;
    struct rm_turn_gate *gate = &receive->gate;
    instrument->vote.seen_tsc = tsc;
    if (native->turn >= RM_TURN_END || turn >= RM_TURN_END) {
        bool const below_zero = native->turn < RM_TURN_END && instrument->turn_offset < 0;
        count_refusal(instrument, below_zero);
        return;
    }
    if (!gate->clock.anchored)
        rm_turn_gate_first(gate, turn, tsc);
    if (!rm_turn_gate_accepts(gate, turn)) {
        refuse(receive, instrument, turn, tsc, sum);
        return;
    }
    rm_gate_vote_accepted(&instrument->vote, turn);
    struct rm_record record;
    rm_native_record(native, turn, rm_tag_full_rate(tsc, native->status), &record);
    bool const touched = instrument->touched;
    rm_instrument_store(instrument, &record);
    if (instrument->touched && !touched)
        receive->touched[receive->touched_count++] = instrument;
    note(sum, gate, turn);
}

static void publish(struct rm_receive *receive, uint64_t tsc) {
    for (uint32_t i = 0; i < receive->touched_count; ++i)
        rm_instrument_publish(receive->touched[i], tsc);
    receive->touched_count = 0;
}

static void show_clock(struct rm_receive *receive, struct burst_sum const *sum, uint64_t tsc) {
    if (sum->due != RM_TURN_NONE)
        rm_turn_gate_observe(&receive->gate, sum->due, tsc);
    else if (sum->early != RM_TURN_NONE)
        rm_turn_gate_early(&receive->gate, sum->early, tsc, receive->vote, receive->instrument_count);
}

static void publish_clock(struct rm_receive *receive) {
    if (receive->clock == NULL)
        return;
    struct rm_clock_reading reading;
    rm_turn_gate_reading(&receive->gate, &reading);
    rm_clock_publish(receive->clock, &reading);
}

/** Every 10 ms: streams whose instrument is silent follow the clock at a distance, so that loss shows while it lasts.
 */
static void follow(struct rm_receive *receive, uint64_t tsc) {
    struct rm_turn_gate const *gate = &receive->gate;
    receive->follow_tsc = tsc + receive->follow_ticks;
    if (!gate->clock.anchored)
        return;
    rm_turn const now = rm_turn_gate_now(gate, tsc);
    uint64_t const distance = gate->config.silence_turns;
    uint32_t live = 0, voting = 0;
    for (uint32_t i = 0; i < receive->instrument_count; ++i) {
        struct rm_instrument *instrument = receive->instrument[i];
        if (now > distance)
            rm_instrument_follow(instrument, now - distance, tsc);
        struct rm_gate_vote const *vote = &instrument->vote;
        bool const sends = vote->seen_tsc != 0 && tsc - vote->seen_tsc < receive->follow_ticks * 10;
        live += sends;
        voting += sends && vote->run >= RM_GATE_VOTE_RUN;
    }
    if (voting == 0)
        rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, 0);
    rm_counter_set(gate->counters, RM_CLOCK_STREAMS_LIVE, live);
    publish_clock(receive);
}

static void account(struct rm_receive *receive, struct rm_receive_queue *queue, struct burst_sum const *sum,
                    uint32_t count) {
    rm_counter_add(queue->counters, RM_PORT_RECEIVED, count);
    rm_counter_add(queue->counters, RM_PORT_DECODED, sum->decoded);
    rm_counter_add(queue->counters, RM_PORT_BYTES, sum->bytes);
    rm_counter_add(receive->core_counters, RM_CORE_BURSTS, 1);
    rm_counter_add(receive->core_counters, RM_CORE_PACKETS, count);
}

static void process(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc) {
    struct rm_burst *burst = &receive->burst;
    struct burst_sum sum = {.due = RM_TURN_NONE, .early = RM_TURN_NONE};
    rm_turn_gate_burst(&receive->gate, tsc);
    for (uint32_t i = 0; i < burst->count; ++i) {
        struct rm_native native;
        struct rm_instrument *instrument;
        sum.bytes += burst->length[i];
        enum rm_port_counter const verdict = decode(receive, queue, i, &native, &instrument);
        if (verdict != RM_PORT_DECODED) {
            rm_counter_add(queue->counters, verdict, 1);
            continue;
        }
        ++sum.decoded;
        take(receive, instrument, &native, tsc, &sum);
    }
    publish(receive, tsc);
    rm_histogram_add(receive->latency, rm_tsc() - tsc, burst->count);
    show_clock(receive, &sum, tsc);
    account(receive, queue, &sum, burst->count);
}

uint32_t rm_receive_duty(void *role, uint64_t tsc) {
    struct rm_receive *receive = role;
    struct rm_receive_queue *queue = &receive->queue[receive->next_queue];
    receive->next_queue = receive->next_queue + 1 < receive->queue_count ? receive->next_queue + 1 : 0;
    if (tsc >= receive->follow_tsc)
        follow(receive, tsc);
    uint32_t const count = rm_port_receive(queue->port, queue->queue, &receive->burst);
    if (count == 0)
        return 0;
    process(receive, queue, rm_tsc());
    rm_port_release(queue->port, queue->queue, &receive->burst);
    return count;
}
