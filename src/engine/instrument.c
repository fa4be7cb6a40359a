// SPDX-License-Identifier: Apache-2.0
#include "engine/instrument.h"

#include <assert.h>

#include "net/port.h"

static void instrument_push(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_rates_push(&instrument->rates, record);
    instrument->next_decimated += instrument->writer.period;
}

static void start_decimators(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_rates_start(&instrument->rates, record);
    instrument->next_decimated = record->turn;
}

/** Turns that the decimators wait for a missing one: what the presence bitmap can still tell apart. */
static uint64_t instrument_timeout(struct rm_instrument const *instrument) {
    uint64_t const longest = RM_PRESENCE_TURNS - RM_BRIDGE - 1;
    uint64_t const records = instrument->gap_records < longest ? instrument->gap_records : longest;
    return records * instrument->writer.period;
}

/** Feeds the decimators from the ring, up to the head, or to a missing turn that may still come. */
static void instrument_drain(struct rm_instrument *instrument) {
    rm_turn const head = instrument->writer.head;
    while (instrument->next_decimated <= head) {
        struct rm_slot const *slot = rm_stream_writer_find(&instrument->writer, instrument->next_decimated);
        if (slot != NULL) {
            struct rm_record record;
            rm_slot_load(slot, &record);
            instrument_push(instrument, &record);
        } else if (head - instrument->next_decimated >= instrument_timeout(instrument)) {
            instrument_push(instrument, NULL);
            rm_counter_add(instrument->counters, RM_STREAM_FAST_MISSING, 1);
        } else {
            return;
        }
    }
}

/** True when so much is missing before `turn` that the decimators begin anew. */
static bool is_outage(struct rm_instrument const *instrument, rm_turn turn) {
    uint64_t const bridge = RM_BRIDGE * instrument->writer.period;
    return turn - instrument->next_decimated >= instrument_timeout(instrument) + bridge;
}

static void instrument_decimate(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_turn const next = instrument->next_decimated;
    if (record->turn == next) {
        instrument_push(instrument, record);
    } else if (next == RM_TURN_NONE || (record->turn > next && is_outage(instrument, record->turn))) {
        start_decimators(instrument, record);
        instrument_push(instrument, record);
    } else if (record->turn < next) {
        return;
    }
    if (instrument->next_decimated <= instrument->writer.head)
        instrument_drain(instrument);
}

/** Where the records of the fast path go. */
static void lay_lane(struct rm_instrument *instrument) {
    struct rm_stream_writer const *const writer = &instrument->writer;
    struct rm_fast_path *const fast_path = &instrument->fast_path;
    fast_path->slot = writer->slot;
    fast_path->mask = writer->mask;
    fast_path->period = writer->period;
    fast_path->streaming = writer->streaming;
    fast_path->stream = writer->stream;
    fast_path->record = instrument->inputs->record;
    fast_path->decimation = (uint8_t)instrument->inputs->decimation;
}

/** Of an instrument that is flushed: the fast path goes on from where it stands, if that is a place where stream and
 * decimators want the same turn, and a whole burst stays within the stream's margin (promise 1 of stream.h). */
static void start_lane(struct rm_instrument *instrument) {
    struct rm_stream_writer const *const writer = &instrument->writer;
    struct rm_fast_path *const fast_path = &instrument->fast_path;
    bool const starts = instrument->inputs != NULL && writer->next == instrument->next_decimated &&
                        writer->head + RM_BURST * writer->period <= writer->limit;
    fast_path->next = starts ? writer->next : RM_TURN_NONE;
    if (!starts)
        return;
    fast_path->number = writer->number;
    fast_path->phase = (uint8_t)instrument->inputs->phase;
}

void rm_instrument_open_fast_path(struct rm_instrument *instrument, struct rm_fast_path_sender const *sender) {
    /* A turn below RM_TURN_END / 2 (fast_path_kernel.h) then came as one below RM_TURN_END. */
    int64_t const far = RM_TURN_END / 2;
    bool const near = -far < sender->turn_offset && sender->turn_offset < far;
    struct rm_layout const *const layout = instrument->layout;
    bool const single = layout == NULL || rm_layout_single_bytes(layout) != 0;
    rm_instrument_flush(instrument, 0);
    instrument->inputs = rm_rates_inputs(&instrument->rates);
    if (instrument->inputs == NULL || !near || !single || instrument->calibration != NULL ||
        instrument->path[0] != NULL) {
        rm_fast_path_shut(&instrument->fast_path);
        return;
    }
    rm_fast_path_open(&instrument->fast_path, sender, layout);
    lay_lane(instrument);
    start_lane(instrument);
}

