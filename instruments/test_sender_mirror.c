// SPDX-License-Identifier: Apache-2.0
/** Two mirrored networks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "test_ring.h"

#define PORTS                                                                                                          \
    "ports:\n"                                                                                                         \
    "  - {name: a, kind: memif, socket: /tmp/a.sock, answer: 10.20.255.1}\n"                                           \
    "  - {name: b, kind: memif, socket: /tmp/b.sock, answer: 10.21.255.1, vlan: 7}\n"

static char const BPM[] =
    PORTS "instruments: [{name: bpm, kind: bpm, id: 1, port: a, source: 10.20.3.1, mirror: {port: b}}]\n";

static void each_network_loses_on_its_own(void **state) {
    (void)state;
    struct test_ring *bench =
        test_ring_make(PORTS "instruments: [{name: bpm, kind: bpm, format: libera_grouping, count: 8, id: 0, port: a, "
                             "source: 10.20.3.1, mirror: {port: b, source: 10.21.3.1}}]\n",
                       "faults:\n"
                       "  - {instrument: all, fault: drop, probability: 0.2, network: a}\n"
                       "  - {instrument: all, fault: drop, probability: 0.2, network: b}\n"
                       "  - {instrument: all, fault: duplicate, at_turn: 1000005}\n");
    test_ring_run(bench, 5000);
    uint64_t const lost[RM_NETWORKS] = {test_ring_counted(bench, 0, RM_SENDER_DROPPED),
                                        test_ring_counted(bench, 1, RM_SENDER_DROPPED)};
    for (uint32_t n = 0; n < RM_NETWORKS; ++n) {
        assert_in_range(lost[n], 850, 1150);
        assert_in_range(bench->port[n].count - (5000 - lost[n]), 0, 1);
        assert_int_equal(test_ring_read(bench, n).datagrams, bench->port[n].count);
    }
    assert_int_not_equal(lost[0], lost[1]);
    uint32_t a = 0, both = 0;
    for (uint32_t b = 0; b < bench->port[1].count; ++b) {
        struct rm_datagram first = {0}, second = {0};
        rm_frame_parse(bench->port[1].data[b], bench->port[1].length[b], false, &second);
        assert_int_equal(second.source_ipv4, 0x0A150301);
        assert_int_equal(second.destination_ipv4, 0x0A15FF01);
        assert_int_equal(second.vlan, 7);
        for (uint32_t ahead = a; ahead < bench->port[0].count && ahead < a + 50; ++ahead) {
            rm_frame_parse(bench->port[0].data[ahead], bench->port[0].length[ahead], false, &first);
            if (memcmp(first.payload, second.payload, first.length) == 0) {
                a = ahead + 1;
                ++both;
                break;
            }
        }
    }
    assert_in_range(both, 5000 * 0.64 - 150, 5000 * 0.64 + 150); /* 0.8 · 0.8: the losses are independent */
    test_ring_destroy(bench);
}

static void what_befalls_both_networks_befalls_the_same_datagrams(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(BPM, "faults: [{instrument: bpm, fault: drop, probability: 0.5}, "
                                                  "{instrument: bpm, fault: turn_jump, at_turn: 1000500, turns: 7}]\n");
    test_ring_run(bench, 1000);
    assert_int_equal(bench->port[0].count, bench->port[1].count);
    assert_in_range(bench->port[0].count, 400, 600);
    assert_int_equal(test_ring_counted(bench, 0, RM_SENDER_TURN_JUMPS), 1);
    assert_int_equal(test_ring_counted(bench, 1, RM_SENDER_TURN_JUMPS), 0);
    for (uint32_t i = 0; i < bench->port[0].count; ++i) {
        uint32_t const tag = RM_VLAN_BYTES, from = RM_FRAME_HEADER_BYTES;
        assert_int_equal(bench->port[1].length[i], bench->port[0].length[i] + tag);
        assert_memory_equal(bench->port[1].data[i] + from + tag, bench->port[0].data[i] + from,
                            bench->port[0].length[i] - from);
    }
    test_ring_destroy(bench);
}

static void one_network_goes_on_while_the_other_is_down(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(BPM, "");
    bench->port[1].down_after = 100;
    bench->port[1].down_looks = UINT32_MAX;
    test_ring_run(bench, 5000);
    assert_int_equal(bench->port[0].count, 5000);
    assert_int_equal(bench->port[1].count, test_ring_counted(bench, 1, RM_SENDER_SENT));
    assert_in_range(bench->port[1].count, 100, 100 + RM_BURST);
    assert_int_equal(test_ring_counted(bench, 1, RM_SENDER_TURNS), 5000);
    test_ring_destroy(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_network_loses_on_its_own),
        cmocka_unit_test(what_befalls_both_networks_befalls_the_same_datagrams),
        cmocka_unit_test(one_network_goes_on_while_the_other_is_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
