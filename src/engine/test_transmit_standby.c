// SPDX-License-Identifier: Apache-2.0
/** Two transmit roles against one set of chains: one sends, the other follows, and takes over without a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "engine/test_transmit_pair.h"

enum {
    SEEDS = 40,
    FAULTS = 40,
};

/** What every test holds the chains to. */
static void assert_smooth(struct pair const *pair) {
    assert_true(pair_is_smooth(pair));
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        assert_int_equal(pair->chain[c].doubled, 0);
}

static void the_first_server_begins_and_the_other_one_follows(void **state) {
    (void)state;
    struct pair *const pair = pair_make(false);
    pair_settle(pair);
    assert_int_equal(pair_count(pair, 0, RM_STANDBY_BEGINS), 1);
    assert_int_equal(pair_state(pair, 0).reason, RM_STANDBY_BEGAN);
    assert_int_equal(pair_state(pair, 0).term, 1);
    assert_int_equal(pair->chain[0].term, 1);
    pair->step = RIG_SLEW / 2;
    pair_pass_cycles(pair, 30);
    assert_int_equal(pair->datagrams[1], 0);
    assert_int_equal(pair->queries[1], 0);
    assert_int_equal(pair->datagrams[0], 30 * PAIR_CHAINS);
    assert_in_range(pair_count(pair, 1, RM_STANDBY_FOLLOWED), 30, 60);
    assert_int_equal(pair_count(pair, 1, RM_STANDBY_LAGGED), 0);
    assert_int_equal(pair_state(pair, 0).with_us, PAIR_CHAINS);
    pair->step = 0;
    pair_pass_cycles(pair, 4);
    for (uint32_t i = 0; i < PAIR_CHAINS * PAIR_SUPPLIES; ++i) { // and publishes it
        assert_true(rig_sent(pair->server[1], i) == rig_sent(pair->server[0], i));
        assert_int_equal(rig_state(pair->server[1], i) & (RM_SUPPLY_JOINING | RM_SUPPLY_LOST), 0);
    }
    assert_smooth(pair);
    pair_free(pair);
}

static void take_over_from(struct pair *pair) {
    pair->dead[0] = true;
    pair_pass_cycles(pair, PAIR_MISSED + 6);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_ACTIVE);
    assert_int_equal(pair_state(pair, 1).reason, RM_STANDBY_TOOK_OVER);
}

static void a_killed_server_is_followed_within_two_cycles_more_than_were_missed(void **state) {
    (void)state;
    for (uint32_t parts = 0; parts < 6; ++parts) {
        struct pair *const pair = pair_make_moving(parts % 2 ? RIG_SLEW : -RIG_SLEW / 3);
        pair_pass_cycles(pair, parts);
        take_over_from(pair);
        assert_int_equal(pair_count(pair, 1, RM_STANDBY_TAKEOVERS), 1);
        assert_in_range(pair->query_ticks[1], RIG_CYCLE / 4, RIG_CYCLE / 4 + RIG_STEP); // whole cycles had passed
        assert_true(pair_state(pair, 1).unacknowledged);
        assert_int_equal(pair_state(pair, 1).term, 2);
        for (uint32_t c = 0; c < PAIR_CHAINS; ++c) {
            assert_true(pair->chain[c].obeyed[1] > 0);
            assert_in_range(pair->chain[c].longest_gap, PAIR_MISSED + 1, PAIR_MISSED + 2);
        }
        assert_smooth(pair);
        pair_pass_cycles(pair, 30);
        assert_smooth(pair);
        pair_free(pair);
    }
}

static void a_planned_switch_misses_and_doubles_no_cycle(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW);
    for (uint32_t round = 0; round < 4; ++round) {
        uint32_t const to = round % 2 == 0;
        rm_turn const turn = rig_next_turn(pair->server[0]) + 7 * RIG_PERIOD;
        pair->told[0].switch_turn = pair->told[1].switch_turn = turn;
        pair_pass_cycles(pair, 5);
        assert_int_equal(pair_state(pair, 1 - to).switch_turn, turn);
        pair_pass_cycles(pair, 15);
        assert_int_equal(pair_role(pair, to), RM_STANDBY_ACTIVE);
        assert_int_equal(pair_state(pair, to).reason, RM_STANDBY_SWITCHED);
        assert_int_equal(pair_role(pair, 1 - to), RM_STANDBY_READY);
        assert_false(pair_state(pair, to).unacknowledged);
        pair->told[0].switch_turn = pair->told[1].switch_turn = RM_TURN_NONE;
        assert_smooth(pair);
        for (uint32_t c = 0; c < PAIR_CHAINS; ++c) {
            assert_int_equal(pair->chain[c].missed, 0);
            assert_true(pair->chain[c].obeyed[to] > 0);
        }
        assert_int_equal(pair->queries[0] + pair->queries[1], 0);
    }
    assert_int_equal(pair_count(pair, 0, RM_STANDBY_SWITCHES), 4);
    assert_int_equal(pair_count(pair, 1, RM_STANDBY_SWITCHES), 4);
    pair_free(pair);
}

