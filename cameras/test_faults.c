// SPDX-License-Identifier: Apache-2.0
/** Each fault does to a frame and to its packets what faults.h says, as often as it counts, and the same for the same seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "faults.h"
#include "test_camera.h"

enum { FRAMES = 200 };

static uint8_t const picture[4096];

/** A camera with one fault. */
struct faulty {
    struct rm_virtual_camera camera;
    struct rm_camera_faults faults;
    struct rm_packet_plan plan;
    struct rm_camera_frame frame;
    uint32_t packets;
};

static void faulty_begin(struct faulty *faulty, struct rm_camera_fault fault) {
    *faulty = (struct faulty){.camera = test_camera(RM_CAMERA_GVSP, "Mono12p")};
    fault.end = UINT64_MAX;
    faulty->camera.fault[0] = fault;
    faulty->camera.fault_count = 1;
    faulty->faults.camera = &faulty->camera;
}

static void faulty_plan(struct faulty *faulty, uint64_t index) {
    faulty->frame = test_frame(&faulty->camera, picture);
    faulty->frame.number += index;
    rm_camera_faults_frame(&faulty->faults, index, &faulty->frame);
    faulty->packets = rm_camera_packets(&faulty->camera, &faulty->frame);
    assert_true(rm_camera_faults_plan(&faulty->faults, index, &faulty->frame, &faulty->plan));
}

static uint64_t happened(struct faulty const *faulty) { return faulty->faults.happened[faulty->camera.fault[0].kind]; }

static bool is_planned(struct faulty const *faulty, uint32_t packet) {
    for (uint32_t i = 0; i < faulty->plan.count; ++i)
        if (faulty->plan.packet[i].index == packet)
            return true;
    return false;
}

static void without_faults_all_packets_go_in_order(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){0});
    faulty.camera.fault_count = 0;
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.plan.count, faulty.packets);
    for (uint32_t i = 0; i < faulty.packets; ++i)
        assert_int_equal(faulty.plan.packet[i].index, i);
    rm_packet_plan_free(&faulty.plan);
}

/** As many as are counted, and as the probability says within 5 RMS. */
static void packets_are_lost_and_counted(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_LOSE, .probability = 0.25});
    uint64_t missing = 0, all = 0;
    for (uint64_t f = 0; f < FRAMES; ++f) {
        faulty_plan(&faulty, f);
        all += faulty.packets;
        missing += faulty.packets - faulty.plan.count;
    }
    assert_int_equal(missing, happened(&faulty));
    double const expected = 0.25 * (double)all, spread = 0.25 * 0.75 * (double)all;
    double const off = (double)missing - expected;
    assert_true(off * off < 25 * spread);
    rm_packet_plan_free(&faulty.plan);
}

static void the_same_seed_loses_the_same_packets(void **state) {
    (void)state;
    struct faulty one, other;
    struct rm_camera_fault const fault = {.kind = RM_CAMERA_FAULT_LOSE, .probability = 0.5};
    faulty_begin(&one, fault);
    faulty_begin(&other, fault);
    faulty_plan(&one, 3);
    faulty_plan(&other, 3);
    assert_int_equal(one.plan.count, other.plan.count);
    for (uint32_t i = 0; i < one.plan.count; ++i)
        assert_int_equal(one.plan.packet[i].index, other.plan.packet[i].index);
    other.camera.seed = 2;
    bool differs = false;
    for (uint64_t f = 0; f < FRAMES && !differs; ++f) {
        faulty_plan(&one, f);
        faulty_plan(&other, f);
        differs = one.plan.count != other.plan.count;
    }
    assert_true(differs);
    rm_packet_plan_free(&one.plan);
    rm_packet_plan_free(&other.plan);
}

static void every_third_packet_is_sent_twice(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_DUPLICATE, .every = 3});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.plan.count, faulty.packets + faulty.packets / 3);
    assert_int_equal(happened(&faulty), faulty.packets / 3);
    assert_int_equal(faulty.plan.packet[2].index, 2);
    assert_int_equal(faulty.plan.packet[3].index, 2);
    rm_packet_plan_free(&faulty.plan);
}

static void packets_change_places_with_the_next(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_REORDER, .every = 1});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.plan.count, faulty.packets);
    assert_int_equal(faulty.plan.packet[0].index, 1);
    assert_int_equal(faulty.plan.packet[1].index, 0);
    for (uint32_t i = 0; i < faulty.packets; ++i)
        assert_true(is_planned(&faulty, i));
    rm_packet_plan_free(&faulty.plan);
}

static void delayed_packets_go_at_the_end(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_DELAY, .every = 2});
    faulty_plan(&faulty, 0);
    uint32_t const late = faulty.packets / 2;
    assert_int_equal(faulty.plan.count, faulty.packets);
    assert_int_equal(happened(&faulty), late);
    for (uint32_t i = 0; i < faulty.packets; ++i)
        assert_int_equal(faulty.plan.packet[i].index % 2, i >= faulty.packets - late);
    rm_packet_plan_free(&faulty.plan);
}

