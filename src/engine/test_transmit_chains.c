// SPDX-License-Identifier: Apache-2.0
/* Chains: how they join, what their answers say, and links that are full. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_transmit_rig.h"
#include "engine/transmit_state.h"

enum { GRANT_NUMBER = 5001 };

static void a_chain_is_asked_until_it_says_where_it_stands(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 13});
    rig_stand_at(rig, 0, 3.5f);
    rig->chain[0].mute = true;
    rig_pass_cycles(rig, 5);
    assert_int_equal(rig->chain[0].queries, rig->chain[0].datagrams);
    assert_true(rig_state(rig, 12) & RM_SUPPLY_JOINING);
    assert_true(isnan(rig_sent(rig, 12)));
    rig->chain[0].mute = false;
    rig_pass_cycles(rig, 2);
    rig_pass_cycles(rig, 5);
    assert_int_equal(rig->chain[0].datagrams - rig->chain[0].queries, 6);
    for (uint32_t i = 0; i < 13; ++i) {
        assert_true(rig->chain[0].got[i] == 3.5f);
        assert_true(rig_sent(rig, i) == 3.5);
        assert_int_equal(rig_state(rig, i), 0);
    }
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_QUERIES), rig->chain[0].queries);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_SENT), rig->chain[0].datagrams);
    rig_free(rig);
}

static void chains_without_readback_begin_at_their_safe_values(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .deaf = true});
    rig_pass_cycles(rig, 100);
    assert_int_equal(rig->chain[0].queries, 0);
    assert_true(rig->chain[0].got[1] == (float)RIG_SAFE);
    assert_int_equal(rig_state(rig, 1), 0);
    rig_free(rig);
}

static void a_lost_chain_is_seen_left_alone_and_joins_again(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 2, .supplies = 1, .applications = 1, .lost_cycles = 6});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    for (int i = 0; i < 10; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 2);
        rig_pass_cycles(rig, 1);
    }
    rig->chain[0].mute = true;
    for (int i = 0; i < 5; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 2);
        rig_pass_cycles(rig, 1);
        assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_LOST), 0);
    }
    uint32_t const queries = rig->chain[0].queries;
    for (int i = 0; i < 4; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 5);
        rig_pass_cycles(rig, 1);
    }
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_LOST), 1);
    assert_true(rig_state(rig, 0) & RM_SUPPLY_LOST);
    assert_int_equal(rig_state(rig, 1) & RM_SUPPLY_LOST, 0);
    assert_in_range(rig->chain[0].queries - queries, 1, 4);
    assert_true(rm_counter_get(rig->guard_counters[1], RM_GUARD_REFUSED_FAULT) > 0);
    rig_stand_at(rig, 0, -1); /* it went its own ways */
    rig_pass_cycles(rig, 20);
    assert_in_range(rig_chain_count(rig, 0, RM_CHAIN_UNANSWERED), 20, 26);
    rig->chain[0].mute = false;
    rig_pass_cycles(rig, 3);
    assert_true(rig->chain[0].got[0] == -1);
    assert_int_equal(rig_state(rig, 0) & (RM_SUPPLY_LOST | RM_SUPPLY_JOINING), 0);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_LOST), 1);
    assert_int_equal(rig_chain_count(rig, 1, RM_CHAIN_LOST), 0);
    rig_pass_cycles(rig, 10);
    uint64_t const settled = rig_chain_count(rig, 0, RM_CHAIN_ANSWERED) + rig_chain_count(rig, 0, RM_CHAIN_UNANSWERED);
    assert_in_range(rig_chain_count(rig, 0, RM_CHAIN_SENT) - settled, 0, 1);
    rig_free(rig);
}

