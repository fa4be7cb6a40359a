// SPDX-License-Identifier: Apache-2.0
/** Two links over a network that does what networks do. */
#include "standby/link/test_rig.h"

static void vectors_are_equal(struct rig *rig) {
    struct rig_server const *const a = &rig->server[0], *const b = &rig->server[1];
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        assert_memory_equal(a->vector[of], b->came[of], sizeof b->came[of]);
    assert_int_equal(a->vector_turn[RM_PEER_SENT], b->came_turn[RM_PEER_SENT]);
}

/** No step is missing or doubled behind that of this number. */
static void steps_are_whole(struct rig_server const *server, uint32_t first) {
    assert_false(server->bad_step);
    for (uint32_t i = first + 1; i < server->steps_came && i < RIG_STEPS; ++i)
        assert_int_equal(server->step_came[i], server->step_came[i - 1] + RIG_PERIOD);
}

/** Lets what is under way come. */
static void rig_rest(struct rig *rig) {
    enum rm_standby_role const role = rig->server[0].state.role;
    rig->server[0].state.role = RM_STANDBY_ACTIVE;
    for (int i = 0; i < 3000; ++i) {
        rig->now_ns += 100000;
        rig_deliver(rig);
        for (int k = 0; k < 2; ++k)
            rm_peer_link_tick(&rig->server[k].link, rig->now_ns);
    }
    rig->server[0].state.role = role;
}

static void two_join_and_the_standby_is_synchronised(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(1);
    rig_join(rig);
    rig_cycles(rig, 100);
    rig_rest(rig);
    vectors_are_equal(rig);
    steps_are_whole(&rig->server[1], 0);
    assert_int_equal(rig->server[1].states_came, 1);
    assert_int_equal(rig->server[1].link.orders.peer_role, RM_STANDBY_ACTIVE + 1);
    assert_int_equal(rig->server[1].link.orders.peer_term, 5);
    assert_int_equal(rig->server[0].link.orders.peer_role, RM_STANDBY_JOINING + 1);
    assert_false(rig->server[0].link.orders.synchronised);
    assert_true(rig->server[1].link.round_trip_ns >= 100000);
    assert_true(rig->server[1].state_came >= rig->server[1].step_came[0]);
    assert_true(rm_peer_link_lag(&rig->server[1].link) <= 2);
    rig_free(rig);
}

/** `loses` and `reorders` of a thousand datagrams. */
static void goes_through(uint32_t loses, uint32_t reorders, bool stays_synchronised) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        struct rig *const rig = rig_pair(seed);
        rig->loses = loses;
        rig->doubles = 300;
        rig->reorders = reorders;
        rig_join(rig);
        uint32_t const before = rig->server[1].steps_came;
        for (int i = 0; i < 800; ++i) {
            rig_cycle(rig);
            assert_true(rig->server[1].link.orders.synchronised || !stays_synchronised);
        }
        rig->loses = rig->doubles = rig->reorders = 0;
        rig_rest(rig);
        vectors_are_equal(rig);
        steps_are_whole(&rig->server[1], before - 1);
        assert_int_equal(rig->server[1].step_came[(rig->server[1].steps_came - 1) % RIG_STEPS], rig->server[0].step);
        assert_true(rig->server[1].steps_came >= before + 800 - 1);
        struct rm_peer_link const *const link = &rig->server[1].link;
        assert_true(link->counter[RM_LINK_LOST] > 0 && link->counter[RM_LINK_REORDERED] > 0 &&
                    link->counter[RM_LINK_REPEATED] > 0);
        assert_int_equal(link->counter[RM_LINK_SNAPSHOTS], rig->server[1].states_came);
        assert_true(link->orders.synchronised);
        rig_free(rig);
    }
}

static void loss_copies_and_reordering_cost_nothing(void **state) {
    (void)state;
    goes_through(20, 20, true);
}

