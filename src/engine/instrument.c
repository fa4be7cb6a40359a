// SPDX-License-Identifier: Apache-2.0
#include "engine/instrument.h"

enum {
    /** Beyond twice the taps of the longest filter, bridging an outage would only repeat the last value. */
    BRIDGE_TURNS = 512,
};

static void push(struct rm_instrument *instrument, struct rm_record const *record) {
    for (int i = 0; i < RM_CHAINS; ++i) {
        struct rm_chain *chain = &instrument->chain[i];
        struct rm_record output;
        if (rm_decimator_push(&chain->decimator, record, &output))
            rm_stream_writer_put(&chain->writer, &output);
    }
    ++instrument->next_decimated;
}

static void start_decimators(struct rm_instrument *instrument, struct rm_record const *record) {
    for (int i = 0; i < RM_CHAINS; ++i)
        rm_decimator_start(&instrument->chain[i].decimator, record);
    instrument->next_decimated = record->turn;
}

/** Turns that the decimators wait for a missing one: what the presence bitmap can still tell apart. */
static uint64_t patience(struct rm_instrument const *instrument) {
    uint64_t const longest = RM_PRESENCE_TURNS - BRIDGE_TURNS - 1;
    return instrument->gap_turns < longest ? instrument->gap_turns : longest;
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

static void decimate(struct rm_instrument *instrument, struct rm_record const *record) {
    rm_turn const next = instrument->next_decimated;
    if (next != RM_TURN_NONE && record->turn < next)
        return;
    if (next == RM_TURN_NONE || record->turn - next >= patience(instrument) + BRIDGE_TURNS)
        start_decimators(instrument, record);
    if (record->turn == instrument->next_decimated)
        push(instrument, record);
    if (instrument->next_decimated <= instrument->writer.head)
        drain(instrument);
}

void rm_instrument_store(struct rm_instrument *instrument, struct rm_record const *record) {
    static unsigned const counter_of[] = {
        [RM_PUT_NEW] = RM_STREAM_ACCEPTED,
        [RM_PUT_LATE] = RM_STREAM_LATE,
        [RM_PUT_DUPLICATE] = RM_STREAM_DUPLICATE,
        [RM_PUT_BEHIND] = RM_STREAM_TURN_BEHIND,
    };
    enum rm_put const put = rm_stream_writer_put(&instrument->writer, record);
    rm_counter_add(instrument->counters, counter_of[put], 1);
    if (put == RM_PUT_NEW || put == RM_PUT_LATE) {
        instrument->touched = true;
        decimate(instrument, record);
    }
}

static void publish_moved(struct rm_stream_writer *writer, uint64_t tsc) {
    if (writer->head != writer->published)
        rm_stream_writer_publish(writer, tsc);
}

void rm_instrument_publish(struct rm_instrument *instrument, uint64_t tsc) {
    publish_moved(&instrument->writer, tsc);
    for (int i = 0; i < RM_CHAINS; ++i)
        publish_moved(&instrument->chain[i].writer, tsc);
    rm_counter_set(instrument->counters, RM_STREAM_PASSED_OVER, instrument->writer.passed_over);
    instrument->touched = false;
}

/** The outputs that would have closed with input `turn` are passed over. */
static void follow_chain(struct rm_chain *chain, rm_turn turn) {
    struct rm_fir_design const *design = chain->decimator.design;
    if (turn >= design->centre)
        rm_stream_writer_pass_over(&chain->writer, (turn - design->centre) / design->decimation * design->decimation);
}

void rm_instrument_follow(struct rm_instrument *instrument, rm_turn turn, uint64_t tsc) {
    if (instrument->writer.head == RM_TURN_NONE || instrument->writer.adopted || turn <= instrument->writer.head)
        return;
    rm_stream_writer_pass_over(&instrument->writer, turn);
    for (int i = 0; i < RM_CHAINS; ++i)
        follow_chain(&instrument->chain[i], turn);
    instrument->next_decimated = RM_TURN_NONE;
    rm_instrument_publish(instrument, tsc);
}

void rm_instrument_restart(struct rm_instrument *instrument) {
    rm_stream_writer_restart(&instrument->writer);
    for (int i = 0; i < RM_CHAINS; ++i)
        rm_stream_writer_restart(&instrument->chain[i].writer);
    instrument->next_decimated = RM_TURN_NONE;
    rm_counter_add(instrument->counters, RM_STREAM_EPOCHS, 1);
}