static void one_bit_of_a_corrupt_packet_is_wrong(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_CORRUPT, .every = 4});
    faulty_plan(&faulty, 0);
    uint64_t corrupt = 0;
    for (uint32_t i = 0; i < faulty.plan.count; ++i)
        corrupt += faulty.plan.packet[i].corrupt;
    assert_int_equal(corrupt, happened(&faulty));
    assert_int_equal(corrupt, faulty.packets / 4);
    uint8_t bytes[3] = {1, 2, 3};
    rm_camera_faults_corrupt(bytes, sizeof bytes);
    assert_memory_equal(bytes, ((uint8_t const[]){1, 2, 2}), sizeof bytes);
    rm_packet_plan_free(&faulty.plan);
}

static void leader_and_trailer_are_left_out(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_NO_LEADER, .every = 1});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.plan.count, faulty.packets - 1);
    assert_false(is_planned(&faulty, 0));
    faulty.camera.fault[0].kind = RM_CAMERA_FAULT_NO_TRAILER;
    faulty_plan(&faulty, 1);
    assert_int_equal(faulty.plan.count, faulty.packets - 1);
    assert_false(is_planned(&faulty, faulty.packets - 1));
    rm_packet_plan_free(&faulty.plan);
}

static void sizes_lie_and_the_bytes_stay(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_FALSE_SIZE, .every = 1});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.frame.geometry.height, 2 * faulty.camera.geometry.height);
    assert_int_equal(faulty.frame.told_length, 2 * faulty.camera.frame_bytes);
    assert_int_equal(faulty.frame.length, faulty.camera.frame_bytes);
    rm_packet_plan_free(&faulty.plan);
}

static void a_packet_goes_beyond_the_end(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_BEYOND, .every = 1});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.plan.count, faulty.packets + 1);
    assert_int_equal(faulty.plan.packet[1].index, faulty.packets);
    rm_packet_plan_free(&faulty.plan);
}

static void the_geometry_changes_and_changes_back(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_GEOMETRY, .every = 2});
    uint32_t const whole = faulty.camera.geometry.height, heights[] = {whole, whole / 2, whole / 2, whole};
    for (uint64_t f = 0; f < 4; ++f) {
        faulty_plan(&faulty, f);
        assert_int_equal(faulty.frame.geometry.height, heights[f]);
        assert_int_equal(faulty.frame.length, rm_image_bytes(&faulty.frame.geometry));
    }
    rm_packet_plan_free(&faulty.plan);
}

static void numbers_begin_again(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_RESTART, .every = 2});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.frame.number, 41);
    faulty_plan(&faulty, 1);
    assert_int_equal(faulty.frame.number, faulty.camera.first_number);
    rm_packet_plan_free(&faulty.plan);
}

static void jumbo_packets_are_longer_than_the_link(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_JUMBO, .every = 1});
    faulty_plan(&faulty, 0);
    assert_int_equal(faulty.frame.packet_bytes, RM_JUMBO_BYTES);
    assert_true(faulty.frame.packet_bytes > faulty.camera.mtu);
    rm_packet_plan_free(&faulty.plan);
}

static void a_fault_keeps_to_its_frames(void **state) {
    (void)state;
    struct faulty faulty;
    faulty_begin(&faulty, (struct rm_camera_fault){.kind = RM_CAMERA_FAULT_BEYOND, .every = 1});
    faulty.camera.fault[0].first = 2;
    faulty.camera.fault[0].end = 4;
    for (uint64_t f = 0; f < 6; ++f) {
        faulty_plan(&faulty, f);
        assert_int_equal(faulty.plan.count - faulty.packets, f == 2 || f == 3);
    }
    rm_packet_plan_free(&faulty.plan);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(without_faults_all_packets_go_in_order), cmocka_unit_test(packets_are_lost_and_counted),
        cmocka_unit_test(the_same_seed_loses_the_same_packets),   cmocka_unit_test(every_third_packet_is_sent_twice),
        cmocka_unit_test(packets_change_places_with_the_next),    cmocka_unit_test(delayed_packets_go_at_the_end),
        cmocka_unit_test(one_bit_of_a_corrupt_packet_is_wrong),   cmocka_unit_test(leader_and_trailer_are_left_out),
        cmocka_unit_test(sizes_lie_and_the_bytes_stay),           cmocka_unit_test(a_packet_goes_beyond_the_end),
        cmocka_unit_test(the_geometry_changes_and_changes_back),  cmocka_unit_test(numbers_begin_again),
        cmocka_unit_test(jumbo_packets_are_longer_than_the_link), cmocka_unit_test(a_fault_keeps_to_its_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
