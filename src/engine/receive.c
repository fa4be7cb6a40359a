// SPDX-License-Identifier: Apache-2.0
#include "engine/receive.h"

#include "base/timebase.h"
#include "engine/receive_follow.h"
#include "engine/receive_frame.h"
#include "engine/receive_one.h"
#include "wire/native.h"

/** One packet on its way through the role. */
struct arrival {
    struct rm_receive_queue const *queue;
    struct rm_datagram datagram;
    uint64_t tsc;
    struct rm_burst_sum *sum;
};

static void restart_all(struct rm_receive *receive) {
    for (uint32_t i = 0; i < receive->instrument_count; ++i) {
        struct rm_instrument *instrument = receive->instrument[i];
        rm_instrument_restart(instrument);
        for (int network = 0; network < RM_NETWORKS && instrument->path[network] != NULL; ++network)
            rm_mirror_path_restart(instrument->path[network]);
    }
}

static void count_refusal(struct rm_instrument *instrument, bool behind) {
    rm_counter_add(instrument->counters, behind ? RM_STREAM_TURN_BEHIND : RM_STREAM_TURN_AHEAD, 1);
}

void rm_receive_flush(struct rm_receive *receive, uint64_t tsc) {
    receive->uncounted = false;
    for (uint32_t i = 0; i < receive->instrument_count; ++i)
        rm_instrument_flush(receive->instrument[i], tsc);
}

/** Before votes are asked: all lanes, once in a burst, then those that the burst has touched since. */
static void flush_fast_paths(struct rm_receive *receive, uint64_t tsc) {
    if (!receive->flushed)
        rm_receive_flush(receive, tsc);
    for (uint32_t i = 0; i < receive->touched_count; ++i)
        rm_instrument_flush(receive->touched[i], tsc);
    receive->flushed = true;
}

/** A counter that comes round sooner than another's agrees with clocks that the other knows to be wrong. */
static bool may_anchor(struct rm_receive const *receive, struct rm_counting const *counting) {
    return counting->tells || (receive->anchor_lap_turns != 0 && counting->lap_turns >= receive->anchor_lap_turns);
}

/** Tells the gate of a refused turn, if this instrument has a vote, and does what the quorum then wants. */
static enum rm_gate_outcome receive_vote_on_turn(struct rm_receive *receive, struct rm_instrument *instrument,
                                                 rm_turn turn, uint64_t tsc, struct rm_burst_sum *sum) {
    if (!may_anchor(receive, &instrument->counting))
        return RM_GATE_REFUSED;
    flush_fast_paths(receive, tsc);
    enum rm_gate_outcome const outcome =
        rm_turn_gate_refused(&receive->gate, turn, tsc, &instrument->vote, receive->vote, receive->vote_count);
    if (outcome == RM_GATE_REFUSED)
        return outcome;
    if (outcome == RM_GATE_RESTARTED)
        restart_all(receive);
    /* What the burst brought before must not be shown to the clock that stands elsewhere now. */
    sum->due_end = 0;
    sum->early = false;
    return outcome;
}

/** Notes an accepted turn for the clock, unless its sender is an outlier. */
static void burst_sum_note(struct rm_burst_sum *sum, struct rm_turn_gate const *gate, struct rm_gate_vote const *from,
                           rm_turn turn) {
    if (turn > gate->observable)
        sum->early |= !from->suspect;
    else if (turn >= sum->due_end && !from->outlier)
        sum->due_end = turn + 1;
}

/** The turn due where no clock is anchored and no instrument can tell: so that turns grow from one start of a server to
 * the next, they are counted from 1970. */
static rm_turn turn_by_tai(struct rm_receive const *receive) {
    return (rm_turn)((double)rm_tai_ns() * 1e-9 * receive->gate.config.turn_rate_hz);
}

/** The first turn that anchors the clock. False when this instrument cannot say. */
static bool receive_anchor_turn(struct rm_receive *receive, struct rm_instrument *instrument, uint64_t counter,
                                uint64_t tsc) {
    struct rm_counting *counting = &instrument->counting;
    if (!may_anchor(receive, counting)) {
        rm_counter_add(instrument->counters, RM_STREAM_UNANCHORED, 1);
        return false;
    }
    rm_turn const turn = rm_counting_turn(counting, counter, counting->tells ? 0 : turn_by_tai(receive));
    if (turn == RM_TURN_NONE) {
        rm_counter_add(instrument->counters, RM_STREAM_TURN_OUT_OF_RANGE, 1);
        return false;
    }
    rm_turn_gate_first(&receive->gate, turn, tsc);
    return true;
}

/** True when a stream was set back: its turns are within the window, but below all that may still come late, and the
 * clock has long passed them. Copies of a second network may be as late as they like. */
