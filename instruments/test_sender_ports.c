// SPDX-License-Identifier: Apache-2.0
/** A ring that sends through two ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "test_ring.h"

enum { TURNS = 5000 };

/* The first two groups leave through one port, the third through the other. */
static char const LINES[] = "ports:\n"
                            "  - {name: one, kind: memif, socket: /tmp/one.sock, answer: 10.20.255.1}\n"
                            "  - {name: two, kind: memif, socket: /tmp/two.sock, answer: 10.21.255.1, vlan: 7}\n"
                            "instruments:\n"
                            "  - {name: bpm, kind: bpm, id: 1, count: 2, port: one, source: 10.20.3.1}\n"
                            "  - {name: llrf, kind: llrf, id: 9, port: two, source: 10.20.3.2}\n";

static void check_frame(struct test_port const *kept, uint32_t i, uint32_t destination, uint16_t vlan) {
    struct rm_datagram datagram = {0};
    assert_int_equal(rm_frame_parse(kept->data[i], kept->length[i], false, &datagram), RM_PORT_DECODED);
    assert_int_equal(datagram.destination_ipv4, destination);
    assert_int_equal(datagram.vlan, vlan);
}

static void each_instrument_leaves_through_its_port(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(LINES, "");
    test_ring_run(bench, TURNS);
    assert_int_equal(bench->port[0].count, 2 * TURNS);
    assert_int_equal(bench->port[1].count, TURNS);
    for (uint32_t i = 0; i < TURNS; ++i) {
        check_frame(&bench->port[0], 2 * i, 0x0A14FF01, RM_VLAN_NONE);
        check_frame(&bench->port[1], i, 0x0A15FF01, 7);
    }
    test_ring_destroy(bench);
}

static void one_port_goes_on_while_another_is_down(void **state) {
    (void)state;
    for (uint32_t down = 0; down < TEST_RING_PORTS; ++down) {
        struct test_ring *bench = test_ring_make(LINES, "");
        bench->port[down].down_after = 100;
        bench->port[down].down_looks = UINT32_MAX;
        test_ring_run(bench, TURNS);
        uint32_t const other = 1 - down;
        assert_int_equal(bench->port[other].count, other == 0 ? 2 * TURNS : TURNS);
        assert_in_range(bench->port[down].count, 100, 100 + RM_BURST);
        assert_int_equal(test_ring_counted(bench, 2, RM_SENDER_TURNS), TURNS);
        test_ring_destroy(bench);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_instrument_leaves_through_its_port),
        cmocka_unit_test(one_port_goes_on_while_another_is_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
