// SPDX-License-Identifier: Apache-2.0
/** The receive role and machines that start again: when a new turn-counter epoch begins, and when not. */
#include "engine/test_receive_steps.h"

static void one_restarted_instrument_is_refused_for_ever(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
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
    /* It comes to its senses: no instrument votes any more. */
    run(rig, START + 4 * LEARNT, 2 * RIG_FOLLOW_TURNS, 7, 0);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_VOTES), 0);
    rig_free(rig);
}

static void a_restarted_machine_begins_a_new_epoch(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 5, .queues = 2});
    run(rig, START, LEARNT, 31, 0);
    run(rig, START + LEARNT, 1000, 31, -(int64_t)(START + LEARNT));
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 2);
    assert_int_equal(rig_clock_count(rig, RM_CLOCK_QUORUM_VOTES), 0);
    assert_int_equal(rig->receive.gate.turn_epoch, 1);
    for (uint32_t i = 0; i < 5; ++i) {
        struct rm_stream_view const view = rig_view(&rig->instrument[i]->writer);
        rm_turn const first = atomic_load(&view.header->first);
        expect(rig, i, RM_STREAM_TURN_EPOCHS, 1);
        assert_int_equal(atomic_load(&view.header->turn_epoch), 1);
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
    struct receive_rig *rig = rig_make(
        &(struct receive_rig_config){.instruments = 2, .capacity = 4096, .late_turns = 1024, .ahead_turns = 1024});
    run(rig, first, 8192, 3, 0);
    run(rig, first + 8192, 50, 3, -(int64_t)(first + 8192));
    for (uint32_t i = 0; i < 300; ++i) {
        rig_set_tsc(rig_tsc_of(first + 9000 + 9 * i));
        rig_send_all(rig, again + 9 * i);
        assert_null(rig_poll(rig));
    }
    assert_int_equal(rig->receive.gate.turn_epoch, epochs);
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
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 5});
    run(rig, START, LEARNT, 31, 0);
    for (rm_turn turn = 0; turn < 500; ++turn) {
        rig_set_tsc(rig_tsc_of(START + LEARNT + turn));
        rig_send(rig, 0, START + LEARNT + turn);
        for (uint32_t i = 1; i < 5; ++i)
            rig_send(rig, i, turn);
        rig_send(rig, 0, START + LEARNT + turn);
        assert_null(rig_poll(rig));
    }
    assert_int_equal(rig->receive.gate.turn_epoch, 1);
    assert_in_range(rig->receive.gate.newest, 498, 499);
    assert_in_range(rm_turn_gate_now(&rig->receive.gate, rm_tsc()), 498, 500);
    for (uint32_t i = 1; i < 5; ++i)
        assert_int_equal(rig_head(rig, i), 499);
    expect(rig, 0, RM_STREAM_TURN_EPOCHS, 1);
    assert_int_equal(rig_head(rig, 0), RM_TURN_NONE);
    rig_free(rig);
}

static void a_wild_first_turn_is_outvoted(void **state) {
    (void)state;
    rm_turn const wild[] = {0, 3, START + 5000000, 1ull << 60};
    for (unsigned k = 0; k < sizeof wild / sizeof wild[0]; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
        rig_set_tsc(rig_tsc_of(START));
        rig_send(rig, 2, wild[k]);
        assert_null(rig_poll(rig));
        run(rig, START, 100, 7, 0);
        for (uint32_t i = 0; i < 3; ++i) {
            assert_int_equal(rig_head(rig, i), START + 99);
            assert_true(rig_count(rig, i, RM_STREAM_ACCEPTED) >= 100 - RM_GATE_VOTE_RUN);
            expect(rig, i, RM_STREAM_TURN_EPOCHS, 1);
        }
        rig_free(rig);
    }
}

static void a_configured_quorum_is_kept(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 5, .quorum = 4});
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

/** The link is down for a while; the instruments have counted on. */
static void an_outage_is_loss_and_no_new_epoch(void **state) {
    (void)state;
    uint64_t const outage[] = {1000, 100000, 300000, 5000000};
    for (unsigned k = 0; k < sizeof outage / sizeof outage[0]; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
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
            expect(rig, i, RM_STREAM_SKIPPED, outage[k]);
            assert_int_equal(rig_head(rig, i), back + LEARNT - 1);
        }
        rig_free(rig);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(one_restarted_instrument_is_refused_for_ever),
        cmocka_unit_test(a_restarted_machine_begins_a_new_epoch),
        cmocka_unit_test(old_data_is_never_shown_as_new),
        cmocka_unit_test(a_minority_does_not_drag_the_new_epoch_back),
        cmocka_unit_test(a_wild_first_turn_is_outvoted),
        cmocka_unit_test(a_configured_quorum_is_kept),
        cmocka_unit_test(an_outage_is_loss_and_no_new_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
