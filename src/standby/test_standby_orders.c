// SPDX-License-Identifier: Apache-2.0
/** What people and the link order: SWITCH, ONCE, HOLD, copies and a peer that is none. Between two servers and chains
 * that do what they must (test_pair.h). */
#include "test_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/record.h>

enum { A = 0, B = 1, NONE = 2, N = 3, CHAINS = 3 };

static struct pair pair;

/** What it saw last: it ran, and heard its instruments. There are no orders. */
static struct rm_standby_seen seen_by(struct rm_standby const *core) {
    return (struct rm_standby_seen){.cycle = core->cycle, .turn = core->turn, .ran = true, .hears = true};
}

/* ── SWITCH ── */

static void test_switch_misses_and_doubles_nothing(void **state) {
    (void)state;
    for (uint32_t there_and_back = 0; there_and_back < 2; ++there_and_back) {
        if (there_and_back == 0)
            make_settled(&pair, CHAINS, N);
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
        check_peace(&pair);
    }
}

/** Its standby dies before T: there is no one to switch to. */
static void test_switch_with_dead_standby(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
    pair.server[A].switch_turn = (pair_cycle(&pair) + 6) * PAIR_PERIOD;
    pair_cycles(&pair, 7 + N + 2);
    assert_int_equal(pair_active(&pair), B);
    assert_int_equal(pair.server[B].core.reason, RM_STANDBY_TOOK_OVER);
    check_peace(&pair);
}

/** A turn that had gone when it was agreed is none. */
static void test_switch_in_the_past(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_switch(&pair, (pair_cycle(&pair) - 2) * PAIR_PERIOD);
    pair_cycles(&pair, 10 * N);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.switch_turn, RM_TURN_NONE);
}

/** What it asked before it stopped says nothing of what came since. */
static void test_switch_forgets_older_answers(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    struct rm_standby core = pair.server[A].core;
    struct rm_standby_seen seen = seen_by(&core);
    seen.orders = (struct rm_standby_orders_reading){.beat = 1000, .peer_role = RM_STANDBY_READY + 1};
    seen.orders.switch_turn = seen.turn + 2 * PAIR_PERIOD;
    for (uint32_t k = 1; k <= 6; ++k) {
        for (uint32_t c = 0; c < CHAINS && k <= 2; ++c)
            rm_standby_answer(&core, c,
                              &(struct rm_standby_answer){.cycle = seen.cycle, .term = core.term, .asked = true});
        ++seen.cycle;
        seen.turn += PAIR_PERIOD;
        ++seen.orders.beat;
        enum rm_standby_act const act = rm_standby_cycle(&core, &seen);
        assert_true(k < 2 ? act == RM_STANDBY_SENDS : act != RM_STANDBY_SENDS);
        seen.orders.peer_role = k < 2 ? RM_STANDBY_READY + 1 : 0;
    }
}

/** They swap by a switch, and not by themselves: the other one begins, when it is time to. */
static void test_different_builds(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair.planned_only = true;
    pair_cycles(&pair, 10);
    assert_int_equal(pair.server[B].core.role, RM_STANDBY_READY);
    pair_switch(&pair, (pair_cycle(&pair) + 7) * PAIR_PERIOD);
    pair_cycles(&pair, 20);
    assert_int_equal(pair_active(&pair), B);
    assert_true(pair_settle(&pair, B));
    pair_kill(&pair, B);
    pair_cycles(&pair, 3 * N + 4);
    assert_int_equal(pair_active(&pair), NONE);
    pair_cycles(&pair, 2 * pair.begin);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.reason, RM_STANDBY_BEGAN);
}

/* ── ONCE, HOLD ── */

