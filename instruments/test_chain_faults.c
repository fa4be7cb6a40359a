// SPDX-License-Identifier: Apache-2.0
/** A virtual chain of supplies without setpoints, without power, and with its faults. */
#include "test_chain_rig.h"

static void a_power_cycle_forgets_and_listens(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 2, 2.5);
    bench->faults = 1;
    bench->config.ramps = true;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 1.99));
    assert_false(send(bench, 0, 5, 2, 2.01));
    assert_false(send(bench, RM_SETPOINT_QUERY, 5, 2, 2.4));
    assert_int_equal(counted(bench, RM_SUPPLY_RECEIVED), 1);
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 2, 2.51)); /* of a server that knows of no term */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_LISTENING);
    assert_int_equal(term_of(bench), 0);
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_true(send(bench, 0, 4, 70, 2.59));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, 0, 4, 71, 2.61)); /* 100 ms after 2.5 s, whenever that was noticed */
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_POWER_CYCLES), 1);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 0);
    free(bench);
}

/** The server that missed the chain asks it first. One that was deposed while it had no power does not get it. */
static void a_chain_that_listens_notes_who_asks(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 2, 2.5);
    bench->faults = 1;
    made(bench);
    assert_true(send(bench, RM_SETPOINT_QUERY, 6, 0, 2.52));
    assert_int_equal(term_of(bench), 6);
    assert_true(send(bench, 0, 5, 900, 2.7));
    assert_true((status_of(bench) & RM_CHAIN_SAYS_OLD_TERM) != 0);
    assert_true(send(bench, RM_SETPOINT_QUERY, 8, 0, 2.8)); /* it listens no more: a query changes nothing */
    assert_int_equal(term_of(bench), 6);
    assert_true(send(bench, 0, 6, 1, 2.9));
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

static void however_long_its_time_out_a_chain_listens_for_a_second(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 2, 2.5);
    bench->faults = 1;
    bench->config.timeout_s = 600;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 3.4));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, 0, 5, 2, 3.6));
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

static void power_may_be_away_for_several_reasons(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 2, 2.001);
    bench->fault[1] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 5, 7);
    bench->faults = 2;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 1.99));
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 2.05));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_LISTENING);
    rm_chain_tick(&bench->chain, 5.5);
    rm_chain_power(&bench->chain, 6, false);
    assert_false(send(bench, RM_SETPOINT_QUERY, 0, 0, 7.5));
    rm_chain_power(&bench->chain, 8, true);
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 8.05));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 8.15));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(counted(bench, RM_SUPPLY_POWER_CYCLES), 2);
    free(bench);
}

static void it_holds_when_setpoints_stop(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    rm_chain_tick(&bench->chain, 100); /* never given any: there is nothing to stop */
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 0);
    assert_true(send(bench, 0, 5, 1, 101));
    rm_chain_tick(&bench->chain, 101.09);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 0);
    rm_chain_tick(&bench->chain, 101.11);
    rm_chain_tick(&bench->chain, 105);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 1);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 2, 106));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_int_equal(bits_of(bench, 12), 0);
    assert_true(send(bench, 0, 5, 2, 106.01));
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

static void it_ramps_when_setpoints_stop(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->config.ramps = true;
    bench->physics[12].safe = 1;
    bench->physics[12].safe_slew = 2;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 1));
    /* found out late, and yet as of 1.1 s */
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 2, 2.1));
    assert_float_equal(current_of(bench, 12), 4, 1e-6);
    assert_int_equal(bits_of(bench, 12), RM_SUPPLY_BIT_SAFE);
    assert_float_equal(current_of(bench, 3), 0, 0);
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 3, 9));
    assert_float_equal(current_of(bench, 12), 1, 0);
    assert_true(send(bench, 0, 5, 2, 9));
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_int_equal(bits_of(bench, 12), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 1);
    free(bench);
}