static void a_trip_is_seen_within_a_cycle_and_a_reset_makes_no_leap(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 12, .applications = 1});
    struct transmit_rig_chain *const chain = &rig->chain[0];
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_stand_at(rig, 0, 4);
    rig_pass_cycles(rig, 4);
    for (int i = 0; i < 4; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 4);
        rig_pass_cycles(rig, 1);
    }
    chain->bits[11] = RM_SUPPLY_BIT_TRIPPED;
    chain->bits[3] = RM_SUPPLY_BIT_SATURATED;
    chain->stands[11] = 0;
    chain->says = RM_CHAIN_SAYS_TRIPPED | RM_CHAIN_SAYS_SATURATED;
    rig_commit(rig, 1, GRANT_NUMBER, 4);
    uint32_t const before = chain->datagrams;
    while (chain->datagrams == before)
        rig_pass(rig, RIG_STEP);
    rig_pass(rig, RIG_CYCLE);
    assert_true(rig_state(rig, 11) & RM_SUPPLY_TRIPPED);
    assert_true(rig_state(rig, 3) & RM_SUPPLY_SATURATED);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_TRIPS), 1);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_SATURATIONS), 1);
    rig_commit(rig, 1, GRANT_NUMBER, 4);
    rig_pass_cycles(rig, 2);
    assert_true(rm_counter_get(rig->guard_counters[1], RM_GUARD_REFUSED_FAULT) > 0);
    assert_true(chain->got[11] == 0 && chain->got[3] == 4);
    chain->bits[11] = chain->bits[3] = chain->says = 0;
    rig_pass_cycles(rig, 2);
    assert_int_equal(rig_state(rig, 11) & RM_SUPPLY_TRIPPED, 0);
    assert_int_equal(rig_state(rig, 3) & RM_SUPPLY_SATURATED, 0);
    assert_true(chain->got[11] == 0);
    rig_commit(rig, 1, GRANT_NUMBER, 4);
    rig_pass_cycles(rig, 1);
    assert_true(chain->got[11] == (float)RIG_SLEW);
    assert_true(rig_successor_would_know(rig));
    rig_free(rig);
}

static void a_readback_that_stays_away_deviates(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1, .applications = 1, .settle_cycles = 20});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    rig->chain[0].stuck = true;
    uint32_t cycles = 0;
    for (; cycles < 100 && rig_chain_count(rig, 0, RM_CHAIN_DEVIATIONS) == 0; ++cycles) {
        rig_commit(rig, 1, GRANT_NUMBER, 1);
        rig_pass_cycles(rig, 1);
    }
    assert_in_range(cycles, 20, 26); /* two cycles to get there, twenty to settle */
    rig_pass_cycles(rig, 1);
    assert_true(rig_state(rig, 0) & RM_SUPPLY_DEVIATES);
    rig->chain[0].stuck = false;
    rig_pass_cycles(rig, 3);
    assert_int_equal(rig_state(rig, 0) & RM_SUPPLY_DEVIATES, 0);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_DEVIATIONS), 1);
    rig_free(rig);
}

/** An answer of the first chain to this turn, and no other; half a cycle passes. */
static void answer_for(struct transmit_rig *rig, rm_turn turn, uint32_t sequence) {
    struct rm_record record = {.turn = turn};
    record.lane[RM_SUPPLY_LANE_SEQUENCE].i = (int32_t)sequence;
    rm_stream_writer_put(&rig->chain[0].ring[0].writer, &record);
    rm_stream_writer_publish(&rig->chain[0].ring[0].writer, rig->tsc);
    rig->chain[0].mute = true;
    rig_pass(rig, RIG_CYCLE / 2);
}

static void wrong_answers_and_complaints_are_counted(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 11});
    rig_pass_cycles(rig, 4);
    rig->chain[0].sequence_error = 5;
    rig_pass_cycles(rig, 3);
    rig->chain[0].sequence_error = 0;
    rig->chain[0].says = RM_CHAIN_SAYS_OLD_TERM | RM_CHAIN_SAYS_MISDIRECTED | RM_CHAIN_SAYS_GAP | RM_CHAIN_SAYS_STOPPED;
    rig_pass_cycles(rig, 4);
    rig->chain[0].says = 0;
    rig_pass_cycles(rig, 20);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_WRONG_ANSWER), 3);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_UNANSWERED), 3);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_OLD_TERM), 4);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_MISDIRECTED), 4);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_GAPS), 4);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_STOPPED), 4);
    /* An answer to a cycle that never was. */
    answer_for(rig, rig_next_turn(rig) + 100ul * RIG_PERIOD, rig->chain[0].sequence);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_WRONG_ANSWER), 4);
    rig_free(rig);
}

/** A chain whose core was taken away answers a cycle that is no longer remembered: late, and not wrong. A clock that was
 * stepped back has a later turn in such an answer than it tells now, or the turn of another cycle. */
