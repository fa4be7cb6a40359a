// SPDX-License-Identifier: Apache-2.0
/** One instrument: where its decimators wait, give up and begin anew, and what silence and restarts do to its streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"

enum { GAP = 32, BRIDGE = RM_BRIDGE, LONGEST_GAP = 65023 };

static rm_turn const START = 1200;

struct bench {
    struct receive_rig *rig;
    struct rm_instrument *instrument;
    uint32_t duplicates; /**< which the caller counts */
};

static struct bench begin(uint64_t gap_turns) {
    struct receive_rig *rig =
        rig_make(&(struct receive_rig_config){.capacity = 1 << 18, .late_turns = 65536, .gap_turns = gap_turns});
    return (struct bench){rig, rig->instrument[0], 0};
}

static void store(struct bench *bench, rm_turn first, uint64_t turns) {
    for (rm_turn turn = first; turn < first + turns; ++turn) {
        struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(turn, 0)};
        record.lane[0].i = (int32_t)turn;
        bench->duplicates += rm_instrument_store(bench->instrument, &record) == RM_PUT_DUPLICATE;
    }
}

static uint64_t count(struct bench const *bench, enum rm_stream_counter counter) {
    return rig_count(bench->rig, 0, counter);
}

/** Missing inputs as the low-latency stream tells of them; UINT16_MAX when there is no such output. */
static uint16_t missing(struct bench const *bench, rm_turn turn) {
    rm_instrument_publish(bench->instrument, 1);
    struct rm_stream_view const view = rig_view(&bench->instrument->rates.writer[RIG_LOW_LATENCY]);
    struct rm_record record;
    return rm_stream_read(&view, turn, &record) == RM_READ_OK ? rm_tag_missing(record.tag) : UINT16_MAX;
}

static void a_missing_turn_is_waited_for(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 120);
    store(&bench, START + 121, GAP - 1);
    assert_int_equal(bench.instrument->next_decimated, START + 120);
    store(&bench, START + 120, 1);
    assert_int_equal(bench.instrument->next_decimated, START + 120 + GAP);
    assert_int_equal(count(&bench, RM_STREAM_OUT_OF_ORDER), 1);
    assert_int_equal(count(&bench, RM_STREAM_FAST_MISSING), 0);
    assert_int_equal(missing(&bench, START + 120), 0);
    rig_free(bench.rig);
}

static void a_missing_turn_is_given_up(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 120);
    store(&bench, START + 121, GAP);
    assert_int_equal(bench.instrument->next_decimated, START + 121 + GAP);
    assert_int_equal(count(&bench, RM_STREAM_FAST_MISSING), 1);
    /* Too late for the decimators, not for the ring. */
    store(&bench, START + 120, 1);
    assert_int_equal(count(&bench, RM_STREAM_OUT_OF_ORDER), 1);
    assert_int_equal(bench.instrument->next_decimated, START + 121 + GAP);
    assert_int_equal(missing(&bench, START + 120), 1);
    rm_instrument_publish(bench.instrument, 1);
    struct rm_stream_view const view = rig_view(&bench.instrument->writer);
    struct rm_record record;
    assert_int_equal(rm_stream_read(&view, START + 120, &record), RM_READ_OK);
    rig_free(bench.rig);
}

static void each_of_several_gaps_is_waited_for(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 100);
    store(&bench, START + 101, 9);
    store(&bench, START + 111, 20);
    assert_int_equal(bench.instrument->next_decimated, START + 100);
    store(&bench, START + 131, 2); /* the first is given up, the second is not yet */
    assert_int_equal(bench.instrument->next_decimated, START + 110);
    store(&bench, START + 133, 10);
    assert_int_equal(bench.instrument->next_decimated, START + 143);
    assert_int_equal(count(&bench, RM_STREAM_FAST_MISSING), 2);
    rig_free(bench.rig);
}

static void an_outage_is_bridged_or_begun_anew(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 120);
    store(&bench, START + 120 + GAP + BRIDGE - 1, 1 + GAP);
    assert_int_equal(count(&bench, RM_STREAM_FAST_MISSING), GAP + BRIDGE - 1);
    assert_int_equal(missing(&bench, START + 240), 23); /* all taps of the low-latency filter */
    rig_free(bench.rig);

    bench = begin(GAP);
    store(&bench, START, 120);
    store(&bench, START + 120 + GAP + BRIDGE, 24);
    assert_int_equal(count(&bench, RM_STREAM_FAST_MISSING), 0);
    assert_int_equal(bench.instrument->next_decimated, START + 120 + GAP + BRIDGE + 24);
    assert_int_equal(missing(&bench, START + 240), UINT16_MAX);
    rig_free(bench.rig);
}

static void the_longest_gap_is_what_presence_can_tell(void **state) {
    (void)state;
    struct bench bench = begin(1u << 20);
    store(&bench, START, 120);
    store(&bench, START + 121, LONGEST_GAP - 1);
    assert_int_equal(bench.instrument->next_decimated, START + 120);
    store(&bench, START + 120 + LONGEST_GAP, 1);
    assert_int_equal(bench.instrument->next_decimated, START + 121 + LONGEST_GAP);
    assert_int_equal(count(&bench, RM_STREAM_FAST_MISSING), 1);
    rig_free(bench.rig);
}

static void decimators_start_where_the_stream_starts(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START + 7, 1);
    store(&bench, START + 6, 1); /* before the first */
    assert_int_equal(count(&bench, RM_STREAM_TURN_BEHIND), 1);
    store(&bench, START + 8, 40);
    /* Turns before the first count as missing: of the output at START + 12 the taps of START + 1 … 6. */
    assert_int_equal(missing(&bench, START + 12), 6);
    assert_int_equal(missing(&bench, START + 24), 0);
    rig_free(bench.rig);
}