static void trips_last_until_they_are_reset(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_TRIP, 11, 2, 3);
    bench->fault[1] = fault_of(RM_CHAIN_FAULT_TRIP, 4, 2.5, INFINITY);
    bench->faults = 2;
    made(bench);
    assert_true(send(bench, 0, 1, 1, 1.99));
    assert_int_equal(status_of(bench), 0);
    assert_true(send(bench, 0, 1, 2, 2.05));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_TRIPPED);
    assert_int_equal(bits_of(bench, 11), RM_SUPPLY_BIT_TRIPPED);
    assert_float_equal(current_of(bench, 11), 0, 0);
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_true(send(bench, 0, 1, 3, 3.05)); /* the first is over */
    assert_float_equal(current_of(bench, 11), 5.5, 0);
    assert_int_equal(bits_of(bench, 11), 0);
    assert_int_equal(bits_of(bench, 4), RM_SUPPLY_BIT_TRIPPED);
    rm_chain_reset(&bench->chain);
    assert_true(send(bench, 0, 1, 4, 3.1));
    assert_float_equal(current_of(bench, 4), 2, 0);
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_TRIPS), 2);
    free(bench);
}

static void answers_are_lost_by_chance_and_the_same_ones_again(void **state) {
    (void)state;
    bool lost[2][1000];
    for (unsigned round = 0; round < 2; ++round) {
        struct chain_bench *bench = begin();
        bench->fault[0] = fault_of(RM_CHAIN_FAULT_SILENT, RM_CHAIN_ALL_SUPPLIES, 0, INFINITY);
        bench->fault[0].probability = 0.3;
        bench->faults = 1;
        made(bench);
        for (unsigned k = 0; k < 1000; ++k)
            lost[round][k] = !send(bench, 0, 1, k + 1, 1 + 1e-5 * k + 0.1 * round);
        assert_in_range(counted(bench, RM_SUPPLY_FAULT_LOST), 230, 370); /* 5 standard deviations */
        assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1000);
        free(bench);
    }
    assert_memory_equal(lost[0], lost[1], sizeof lost[0]);
}

static void a_chain_answers_for_another(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_OTHER_ID, RM_CHAIN_ALL_SUPPLIES, 1, 2);
    bench->fault[0].other_id = 3;
    bench->faults = 1;
    made(bench);
    for (unsigned k = 0; k < 3; ++k) {
        assert_true(send(bench, 0, 1, k + 1, 0.5 + k));
        assert_int_equal(part_of(bench, 1).native.instrument, (k == 1 ? 3 : ID) * 4 + 1);
    }
    assert_int_equal(counted(bench, RM_SUPPLY_FAULT_OTHER), 1);
    free(bench);
}

static void some_are_stuck_deaf_or_saturated(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_STUCK, 2, 2, 3);
    bench->fault[1] = fault_of(RM_CHAIN_FAULT_DEAF, 3, 2, 3);
    bench->fault[2] = fault_of(RM_CHAIN_FAULT_SATURATE, 4, 2, 3);
    bench->fault[2].limit = 1.25;
    bench->faults = 3;
    made(bench);
    assert_true(send(bench, 0, 1, 1, 1.95));
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        bench->command[s] = 8;
    assert_true(send(bench, 0, 1, 2, 2));
    assert_float_equal(current_of(bench, 2), 1, 0);
    assert_float_equal(rm_supply_current(&bench->supply[2], 2), 8, 0);
    assert_float_equal(current_of(bench, 3), 1.5, 0);
    assert_float_equal(rm_supply_current(&bench->supply[3], 2), 1.5, 0);
    assert_float_equal(current_of(bench, 4), 1.25, 0);
    assert_int_equal(bits_of(bench, 4), RM_SUPPLY_BIT_SATURATED);
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_SATURATED);
    assert_float_equal(current_of(bench, 5), 8, 0);
    assert_true(send(bench, 0, 1, 3, 3));
    for (uint32_t s = 2; s < 6; ++s)
        assert_float_equal(current_of(bench, s), 8, 0);
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_SATURATIONS), 1);
    free(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_power_cycle_forgets_and_listens),
        cmocka_unit_test(a_chain_that_listens_notes_who_asks),
        cmocka_unit_test(however_long_its_time_out_a_chain_listens_for_a_second),
        cmocka_unit_test(power_may_be_away_for_several_reasons),
        cmocka_unit_test(it_holds_when_setpoints_stop),
        cmocka_unit_test(it_ramps_when_setpoints_stop),
        cmocka_unit_test(trips_last_until_they_are_reset),
        cmocka_unit_test(answers_are_lost_by_chance_and_the_same_ones_again),
        cmocka_unit_test(a_chain_answers_for_another),
        cmocka_unit_test(some_are_stuck_deaf_or_saturated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
