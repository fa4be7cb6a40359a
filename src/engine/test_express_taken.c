// SPDX-License-Identifier: Apache-2.0
/** Who takes the express lane, and who does not; and how far it looks. */
#include <stdlib.h>

#include "base/timebase.h"
#include "engine/test_express_general.h"
#include "engine/test_receive_steps.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/test_guard_page.h"

enum { TURNS = 1000 };

/** Sends TURNS turns from START on, of all instruments; how many packets took the general way. */
static uint64_t general_of_ordinary(struct rig *rig) {
    express_general = 0;
    run(rig, START, TURNS, UINT32_MAX, 0);
    return express_general;
}

static void ordinary_traffic_takes_the_lane(void **state) {
    (void)state;
    for (uint32_t way = 1; way < express_ways(); ++way) {
        struct rig *const rig = rig_make(&(struct rig_config){.instruments = 24, .lane = EXPRESS_LANE[way]});
        assert_int_equal(general_of_ordinary(rig), 24); /* the first of each: no turn was due before */
        for (uint32_t i = 0; i < 24; ++i) {
            expect(rig, i, RM_STREAM_ACCEPTED, TURNS);
            assert_true(rig_shows(rig, i, START + TURNS - 1));
        }
        rig_free(rig);
    }
}

static void a_shut_lane_takes_none(void **state) {
    (void)state;
    struct rig *const rig = rig_make(&(struct rig_config){.instruments = 3, .lane = RIG_LANE_SHUT});
    assert_int_equal(general_of_ordinary(rig), 3 * TURNS);
    rig_free(rig);
}

static void calibrated_records_take_the_general_way(void **state) {
    (void)state;
    struct rig *const rig = rig_make(&(struct rig_config){.instruments = 2});
    struct rm_lane_info const lanes[RM_LANES] = {{.name = ""}};
    struct rm_calibration calibration;
    rm_calibration_identity(&calibration, lanes, RIG_LANES);
    struct rm_calibration_compiled compiled;
    rm_calibration_compile(&calibration, lanes, &compiled);
    rig->instrument[1]->calibration = &compiled;
    rig_open(rig, 1);
    assert_int_equal(general_of_ordinary(rig), 1 + TURNS);
    expect(rig, 1, RM_STREAM_ACCEPTED, TURNS);
    rig_free(rig);
}