/** Each datagram goes over two, and the second copy is dropped. Then one of them is cut. */
static void one_of_two_cables_may_break(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(14);
    rig->doubles = 1000;
    rig_join(rig);
    rig->doubles = 0;
    uint64_t const repeated = rig->server[1].link.counter[RM_LINK_REPEATED];
    assert_true(repeated > 100);
    for (int i = 0; i < 300; ++i) {
        rig_cycle(rig);
        assert_true(rig->server[1].link.orders.synchronised);
    }
    assert_true(rig->server[1].link.counter[RM_LINK_REPEATED] <= repeated + 10);
    rig_free(rig);
}

static void a_link_that_loses_much_loses_nothing(void **state) {
    (void)state;
    goes_through(60, 60, false);
}

static void a_copy_goes_on_behind_a_cut(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(3);
    struct rig_server *const b = &rig->server[1];
    rig->loses = 300;
    rig->server[0].vector_new[RM_PEER_TARGETS] = true;
    for (int i = 0; i < 20000 && b->link.copy.come < 40; ++i)
        rig_cycle(rig);
    assert_true(b->link.copy.come >= 40 && b->states_came == 0);
    uint32_t const come = b->link.copy.come;
    uint64_t const id = b->link.copy.offer.id;
    rig->cut[0] = rig->cut[1] = true;
    rig->loses = 0;
    rig_cycles(rig, 5000); // half a second
    assert_int_equal(b->link.orders.peer_role, 0);
    assert_int_equal(b->link.copy.offer.id, id);
    rig->cut[0] = rig->cut[1] = false;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < 20000 && b->states_came == 0; ++i) {
        rig_cycle(rig);
        if (b->states_came == 0 && b->link.copy.offer.id == id && b->link.copy.come < least)
            least = b->link.copy.come;
    }
    assert_int_equal(b->states_came, 1);
    assert_true(least >= come && least != UINT32_MAX);
    rig_free(rig);
}

static void steps_that_nobody_has_any_more_are_a_gap_that_is_known(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(4);
    rig_join(rig);
    rig_cycles(rig, 50);
    rm_turn const last = rig->server[1].step_came[rig->server[1].steps_came - 1];
    rig->cut[0] = rig->cut[1] = true;
    rig_cycles(rig, 3000);
    rig->server[0].oldest = rig->server[0].step - 100 * RIG_PERIOD;
    rig->cut[0] = rig->cut[1] = false;
    uint32_t const before = rig->server[1].steps_came;
    rig_cycles(rig, 1000);
    assert_true(rig->server[1].steps_came > before);
    assert_true(rig->server[1].step_came[before] > last + 2000 * RIG_PERIOD);
    assert_false(rig->server[1].bad_step);
    rig_free(rig);
}

/** The machine's turn counter begins anew: a state from before is of a later turn, and of no use. */
static void no_state_of_before_the_turn_counter_was_restarted(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(15);
    struct rig_server *const a = &rig->server[0], *const b = &rig->server[1];
    a->state.turn = b->state.turn = 1000000 * RIG_PERIOD;
    rig_join(rig);
    assert_true(b->state_came > 1000000 * RIG_PERIOD);
    a->state.turn = b->state.turn = 0;
    b->application.in_step = false;
    rig_cycles(rig, 25000);
    assert_true(b->states_came >= 2);
    assert_true(b->state_came <= a->state.turn);
    rig_free(rig);
}

static void what_is_missing_here_ends_it_at_once(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(5);
    rig_join(rig);
    struct rig_server *const b = &rig->server[1];
    b->application.in_step = false;
    rig_cycle(rig);
    assert_false(b->link.orders.synchronised);
    assert_non_null(strstr(rig_why(rig, 1), "application feedback is not in step"));
    rig_free(rig);
}

