// SPDX-License-Identifier: Apache-2.0
/* Packets that do not go on, and what their senders hear: no hop left, routes that lead nowhere, broken headers,
 * addresses that may not be on a wire. */
#include "forward/test_rig.h"

static uint8_t frame[RIG_FRAME_BYTES];

static int set_up(void **state) {
    *state = rig_make();
    return 0;
}

static int tear_down(void **state) {
    rig_free(*state);
    return 0;
}

static void no_hop_left_is_told_to_the_sender(void **state) {
    struct rig *const rig = *state;
    for (uint8_t ttl = 0; ttl < 2; ++ttl) {
        uint32_t const length = rig_ipv4_to(frame, 1, 900);
        frame[22] = ttl;
        rig_refresh_checksum(frame);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_TTL_EXPIRED);
        rig_assert_ipv4_error(rig, frame, 11, 0);
        assert_int_equal(rm_load16(rig->left[0].frame + 16), 576);
    }
    uint32_t const length = rig_ipv6_frame(frame, 0, rig_ipv6(0, 9), rig_ipv6(1, 9), 2000);
    frame[21] = 1;
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_TTL_EXPIRED);
    assert_int_equal(rig->left[0].length, 14 + 1280);
    assert_int_equal(rig->left[0].frame[54], 3);
}

static void no_hop_left_does_not_matter_to_us(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_frame(frame, 0, rig_ipv4(0, 9), rig_ipv4(1, 1), 30);
    frame[22] = 1;
    rig_refresh_checksum(frame);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_TO_KERNEL);
    struct rm_handoff_packet packet;
    assert_true(rm_handoff_see(&rig->handoff, &packet));
    assert_int_equal(packet.reason, RM_HANDOFF_LOCAL);
    assert_int_equal(packet.length, length);
    assert_memory_equal(packet.frame, frame, length);
}

static void routes_may_lead_nowhere(void **state) {
    struct rig *const rig = *state;
    struct {
        uint32_t hop;
        enum rm_forward_counter end;
        uint8_t type, code, type6, code6;
    } const cases[] = {{RM_HOP_NO_ROUTE, RM_FORWARD_NO_ROUTE, 3, 0, 1, 0},
                       {RM_HOP_BLACKHOLE, RM_FORWARD_BY_RULE, 0, 0, 0, 0},
                       {RM_HOP_UNREACHABLE, RM_FORWARD_NO_NEIGHBOUR, 3, 1, 1, 3},
                       {RM_HOP_PROHIBITED, RM_FORWARD_BY_RULE, 3, 13, 1, 1}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (cases[i].hop != RM_HOP_NO_ROUTE) {
            rig_route(rig, rig_ipv4(100, 0), 16, cases[i].hop);
            rig_route(rig, rig_ipv6(100, 0), 64, cases[i].hop);
            rm_routes_publish(rig->routes);
        }
        uint32_t length = rig_ipv4_to(frame, 100, 30);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), cases[i].end);
        if (cases[i].type != 0)
            rig_assert_ipv4_error(rig, frame, cases[i].type, cases[i].code);
        length = rig_ipv6_frame(frame, 0, rig_ipv6(0, 9), rig_ipv6(100, 9), 30);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), cases[i].end);
        assert_int_equal(rig->left_count, cases[i].type6 != 0);
        if (cases[i].type6 != 0) {
            assert_int_equal(rig->left[0].frame[54], cases[i].type6);
            assert_int_equal(rig->left[0].frame[55], cases[i].code6);
        }
    }
}

static void errors_are_not_answered_with_errors(void **state) {
    struct rig *const rig = *state;
    uint8_t const silent[] = {3, 4, 5, 11, 12}, spoken[] = {0, 8};
    for (uint32_t i = 0; i < sizeof silent; ++i) {
        uint32_t const length = rig_ipv4_to(frame, 100, 30);
        frame[23] = 1;
        frame[34] = silent[i];
        rig_refresh_checksum(frame);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_NO_ROUTE);
        assert_int_equal(rig->left_count, 0);
    }
    for (uint32_t i = 0; i < sizeof spoken; ++i) {
        uint32_t const length = rig_ipv4_to(frame, 100, 30);
        frame[23] = 1;
        frame[34] = spoken[i];
        rig_refresh_checksum(frame);
        rig_route_frame(rig, 0, frame, length);
        assert_int_equal(rig->left_count, 1);
    }
    uint32_t const length = rig_ipv4_to(frame, 100, 30);
    rm_store16(frame + 20, 8); // a fragment without the beginning
    rig_refresh_checksum(frame);
    rig_route_frame(rig, 0, frame, length);
    assert_int_equal(rig->left_count, 0);
}

static void errors_are_few(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 100, 30);
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
        rig_route_frame(rig, 0, frame, length);
        sent += rig->left_count;
    }
    assert_int_equal(sent, RM_ICMP_BURST);
    assert_int_equal(rm_counter_get(rig->counters[0], RM_FORWARD_ERRORS_HELD), 1000 - RM_ICMP_BURST);
    rig->now_ns += 10000000; // ten milliseconds: ten more
    for (uint32_t i = 0; i < 100; ++i) {
        rig_route_frame(rig, 0, frame, length);
        sent += rig->left_count;
    }
    assert_int_equal(sent, RM_ICMP_BURST + 10);
}