static bool fell_back(struct rm_receive const *receive, struct rm_identity const *identity, rm_turn turn) {
    struct rm_turn_gate const *gate = &receive->gate;
    uint64_t const late = identity->instrument->counting.period_turns * gate->config.ahead_turns;
    return identity->path == NULL && turn + late < gate->due;
}

static void receive_store_record(struct rm_receive *receive, struct rm_identity const *identity,
                                 struct rm_record *record, uint64_t tsc, struct rm_burst_sum *sum) {
    struct rm_instrument *instrument = identity->instrument;
    if (instrument->calibration != NULL)
        rm_calibrate_record(instrument->calibration, record);
    bool const touched = instrument->fast_path.touched;
    rm_instrument_flush(instrument, tsc);
    enum rm_put const put = rm_instrument_store(instrument, record);
    if (instrument->fast_path.touched && !touched)
        receive->touched[receive->touched_count++] = instrument;
    bool copy = false;
    if (identity->path != NULL)
        copy = !rm_mirror_path_note(identity->path, record->turn / instrument->counting.period_turns, put);
    if (put == RM_PUT_DUPLICATE)
        rm_counter_add(instrument->counters, copy ? RM_STREAM_MIRRORED : RM_STREAM_DUPLICATE, 1);
    if (put == RM_PUT_BEHIND && fell_back(receive, identity, record->turn)) {
        receive_vote_on_turn(receive, instrument, record->turn, tsc, sum);
        return;
    }
    rm_gate_vote_accepted(&instrument->vote, record->turn);
    burst_sum_note(sum, &receive->gate, &instrument->vote, record->turn);
}

static bool receive_accepts_turn(struct rm_receive const *receive, struct rm_instrument const *instrument,
                                 rm_turn turn) {
    return rm_turn_gate_accepts(&receive->gate, turn, instrument->counting.period_turns);
}

/** Stores what was held back and is in the window now; the rest is refused. */
static void release_held(struct rm_receive *receive, uint64_t tsc, struct rm_burst_sum *sum) {
    for (uint32_t i = 0; i < receive->held_count; ++i) {
        struct rm_receive_held *const held = &receive->held[i];
        if (receive_accepts_turn(receive, held->identity->instrument, held->record.turn))
            receive_store_record(receive, held->identity, &held->record, tsc, sum);
        else
            count_refusal(held->identity->instrument, held->record.turn < receive->gate.lowest);
    }
    receive->held_count = 0;
}

/** A record outside the window: refused, counted, a vote; or, where it is ahead, held to the end of the burst. */
static void keep_out(struct rm_receive *receive, struct rm_identity const *identity, struct rm_record *record,
                     uint64_t tsc, struct rm_burst_sum *sum) {
    struct rm_instrument *const instrument = identity->instrument;
    bool const behind = record->turn < receive->gate.lowest;
    /* A sender known to be alone with it costs no more than the vote; a short counter may mean another turn by then. */
    bool const held =
        !behind && !instrument->vote.suspect && instrument->counting.tells && receive->held_count < RM_BURST;
    if (held)
        receive->held[receive->held_count++] = (struct rm_receive_held){*record, identity};
    else
        count_refusal(instrument, behind);
    if (receive_vote_on_turn(receive, instrument, record->turn, tsc, sum) != RM_GATE_REFUSED)
        release_held(receive, tsc, sum);
}

/** The turn of a record; RM_TURN_NONE when there is none, which is counted then. */
static rm_turn turn_of(struct rm_receive *receive, struct rm_instrument *instrument, uint64_t counter,
                       struct arrival const *arrival) {
    struct rm_turn_gate *gate = &receive->gate;
    rm_instrument_flush(instrument, arrival->tsc);
    instrument->vote.seen_tsc = arrival->tsc;
    if (!gate->clock.anchored && !receive_anchor_turn(receive, instrument, counter, arrival->tsc))
        return RM_TURN_NONE;
    rm_turn const turn = rm_counting_turn(&instrument->counting, counter, gate->due);
    if (turn == RM_TURN_NONE)
        rm_counter_add(instrument->counters, RM_STREAM_TURN_OUT_OF_RANGE, 1);
    return turn;
}

/** Stores a record if its turn is believed. */
static void receive_take_record(struct rm_receive *receive, struct rm_identity const *identity,
                                struct rm_record *record, struct arrival const *arrival) {
    if (receive_accepts_turn(receive, identity->instrument, record->turn))
        receive_store_record(receive, identity, record, arrival->tsc, arrival->sum);
    else
        keep_out(receive, identity, record, arrival->tsc, arrival->sum);
}

