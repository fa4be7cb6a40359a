// SPDX-License-Identifier: Apache-2.0
/** The kernel of the fast path, for the three files that include it. Each has defined RM_FAST_PATH_TARGET, its
 * instruction set, and
 *
 *     bool begins_alike(frame, fast path, native)                  as the last frame of this sender
 *     void put(record, slot, frame, fast path, head)               makes the record of what is native, in `record`;
 *                                                                streams it if slot is not NULL
 *     struct described read_described(layout, payload)           counter and status of what is described
 *     void put_described(record, slot, payload, layout, described, head)    and its record
 *
 * Two passes over the burst: the first finds the sender of each datagram, so that the second waits for none of the
 * look-ups.
 */
#ifndef RM_ENGINE_FAST_PATH_KERNEL_H
#define RM_ENGINE_FAST_PATH_KERNEL_H

#include "engine/fast_path_frame.h"
#include "engine/receive_frame.h"
#include "engine/receive_one.h"
#include "wire/layout_words.h"

/** Compiled once for each mix of formats: it is inlined into a caller for which the mix is a constant. */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/** Turns that the fast path may take: due, within the gate's window, and far below RM_TURN_END. */
struct turn_window {
    rm_turn lowest;
    uint64_t span;
    /** The turn that is due: a short counter means a turn near it. */
    rm_turn due;
};

RM_FAST_PATH_TARGET static inline struct turn_window window_of(struct rm_turn_gate const *gate) {
    if (gate->observable >= RM_TURN_END / 2)
        return (struct turn_window){RM_TURN_NONE - 1, 0,
                                    0}; /* no fast path's next: that is at most RM_TURN_END, or none */
    uint64_t const observable = gate->observable - gate->lowest;
    return (struct turn_window){gate->lowest, observable < gate->span ? observable : gate->span, gate->due};
}

/** Formats that come by a queue. Each mix has a kernel of its own, which asks nothing about other formats. */
enum format_mix {
    NATIVE,
    /** All datagrams are in one layout. */
    DESCRIBED,

    MIXED,
};

RM_FAST_PATH_TARGET static inline enum format_mix mix_of(struct rm_receive_queue const *queue) {
    if (queue->format_count != 1)
        return MIXED;
    return queue->format->layout == NULL ? NATIVE : DESCRIBED;
}

/** The layout of a frame that has its headers: by its UDP port, unless the queue has one format alone; then
 * `fast_path_take` compares the port. False when there is none. */
RM_FAST_PATH_TARGET static inline bool find_layout(struct rm_receive_queue const *queue, uint8_t const *frame,
                                                   enum format_mix mix, struct rm_layout const **layout) {
    struct rm_receive_format const *const format =
        mix == MIXED ? rm_receive_format_of(queue, rm_load16(frame + RM_FAST_PATH_UDP_PORT)) : queue->format;
    if (format == NULL)
        return false;
    *layout = mix == NATIVE ? NULL : format->layout;
    return true;
}

/** The id in a frame; UINT32_MAX where its datagram has several records, or is too short for its one. */
RM_FAST_PATH_TARGET static inline uint32_t fast_path_id_of(struct rm_receive_queue const *queue, uint8_t const *frame,
                                                           uint32_t length, enum format_mix mix) {
    struct rm_layout const *layout;
    if (length < RM_FAST_PATH_PAYLOAD || !find_layout(queue, frame, mix, &layout))
        return UINT32_MAX;
    if (mix == NATIVE || (mix == MIXED && layout == NULL))
        return length >= RM_FAST_PATH_SHORTEST ? rm_load_memory16(frame + RM_FAST_PATH_ID) : UINT32_MAX;
    if (layout->shape.records != 1 || length < RM_FAST_PATH_PAYLOAD + layout->shape.shortest)
        return UINT32_MAX;
    return (uint32_t)rm_layout_number(layout, &layout->id, frame + RM_FAST_PATH_PAYLOAD);
}

/** The instrument that sends from this address under that id; NULL: none whose datagrams take the fast path. */
RM_FAST_PATH_TARGET static inline struct rm_instrument *
sender_of(struct rm_receive_queue const *queue, struct rm_burst const *burst, uint32_t index, enum format_mix mix) {
    uint8_t const *const frame = burst->data[index];
    uint32_t const id = fast_path_id_of(queue, frame, burst->length[index], mix);
    if (id > UINT16_MAX)
        return NULL;
    struct rm_identity const *const identity =
        rm_identity_find(queue->identities, rm_load32(frame + RM_FAST_PATH_SOURCE), id);
    return identity != NULL && identity->path == NULL ? identity->instrument : NULL;
}

/** True when the frame, which has its sender's length, brings the turn that the stream needs next. */
RM_FAST_PATH_TARGET static inline bool brings_next(uint8_t const *frame, struct rm_instrument const *instrument,
                                                   struct rm_layout const *layout, struct described const *described,
                                                   rm_turn due) {
    struct rm_fast_path const *const fast_path = &instrument->fast_path;
    if (layout == NULL)
        return rm_load_memory64(frame + RM_FAST_PATH_TURN) + fast_path->turn_offset == fast_path->next;
    return rm_counting_means(&instrument->counting, described->counter, fast_path->number, fast_path->next, due);
}

