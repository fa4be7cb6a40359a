// SPDX-License-Identifier: Apache-2.0
/** Which datagrams take the fast path, and which do not; and how far it looks. */
#include <stdlib.h>

#include "base/timebase.h"
#include "engine/test_fast_path_general.h"
#include "engine/test_fast_path_layouts.h"
#include "engine/test_receive_steps.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/test_guard_page.h"

enum { TURNS = 1000 };

/** Sends TURNS turns from START on, of all instruments; how many packets took the general path. */
static uint64_t general_path_of_ordinary(struct receive_rig *rig) {
    fast_path_general = 0;
    run(rig, START, TURNS, UINT32_MAX, 0);
    return fast_path_general;
}

static void ordinary_traffic_takes_the_fast_path(void **state) {
    (void)state;
    for (uint32_t way = 1; way < fast_path_ways(); ++way) {
        struct receive_rig *const rig =
            rig_make(&(struct receive_rig_config){.instruments = 24, .lane = FAST_PATH[way]});
        assert_int_equal(general_path_of_ordinary(rig), 24); /* the first of each: no turn was due before */
        for (uint32_t i = 0; i < 24; ++i) {
            expect(rig, i, RM_STREAM_ACCEPTED, TURNS);
            assert_true(rig_shows(rig, i, START + TURNS - 1));
        }
        rig_free(rig);
    }
}

static void a_shut_fast_path_takes_none(void **state) {
    (void)state;
    struct receive_rig *const rig =
        rig_make(&(struct receive_rig_config){.instruments = 3, .lane = RIG_FAST_PATH_SHUT});
    assert_int_equal(general_path_of_ordinary(rig), 3 * TURNS);
    rig_free(rig);
}

static void calibrated_records_take_the_general_path(void **state) {
    (void)state;
    struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.instruments = 2});
    struct rm_lane_info const lanes[RM_LANES] = {{.name = ""}};
    struct rm_calibration calibration;
    rm_calibration_identity(&calibration, lanes, RIG_LANES);
    struct rm_calibration_compiled compiled;
    rm_calibration_compile(&calibration, lanes, &compiled);
    rig->instrument[1]->calibration = &compiled;
    rig_open(rig, 1);
    assert_int_equal(general_path_of_ordinary(rig), 1 + TURNS);
    expect(rig, 1, RM_STREAM_ACCEPTED, TURNS);
    rig_free(rig);
}

/** Compiled; the first of an instrument that is described, the second native. */
static struct rm_layout *describe_first(struct receive_rig *rig, struct rm_layout_description const *description) {
    struct rm_layout *layout;
    struct rm_error error;
    if (rm_layout_compile(description, &layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_counting_init(&rig->instrument[0]->counting, rm_layout_counter_bits(layout), true, 1, 0);
    rig_describe(rig, 0, layout, 5000, rig_source(0), 0x23);
    rig->receive.vote = &rig->vote[1];
    rig->receive.vote_count = 1;
    return layout;
}

/** How often a counter of so many bits comes round in the turns (START, START + TURNS). */
static uint64_t laps(uint32_t bits) { return bits == 64 ? 0 : ((START + TURNS - 1) >> bits) - (START >> bits); }

static void described_traffic_takes_the_fast_path_but_where_its_counter_comes_round(void **state) {
    (void)state;
    for (uint32_t way = 1; way < fast_path_ways(); ++way)
        for (uint32_t which = 0; which < FAST_PATH_LAYOUTS; ++which) {
            struct receive_rig *const rig =
                rig_make(&(struct receive_rig_config){.instruments = 2, .lane = FAST_PATH[way]});
            struct rm_layout *const layout = describe_first(rig, FAST_PATH_DESCRIPTION[which]);
            run(rig, START - 1, 1, 2, 0); /* the one that tells the clock, first */
            fast_path_general = 0;
            run(rig, START, TURNS, UINT32_MAX, 0);
            expect_nobody_refused(rig);
            expect(rig, 0, RM_STREAM_ACCEPTED, TURNS);
            assert_int_equal(rig_head(rig, 0), START + TURNS - 1);
            assert_int_equal(fast_path_general, 1 + laps(rm_layout_counter_bits(layout)));
            rig_free(rig);
            rm_layout_free(layout);
        }
}

static void a_counter_of_32_bits_comes_round(void **state) {
    (void)state;
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        struct receive_rig *const rig =
            rig_make(&(struct receive_rig_config){.instruments = 2, .lane = FAST_PATH[way]});
        struct rm_layout *const layout = describe_first(rig, FAST_PATH_DESCRIPTION[FAST_PATH_BIG]);
        rm_turn const first = (1ull << 32) - TURNS / 2;
        run(rig, first, 1, 2, 0);
        fast_path_general = 0;
        for (rm_turn turn = first + 1; turn <= first + TURNS; turn += 50) { /* in bursts */
            rig_set_tsc(rig_tsc_of(turn + 50));
            for (rm_turn next = turn; next < turn + 50; ++next)
                rig_send(rig, 0, next);
            assert_null(rig_poll(rig));
        }
        expect(rig, 0, RM_STREAM_ACCEPTED, TURNS);
        expect(rig, 0, RM_STREAM_SKIPPED, 0);
        assert_int_equal(rig_head(rig, 0), first + TURNS);
        assert_int_equal(fast_path_general, way == 0 ? TURNS : 2); /* the first, and that of the wrap */
        rig_free(rig);
        rm_layout_free(layout);
    }
}

static void datagrams_of_several_records_take_the_general_path(void **state) {
    (void)state;
    struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.instruments = 2});
    struct rm_layout_description group = *FAST_PATH_DESCRIPTION[FAST_PATH_BIG];
    group.instrument_count = 2;
    group.instrument_stride = group.bytes;
    group.bytes *= 2;
    struct rm_layout *const layout = describe_first(rig, &group);
    assert_int_equal(rm_layout_single_bytes(layout), 0);
    assert_int_equal(rig->instrument[0]->fast_path.frame_bytes, UINT32_MAX);
    rm_layout_free(layout);
    rig_free(rig);
}