static enum rm_port_counter find_native(struct rm_receive_queue const *queue, struct rm_native const *native,
                                        uint32_t source_ipv4, struct rm_identity const **found) {
    struct rm_identity const *identity = rm_identity_find(queue->identities, source_ipv4, native->instrument);
    if (identity == NULL)
        return rm_identity_knows_id(queue->identities, native->instrument) ? RM_PORT_UNKNOWN_SOURCE
                                                                           : RM_PORT_UNKNOWN_INSTRUMENT;
    struct rm_instrument const *instrument = identity->instrument;
    if (instrument->kind != native->kind || instrument->layout != NULL)
        return RM_PORT_WRONG_KIND;
    if (instrument->lane_count != native->lane_count)
        return RM_PORT_WRONG_LANES;
    *found = identity;
    return RM_PORT_DECODED;
}

static enum rm_port_counter take_native(struct rm_receive *receive, struct arrival const *arrival) {
    struct rm_datagram const *datagram = &arrival->datagram;
    struct rm_native native;
    enum rm_port_counter verdict = rm_native_parse(datagram->payload, datagram->length, &native);
    if (verdict != RM_PORT_DECODED)
        return verdict;
    struct rm_identity const *identity;
    verdict = find_native(arrival->queue, &native, datagram->source_ipv4, &identity);
    if (verdict != RM_PORT_DECODED)
        return verdict;
    ++arrival->sum->records;
    rm_turn const turn = turn_of(receive, identity->instrument, native.turn, arrival);
    if (turn == RM_TURN_NONE)
        return RM_PORT_DECODED;
    struct rm_record record;
    rm_native_record(&native, turn, rm_tag_full_rate(arrival->tsc, native.status), &record);
    receive_take_record(receive, identity, &record, arrival);
    return RM_PORT_DECODED;
}

/** Writes turn and tag as one word of 16 bytes: the code that copies the record loads them so, and such a load would
 * wait for two narrower stores until they are in the cache (3 ns of a described packet: bench/costs/receive.c). */
static void set_head(struct rm_record *record, rm_turn turn, uint64_t tag) {
    typedef uint64_t head __attribute__((vector_size(16)));
    *(head *)(void *)record = (head){turn, tag};
}

/** One record of a described datagram. False when no instrument is known by its id. */
static bool take_record(struct rm_receive *receive, struct arrival const *arrival, struct rm_layout const *layout,
                        uint32_t index) {
    struct rm_datagram const *datagram = &arrival->datagram;
    struct rm_sample sample;
    struct rm_record record;
    rm_layout_read(layout, datagram->payload, index, &sample, &record);
    struct rm_identity const *identity = rm_identity_find(arrival->queue->identities, datagram->source_ipv4, sample.id);
    if (identity == NULL || identity->instrument->layout != layout)
        return false;
    ++arrival->sum->records;
    rm_turn const turn = turn_of(receive, identity->instrument, sample.counter, arrival);
    if (turn == RM_TURN_NONE)
        return true;
    set_head(&record, turn, rm_tag_full_rate(arrival->tsc, sample.status));
    receive_take_record(receive, identity, &record, arrival);
    return true;
}

static enum rm_port_counter take_described(struct rm_receive *receive, struct arrival const *arrival,
                                           struct rm_layout const *layout) {
    struct rm_datagram const *datagram = &arrival->datagram;
    uint32_t records;
    enum rm_port_counter const verdict = rm_layout_check(layout, datagram->payload, datagram->length, &records);
    if (verdict != RM_PORT_DECODED)
        return verdict;
    if (rm_layout_repeats_id(layout, datagram->payload, records))
        return RM_PORT_REPEATED_ID;
    for (uint32_t i = 0; i < records; ++i) {
        if (take_record(receive, arrival, layout, i))
            continue;
        if (i == 0 && !rm_identity_knows_source(arrival->queue->identities, datagram->source_ipv4))
            return RM_PORT_UNKNOWN_SOURCE;
        rm_counter_add(arrival->queue->counters, RM_PORT_UNKNOWN_RECORD, 1);
    }
    return RM_PORT_DECODED;
}

static void receive_publish_heads(struct rm_receive *receive, uint64_t tsc) {
    rm_stream_publish_begin();
    for (uint32_t i = 0; i < receive->touched_count; ++i)
        rm_instrument_show(receive->touched[i], tsc);
    rm_stream_publish_end();
    receive->touched_count = 0;
}

/** Asks whether the turns above what is observable are early, or the clock is late; and what was held, once more. */
static void flush_early(struct rm_receive *receive, struct rm_burst_sum *sum, uint64_t tsc) {
    if (!sum->early && receive->held_count == 0)
        return;
    flush_fast_paths(receive, tsc);
    if (rm_turn_gate_early(&receive->gate, tsc, receive->vote, receive->vote_count) == RM_GATE_STEPPED)
        sum->due_end = 0;
    release_held(receive, tsc, sum);
}

