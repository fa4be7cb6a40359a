// SPDX-License-Identifier: Apache-2.0
/** How a server begins at one chain: what it does not know of, and for how long it asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "begin.h"

enum { N = 4, NOW = 1000 };

/** It began in the cycle NOW, at a chain that answered a query in `asked` and had obeyed in `obeyed`. */
static struct rm_standby began(enum rm_standby_reason reason, uint64_t asked, uint64_t obeyed) {
    static struct rm_standby standby;
    standby =
        (struct rm_standby){.reason = reason, .cycle = NOW, .setup = {.server = 2, .chains = 1, .missed_cycles = N}};
    standby.chain[0].asked = asked;
    standby.chain[0].obeyed = obeyed;
    return standby;
}

static void assert_begins(struct rm_standby const *standby, uint64_t lag, uint64_t since,
                          struct rm_standby_begin expected) {
    struct rm_standby_begin const begin = rm_standby_begin_at(standby, 0, lag, since);
    assert_int_equal(begin.behind, expected.behind);
    assert_int_equal(begin.wait, expected.wait);
    assert_int_equal(begin.forgets, expected.forgets);
}

static void test_a_chain_that_told_waits_for_what_its_silence_lacks(void **state) {
    (void)state;
    struct rm_standby const standby = began(RM_STANDBY_TOOK_OVER, NOW - 1, NOW - N);
    assert_begins(&standby, 0, N, (struct rm_standby_begin){.behind = 0});
    assert_begins(&standby, N, 9, (struct rm_standby_begin){.behind = N});
    assert_begins(&standby, N + 1, 9, (struct rm_standby_begin){.behind = N + 1, .wait = 1});
    assert_begins(&standby, 2 * N - 1, 9, (struct rm_standby_begin){.behind = 2 * N - 1, .wait = N - 1});
    assert_begins(&standby, 2 * N, 9, (struct rm_standby_begin){.behind = 2 * N, .forgets = true});
}

static void test_a_chain_that_did_not_tell_may_obey_until_now(void **state) {
    (void)state;
    struct rm_standby standby = began(RM_STANDBY_TOOK_OVER, NOW - N - 1, NOW - N - 1);
    assert_begins(&standby, 0, 6, (struct rm_standby_begin){.behind = 6, .wait = 6});
    assert_begins(&standby, 0, RM_STANDBY_WAITS_MOST,
                  (struct rm_standby_begin){.behind = RM_STANDBY_WAITS_MOST, .wait = RM_STANDBY_WAITS_MOST});
    assert_begins(&standby, 0, RM_STANDBY_WAITS_MOST + 1,
                  (struct rm_standby_begin){.behind = RM_STANDBY_WAITS_MOST + 1, .forgets = true});
    assert_begins(&standby, UINT64_MAX, 6, (struct rm_standby_begin){.behind = UINT64_MAX, .forgets = true});
    standby = began(RM_STANDBY_TOOK_OVER, 0, 0); /* it was never asked */
    assert_begins(&standby, 0, 6, (struct rm_standby_begin){.behind = 6, .wait = 6});
}

/** The other server's clock may be a cycle before ours. */
static void test_an_answer_of_the_next_cycle_is_of_now(void **state) {
    (void)state;
    struct rm_standby const standby = began(RM_STANDBY_TOOK_OVER, NOW + 1, NOW + 1);
    assert_begins(&standby, 2, 9, (struct rm_standby_begin){.behind = 2, .wait = 2});
}

static void test_a_switch_leaves_no_chain_waiting(void **state) {
    (void)state;
    struct rm_standby const standby = began(RM_STANDBY_SWITCHED, 0, NOW - 1);
    assert_begins(&standby, 3, 4, (struct rm_standby_begin){.behind = 3});
}

static void test_a_server_that_began_knows_of_nothing(void **state) {
    (void)state;
    struct rm_standby const standby = began(RM_STANDBY_BEGAN, NOW - 1, NOW - 500);
    assert_begins(&standby, 0, 500, (struct rm_standby_begin){.behind = UINT64_MAX, .forgets = true});
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_chain_that_told_waits_for_what_its_silence_lacks),
        cmocka_unit_test(test_a_chain_that_did_not_tell_may_obey_until_now),
        cmocka_unit_test(test_an_answer_of_the_next_cycle_is_of_now),
        cmocka_unit_test(test_a_switch_leaves_no_chain_waiting),
        cmocka_unit_test(test_a_server_that_began_knows_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