static void a_server_that_slept_asks_before_it_sends_and_hears_that_it_is_deposed(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    pair->asleep[0] = true;
    pair_pass_cycles(pair, PAIR_MISSED + 6);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_ACTIVE);
    pair_judge_anew(pair);
    pair->asleep[0] = false;
    pair_pass_cycles(pair, 20);
    assert_int_equal(pair->datagrams[0], 0); // it never sent a setpoint again
    assert_int_equal(pair_role(pair, 0), RM_STANDBY_READY);
    assert_int_equal(pair_count(pair, 0, RM_STANDBY_DEPOSITIONS) + pair_count(pair, 0, RM_STANDBY_UNCONFIRMED), 1);
    assert_int_equal(pair_state(pair, 0).highest_term, 2);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        assert_int_equal(pair->chain[c].missed, 0);
    assert_smooth(pair);
    pair->step = 0;
    pair_pass_cycles(pair, 4);
    for (uint32_t i = 0; i < PAIR_CHAINS * PAIR_SUPPLIES; ++i) // and it follows the other one now
        assert_true(rig_sent(pair->server[1], i) == rig_sent(pair->server[0], i));
    pair_free(pair);
}

static void a_server_that_slept_behind_its_decision_sends_nothing(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    uint64_t const due = rig_due(pair->server[0], rig_next_turn(pair->server[0]));
    for (uint32_t s = 0; s < 2; ++s)
        pair->server[s]->tsc = due + 5 * RIG_CYCLE; // as if between this and the next line
    assert_int_equal(rm_transmit_duty(pair->server[0]->transmit, due), 0);
    assert_int_equal(pair->server[0]->port->sent_count, 0);
    pair_free(pair);
}

/** Its first server sleeps behind its first burst. */
static struct pair *sleeper;

static void sleep_behind_the_first_burst(enum fake_place place) {
    if (place != FAKE_IS_OFFERED || sleeper->server[0]->port->sent_count != 0)
        return;
    for (uint32_t s = 0; s < 2; ++s)
        sleeper->server[s]->tsc += 5 * RIG_CYCLE;
}

static void a_server_that_slept_between_two_bursts_gives_up_the_rest(void **state) {
    (void)state;
    sleeper = pair_make_moving(RIG_SLEW / 2);
    uint64_t const due = rig_due(sleeper->server[0], rig_next_turn(sleeper->server[0]));
    for (uint32_t s = 0; s < 2; ++s)
        sleeper->server[s]->tsc = due;
    sleeper->server[0]->port->at = sleep_behind_the_first_burst;
    assert_int_equal(rm_transmit_duty(sleeper->server[0]->transmit, due), 1);
    sleeper->server[0]->port->at = NULL;
    assert_int_equal(rm_transmit_duty(sleeper->server[0]->transmit, due), 0);
    assert_int_equal(sleeper->server[0]->port->sent_count, 1);
    pair_free(sleeper);
}

static void a_server_that_slept_alone_asks_and_goes_on(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    pair->dead[1] = true;
    pair_pass_cycles(pair, 10);
    pair->asleep[0] = true;
    pair_pass_cycles(pair, 6);
    pair_judge_anew(pair);
    pair->asleep[0] = false;
    pair_pass_cycles(pair, 12);
    assert_true(pair->queries[0] >= PAIR_CHAINS);
    assert_int_equal(pair_role(pair, 0), RM_STANDBY_ACTIVE);
    assert_int_equal(pair_state(pair, 0).term, 1);
    assert_true(pair->chain[0].obeyed[0] > 0);
    assert_smooth(pair);
    pair_free(pair);
}

static void a_server_that_chains_do_not_answer_stops_and_says_so(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    pair->dead[1] = true;
    pair->deaf[0] = true;
    pair_pass_cycles(pair, PAIR_MISSED + 2);
    assert_int_not_equal(pair_role(pair, 0), RM_STANDBY_ACTIVE);
    assert_int_equal(pair_state(pair, 0).reason, RM_STANDBY_UNANSWERED);
    assert_int_equal(pair_count(pair, 0, RM_STANDBY_UNCONFIRMED), 1);
    pair_judge_anew(pair);
    pair_pass_cycles(pair, 10);
    assert_int_equal(pair->datagrams[0], 0);
    pair_free(pair);
}

