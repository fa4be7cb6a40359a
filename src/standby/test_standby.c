// SPDX-License-Identifier: Apache-2.0
/** Each rule of standby.h, between two servers and chains that do what they must (test_pair.h). */
#include "test_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/record.h>

#include "votes.h"

enum { A = 0, B = 1, NONE = 2, N = 3, CHAINS = 3 };

static struct pair pair;

/** A pair, whose server A is ACTIVE and whose server B is READY. */
static void make_settled(uint32_t chains, uint32_t missed) {
    pair_make(&pair, chains, missed, 1);
    assert_true(pair_settle(&pair, A));
    pair_cycles(&pair, 3 * missed);
}

/** Cycles from the newest setpoint of `server` that chain 0 obeys from now on to the first of another. */
static uint64_t cycles_to_successor(uint32_t server) {
    uint64_t last = pair.chain[0].obeyed_cycle;
    for (uint32_t s = 0; s < 400 * N && pair.chain[0].server == server; ++s) {
        last = pair.chain[0].obeyed_cycle;
        pair_step(&pair);
    }
    return pair.chain[0].obeyed_cycle - last;
}

static void cut_all(enum pair_direction direction, uint32_t server, bool cut) {
    for (uint32_t c = 0; c < pair.chains; ++c)
        pair_cut(&pair, direction, server, c, cut);
}

static void check_peace(void) {
    assert_int_equal(pair.two_masters, 0);
    assert_int_equal(pair.false_swaps, 0);
}

/* ── TAKE ── */

static void test_take_within_bound(void **state) {
    (void)state;
    for (uint32_t missed = 2; missed <= 10; ++missed)
        for (uint32_t delay = 1; delay <= 2; ++delay)
            for (uint32_t moment = 0; moment < PAIR_STEPS; ++moment) {
                make_settled(CHAINS, missed);
                for (uint32_t c = 0; c < CHAINS; ++c)
                    for (uint32_t s = 0; s < 2; ++s)
                        pair.delay[PAIR_TO_CHAIN][s][c] = pair.delay[PAIR_TO_SERVER][s][c] = delay;
                pair_cycles(&pair, 10);
                for (uint32_t s = 0; s < moment; ++s)
                    pair_step(&pair);
                pair_kill(&pair, A);
                uint64_t const swap = cycles_to_successor(A);
                assert_in_range(swap, missed + 1, missed + 2);
                assert_int_equal(pair.server[B].core.swap_cycles, swap);
                assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
                check_peace();
            }
}

static void test_take_not_without_copy(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.link_cut = true;
    pair_cycles(&pair, 3);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_JOINING);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_LINK_LOST);
    pair_kill(&pair, A);
    pair_cycles(&pair, pair.begin);
    assert_int_equal(pair_active(&pair), NONE);
    pair_cycles(&pair, pair.begin + 3);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_BEGAN);
}

static void test_take_with_link_that_dies_too(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, A);
    pair.link_cut = true;
    assert_in_range(cycles_to_successor(A), N + 1, N + 2);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
}

static void test_take_not_while_a_majority_is_served(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_cut(&pair, PAIR_TO_CHAIN, A, 0, true);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[B].takeovers, 0);
}

static void test_take_not_when_answers_do_not_come(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    cut_all(PAIR_TO_SERVER, B, true);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_true(pair.server[B].asked > 0);
    pair_kill(&pair, A);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair_active(&pair), NONE);
}

static void test_take_not_when_deaf(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.server[B].deaf = true;
    pair_cycles(&pair, 1);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_JOINING);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_DEAF);
    pair_kill(&pair, A);
    uint64_t const asked = pair.server[B].asked;
    pair_cycles(&pair, 5 * pair.begin);
    assert_int_equal(pair_active(&pair), NONE);
    assert_int_equal(pair.server[B].asked, asked);
}

/** A server that slept must run for N cycles before it believes its own ears. */
static void test_take_not_after_sleep(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, A);
    for (uint32_t k = 0; k < 5; ++k) {
        pair.server[B].sleeps_until = pair.step + 2 * PAIR_STEPS;
        pair_cycles(&pair, 4);
        assert_int_equal(pair_active(&pair), NONE);
    }
    pair_cycles(&pair, N + 1);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
}