/** By the port of another format, or of none, a described datagram is another, or of no instrument. */
static void the_udp_port_tells_formats_apart(void **state) {
    (void)state;
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        struct receive_rig *const rig =
            rig_make(&(struct receive_rig_config){.instruments = 2, .lane = FAST_PATH[way]});
        struct rm_layout *const layout = describe_first(rig, FAST_PATH_DESCRIPTION[FAST_PATH_BIG]);
        run(rig, START - 1, 1, 2, 0);
        run(rig, START, 10, UINT32_MAX, 0);
        rig->udp_port[0] = RIG_UDP_PORT;
        rig_send(rig, 0, START + 10);
        rig->udp_port[0] = 5001;
        rig_send(rig, 0, START + 10);
        rig->udp_port[1] = 5000; /* too short for that layout, or too long */
        rig_send(rig, 1, START + 10);
        assert_null(rig_poll(rig));
        expect(rig, 0, RM_STREAM_ACCEPTED, 10);
        expect(rig, 1, RM_STREAM_ACCEPTED, 11);
        assert_int_equal(rig_port_count(rig, RM_PORT_BAD_LENGTH), 1);
        assert_int_equal(rig_port_count(rig, RM_PORT_NOT_OUR_PORT), 1);
        assert_int_equal(rig_port_count(rig, RM_PORT_TOO_LONG), 1);
        rig_free(rig);
        rm_layout_free(layout);
    }
}

/** What a queue has no format for is not taken, though its instrument is known. */
static void an_instrument_in_a_format_that_does_not_come_here_is_refused(void **state) {
    (void)state;
    for (uint32_t way = 0; way < fast_path_ways(); ++way)
        for (uint32_t only = 0; only < 2; ++only) {
            struct receive_rig *const rig =
                rig_make(&(struct receive_rig_config){.instruments = 2, .lane = FAST_PATH[way]});
            struct rm_layout *const layout = describe_first(rig, FAST_PATH_DESCRIPTION[FAST_PATH_BIG]);
            run(rig, START - 1, 1, 2, 0);
            run(rig, START, 10, UINT32_MAX, 0);
            rig->queue[0].format = &rig->format[only];
            rig->queue[0].format_count = 1;
            run(rig, START + 10, 10, UINT32_MAX, 0);
            expect(rig, 0, RM_STREAM_ACCEPTED, only == 0 ? 10 : 20);
            expect(rig, 1, RM_STREAM_ACCEPTED, only == 0 ? 21 : 11);
            assert_int_equal(rig_port_count(rig, RM_PORT_NOT_OUR_PORT), 10);
            rig_free(rig);
            rm_layout_free(layout);
        }
}

static void mirrored_records_take_the_general_path(void **state) {
    (void)state;
    struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.instruments = 1});
    struct rm_mirror_path path[RM_NETWORKS];
    rm_counter counters[RM_NETWORKS][RM_PATH_COUNTERS] = {{0}};
    for (int i = 0; i < RM_NETWORKS; ++i) {
        assert_true(rm_mirror_path_init(&path[i], counters[i]));
        rig->instrument[0]->path[i] = &path[i];
    }
    rig->id[0] = 77;
    rig_know(rig, 0, rig_source(0), 77, 0, &path[0]);
    assert_int_equal(general_path_of_ordinary(rig), TURNS);
    expect(rig, 0, RM_STREAM_ACCEPTED, TURNS);
    for (int i = 0; i < RM_NETWORKS; ++i)
        rm_mirror_path_free(&path[i]);
    rig_free(rig);
}

