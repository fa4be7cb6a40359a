// SPDX-License-Identifier: Apache-2.0
/* A transmit role that was killed, and its successor. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/test_transmit_rig.h"

enum { GRANT_NUMBER = 5001, LEFT = 2 };

static void leave_row(struct rm_intended *intended, uint64_t number, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < LEFT; ++i)
        atomic_store(&intended->value[number % 2 * LEFT + i], bits);
}

/** What a role leaves behind that has sent `value` to its one chain, of two supplies. */
static struct rm_intended *life_that_sent(float value) {
    struct rm_intended *const intended = calloc(1, sizeof *intended);
    assert_non_null(intended);
    leave_row(intended, 5, value);
    atomic_store(&intended->transmitted, 5);
    atomic_store(&intended->intended, 5);
    return intended;
}

/** The same of one that was killed when it had intended the next value. */
static struct rm_intended *life_in_doubt(float value, float next) {
    struct rm_intended *const intended = life_that_sent(value);
    leave_row(intended, 6, next);
    atomic_store(&intended->intended, 6);
    return intended;
}

static void supplies_go_on_where_the_last_life_left_them(void **state) {
    (void)state;
    struct {
        float last, stands, begins;
    } const at[] = {{4, 4.05f, 4}, {4, 4.5f, 4.5f}, {NAN, 4.05f, 4.05f}, {INFINITY, 4.05f, 4.05f}};
    for (unsigned i = 0; i < sizeof at / sizeof at[0]; ++i) {
        struct transmit_rig *const rig = rig_make(
            &(struct transmit_rig_options){.chains = 1, .supplies = 2, .last_life = life_that_sent(at[i].last)});
        rig_stand_at(rig, 0, at[i].stands);
        rig_pass_cycles(rig, 4);
        assert_true(rig->chain[0].queries > 0);
        assert_true(rig->chain[0].got[1] == at[i].begins);
        assert_true(rig_successor_would_know(rig));
        rig_free(rig);
    }
}

static void the_readback_decides_which_setpoint_was_the_last(void **state) {
    (void)state;
    struct {
        float last, intended, stands, begins;
    } const at[] = {
        {4, 4.5f, 4.01f, 4},      {4, 4.5f, 4.49f, 4.5f},    {4, 4.5f, 4.25f, 4.25f},  {4, 4.08f, 4.03f, 4},
        {4, 4.08f, 4.05f, 4.08f}, {4, 4.08f, 4.04f, 4},      {4, 4.08f, 4.17f, 4.08f}, {4, 4.08f, 3.89f, 3.89f},
        {NAN, 4, 4.05f, 4},       {4, (float)NAN, 4.05f, 4}, {4, INFINITY, 4.05f, 4},  {4, 4.5f, -7, -7},
    };
    for (unsigned i = 0; i < sizeof at / sizeof at[0]; ++i) {
        struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){
            .chains = 1, .supplies = 2, .last_life = life_in_doubt(at[i].last, at[i].intended)});
        rig_stand_at(rig, 0, at[i].stands);
        rig_pass_cycles(rig, 4);
        assert_true(rig->chain[0].got[1] == at[i].begins);
        assert_true(rig_sent(rig, 1) == (double)at[i].begins);
        rig_free(rig);
    }
}

/** A doubt ends when the supply has joined: a chain that is lost later begins at what it was sent last. */
static void a_doubt_lasts_until_its_chain_has_joined(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){
        .chains = 1, .supplies = 2, .lost_cycles = 6, .last_life = life_in_doubt(4, 4.08f)});
    rig_stand_at(rig, 0, 4.01f);
    rig_pass_cycles(rig, 4);
    assert_true(rig->chain[0].got[0] == 4);
    rig->chain[0].mute = true;
    rig_pass_cycles(rig, 10);
    assert_int_equal(rig_chain_count(rig, 0, RM_CHAIN_LOST), 1);
    rig_stand_at(rig, 0, 4.08f);
    rig->chain[0].mute = false;
    rig_pass_cycles(rig, 4);
    assert_true(rig->chain[0].got[0] == 4);
    rig_free(rig);
}

enum { MANY = 70, EACH = 3 };

/** Where all supplies stand: the newest setpoint that reached them. */
static void note_where_they_stand(struct transmit_rig const *rig, float stands[MANY][EACH]) {
    for (uint32_t c = 0; c < MANY; ++c)
        memcpy(stands[c], rig->chain[c].stands, sizeof stands[c]);
}