/** Late answers are of their own cycle: what they say of silence is not true any more. */
static void test_take_not_on_late_answers(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    struct rm_standby *const core = &pair.server[B].core;
    for (uint32_t k = 0; k < 30; ++k) {
        for (uint32_t c = 0; c < CHAINS; ++c)
            rm_standby_answer(
                core, c,
                &(struct rm_standby_answer){
                    .cycle = pair_cycle(&pair) - N - 2, .term = 1, .asked = true, .silent_cycles = UINT32_MAX});
        pair_cycles(&pair, 1);
        assert_int_equal(pair_active(&pair), A);
    }
}

/* ── BEGIN ── */

static void test_begin_by_priority(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair_cycles(&pair, pair.begin);
    assert_int_equal(pair_active(&pair), NONE);
    pair_cycles(&pair, 3);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_false(pair.server[A].core.unacknowledged);
    pair_cycles(&pair, 5 * pair.begin);
    assert_int_equal(pair.server[B].begins, 0);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_READY);
}

static void test_begin_of_second_alone(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair.server[A].dead = true;
    pair_cycles(&pair, 2 * pair.begin);
    assert_int_equal(pair_active(&pair), NONE);
    pair_cycles(&pair, 3);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.server[B].core.term, 2);
}

/** Both at once: the higher term wins at each chain, and the other one is deposed. */
static void test_begin_of_both_at_once(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair.server[A].sleeps_until = pair.step + (uint64_t)pair.begin * PAIR_STEPS;
    pair_cycles(&pair, 2 * pair.begin + 4);
    assert_in_range(pair.server[A].begins + pair.server[B].begins, 1, 2);
    pair_cycles(&pair, 10 * N);
    assert_int_equal(pair_active(&pair), B);
    check_peace();
}

static void test_begin_above_terms_of_chains(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    /* A term of its own parity, from a life whose disk is lost. */
    pair.chain[2].term = 7;
    pair.chain[2].instance = 99;
    assert_true(pair_settle(&pair, A));
    assert_int_equal(pair.server[A].core.term, 9);
}

static void test_begin_not_while_chains_listen(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair_cycles(&pair, pair.begin - 1);
    pair.timeout_cycles = 2 * pair.begin;
    for (uint32_t c = 0; c < CHAINS; ++c)
        pair_power_cycle(&pair, c);
    pair_cycles(&pair, 2 * pair.begin - 1);
    assert_int_equal(pair_active(&pair), NONE);
    pair_cycles(&pair, 4);
    assert_int_not_equal(pair_active(&pair), NONE);
}

/* ── CONFIRM, RESUME ── */

/** The active server is cut off from its chains: it stops before its successor's first datagram. */
static void test_confirm_stops_before_successor(void **state) {
    (void)state;
    for (uint32_t direction = 0; direction < 2; ++direction) {
        make_settled(CHAINS, N);
        cut_all((enum pair_direction)direction, A, true);
        while (pair_active(&pair) == A)
            pair_cycles(&pair, 1);
        assert_in_range(pair_active(&pair), B, NONE);
        assert_int_equal(pair.server[A].core.reason, RM_STANDBY_UNANSWERED);
        pair_cycles(&pair, N + 2);
        assert_int_equal(pair_active(&pair), B);
        assert_int_equal(pair.divided_max, 0);
        check_peace();
    }
}

/** No majority on either side: a try of the standby is not confirmed, and then nobody sends. */
static void test_confirm_with_halves(void **state) {
    (void)state;
    make_settled(4, N);
    for (uint32_t c = 0; c < 2; ++c) {
        pair_cut(&pair, PAIR_TO_CHAIN, A, c, true);
        pair_cut(&pair, PAIR_TO_CHAIN, B, c + 2, true);
    }
    pair_cycles(&pair, 4 * N);
    for (uint32_t k = 0; k < 40 * N; ++k) {
        assert_int_equal(pair_active(&pair), NONE);
        pair_cycles(&pair, 1);
    }
    assert_false(pair.server[B].core.unacknowledged);
    check_peace();
}

static void test_resume_alone_at_once(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, B);
    pair_cycles(&pair, 2 * N);
    cut_all(PAIR_TO_CHAIN, A, true);
    pair_cycles(&pair, 2 * N);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_READY);
    cut_all(PAIR_TO_CHAIN, A, false);
    pair_cycles(&pair, 3);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_UNANSWERED);
    assert_false(pair.server[A].core.unacknowledged);
}

