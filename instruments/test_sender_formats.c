// SPDX-License-Identifier: Apache-2.0
/** Datagrams of every format: Libera in fragments and jumbo frames, described ones, several periods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "test_ring.h"
#include "wire/native.h"

static uint32_t longest(struct test_port const *kept) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < kept->count; ++i)
        most = kept->length[i] > most ? kept->length[i] : most;
    return most;
}

#define LIBERA "instruments: [{name: bpm, kind: bpm, format: libera_grouping, count: 168, id: 0, period_turns: 116, "
#define SOURCE "port: ring, source: 10.20.3.1}]\n"

static void libera_leaves_in_fragments_and_is_whole_again(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(LIBERA SOURCE, "udp_checksum: true\n");
    test_ring_run(bench, 116 * 1000);
    assert_int_equal(bench->port[0].count, 2000);
    assert_int_equal(longest(&bench->port[0]), 14 + 1500);
    assert_int_equal(test_ring_counted(bench, 0, RM_SENDER_SENT), 1000);
    assert_int_equal(test_ring_counted(bench, 0, RM_SENDER_TURNS), 1000);
    struct test_reading const reading = test_ring_read(bench, 0);
    assert_int_equal(reading.datagrams, 1000);
    assert_int_equal(reading.records, 168 * 1000);
    assert_int_equal(reading.verdicts[RM_PORT_FRAGMENT], 1000);
    assert_int_equal(reading.turn, (TEST_RING_FIRST / 116 + 1000) * 116);
    test_ring_destroy(bench);
}

static void jumbo_frames_take_it_whole_with_a_tag_too(void **state) {
    (void)state;
    struct test_ring *bench =
        test_ring_make("instruments: [{name: bpm, kind: bpm, format: libera_grouping_counter_first, count: 256, "
                       "id: 0, period_turns: 116, " SOURCE,
                       "mtu: 9000\nports: [{name: ring, vlan: 40, destination: 239.1.2.3}]\n");
    test_ring_run(bench, 116 * 100);
    assert_int_equal(bench->port[0].count, 100);
    assert_int_equal(longest(&bench->port[0]), RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES + 4096);
    uint8_t const mac[6] = {0x01, 0, 0x5E, 1, 2, 3};
    struct rm_datagram datagram = {0};
    assert_memory_equal(bench->port[0].data[0], mac, sizeof mac);
    rm_frame_parse(bench->port[0].data[0], bench->port[0].length[0], false, &datagram);
    assert_int_equal(datagram.vlan, 40);
    assert_int_equal(datagram.destination_port, 2048);
    assert_int_equal(datagram.source_ipv4, 0x0A140301);
    assert_int_equal(test_ring_read(bench, 0).records, 256 * 100);
    test_ring_destroy(bench);
}

static char const VENDOR[] =
    "formats:\n"
    "  - name: vendor\n"
    "    udp_port: 5000\n"
    "    layout:\n"
    "      byte_order: big\n"
    "      constants: [{at: 0, type: u16, value: 0xBEA3}]\n"
    "      instruments: {count: 2, at: 8, stride: 72}\n"
    "      turns: {count: 4, at: 8, stride: 16}\n"
    "      id: {in: instrument, at: 0, type: u16}\n"
    "      status: {in: instrument, at: 2, type: u16}\n"
    "      counter: {in: datagram, at: 4, type: u32}\n"
    "      lanes: [{name: x, unit: nm, at: 0, type: i32}, {name: y, unit: nm, at: 4, type: i32}, "
    "{name: sum, unit: counts, at: 8, type: i32}]\n"
    "instruments: [{name: bpm, kind: bpm, format: vendor, count: 4, id: 7, port: ring, source: 10.20.3.1}]\n";

static void four_turns_share_a_datagram_of_two(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(VENDOR, "");
    assert_int_equal(bench->ring.group_count, 2);
    test_ring_run(bench, 403); /* the last three turns fill no datagram */
    assert_int_equal(bench->port[0].count, 200);
    struct test_reading const reading = test_ring_read(bench, 0);
    assert_int_equal(reading.records, 200 * 8);
    assert_int_equal(reading.turn, TEST_RING_FIRST + 399);
    struct rm_datagram datagram = {0};
    rm_frame_parse(bench->port[0].data[1], bench->port[0].length[1], false, &datagram);
    assert_int_equal(datagram.destination_port, 5000);
    assert_int_equal(datagram.payload[0], 0xBE);
    assert_int_equal(datagram.payload[9], 9); /* the third BPM's id, in the second group */
    test_ring_destroy(bench);
}

static void a_datagram_begun_before_the_run_is_not_sent(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(VENDOR, "");
    bench->ring.groups[0].period_turns = bench->ring.groups[1].period_turns = 3;
    test_ring_run(
        bench, 120); /* the readings from 1000002 on: of datagrams that begin at multiples of 12 turns, from 1000008 */
    struct test_reading const reading = test_ring_read(bench, 0);
    assert_int_equal(reading.datagrams, 2 * 9);
    assert_int_equal(reading.turn, 1000008 + 9 * 12 - 3);
    test_ring_destroy(bench);
}

static void short_counters_wrap(void **state) {
    (void)state;
    struct test_ring *bench =
        test_ring_make("instruments: [{name: bpm, kind: bpm, format: libera_grouping, count: 2, id: 0, " SOURCE, "");
    bench->ring.groups[0].period_turns = 1;
    test_ring_run(bench, 60000); /* the counter wraps at turn 1048576 */
    struct test_reading const reading = test_ring_read(bench, 0);
    assert_int_equal(reading.datagrams, 60000);
    assert_int_equal(reading.turn, TEST_RING_FIRST + 59999);
    test_ring_destroy(bench);
}