static void an_application_that_stands_ends_it(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(13);
    rig_join(rig);
    rig->server[1].stands = true; // it was killed: its last reading is that it is in step
    rig_cycles(rig, 1000);
    assert_true(rig->server[1].link.orders.synchronised);
    rig_cycles(rig, 3000);
    assert_false(rig->server[1].link.orders.synchronised);
    assert_non_null(strstr(rig_why(rig, 1), "application feedback stands"));
    rig_free(rig);
}

static void a_silent_server_stays_synchronised_for_a_while(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(6);
    rig_join(rig);
    struct rig_server *const b = &rig->server[1];
    rig->server[0].has_server = false; // killed: its process says so
    rig_cycles(rig, 3000);
    assert_int_equal(b->link.orders.peer_role, 0);
    assert_true(b->link.orders.synchronised);
    rig_cycles(rig, 10000);
    assert_false(b->link.orders.synchronised);
    assert_non_null(strstr(rig_why(rig, 1), "server a is not running"));
    rig_free(rig);
}

static void a_silent_link_ends_it_sooner(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(7);
    rig_join(rig);
    struct rig_server *const b = &rig->server[1];
    rig->cut[0] = true;
    rig_cycles(rig, 500);
    assert_true(b->link.orders.synchronised);
    rig_cycles(rig, 1000);
    assert_false(b->link.orders.synchronised);
    assert_int_equal(b->link.orders.peer_role, 0);
    assert_non_null(strstr(rig_why(rig, 1), "server a is not heard"));
    rig->cut[0] = false;
    rig_cycles(rig, 1000);
    assert_true(b->link.orders.synchronised);
    rig_free(rig);
}

static void a_late_link_ends_it(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(16);
    struct rig_server *const b = &rig->server[1];
    rig_join(rig);
    b->state.turn += 6000; // 50 ms ahead of what comes
    rig_cycles(rig, 300);
    assert_true(b->link.orders.synchronised);
    b->state.turn += 6000;
    rig_cycles(rig, 300);
    assert_false(b->link.orders.synchronised);
    assert_non_null(strstr(rig_why(rig, 1), "what server a sends comes too late"));
    b->state.turn -= 12000;
    rig_cycles(rig, 300);
    assert_true(b->link.orders.synchronised);
    rig_free(rig);
}

static void roles_may_be_exchanged(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(8);
    rig_join(rig);
    struct rig_server *const a = &rig->server[0], *const b = &rig->server[1];
    a->state.role = RM_STANDBY_JOINING;
    b->state.role = RM_STANDBY_ACTIVE;
    b->vector_new[RM_PEER_TARGETS] = true;
    for (int i = 0; i < 20000 && !a->link.orders.synchronised; ++i) {
        rig_cycle(rig);
        a->application.in_step = a->states_came > 0;
    }
    assert_true(a->link.orders.synchronised);
    assert_false(b->link.orders.synchronised);
    steps_are_whole(a, 0);
    rig_free(rig);
}

static void an_acknowledgement_goes_to_both(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(9);
    rig_join(rig);
    rig->server[1].link.acknowledged = 3;
    rig_cycles(rig, 100);
    assert_int_equal(rig->server[0].link.orders.acknowledged, 3);
    assert_int_equal(rig->server[1].link.orders.acknowledged, 3);
    rig_free(rig);
}

/** Plans a switch at server `index`, and goes on until it is agreed. */
static void rig_switch(struct rig *rig, int index) {
    rig->server[1].state.role = RM_STANDBY_READY;
    rig_cycles(rig, 300);
    rm_turn const now = rig->server[0].state.turn;
    assert_null(rm_peer_link_switch(&rig->server[index].link, 0, rig->now_ns));
    for (int i = 0; i < 400 && rig->server[1].link.orders.switch_turn == RM_TURN_NONE; ++i)
        rig_cycle(rig);
    rm_turn const turn = rig->server[1].link.orders.switch_turn;
    assert_int_not_equal(turn, RM_TURN_NONE);
    assert_int_equal(rig->server[0].link.orders.switch_turn, turn);
    assert_true(turn > rig->server[0].state.turn && turn > now);
    assert_int_equal(turn % RIG_PERIOD, 0);
}

