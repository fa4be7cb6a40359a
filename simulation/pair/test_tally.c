// SPDX-License-Identifier: Apache-2.0
/** What counts as a swap, how long it was, and when it was false. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tally.h"

enum { CHAINS = 5, PERIOD_TURNS = 12, MISSED = 3 };

static double const PERIOD_NS = 10000;

/** Server 1 has sent up to this cycle, under term 1. */
static struct rm_pair_tally sent_until(uint64_t cycle) {
    struct rm_pair_tally tally = {
        .chains = CHAINS, .missed_cycles = MISSED, .period_turns = PERIOD_TURNS, .period_ns = PERIOD_NS};
    for (uint64_t at = 1; at <= cycle; ++at)
        for (uint32_t c = 0; c < CHAINS; ++c)
            assert_true(rm_pair_tally_obeyed(&tally, c, at * 10000, 1, at * PERIOD_TURNS));
    return tally;
}

static void becomes(struct rm_pair_tally *tally, enum rm_standby_reason reason) {
    struct rm_standby const standby = {.role = RM_STANDBY_ACTIVE, .reason = reason};
    rm_pair_tally_role(tally, 1, RM_STANDBY_READY, &standby);
}

/** Server 2 is obeyed by `chains` chains in this cycle, under term 2. */
static void obeys(struct rm_pair_tally *tally, uint32_t chains, uint64_t cycle) {
    for (uint32_t c = 0; c < chains; ++c)
        assert_true(rm_pair_tally_obeyed(tally, c, cycle * 10000, 2, cycle * PERIOD_TURNS));
}

static void a_take_over_is_as_long_as_its_gap(void **state) {
    (void)state;
    struct rm_pair_tally tally = sent_until(10);
    becomes(&tally, RM_STANDBY_TOOK_OVER);
    obeys(&tally, 2, 14);
    assert_int_equal(tally.length[RM_PAIR_TAKEN_OVER].count, 0); /* no majority yet */
    obeys(&tally, CHAINS, 15);
    assert_int_equal(tally.length[RM_PAIR_TAKEN_OVER].count, 1);
    assert_true(rm_pair_lengths_max(&tally.length[RM_PAIR_TAKEN_OVER]) == 4.0);
    assert_int_equal(tally.false_swaps, 0);
    rm_pair_tally_free(&tally);
}

static void a_take_over_without_a_gap_is_false(void **state) {
    (void)state;
    struct rm_pair_tally tally = sent_until(10);
    becomes(&tally, RM_STANDBY_TOOK_OVER);
    obeys(&tally, CHAINS, 13);
    assert_int_equal(tally.false_swaps, 1);
    rm_pair_tally_free(&tally);
}

static void a_standby_that_was_not_fit_is_late(void **state) {
    (void)state;
    struct rm_pair_tally tally = sent_until(10);
    rm_pair_tally_fit(&tally, 1, 0, false);
    rm_pair_tally_fit(&tally, 1, 300000, true);
    becomes(&tally, RM_STANDBY_TOOK_OVER);
    obeys(&tally, CHAINS, 40);
    assert_int_equal(tally.length[RM_PAIR_TAKEN_OVER].count, 0);
    assert_int_equal(tally.length[RM_PAIR_TAKEN_LATE].count, 1);
    rm_pair_tally_free(&tally);
}

static void a_switch_misses_and_doubles_nothing(void **state) {
    (void)state;
    uint64_t const first[] = {10, 11, 13};
    uint64_t const missing[] = {0, 0, 2ul * CHAINS}, doubled[] = {CHAINS, 0, 0};
    for (uint32_t i = 0; i < sizeof first / sizeof *first; ++i) {
        struct rm_pair_tally tally = sent_until(10);
        becomes(&tally, RM_STANDBY_SWITCHED);
        obeys(&tally, CHAINS, first[i]);
        assert_int_equal(tally.planned_missing, missing[i]);
        assert_int_equal(tally.planned_duplicate, doubled[i]);
        assert_int_equal(tally.length[RM_PAIR_SWITCHED].count, 1);
        rm_pair_tally_free(&tally);
    }
}

static void the_same_server_raises_its_term(void **state) {
    (void)state;
    struct rm_pair_tally tally = sent_until(10);
    for (uint32_t c = 0; c < CHAINS; ++c)
        assert_true(rm_pair_tally_obeyed(&tally, c, 110000, 3, 11ul * PERIOD_TURNS));
    assert_int_equal(tally.raised, 1);
    for (uint32_t k = 0; k < RM_PAIR_SWAP_KINDS; ++k)
        assert_int_equal(tally.length[k].count, 0);
    rm_pair_tally_free(&tally);
}

static void the_orbit_after_a_swap_stands_alone(void **state) {
    (void)state;
    struct rm_pair_tally tally = sent_until(10);
    rm_pair_tally_orbit(&tally, 100000, 5);
    becomes(&tally, RM_STANDBY_TOOK_OVER);
    obeys(&tally, CHAINS, 14);
    rm_pair_tally_orbit(&tally, 150000, 7);
    rm_pair_tally_orbit(&tally, 140000 + 201 * 10000, 6);
    assert_true(tally.orbit_swap_nm == 7 && tally.orbit_quiet_nm == 6);
    rm_pair_tally_free(&tally);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_take_over_is_as_long_as_its_gap),  cmocka_unit_test(a_take_over_without_a_gap_is_false),
        cmocka_unit_test(a_standby_that_was_not_fit_is_late), cmocka_unit_test(a_switch_misses_and_doubles_nothing),
        cmocka_unit_test(the_same_server_raises_its_term),    cmocka_unit_test(the_orbit_after_a_swap_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