static void a_restart_takes_all_streams(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 6000);
    rm_instrument_restart(bench.instrument);
    store(&bench, 12, 300);
    rm_instrument_publish(bench.instrument, 1);
    assert_int_equal(count(&bench, RM_STREAM_TURN_EPOCHS), 1);
    assert_int_equal(count(&bench, RM_STREAM_SKIPPED), 0);
    for (int i = RIG_LOOP; i < RIG_RATES; ++i) { /* they take longer to give something */
        assert_int_equal(atomic_load(&bench.instrument->rates.writer[i].stream->turn_epoch), 1);
        assert_int_equal(atomic_load(&bench.instrument->rates.writer[i].stream->head), RM_TURN_NONE);
    }
    struct rm_stream const *stream[] = {bench.instrument->writer.stream,
                                        bench.instrument->rates.writer[RIG_LOW_LATENCY].stream,
                                        bench.instrument->rates.writer[RIG_FAST].stream};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(atomic_load(&stream[i]->turn_epoch), 1);
        assert_in_range(atomic_load(&stream[i]->head), 180, 311);
        assert_in_range(atomic_load(&stream[i]->first), 0, 12);
    }
    rig_free(bench.rig);
}

static void only_what_has_begun_follows(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    rm_instrument_follow(bench.instrument, START, 1);
    assert_int_equal(bench.instrument->writer.head, RM_TURN_NONE);
    store(&bench, 5, 10);
    rm_instrument_follow(bench.instrument, 14, 1); /* there it is already */
    assert_int_equal(bench.instrument->next_decimated, 15);
    rm_instrument_follow(bench.instrument, 100, 2); /* the sharp filter has no output closed by then */
    assert_int_equal(rig_head(bench.rig, 0), 100);
    assert_int_equal(count(&bench, RM_STREAM_SKIPPED), 86);
    assert_int_equal(bench.instrument->rates.writer[RIG_LOW_LATENCY].head, 84); /* closed with input 95 */
    assert_int_equal(bench.instrument->rates.writer[RIG_FAST].head, RM_TURN_NONE);
    assert_int_equal(bench.instrument->next_decimated, RM_TURN_NONE);
    rig_free(bench.rig);
}

static void an_adopted_stream_goes_on(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 300);
    rm_instrument_publish(bench.instrument, 1);
    struct rm_instrument *instrument = bench.instrument;
    struct rm_stream_writer *writer[] = {&instrument->writer, &instrument->rates.writer[RIG_LOW_LATENCY],
                                         &instrument->rates.writer[RIG_FAST]};
    for (int i = 0; i < 3; ++i) { /* another server takes over */
        struct rm_stream *stream = writer[i]->stream;
        rm_stream_writer_close(writer[i]);
        assert_true(rm_stream_writer_open(writer[i], stream, 65536));
    }
    instrument->next_decimated = RM_TURN_NONE;
    rm_instrument_follow(instrument, START + 5000, 2); /* not before it has sent something */
    assert_int_equal(rig_head(bench.rig, 0), START + 299);
    store(&bench, START + 6000, 300);
    store(&bench, START + 5999, 1); /* reordered across the takeover */
    store(&bench, START + 299, 1);
    rm_instrument_publish(instrument, 3);
    assert_int_equal(count(&bench, RM_STREAM_OUT_OF_ORDER), 1);
    assert_int_equal(bench.duplicates, 1);
    assert_int_equal(count(&bench, RM_STREAM_DUPLICATE), 0);
    assert_int_equal(count(&bench, RM_STREAM_SKIPPED), 1); /* so that this server has lost nothing */
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(atomic_load(&writer[i]->stream->turn_epoch), 0);
        assert_in_range(atomic_load(&writer[i]->stream->first), START - 120, START);
        assert_in_range(atomic_load(&writer[i]->stream->head), START + 6000 + 180, START + 6299);
    }
    struct rm_stream_view const view = rig_view(&instrument->writer);
    struct rm_record record;
    assert_int_equal(rm_stream_read(&view, START + 299, &record), RM_READ_OK);
    assert_int_equal(rm_stream_read(&view, START + 300, &record), RM_READ_MISSING);
    rig_free(bench.rig);
}

static void what_did_not_move_is_not_published(void **state) {
    (void)state;
    struct bench bench = begin(GAP);
    store(&bench, START, 300);
    rm_instrument_publish(bench.instrument, 1);
    store(&bench, START + 299, 1); /* a duplicate touches nothing */
    assert_false(bench.instrument->fast_path.touched);
    rm_instrument_publish(bench.instrument, 2);
    assert_int_equal(atomic_load(&bench.instrument->writer.stream->published_tsc), 1);
    store(&bench, START + 300, 1);
    rm_instrument_publish(bench.instrument, 3);
    assert_int_equal(atomic_load(&bench.instrument->writer.stream->published_tsc), 3);
    assert_int_equal(atomic_load(&bench.instrument->rates.writer[RIG_LOW_LATENCY].stream->published_tsc), 1);
    rig_free(bench.rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_missing_turn_is_waited_for),
        cmocka_unit_test(a_missing_turn_is_given_up),
        cmocka_unit_test(each_of_several_gaps_is_waited_for),
        cmocka_unit_test(an_outage_is_bridged_or_begun_anew),
        cmocka_unit_test(the_longest_gap_is_what_presence_can_tell),
        cmocka_unit_test(decimators_start_where_the_stream_starts),
        cmocka_unit_test(a_restart_takes_all_streams),
        cmocka_unit_test(only_what_has_begun_follows),
        cmocka_unit_test(an_adopted_stream_goes_on),
        cmocka_unit_test(what_did_not_move_is_not_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
