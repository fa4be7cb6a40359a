// SPDX-License-Identifier: Apache-2.0
/** The receive role's clock among liars, and after everything stood still. Time is 1 µs per turn throughout. */
#include "base/timebase.h"
#include "engine/test_receive_steps.h"

/** Where the clock stands, less where the honest instruments stand. */
static int64_t clock_phase_error(struct receive_rig const *rig, rm_turn honest) {
    return (int64_t)(rm_turn_gate_now(&rig->receive.gate, rm_tsc()) - honest);
}

/** Honest instruments, and one whose turns lie `lead(n)` above theirs n turns after LEARNT. */
static void run_with_liar(struct receive_rig *rig, uint64_t turns, double rate, int64_t most) {
    uint32_t const liar = rig->config.instruments - 1;
    for (uint64_t n = 0; n < turns; ++n) {
        rm_turn const turn = START + LEARNT + n;
        int64_t const off = (int64_t)(rate * (double)n);
        rig_set_tsc(rig_tsc_of(turn));
        rig_send(rig, liar, turn + (uint64_t)((off < 0 ? -off : off) < (most < 0 ? -most : most) ? off : most));
        assert_null(rig_poll(rig)); /* alone in its burst */
        for (uint32_t i = 0; i < liar; ++i)
            rig_send(rig, i, turn);
        assert_null(rig_poll(rig));
    }
}

/** A liar that gains on the others: slowly, so that it could take the clock along; or in one leap. */
static void a_liar_ahead_does_not_pull_the_clock(void **state) {
    (void)state;
    static struct {
        double rate;
        int64_t most;
        uint64_t turns;
    } const lie[] = {{0.001, 1000, 300000}, {0.01, 200, 50000}, {0.05, 2000, 50000},
                     {1.0, 20000, 50000},   {1e6, 1000, 50000}, {1e6, 1000000, 50000}};
    for (unsigned k = 0; k < sizeof lie / sizeof lie[0]; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
        run(rig, START, LEARNT, 7, 0);
        run_with_liar(rig, lie[k].turns, lie[k].rate, lie[k].most);
        int64_t const phase_error = clock_phase_error(rig, START + LEARNT + lie[k].turns - 1);
        if (phase_error < -2 || phase_error > RM_GATE_FAR + 20)
            fail_msg("rate %g up to %lld: the clock is %lld turns ahead", lie[k].rate, (long long)lie[k].most,
                     (long long)phase_error);
        for (uint32_t i = 0; i < 2; ++i) {
            expect_refusals(rig, i, 0, 0);
            expect(rig, i, RM_STREAM_ACCEPTED, LEARNT + lie[k].turns);
            expect(rig, i, RM_STREAM_TURN_EPOCHS, 0);
        }
        rig_free(rig);
    }
}

static void a_liar_behind_does_not_pull_the_clock(void **state) {
    (void)state;
    uint64_t const turns = 270000; /* a lost clock is stepped after 250 000 */
    int64_t const most[] = {-200, -3000, -1000000};
    for (unsigned m = 0; m < sizeof most / sizeof most[0]; ++m) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
        run(rig, START, LEARNT, 7, 0);
        run_with_liar(rig, turns, -0.9, most[m]);
        assert_in_range(clock_phase_error(rig, START + LEARNT + turns - 1) + 2, 0, 4);
        for (uint32_t i = 0; i < 2; ++i) {
            expect_refusals(rig, i, 0, 0);
            expect(rig, i, RM_STREAM_ACCEPTED, LEARNT + turns);
        }
        assert_int_equal(rig->receive.gate.turn_epoch, 0);
        rig_free(rig);
    }
}

/** An outlier takes the general path; once back among the others, the fast path again. */
static void an_outlier_is_heard_again_when_it_comes_back(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    run(rig, START, LEARNT, 7, 0);
    run_with_liar(rig, 50000, 1e6, 1000);
    assert_true(rig->instrument[2]->vote.outlier);
    assert_int_equal(rig->instrument[2]->fast_path.frame_bytes, UINT32_MAX);
    run(rig, START + LEARNT + 50000, 3 * RIG_FOLLOW_TURNS, 7, 0);
    assert_false(rig->instrument[2]->vote.outlier);
    assert_int_equal(rig->instrument[2]->fast_path.frame_bytes, rig->instrument[0]->fast_path.frame_bytes);
    expect(rig, 2, RM_STREAM_TURN_EPOCHS, 0);
    rig_free(rig);
}