/** Only part of the chains hears each server: the one with most of them goes on, under a term that wins. */
static void chains_divided_between_the_servers_are_soon_one_servers(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    pair->deaf_chain[0][0] = pair->deaf_chain[0][1] = pair->deaf_chain[0][2] = true;
    pair_pass_cycles(pair, 3 * PAIR_MISSED + 10);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_ACTIVE);
    pair_judge_anew(pair);
    pair_pass_cycles(pair, 20);
    assert_int_equal(pair->datagrams[0], 0);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        assert_int_equal(pair->chain[c].obeyed[1], 20);
    assert_smooth(pair);
    pair_free(pair);
}

/** Setpoints go two steps up and two down, by a whole slew each: one server's last step and the other's first, which
 * knows of one cycle less, are never alike. */
static void pass_cycles_to_and_fro(struct pair *pair, uint32_t cycles) {
    for (uint32_t i = 0; i < cycles; i += 2) {
        pair->wanted = -pair->wanted;
        pair_pass_cycles(pair, 2);
    }
}

static void where_the_peers_record_is_a_cycle_old_the_first_cycle_repeats_it(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(0);
    pair->wanted = 8;
    pair->link_ticks = RIG_CYCLE * 3 / 2;
    for (uint32_t cycles = 7; cycles < 9; ++cycles) {
        uint32_t const to = pair_role(pair, 0) == RM_STANDBY_ACTIVE;
        pair->told[0].switch_turn = pair->told[1].switch_turn =
            rig_next_turn(pair->server[0]) + (rm_turn)cycles * RIG_PERIOD;
        pass_cycles_to_and_fro(pair, 20);
        assert_int_equal(pair_role(pair, to), RM_STANDBY_ACTIVE);
        pair->told[0].switch_turn = pair->told[1].switch_turn = RM_TURN_NONE;
        assert_smooth(pair);
        for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
            assert_int_equal(pair->chain[c].missed, 0);
    }
    pair_free(pair);
}

/** The answers to the other server's last setpoints tell where supplies stand, so no chain need be asked. */
static void a_switch_over_a_slow_link_misses_no_cycle_either(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(0);
    pair->wanted = 8;
    pair->link_ticks = RIG_CYCLE * 27 / 10;
    pass_cycles_to_and_fro(pair, 10);
    pair_judge_anew(pair);
    pair->told[0].switch_turn = pair->told[1].switch_turn = rig_next_turn(pair->server[0]) + 7 * RIG_PERIOD;
    pass_cycles_to_and_fro(pair, 20);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_ACTIVE);
    assert_true(pair_count(pair, 1, RM_STANDBY_LAGGED) > 0);
    assert_int_equal(pair->queries[0] + pair->queries[1], 0);
    assert_smooth(pair);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        assert_int_equal(pair->chain[c].missed, 0);
    pair_free(pair);
}

static void where_the_peers_record_is_older_the_readback_decides(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW);
    pair->link_cut = true;
    pair_pass_cycles(pair, PAIR_MISSED + 4);
    pair_judge_anew(pair);
    take_over_from(pair);
    assert_true(pair_count(pair, 1, RM_STANDBY_LAGGED) > 0);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        assert_in_range(pair->chain[c].longest_gap, PAIR_MISSED + 1, PAIR_MISSED + 2);
    assert_smooth(pair);
    pair_free(pair);
}

static void a_held_server_neither_sends_nor_takes_over(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    pair->told[1].hold = true;
    pair_pass_cycles(pair, 3);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_MAINTENANCE);
    pair_lose_process(pair, 1);
    pair->dead[0] = true;
    pair_pass_cycles(pair, 4 * PAIR_BEGIN);
    assert_int_equal(pair->datagrams[1], 0);
    pair_free(pair);
}

static void a_chain_that_was_switched_on_joins_when_it_has_listened(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
    pair->chain[2].term = pair->chain[2].instance = 0;
    pair->chain[2].listens_until = pair->server[0]->tsc + 6 * RIG_CYCLE;
    pair_pass_cycles(pair, 4);
    assert_int_equal(rig_state(pair->server[0], 2 * PAIR_SUPPLIES) & RM_SUPPLY_JOINING, RM_SUPPLY_JOINING);
    pair_pass_cycles(pair, 8);
    assert_int_equal(rig_state(pair->server[0], 2 * PAIR_SUPPLIES) & RM_SUPPLY_JOINING, 0);
    assert_int_equal(pair->chain[2].term, 1);
    assert_smooth(pair);
    pair_free(pair);
}