static void faults_of_fragments_are_found_and_counted(void **state) {
    (void)state;
    struct test_ring *bench =
        test_ring_make(LIBERA SOURCE, "faults:\n"
                                      "  - {instrument: all, fault: fragment_order, order: shuffled, probability: 1}\n"
                                      "  - {instrument: bpm, fault: fragment_drop, probability: 0.1}\n");
    test_ring_run(bench, 116 * 1000);
    uint64_t const short_of_one = test_ring_counted(bench, 0, RM_SENDER_FRAGMENTS_DROPPED);
    assert_in_range(short_of_one, 50, 150);
    assert_int_equal(test_ring_counted(bench, 0, RM_SENDER_FRAGMENTS_REORDERED), 1000);
    assert_int_equal(test_ring_counted(bench, 0, RM_SENDER_SENT), 1000);
    struct test_reading reading = test_ring_read(bench, 0);
    assert_int_equal(reading.datagrams, 1000 - short_of_one);
    assert_int_equal(reading.verdicts[RM_PORT_FRAGMENT_EXPIRED], short_of_one);
    test_ring_destroy(bench);
    bench = test_ring_make(LIBERA SOURCE, "faults: [{instrument: bpm, fault: fragment_overlap, probability: 0.1}]\n");
    test_ring_run(bench, 116 * 1000);
    uint64_t const hostile = test_ring_counted(bench, 0, RM_SENDER_FRAGMENTS_OVERLAPPED);
    assert_in_range(hostile, 50, 150);
    reading = test_ring_read(bench, 0);
    assert_int_equal(reading.datagrams, 1000 - hostile);
    assert_true(reading.verdicts[RM_PORT_BAD_FRAGMENT] >= hostile);
    test_ring_destroy(bench);
    bench = test_ring_make(LIBERA SOURCE, "faults: [{instrument: bpm, fault: fragment_duplicate, probability: 0.5}]\n");
    test_ring_run(bench, 116 * 1000);
    assert_in_range(test_ring_counted(bench, 0, RM_SENDER_FRAGMENTS_DUPLICATED), 400, 600);
    assert_int_equal(bench->port[0].count, 2000 + test_ring_counted(bench, 0, RM_SENDER_FRAGMENTS_DUPLICATED));
    assert_int_equal(test_ring_read(bench, 0).datagrams, 1000);
    test_ring_destroy(bench);
}

static void damage_reaches_a_fragmented_datagram(void **state) {
    (void)state;
    struct test_ring *bench =
        test_ring_make(LIBERA SOURCE, "faults: [{instrument: bpm, fault: corrupt, probability: 0.1}]\n");
    test_ring_run(bench, 116 * 1000);
    uint64_t const corrupted = test_ring_counted(bench, 0, RM_SENDER_CORRUPTED);
    assert_in_range(corrupted, 50, 150);
    assert_int_equal(test_ring_read(bench, 0).verdicts[RM_PORT_BAD_UDP_CHECKSUM], corrupted);
    test_ring_destroy(bench);
}

/** Native instruments at turn rate beside a group at 10 kHz: each keeps its own pace. */
static void periods_mix(void **state) {
    (void)state;
    struct test_ring *bench =
        test_ring_make("instruments:\n"
                       "  - {name: fast, kind: bpm, count: 3, id: 1, port: ring, source: 10.20.3.1}\n"
                       "  - {name: slow, kind: blm, id: 9, port: ring, source: 10.20.3.1, period_turns: 116}\n"
                       "  - {name: psu, kind: power_supply, id: 10, port: ring, source: 10.20.3.1}\n",
                       "");
    test_ring_run(bench, 1160);
    uint32_t seen[16] = {0};
    for (uint32_t i = 0; i < bench->port[0].count; ++i) {
        struct rm_datagram datagram = {0};
        struct rm_native native = {0};
        struct rm_record record;
        rm_frame_parse(bench->port[0].data[i], bench->port[0].length[i], false, &datagram);
        assert_int_equal(rm_native_parse(datagram.payload, datagram.length, &native), RM_PORT_DECODED);
        rm_native_record(&native, native.turn, 0, &record);
        uint32_t const instrument = test_ring_index(&bench->ring, native.instrument);
        union rm_lane const *expected = rm_beam_turn(bench->again, native.turn, instrument, 1);
        assert_memory_equal(record.lane, expected, sizeof record.lane);
        assert_true(native.instrument != 9 || native.turn % 116 == 0);
        ++seen[native.instrument];
    }
    assert_int_equal(seen[1], 1160);
    assert_int_equal(seen[3], 1160);
    assert_int_equal(seen[9], 10);
    assert_int_equal(seen[10], 1160);
    test_ring_destroy(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(libera_leaves_in_fragments_and_is_whole_again),
        cmocka_unit_test(jumbo_frames_take_it_whole_with_a_tag_too),
        cmocka_unit_test(four_turns_share_a_datagram_of_two),
        cmocka_unit_test(a_datagram_begun_before_the_run_is_not_sent),
        cmocka_unit_test(short_counters_wrap),
        cmocka_unit_test(faults_of_fragments_are_found_and_counted),
        cmocka_unit_test(damage_reaches_a_fragmented_datagram),
        cmocka_unit_test(periods_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