/** Its state is too old to go on from: it begins anew. */
static void test_resume_not_after_long(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, B);
    cut_all(PAIR_TO_CHAIN, A, true);
    pair_cycles(&pair, pair.begin + 2 * N);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_JOINING);
    cut_all(PAIR_TO_CHAIN, A, false);
    pair_cycles(&pair, 3);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_BEGAN);
}

/** Both servers suspect after a short silence of the network: the standby goes first, and there is one. */
static void test_no_duel(void **state) {
    (void)state;
    for (uint32_t silence = 1; silence < 5 * N; ++silence) {
        make_settled(CHAINS, N);
        cut_all(PAIR_TO_CHAIN, A, true);
        cut_all(PAIR_TO_CHAIN, B, true);
        pair_cycles(&pair, silence);
        cut_all(PAIR_TO_CHAIN, A, false);
        cut_all(PAIR_TO_CHAIN, B, false);
        pair_cycles(&pair, 3 * N);
        assert_in_range(pair_active(&pair), A, B);
        uint32_t const active = pair_active(&pair), term = pair.server[active].core.term;
        pair_cycles(&pair, 20 * N);
        assert_int_equal(pair_active(&pair), active);
        assert_int_equal(pair.server[active].core.term, term);
        assert_int_equal(pair.divided_max, 0);
        check_peace();
    }
}

/** SIGSTOP: what it does in its first cycle depends on how many it slept through. */
static void test_sleep_of_active(void **state) {
    (void)state;
    for (uint32_t slept = 1; slept < 4 * N; ++slept) {
        make_settled(CHAINS, N);
        pair.server[A].sleeps_until = pair.step + (uint64_t)slept * PAIR_STEPS + 1;
        pair_cycles(&pair, slept);
        uint64_t const sent = pair.server[A].sent, asked = pair.server[A].asked;
        pair_cycles(&pair, 1);
        if (slept < N) {
            assert_int_equal(pair.server[A].sent, sent + 1);
            assert_int_equal(pair.server[A].asked, asked);
        } else {
            assert_int_not_equal(pair.server[A].act, RM_STANDBY_SENDS);
            assert_in_range(pair.server[A].core.reason, RM_STANDBY_DEPOSED, RM_STANDBY_UNANSWERED);
        }
        pair_cycles(&pair, 4 * N);
        assert_int_equal(pair_active(&pair), slept < N ? A : B);
        assert_int_equal(pair.divided_max, 0);
        check_peace();
    }
}

/** The same without a peer: it goes on under its term. */
static void test_sleep_of_active_alone(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, B);
    pair_cycles(&pair, 2 * N);
    pair.server[A].sleeps_until = pair.step + 2 * N * PAIR_STEPS;
    pair_cycles(&pair, 2 * N + 4);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
}

/* ── DEPOSE, RAISE ── */

static void test_deposed_by_majority_alone(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    struct rm_standby *const core = &pair.server[A].core;
    struct rm_standby_answer answer = {.term = 2};
    for (uint32_t c = 0; c < 2; ++c) {
        assert_int_equal(core->role, RM_STANDBY_ACTIVE);
        pair_step(&pair);
        while (pair.step % PAIR_STEPS != PAIR_STEPS - 1)
            pair_step(&pair);
        answer.cycle = pair_cycle(&pair);
        for (uint32_t told = 0; told <= c; ++told)
            rm_standby_answer(core, told, &answer);
        pair_step(&pair);
    }
    assert_int_equal(core->role, RM_STANDBY_JOINING);
    assert_int_equal(core->reason, RM_STANDBY_DEPOSED);
    assert_int_equal(pair.server[A].act, RM_STANDBY_QUIET);
}

static void test_raise_wins_minority_back(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.chain[2].term = 8;
    pair.chain[2].instance = 99;
    pair_cycles(&pair, 2 * N);
    assert_int_equal(pair.server[A].core.term, 1);
    pair_cycles(&pair, 2 * N);
    assert_int_equal(pair.server[A].core.term, 9);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_ACTIVE);
    assert_int_equal(pair.chain[2].term, 9);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair.server[A].core.term, 9);
    assert_int_equal(pair.server[A].core.with_us, CHAINS);
}

static void test_raise_not_beyond_last_term(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.chain[2].term = RM_TERM_MAX;
    pair.chain[2].instance = 99;
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_ACTIVE);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_FAULT);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_NO_TERM);
}

/* ── SWITCH ── */

