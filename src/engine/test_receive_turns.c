// SPDX-License-Identifier: Apache-2.0
/** The receive role and turns: late, twice, wild, restarted, silent. Time is 1 µs per turn throughout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"

enum {

    LEARNT = 30000, /**< turns after which the turn clock has its full windows */
};

static rm_turn const START = 1000000;

/** Sends `turns` turns from `first` on, promptly, from those instruments whose bit in `mask` is set, each `shift` turns
 * away from the time it is sent at. */
static void run(struct rig *rig, rm_turn first, uint64_t turns, uint32_t mask, int64_t shift) {
    for (rm_turn turn = first; turn < first + turns; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        for (uint32_t i = 0; i < rig->config.instruments; ++i)
            if (mask >> i & 1)
                rig_send(rig, i, turn + (uint64_t)shift);
        assert_null(rig_poll(rig));
    }
}

static void expect(struct rig const *rig, uint32_t index, enum rm_stream_counter counter, uint64_t value) {
    if (rig_count(rig, index, counter) != value)
        fail_msg("instrument %u: counter %d is %llu, not %llu", index, counter,
                 (unsigned long long)rig_count(rig, index, counter), (unsigned long long)value);
}

static void expect_refusals(struct rig const *rig, uint32_t index, uint64_t ahead, uint64_t behind) {
    expect(rig, index, RM_STREAM_TURN_AHEAD, ahead);
    expect(rig, index, RM_STREAM_TURN_BEHIND, behind);
}

static void expect_nobody_refused(struct rig const *rig) {
    for (uint32_t i = 0; i < rig->config.instruments; ++i)
        expect_refusals(rig, i, 0, 0);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 1);
}

static void late_twice_and_behind(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.late_turns = 64});
    run(rig, START, 10, 1, 0);
    rm_turn const order[] = {START + 12, START + 11, START + 11, START + 12, START + 10, START + 3, START - 1};
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; ++i)
        rig_send(rig, 0, order[i]);
    assert_null(rig_poll(rig));
    expect(rig, 0, RM_STREAM_ACCEPTED, 11);
    expect(rig, 0, RM_STREAM_LATE, 2);
    expect(rig, 0, RM_STREAM_DUPLICATE, 3);
    expect(rig, 0, RM_STREAM_PASSED_OVER, 2);
    expect_refusals(rig, 0, 0, 1);
    for (rm_turn turn = START; turn <= START + 12; ++turn)
        assert_true(rig_shows(rig, 0, turn));

    run(rig, START + 14, 63, 1, 0); /* START + 13 is missing, and now 63 behind the head */
    rig_send(rig, 0, START + 13);
    assert_null(rig_poll(rig));
    expect(rig, 0, RM_STREAM_LATE, 3);
    run(rig, START + 78, 64, 1, 0); /* START + 77 is missing, and now 64 behind */
    rig_send(rig, 0, START + 77);
    assert_null(rig_poll(rig));
    expect(rig, 0, RM_STREAM_LATE, 3);
    expect_refusals(rig, 0, 0, 2);
    assert_false(rig_shows(rig, 0, START + 77));
    rig_free(rig);
}

/** One wild turn among good ones: refused by its counter, and nobody else's business. */
static void expect_wild(rm_turn wild, uint64_t ahead, uint64_t behind) {
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    rig_send(rig, 1, wild);
    assert_null(rig_poll(rig));
    run(rig, START + LEARNT, 100, 7, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        expect(rig, i, RM_STREAM_ACCEPTED, LEARNT + 100);
        expect(rig, i, RM_STREAM_PASSED_OVER, 0);
        expect(rig, i, RM_STREAM_EPOCHS, 0);
        expect_refusals(rig, i, i == 1 ? ahead : 0, i == 1 ? behind : 0);
        assert_int_equal(rig_head(rig, i), START + LEARNT + 99);
    }
    rig_free(rig);
}

static void a_wild_turn_disturbs_nobody(void **state) {
    (void)state;
    rm_turn const now = START + LEARNT - 1;
    expect_wild(now + 2048 + 2, 1, 0);
    expect_wild(now + (1u << 20), 1, 0);
    expect_wild(1ull << 62, 1, 0);
    expect_wild(RM_TURN_NONE - 1, 1, 0);
    expect_wild(RM_TURN_NONE, 1, 0);
    expect_wild(now - (1u << 18) - 2, 0, 1);
    expect_wild(0, 0, 1);
}

