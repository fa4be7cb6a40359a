// SPDX-License-Identifier: Apache-2.0
#include "standby/link/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t draw(void *context) { return ++*(uint64_t *)context; }

/** Two ends whose numbers are 101, 102, … and 201, 202, …. */
struct ends {
    uint64_t a_number, b_number;
    struct rm_peer_session a, b;
};

static void ends_make(struct ends *ends) {
    *ends = (struct ends){.a_number = 100, .b_number = 200};
    ends->a = (struct rm_peer_session){.draw = draw, .context = &ends->a_number};
    ends->b = (struct rm_peer_session){.draw = draw, .context = &ends->b_number};
    rm_peer_session_make(&ends->a);
    rm_peer_session_make(&ends->b);
}

static enum rm_peer_judged judge(struct rm_peer_session *session, uint64_t from, uint64_t to, uint64_t sequence,
                                 bool is_hello) {
    struct rm_peer_datagram const datagram = {.from = from, .to = to, .sequence = sequence};
    return rm_peer_session_judge(session, &datagram, is_hello);
}

static void ends_join(struct ends *ends) {
    assert_int_equal(judge(&ends->b, 101, 0, 0, true), RM_PEER_GREETS);
    assert_int_equal(judge(&ends->a, 201, 101, 0, true), RM_PEER_BEGINS);
    assert_int_equal(judge(&ends->b, 101, 201, 1, true), RM_PEER_BEGINS);
    assert_true(ends->a.up && ends->b.up);
}

static void two_join(void **state) {
    (void)state;
    struct ends ends;
    ends_make(&ends);
    ends_join(&ends);
    assert_int_equal(judge(&ends.b, 101, 201, 2, false), RM_PEER_OURS);
    assert_int_equal(judge(&ends.a, 201, 101, 1, false), RM_PEER_OURS);
}

static void a_recorded_session_is_refused(void **state) {
    (void)state;
    struct ends ends;
    ends_make(&ends);
    ends_join(&ends);
    /* a is started anew: its numbers are others. */
    assert_int_equal(judge(&ends.b, 151, 0, 0, true), RM_PEER_GREETS);
    assert_int_equal(judge(&ends.b, 151, 202, 1, true), RM_PEER_BEGINS);
    assert_int_equal(judge(&ends.b, 101, 201, 2, false), RM_PEER_FOREIGN);
    assert_int_equal(judge(&ends.b, 101, 201, 1, true), RM_PEER_GREETS); // an answer, and no session
    assert_int_equal(ends.b.peer, 151);
}

static void a_recorded_answer_makes_no_session(void **state) {
    (void)state;
    struct ends ends;
    ends_make(&ends);
    ends_join(&ends);
    assert_int_equal(judge(&ends.a, 201, 101, 0, true), RM_PEER_REPEATED);
    assert_int_equal(judge(&ends.a, 299, 101, 0, true), RM_PEER_GREETS);
    assert_int_equal(ends.a.peer, 201);
}

static void ones_own_words_are_not_the_peers(void **state) {
    (void)state;
    struct ends ends;
    ends_make(&ends);
    assert_int_equal(judge(&ends.a, 101, 0, 0, true), RM_PEER_FOREIGN);
    ends_join(&ends);
    assert_int_equal(judge(&ends.a, 101, 201, 1, false), RM_PEER_FOREIGN);
    assert_int_equal(judge(&ends.a, 101, 201, 1, true), RM_PEER_FOREIGN);
}

static void each_sequence_is_taken_once(void **state) {
    (void)state;
    struct ends ends;
    ends_make(&ends);
    ends_join(&ends);
    uint64_t const order[] = {5, 3, 4, 2, 6, 8, 7};
    for (size_t i = 0; i < sizeof order / sizeof *order; ++i)
        assert_int_equal(judge(&ends.b, 101, 201, order[i], false), RM_PEER_OURS);
    for (uint64_t i = 0; i <= 8; ++i)
        assert_int_equal(judge(&ends.b, 101, 201, i, false), RM_PEER_REPEATED);
    assert_int_equal(ends.b.lost, 0);
    assert_int_equal(ends.b.reordered, 4);
}

static void what_is_behind_the_window_is_refused(void **state) {
    (void)state;
    struct ends ends;
    ends_make(&ends);
    ends_join(&ends);
    assert_int_equal(judge(&ends.b, 101, 201, 10000, false), RM_PEER_OURS);
    assert_int_equal(judge(&ends.b, 101, 201, 10000 - RM_PEER_WINDOW, false), RM_PEER_REPEATED);
    assert_int_equal(judge(&ends.b, 101, 201, 10001 - RM_PEER_WINDOW, false), RM_PEER_OURS);
    assert_int_equal(judge(&ends.b, 101, 201, 10001 - RM_PEER_WINDOW, false), RM_PEER_REPEATED);
    assert_int_equal(ends.b.lost, 10000 - 1 - 1 - 1);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(two_join),
        cmocka_unit_test(a_recorded_session_is_refused),
        cmocka_unit_test(a_recorded_answer_makes_no_session),
        cmocka_unit_test(ones_own_words_are_not_the_peers),
        cmocka_unit_test(each_sequence_is_taken_once),
        cmocka_unit_test(what_is_behind_the_window_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
