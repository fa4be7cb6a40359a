// SPDX-License-Identifier: Apache-2.0
/** What a transmit role goes on from, as one of two: what was sent, where turns begin anew, and what an operator wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "engine/test_transmit_pair.h"

static void take_over(struct pair *pair) {
    pair->dead[0] = true;
    pair_pass_cycles(pair, PAIR_MISSED + 6);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_ACTIVE);
}

/** What it wanted to send, and the port did not take, no chain has: it goes on from what was sent. */
static void a_server_whose_port_took_nothing_goes_on_from_what_was_sent(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(-RIG_SLEW);
    uint32_t const takes = pair->server[0]->port->takes;
    pair->dead[1] = true;
    pair->server[0]->port->takes = 0;
    pair_pass_cycles(pair, PAIR_MISSED + 6);
    assert_int_not_equal(pair_role(pair, 0), RM_STANDBY_ACTIVE);
    float const stood = pair->chain[0].stands[0];
    pair_judge_anew(pair);
    pair->server[0]->port->takes = takes;
    for (uint32_t cycles = 0; cycles < 20 && pair->chain[0].obeyed[0] == 0; ++cycles)
        pair_pass_cycles(pair, 1);
    assert_in_range(pair->chain[0].obeyed[0], 1, 2);
    float const most = PAIR_MOST_SLEWS * (float)(RIG_SLEW * pair->chain[0].obeyed[0]); // from its first one on
    assert_true(fabsf(stood - pair->chain[0].stands[0]) <= most);
    pair_pass_cycles(pair, 40);
    assert_int_equal(pair_role(pair, 0), RM_STANDBY_ACTIVE);
    assert_true(pair_is_smooth(pair));
    pair_free(pair);
}

/** Turns are counted anew on both servers, as where the machine's timing starts again. */
static void where_turns_begin_anew_the_active_server_goes_on(void **state) {
    (void)state;
    for (uint32_t back = 0; back < 2; ++back) {
        struct pair *const pair = pair_make_moving(RIG_SLEW / 2);
        for (uint64_t epoch = 2; epoch < 9; ++epoch) { // by odd and by even numbers of cycles
            rm_turn const turn = rig_next_turn(pair->server[0]);
            for (uint32_t s = 0; s < 2; ++s)
                rig_set_clock(pair->server[s], back ? turn - (30 + epoch) * RIG_PERIOD : turn + 10000 * epoch + 5,
                              epoch);
            pair_pass_cycles(pair, 20);
            assert_int_equal(pair_role(pair, 0), RM_STANDBY_ACTIVE);
            assert_int_equal(pair_role(pair, 1), RM_STANDBY_READY);
        }
        assert_int_equal(pair->datagrams[1], 0);
        assert_in_range(pair->chain[0].obeyed[0], 7 * 19, 7 * 21);
        take_over(pair);
        pair_free(pair);
    }
}

/** The operator sets supply 3 on the server that sends. */
static void put_by_hand(struct pair *pair, uint32_t server, double value) {
    struct rm_operator_put *const put = rm_transmit_put(pair->server[server]->transmit);
    put->supply = 3;
    put->value = value;
    rm_mailbox_post(&put->mailbox);
    pair_pass_cycles(pair, 4);
    rm_mailbox_close(&put->mailbox);
}

static void switch_to(struct pair *pair, uint32_t to) {
    pair->told[0].switch_turn = pair->told[1].switch_turn = rig_next_turn(pair->server[0]) + 7 * RIG_PERIOD;
    pair_pass_cycles(pair, 20);
    pair->told[0].switch_turn = pair->told[1].switch_turn = RM_TURN_NONE;
    assert_int_equal(pair_role(pair, to), RM_STANDBY_ACTIVE);
}

/** What the other server wanted before this one sent is old. */
static void a_server_that_goes_on_keeps_what_the_operator_wanted_of_it(void **state) {
    (void)state;
    struct pair *const pair = pair_make(true);
    pair_settle(pair);
    switch_to(pair, 1);
    put_by_hand(pair, 1, 4);
    pair_pass_cycles(pair, 20);
    switch_to(pair, 0);
    put_by_hand(pair, 0, 1);
    pair_pass_cycles(pair, 20);
    assert_true(pair->chain[0].stands[3] == 1);
    pair->dead[1] = true;
    pair_pass_cycles(pair, 20);
    pair->asleep[0] = true;
    pair_pass_cycles(pair, 6);
    pair->asleep[0] = false;
    pair_pass_cycles(pair, 40);
    assert_int_equal(pair_role(pair, 0), RM_STANDBY_ACTIVE);
    assert_int_equal(pair_state(pair, 0).reason, RM_STANDBY_UNANSWERED);
    assert_true(pair->chain[0].stands[3] == 1);
    pair_free(pair);
}

static void what_the_operator_wanted_goes_on_after_a_takeover(void **state) {
    (void)state;
    struct pair *const pair = pair_make(true);
    pair_settle(pair);
    put_by_hand(pair, 0, 8);
    assert_in_range((int)(10 * pair->chain[0].stands[3]), 1, 79); // on its way
    take_over(pair);
    pair_pass_cycles(pair, 20);
    assert_true(pair->chain[0].stands[3] == 8);
    assert_true(pair_is_smooth(pair));
    pair_free(pair);
}

/** A chain follows the old server while the others are silent, and the new one does not hear it. Its supplies have gone
 * steps that nobody told of: it is asked first, and gets setpoints when they are no further away than slews allow. */
static void a_chain_that_does_not_answer_the_new_server_is_asked_first(void **state) {
    (void)state;
    struct pair *const pair = pair_make_moving(RIG_SLEW);
    pair->link_cut = pair->mute_chain[1][0] = true;
    for (uint32_t c = 1; c < PAIR_CHAINS; ++c)
        pair->deaf_chain[0][c] = true;
    pair_pass_cycles(pair, PAIR_MISSED + 8);
    assert_int_equal(pair_role(pair, 1), RM_STANDBY_ACTIVE);
    assert_in_range(pair->chain[0].obeyed[0], 1, PAIR_MISSED + 1);
    assert_int_equal(pair->chain[0].obeyed[1], 0);
    pair->mute_chain[1][0] = false;
    pair_pass_cycles(pair, 20);
    assert_in_range(pair->chain[0].obeyed[1], 10, 20);
    assert_true(pair_is_smooth(pair));
    pair_free(pair);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_chain_that_does_not_answer_the_new_server_is_asked_first),
        cmocka_unit_test(a_server_whose_port_took_nothing_goes_on_from_what_was_sent),
        cmocka_unit_test(where_turns_begin_anew_the_active_server_goes_on),
        cmocka_unit_test(what_the_operator_wanted_goes_on_after_a_takeover),
        cmocka_unit_test(a_server_that_goes_on_keeps_what_the_operator_wanted_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