static void test_switch_misses_and_doubles_nothing(void **state) {
    (void)state;
    for (uint32_t there_and_back = 0; there_and_back < 2; ++there_and_back) {
        if (there_and_back == 0)
            make_settled(CHAINS, N);
        uint32_t const from = there_and_back, to = 1 - from;
        uint64_t const turn = (pair_cycle(&pair) + 7) * PAIR_PERIOD - 5, obeyed = pair.chain[1].obeyed_count;
        uint64_t const newest = pair.chain[1].obeyed_cycle;
        pair_switch(&pair, turn);
        pair_cycles(&pair, 2);
        assert_int_equal(pair.server[from].core.switch_turn, turn);
        pair_cycles(&pair, 20);
        assert_int_equal(pair_active(&pair), to);
        assert_int_equal(pair.server[to].core.swap_cycles, 1);
        assert_int_equal(pair.server[to].core.reason, RM_STANDBY_SWITCHED);
        assert_int_equal(pair.chain[1].obeyed_count - obeyed, pair.chain[1].obeyed_cycle - newest);
        assert_int_equal(pair.server[from].core.role, RM_STANDBY_READY);
        assert_false(pair.server[to].core.unacknowledged);
        check_peace();
    }
}

/** Its standby dies before T: there is no one to switch to. */
static void test_switch_with_dead_standby(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_switch(&pair, (pair_cycle(&pair) + 15) * PAIR_PERIOD);
    pair_kill(&pair, B);
    pair_cycles(&pair, 30);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_BEGAN);
}

/** It dies just before T, so that the link still tells of it: the active server stops, and goes on. */
static void test_switch_with_standby_that_dies_at_turn(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    uint64_t const cycle = pair_cycle(&pair) + 6;
    pair_switch(&pair, cycle * PAIR_PERIOD);
    while (pair_cycle(&pair) + 1 < cycle || pair.step % PAIR_STEPS != 3)
        pair_step(&pair);
    pair_kill(&pair, B);
    pair_cycles(&pair, 1);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_SWITCHED);
    pair_cycles(&pair, 2 * N + 4);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
}

/** The standby was not told of it: it takes over, as if the other one had died. */
static void test_switch_of_active_alone(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.server[A].switch_turn = (pair_cycle(&pair) + 6) * PAIR_PERIOD;
    pair_cycles(&pair, 7 + N + 2);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
    check_peace();
}

/** A turn that had gone when it was agreed is none. */
static void test_switch_in_the_past(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_switch(&pair, (pair_cycle(&pair) - 2) * PAIR_PERIOD);
    pair_cycles(&pair, 10 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.switch_turn, RM_TURN_NONE);
}

/* ── ONCE, HOLD ── */

static void test_once_until_acknowledged(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, A);
    pair_cycles(&pair, 2 * N + 4);
    assert_int_equal(pair_active(&pair), B);
    assert_true(pair.server[B].core.unacknowledged);
    pair_start(&pair, A, pair.server[A].saved_term);
    assert_true(pair_settle(&pair, B));
    pair_cycles(&pair, 5);
    pair_kill(&pair, B);
    pair_cycles(&pair, 20);
    assert_int_equal(pair_active(&pair), NONE);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_READY);
}

static void test_once_acknowledged(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, A);
    pair_cycles(&pair, 2 * N + 4);
    pair_start(&pair, A, pair.server[A].saved_term);
    assert_true(pair_settle(&pair, B));
    pair_acknowledge(&pair);
    pair_cycles(&pair, 5);
    assert_false(pair.server[B].core.unacknowledged);
    pair_kill(&pair, B);
    assert_in_range(cycles_to_successor(B), N + 1, N + 2);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 3);
}

/** A take-over that no majority confirms does not count. */
static void test_once_wants_confirmation(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, A);
    while (pair_active(&pair) != B)
        pair_step(&pair);
    cut_all(PAIR_TO_SERVER, B, true);
    pair_cycles(&pair, N + 1);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_READY);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_UNANSWERED);
    assert_false(pair.server[B].core.unacknowledged);
}

/** Its acknowledgement is a number that grows; what an earlier process told is not one. */
static void test_once_is_kept_over_restart(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair.server[A].saved_unacknowledged = true;
    pair.server[A].acknowledged = 4;
    pair_start(&pair, A, 0);
    pair_cycles(&pair, 5);
    assert_true(pair.server[A].core.unacknowledged);
    pair_acknowledge(&pair);
    pair_cycles(&pair, 1);
    assert_false(pair.server[A].core.unacknowledged);
}

