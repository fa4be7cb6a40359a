// SPDX-License-Identifier: Apache-2.0
/** The receive role and turns: late, twice, wild, silent. Time is 1 µs per turn throughout. */
#include "engine/test_receive_steps.h"

static void late_twice_and_behind(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.late_turns = 64});
    run(rig, START, 10, 1, 0);
    rm_turn const order[] = {START + 12, START + 11, START + 11, START + 12, START + 10, START + 3, START - 1};
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; ++i)
        rig_send(rig, 0, order[i]);
    assert_null(rig_poll(rig));
    expect(rig, 0, RM_STREAM_ACCEPTED, 11);
    expect(rig, 0, RM_STREAM_OUT_OF_ORDER, 2);
    expect(rig, 0, RM_STREAM_DUPLICATE, 3);
    expect(rig, 0, RM_STREAM_SKIPPED, 2);
    expect_refusals(rig, 0, 0, 1);
    for (rm_turn turn = START; turn <= START + 12; ++turn)
        assert_true(rig_shows(rig, 0, turn));

    run(rig, START + 14, 63, 1, 0); /* START + 13 is missing, and now 63 behind the head */
    rig_send(rig, 0, START + 13);
    assert_null(rig_poll(rig));
    expect(rig, 0, RM_STREAM_OUT_OF_ORDER, 3);
    run(rig, START + 78, 64, 1, 0); /* START + 77 is missing, and now 64 behind */
    rig_send(rig, 0, START + 77);
    assert_null(rig_poll(rig));
    expect(rig, 0, RM_STREAM_OUT_OF_ORDER, 3);
    expect_refusals(rig, 0, 0, 2);
    assert_false(rig_shows(rig, 0, START + 77));
    rig_free(rig);
}

/** One wild turn among good ones: refused by its counter, and without effect on others. */
static void expect_wild(rm_turn wild, uint64_t ahead, uint64_t behind, uint64_t out_of_range) {
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    rig_send(rig, 1, wild);
    assert_null(rig_poll(rig));
    run(rig, START + LEARNT, 100, 7, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        expect(rig, i, RM_STREAM_ACCEPTED, LEARNT + 100);
        expect(rig, i, RM_STREAM_SKIPPED, 0);
        expect(rig, i, RM_STREAM_TURN_EPOCHS, 0);
        expect_refusals(rig, i, i == 1 ? ahead : 0, i == 1 ? behind : 0);
        expect(rig, i, RM_STREAM_TURN_OUT_OF_RANGE, i == 1 ? out_of_range : 0);
        assert_int_equal(rig_head(rig, i), START + LEARNT + 99);
    }
    rig_free(rig);
}

static void a_wild_turn_disturbs_nobody(void **state) {
    (void)state;
    rm_turn const now = START + LEARNT - 1;
    expect_wild(now + 2048 + 2, 1, 0, 0);
    expect_wild(now + (1u << 20), 1, 0, 0);
    expect_wild(RM_TURN_END - 1, 1, 0, 0);
    expect_wild(RM_TURN_END, 0, 0, 1);
    expect_wild(1ull << 63, 0, 0, 1);
    expect_wild(RM_TURN_NONE - 1, 0, 0, 1);
    expect_wild(RM_TURN_NONE, 0, 0, 1);
    expect_wild(now - (1u << 18) - 2, 0, 1, 0);
    expect_wild(0, 0, 1, 0);
}

/** However many agree on a turn that is out of range, and whether they are the first that come. */
static void a_turn_out_of_range_never_starts_anything(void **state) {
    (void)state;
    uint64_t const votes = 10 * RM_GATE_VOTE_RUN;
    int64_t const offset[] = {0, 5, -5};
    rm_turn const turns[] = {RM_TURN_END, RM_TURN_END + 1, 1ull << 63, RM_TURN_NONE - 1, RM_TURN_NONE};
    for (unsigned k = 0; k < 15; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 2});
        rig->instrument[0]->counting.offset_turns = rig->instrument[1]->counting.offset_turns = offset[k % 3];
        for (unsigned i = 0; i < votes; ++i)
            rig_send_all(rig, turns[k / 3]);
        assert_null(rig_poll(rig));
        expect(rig, 0, RM_STREAM_TURN_OUT_OF_RANGE, votes);
        assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 0);
        run(rig, START, 10, 3, 0);
        expect(rig, 0, RM_STREAM_ACCEPTED, 10);
        for (unsigned i = 0; i < votes; ++i)
            rig_send_all(rig, turns[k / 3]);
        assert_null(rig_poll(rig));
        expect(rig, 0, RM_STREAM_TURN_OUT_OF_RANGE, 2 * votes);
        expect(rig, 0, RM_STREAM_TURN_EPOCHS, 0);
        expect_nobody_refused(rig);
        rig_free(rig);
    }
}