/** Nothing came for a while, and to the clock it was no time at all; then all are far ahead at once. */
static void leap(uint32_t instruments, uint32_t slow, uint64_t turns, uint64_t refused) {
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = instruments});
    run(rig, START, LEARNT, UINT32_MAX >> (32 - instruments), 0);
    rm_turn const back = START + LEARNT + turns;
    for (rm_turn turn = back; turn < back + 1000; ++turn) {
        rig_set_tsc(rig_tsc_of(turn - turns));
        for (uint32_t i = 0; i < instruments; ++i)
            if (i >= slow || turn % 100 == 0)
                rig_send(rig, i, turn);
        assert_null(rig_poll(rig));
    }
    for (uint32_t i = 0; i < instruments; ++i) {
        if (rig_count(rig, i, RM_STREAM_TURN_AHEAD) != refused || rig_count(rig, i, RM_STREAM_TURN_EPOCHS) != 0)
            fail_msg("%u instruments, %llu turns: %llu refused", instruments, (unsigned long long)turns,
                     (unsigned long long)rig_count(rig, i, RM_STREAM_TURN_AHEAD));
        expect(rig, i, RM_STREAM_ACCEPTED, LEARNT - refused + (i < slow ? 10 : 1000));
        expect(rig, i, RM_STREAM_TURN_BEHIND, 0);
    }
    assert_in_range(clock_phase_error(rig, back + 999) + 2, 0, 4);
    rig_free(rig);
}

static void when_all_are_ahead_the_clock_is_behind(void **state) {
    (void)state;
    uint64_t const turns[] = {300, 2000, 2100, 20000, 1000000, 50000000};
    for (unsigned k = 0; k < sizeof turns / sizeof turns[0]; ++k) {
        leap(2, 0, turns[k], 0);
        leap(3, 0, turns[k], 0);
        leap(9, 6, turns[k], 0); /* most send a record now and then only */
    }
    leap(24, 0, 20000, 0);
    /* One alone is believed when it has said so sixteen times; in one burst that costs nothing. */
    leap(1, 0, 20000, RM_GATE_VOTE_RUN - 1);
}

static void one_alone_is_believed_within_a_burst(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 1});
    run(rig, START, LEARNT, 1, 0);
    for (rm_turn turn = START + LEARNT + 20000; turn < START + LEARNT + 20064; ++turn)
        rig_send(rig, 0, turn);
    assert_null(rig_poll(rig));
    expect_refusals(rig, 0, 0, 0);
    expect(rig, 0, RM_STREAM_ACCEPTED, LEARNT + 64);
    expect(rig, 0, RM_STREAM_OUT_OF_ORDER, 0);
    rig_free(rig);
}

/** They come in bursts of two, the one half of them before the other. */
static void small_bursts_cost_few(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 8});
    run(rig, START, LEARNT, 255, 0);
    for (rm_turn turn = START + LEARNT; turn < START + LEARNT + 1000; ++turn) {
        for (uint32_t i = 0; i < 8; i += 2) {
            rig_set_tsc(rig_tsc_of(turn) + i);
            rig_send(rig, i, turn + 20000);
            rig_send(rig, i + 1, turn + 20000);
            assert_null(rig_poll(rig));
        }
    }
    uint64_t refused = 0;
    for (uint32_t i = 0; i < 8; ++i)
        refused += rig_count(rig, i, RM_STREAM_TURN_AHEAD);
    assert_in_range(refused, 0, 2);
    rig_free(rig);
}

static void half_and_half_stay_where_the_clock_is(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 4});
    run(rig, START, LEARNT, 15, 0);
    for (rm_turn turn = START + LEARNT; turn < START + 2 * LEARNT; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        for (uint32_t i = 0; i < 4; ++i)
            rig_send(rig, i, turn + (i < 2 ? 20000 : 0));
        assert_null(rig_poll(rig));
    }
    for (uint32_t i = 0; i < 4; ++i)
        expect_refusals(rig, i, i < 2 ? LEARNT : 0, 0);
    assert_in_range(clock_phase_error(rig, START + 2 * LEARNT - 1) + 2, 0, 4);
    rig_free(rig);
}

/** All begin again at 0, which still lies within the window: their heads stand in the way, not the gate. */
static void a_restart_within_the_window_is_a_restart(void **state) {
    (void)state;
    uint64_t const silence[] = {1u << 18, 1u << 30};
    for (unsigned k = 0; k < sizeof silence / sizeof silence[0]; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3, .silence_turns = silence[k]});
        rm_turn const before = 100000;
        run(rig, before, LEARNT, 7, 0);
        run(rig, before + LEARNT, 1000, 7, -(int64_t)(before + LEARNT));
        assert_int_equal(rig->receive.gate.turn_epoch, 1);
        for (uint32_t i = 0; i < 3; ++i) {
            expect(rig, i, RM_STREAM_TURN_EPOCHS, 1);
            assert_in_range(rig_count(rig, i, RM_STREAM_TURN_BEHIND), RM_GATE_VOTE_RUN - 1, RM_GATE_VOTE_RUN);
            assert_int_equal(rig_head(rig, i), 999);
        }
        rig_free(rig);
    }
}

