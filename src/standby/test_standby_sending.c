// SPDX-License-Identifier: Apache-2.0
/** The server that sends: when it stops, goes on and wins chains back (CONFIRM, RESUME, DEPOSE, RAISE). Between two servers and chains
 * that do what they must (test_pair.h). */
#include "test_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/record.h>

enum { A = 0, B = 1, NONE = 2, N = 3, CHAINS = 3 };

static struct pair pair;

/* ── CONFIRM, RESUME ── */

/** The active server is cut off from its chains: it stops before its successor's first datagram. */
static void test_confirm_stops_before_successor(void **state) {
    (void)state;
    for (uint32_t direction = 0; direction < 2; ++direction) {
        make_settled(&pair, CHAINS, N);
        pair_cut_all(&pair, (enum pair_direction)direction, A, true);
        while (pair_active(&pair) == A)
            pair_cycles(&pair, 1);
        assert_in_range(pair_active(&pair), B, NONE);
        assert_int_equal(pair.server[A].core.reason, RM_STANDBY_UNANSWERED);
        pair_cycles(&pair, N + 2);
        assert_int_equal(pair_active(&pair), B);
        assert_int_equal(pair.divided_max, 0);
        check_peace(&pair);
    }
}

/** No majority on either side: a try of the standby is not confirmed, and then nobody sends. */
static void test_confirm_with_halves(void **state) {
    (void)state;
    make_settled(&pair, 4, N);
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
    check_peace(&pair);
}

static void test_resume_alone_at_once(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_kill(&pair, B);
    pair_cycles(&pair, 2 * N);
    pair_cut_all(&pair, PAIR_TO_CHAIN, A, true);
    pair_cycles(&pair, 2 * N);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_READY);
    pair_cut_all(&pair, PAIR_TO_CHAIN, A, false);
    pair_cycles(&pair, 3);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_UNANSWERED);
    assert_false(pair.server[A].core.unacknowledged);
}

/** Its state is too old to go on from: it begins anew. */
static void test_resume_not_after_long(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_kill(&pair, B);
    pair_cut_all(&pair, PAIR_TO_CHAIN, A, true);
    pair_cycles(&pair, pair.begin + 2 * N);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_JOINING);
    pair_cut_all(&pair, PAIR_TO_CHAIN, A, false);
    pair_cycles(&pair, 3);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_BEGAN);
}

/** Both servers suspect after a short silence of the network: the standby goes first, and there is one. */
static void test_no_duel(void **state) {
    (void)state;
    for (uint32_t silence = 1; silence < 5 * N; ++silence) {
        make_settled(&pair, CHAINS, N);
        pair_cut_all(&pair, PAIR_TO_CHAIN, A, true);
        pair_cut_all(&pair, PAIR_TO_CHAIN, B, true);
        pair_cycles(&pair, silence);
        pair_cut_all(&pair, PAIR_TO_CHAIN, A, false);
        pair_cut_all(&pair, PAIR_TO_CHAIN, B, false);
        pair_cycles(&pair, 3 * N);
        assert_in_range(pair_active(&pair), A, B);
        uint32_t const active = pair_active(&pair), term = pair.server[active].core.term;
        pair_cycles(&pair, 20 * N);
        assert_int_equal(pair_active(&pair), active);
        assert_int_equal(pair.server[active].core.term, term);
        assert_int_equal(pair.divided_max, 0);
        check_peace(&pair);
    }
}

/** SIGSTOP: what it does in its first cycle depends on how many it slept through. */
static void test_sleep_of_active(void **state) {
    (void)state;
    for (uint32_t slept = 1; slept < 4 * N; ++slept) {
        make_settled(&pair, CHAINS, N);
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
        check_peace(&pair);
    }
}

