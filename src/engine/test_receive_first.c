// SPDX-License-Identifier: Apache-2.0
/** Queues that are served first: before each turn of another one, and never so much that another one starves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "engine/test_receive_rig.h"

/** Queue 0 is served first; queue 1, and the queue of port 1, are not. Instrument 0 comes by queue 0, 1 by queue 1. */
static struct receive_rig *two_queues(uint16_t first_queues) {
    return rig_make(&(struct receive_rig_config){.instruments = 2, .queues = 2, .first_queues = first_queues});
}

static void fill(struct receive_rig *rig, uint32_t instrument, uint32_t datagrams) {
    for (rm_turn turn = 1000; turn < 1000 + datagrams; ++turn)
        rig_send(rig, instrument, turn);
}

static uint32_t waits(struct receive_rig const *rig, uint32_t port, uint32_t queue) {
    return rig->port[port]->count[queue];
}

/** One turn of the duty cycle takes so many packets of queue 0, and so many of queue 1. */
static void expect_taken(struct receive_rig *rig, uint32_t first, uint32_t other) {
    uint32_t const before[2] = {waits(rig, 0, 0), waits(rig, 0, 1)};
    assert_int_equal(rm_receive_duty(&rig->receive, rm_tsc()), first + other);
    assert_int_equal(before[0] - waits(rig, 0, 0), first);
    assert_int_equal(before[1] - waits(rig, 0, 1), other);
    assert_null(rig_broken(rig));
}

static void without_it_all_take_turns(void **state) {
    (void)state;
    struct receive_rig *rig = two_queues(0);
    fill(rig, 0, 2 * RM_BURST);
    fill(rig, 1, 2 * RM_BURST);
    for (int round = 0; round < 2; ++round) {
        expect_taken(rig, RM_BURST, 0);
        expect_taken(rig, 0, RM_BURST);
        expect_taken(rig, 0, 0); /* port 1, where nothing waits */
    }
    rig_free(rig);
}

static void it_is_emptied_before_each_turn_of_another(void **state) {
    (void)state;
    struct receive_rig *rig = two_queues(1);
    fill(rig, 0, 2 * RM_BURST + 3);
    fill(rig, 1, 2 * RM_BURST);
    expect_taken(rig, 2 * RM_BURST + 3, RM_BURST);
    fill(rig, 0, RM_BURST / 2 + 1);
    expect_taken(rig, RM_BURST / 2 + 1, 0); /* and port 1 */
    expect_taken(rig, 0, RM_BURST);
    rig_free(rig);
}

static void overloaded_it_leaves_the_others_their_turn(void **state) {
    (void)state;
    struct receive_rig *rig = two_queues(1);
    uint8_t const one = 0;
    for (int round = 0; round < 5; ++round) {
        fill(rig, 0, 40 * RM_BURST);
        fill(rig, 1, 4 * RM_BURST);
        for (int i = 0; i < 8; ++i)
            rig_push(rig, 1, 0, &one, 1);
        for (int turn = 0; turn < 4; ++turn) {
            expect_taken(rig, RM_RECEIVE_FIRST_BURSTS * RM_BURST, RM_BURST);
            uint32_t const before = waits(rig, 1, 0);
            assert_int_equal(rm_receive_duty(&rig->receive, rm_tsc()),
                             RM_RECEIVE_FIRST_BURSTS * RM_BURST + (turn == 0 ? 8 : 0));
            assert_int_equal(before - waits(rig, 1, 0), turn == 0 ? 8 : 0);
        }
        assert_null(rig_poll(rig));
    }
    rig_free(rig);
}

static void several_each_have_their_bursts(void **state) {
    (void)state;
    struct receive_rig *rig = two_queues(2);
    fill(rig, 0, 9 * RM_BURST);
    fill(rig, 1, 9 * RM_BURST);
    uint32_t const most = RM_RECEIVE_FIRST_BURSTS * RM_BURST;
    expect_taken(rig, most, most);
    expect_taken(rig, most, most);
    expect_taken(rig, RM_BURST, RM_BURST);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(without_it_all_take_turns),
        cmocka_unit_test(it_is_emptied_before_each_turn_of_another),
        cmocka_unit_test(overloaded_it_leaves_the_others_their_turn),
        cmocka_unit_test(several_each_have_their_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
