// SPDX-License-Identifier: Apache-2.0
/** Taking over and beginning: when a server that does not send begins to (TAKE, BEGIN), and under which terms. Between two servers and chains
 * that do what they must (test_pair.h). */
#include "test_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/record.h>

enum { A = 0, B = 1, NONE = 2, N = 3, CHAINS = 3 };

static struct pair pair;

/* ── TAKE ── */

static void test_take_within_bound(void **state) {
    (void)state;
    for (uint32_t missed = 2; missed <= 10; ++missed)
        for (uint32_t delay = 1; delay <= 2; ++delay)
            for (uint32_t moment = 0; moment < 2 * PAIR_STEPS; ++moment) {
                make_settled(&pair, CHAINS, missed);
                pair.late_steps = moment / PAIR_STEPS;
                for (uint32_t c = 0; c < CHAINS; ++c)
                    for (uint32_t s = 0; s < 2; ++s)
                        pair.delay[PAIR_TO_CHAIN][s][c] = pair.delay[PAIR_TO_SERVER][s][c] = delay;
                pair_cycles(&pair, 10);
                for (uint32_t s = 0; s < moment % PAIR_STEPS; ++s)
                    pair_step(&pair);
                pair_kill(&pair, A);
                uint64_t const swap = cycles_to_successor(&pair, A);
                assert_in_range(swap, missed + 1, missed + 2);
                assert_int_equal(pair.server[B].core.swap_cycles, swap);
                assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
                check_peace(&pair);
            }
}

static void test_take_not_without_copy(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
    pair_kill(&pair, A);
    pair.link_cut = true;
    assert_in_range(cycles_to_successor(&pair, A), N + 1, N + 2);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
}

static void test_take_not_while_a_majority_is_served(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_cut(&pair, PAIR_TO_CHAIN, A, 0, true);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[B].takeovers, 0);
}

static void test_take_not_when_answers_do_not_come(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_cut_all(&pair, PAIR_TO_SERVER, B, true);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_true(pair.server[B].asked > 0);
    pair_kill(&pair, A);
    pair_cycles(&pair, 20 * N);
    assert_int_equal(pair_active(&pair), NONE);
}

static void test_take_not_when_deaf(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
    struct rm_standby *const core = &pair.server[B].core;
    pair_kill(&pair, A);
    pair_cut_all(&pair, PAIR_TO_SERVER, B, true);
    pair_cycles(&pair, N);
    for (uint32_t k = 0; k < 2 * N; ++k) {
        for (uint32_t c = 0; c < CHAINS; ++c)
            rm_standby_answer(
                core, c,
                &(struct rm_standby_answer){
                    .cycle = pair_cycle(&pair) - N - 2, .term = 1, .asked = true, .silent_cycles = UINT32_MAX});
        pair_cycles(&pair, 1);
        assert_int_equal(pair_active(&pair), NONE);
        assert_int_equal(core->role, RM_STANDBY_READY);
    }
}

/** An answer that was overtaken by a newer one does not tell the chain's term. */
static void test_answer_overtaken(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    struct rm_standby *const core = &pair.server[B].core;
    uint64_t const cycle = pair_cycle(&pair);
    rm_standby_answer(core, 0, &(struct rm_standby_answer){.cycle = cycle, .term = 4, .obeyed = true});
    rm_standby_answer(core, 0, &(struct rm_standby_answer){.cycle = cycle - 1, .term = 1, .obeyed = true});
    assert_int_equal(core->chain[0].term, 4);
    assert_int_equal(core->chain[0].obeyed, cycle);
    assert_int_equal(core->highest_term, 4);
    /* One of the future is of the next cycle at the latest. */
    rm_standby_answer(core, 0, &(struct rm_standby_answer){.cycle = UINT64_MAX, .term = 4, .obeyed = true});
    assert_int_equal(core->chain[0].obeyed, cycle + 1);
}

/** Each server reaches a majority and hears another one, so that none is ever confirmed. Their tries end. The model
 * found this one: with a copy of the other's try each tried again, and terms were used up. */
static void test_take_not_again_in_vain(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair.join_cycles = 1;
    pair_cut(&pair, PAIR_TO_CHAIN, A, 1, true);
    pair_cut(&pair, PAIR_TO_SERVER, A, 0, true);
    pair_cut(&pair, PAIR_TO_CHAIN, B, 0, true);
    pair_cut(&pair, PAIR_TO_SERVER, B, 1, true);
    pair_cycles(&pair, 200 * N);
    assert_true(pair.server[A].core.highest_term <= 4);
    pair_cut_all(&pair, PAIR_TO_CHAIN, A, false);
    pair_cut_all(&pair, PAIR_TO_SERVER, A, false);
    pair_cycles(&pair, 3 * pair.begin);
    assert_in_range(pair_active(&pair), A, B);
    check_peace(&pair);
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
    check_peace(&pair);
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
        cmocka_unit_test(test_answer_overtaken),
        cmocka_unit_test(test_take_not_again_in_vain),
        cmocka_unit_test(test_begin_by_priority),
        cmocka_unit_test(test_begin_of_second_alone),
        cmocka_unit_test(test_begin_of_both_at_once),
        cmocka_unit_test(test_begin_above_terms_of_chains),
        cmocka_unit_test(test_begin_not_while_chains_listen),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_no_term_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