static void a_switch_is_agreed_wherever_it_is_put(void **state) {
    (void)state;
    for (int index = 0; index < 2; ++index) {
        struct rig *const rig = rig_pair(10);
        rig_join(rig);
        rig->loses = 200;
        rig_switch(rig, index);
        rig_free(rig);
    }
}

static void the_standby_never_agrees_before_the_active_one(void **state) {
    (void)state;
    for (int index = 0; index < 2; ++index) {
        struct rig *const rig = rig_pair(11);
        rig_join(rig);
        rig->server[1].state.role = RM_STANDBY_READY;
        rig_cycles(rig, 300);
        assert_null(rm_peer_link_switch(&rig->server[index].link, 0, rig->now_ns));
        rig_cycles(rig, 1);
        rig->cut[0] = true; // the standby hears no answer
        rig_cycles(rig, 900);
        assert_int_equal(rig->server[1].link.orders.switch_turn, RM_TURN_NONE);
        rig_free(rig);
    }
}

static void a_switch_needs_a_ready_standby(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(12);
    assert_string_equal(rm_peer_link_switch(&rig->server[0].link, 0, rig->now_ns), "the other server is not there");
    rig_join(rig);
    assert_string_equal(rm_peer_link_switch(&rig->server[0].link, 0, rig->now_ns),
                        "one server must be active and the other one ready");
    rig->server[1].state.role = RM_STANDBY_READY;
    rig_cycles(rig, 300);
    assert_non_null(rm_peer_link_switch(&rig->server[0].link, rig->server[0].state.turn + 24, rig->now_ns));
    rig_free(rig);
}

static void what_is_agreed_stands(void **state) {
    (void)state;
    for (int index = 0; index < 2; ++index) {
        struct rig *const rig = rig_pair(14);
        struct rm_peer_link *const link = &rig->server[index].link;
        rig_join(rig);
        rig_switch(rig, index);
        rm_turn const turn = link->orders.switch_turn;
        assert_string_equal(rm_peer_link_switch(link, 0, rig->now_ns),
                            "a switch is agreed already, and its turn is to come");
        while (rig->server[0].state.turn + RIG_PERIOD < turn) {
            rig_cycle(rig);
            assert_int_equal(rig->server[0].link.orders.switch_turn, turn);
        }
        rig_cycles(rig, 2); // it has passed, and the next one may be agreed
        assert_non_null(strstr(rm_peer_link_switch(link, 1ull << 60, rig->now_ns), "too far ahead"));
        assert_null(rm_peer_link_switch(link, 0, rig->now_ns));
        rig_free(rig);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(two_join_and_the_standby_is_synchronised),
        cmocka_unit_test(loss_copies_and_reordering_cost_nothing),
        cmocka_unit_test(one_of_two_cables_may_break),
        cmocka_unit_test(a_link_that_loses_much_loses_nothing),
        cmocka_unit_test(a_copy_goes_on_behind_a_cut),
        cmocka_unit_test(steps_that_nobody_has_any_more_are_a_gap_that_is_known),
        cmocka_unit_test(no_state_of_before_the_turn_counter_was_restarted),
        cmocka_unit_test(what_is_missing_here_ends_it_at_once),
        cmocka_unit_test(an_application_that_stands_ends_it),
        cmocka_unit_test(a_silent_server_stays_synchronised_for_a_while),
        cmocka_unit_test(a_silent_link_ends_it_sooner),
        cmocka_unit_test(a_late_link_ends_it),
        cmocka_unit_test(roles_may_be_exchanged),
        cmocka_unit_test(an_acknowledgement_goes_to_both),
        cmocka_unit_test(a_switch_is_agreed_wherever_it_is_put),
        cmocka_unit_test(the_standby_never_agrees_before_the_active_one),
        cmocka_unit_test(a_switch_needs_a_ready_standby),
        cmocka_unit_test(what_is_agreed_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
