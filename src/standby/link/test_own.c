// SPDX-License-Identifier: Apache-2.0
/** Steps of an application, as the link reads them: each one that is on record, whatever lies between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fabric/test_ring.h"
#include "standby/link/own.h"

enum { PERIOD = 120, CAPACITY = 65536, MARGIN = 1024, FIRST = 1000 * PERIOD };

struct own_rig {
    struct stream_ring decision;
    struct rm_peer_own own;
};

static int set_up_own(void **state) {
    struct own_rig *const rig = aligned_alloc(_Alignof(struct own_rig), sizeof *rig);
    *state = rig;
    if (rig == NULL || !test_ring_make(&rig->decision, CAPACITY, MARGIN, PERIOD, 0))
        return -1;
    rig->own = (struct rm_peer_own){.application_count = 1};
    rig->own.application[0] =
        (struct rm_peer_own_application){.name = "orbit", .stream_count = 1, .stream = &rig->decision.view};
    return 0;
}

static int tear_down_own(void **state) {
    struct own_rig *const rig = *state;
    test_ring_free(&rig->decision);
    free(rig);
    return 0;
}

static void own_rig_step(struct own_rig *rig, rm_turn turn) {
    struct rm_record const record = {.turn = turn};
    assert_int_equal(rm_stream_writer_put(&rig->decision.writer, &record), RM_PUT_NEW);
    rm_stream_writer_publish(&rig->decision.writer, 1);
}

/** The step behind `after` is that of `turn`, and nothing between them is lost. */
static void assert_next_step(struct own_rig *rig, rm_turn after, rm_turn turn) {
    static struct rm_peer_records records;
    rm_turn previous;
    assert_true(rm_peer_own_step(&rig->own, 0, after, &records, &previous));
    assert_int_equal(records.turn, turn);
    assert_int_equal(records.count, 1);
    assert_int_equal(previous, after);
}

static void assert_no_step(struct own_rig *rig, rm_turn after) {
    static struct rm_peer_records records;
    rm_turn previous;
    assert_false(rm_peer_own_step(&rig->own, 0, after, &records, &previous));
}

static void the_step_behind_another_one_is_found(void **state) {
    struct own_rig *const rig = *state;
    assert_no_step(rig, RM_TURN_NONE);
    own_rig_step(rig, FIRST);
    own_rig_step(rig, FIRST + PERIOD);
    assert_next_step(rig, FIRST, FIRST + PERIOD);
    assert_no_step(rig, FIRST + PERIOD);
}

/** An application that stood for long, beside a server that was not active: the peer's link waits for its next step. */
static void a_step_behind_a_long_pause_is_found(void **state) {
    struct own_rig *const rig = *state;
    rm_turn const behind = FIRST + (rm_turn)PERIOD * (CAPACITY - 2 * MARGIN);
    own_rig_step(rig, FIRST);
    own_rig_step(rig, behind);
    assert_next_step(rig, FIRST, behind);
}

/** Behind a pause of a whole stream the newest one is sent, as the first of all. */
static void a_step_that_is_not_kept_is_passed_over(void **state) {
    struct own_rig *const rig = *state;
    static struct rm_peer_records records;
    rm_turn const behind = FIRST + (rm_turn)PERIOD * (CAPACITY + 1);
    rm_turn previous;
    own_rig_step(rig, FIRST);
    own_rig_step(rig, behind);
    assert_true(rm_peer_own_step(&rig->own, 0, FIRST, &records, &previous));
    assert_int_equal(records.turn, behind);
    assert_int_equal(previous, RM_TURN_NONE);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(the_step_behind_another_one_is_found, set_up_own, tear_down_own),
        cmocka_unit_test_setup_teardown(a_step_behind_a_long_pause_is_found, set_up_own, tear_down_own),
        cmocka_unit_test_setup_teardown(a_step_that_is_not_kept_is_passed_over, set_up_own, tear_down_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
