// SPDX-License-Identifier: Apache-2.0
/* What becomes of frames, one at a time: on their way, cut, answered, handed over, dropped. */
#include "forward/test_rig.h"

#include "wire/internet_checksum.h"

static uint8_t frame[RIG_FRAME_BYTES];

static int set_up(void **state) {
    *state = rig_make();
    return 0;
}

static int tear_down(void **state) {
    rig_free(*state);
    return 0;
}

static void a_packet_goes_on_with_one_hop_less(void **state) {
    struct rig *const rig = *state;
    uint8_t before[200];
    uint32_t const length = rig_ipv4_to(frame, 1, 30);
    memcpy(before, frame, length);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left_count, 1);
    struct rig_left const *const left = &rig->left[0];
    assert_int_equal(left->port, 1);
    assert_int_equal(left->length, length);
    uint8_t mac[6];
    rig_mac(mac, 1, true);
    assert_memory_equal(left->frame, mac, 6);
    rig_mac(mac, 1, false);
    assert_memory_equal(left->frame + 6, mac, 6);
    assert_int_equal(left->frame[22], before[22] - 1);
    assert_true(rm_ipv4_plain_header_sums_up(left->frame + 14));
    assert_memory_equal(left->frame + 26, before + 26, length - 26);
}

static void every_checksum_survives_a_hop(void **state) {
    struct rig *const rig = *state;
    for (uint32_t identification = 0; identification < 0x10000; identification += 3) {
        uint32_t const length = rig_ipv4_to(frame, 1, 18);
        rm_store16(frame + 14 + IPV4_IDENTIFICATION, (uint16_t)identification);
        rig_refresh_checksum(frame);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
        uint16_t const ours = rm_load16(rig->left[0].frame + 24);
        rm_ipv4_write_checksum(rig->left[0].frame + 14, 20);
        assert_int_equal(ours, rm_load16(rig->left[0].frame + 24));
    }
}

static void padding_stays_up_to_the_shortest_frame(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 1, 4);
    memset(frame + length, 0, 60 - length);
    assert_int_equal(rig_route_frame(rig, 0, frame, 60), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].length, 60);
    assert_int_equal(rig_route_frame(rig, 0, frame, 200), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].length, 60);
}

static void tags_come_and_go(void **state) {
    struct rig *const rig = *state;
    uint32_t length = rig_ipv4_to(frame, RIG_TAGGED, 100);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].port, 2);
    assert_int_equal(rig->left[0].length, length + 4);
    assert_int_equal(rm_load16(rig->left[0].frame + 12), 0x8100);
    assert_int_equal(rm_load16(rig->left[0].frame + 14), RIG_VLAN);
    assert_memory_equal(rig->left[0].frame + 18 + 20, frame + 14 + 20, length - 34);

    length = rig_tag(frame, rig_ipv4_frame(frame, 2, rig_ipv4(RIG_TAGGED, 9), rig_ipv4(1, 9), 100), RIG_VLAN);
    assert_int_equal(rig_route_frame(rig, 2, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].length, length - 4);
    assert_int_equal(rm_load16(rig->left[0].frame + 12), 0x0800);

    rm_store16(frame + 14, RIG_VLAN + 1);
    assert_int_equal(rig_route_frame(rig, 2, frame, length), RM_FORWARD_WRONG_VLAN);
    rm_store16(frame + 14, 0xE000); // a priority alone
    assert_int_equal(rig_route_frame(rig, 2, frame, length), RM_FORWARD_FORWARDED);
}

static void ipv6_goes_on_with_one_hop_less(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv6_frame(frame, 0, rig_ipv6(0, 9), rig_ipv6(1, 9), 50);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].length, length);
    assert_int_equal(rig->left[0].frame[21], 63);
    assert_memory_equal(rig->left[0].frame + 22, frame + 22, length - 22);
}

static void long_packets_are_cut_where_they_allow_it(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 1, 4000);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_TOO_BIG); // don't fragment
    rig_assert_ipv4_error(rig, frame, 3, 4);
    assert_int_equal(rm_load16(rig->left[0].frame + 40), 1500);
    rm_store16(frame + 20, 0);
    rig_refresh_checksum(frame);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rm_counter_get(rig->counters[0], RM_FORWARD_CUT), 1);
    assert_int_equal(rig->left_count, 3);
    uint32_t at = 0;
    for (uint32_t i = 0; i < rig->left_count; ++i) {
        uint8_t const *const ip = rig->left[i].frame + 14;
        uint32_t const bytes = rm_load16(ip + 2) - 20u;
        assert_true(rm_ipv4_plain_header_sums_up(ip));
        assert_in_range(rig->left[i].length, 35, 1514);
        assert_int_equal(rm_load16(ip + 6), at / 8 | (i < 2 ? 0x2000 : 0));
        assert_int_equal(ip[8], frame[22] - 1);
        assert_memory_equal(ip + 20, frame + 34 + at, bytes);
        at += bytes;
    }
    assert_int_equal(at, length - 34);
    uint32_t const length6 = rig_ipv6_frame(frame, 0, rig_ipv6(0, 9), rig_ipv6(1, 9), 1461);
    assert_int_equal(rig_route_frame(rig, 0, frame, length6), RM_FORWARD_TOO_BIG);
    assert_int_equal(rig->left[0].frame[54], 2);
    assert_int_equal(rm_load32(rig->left[0].frame + 58), 1500);
}

static void fragments_of_fragments_go_on_counting(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 1, 1992 - 8);
    rm_store16(frame + 20, 0x2000 | 50);
    rig_refresh_checksum(frame);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left_count, 2);
    assert_int_equal(rm_load16(rig->left[0].frame + 20), 0x2000 | 50);
    assert_int_equal(rm_load16(rig->left[1].frame + 20), 0x2000 | (50 + 1480 / 8));
}