static void assert_none_stepped(struct transmit_rig const *rig, float const stands[MANY][EACH]) {
    for (uint32_t c = 0; c < MANY; ++c)
        for (uint32_t i = 0; i < EACH; ++i)
            assert_true(rig->chain[c].got[i] == stands[c][i] && rig->chain[c].stands[i] == stands[c][i]);
}

/** A role is killed while it moves all supplies; its successor has no application. */
static void kill_while_moving(enum fake_place place, uint32_t times) {
    static float stands[MANY][EACH];
    struct transmit_rig *const rig = rig_make(
        &(struct transmit_rig_options){.chains = MANY, .supplies = EACH, .applications = 1, .tolerance = 4 * RIG_SLEW});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    for (int i = 0; i < 5; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 9);
        rig_pass_cycles(rig, 1);
    }
    assert_true(rig->chain[MANY - 1].got[EACH - 1] > 0);
    rig_commit(rig, 1, GRANT_NUMBER, 9);
    rig_kill(rig, place, times);
    note_where_they_stand(rig, stands);
    for (int i = 0; i < 6; ++i) {
        rig_pass_cycles(rig, 1);
        assert_none_stepped(rig, stands);
    }
    assert_true(rig_successor_would_know(rig));
    for (uint32_t c = 0; c < MANY; ++c)
        assert_true(rig->chain[c].datagrams > rig->chain[c].queries);
    rig_free(rig);
}

/** Before a chain's datagram is intended, between that and the port, between the port and noting that it was
 * transmitted, and after that: each place in the first, a middle and the last burst of a cycle, and in the next. */
static void wherever_a_role_is_killed_its_successor_makes_no_step(void **state) {
    (void)state;
    for (uint32_t times = 1; times <= 8; ++times) {
        kill_while_moving(FAKE_RESERVES, times);
        kill_while_moving(FAKE_IS_OFFERED, times);
        kill_while_moving(FAKE_HAS_TAKEN, times);
    }
}

/** Lives that end one after the other before they have sent anything pass on what the first one left. */
static void a_successor_that_is_killed_at_once_forgets_nothing(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .last_life = life_in_doubt(4, 4.08f)});
    rig_stand_at(rig, 0, 4.07f);
    for (int i = 0; i < 3; ++i)
        rig_kill(rig, FAKE_IS_OFFERED, 1);
    rig_pass_cycles(rig, 4);
    assert_true(rig->chain[0].got[1] == 4.08f);
    rig_free(rig);
}

/** The link is full: the datagram of the next cycle takes the place of one that was never transmitted. */
static void what_was_intended_in_vain_is_no_candidate(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){
        .chains = 1, .supplies = 1, .applications = 1, .lost_cycles = 1000, .tolerance = 4 * RIG_SLEW});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    rig->port->takes = 0;
    for (int i = 0; i < 4; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 9);
        rig_pass_cycles(rig, 1);
    }
    assert_true(rig->chain[0].got[0] == 0);
    struct rm_intended const *const intended = rig->intended;
    assert_int_equal(atomic_load(&intended->intended), atomic_load(&intended->transmitted) + 1);
    rig->port->takes = RM_BURST;
    rig_kill(rig, FAKE_HAS_TAKEN, 1);
    float const stands = rig->chain[0].stands[0];
    assert_true(stands == (float)RIG_SLEW);
    rig_pass_cycles(rig, 4);
    assert_true(rig->chain[0].got[0] == stands);
    rig_free(rig);
}

/** Nothing resolves a doubt of theirs. */
static void chains_without_readback_go_on_at_what_was_transmitted(void **state) {
    (void)state;
    struct rm_intended *const life[] = {life_that_sent(-2.5f), life_in_doubt(-2.5f, -3)};
    for (unsigned i = 0; i < sizeof life / sizeof life[0]; ++i) {
        struct transmit_rig *const rig =
            rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .deaf = true, .last_life = life[i]});
        rig_pass_cycles(rig, 3);
        assert_true(rig->chain[0].got[1] == -2.5f);
        rig_free(rig);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(supplies_go_on_where_the_last_life_left_them),
        cmocka_unit_test(the_readback_decides_which_setpoint_was_the_last),
        cmocka_unit_test(a_doubt_lasts_until_its_chain_has_joined),
        cmocka_unit_test(wherever_a_role_is_killed_its_successor_makes_no_step),
        cmocka_unit_test(a_successor_that_is_killed_at_once_forgets_nothing),
        cmocka_unit_test(what_was_intended_in_vain_is_no_candidate),
        cmocka_unit_test(chains_without_readback_go_on_at_what_was_transmitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