static void no_turn_never_starts_anything(void **state) {
    (void)state;
    int64_t const offset[] = {0, 5, -5};
    for (unsigned k = 0; k < 3; ++k) {
        struct rig *rig = rig_make(&(struct rig_config){.instruments = 2});
        rig->instrument[0]->turn_offset = rig->instrument[1]->turn_offset = offset[k];
        for (unsigned i = 0; i < 10 * RM_GATE_VOTE_RUN; ++i)
            rig_send_all(rig, RM_TURN_NONE);
        assert_null(rig_poll(rig));
        expect_refusals(rig, 0, 10 * RM_GATE_VOTE_RUN, 0);
        assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 0);
        run(rig, START, 10, 3, 0);
        expect(rig, 0, RM_STREAM_ACCEPTED, 10);
        for (unsigned i = 0; i < 10 * RM_GATE_VOTE_RUN; ++i)
            rig_send_all(rig, RM_TURN_NONE);
        assert_null(rig_poll(rig));
        expect(rig, 0, RM_STREAM_EPOCHS, 0);
        assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 1);
        rig_free(rig);
    }
}

static void a_turn_before_zero_is_behind(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 2});
    rig->instrument[0]->turn_offset = -100;
    for (rm_turn turn = 0; turn < 200; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        rig_send_all(rig, turn);
        assert_null(rig_poll(rig));
    }
    expect_refusals(rig, 0, 0, 100);
    expect_refusals(rig, 1, 0, 0);
    expect(rig, 0, RM_STREAM_ACCEPTED, 100);
    expect(rig, 1, RM_STREAM_ACCEPTED, 200);
    assert_true(rig_shows(rig, 0, 99));
    rig_free(rig);
}

static void turn_offsets_shift_both_ways(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
    rig->instrument[0]->turn_offset = 70000;
    rig->instrument[2]->turn_offset = -70000;
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

static void one_restarted_instrument_is_refused_for_ever(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    for (rm_turn turn = START + LEARNT; turn < START + 4 * LEARNT; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        rig_send(rig, 0, turn);
        rig_send(rig, 1, turn - START - LEARNT);
        rig_send(rig, 2, turn);
        assert_null(rig_poll(rig));
    }
    expect_refusals(rig, 0, 0, 0);
    expect_refusals(rig, 1, 0, 3 * LEARNT);
    expect_refusals(rig, 2, 0, 0);
    expect(rig, 0, RM_STREAM_ACCEPTED, 4 * LEARNT);
    expect(rig, 2, RM_STREAM_ACCEPTED, 4 * LEARNT);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 1);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_VOTES), 1);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_NEEDED), 2);
    /* It comes to its senses: nobody votes any more. */
    run(rig, START + 4 * LEARNT, 2 * RIG_FOLLOW_TURNS, 7, 0);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_VOTES), 0);
    rig_free(rig);
}

static void a_restarted_machine_begins_a_new_epoch(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 5, .queues = 2});
    run(rig, START, LEARNT, 31, 0);
    run(rig, START + LEARNT, 1000, 31, -(int64_t)(START + LEARNT));
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 2);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_VOTES), 0);
    assert_int_equal(rig->receive.gate.machine_epoch, 1);
    for (uint32_t i = 0; i < 5; ++i) {
        struct rm_stream_view const view = rig_view(&rig->instrument[i]->writer);
        rm_turn const first = atomic_load(&view.header->first);
        expect(rig, i, RM_STREAM_EPOCHS, 1);
        assert_int_equal(atomic_load(&view.header->machine_epoch), 1);
        assert_in_range(first, RM_GATE_VOTE_RUN - 1, RM_GATE_VOTE_RUN);
        expect_refusals(rig, i, 0, first);
        assert_int_equal(rig_head(rig, i), 999);
        struct rm_record record;
        for (rm_turn turn = first; turn < 1000; ++turn)
            assert_true(rig_shows(rig, i, turn));
        assert_int_equal(rm_stream_read(&view, first - 1, &record), RM_READ_BEFORE);
        assert_int_equal(rm_stream_read(&view, START + LEARNT - 1, &record), RM_READ_NOT_YET);
    }
    rig_free(rig);
}

/** The ring is full of turns from `first` on when, after a restart at 0, some of them come again: the others must not
 * be found. `epochs` is how many restarts that is taken for. */
static void expect_no_old_data(rm_turn first, uint64_t epochs) {
    rm_turn const again = first + 4200;
    struct rig *rig =
        rig_make(&(struct rig_config){.instruments = 2, .capacity = 4096, .late_turns = 1024, .ahead_turns = 1024});
    run(rig, first, 8192, 3, 0);
    run(rig, first + 8192, 50, 3, -(int64_t)(first + 8192));
    for (uint32_t i = 0; i < 300; ++i) {
        rig_set_tsc(rig_tsc_of(first + 9000 + 9 * i));
        rig_send_all(rig, again + 9 * i);
        assert_null(rig_poll(rig));
    }
    assert_int_equal(rig->receive.gate.machine_epoch, epochs);
    for (uint32_t index = 0; index < 2; ++index) {
        struct rm_stream_view const view = rig_view(&rig->instrument[index]->writer);
        assert_int_equal(rig_head(rig, index), again + 9 * 299);
        struct rm_record record;
        for (rm_turn turn = again + 9 * RM_GATE_VOTE_RUN; turn <= rig_head(rig, index); ++turn)
            assert_int_equal(rm_stream_read(&view, turn, &record),
                             (turn - again) % 9 == 0 ? RM_READ_OK : RM_READ_MISSING);
    }
    rig_free(rig);
}