/** A counter runs to the end of turns, of every record and of every 120th, and begins again at 0 after a silence. */
static void the_last_turns_are_stored_and_the_first_follow(void **state) {
    (void)state;
    for (uint64_t period = 1; period <= 120; period += 119) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 2, .period = period});
        rm_turn const first = (RM_TURN_END / period - LEARNT) * period, last = first + (LEARNT - 1) * period;
        for (uint64_t i = 0; i < LEARNT + 100; ++i) {
            rig_set_tsc(rig_tsc_of(START + i * period));
            rig_send_all(rig, first + i * period);
            assert_null(rig_poll(rig));
        }
        rig_set_tsc(rig_tsc_of(START + 10000000));
        assert_null(rig_idle(rig));
        for (uint32_t i = 0; i < 2; ++i) {
            uint64_t const beyond = rig_count(rig, i, RM_STREAM_TURN_OUT_OF_RANGE);
            assert_int_equal(beyond, period == 1 ? 100 : 99); // 2^62 is no multiple of 120
            expect(rig, i, RM_STREAM_ACCEPTED, LEARNT + 100 - beyond);
            assert_true(rig_shows(rig, i, last));
            assert_in_range(rig_head(rig, i), last, RM_TURN_END - 1);
        }
        for (uint64_t i = 0; i < LEARNT; ++i) {
            rig_set_tsc(rig_tsc_of(START + 10000000 + i * period));
            rig_send_all(rig, i * period);
            assert_null(rig_poll(rig));
        }
        for (uint32_t i = 0; i < 2; ++i) {
            expect(rig, i, RM_STREAM_TURN_EPOCHS, 1);
            assert_true(rig_shows(rig, i, (LEARNT - 1) * period));
        }
        rig_free(rig);
    }
}

static void a_turn_before_zero_is_out_of_range(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 2});
    rig->instrument[0]->counting.offset_turns = -100;
    for (rm_turn turn = 0; turn < 200; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        rig_send_all(rig, turn);
        assert_null(rig_poll(rig));
    }
    expect_nobody_refused(rig);
    expect(rig, 0, RM_STREAM_TURN_OUT_OF_RANGE, 100);
    expect(rig, 0, RM_STREAM_ACCEPTED, 100);
    expect(rig, 1, RM_STREAM_ACCEPTED, 200);
    assert_true(rig_shows(rig, 0, 99));
    rig_free(rig);
}

static void turn_offsets_shift_both_ways(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    rig->instrument[0]->counting.offset_turns = 70000;
    rig->instrument[2]->counting.offset_turns = -70000;
    for (rm_turn turn = START; turn < START + 100; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        rig_send(rig, 0, turn - 70000);
        rig_send(rig, 1, turn);
        rig_send(rig, 2, turn + 70000);
        assert_null(rig_poll(rig));
    }
    expect_nobody_refused(rig);
    for (uint32_t i = 0; i < 3; ++i)
        for (rm_turn turn = START; turn < START + 100; ++turn)
            assert_true(rig_shows(rig, i, turn));
    rig_free(rig);
}

static void a_silent_instrument_is_followed_and_comes_back(void **state) {
    (void)state;
    uint64_t const silence = 20000;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 2, .silence_turns = silence});
    run(rig, START, LEARNT, 3, 0);
    rm_turn const last = START + LEARNT - 1;
    run(rig, last + 1, silence, 1, 0);
    assert_int_equal(rig_head(rig, 1), last);
    run(rig, last + 1 + silence, 5 * RIG_FOLLOW_TURNS, 1, 0);
    rm_turn const now = last + silence + 5 * RIG_FOLLOW_TURNS;
    rm_turn const head = rig_head(rig, 1);
    assert_in_range(now - head, silence, silence + RIG_FOLLOW_TURNS + 2);
    expect(rig, 1, RM_STREAM_SKIPPED, head - last);
    expect(rig, 1, RM_STREAM_ACCEPTED, LEARNT);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_STREAMS_LIVE), 2);
    /* Decimated streams follow too, to outputs that would have closed by then. */
    uint64_t const closing[RIG_RATES] = {11, 107, 107 + 12 * 89, 11 + 12 * 9 + 120 * 9};
    for (unsigned i = 0; i < RIG_RATES; ++i) {
        struct rm_stream_writer const *writer = &rig->instrument[1]->rates.writer[i];
        rm_turn const closed = atomic_load(&writer->stream->head) + closing[i];
        assert_in_range(head - closed, 0, writer->period);
    }

    run(rig, now + 1, 1000, 3, 0);
    expect(rig, 1, RM_STREAM_ACCEPTED, LEARNT + 1000);
    expect(rig, 1, RM_STREAM_SKIPPED, now - last);
    expect(rig, 1, RM_STREAM_OUT_OF_ORDER, 0);
    expect(rig, 1, RM_STREAM_FAST_MISSING, 0);
    assert_true(rig_shows(rig, 1, now + 1));
    expect_nobody_refused(rig);
    for (unsigned i = 0; i < RIG_RATES; ++i)
        assert_int_equal(rig->instrument[0]->rates.writer[i].head, rig->instrument[1]->rates.writer[i].head);
    rig_free(rig);
}

