// SPDX-License-Identifier: Apache-2.0
/** Terms of a server that is alone: above all that it knows of, so that no chain obeys one that was before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/test_transmit_pair.h"

static void assert_all_obey(struct pair const *pair, uint32_t term) {
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c) {
        assert_int_equal(pair->chain[c].term, term);
        assert_true(pair->chain[c].obeyed[0] > 0);
        assert_false(pair->chain[c].beyond);
        assert_true(pair->chain[c].steepest <= 1.001f);
    }
}

static uint32_t highest_term(struct pair const *pair) {
    return atomic_load(rm_transmit_highest_term(pair->server[0]->transmit));
}

/** A server whose supplies move, and to which all chains answer. */
static struct pair *server_alone(void) {
    struct pair *const pair = pair_make_alone(0);
    pair->step = RIG_SLEW / 2;
    pair_pass_cycles(pair, 20);
    assert_all_obey(pair, 1);
    pair_judge_anew(pair);
    return pair;
}

static void the_first_term_is_above_the_disks_and_what_chains_tell(void **state) {
    (void)state;
    struct pair *pair = pair_make_alone(100);
    pair_pass_cycles(pair, 10);
    assert_all_obey(pair, 101);
    pair_free(pair);
    pair = pair_make_alone(0);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        pair->chain[c].stands[0] = 2;
    pair->chain[1].term = 40;
    pair->chain[1].instance = 5;
    pair->chain[4].term = 17;
    pair_pass_cycles(pair, 10);
    assert_all_obey(pair, 41);
    assert_int_equal(highest_term(pair), 41);
    pair_free(pair);
}

/** The chain has obeyed another server, and nobody since. */
static void leave_to_nobody(struct pair *pair, uint32_t c, uint32_t term) {
    pair->chain[c].term = term;
    pair->chain[c].instance = 5;
    pair->chain[c].is_silent = true;
}

static void a_chain_that_obeyed_another_server_is_won_back_without_a_step(void **state) {
    (void)state;
    struct pair *const pair = server_alone();
    leave_to_nobody(pair, 2, 8);
    pair_pass_cycles(pair, 10);
    assert_all_obey(pair, 9);
    assert_int_equal(rig_chain_count(pair->server[0], 2, RM_CHAIN_OLD_TERM), 1);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        assert_int_equal(pair->chain[c].missed, c == 2 ? 2 : 0); // one was refused, one was a query
    pair_free(pair);
}

static void another_server_under_the_same_term_is_left_behind(void **state) {
    (void)state;
    struct pair *const pair = server_alone();
    leave_to_nobody(pair, 3, 1);
    pair_pass_cycles(pair, 10);
    assert_all_obey(pair, 3);
    pair_free(pair);
}

static void two_servers_that_know_nothing_of_each_other_do_not_use_terms_up(void **state) {
    (void)state;
    struct pair *const pair = server_alone();
    pair->dead[1] = false; // it begins above, and has the chains from now on
    pair_pass_cycles(pair, 200);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c) {
        assert_int_equal(pair->chain[c].term, 3);
        assert_true(pair->chain[c].obeyed[1] > 150);
        assert_true(rig_chain_count(pair->server[0], c, RM_CHAIN_OLD_TERM) > 0);
    }
    assert_int_equal(highest_term(pair), 3);
    pair->dead[1] = true;
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        leave_to_nobody(pair, c, 3);
    pair_judge_anew(pair);
    pair_pass_cycles(pair, 40);
    assert_all_obey(pair, 5);
    pair_free(pair);
}

static void a_chain_that_listens_is_not_joined(void **state) {
    (void)state;
    struct pair *const pair = pair_make_alone(0);
    pair->chain[0].listens_until = pair->server[0]->tsc + 12 * RIG_CYCLE;
    pair_pass_cycles(pair, 8);
    assert_int_equal(pair->chain[0].obeyed[0], 0);
    assert_int_equal(rig_state(pair->server[0], 0) & RM_SUPPLY_JOINING, RM_SUPPLY_JOINING);
    assert_true(pair->chain[1].obeyed[0] > 0);
    assert_int_equal(pair->datagrams[0], (PAIR_CHAINS - 1) * pair->chain[1].obeyed[0]); // queries alone
    pair_pass_cycles(pair, 10);
    assert_all_obey(pair, 1);
    pair_free(pair);
}

static void a_life_after_another_has_the_next_term(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 2, .supplies = 4});
    rig_pass_cycles(rig, 5);
    assert_int_equal(rig->chain[0].term, 1);
    rig_kill(rig, FAKE_IS_OFFERED, 1);
    rig_pass_cycles(rig, 5);
    assert_int_equal(rig->chain[0].term, 3); // whatever chains tell: theirs was not obeyed under it
    assert_int_equal(atomic_load(&rig->intended[1].term), 3);
    rig_free(rig);
}

static void the_last_term_is_the_last(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 2, .supplies = 4});
    struct rm_error error;
    rm_transmit_free(rig->transmit);
    rig->term = RM_TERM_MAX;
    assert_int_equal(rig_make_role(rig, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "found the highest term used to be 65535, expected one below"));
    rig->term = RM_TERM_MAX - 1;
    assert_int_equal(rig_make_role(rig, &error), RM_OK);
    rig_pass_cycles(rig, 5);
    assert_int_equal(rig->chain[0].term, RM_TERM_MAX);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_first_term_is_above_the_disks_and_what_chains_tell),
        cmocka_unit_test(a_chain_that_obeyed_another_server_is_won_back_without_a_step),
        cmocka_unit_test(another_server_under_the_same_term_is_left_behind),
        cmocka_unit_test(two_servers_that_know_nothing_of_each_other_do_not_use_terms_up),
        cmocka_unit_test(a_chain_that_listens_is_not_joined),
        cmocka_unit_test(a_life_after_another_has_the_next_term),
        cmocka_unit_test(the_last_term_is_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