static void old_data_is_never_shown_as_new(void **state) {
    (void)state;
    expect_no_old_data(500000, 1);   /* from 50 to 504200 in no time: taken for an outage */
    expect_no_old_data(70000000, 2); /* more than a minute's turns */
}

/** A minority goes on with the old turns, in the very bursts that bring the new ones. */
static void a_minority_does_not_drag_the_new_epoch_back(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 5});
    run(rig, START, LEARNT, 31, 0);
    for (rm_turn turn = 0; turn < 500; ++turn) {
        rig_set_tsc(rig_tsc_of(START + LEARNT + turn));
        rig_send(rig, 0, START + LEARNT + turn);
        for (uint32_t i = 1; i < 5; ++i)
            rig_send(rig, i, turn);
        rig_send(rig, 0, START + LEARNT + turn);
        assert_null(rig_poll(rig));
    }
    assert_int_equal(rig->receive.gate.machine_epoch, 1);
    assert_in_range(rig->receive.gate.newest, 498, 499);
    assert_in_range(rm_turn_gate_now(&rig->receive.gate, rm_tsc()), 498, 500);
    for (uint32_t i = 1; i < 5; ++i)
        assert_int_equal(rig_head(rig, i), 499);
    expect(rig, 0, RM_STREAM_EPOCHS, 1);
    assert_int_equal(rig_head(rig, 0), RM_TURN_NONE);
    rig_free(rig);
}

static void a_wild_first_turn_is_outvoted(void **state) {
    (void)state;
    rm_turn const wild[] = {0, 3, START + 5000000, 1ull << 60};
    for (unsigned k = 0; k < sizeof wild / sizeof wild[0]; ++k) {
        struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
        rig_set_tsc(rig_tsc_of(START));
        rig_send(rig, 2, wild[k]);
        assert_null(rig_poll(rig));
        run(rig, START, 100, 7, 0);
        for (uint32_t i = 0; i < 3; ++i) {
            assert_int_equal(rig_head(rig, i), START + 99);
            assert_true(rig_count(rig, i, RM_STREAM_ACCEPTED) >= 100 - RM_GATE_VOTE_RUN);
            expect(rig, i, RM_STREAM_EPOCHS, 1);
        }
        rig_free(rig);
    }
}

static void a_configured_quorum_is_kept(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 5, .quorum = 4});
    run(rig, START, LEARNT, 31, 0);
    for (rm_turn turn = 0; turn < 500; ++turn) {
        rig_set_tsc(rig_tsc_of(START + LEARNT + turn));
        for (uint32_t i = 0; i < 5; ++i)
            rig_send(rig, i, i < 3 ? turn : START + LEARNT + turn);
        assert_null(rig_poll(rig));
    }
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 1);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_VOTES), 3);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_NEEDED), 4);
    rig_free(rig);
}

static void a_silent_instrument_is_followed_and_comes_back(void **state) {
    (void)state;
    uint64_t const silence = 20000;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 2, .silence_turns = silence});
    run(rig, START, LEARNT, 3, 0);
    rm_turn const last = START + LEARNT - 1;
    run(rig, last + 1, silence, 1, 0);
    assert_int_equal(rig_head(rig, 1), last);
    run(rig, last + 1 + silence, 5 * RIG_FOLLOW_TURNS, 1, 0);
    rm_turn const now = last + silence + 5 * RIG_FOLLOW_TURNS;
    rm_turn const head = rig_head(rig, 1);
    assert_in_range(now - head, silence, silence + RIG_FOLLOW_TURNS + 2);
    expect(rig, 1, RM_STREAM_PASSED_OVER, head - last);
    expect(rig, 1, RM_STREAM_ACCEPTED, LEARNT);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_STREAMS_LIVE), 2);
    /* Decimated streams follow too, to outputs that would have closed by then. */
    for (unsigned i = 0; i < RM_CHAINS; ++i) {
        struct rm_chain const *chain = &rig->instrument[1]->chain[i];
        rm_turn const closed = atomic_load(&chain->writer.stream->head) + chain->decimator.design->centre;
        assert_in_range(head - closed, 0, chain->decimator.design->decimation);
    }

    run(rig, now + 1, 1000, 3, 0);
    expect(rig, 1, RM_STREAM_ACCEPTED, LEARNT + 1000);
    expect(rig, 1, RM_STREAM_PASSED_OVER, now - last);
    expect(rig, 1, RM_STREAM_LATE, 0);
    expect(rig, 1, RM_STREAM_FAST_MISSING, 0);
    assert_true(rig_shows(rig, 1, now + 1));
    expect_nobody_refused(rig);
    for (unsigned i = 0; i < RM_CHAINS; ++i)
        assert_int_equal(rig->instrument[0]->chain[i].writer.head, rig->instrument[1]->chain[i].writer.head);
    rig_free(rig);
}