enum rm_put rm_instrument_store(struct rm_instrument *instrument, struct rm_record const *record) {
    static unsigned const counter_of[] = {
        [RM_PUT_NEW] = RM_STREAM_ACCEPTED,
        [RM_PUT_OUT_OF_ORDER] = RM_STREAM_OUT_OF_ORDER,
        [RM_PUT_BEHIND] = RM_STREAM_TURN_BEHIND,
    };
    assert(instrument->fast_path.run == 0);
    enum rm_put const put = rm_stream_writer_put(&instrument->writer, record);
    if (put == RM_PUT_DUPLICATE)
        return put;
    rm_counter_add(instrument->counters, counter_of[put], 1);
    if (put != RM_PUT_BEHIND) {
        instrument->fast_path.touched = instrument->fast_path.whole = true;
        instrument_decimate(instrument, record);
    }
    start_lane(instrument);
    return put;
}

void rm_instrument_flush(struct rm_instrument *instrument, uint64_t tsc) {
    struct rm_fast_path *const fast_path = &instrument->fast_path;
    struct rm_stream const *const stream = fast_path->stream;
    if (fast_path->run == 0)
        return;
    rm_stream_writer_follow(&instrument->writer, fast_path->number, fast_path->next);
    rm_inputs_follow(instrument->inputs, fast_path->phase - instrument->inputs->phase);
    instrument->next_decimated = fast_path->next;
    rm_counter_add(instrument->counters, RM_STREAM_ACCEPTED, fast_path->run);
    instrument->vote.seen_tsc =
        fast_path->touched ? tsc : atomic_load_explicit(&stream->published_tsc, memory_order_relaxed);
    rm_gate_vote_accepted(&instrument->vote, instrument->writer.head);
    fast_path->run = 0;
}

void rm_instrument_close_group(struct rm_instrument *instrument) {
    rm_inputs_follow(instrument->inputs, instrument->fast_path.phase - instrument->inputs->phase);
    rm_rates_close(&instrument->rates);
    instrument->fast_path.phase = 0;
    instrument->fast_path.whole = true;
}

/** What is more than records that came by the fast path since it was flushed. */
static void show_whole(struct rm_instrument *instrument, uint64_t tsc) {
    struct rm_stream_writer const *const writer = &instrument->writer;
    rm_rates_show(&instrument->rates, tsc);
    if (writer->skipped != instrument->shown_skipped) {
        rm_counter_set(instrument->counters, RM_STREAM_SKIPPED, writer->skipped);
        instrument->shown_skipped = writer->skipped;
    }
    instrument->fast_path.whole = false;
    if (instrument->fast_path.run == 0)
        start_lane(instrument); /* there was no room for a burst, perhaps; what is published makes it */
}

void rm_instrument_show(struct rm_instrument *instrument, uint64_t tsc) {
    struct rm_fast_path *const fast_path = &instrument->fast_path;
    if (fast_path->run != 0)
        rm_stream_show(fast_path->stream, fast_path->next - fast_path->period, tsc);
    else if (instrument->writer.head != instrument->writer.published)
        rm_stream_writer_show(&instrument->writer, tsc);
    if (fast_path->whole)
        show_whole(instrument, tsc);
    fast_path->touched = false;
}

void rm_instrument_publish(struct rm_instrument *instrument, uint64_t tsc) {
    rm_stream_publish_begin();
    rm_instrument_show(instrument, tsc);
    rm_stream_publish_end();
}

void rm_instrument_follow(struct rm_instrument *instrument, rm_turn turn, uint64_t tsc) {
    struct rm_stream_writer *const writer = &instrument->writer;
    rm_turn const last = turn / writer->period * writer->period;
    if (writer->head == RM_TURN_NONE || writer->adopted || last <= writer->head)
        return;
    rm_stream_writer_pass_over(writer, last);
    rm_rates_follow(&instrument->rates, last, tsc);
    instrument->next_decimated = RM_TURN_NONE;
    instrument->fast_path.next = RM_TURN_NONE;
    instrument->fast_path.whole = true;
    rm_instrument_publish(instrument, tsc);
}

void rm_instrument_restart(struct rm_instrument *instrument) {
    rm_stream_writer_restart(&instrument->writer);
    rm_rates_restart(&instrument->rates);
    instrument->next_decimated = RM_TURN_NONE;
    instrument->fast_path.next = RM_TURN_NONE;
    rm_counter_add(instrument->counters, RM_STREAM_TURN_EPOCHS, 1);
}