/** The same without a peer: it goes on under its term. */
static void test_sleep_of_active_alone(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
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

/** While a server is obeyed under the higher term, that is no forgotten chain. */
static void test_raise_not_while_obeyed(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_cut(&pair, PAIR_TO_SERVER, A, 2, true);
    for (uint32_t k = 0; k < 10 * N; ++k) {
        struct rm_standby_answer const answer = {.cycle = pair_cycle(&pair), .term = 8, .obeyed = true};
        rm_standby_answer(&pair.server[A].core, 2, &answer);
        pair_cycles(&pair, 1);
        assert_int_equal(pair.server[A].core.term, 1);
    }
    pair_cycles(&pair, N + 1);
    assert_int_equal(pair.server[A].core.term, 9);
}

/** A chain that was away has the same term of an earlier life of the server, whose disk was lost. */
static void test_raise_above_earlier_life(void **state) {
    (void)state;
    pair_make(&pair, CHAINS, N, 1);
    pair.chain[2].term = 1;
    pair.chain[2].instance = 99;
    pair_cut(&pair, PAIR_TO_SERVER, A, 2, true);
    pair_cut(&pair, PAIR_TO_SERVER, B, 2, true);
    assert_true(pair_settle(&pair, A));
    assert_int_equal(pair.server[A].core.term, 1);
    pair_cut(&pair, PAIR_TO_SERVER, A, 2, false);
    pair_cut(&pair, PAIR_TO_SERVER, B, 2, false);
    pair_cycles(&pair, 4 * N);
    assert_int_equal(pair.server[A].core.term, 3);
    assert_int_equal(pair.server[A].core.with_us, CHAINS);
}

static void test_raise_not_beyond_last_term(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair.chain[2].term = RM_TERM_MAX;
    pair.chain[2].instance = 99;
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair.server[A].core.term, 1);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_ACTIVE);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_FAULT);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_NO_TERM);
}

/* ── chains ── */

/** All chains lose their power at once: while they listen they note the active server, which goes on. */
static void test_power_of_all_chains(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
    pair_cut_all(&pair, PAIR_TO_SERVER, A, true);
    pair_cycles(&pair, 4 * N);
    assert_int_equal(pair_active(&pair), B);
    pair_cut_all(&pair, PAIR_TO_SERVER, A, false);
    pair_power_cycle(&pair, 0);
    pair_cycles(&pair, 10 * N);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.chain[0].server, B);
    check_peace(&pair);
}

static void test_majorities(void **state) {
    (void)state;
    assert_int_equal(rm_standby_majority(1), 1);
    assert_int_equal(rm_standby_majority(2), 2);
    assert_int_equal(rm_standby_majority(3), 2);
    assert_int_equal(rm_standby_majority(96), 49);
    for (uint32_t chains = 1; chains <= 5; ++chains) {
        uint32_t const may_be_lost = chains - rm_standby_majority(chains);
        make_settled(&pair, chains, N);
        for (uint32_t lost = 0; lost <= may_be_lost; ++lost) {
            pair_cycles(&pair, 5 * N);
            assert_int_equal(pair_active(&pair), A);
            pair_cut(&pair, PAIR_TO_CHAIN, A, lost, true);
        }
        pair_cycles(&pair, 5 * N);
        assert_int_not_equal(pair_active(&pair), A);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_confirm_stops_before_successor),
        cmocka_unit_test(test_confirm_with_halves),
        cmocka_unit_test(test_resume_alone_at_once),
        cmocka_unit_test(test_resume_not_after_long),
        cmocka_unit_test(test_no_duel),
        cmocka_unit_test(test_sleep_of_active),
        cmocka_unit_test(test_sleep_of_active_alone),
        cmocka_unit_test(test_deposed_by_majority_alone),
        cmocka_unit_test(test_raise_wins_minority_back),
        cmocka_unit_test(test_raise_not_while_obeyed),
        cmocka_unit_test(test_raise_above_earlier_life),
        cmocka_unit_test(test_raise_not_beyond_last_term),
        cmocka_unit_test(test_power_of_all_chains),
        cmocka_unit_test(test_power_of_chain_and_deposed),
        cmocka_unit_test(test_majorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