static void live_streams_are_counted(void **state) {
    (void)state;
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    run(rig, START + LEARNT, 12 * RIG_FOLLOW_TURNS, 5, 0);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_STREAMS_LIVE), 2);
    rig_free(rig);
}

/** The link is down for a while; the instruments have counted on. */
static void an_outage_is_loss_and_no_new_epoch(void **state) {
    (void)state;
    uint64_t const outage[] = {1000, 100000, 300000, 5000000};
    for (unsigned k = 0; k < sizeof outage / sizeof outage[0]; ++k) {
        struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
        run(rig, START, LEARNT, 7, 0);
        rm_turn const back = START + LEARNT + outage[k];
        for (rm_turn turn = START + LEARNT; turn < back; turn += RIG_FOLLOW_TURNS) {
            rig_set_tsc(rig_tsc_of(turn));
            assert_null(rig_idle(rig));
        }
        run(rig, back, LEARNT, 7, 0);
        expect_nobody_refused(rig);
        for (uint32_t i = 0; i < 3; ++i) {
            expect(rig, i, RM_STREAM_ACCEPTED, 2 * LEARNT);
            expect(rig, i, RM_STREAM_PASSED_OVER, outage[k]);
            assert_int_equal(rig_head(rig, i), back + LEARNT - 1);
        }
        rig_free(rig);
    }
}

/** The instruments themselves stand still for a while, and count on from where they were. */
static void a_pause_leaves_nobody_behind(void **state) {
    (void)state;
    uint64_t const pause[] = {1000, 100000, 300000, 5000000};
    for (unsigned k = 0; k < sizeof pause / sizeof pause[0]; ++k) {
        struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
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
            expect(rig, i, RM_STREAM_PASSED_OVER, 0);
            expect(rig, i, RM_STREAM_LATE, 0);
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
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 3});
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
    struct rig *rig = rig_make(&(struct rig_config){.instruments = 2});
    struct rm_clock_reading reading;
    assert_null(rig_idle(rig));
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_false(reading.anchored);
    run(rig, START, 2 * LEARNT, 3, 0);
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_true(reading.anchored);
    assert_int_equal(reading.machine_epoch, 0);
    assert_float_equal(reading.ticks_per_turn, RIG_TICKS_PER_TURN, 0.01);
    assert_float_equal(reading.residual_ticks, 0.0, 1.0);
    assert_float_equal(reading.tsc_hz, 1e9, 0.0);
    rm_turn const turn = rm_clock_turn(&reading, rig_tsc_of(START + 100000) + RIG_TICKS_PER_TURN / 2);
    assert_in_range(turn, START + 100000 - 1, START + 100000 + 1);
    assert_in_range(rm_tsc() - reading.tai_tsc, 0, RIG_FOLLOW_TURNS * RIG_TICKS_PER_TURN);
    assert_true(reading.tai_ns > 1500000000ull * 1000000000u);

    run(rig, START + 2 * LEARNT, 2 * LEARNT, 3, -(int64_t)START);
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_int_equal(reading.machine_epoch, 1);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(late_twice_and_behind),
        cmocka_unit_test(a_wild_turn_disturbs_nobody),
        cmocka_unit_test(no_turn_never_starts_anything),
        cmocka_unit_test(a_turn_before_zero_is_behind),
        cmocka_unit_test(turn_offsets_shift_both_ways),
        cmocka_unit_test(one_restarted_instrument_is_refused_for_ever),
        cmocka_unit_test(a_restarted_machine_begins_a_new_epoch),
        cmocka_unit_test(old_data_is_never_shown_as_new),
        cmocka_unit_test(a_minority_does_not_drag_the_new_epoch_back),
        cmocka_unit_test(a_wild_first_turn_is_outvoted),
        cmocka_unit_test(a_configured_quorum_is_kept),
        cmocka_unit_test(a_silent_instrument_is_followed_and_comes_back),
        cmocka_unit_test(live_streams_are_counted),
        cmocka_unit_test(an_outage_is_loss_and_no_new_epoch),
        cmocka_unit_test(a_pause_leaves_nobody_behind),
        cmocka_unit_test(an_early_majority_is_believed),
        cmocka_unit_test(the_clock_is_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
