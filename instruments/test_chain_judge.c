// SPDX-License-Identifier: Apache-2.0
/** The judge of what chains obey: each violation is found where it is, and nothing where there is none. */
#include "chain_judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/counters.h>

enum { CHAINS = 5, SUPPLIES = 3, PERIOD = 12 };

static double const SLEW = 0.5;

struct bench {
    struct rm_chain_judge *judge;
    rm_counter counters[CHAINS][RM_SUPPLY_COUNTERS];
    rm_counter *block[CHAINS];
    struct rm_chain_judge_limits limits[CHAINS * SUPPLIES];
    /** What is sent next. */
    float values[SUPPLIES];
    uint64_t tripped;
};

static struct bench *make(void) {
    static uint32_t const supplies[CHAINS] = {SUPPLIES, SUPPLIES, SUPPLIES, SUPPLIES, SUPPLIES};
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    for (uint32_t c = 0; c < CHAINS; ++c)
        bench->block[c] = bench->counters[c];
    for (uint32_t s = 0; s < CHAINS * SUPPLIES; ++s)
        bench->limits[s] = (struct rm_chain_judge_limits){.low = -4, .high = 4.1, .slew = SLEW};
    struct rm_chain_judge_setup const setup = {
        .chains = CHAINS,
        .supplies = supplies,
        .limits = bench->limits,
        .counters = bench->block,
        .period_turns = PERIOD,
        .cycle_s = 1e-5,
        .swap_steps = 4,
        .divided_cycles = 10,
    };
    struct rm_error error;
    assert_int_equal(rm_chain_judge_new(&setup, &bench->judge, &error), RM_OK);
    return bench;
}

static void destroy(struct bench *bench) {
    rm_chain_judge_free(bench->judge);
    free(bench);
}

/** A chain obeys the datagram of a cycle, which is as many as its sequence number, and at its time. */
static void obey(struct bench *bench, uint32_t chain, uint16_t term, uint32_t instance, uint64_t cycle) {
    rm_chain_judge_obeyed(bench->judge, chain,
                          &(struct rm_chain_obeyed){.time = 1e-5 * (double)cycle,
                                                    .turn = 1200 + PERIOD * cycle,
                                                    .sequence = cycle,
                                                    .term = term,
                                                    .instance = instance,
                                                    .values = bench->values,
                                                    .tripped = bench->tripped});
}

static void obey_all(struct bench *bench, uint16_t term, uint32_t instance, uint64_t cycle) {
    for (uint32_t c = 0; c < CHAINS; ++c)
        obey(bench, c, term, instance, cycle);
}

static uint64_t counted(struct bench const *bench, uint32_t chain, enum rm_supply_counter counter) {
    return rm_counter_get(&bench->counters[chain][0], counter);
}

static void assert_no_violation(struct bench const *bench) {
    struct rm_chain_verdict const *const verdict = rm_chain_judge_verdict(bench->judge);
    for (uint32_t c = 0; c < CHAINS; ++c) {
        assert_int_equal(counted(bench, c, RM_SUPPLY_TWO_MASTERS), 0);
        assert_int_equal(counted(bench, c, RM_SUPPLY_OVER_LIMIT), 0);
        assert_int_equal(counted(bench, c, RM_SUPPLY_OVER_SLEW), 0);
    }
    assert_int_equal(verdict->two_instances, 0);
    assert_int_equal(verdict->divided, 0);
}

static void all_values(struct bench *bench, float value) {
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        bench->values[s] = value;
}

static void one_server_within_its_limits_is_right(void **state) {
    (void)state;
    struct bench *bench = make();
    for (uint64_t cycle = 1; cycle < 100; ++cycle) {
        all_values(bench, (float)fmin(4.1, fabs((double)cycle / 2 - 20) - 4));
        obey_all(bench, 3, 77, cycle);
    }
    assert_no_violation(bench);
    assert_int_equal(counted(bench, 2, RM_SUPPLY_LONGEST_GAP), 1);
    assert_int_equal(counted(bench, 2, RM_SUPPLY_CYCLES_MISSED), 0);
    assert_int_equal(rm_chain_judge_verdict(bench->judge)->swaps, 0);
    destroy(bench);
}

