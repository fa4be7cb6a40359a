// SPDX-License-Identifier: Apache-2.0
/* The modes that look no further than the Ethernet header: io, macswap and the bridge. */
#include "forward/test_rig.h"

static uint8_t frame[RIG_FRAME_BYTES];

static int set_up(void **state) {
    struct rig *const rig = *state = calloc(1, sizeof *rig);
    rig->forward = (struct rm_forward){.port_count = RIG_PORTS, .send = rig_send, .send_context = rig};
    for (uint32_t i = 0; i < RIG_PORTS; ++i)
        rig->forward.counters[i] = rig->counters[i];
    rig->forward.pair[0] = 1;
    return rm_forward_make(&rig->forward, RM_FORWARD_L2) ? 0 : 1;
}

static int tear_down(void **state) {
    struct rig *const rig = *state;
    rm_forward_free(&rig->forward);
    free(rig);
    return 0;
}

static void station(uint8_t mac[6], uint32_t number) {
    memcpy(mac, (uint8_t[]){2, 7, 7, 7, (uint8_t)(number >> 8), (uint8_t)number}, 6);
}

static uint64_t counted(struct rig const *rig, uint32_t port, enum rm_forward_counter counter) {
    return rm_counter_get(rig->counters[port], counter);
}

/** Bridges a frame from one station to another, which came in by a port. Returns how many frames left. */
static uint32_t bridge(struct rig *rig, uint32_t port, uint32_t from, uint32_t to) {
    struct rm_burst burst = {.count = 1, .data = {frame}, .length = {60}};
    station(frame, to);
    station(frame + 6, from);
    rig->left_count = 0;
    rm_forward_bridge(&rig->forward, port, &burst, rig->now_ns);
    return rig->left_count;
}

static void io_leaves_frames_as_they_are(void **state) {
    struct rig *const rig = *state;
    struct rm_burst burst = {.count = 2, .data = {frame, frame + 100}, .length = {5, 1514}};
    for (uint32_t i = 0; i < 2000; ++i)
        frame[i] = (uint8_t)i;
    rm_forward_io(&rig->forward, 0, &burst);
    assert_int_equal(rig->left_count, 2);
    assert_int_equal(rig->left[0].port, 1);
    assert_memory_equal(rig->left[1].frame, frame + 100, 1514);
    assert_int_equal(counted(rig, 0, RM_FORWARD_FORWARDED), 2);
}

static void macswap_exchanges_the_addresses(void **state) {
    struct rig *const rig = *state;
    struct rm_burst burst = {.count = 3, .data = {frame, frame + 100, frame + 200}, .length = {60, 13, 60}};
    for (uint32_t i = 0; i < 300; ++i)
        frame[i] = (uint8_t)i;
    rm_forward_macswap(&rig->forward, 0, &burst);
    assert_int_equal(rig->left_count, 2);
    uint8_t const swapped[14] = {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13};
    assert_memory_equal(rig->left[0].frame, swapped, 14);
    assert_int_equal(rig->left[1].frame[0], 206);
    assert_int_equal(rig->left[1].frame[14], 214);
    assert_int_equal(counted(rig, 0, RM_FORWARD_RECEIVED), 3);
    assert_int_equal(counted(rig, 0, RM_FORWARD_TRUNCATED), 1);
}

static void the_bridge_learns_where_stations_are(void **state) {
    struct rig *const rig = *state;
    assert_int_equal(bridge(rig, 0, 10, 11), 2); // nothing is known: to all others
    assert_int_equal(bridge(rig, 1, 11, 10), 1);
    assert_int_equal(rig->left[0].port, 0);
    assert_int_equal(bridge(rig, 0, 10, 11), 1);
    assert_int_equal(rig->left[0].port, 1);
    assert_int_equal(bridge(rig, 1, 12, 11), 0); // they hear each other
    assert_int_equal(counted(rig, 1, RM_FORWARD_SAME_PORT), 1);
    assert_int_equal(bridge(rig, 2, 10, 11), 1); // the station has moved
    assert_int_equal(bridge(rig, 1, 11, 10), 1);
    assert_int_equal(rig->left[0].port, 2);
    rig->now_ns += (RM_BRIDGE_AGE_S + 1) * UINT64_C(1000000000);
    assert_int_equal(bridge(rig, 1, 11, 10), 2); // it has been silent for too long
}

static void groups_go_to_all_but_what_bridges_say(void **state) {
    struct rig *const rig = *state;
    bridge(rig, 1, 11, 10);
    uint8_t const all[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, bpdu[6] = {0x01, 0x80, 0xC2, 0, 0, 0};
    struct rm_burst burst = {.count = 2, .data = {frame, frame + 100}, .length = {60, 60}};
    memcpy(frame, all, 6);
    memcpy(frame + 100, bpdu, 6);
    rig->left_count = 0;
    rm_forward_bridge(&rig->forward, 0, &burst, 0);
    assert_int_equal(rig->left_count, 2);
    assert_memory_equal(rig->left[0].frame, all, 6);
    assert_memory_equal(rig->left[1].frame, all, 6);
    assert_int_equal(counted(rig, 0, RM_FORWARD_SAME_PORT), 1);
}

static void vlans_are_apart(void **state) {
    struct rig *const rig = *state;
    rm_store16(frame + 12, 0x8100);
    rm_store16(frame + 14, 5);
    bridge(rig, 1, 11, 10);
    rm_store16(frame + 14, 6);
    assert_int_equal(bridge(rig, 0, 10, 11), 2);
    rm_store16(frame + 14, 5);
    assert_int_equal(bridge(rig, 0, 10, 11), 1);
}

static void a_flood_of_stations_is_bounded(void **state) {
    struct rig *const rig = *state;
    for (uint32_t i = 0; i < 4 * RM_BRIDGE_STATIONS_MAX; ++i)
        bridge(rig, i % RIG_PORTS, 100 + i, 99);
    uint32_t const known = rm_bridge_count(&rig->forward.bridge, 0);
    assert_in_range(known, RM_BRIDGE_STATIONS_MAX / 2, RM_BRIDGE_STATIONS_MAX);
    bridge(rig, 1, 11, 10);
    assert_int_equal(bridge(rig, 0, 10, 11), 1);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(io_leaves_frames_as_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(macswap_exchanges_the_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_bridge_learns_where_stations_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups_go_to_all_but_what_bridges_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vlans_are_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flood_of_stations_is_bounded, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
