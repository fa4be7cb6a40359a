// SPDX-License-Identifier: Apache-2.0
/** A pair without an application, four chains: faults, switches, and the same run again. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pair.h"

enum { MISSED = 3 };

static char const *config;
static char overlay[] = "/tmp/ringmaster-test-pair-XXXXXX";

static int write_overlay(void **state) {
    (void)state;
    static char const WORDS[] = "first_turn: 1200\nchains: [{name: c, timeout_ms: 0.2}]\n";
    int const file = mkstemp(overlay);
    return file < 0 || write(file, WORDS, sizeof WORDS - 1) != (ssize_t)(sizeof WORDS - 1) || close(file) != 0;
}

static int remove_overlay(void **state) {
    (void)state;
    return unlink(overlay);
}

static struct rm_pair_setup setup_of(uint32_t faults, uint64_t rounds) {
    return (struct rm_pair_setup){
        .files = {.config = config, .overlay = overlay},
        .seed = 3,
        .cycles = 200000,
        .missed_cycles = MISSED,
        .faults = faults,
        .fault_count = rounds,
        .operator_cycles = 50,
    };
}

static void run(struct rm_pair_setup const *setup, struct rm_pair *pair) {
    struct rm_error error = {.text = ""};
    if (rm_pair_open(setup, pair, &error) != RM_OK || rm_pair_run(pair, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** Nobody had two masters, nothing was beyond limits or slew, and the pair came to rest each time. */
static void expect_no_harm(struct rm_pair const *pair, uint64_t rounds) {
    struct rm_pair_judged const judged = rm_pair_judged(pair);
    assert_int_equal(judged.two_masters, 0);
    assert_int_equal(judged.over_limit, 0);
    assert_int_equal(judged.over_slew, 0);
    assert_int_equal(judged.divided, 0);
    assert_int_equal(pair->tally.false_swaps, 0);
    assert_int_equal(pair->faults.rounds, rounds);
    assert_int_equal(pair->faults.unsettled, 0);
}

static void a_killed_server_has_a_successor_in_time(void **state) {
    (void)state;
    struct rm_pair_setup const setup = setup_of(1u << RM_PAIR_KILL, 40);
    struct rm_pair pair;
    run(&setup, &pair);
    expect_no_harm(&pair, 40);
    assert_true(pair.tally.length[RM_PAIR_TAKEN_OVER].count >= 10);
    assert_true(rm_pair_lengths_max(&pair.tally.length[RM_PAIR_TAKEN_OVER]) <= MISSED + 2);
    rm_pair_close(&pair);
}

static void no_fault_gives_a_chain_two_masters(void **state) {
    (void)state;
    struct rm_pair_setup const setup = setup_of((1u << RM_PAIR_SWITCH) - 1, 60);
    struct rm_pair pair;
    run(&setup, &pair);
    expect_no_harm(&pair, 60);
    assert_true(rm_pair_lengths_max(&pair.tally.length[RM_PAIR_TAKEN_OVER]) <= MISSED + 2);
    rm_pair_close(&pair);
}

static void a_switch_misses_no_cycle(void **state) {
    (void)state;
    struct rm_pair_setup const setup = setup_of(1u << RM_PAIR_SWITCH, 20);
    struct rm_pair pair;
    run(&setup, &pair);
    expect_no_harm(&pair, 20);
    assert_int_equal(pair.tally.length[RM_PAIR_SWITCHED].count, 20);
    assert_int_equal(pair.tally.planned_missing, 0);
    assert_int_equal(pair.tally.planned_duplicate, 0);
    rm_pair_close(&pair);
}

static void losses_alone_change_nothing(void **state) {
    (void)state;
    struct rm_pair_setup setup = setup_of(0, 0);
    setup.disturbed = 0.001;
    setup.cycles = 20000;
    struct rm_pair pair;
    run(&setup, &pair);
    expect_no_harm(&pair, 0);
    assert_true(pair.network.lost > 50);
    for (uint32_t k = 0; k < RM_PAIR_SWAP_KINDS; ++k)
        assert_int_equal(pair.tally.length[k].count, 0);
    rm_pair_close(&pair);
}

static void the_same_seed_gives_the_same_run(void **state) {
    (void)state;
    struct rm_pair_setup setup = setup_of((1u << RM_PAIR_SWITCH) - 1, 10);
    struct rm_pair pair;
    uint64_t passed[3], posted[3];
    for (uint32_t i = 0; i < 3; ++i) {
        setup.seed = i < 2 ? 5 : 6;
        run(&setup, &pair);
        passed[i] = pair.network.passed;
        posted[i] = pair.queue.posted;
        rm_pair_close(&pair);
    }
    assert_true(passed[0] == passed[1] && posted[0] == posted[1]);
    assert_true(posted[0] != posted[2]);
}

static void an_unknown_application_is_refused(void **state) {
    (void)state;
    struct rm_pair_setup setup = setup_of(0, 0);
    setup.application = "nobody";
    struct rm_pair pair;
    struct rm_error error = {.text = ""};
    assert_int_not_equal(rm_pair_open(&setup, &pair, &error), RM_OK);
    assert_non_null(strstr(error.text, "nobody"));
    rm_pair_close(&pair);
}

int main(int argc, char **argv) {
    config = argc > 1 ? argv[1] : "configs/supplies.yaml";
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_killed_server_has_a_successor_in_time),
        cmocka_unit_test(no_fault_gives_a_chain_two_masters),
        cmocka_unit_test(a_switch_misses_no_cycle),
        cmocka_unit_test(losses_alone_change_nothing),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(an_unknown_application_is_refused),
    };
    return cmocka_run_group_tests(tests, write_overlay, remove_overlay);
}