static void options_are_copied_as_they_say(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 1, 2000);
    memmove(frame + 14 + 32, frame + 34, length - 34);
    uint8_t const options[12] = {0x83, 4, 1, 2, 0x07, 4, 3, 4, 0x01, 0x01, 0x01, 0x00};
    memcpy(frame + 34, options, sizeof options);
    frame[14] = 0x48;
    rm_store16(frame + 16, (uint16_t)(length - 14 + 12));
    rm_store16(frame + 20, 0);
    rig_refresh_checksum(frame);
    assert_int_equal(rig_route_frame(rig, 0, frame, length + 12), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left_count, 2);
    assert_memory_equal(rig->left[0].frame + 34, options, 12);
    assert_int_equal(rig->left[1].frame[14], 0x46);
    assert_memory_equal(rig->left[1].frame + 34, options, 4);
}

static void a_flood_to_unknown_neighbours_is_bounded(void **state) {
    struct rig *const rig = *state;
    struct rm_ip const gateway = rig_ipv4(1, 77);
    uint32_t hop;
    assert_int_equal(rm_hop_take(rig->routes, 1, &gateway, &hop, NULL), RM_OK);
    rig_route(rig, rig_ipv4(50, 0), 16, hop);
    rm_routes_publish(rig->routes);
    uint32_t const length = rig_ipv4_to(frame, 50, 30);
    uint32_t full = 0;
    for (uint32_t i = 0; i < 1000; ++i)
        full += rig_route_frame(rig, 0, frame, length) == RM_FORWARD_HANDOFF_FULL;
    assert_int_equal(full, 1000 - 64);
    struct rm_handoff_packet packet;
    uint32_t taken = 0;
    for (; rm_handoff_see(&rig->handoff, &packet); rm_handoff_done(&rig->handoff), ++taken) {
        assert_int_equal(packet.reason, RM_HANDOFF_UNRESOLVED);
        assert_int_equal(packet.hop, hop);
        assert_memory_equal(packet.frame, frame, length);
    }
    assert_int_equal(taken, 64);
    rm_hop_resolve(rm_routes_hop(rig->routes, hop), (uint8_t[]){2, 9, 9, 9, 9, 9});
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].frame[1], 9);
}

static void other_protocols_go_to_the_control_side(void **state) {
    struct rig *const rig = *state;
    rig_ipv4_to(frame, 1, 30);
    memset(frame, 0xFF, 6);
    rm_store16(frame + 12, 0x0806);
    assert_int_equal(rig_route_frame(rig, 0, frame, 60), RM_FORWARD_TO_KERNEL);
    struct rm_handoff_packet packet;
    assert_true(rm_handoff_see(&rig->handoff, &packet));
    assert_int_equal(packet.reason, RM_HANDOFF_CONTROL);
    assert_int_equal(packet.interface, 0);
}

static void flows_keep_to_a_path(void **state) {
    struct rig *const rig = *state;
    struct rm_route route = {.prefix = ipv4_prefix("11.0.0.0", 8), .path_count = 2};
    route.path[0] = (struct rm_path){rig_neighbour(rig, 1, rig_ipv4(1, 2)), 1};
    route.path[1] = (struct rm_path){rig_neighbour(rig, 2, rig_ipv4(2, 2)), 3};
    assert_int_equal(rm_route_set(rig->routes, &route, NULL), RM_OK);
    rm_routes_publish(rig->routes);
    uint32_t by_port[RIG_PORTS] = {0};
    for (uint32_t i = 0; i < 4000; ++i) {
        struct rm_ip to = ipv4_address("11.0.0.0");
        rm_store32(to.byte, rm_load32(to.byte) + i * 97);
        uint32_t const length = rig_ipv4_frame(frame, 0, rig_ipv4(0, i % 50), to, 30);
        rig_route_frame(rig, 0, frame, length);
        uint32_t const port = rig->left[0].port;
        rig_route_frame(rig, 0, frame, length);
        assert_int_equal(rig->left[0].port, port);
        ++by_port[port];
    }
    assert_in_range(by_port[1], 800, 1200);
    assert_in_range(by_port[2], 2800, 3200);
}

static void jumbo_frames_go_where_they_fit(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 1, 9000 - 28);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_TOO_BIG);
    struct rm_interface interface = rig_interface(1);
    interface.mtu = 9000;
    assert_int_equal(rm_routes_set_interface(rig->routes, 1, &interface, NULL), RM_OK);
    rm_routes_publish(rig->routes);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_FORWARDED);
    assert_int_equal(rig->left[0].length, length);
    assert_memory_equal(rig->left[0].frame + 34, frame + 34, length - 34);
}

int main(void) {
    struct CMUnitTest const tests[] = {
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        RIG_TEST(a_packet_goes_on_with_one_hop_less),
        RIG_TEST(every_checksum_survives_a_hop),
        RIG_TEST(padding_stays_up_to_the_shortest_frame),
        RIG_TEST(tags_come_and_go),
        RIG_TEST(ipv6_goes_on_with_one_hop_less),
        RIG_TEST(long_packets_are_cut_where_they_allow_it),
        RIG_TEST(fragments_of_fragments_go_on_counting),
        RIG_TEST(options_are_copied_as_they_say),
        RIG_TEST(a_flood_to_unknown_neighbours_is_bounded),
        RIG_TEST(other_protocols_go_to_the_control_side),
        RIG_TEST(flows_keep_to_a_path),
        RIG_TEST(jumbo_frames_go_where_they_fit),
    };
    tables_start(64 + rm_routes_memory_mib(&RIG_LIMITS));
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