static void an_answer_that_comes_far_too_late_is_not_wrong(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 11});
    rig_pass_cycles(rig, 4);
    rm_turn const asked = rig_next_turn(rig);
    uint32_t const sequence = rig->chain[0].sequence;
    rig->chain[0].mute = true;
    rig_pass_cycles(rig, RM_TRANSMIT_WINDOW + 2);
    answer_for(rig, asked, sequence);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_WRONG_ANSWER), 0);
    assert_true(rig_chain_count(rig, 0, RM_CHAIN_UNANSWERED) > 0);
    answer_for(rig, rig_next_turn(rig) - 2 * RIG_PERIOD, sequence);
    answer_for(rig, rig_next_turn(rig) - 2 * RIG_PERIOD + 1, sequence);
    answer_for(rig, rig_next_turn(rig) + 100ul * RIG_PERIOD, sequence);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_WRONG_ANSWER), 0);
    answer_for(rig, rig_next_turn(rig) + 200ul * RIG_PERIOD, sequence + 2 * RM_TRANSMIT_WINDOW);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_WRONG_ANSWER), 1);
    rig_free(rig);
}

static void a_full_link_is_tried_again_and_no_number_is_wasted(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 96, .supplies = 1, .applications = 1, .lost_cycles = 1000});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    rig_pass(rig, RIG_CYCLE / 2);
    rig->port->takes = 1; /* a link that takes four datagrams a look */
    for (int i = 0; i < 4; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 10);
        rig_pass_cycles(rig, 1);
    }
    assert_int_equal(rig_count(rig, RM_TRANSMIT_UNSENT), 0);
    float const at = rig->chain[95].got[0];
    assert_true(at > 0);
    for (int i = 0; i < 3; ++i) {
        rig->port->takes = 0;
        rig_commit(rig, 1, GRANT_NUMBER, 10);
        rig_pass_cycles(rig, 1);
    }
    assert_in_range(rig_count(rig, RM_TRANSMIT_UNSENT), 2 * 96, 3 * 96);
    rig->port->takes = RM_BURST;
    float last = at;
    uint32_t before = rig->chain[95].datagrams;
    for (int i = 0; i < 30; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 10);
        rig_pass_cycles(rig, 1); /* the rig holds sequence numbers to be without a gap */
        assert_in_range(rig->chain[95].datagrams - before, 1, 2); /* two: what was left, and the next cycle's */
        assert_true(rig->chain[95].got[0] - last <= (float)RIG_SLEW * (float)(rig->chain[95].datagrams - before));
        assert_true(rig_successor_would_know(rig));
        before = rig->chain[95].datagrams;
        last = rig->chain[95].got[0];
    }
    assert_true(last == 10);
    rig->port->room = 0; /* nor does a dry pool do harm */
    rig_pass_cycles(rig, 2);
    rig->port->room = RM_BURST;
    rig_pass_cycles(rig, 2);
    assert_int_equal(rig_chain_count(rig, 7, RM_CHAIN_SENT), rig->chain[7].datagrams);
    rig_free(rig);
}

static void many_chains_are_sent_and_heard_each_cycle(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 96, .supplies = 13, .applications = 3});
    for (uint32_t a = 1; a <= 3; ++a)
        rig_grant(rig, a, GRANT_NUMBER + a, 1);
    rig_pass_cycles(rig, 4);
    for (int i = 0; i < 50; ++i) {
        for (uint32_t a = 1; a <= 3; ++a)
            rig_commit(rig, a, GRANT_NUMBER + a, a);
        rig_pass_cycles(rig, 1);
    }
    rig_pass_cycles(rig, 1);
    for (uint32_t c = 0; c < 96; ++c) {
        assert_int_equal(rig->chain[c].datagrams, rig_count(rig, RM_TRANSMIT_CYCLES));
        assert_in_range(rig_chain_count(rig, c, RM_CHAIN_ANSWERED), rig->chain[c].datagrams - 1,
                        rig->chain[c].datagrams);
        for (uint32_t i = 0; i < 13; ++i)
            assert_true(rig->chain[c].got[i] == (float)(1 + (13 * c + i) % 3));
    }
    assert_int_equal(rig_count(rig, RM_TRANSMIT_UNSENT), 0);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_chain_is_asked_until_it_says_where_it_stands),
        cmocka_unit_test(chains_without_readback_begin_at_their_safe_values),
        cmocka_unit_test(a_lost_chain_is_seen_left_alone_and_joins_again),
        cmocka_unit_test(a_trip_is_seen_within_a_cycle_and_a_reset_makes_no_leap),
        cmocka_unit_test(a_readback_that_stays_away_deviates),
        cmocka_unit_test(wrong_answers_and_complaints_are_counted),
        cmocka_unit_test(an_answer_that_comes_far_too_late_is_not_wrong),
        cmocka_unit_test(a_full_link_is_tried_again_and_no_number_is_wasted),
        cmocka_unit_test(many_chains_are_sent_and_heard_each_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