static void receive_account_burst(struct rm_receive *receive, struct rm_receive_queue *queue,
                                  struct rm_burst_sum const *sum, uint32_t count) {
    rm_counter_add(queue->counters, RM_PORT_RECEIVED, count);
    rm_counter_add(queue->counters, RM_PORT_DECODED, sum->decoded);
    rm_counter_add(queue->counters, RM_PORT_RECORDS, sum->records);
    rm_counter_add(queue->counters, RM_PORT_BYTES, sum->bytes);
    rm_counter_add(receive->core_counters, RM_CORE_BURSTS, 1);
    rm_counter_add(receive->core_counters, RM_CORE_PACKETS, count);
}

/** A packet that is no record: counted, and punted when it may be for another receiver. */
static void receive_reject_frame(struct rm_receive *receive, struct rm_receive_queue const *queue, uint32_t index,
                                 enum rm_port_counter verdict, bool foreign) {
    rm_counter_add(queue->counters, verdict, 1);
    if (!foreign || !queue->exception_path)
        return;
    bool const taken = rm_port_punt(queue->port, queue->queue, &receive->burst, index);
    rm_counter_add(queue->counters, taken ? RM_PORT_PUNTED : RM_PORT_PUNT_FULL, 1);
}

void rm_receive_one(struct rm_receive *receive, struct rm_receive_queue *queue, uint32_t index, uint64_t tsc,
                    struct rm_burst_sum *sum) {
    struct rm_burst const *const burst = &receive->burst;
    struct arrival arrival = {.queue = queue, .tsc = tsc, .sum = sum};
    struct rm_receive_format const *format;
    bool foreign;
    sum->bytes += burst->length[index] == RM_LENGTH_CUT ? 0 : burst->length[index];
    enum rm_port_counter verdict = rm_receive_frame(receive, queue, index, tsc, &arrival.datagram, &format, &foreign);
    if (verdict == RM_PORT_DECODED)
        verdict =
            format->layout == NULL ? take_native(receive, &arrival) : take_described(receive, &arrival, format->layout);
    if (verdict == RM_PORT_DECODED)
        ++sum->decoded;
    else
        receive_reject_frame(receive, queue, index, verdict, foreign);
}

void rm_receive_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc) {
    struct rm_burst_sum sum = {0};
    receive->flushed = false;
    receive->uncounted = true;
    rm_turn_gate_burst(&receive->gate, tsc);
    receive->take_burst(receive, queue, tsc, &sum);
    flush_early(receive, &sum, tsc);
    receive_publish_heads(receive, tsc);
    rm_histogram_add(receive->latency, rm_tsc() - tsc, receive->burst.count);
    if (sum.due_end != 0)
        rm_turn_gate_observe(&receive->gate, sum.due_end - 1, tsc);
    receive_account_burst(receive, queue, &sum, receive->burst.count);
}

/** One burst of a queue. Returns the number of packets. */
static uint32_t receive_serve_queue(struct rm_receive *receive, struct rm_receive_queue *queue) {
    uint32_t const count = rm_port_receive(queue->port, queue->queue, &receive->burst);
    if (count == 0)
        return 0;
    rm_receive_burst(receive, queue, rm_tsc());
    rm_port_release(queue->port, queue->queue, &receive->burst);
    return count;
}

/** Serves a queue until it is empty, which half a burst says (some drivers give no more at once), or has had enough. */
static uint32_t serve_first(struct rm_receive *receive, struct rm_receive_queue *queue) {
    uint32_t sum = 0;
    uint32_t count = RM_BURST;
    for (uint32_t bursts = 0; bursts < RM_RECEIVE_FIRST_BURSTS && count >= RM_BURST / 2; ++bursts)
        sum += count = receive_serve_queue(receive, queue);
    return sum;
}

uint32_t rm_receive_duty(void *role, uint64_t tsc) {
    struct rm_receive *receive = role;
    if (tsc >= receive->follow_tsc)
        rm_receive_follow(receive, tsc);
    uint32_t const others = receive->queue_count - receive->first_count;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < receive->first_count; ++i)
        sum += serve_first(receive, &receive->queue[i]);
    sum += receive_serve_queue(receive, &receive->queue[receive->first_count + receive->next_other]);
    receive->next_other = receive->next_other + 1 < others ? receive->next_other + 1 : 0;
    if (sum == 0 && receive->uncounted)
        rm_receive_flush(receive, tsc);
    return sum;
}
