// SPDX-License-Identifier: Apache-2.0
#include "engine/instrument.h"

static void push(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_rates_push(&instrument->rates, record);
    instrument->next_decimated += instrument->writer.period;
}

static void start_decimators(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_rates_start(&instrument->rates, record);
    instrument->next_decimated = record->turn;
}

/** Turns that the decimators wait for a missing one: what the presence bitmap can still tell apart. */
static uint64_t patience(struct rm_instrument const *instrument) {
    uint64_t const longest = RM_PRESENCE_TURNS - RM_BRIDGE - 1;
    uint64_t const records = instrument->gap_records < longest ? instrument->gap_records : longest;
    return records * instrument->writer.period;
}

/** Feeds the decimators from the ring, up to the head, or to a missing turn that may still come. */
static void drain(struct rm_instrument *instrument) {
    rm_turn const head = instrument->writer.head;
    while (instrument->next_decimated <= head) {
        struct rm_slot const *slot = rm_stream_writer_find(&instrument->writer, instrument->next_decimated);
        if (slot != NULL) {
            struct rm_record record;
            rm_slot_load(slot, &record);
            push(instrument, &record);
        } else if (head - instrument->next_decimated >= patience(instrument)) {
            push(instrument, NULL);
            rm_counter_add(instrument->counters, RM_STREAM_FAST_MISSING, 1);
        } else {
            return;
        }
    }
}

/** True when so much is missing before `turn` that the decimators begin anew. */
static bool is_outage(struct rm_instrument const *instrument, rm_turn turn) {
    uint64_t const bridge = RM_BRIDGE * instrument->writer.period;
    return turn - instrument->next_decimated >= patience(instrument) + bridge;
}

static void decimate(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_turn const next = instrument->next_decimated;
    if (record->turn == next) {
        push(instrument, record);
    } else if (next == RM_TURN_NONE || (record->turn > next && is_outage(instrument, record->turn))) {
        start_decimators(instrument, record);
        push(instrument, record);
    } else if (record->turn < next) {
        return;
    }
    if (instrument->next_decimated <= instrument->writer.head)
        drain(instrument);
}

void rm_instrument_open_express(struct rm_instrument *instrument, struct rm_express_sender const *sender) {
    /* A turn below RM_TURN_END / 2 (express_lane.h) then came as one below RM_TURN_END. */
    int64_t const far = RM_TURN_END / 2;
    bool const near = -far < sender->turn_offset && sender->turn_offset < far;
    instrument->inputs = rm_rates_inputs(&instrument->rates);
    struct rm_layout const *const layout = instrument->layout;
    bool const single = layout == NULL || rm_layout_single_bytes(layout) != 0;
    if (instrument->inputs != NULL && near && single && instrument->calibration == NULL && instrument->path[0] == NULL)
        rm_express_open(&instrument->express, sender, layout);
    else
        rm_express_shut(&instrument->express);
}

enum rm_put rm_instrument_store(struct rm_instrument *instrument, struct rm_record const *record) {
    static unsigned const counter_of[] = {
        [RM_PUT_NEW] = RM_STREAM_ACCEPTED,
        [RM_PUT_LATE] = RM_STREAM_LATE,
        [RM_PUT_BEHIND] = RM_STREAM_TURN_BEHIND,
    };
    enum rm_put const put = rm_stream_writer_put(&instrument->writer, record);
    if (put == RM_PUT_DUPLICATE)
        return put;
    rm_counter_add(instrument->counters, counter_of[put], 1);
    if (put != RM_PUT_BEHIND) {
        instrument->touched = true;
        decimate(instrument, record);
    }
    return put;
}

void rm_instrument_count_express(struct rm_instrument *instrument, uint64_t tsc) {
    if (instrument->express_count == 0)
        return;
    rm_counter_add(instrument->counters, RM_STREAM_ACCEPTED, instrument->express_count);
    instrument->express_count = 0;
    instrument->vote.seen_tsc = tsc;
    rm_gate_vote_accepted(&instrument->vote, instrument->writer.head);
}

void rm_instrument_show(struct rm_instrument *instrument, uint64_t tsc) {
    struct rm_stream_writer *const writer = &instrument->writer;
    rm_instrument_count_express(instrument, tsc);
    if (writer->head != writer->published)
        rm_stream_writer_show(writer, tsc);
    rm_rates_show(&instrument->rates, tsc);
    if (writer->passed_over != instrument->shown_passed_over) {
        rm_counter_set(instrument->counters, RM_STREAM_PASSED_OVER, writer->passed_over);
        instrument->shown_passed_over = writer->passed_over;
    }
    instrument->touched = false;
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
    rm_instrument_publish(instrument, tsc);
}

void rm_instrument_restart(struct rm_instrument *instrument) {
    rm_stream_writer_restart(&instrument->writer);
    rm_rates_restart(&instrument->rates);
    instrument->next_decimated = RM_TURN_NONE;
    rm_counter_add(instrument->counters, RM_STREAM_EPOCHS, 1);
}