static void unlike_decimations_take_the_general_path(void **state) {
    (void)state;
    struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.instruments = 2, .unlike = true});
    assert_int_equal(general_path_of_ordinary(rig), 2 * TURNS);
    expect(rig, 1, RM_STREAM_ACCEPTED, TURNS);
    rig_free(rig);
}

/** On a port of one VLAN, untagged frames are for others. */
static void a_port_of_a_vlan_takes_the_general_path(void **state) {
    (void)state;
    struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.instruments = 2});
    rig->queue[0].vlan = 7;
    assert_int_equal(general_path_of_ordinary(rig), 2 * TURNS);
    assert_int_equal(rm_counter_get(rig->port_counters[0], RM_PORT_WRONG_VLAN), 2 * TURNS);
    expect(rig, 1, RM_STREAM_ACCEPTED, 0);
    rig_free(rig);
}

static void wild_turns_between_good_ones_are_no_vote(void **state) {
    (void)state;
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.lane = FAST_PATH[way]});
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
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        struct receive_rig *const rig =
            rig_make(&(struct receive_rig_config){.instruments = 2, .lane = FAST_PATH[way]});
        rig->instrument[1]->counting.offset_turns = -20;
        rig_open(rig, 1);
        run(rig, START, 40, 3, (int64_t)(RM_TURN_END - 20 - START));
        for (uint32_t i = 0; i < 2; ++i) {
            expect(rig, i, RM_STREAM_ACCEPTED, 20);
            expect_refusals(rig, i, 0, 0);
            expect(rig, i, RM_STREAM_TURN_OUT_OF_RANGE, 20);
        }
        rig_free(rig);
    }
}

/** One frame of instrument 0 with an IPv4 header that does not sum up, whatever the device says of it. */
static void send_broken(struct receive_rig *rig, rm_turn turn, bool checksum_good) {
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
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.lane = FAST_PATH[way]});
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
static void show(struct receive_rig *rig, uint8_t *guard, uint8_t const *frame, uint32_t length) {
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
    for (uint32_t way = 0; way < fast_path_ways(); ++way)
        for (uint32_t lanes = 1; lanes <= RM_LANES; ++lanes) {
            struct receive_rig *const rig = rig_make(&(struct receive_rig_config){.lane = FAST_PATH[way]});
            rig->instrument[0]->lane_count = (uint8_t)lanes;
            rig_open(rig, 0);
            fast_path_general = 0;
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
            assert_int_equal(fast_path_general, way == 0 ? 130 : 1 + whole);
            rig_free(rig);
        }
    guard_page_free(guard);
}

static void nor_is_one_of_what_is_described(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (uint32_t way = 0; way < fast_path_ways(); ++way)
        for (uint32_t which = 0; which < FAST_PATH_LAYOUTS; ++which) {
            struct receive_rig *const rig =
                rig_make(&(struct receive_rig_config){.instruments = 2, .lane = FAST_PATH[way]});
            struct rm_layout *const layout = describe_first(rig, FAST_PATH_DESCRIPTION[which]);
            run(rig, START - 1, 1, 2, 0);
            run(rig, START, 1, 1, 0);
            rm_turn turn = START;
            fast_path_general = 0;
            uint8_t frame[256];
            uint32_t const whole = rig_frame(rig, 0, turn, frame);
            for (uint32_t length = 0; length <= whole + 20; ++length) {
                rig_frame(rig, 0, turn + 1, frame);
                show(rig, guard, frame, length);
                turn += length >= whole;
                assert_int_equal(rig_head(rig, 0), turn);
            }
            assert_int_equal(fast_path_general, way == 0 ? whole + 21 : whole);
            rig_free(rig);
            rm_layout_free(layout);
        }
    guard_page_free(guard);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(ordinary_traffic_takes_the_fast_path),
        cmocka_unit_test(a_shut_fast_path_takes_none),
        cmocka_unit_test(calibrated_records_take_the_general_path),
        cmocka_unit_test(described_traffic_takes_the_fast_path_but_where_its_counter_comes_round),
        cmocka_unit_test(a_counter_of_32_bits_comes_round),
        cmocka_unit_test(datagrams_of_several_records_take_the_general_path),
        cmocka_unit_test(the_udp_port_tells_formats_apart),
        cmocka_unit_test(an_instrument_in_a_format_that_does_not_come_here_is_refused),
        cmocka_unit_test(mirrored_records_take_the_general_path),
        cmocka_unit_test(unlike_decimations_take_the_general_path),
        cmocka_unit_test(a_port_of_a_vlan_takes_the_general_path),
        cmocka_unit_test(wild_turns_between_good_ones_are_no_vote),
        cmocka_unit_test(no_turn_is_beyond_the_end),
        cmocka_unit_test(what_only_the_device_found_good_is_not_expected_again),
        cmocka_unit_test(not_a_byte_beyond_the_frame_is_read),
        cmocka_unit_test(nor_is_one_of_what_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