static void one_that_restarts_within_the_window_is_refused(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3, .silence_turns = 1u << 30});
    run(rig, START, LEARNT, 7, 0);
    for (rm_turn turn = START + LEARNT; turn < START + 2 * LEARNT; ++turn) {
        rig_set_tsc(rig_tsc_of(turn));
        for (uint32_t i = 0; i < 3; ++i)
            rig_send(rig, i, i == 1 ? turn - START - LEARNT : turn);
        assert_null(rig_poll(rig));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        expect_refusals(rig, i, 0, i == 1 ? LEARNT : 0);
        expect(rig, i, RM_STREAM_TURN_EPOCHS, 0);
    }
    assert_in_range(clock_phase_error(rig, START + 2 * LEARNT - 1) + 2, 0, 4);
    rig_free(rig);
}

/** The rings of an earlier server had begun anew already. */
static void adopted_epochs_are_the_clocks_own(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    atomic_store(&rig->instrument[1]->writer.stream->turn_epoch, 7);
    run(rig, START, 2 * RIG_FOLLOW_TURNS, 7, 0);
    struct rm_clock_reading reading;
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_int_equal(reading.turn_epoch, 7);
    run(rig, START + 2 * RIG_FOLLOW_TURNS, 2 * RIG_FOLLOW_TURNS, 7, -(int64_t)START);
    assert_true(rm_clock_read(&rig->clock, &reading));
    assert_int_equal(reading.turn_epoch, 8);
    rig_free(rig);
}

/** Three instruments, the last of which counts `shift` turns off; then what is said of each. */
static void misalign(int64_t shift, uint64_t behind, uint64_t ahead) {
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    for (rm_turn turn = START; turn < START + 2000000; turn += 10) {
        rig_set_tsc(rig_tsc_of(turn));
        for (uint32_t i = 0; i < 3; ++i)
            rig_send(rig, i, turn + (i == 2 ? (uint64_t)shift : 0));
        assert_null(rig_poll(rig));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        uint64_t const found_behind = rig_count(rig, i, RM_STREAM_PHASE_BEHIND);
        uint64_t const found_ahead = rig_count(rig, i, RM_STREAM_PHASE_AHEAD);
        assert_in_range(found_behind, i == 2 ? behind - (behind != 0) : 0, i == 2 ? behind + 1 : 1);
        assert_in_range(found_ahead, i == 2 ? ahead - (ahead != 0) : 0, i == 2 ? ahead + 1 : 1);
    }
    rig_free(rig);
}

static void a_misaligned_instrument_shows(void **state) {
    (void)state;
    misalign(0, 0, 0);
    misalign(-19272, 19272, 0); /* all its records are taken */
    misalign(-600000, 600000, 0);
    misalign(500, 0, 500);
    misalign(40000, 0, 40000); /* and none of them */
}

/** An instrument that is held up now and then is in phase; one that is held up by as much each time is not. */
static void a_phase_is_the_best_of_a_second(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 3});
    for (rm_turn turn = START; turn < START + 2000000; turn += 10) {
        rig_set_tsc(rig_tsc_of(turn));
        rig_send(rig, 0, turn);
        rig_send(rig, 1, turn % 50000 == 0 ? turn : turn - 3000 * (turn % 7));
        rig_send(rig, 2, turn - 3000 - 3000 * (turn % 7));
        assert_null(rig_poll(rig));
    }
    assert_in_range(rig_count(rig, 1, RM_STREAM_PHASE_BEHIND), 0, 1);
    assert_in_range(rig_count(rig, 2, RM_STREAM_PHASE_BEHIND), 2999, 3001);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_liar_ahead_does_not_pull_the_clock),
        cmocka_unit_test(a_liar_behind_does_not_pull_the_clock),
        cmocka_unit_test(an_outlier_is_heard_again_when_it_comes_back),
        cmocka_unit_test(when_all_are_ahead_the_clock_is_behind),
        cmocka_unit_test(one_alone_is_believed_within_a_burst),
        cmocka_unit_test(small_bursts_cost_few),
        cmocka_unit_test(half_and_half_stay_where_the_clock_is),
        cmocka_unit_test(a_restart_within_the_window_is_a_restart),
        cmocka_unit_test(one_that_restarts_within_the_window_is_refused),
        cmocka_unit_test(adopted_epochs_are_the_clocks_own),
        cmocka_unit_test(a_misaligned_instrument_shows),
        cmocka_unit_test(a_phase_is_the_best_of_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