static void what_is_wrong_is_counted_as_that(void **state) {
    struct rig *const rig = *state;
    uint32_t const length = rig_ipv4_to(frame, 1, 30);
    for (uint32_t cut = 1; cut < length; ++cut)
        assert_int_equal(rig_route_frame(rig, 0, frame, cut), RM_FORWARD_TRUNCATED);
    frame[24] ^= 1;
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_BAD_HEADER);
    rig_ipv4_to(frame, 1, 30);
    frame[14] = 0x55;
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_BAD_HEADER);
    frame[14] = 0x44;
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_BAD_HEADER);
    rig_ipv4_to(frame, 1, 30);
    rm_store16(frame + 16, 19);
    rig_refresh_checksum(frame);
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_BAD_HEADER);
    rig_ipv4_to(frame, 1, 30);
    frame[5] ^= 1;
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_NOT_OURS);
    frame[0] = 1; // a group of stations
    assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_MARTIAN);
    uint32_t const length6 = rig_ipv6_frame(frame, 0, rig_ipv6(0, 9), rig_ipv6(1, 9), 50);
    for (uint32_t cut = 14; cut < length6; ++cut)
        assert_int_equal(rig_route_frame(rig, 0, frame, cut), RM_FORWARD_TRUNCATED);
    frame[14] = 0x40;
    assert_int_equal(rig_route_frame(rig, 0, frame, length6), RM_FORWARD_BAD_HEADER);
}

static void martians_stay_out(void **state) {
    struct rig *const rig = *state;
    char const *const sources[] = {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"};
    for (uint32_t i = 0; i < 6; ++i) {
        uint32_t const length = rig_ipv4_frame(frame, 0, ipv4_address(sources[i]), rig_ipv4(1, 9), 30);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_MARTIAN);
    }
    char const *const destinations[] = {"0.0.0.0", "127.0.0.1", "240.0.0.1"};
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t const length = rig_ipv4_frame(frame, 0, rig_ipv4(0, 9), ipv4_address(destinations[i]), 30);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_MARTIAN);
    }
    char const *const groups[] = {"224.0.0.5", "255.255.255.255"};
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t const length = rig_ipv4_frame(frame, 0, rig_ipv4(0, 9), ipv4_address(groups[i]), 30);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), RM_FORWARD_TO_KERNEL);
    }
    struct rm_ip const link_local = {.byte = {0xFE, 0x80, [15] = 5}, .ipv6 = true}, none = {.ipv6 = true};
    struct rm_ip const loopback = {.byte = {[15] = 1}, .ipv6 = true}, all = {.byte = {0xFF, 2, [15] = 1}, .ipv6 = true};
    struct {
        struct rm_ip from, to;
        enum rm_forward_counter end;
    } const cases[] = {{none, rig_ipv6(1, 9), RM_FORWARD_MARTIAN},
                       {loopback, rig_ipv6(1, 9), RM_FORWARD_MARTIAN},
                       {all, rig_ipv6(1, 9), RM_FORWARD_MARTIAN},
                       {rig_ipv6(0, 9), loopback, RM_FORWARD_MARTIAN},
                       {link_local, rig_ipv6(1, 9), RM_FORWARD_MARTIAN},
                       {link_local, rig_ipv6(0, 1), RM_FORWARD_TO_KERNEL},
                       {none, all, RM_FORWARD_TO_KERNEL},
                       {rig_ipv6(0, 9), link_local, RM_FORWARD_TO_KERNEL}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        uint32_t const length = rig_ipv6_frame(frame, 0, cases[i].from, cases[i].to, 30);
        assert_int_equal(rig_route_frame(rig, 0, frame, length), cases[i].end);
    }
}

/** A neighbour that sends back what we send it, until no hop is left. */
static void a_loop_ends(void **state) {
    struct rig *const rig = *state;
    uint32_t length = rig_ipv4_to(frame, 1, 30), rounds = 0;
    rig_route(rig, rig_ipv4(1, 0), 16, rig_neighbour(rig, 0, rig_ipv4(0, 2)));
    rm_routes_publish(rig->routes);
    while (rig_route_frame(rig, 0, frame, length) == RM_FORWARD_FORWARDED) {
        assert_int_equal(rig->left[0].port, 0);
        assert_in_range(++rounds, 1, 64);
        memcpy(frame + 14, rig->left[0].frame + 14, length - 14); // its header is ours again
    }
    assert_int_equal(rounds, 63);
    assert_int_equal(rm_counter_get(rig->counters[0], RM_FORWARD_TTL_EXPIRED), 1);
    rig_assert_ipv4_error(rig, frame, 11, 0);
}

static void errors_go_back_with_the_tag_that_came(void **state) {
    struct rig *const rig = *state;
    uint32_t const untagged = rig_ipv4_frame(frame, 2, rig_ipv4(RIG_TAGGED, 9), rig_ipv4(100, 9), 30);
    uint32_t const length = rig_tag(frame, untagged, RIG_VLAN);
    assert_int_equal(rig_route_frame(rig, 2, frame, length), RM_FORWARD_NO_ROUTE);
    assert_int_equal(rig->left[0].port, 2);
    assert_int_equal(rm_load16(rig->left[0].frame + 12), 0x8100);
    assert_int_equal(rm_load16(rig->left[0].frame + 14), RIG_VLAN);
    assert_memory_equal(rig->left[0].frame + 30, rig_ipv4(RIG_TAGGED, 1).byte, 4);
    assert_memory_equal(rig->left[0].frame + 46, frame + 18, untagged - 14);
}

int main(void) {
    struct CMUnitTest const tests[] = {
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        RIG_TEST(no_hop_left_is_told_to_the_sender),
        RIG_TEST(no_hop_left_does_not_matter_to_us),
        RIG_TEST(routes_may_lead_nowhere),
        RIG_TEST(errors_are_not_answered_with_errors),
        RIG_TEST(errors_are_few),
        RIG_TEST(what_is_wrong_is_counted_as_that),
        RIG_TEST(martians_stay_out),
        RIG_TEST(a_loop_ends),
        RIG_TEST(errors_go_back_with_the_tag_that_came),
    };
    tables_start(64 + rm_routes_memory_mib(&RIG_LIMITS));
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