static void each_setpoint_beyond_its_limits_is_counted(void **state) {
    (void)state;
    static float const at[] = {4.1f, 4.2f, -4, -4.01f, NAN, INFINITY, -INFINITY, 0};
    static uint64_t const wrong[] = {0, 3, 3, 6, 9, 12, 15, 15};
    struct bench *bench = make();
    for (unsigned i = 0; i < sizeof at / sizeof at[0]; ++i) {
        all_values(bench, at[i]);
        rm_chain_judge_moved(bench->judge, 1);
        obey(bench, 1, 3, 77, i + 1);
        assert_int_equal(counted(bench, 1, RM_SUPPLY_OVER_LIMIT), wrong[i]);
    }
    assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_LIMIT), 0);
    destroy(bench);
}

static void a_step_is_a_slew_for_each_datagram(void **state) {
    (void)state;
    struct bench *bench = make();
    obey(bench, 0, 3, 77, 1);
    bench->values[1] = 0.5f;
    obey(bench, 0, 3, 77, 2);
    bench->values[1] = -1; /* two were lost on their way */
    obey(bench, 0, 3, 77, 5);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_SLEW), 0);
    bench->values[1] = -0.49f;
    obey(bench, 0, 3, 77, 6);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_SLEW), 1);
    bench->values[1] = 0.01f;
    obey(bench, 0, 3, 77, 7);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_SLEW), 1);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_CYCLES_MISSED), 2);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_LONGEST_GAP), 3);
    destroy(bench);
}

/** From one server to the next it is a slew for each cycle between, and no more than are allowed a swap. */
static void a_successor_goes_on_where_the_other_was(void **state) {
    (void)state;
    static struct {
        uint64_t cycle;
        float step;
        uint64_t wrong;
    } const at[] = {{2, 0.5f, 0}, {2, 0.6f, 1}, {4, 1.5f, 0}, {4, 1.6f, 1}, {40, 2, 0}, {40, 2.1f, 1}, {1, 0.6f, 1}};
    for (unsigned i = 0; i < sizeof at / sizeof at[0]; ++i) {
        struct bench *bench = make();
        obey(bench, 0, 3, 77, 1);
        bench->values[2] = at[i].step;
        obey(bench, 0, 4, 88, at[i].cycle);
        assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_SLEW), at[i].wrong);
        destroy(bench);
    }
}

static void supplies_that_went_by_themselves_make_no_step(void **state) {
    (void)state;
    struct bench *bench = make();
    obey_all(bench, 3, 77, 1);
    all_values(bench, 3);
    rm_chain_judge_moved(bench->judge, 0);
    obey(bench, 0, 3, 77, 2);
    all_values(bench, 0);
    bench->values[1] = 3; /* one that has tripped is led, and the first after that, too */
    bench->tripped = 1u << 1;
    obey(bench, 1, 3, 77, 2);
    bench->tripped = 0;
    bench->values[1] = 1;
    obey(bench, 1, 3, 77, 3);
    assert_no_violation(bench);
    bench->values[1] = 3;
    obey(bench, 1, 3, 77, 4);
    assert_int_equal(counted(bench, 1, RM_SUPPLY_OVER_SLEW), 1);
    destroy(bench);
}

/** Its supplies stand where they were: a server that goes on as if it had obeyed meanwhile makes a step. */
static void a_chain_without_power_goes_on_where_it_was(void **state) {
    (void)state;
    struct bench *bench = make();
    obey_all(bench, 3, 77, 1);
    all_values(bench, 0.5f);
    rm_chain_judge_was_off(bench->judge, 0);
    obey(bench, 0, 3, 77, 50);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_SLEW), 0);
    all_values(bench, 3);
    rm_chain_judge_was_off(bench->judge, 0);
    obey(bench, 0, 3, 77, 90);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_OVER_SLEW), SUPPLIES);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_CYCLES_MISSED), 0);
    destroy(bench);
}

static void a_lower_term_after_a_higher_one_is_two_masters(void **state) {
    (void)state;
    struct bench *bench = make();
    obey(bench, 0, 3, 77, 1);
    obey(bench, 0, 4, 88, 2);
    obey(bench, 0, 3, 77, 3);
    obey(bench, 0, 3, 77, 4);
    obey(bench, 0, 4, 88, 5); /* the higher one is right, as it was */
    assert_int_equal(counted(bench, 0, RM_SUPPLY_TWO_MASTERS), 2);
    obey(bench, 0, 4, 99, 6);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_TWO_MASTERS), 3);
    rm_chain_judge_was_off(bench->judge, 0); /* without power nothing is forgiven */
    obey(bench, 0, 2, 66, 90);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_TWO_MASTERS), 4);
    assert_int_equal(counted(bench, 1, RM_SUPPLY_TWO_MASTERS), 0);
    assert_int_equal(counted(bench, 0, RM_SUPPLY_LONGEST_GAP), 1);
    destroy(bench);
}

