// SPDX-License-Identifier: Apache-2.0
/** The kernel of the express lane, for the three files that include it: each has defined RM_EXPRESS_TARGET, the
 * instruction set, and
 *
 *     bool begins_alike(frame, express)               as the last frame of this sender
 *     void put(record, slot, frame, express, head)    makes the record, in `record`; streams it if slot is not NULL
 *
 * Two passes over the burst: the first finds out who sent each datagram, so that the second waits for none of the
 * look-ups.
 */
#ifndef RM_ENGINE_EXPRESS_LANE_H
#define RM_ENGINE_EXPRESS_LANE_H

#include "engine/express_frame.h"
#include "engine/receive_one.h"

/** Turns that the lane may take: due, within the gate's window, and far below RM_TURN_END. */
struct window {
    rm_turn lowest;
    uint64_t span;
};

RM_EXPRESS_TARGET static inline struct window window_of(struct rm_turn_gate const *gate) {
    if (gate->observable >= RM_TURN_END / 2)
        return (struct window){RM_TURN_BELOW, 0};
    uint64_t const due = gate->observable - gate->lowest;
    return (struct window){gate->lowest, due < gate->span ? due : gate->span};
}

/** Who sends what comes from there under that id, if it is one whose datagrams take the lane. */
RM_EXPRESS_TARGET static inline struct rm_instrument *sender_of(struct rm_receive_queue const *queue,
                                                                struct rm_burst const *burst, uint32_t index) {
    if (burst->length[index] < RM_EXPRESS_SHORTEST)
        return NULL;
    uint8_t const *const frame = burst->data[index];
    struct rm_identity const *const identity = rm_identity_find(queue->identities, rm_load32(frame + RM_EXPRESS_SOURCE),
                                                                rm_load_memory16(frame + RM_EXPRESS_ID));
    return identity != NULL && identity->path == NULL ? identity->instrument : NULL;
}

/** Feeds the filters with a record that stands in their inputs already. */
RM_EXPRESS_TARGET static inline void count_input(struct rm_instrument *instrument, struct rm_inputs *inputs) {
    inputs->missing_before[inputs->phase] = inputs->missing;
    inputs->next_turn += inputs->period;
    if (__builtin_expect(++inputs->phase < inputs->decimation, 1))
        return;
    inputs->phase = 0;
    rm_rates_close(&instrument->rates);
}

/** Whether the record that is due is the next one for the stream, for the filters and for the gate. */
RM_EXPRESS_TARGET static inline bool is_next(struct rm_instrument const *instrument, rm_turn turn,
                                             struct window window) {
    return turn == instrument->writer.next && turn == instrument->next_decimated &&
           turn - window.lowest <= window.span && turn <= instrument->writer.limit;
}

/** The turn that was taken, or RM_TURN_NONE when the datagram has to take the general way. */
RM_EXPRESS_TARGET static inline rm_turn take(struct rm_receive *receive, struct rm_instrument *instrument,
                                             uint32_t index, uint64_t tsc, struct window window) {
    struct rm_burst const *const burst = &receive->burst;
    struct rm_express *const express = &instrument->express;
    struct rm_stream_writer *const writer = &instrument->writer;
    uint8_t const *const frame = burst->data[index];
    rm_turn const turn = rm_load_memory64(frame + RM_EXPRESS_TURN) + express->turn_offset;
    if (__builtin_expect(!is_next(instrument, turn, window) || burst->length[index] < express->frame_bytes, 0))
        return RM_TURN_NONE;
    if (__builtin_expect(!begins_alike(frame, express), 0) &&
        !rm_express_header_is_good(express, frame, burst->checksum_good[index]))
        return RM_TURN_NONE;

    struct rm_inputs *const inputs = instrument->inputs;
    struct rm_record *const record = &inputs->record[inputs->phase];
    uint64_t const tag = rm_tag_full_rate(tsc, rm_load_memory16(frame + RM_EXPRESS_STATUS));
    struct rm_slot *const slot = rm_stream_writer_slot(writer);
    put(record, writer->streaming ? slot : NULL, frame, express, (struct head){turn, tag});
    if (!writer->streaming)
        rm_slot_store_newest(slot, record);
    instrument->next_decimated += writer->period;
    ++instrument->express_count;
    receive->touched[receive->touched_count] = instrument;
    receive->touched_count += !instrument->touched;
    instrument->touched = true;
    count_input(instrument, inputs);
    return turn;
}

RM_EXPRESS_TARGET static inline void take_burst(struct rm_receive *receive, struct rm_receive_queue *queue,
                                                uint64_t tsc, struct rm_burst_sum *sum) {
    struct rm_burst const *const burst = &receive->burst;
    struct rm_instrument *instrument[RM_BURST];
    bool const open =
        queue->framing == RM_FRAMING_ETHERNET && queue->vlan == RM_RECEIVE_ANY_VLAN && receive->gate.clock.anchored;
    uint32_t const count = burst->count;
    for (uint32_t i = 0; i < count; ++i)
        instrument[i] = open ? sender_of(queue, burst, i) : NULL;
    struct window window = window_of(&receive->gate);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; ++i) {
        rm_turn const turn = instrument[i] != NULL ? take(receive, instrument[i], i, tsc, window) : RM_TURN_NONE;
        if (__builtin_expect(turn != RM_TURN_NONE, 1)) {
            sum->due_end = turn >= sum->due_end ? turn + 1 : sum->due_end;
            sum->bytes += burst->length[i];
            ++taken;
            continue;
        }
        rm_receive_one(receive, queue, i, tsc, sum);
        window = window_of(&receive->gate);
    }
    sum->decoded += taken;
    sum->records += taken;
}

#endif