static void test_once_until_acknowledged(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
    pair_kill(&pair, A);
    pair_cycles(&pair, 2 * N + 4);
    pair_start(&pair, A, pair.server[A].saved_term);
    assert_true(pair_settle(&pair, B));
    pair_acknowledge(&pair);
    pair_cycles(&pair, 5);
    assert_false(pair.server[B].core.unacknowledged);
    pair_kill(&pair, B);
    assert_in_range(cycles_to_successor(&pair, B), N + 1, N + 2);
    assert_int_equal(pair_active(&pair), A);
    assert_int_equal(pair.server[A].core.term, 3);
}

/** A take-over that no majority confirms does not count. */
static void test_once_wants_confirmation(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    pair_kill(&pair, A);
    while (pair_active(&pair) != B)
        pair_step(&pair);
    pair_cut_all(&pair, PAIR_TO_SERVER, B, true);
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
    make_settled(&pair, CHAINS, N);
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
    make_settled(&pair, CHAINS, N);
    pair.server[A].hold = true;
    assert_in_range(cycles_to_successor(&pair, A), N + 1, N + 2);
    assert_int_equal(pair.server[A].core.role, RM_STANDBY_MAINTENANCE);
    pair_cycles(&pair, 2);
    assert_true(pair.server[B].core.unacknowledged);
}

/** A hold does not acknowledge. */
static void test_hold_and_once(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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

/* ── orders ── */

/** A process that hangs tells nothing: its orders are not believed. */
static void test_orders_without_beat(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    struct rm_standby core = pair.server[B].core;
    struct rm_standby_seen seen = seen_by(&core);
    seen.orders = (struct rm_standby_orders_reading){.synchronised = true,
                                                     .synchronised_turn = core.turn,
                                                     .beat = core.beat,
                                                     .peer_role = RM_STANDBY_ACTIVE + 1,
                                                     .switch_turn = RM_TURN_NONE};
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

/** A copy of before it sent itself is none. */
static void test_orders_of_before(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
    struct rm_standby core = pair.server[A].core;
    struct rm_standby_seen seen = seen_by(&core);
    seen.orders = (struct rm_standby_orders_reading){.synchronised = true,
                                                     .synchronised_turn = core.turn - PAIR_PERIOD,
                                                     .peer_role = RM_STANDBY_ACTIVE + 1,
                                                     .switch_turn = RM_TURN_NONE,
                                                     .beat = 1000};
    for (uint32_t k = 0; k < 5; ++k) {
        ++seen.cycle;
        seen.turn += PAIR_PERIOD;
        for (uint32_t c = 0; c < CHAINS; ++c)
            rm_standby_answer(&core, c,
                              &(struct rm_standby_answer){.cycle = seen.cycle - 1, .term = 2, .obeyed = true});
        (void)rm_standby_cycle(&core, &seen);
        assert_int_equal(core.role, RM_STANDBY_JOINING);
    }
    seen.orders.synchronised_turn = seen.turn;
    ++seen.cycle;
    (void)rm_standby_cycle(&core, &seen);
    assert_int_equal(core.role, RM_STANDBY_READY);
}

static void test_refused_peer(void **state) {
    (void)state;
    make_settled(&pair, CHAINS, N);
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
        cmocka_unit_test(test_switch_misses_and_doubles_nothing),
        cmocka_unit_test(test_switch_with_dead_standby),
        cmocka_unit_test(test_switch_with_standby_that_dies_at_turn),
        cmocka_unit_test(test_switch_of_active_alone),
        cmocka_unit_test(test_switch_in_the_past),
        cmocka_unit_test(test_switch_forgets_older_answers),
        cmocka_unit_test(test_different_builds),
        cmocka_unit_test(test_once_until_acknowledged),
        cmocka_unit_test(test_once_acknowledged),
        cmocka_unit_test(test_once_wants_confirmation),
        cmocka_unit_test(test_once_is_kept_over_restart),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_hold_of_active),
        cmocka_unit_test(test_hold_and_once),
        cmocka_unit_test(test_orders_without_beat),
        cmocka_unit_test(test_orders_of_before),
        cmocka_unit_test(test_refused_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