static uint32_t draw(uint64_t *random, uint32_t below) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % below;
}

/** Something goes wrong, or is mended; and the operator acknowledges what has happened. */
static void draw_fault(struct pair *pair, uint64_t *random) {
    uint32_t const s = draw(random, 2), c = draw(random, PAIR_CHAINS);
    switch (draw(random, 8)) {
    case 0:
        pair->asleep[s] = !pair->asleep[s];
        break;
    case 1:
        pair->deaf[s] = !pair->deaf[s];
        break;
    case 2:
        pair->deaf_chain[s][c] = !pair->deaf_chain[s][c];
        break;
    case 3:
        pair->link_cut = !pair->link_cut;
        break;
    case 4:
        pair->chain[c].term = pair->chain[c].instance = 0;
        pair->chain[c].listens_until = pair->server[0]->tsc + 15 * RIG_CYCLE;
        break;
    case 5:
        pair->step = -pair->step;
        break;
    default:
        pair->asleep[s] = pair->deaf[s] = pair->link_cut = false;
        memset(pair->deaf_chain[s], 0, sizeof pair->deaf_chain[s]);
        break;
    }
    ++pair->told[0].acknowledged;
    ++pair->told[1].acknowledged;
}

static void whatever_goes_wrong_no_supply_leaves_its_limits_or_its_slew(void **state) {
    (void)state;
    uint32_t changes = 0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        struct pair *const pair = pair_make_moving(RIG_SLEW);
        uint64_t random = seed;
        for (uint32_t fault = 0; fault < FAULTS; ++fault) {
            draw_fault(pair, &random);
            pair_pass_cycles(pair, 1 + draw(&random, 25));
            for (uint32_t c = 0; c < PAIR_CHAINS; ++c) {
                if (pair->chain[c].beyond || pair->chain[c].steepest > 1.001f)
                    fail_msg("seed %u, fault %u: chain %u went %g slews a cycle", (unsigned)seed, fault, c,
                             (double)pair->chain[c].steepest);
            }
        }
        for (uint32_t s = 0; s < 2; ++s) {
            pair->asleep[s] = pair->deaf[s] = pair->link_cut = false;
            memset(pair->deaf_chain[s], 0, sizeof pair->deaf_chain[s]);
            changes += (uint32_t)(pair_count(pair, s, RM_STANDBY_TAKEOVERS) + pair_count(pair, s, RM_STANDBY_BEGINS) +
                                  pair_count(pair, s, RM_STANDBY_DEPOSITIONS));
        }
        pair_pass_cycles(pair, 4 * PAIR_BEGIN); // a pair without faults always gets a master
        assert_int_equal((pair_role(pair, 0) == RM_STANDBY_ACTIVE) + (pair_role(pair, 1) == RM_STANDBY_ACTIVE), 1);
        for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
            assert_true(pair->server[0]->tsc - pair->chain[c].obeyed_tsc < 3 * RIG_CYCLE);
        pair_free(pair);
    }
    assert_true(changes > SEEDS);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_first_server_begins_and_the_other_one_follows),
        cmocka_unit_test(a_killed_server_is_followed_within_two_cycles_more_than_were_missed),
        cmocka_unit_test(a_planned_switch_misses_and_doubles_no_cycle),
        cmocka_unit_test(a_server_that_slept_asks_before_it_sends_and_hears_that_it_is_deposed),
        cmocka_unit_test(a_server_that_slept_behind_its_decision_sends_nothing),
        cmocka_unit_test(a_server_that_slept_between_two_bursts_gives_up_the_rest),
        cmocka_unit_test(a_server_that_slept_alone_asks_and_goes_on),
        cmocka_unit_test(a_server_that_chains_do_not_answer_stops_and_says_so),
        cmocka_unit_test(chains_divided_between_the_servers_are_soon_one_servers),
        cmocka_unit_test(where_the_peers_record_is_a_cycle_old_the_first_cycle_repeats_it),
        cmocka_unit_test(a_switch_over_a_slow_link_misses_no_cycle_either),
        cmocka_unit_test(where_the_peers_record_is_older_the_readback_decides),
        cmocka_unit_test(a_held_server_neither_sends_nor_takes_over),
        cmocka_unit_test(a_chain_that_was_switched_on_joins_when_it_has_listened),
        cmocka_unit_test(whatever_goes_wrong_no_supply_leaves_its_limits_or_its_slew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