static void two_instances_of_a_term_are_found_across_chains(void **state) {
    (void)state;
    struct bench *bench = make();
    obey(bench, 0, 3, 77, 1);
    obey(bench, 1, 3, 78, 1);
    obey(bench, 1, 3, 78, 2);
    obey(bench, 2, 9, 5, 2);
    assert_int_equal(rm_chain_judge_verdict(bench->judge)->two_instances, 1);
    assert_int_equal(counted(bench, 1, RM_SUPPLY_TWO_MASTERS), 0); /* it had no other */
    destroy(bench);
}

/** Two servers that each hold a part of the beam, for a while and for too long. */
static void chains_may_be_divided_for_a_while(void **state) {
    (void)state;
    struct bench *bench = make();
    struct rm_chain_verdict const *const verdict = rm_chain_judge_verdict(bench->judge);
    obey_all(bench, 3, 77, 1);
    for (uint64_t cycle = 2; cycle <= 11; ++cycle) {
        obey(bench, 0, 4, 88, cycle);
        obey(bench, 1, 3, 77, cycle);
    }
    assert_int_equal(verdict->divided, 0);
    assert_float_equal(verdict->longest_divided_cycles, 9, 1e-6);
    obey(bench, 2, 3, 77, 20);
    assert_int_equal(verdict->divided, 1);
    assert_float_equal(verdict->longest_divided_cycles, 18, 1e-6);
    assert_int_equal(counted(bench, 2, RM_SUPPLY_TWO_MASTERS), 0);
    destroy(bench);
}

static void a_swap_is_counted_with_its_cycles(void **state) {
    (void)state;
    struct bench *bench = make();
    struct rm_chain_verdict const *const verdict = rm_chain_judge_verdict(bench->judge);
    obey_all(bench, 3, 77, 1);
    obey_all(bench, 5, 77, 2); /* the same server raised its term */
    assert_int_equal(verdict->swaps, 0);
    obey(bench, 4, 5, 77, 3);
    obey(bench, 0, 6, 88, 7);
    obey(bench, 1, 6, 88, 7);
    obey(bench, 1, 6, 88, 8);
    assert_int_equal(verdict->swaps, 0);
    obey(bench, 2, 6, 88, 8); /* three of five */
    assert_int_equal(verdict->swaps, 1);
    assert_int_equal(verdict->swap_cycles, 4);
    obey(bench, 3, 6, 88, 9);
    obey_all(bench, 7, 77, 10);
    assert_int_equal(verdict->swaps, 2);
    assert_int_equal(verdict->swap_cycles, 1);
    assert_int_equal(verdict->longest_swap_cycles, 4);
    assert_no_violation(bench);
    destroy(bench);
}

static void a_cycle_of_two_servers_is_doubled(void **state) {
    (void)state;
    struct bench *bench = make();
    obey_all(bench, 3, 77, 5);
    obey(bench, 0, 4, 88, 5);
    obey(bench, 1, 4, 88, 6);
    obey(bench, 2, 5, 77, 5); /* one that raises its term doubles nothing */
    assert_int_equal(counted(bench, 0, RM_SUPPLY_CYCLES_DOUBLED), 1);
    assert_int_equal(counted(bench, 1, RM_SUPPLY_CYCLES_DOUBLED), 0);
    assert_int_equal(counted(bench, 2, RM_SUPPLY_CYCLES_DOUBLED), 0);
    destroy(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(one_server_within_its_limits_is_right),
        cmocka_unit_test(each_setpoint_beyond_its_limits_is_counted),
        cmocka_unit_test(a_step_is_a_slew_for_each_datagram),
        cmocka_unit_test(a_successor_goes_on_where_the_other_was),
        cmocka_unit_test(supplies_that_went_by_themselves_make_no_step),
        cmocka_unit_test(a_chain_without_power_goes_on_where_it_was),
        cmocka_unit_test(a_lower_term_after_a_higher_one_is_two_masters),
        cmocka_unit_test(two_instances_of_a_term_are_found_across_chains),
        cmocka_unit_test(chains_may_be_divided_for_a_while),
        cmocka_unit_test(a_swap_is_counted_with_its_cycles),
        cmocka_unit_test(a_cycle_of_two_servers_is_doubled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