static void test_hold(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.server[B].hold = true;
    pair_cycles(&pair, 2);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_MAINTENANCE);
    pair_kill(&pair, A);
    uint64_t const asked = pair.server[B].asked;
    pair_cycles(&pair, 5 * pair.begin);
    assert_int_equal(pair_active(&pair), NONE);
    assert_int_equal(pair.server[B].asked, asked);
    pair.server[B].hold = false;
    pair_cycles(&pair, 2 * pair.begin - 1);
    assert_int_equal(pair_active(&pair), NONE);
    pair_cycles(&pair, 4);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_BEGAN);
}

static void test_hold_of_active(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair.server[A].hold = true;
    assert_in_range(cycles_to_successor(A), N + 1, N + 2);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_MAINTENANCE);
    pair_cycles(&pair, 2);
    assert_true(pair.server[B].core.unacknowledged);
}

/** A hold does not acknowledge. */
static void test_hold_and_once(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    pair_kill(&pair, A);
    pair_cycles(&pair, 2 * N + 4);
    pair.server[B].hold = true;
    pair_cycles(&pair, 2);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_MAINTENANCE);
    assert_true(pair.server[B].core.unacknowledged);
    pair.server[B].hold = false;
    pair_acknowledge(&pair);
    pair_cycles(&pair, 1);
    assert_false(pair.server[B].core.unacknowledged);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_JOINING);
}

/* ── chains ── */

/** All chains lose their power at once: while they listen they note the active server, which goes on. */
static void test_power_of_all_chains(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    for (uint32_t c = 0; c < CHAINS; ++c)
        pair_power_cycle(&pair, c);
    pair_cycles(&pair, 10 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_int_equal(pair.server[B].takeovers, 0);
    assert_int_equal(pair.chain[0].term, 1);
}

/** A chain without a memory is no way back for a server that was deposed. */
static void test_power_of_chain_and_deposed(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    cut_all(PAIR_TO_SERVER, A, true);
    pair_cycles(&pair, 4 * N);
    assert_int_equal(pair_active(&pair), B);
    cut_all(PAIR_TO_SERVER, A, false);
    pair_power_cycle(&pair, 0);
    pair_cycles(&pair, 10 * N);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.chain[0].server, B);
    check_peace();
}

static void test_majorities(void **state) {
    (void)state;
    assert_int_equal(rm_standby_majority(1), 1);
    assert_int_equal(rm_standby_majority(2), 2);
    assert_int_equal(rm_standby_majority(3), 2);
    assert_int_equal(rm_standby_majority(96), 49);
    for (uint32_t chains = 1; chains <= 5; ++chains) {
        uint32_t const may_be_lost = chains - rm_standby_majority(chains);
        make_settled(chains, N);
        for (uint32_t lost = 0; lost <= may_be_lost; ++lost) {
            pair_cycles(&pair, 5 * N);
            assert_int_equal(pair_active(&pair), A);
            pair_cut(&pair, PAIR_TO_CHAIN, A, lost, true);
        }
        pair_cycles(&pair, 5 * N);
        assert_int_not_equal(pair_active(&pair), A);
    }
}

/* ── terms ── */

static void test_terms(void **state) {
    (void)state;
    assert_int_equal(rm_standby_next_term(1, 0), 1);
    assert_int_equal(rm_standby_next_term(2, 0), 2);
    for (uint32_t above = 0; above < RM_TERM_MAX + 3; ++above)
        for (uint32_t server = 1; server <= 2; ++server) {
            uint32_t const next = rm_standby_next_term(server, above);
            if (next == 0) {
                assert_true(above >= RM_TERM_MAX - (server == 2));
                continue;
            }
            assert_true(next > above && next <= above + 2 && next <= RM_TERM_MAX);
            assert_int_equal(next % 2, server % 2);
        }
    assert_int_equal(rm_standby_next_term(1, RM_TERM_MAX - 1), RM_TERM_MAX);
    assert_int_equal(rm_standby_next_term(2, RM_TERM_MAX - 1), 0);
    assert_int_equal(rm_standby_next_term(1, UINT32_MAX), 0);
}

static void test_no_term_left(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair_start(&pair, A, RM_TERM_MAX - 1);
    assert_true(pair_settle(&pair, A) || pair.server[A].core.term == RM_TERM_MAX);
    assert_int_equal(pair.server[A].core.term, RM_TERM_MAX);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_FAULT);
    pair_kill(&pair, A);
    pair_cycles(&pair, 5 * pair.begin);
    assert_int_equal(pair_active(&pair), NONE);
}