static void live_streams_are_counted(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    run(rig, START + LEARNT, 12 * RIG_FOLLOW_TURNS, 5, 0);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_STREAMS_LIVE), 2);
    rig_free(rig);
}

/** The instruments themselves stand still for a while, and count on from where they were. */
static void a_pause_leaves_nobody_behind(void **state) {
    (void)state;
    uint64_t const pause[] = {1000, 100000, 300000, 5000000};
    for (unsigned k = 0; k < sizeof pause / sizeof pause[0]; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
        run(rig, START, LEARNT, 7, 0);
        rm_turn const back = START + LEARNT + pause[k];
        for (rm_turn turn = START + LEARNT; turn < back; turn += RIG_FOLLOW_TURNS) {
            rig_set_tsc(rig_tsc_of(turn));
            assert_null(rig_idle(rig));
        }
        run(rig, back, 400000, 7, -(int64_t)pause[k]);
        expect_nobody_refused(rig);
        for (uint32_t i = 0; i < 3; ++i) {
            expect(rig, i, RM_STREAM_ACCEPTED, LEARNT + 400000);
            expect(rig, i, RM_STREAM_SKIPPED, 0);
            expect(rig, i, RM_STREAM_OUT_OF_ORDER, 0);
        }
        /* And the clock is right again. */
        rm_turn const last = START + LEARNT + 400000 - 1;
        assert_in_range(rm_turn_gate_now(&rig->receive.gate, rm_tsc()) + 10, last + 9, last + 11);
        rig_free(rig);
    }
}

/** All are early in one burst, one of them wildly: the clock goes to where the others are. */
static void an_early_majority_is_believed(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    rm_turn const early = START + LEARNT + 1000;
    rig_send(rig, 0, early);
    rig_send(rig, 1, early);
    rig_send(rig, 2, early + 1000);
    assert_null(rig_poll(rig));
    assert_int_equal(rm_turn_gate_now(&rig->receive.gate, rm_tsc()), early);
    expect_nobody_refused(rig);
    rig_free(rig);
}

static void the_clock_is_published(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 2});
    struct rm_clock_reading reading;
    assert_null(rig_idle(rig));
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_false(reading.anchored);
    run(rig, START, 2 * LEARNT, 3, 0);
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_true(reading.anchored);
    assert_int_equal(reading.turn_epoch, 0);
    assert_float_equal(reading.ticks_per_turn, RIG_TICKS_PER_TURN, 0.01);
    assert_float_equal(reading.residual_ticks, 0.0, 1.0);
    assert_float_equal(reading.tsc_hz, 1e9, 0.0);
    rm_turn const turn = rm_clock_turn(&reading, rig_tsc_of(START + 100000) + RIG_TICKS_PER_TURN / 2);
    assert_in_range(turn, START + 100000 - 1, START + 100000 + 1);
    assert_in_range(rm_tsc() - reading.tai_tsc, 0, RIG_FOLLOW_TURNS * RIG_TICKS_PER_TURN);
    assert_true(reading.tai_ns > 1500000000ull * 1000000000u);

    run(rig, START + 2 * LEARNT, 2 * LEARNT, 3, -(int64_t)START);
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_int_equal(reading.turn_epoch, 1);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(late_twice_and_behind),
        cmocka_unit_test(a_wild_turn_disturbs_nobody),
        cmocka_unit_test(a_turn_out_of_range_never_starts_anything),
        cmocka_unit_test(the_last_turns_are_stored_and_the_first_follow),
        cmocka_unit_test(a_turn_before_zero_is_out_of_range),
        cmocka_unit_test(turn_offsets_shift_both_ways),
        cmocka_unit_test(a_silent_instrument_is_followed_and_comes_back),
        cmocka_unit_test(live_streams_are_counted),
        cmocka_unit_test(a_pause_leaves_nobody_behind),
        cmocka_unit_test(an_early_majority_is_believed),
        cmocka_unit_test(the_clock_is_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
