// SPDX-License-Identifier: Apache-2.0
/** Software queues behind one of a device: a source stays in its queue, and nothing is lost unseen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "net/port.h"
#include "net/spread.h"

enum { FRAME_BYTES = 106, SOURCES = 100 };
static uint16_t const QUEUES = 4;
static uint32_t const NETWORK = 0x0A140000;

/** Ethernet and IPv4 of a source, behind so many VLAN tags; as a later fragment where asked for. Returns its length. */
static uint32_t write_frame(uint8_t *frame, uint32_t source_ipv4, uint32_t tags, bool fragment) {
    memset(frame, 0, FRAME_BYTES);
    uint8_t *at = frame + 12;
    for (uint32_t tag = 0; tag < tags; ++tag, at += 4)
        memcpy(at, tag + 1 < tags ? (uint8_t[]){0x88, 0xA8, 0, 3} : (uint8_t[]){0x81, 0, 0, 7}, 4);
    memcpy(at, (uint8_t[]){8, 0, 0x45}, 3);
    at[2 + 7] = fragment ? 0xB9 : 0;
    for (int byte = 0; byte < 4; ++byte)
        at[2 + 12 + byte] = (uint8_t)(source_ipv4 >> 8 * (3 - byte));
    return FRAME_BYTES;
}

static void every_frame_of_a_source_goes_the_same_way(void **state) {
    (void)state;
    uint8_t frame[FRAME_BYTES];
    for (uint32_t source = NETWORK; source < NETWORK + SOURCES; ++source) {
        uint16_t const queue = rm_spread_queue_of(source, QUEUES);
        assert_in_range(queue, 0, QUEUES - 1);
        for (uint32_t tags = 0; tags <= 2; ++tags)
            for (int fragment = 0; fragment <= 1; ++fragment) {
                uint32_t const length = write_frame(frame, source, tags, fragment);
                assert_int_equal(rm_spread_queue_of_frame(frame, length, QUEUES), queue);
            }
    }
}

static void what_is_no_ipv4_goes_to_queue_0(void **state) {
    (void)state;
    uint32_t source = NETWORK; // one whose own queue is another
    while (rm_spread_queue_of(source, QUEUES) == 0)
        ++source;
    uint8_t frame[FRAME_BYTES];
    uint32_t const length = write_frame(frame, source, 0, false);
    for (uint32_t cut = 0; cut < 14 + 16; ++cut)
        assert_int_equal(rm_spread_queue_of_frame(frame, cut, QUEUES), 0);
    assert_int_not_equal(rm_spread_queue_of_frame(frame, 14 + 16, QUEUES), 0);
    write_frame(frame, source, 3, false);
    assert_int_equal(rm_spread_queue_of_frame(frame, length, QUEUES), 0);
    write_frame(frame, source, 0, false);
    frame[13] = 6; // ARP
    assert_int_equal(rm_spread_queue_of_frame(frame, length, QUEUES), 0);
}

static void sources_in_a_row_are_shared_out_evenly(void **state) {
    (void)state;
    uint16_t const most = RM_SPREAD_QUEUES_MAX;
    for (uint16_t queues = 2; queues <= most; ++queues) {
        uint32_t count[RM_SPREAD_QUEUES_MAX] = {0};
        for (uint32_t source = NETWORK; source < NETWORK + SOURCES; ++source)
            ++count[rm_spread_queue_of(source, queues)];
        for (uint16_t queue = 0; queue < queues; ++queue)
            assert_in_range(count[queue], SOURCES / queues - 3, SOURCES / queues + 4);
    }
}

static struct rm_port *open_ring(void) {
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = QUEUES, .spread = true};
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    rm_port_open(&config, &port, &error);
    assert_string_equal(error.text, "");
    return port;
}

/** Sends a burst, the frames of which are from sources in turn. */
static void send(struct rm_port *port, uint32_t first) {
    struct rm_burst burst = {0};
    assert_int_equal(rm_port_reserve(port, 0, &burst, RM_BURST), RM_BURST);
    for (uint32_t i = 0; i < RM_BURST; ++i)
        burst.length[i] = write_frame(burst.data[i], NETWORK + (first + i) % SOURCES, 0, false);
    assert_int_equal(rm_port_send(port, 0, &burst), RM_BURST);
}

static uint32_t source_in(uint8_t const *frame) {
    return (uint32_t)frame[26] << 24 | (uint32_t)frame[27] << 16 | (uint32_t)frame[28] << 8 | frame[29];
}

/** Everything that waits in a queue, each frame of a source that belongs there. */
static uint32_t drain(struct rm_port *port, uint16_t queue) {
    struct rm_burst burst = {0};
    uint32_t count = 0;
    while (rm_port_receive(port, queue, &burst) != 0) {
        for (uint32_t i = 0; i < burst.count; ++i) {
            assert_int_equal(burst.length[i], FRAME_BYTES);
            assert_int_equal(rm_port_queue_of(port, source_in(burst.data[i])), queue);
        }
        count += burst.count;
        rm_port_release(port, queue, &burst);
    }
    return count;
}

enum { ROUNDS = 10000 };

static void nothing_is_lost_while_there_is_room(void **state) {
    (void)state;
    struct rm_port *const port = open_ring();
    assert_int_equal(rm_port_steering(port), RM_STEERING_SOFTWARE);
    uint64_t full = 0, received = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        send(port, round * RM_BURST);
        assert_int_equal(rm_port_spread(port, &full), RM_BURST);
        for (uint16_t queue = 0; queue < QUEUES; ++queue)
            received += drain(port, queue);
    }
    assert_int_equal(rm_port_spread(port, &full), 0);
    assert_int_equal(full, 0);
    assert_int_equal(received, ROUNDS * RM_BURST);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    assert_int_equal(totals.received, received);
    rm_port_close(port);
}

static void what_finds_no_room_is_counted(void **state) {
    (void)state;
    struct rm_port *const port = open_ring();
    uint64_t full = 0, received = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        send(port, round * RM_BURST);
        assert_int_equal(rm_port_spread(port, &full), RM_BURST);
    }
    for (uint16_t queue = 0; queue < QUEUES; ++queue) {
        uint32_t const waited = drain(port, queue);
        assert_int_equal(waited, RM_SPREAD_SLOTS);
        received += waited;
    }
    assert_int_equal(received + full, ROUNDS * RM_BURST);
    rm_port_close(port);
}

static void so_many_queues_there_are_not(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 17, .spread = true};
    struct rm_port *port = NULL;
    struct rm_error error;
    assert_int_equal(rm_port_open(&config, &port, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "spreads to at most 16"));
}

static int start_net(void **state) {
    (void)state;
    struct rm_net_config const net = {.prefix = "ringmaster-tests"};
    struct rm_error error;
    return rm_net_start(&net, &error) == RM_OK ? 0 : -1;
}

static int stop_net(void **state) {
    (void)state;
    rm_net_stop();
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_frame_of_a_source_goes_the_same_way),
        cmocka_unit_test(what_is_no_ipv4_goes_to_queue_0),
        cmocka_unit_test(sources_in_a_row_are_shared_out_evenly),
        cmocka_unit_test(nothing_is_lost_while_there_is_room),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(so_many_queues_there_are_not),
    };
    return cmocka_run_group_tests_name("spread", tests, start_net, stop_net);
}