/* ── orders ── */

/** A process that hangs tells nothing: its orders are not believed. */
static void test_orders_without_beat(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    struct rm_standby core = pair.server[B].core;
    struct rm_standby_seen seen = {.cycle = core.cycle,
                                   .turn = core.turn,
                                   .ran = true,
                                   .hears = true,
                                   .orders = {.synchronised = true,
                                              .synchronised_turn = core.turn,
                                              .beat = core.beat,
                                              .peer_role = RM_STANDBY_ACTIVE + 1,
                                              .switch_turn = RM_TURN_NONE}};
    for (uint32_t k = 0; k < pair.begin + 2; ++k) {
        ++seen.cycle;
        seen.turn += PAIR_PERIOD;
        for (uint32_t c = 0; c < CHAINS; ++c)
            rm_standby_answer(&core, c, &(struct rm_standby_answer){.cycle = seen.cycle, .term = 1, .obeyed = true});
        assert_int_equal(rm_standby_cycle(&core, &seen), RM_STANDBY_QUIET);
        assert_int_equal(core.role, k < pair.begin - 1 ? RM_STANDBY_READY : core.role);
    }
    assert_int_equal(core.role, RM_STANDBY_JOINING);
}

static void test_refused_peer(void **state) {
    (void)state;
    make_settled(CHAINS, N);
    for (uint32_t s = 0; s < 2; ++s) {
        struct rm_standby core = pair.server[s].core;
        struct rm_standby_seen const seen = {.cycle = core.cycle + 1,
                                             .turn = core.turn + PAIR_PERIOD,
                                             .ran = true,
                                             .hears = true,
                                             .orders = {.refused = true, .beat = core.beat + 1}};
        (void)rm_standby_cycle(&core, &seen);
        assert_int_equal(core.role, s == A ? RM_STANDBY_ACTIVE : RM_STANDBY_FAULT);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_take_within_bound),
        cmocka_unit_test(test_take_not_without_copy),
        cmocka_unit_test(test_take_with_link_that_dies_too),
        cmocka_unit_test(test_take_not_while_a_majority_is_served),
        cmocka_unit_test(test_take_not_when_answers_do_not_come),
        cmocka_unit_test(test_take_not_when_deaf),
        cmocka_unit_test(test_take_not_after_sleep),
        cmocka_unit_test(test_take_not_on_late_answers),
        cmocka_unit_test(test_begin_by_priority),
        cmocka_unit_test(test_begin_of_second_alone),
        cmocka_unit_test(test_begin_of_both_at_once),
        cmocka_unit_test(test_begin_above_terms_of_chains),
        cmocka_unit_test(test_begin_not_while_chains_listen),
        cmocka_unit_test(test_confirm_stops_before_successor),
        cmocka_unit_test(test_confirm_with_halves),
        cmocka_unit_test(test_resume_alone_at_once),
        cmocka_unit_test(test_resume_not_after_long),
        cmocka_unit_test(test_no_duel),
        cmocka_unit_test(test_sleep_of_active),
        cmocka_unit_test(test_sleep_of_active_alone),
        cmocka_unit_test(test_deposed_by_majority_alone),
        cmocka_unit_test(test_raise_wins_minority_back),
        cmocka_unit_test(test_raise_not_beyond_last_term),
        cmocka_unit_test(test_switch_misses_and_doubles_nothing),
        cmocka_unit_test(test_switch_with_dead_standby),
        cmocka_unit_test(test_switch_with_standby_that_dies_at_turn),
        cmocka_unit_test(test_switch_of_active_alone),
        cmocka_unit_test(test_switch_in_the_past),
        cmocka_unit_test(test_once_until_acknowledged),
        cmocka_unit_test(test_once_acknowledged),
        cmocka_unit_test(test_once_wants_confirmation),
        cmocka_unit_test(test_once_is_kept_over_restart),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_hold_of_active),
        cmocka_unit_test(test_hold_and_once),
        cmocka_unit_test(test_power_of_all_chains),
        cmocka_unit_test(test_power_of_chain_and_deposed),
        cmocka_unit_test(test_majorities),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_no_term_left),
        cmocka_unit_test(test_orders_without_beat),
        cmocka_unit_test(test_refused_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