static void described_instruments_take_the_general_way(void **state) {
    (void)state;
    struct rig *const rig = rig_make(&(struct rig_config){.instruments = 2});
    struct rm_layout_description const description = {
        .byte_order = RM_LITTLE_ENDIAN,
        .bytes = 64,
        .instrument_count = 1,
        .instrument_stride = 64,
        .turn_count = 1,
        .turn_stride = 64,
        .counter = {.present = true, .in = RM_IN_DATAGRAM, .at = 8, .type = RM_FIELD_U64},
        .lane_count = RIG_LANES,
    };
    struct rm_layout *layout;
    struct rm_error error;
    if (rm_layout_compile(&description, &layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    rig->instrument[1]->layout = layout;
    rig_open(rig, 1);
    assert_int_equal(general_of_ordinary(rig), 1 + TURNS);
    assert_int_equal(rig_port_count(rig, RM_PORT_WRONG_KIND), TURNS);
    rm_layout_free(layout);
    rig_free(rig);
}

static void mirrored_records_take_the_general_way(void **state) {
    (void)state;
    struct rig *const rig = rig_make(&(struct rig_config){.instruments = 1});
    struct rm_mirror_path path[RM_NETWORKS];
    rm_counter counters[RM_NETWORKS][RM_PATH_COUNTERS] = {{0}};
    for (int i = 0; i < RM_NETWORKS; ++i) {
        assert_true(rm_mirror_path_init(&path[i], counters[i]));
        rig->instrument[0]->path[i] = &path[i];
    }
    rig->id[0] = 77;
    rig_know(rig, 0, rig_source(0), 77, 0, &path[0]);
    assert_int_equal(general_of_ordinary(rig), TURNS);
    expect(rig, 0, RM_STREAM_ACCEPTED, TURNS);
    for (int i = 0; i < RM_NETWORKS; ++i)
        rm_mirror_path_free(&path[i]);
    rig_free(rig);
}

static void unlike_decimations_take_the_general_way(void **state) {
    (void)state;
    struct rig *const rig = rig_make(&(struct rig_config){.instruments = 2, .unlike = true});
    assert_int_equal(general_of_ordinary(rig), 2 * TURNS);
    expect(rig, 1, RM_STREAM_ACCEPTED, TURNS);
    rig_free(rig);
}

/** On a port of one VLAN, untagged frames are somebody else's. */
static void a_port_of_a_vlan_takes_the_general_way(void **state) {
    (void)state;
    struct rig *const rig = rig_make(&(struct rig_config){.instruments = 2});
    rig->queue[0].vlan = 7;
    assert_int_equal(general_of_ordinary(rig), 2 * TURNS);
    assert_int_equal(rm_counter_get(rig->port_counters[0], RM_PORT_WRONG_VLAN), 2 * TURNS);
    expect(rig, 1, RM_STREAM_ACCEPTED, 0);
    rig_free(rig);
}

static void wild_turns_between_good_ones_are_no_vote(void **state) {
    (void)state;
    for (uint32_t way = 0; way < express_ways(); ++way) {
        struct rig *const rig = rig_make(&(struct rig_config){.lane = EXPRESS_LANE[way]});
        run(rig, START, 10, 1, 0);
        for (rm_turn turn = START + 10; turn < START + 10 + RM_GATE_VOTE_RUN; ++turn) {
            rig_send(rig, 0, turn);
            rig_send(rig, 0, turn + 1000 * START);
        }
        assert_null(rig_poll(rig));
        expect_refusals(rig, 0, RM_GATE_VOTE_RUN, 0);
        expect(rig, 0, RM_STREAM_ACCEPTED, 10 + RM_GATE_VOTE_RUN);
        assert_int_equal(rig_clock_count(rig, RM_CLOCK_ANCHORS), 1);
        rig_free(rig);
    }
}

static void no_turn_is_beyond_the_end(void **state) {
    (void)state;
    for (uint32_t way = 0; way < express_ways(); ++way) {
        struct rig *const rig = rig_make(&(struct rig_config){.instruments = 2, .lane = EXPRESS_LANE[way]});
        rig->instrument[1]->counting.offset_turns = -20;
        rig_open(rig, 1);
        run(rig, START, 40, 3, (int64_t)(RM_TURN_END - 20 - START));
        for (uint32_t i = 0; i < 2; ++i) {
            expect(rig, i, RM_STREAM_ACCEPTED, 20);
            expect_refusals(rig, i, 20, 0);
        }
        rig_free(rig);
    }
}

/** One frame of instrument 0 with an IPv4 header that does not sum up, whatever the device says of it. */
static void send_broken(struct rig *rig, rm_turn turn, bool checksum_good) {
    uint8_t frame[256];
    uint32_t const length = rig_frame(rig, 0, turn, frame);
    frame[RM_ETHERNET_BYTES + 10] ^= 1;
    rig->port[0]->checksum_good = checksum_good;
    rig_set_tsc(rig_tsc_of(turn));
    rig_push(rig, 0, 0, frame, length);
    assert_null(rig_poll(rig));
}

static void what_only_the_device_found_good_is_not_expected_again(void **state) {
    (void)state;
    for (uint32_t way = 0; way < express_ways(); ++way) {
        struct rig *const rig = rig_make(&(struct rig_config){.lane = EXPRESS_LANE[way]});
        run(rig, START, 10, 1, 0);
        send_broken(rig, START + 10, true);
        expect(rig, 0, RM_STREAM_ACCEPTED, 11);
        send_broken(rig, START + 11, false);
        expect(rig, 0, RM_STREAM_ACCEPTED, 11);
        assert_int_equal(rig_port_count(rig, RM_PORT_BAD_IP_HEADER), 1);
        rig_free(rig);
    }
}

/** Shows the role one frame of `length` bytes that ends where memory does. */
static void show(struct rig *rig, uint8_t *guard, uint8_t const *frame, uint32_t length) {
    struct rm_burst *const burst = &rig->receive.burst;
    burst->count = 1;
    burst->data[0] = guard_page_copy(guard, frame, length);
    burst->length[0] = length;
    burst->checksum_good[0] = false;
    rm_receive_burst(&rig->receive, &rig->queue[0], rm_tsc());
    burst->count = 0;
}

static void not_a_byte_beyond_the_frame_is_read(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (uint32_t way = 0; way < express_ways(); ++way)
        for (uint32_t lanes = 1; lanes <= RM_LANES; ++lanes) {
            struct rig *const rig = rig_make(&(struct rig_config){.lane = EXPRESS_LANE[way]});
            rig->instrument[0]->lane_count = (uint8_t)lanes;
            rig_open(rig, 0);
            express_general = 0;
            rm_turn turn = START;
            uint8_t frame[256] = {0};
            uint32_t const whole = rig_frame(rig, 0, turn, frame);
            show(rig, guard, frame, whole);
            for (uint32_t length = 0; length <= 128; ++length) {
                rig_frame(rig, 0, turn + 1, frame);
                show(rig, guard, frame, length);
                turn += length >= whole;
                assert_int_equal(rig_head(rig, 0), turn);
                assert_true(rig_shows(rig, 0, turn));
            }
            assert_int_equal(express_general, way == 0 ? 130 : 1 + whole);
            rig_free(rig);
        }
    guard_page_free(guard);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(ordinary_traffic_takes_the_lane),
        cmocka_unit_test(a_shut_lane_takes_none),
        cmocka_unit_test(calibrated_records_take_the_general_way),
        cmocka_unit_test(described_instruments_take_the_general_way),
        cmocka_unit_test(mirrored_records_take_the_general_way),
        cmocka_unit_test(unlike_decimations_take_the_general_way),
        cmocka_unit_test(a_port_of_a_vlan_takes_the_general_way),
        cmocka_unit_test(wild_turns_between_good_ones_are_no_vote),
        cmocka_unit_test(no_turn_is_beyond_the_end),
        cmocka_unit_test(what_only_the_device_found_good_is_not_expected_again),
        cmocka_unit_test(not_a_byte_beyond_the_frame_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