/** True when all bytes of the frame that are known beforehand are right. */
RM_FAST_PATH_TARGET static inline bool is_good(uint8_t const *frame, struct rm_fast_path *fast_path,
                                               struct rm_layout const *layout, bool checksum_good) {
    if (layout != NULL && !rm_layout_constants_hold(layout, frame + RM_FAST_PATH_PAYLOAD))
        return false;
    return __builtin_expect(begins_alike(frame, fast_path, layout == NULL), 1) ||
           rm_fast_path_header_is_good(fast_path, frame,
                                       layout == NULL ? RM_FAST_PATH_BYTES : RM_FAST_PATH_HEADER_BYTES, checksum_good);
}

/** Goes on to the next record; the instrument has something to publish. */
RM_FAST_PATH_TARGET static inline void fast_path_advance(struct rm_receive *receive, struct rm_instrument *instrument) {
    struct rm_fast_path *const fast_path = &instrument->fast_path;
    fast_path->next += fast_path->period;
    ++fast_path->number;
    ++fast_path->run;
    receive->touched[receive->touched_count] = instrument;
    receive->touched_count += !fast_path->touched;
    fast_path->touched = true;
    if (__builtin_expect(++fast_path->phase == fast_path->decimation, 0))
        rm_instrument_close_group(instrument);
}

/** Takes the frame. Returns its turn, or RM_TURN_NONE when the datagram has to take the general path. */
RM_FAST_PATH_TARGET ALWAYS_INLINE rm_turn fast_path_take(struct rm_receive *receive, struct rm_instrument *instrument,
                                                         uint32_t index, uint64_t tsc, struct turn_window window,
                                                         struct rm_layout const *layout) {
    struct rm_burst const *const burst = &receive->burst;
    struct rm_fast_path *const fast_path = &instrument->fast_path;
    uint8_t const *const frame = burst->data[index];
    rm_turn const turn = fast_path->next;
    if (__builtin_expect(burst->length[index] < fast_path->frame_bytes || turn - window.lowest > window.span, 0))
        return RM_TURN_NONE;
    struct described described;
    if (layout != NULL)
        described = read_described(layout, frame + RM_FAST_PATH_PAYLOAD);
    if (__builtin_expect(!brings_next(frame, instrument, layout, &described, window.due) ||
                             !is_good(frame, fast_path, layout, burst->checksum_good[index]),
                         0))
        return RM_TURN_NONE;

    struct rm_record *const record = &fast_path->record[fast_path->phase];
    uint64_t const tag =
        rm_tag_full_rate(tsc, layout == NULL ? rm_load_memory16(frame + RM_FAST_PATH_STATUS) : described.status);
    struct rm_slot *const slot = &fast_path->slot[fast_path->number & fast_path->mask];
    struct rm_slot *const stream = fast_path->streaming ? slot : NULL;
    if (layout == NULL)
        fast_path_put(record, stream, frame, fast_path, (struct record_head){turn, tag});
    else
        put_described(record, stream, frame + RM_FAST_PATH_PAYLOAD, layout, &described,
                      (struct record_head){turn, tag});
    if (stream == NULL)
        rm_slot_store_newest(slot, record);
    fast_path_advance(receive, instrument);
    return turn;
}

/** The same for an instrument that may be NULL: unknown. */
RM_FAST_PATH_TARGET ALWAYS_INLINE rm_turn take_of(struct rm_receive *receive, struct rm_receive_queue const *queue,
                                                  struct rm_instrument *instrument, uint32_t index, uint64_t tsc,
                                                  struct turn_window window, enum format_mix mix) {
    struct rm_layout const *const layout = mix == NATIVE ? NULL : queue->format->layout;
    /* Where all formats are native, so are all instruments. */
    if (instrument == NULL || (mix == DESCRIBED && instrument->layout != layout))
        return RM_TURN_NONE;
    return fast_path_take(receive, instrument, index, tsc, window, mix == MIXED ? instrument->layout : layout);
}

/** Takes the burst of a queue with that mix. */
RM_FAST_PATH_TARGET ALWAYS_INLINE void take_all(struct rm_receive *receive, struct rm_receive_queue *queue,
                                                uint64_t tsc, struct rm_burst_sum *sum, enum format_mix mix) {
    struct rm_burst const *const burst = &receive->burst;
    struct rm_instrument *instrument[RM_BURST];
    bool const open =
        queue->framing == RM_FRAMING_ETHERNET && queue->vlan == RM_RECEIVE_ANY_VLAN && receive->gate.clock.anchored;
    uint32_t const count = burst->count;
    for (uint32_t i = 0; i < count; ++i)
        instrument[i] = open ? sender_of(queue, burst, i, mix) : NULL;
    struct turn_window window = window_of(&receive->gate);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; ++i) {
        rm_turn const turn = take_of(receive, queue, instrument[i], i, tsc, window, mix);
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

RM_FAST_PATH_TARGET static inline void take_burst(struct rm_receive *receive, struct rm_receive_queue *queue,
                                                  uint64_t tsc, struct rm_burst_sum *sum) {
    switch (mix_of(queue)) {
    case NATIVE:
        take_all(receive, queue, tsc, sum, NATIVE);
        break;
    case DESCRIBED:
        take_all(receive, queue, tsc, sum, DESCRIBED);
        break;
    case MIXED:
        take_all(receive, queue, tsc, sum, MIXED);
        break;
    }
}

#endif
