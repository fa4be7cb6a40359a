// SPDX-License-Identifier: Apache-2.0
/** Events come in the order of their times, and of their posting where these are equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "network.h"
#include "queue.h"

enum { EVENTS = 1000, TIMES = 37 };

static void comes_in_order(void **state) {
    (void)state;
    struct rm_pair_queue queue = {0};
    struct rm_pair_event event, last = {0};
    uint64_t key = 1;
    for (uint32_t i = 0; i < EVENTS; ++i)
        assert_true(
            rm_pair_queue_post(&queue, (struct rm_pair_event){.time_ns = rm_pair_draw_below(&key, TIMES), .what = i}));
    for (uint32_t i = 0; i < EVENTS; ++i) {
        assert_true(rm_pair_queue_take(&queue, &event));
        assert_true(i == 0 || last.time_ns < event.time_ns ||
                    (last.time_ns == event.time_ns && last.what < event.what));
        last = event;
    }
    assert_false(rm_pair_queue_take(&queue, &event));
    rm_pair_queue_free(&queue);
}

static void a_cut_way_lets_nothing_pass(void **state) {
    (void)state;
    struct rm_pair_network network;
    uint64_t at = 0;
    rm_pair_network_make(&network, 1);
    assert_true(rm_pair_network_pass(&network, 0, RM_PAIR_TO_CHAINS, 3, 100, &at));
    assert_true(at > 100);
    network.divided[0][3] = true;
    assert_false(rm_pair_network_pass(&network, 0, RM_PAIR_TO_CHAINS, 3, 100, &at));
    assert_false(rm_pair_network_pass(&network, 0, RM_PAIR_FROM_CHAINS, 3, 100, &at));
    assert_true(rm_pair_network_pass(&network, 1, RM_PAIR_TO_CHAINS, 3, 100, &at));
    network.way[1][RM_PAIR_TO_CHAINS].cut = true;
    assert_false(rm_pair_network_pass(&network, 1, RM_PAIR_TO_CHAINS, 3, 100, &at));
    assert_true(rm_pair_network_pass(&network, 1, RM_PAIR_FROM_CHAINS, 3, 100, &at));
    network.way[1][RM_PAIR_FROM_CHAINS].held_ns = 50000000;
    assert_true(rm_pair_network_pass(&network, 1, RM_PAIR_FROM_CHAINS, 3, 100, &at));
    assert_true(at > 50000000);
    assert_int_equal(network.lost, 3);
}

static void loses_and_delays_its_share(void **state) {
    (void)state;
    static double const SHARE = 0.1;
    struct rm_pair_network network;
    uint64_t at = 0, late = 0, lost = 0;
    rm_pair_network_make(&network, 7);
    rm_pair_network_disturb(&network, SHARE, 1000000);
    for (uint32_t i = 0; i < 10 * EVENTS; ++i) {
        bool const passed = rm_pair_network_pass(&network, 0, RM_PAIR_TO_PEER, RM_PAIR_ALL_CHAINS, 0, &at);
        lost += !passed;
        late += passed && at > 10000;
    }
    assert_in_range(lost, 800, 1200);
    assert_in_range(late, 700, 1100);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(comes_in_order),
        cmocka_unit_test(a_cut_way_lets_nothing_pass),
        cmocka_unit_test(loses_and_delays_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
