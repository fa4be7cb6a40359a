// SPDX-License-Identifier: Apache-2.0
#include "fragments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "wire/fragment.h"
#include "wire/frame.h"
#include "wire/reassembly.h"

enum { SIX = 6, DRAWS = 2000 };

/** How often each fragment of six leaves; those that overlap are not counted. */
static uint32_t count_each(struct rm_fragment const *plan, uint32_t count, uint32_t times[SIX]) {
    uint32_t overlaps = 0;
    memset(times, 0, SIX * sizeof times[0]);
    for (uint32_t f = 0; f < count; ++f) {
        assert_in_range(plan[f].index, 0, SIX - 1);
        overlaps += plan[f].overlaps;
        times[plan[f].index] += !plan[f].overlaps;
    }
    return overlaps;
}

static void without_faults_they_leave_in_order(void **state) {
    (void)state;
    struct rm_fragment plan[RM_FRAGMENTS_MAX];
    assert_int_equal(rm_fragments_plan(SIX, 0, 5, plan), SIX);
    for (uint32_t f = 0; f < SIX; ++f) {
        assert_int_equal(plan[f].index, f);
        assert_false(plan[f].overlaps);
    }
}

static void they_leave_in_other_orders(void **state) {
    (void)state;
    struct rm_fragment plan[RM_FRAGMENTS_MAX];
    uint32_t times[SIX], in_order = 0;
    assert_int_equal(rm_fragments_plan(SIX, RM_FRAGMENT_FAULT_REVERSED, 5, plan), SIX);
    for (uint32_t f = 0; f < SIX; ++f)
        assert_int_equal(plan[f].index, SIX - 1 - f);
    for (uint64_t random = 0; random < DRAWS; ++random) {
        uint32_t const count = rm_fragments_plan(SIX, RM_FRAGMENT_FAULT_SHUFFLED, random, plan);
        assert_int_equal(count, SIX);
        assert_int_equal(count_each(plan, count, times), 0);
        for (uint32_t f = 0; f < SIX; ++f)
            assert_int_equal(times[f], 1);
        in_order += plan[0].index == 0;
    }
    assert_in_range(in_order, DRAWS / 12, DRAWS / 3);
}

static void one_is_missing_or_there_twice(void **state) {
    (void)state;
    struct rm_fragment plan[RM_FRAGMENTS_MAX];
    uint32_t times[SIX], missed[SIX] = {0};
    for (uint64_t random = 0; random < DRAWS; ++random) {
        uint32_t count = rm_fragments_plan(SIX, RM_FRAGMENT_FAULT_DROP, random << 8, plan);
        assert_int_equal(count, SIX - 1);
        count_each(plan, count, times);
        for (uint32_t f = 0; f < SIX; ++f)
            missed[f] += times[f] == 0;
        count = rm_fragments_plan(SIX, RM_FRAGMENT_FAULT_DUPLICATE, random << 16, plan);
        assert_int_equal(count, SIX + 1);
        count_each(plan, count, times);
        uint32_t twice = 0;
        for (uint32_t f = 0; f < SIX; ++f)
            twice += times[f] == 2;
        assert_int_equal(twice, 1);
        assert_int_equal(times[plan[count - 1].index], 1); /* the datagram is not whole before its last */
    }
    for (uint32_t f = 0; f < SIX; ++f)
        assert_in_range(missed[f], DRAWS / 12, DRAWS / 3);
}

static void all_faults_at_once_stay_within_bounds(void **state) {
    (void)state;
    struct rm_fragment plan[RM_FRAGMENTS_MAX];
    for (uint32_t cut = 1; cut <= 17; ++cut)
        for (uint64_t random = 0; random < DRAWS; ++random) {
            uint32_t const count = rm_fragments_plan(cut, 31, random * 0x9E3779B97F4A7C15u, plan);
            assert_int_equal(count, cut == 1 ? 1 : cut + 1);
            for (uint32_t f = 0; f < count; ++f)
                assert_in_range(plan[f].index, 0, cut - 1);
        }
}

/** A frame of 4000 bytes of payload, tagged or not. */
static uint32_t write_whole(uint8_t *whole, uint16_t vlan) {
    struct rm_flow const flow = {
        .source_ipv4 = 0x0A140301, .destination_ipv4 = 0x0A14FF01, .destination_port = 2048, .vlan = vlan};
    uint32_t const header = rm_frame_write_header(whole, &flow, 4000);
    for (uint32_t i = 0; i < 4000; ++i)
        whole[header + i] = (uint8_t)(i / 8);
    return header + 4000;
}

/** The verdict on all fragments of a plan, one after the other; the last one that is not "put by". */
static enum rm_port_counter reassemble(unsigned faults, uint64_t random, uint16_t vlan) {
    uint8_t whole[4096], frame[4096];
    struct rm_fragment plan[RM_FRAGMENTS_MAX];
    struct rm_datagram datagram;
    uint32_t const length = write_whole(whole, vlan);
    uint32_t const before_ipv4 = length - 4000 - RM_UDP_BYTES - RM_IPV4_BYTES;
    uint32_t const count = rm_fragments_plan(rm_fragment_count(whole, length, 1500), faults, random, plan);
    struct rm_reassembly *reassembly = rm_reassembly_new(4, 9216, 1000);
    assert_non_null(reassembly);
    enum rm_port_counter found = RM_PORT_FRAGMENT;
    for (uint32_t f = 0; f < count && found == RM_PORT_FRAGMENT; ++f) {
        uint32_t const bytes = rm_fragment_write(whole, length, 1500, 7, plan[f].index, frame);
        if (plan[f].overlaps)
            rm_fragment_overlap(frame + before_ipv4);
        assert_int_equal(rm_frame_parse(frame, bytes, false, &datagram), RM_PORT_FRAGMENT);
        found = rm_reassembly_put(reassembly, frame, bytes, 1, &datagram);
    }
    rm_reassembly_free(reassembly);
    return found;
}

static void a_receiver_finds_what_was_done(void **state) {
    (void)state;
    for (uint16_t vlan = 0; vlan < 4; ++vlan)
        for (uint64_t random = 0; random < 50; ++random) {
            assert_int_equal(reassemble(0, random, vlan), RM_PORT_DECODED);
            assert_int_equal(reassemble(RM_FRAGMENT_FAULT_REVERSED, random, vlan), RM_PORT_DECODED);
            assert_int_equal(reassemble(RM_FRAGMENT_FAULT_SHUFFLED, random, vlan), RM_PORT_DECODED);
            assert_int_equal(reassemble(RM_FRAGMENT_FAULT_DUPLICATE, random << 16, vlan), RM_PORT_DECODED);
            assert_int_equal(reassemble(RM_FRAGMENT_FAULT_DROP, random << 8, vlan), RM_PORT_FRAGMENT);
            assert_int_equal(reassemble(RM_FRAGMENT_FAULT_OVERLAP, random, vlan), RM_PORT_BAD_FRAGMENT);
        }
}

static void each_fault_has_its_bit_and_its_counter(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS] = {0};
    struct rm_fault fault = {.kind = RM_FAULT_FRAGMENT_ORDER, .order = RM_FRAGMENTS_REVERSED};
    assert_int_equal(rm_fragment_fault_of(&fault), RM_FRAGMENT_FAULT_REVERSED);
    fault.order = RM_FRAGMENTS_SHUFFLED;
    assert_int_equal(rm_fragment_fault_of(&fault), RM_FRAGMENT_FAULT_SHUFFLED);
    fault.kind = RM_FAULT_FRAGMENT_OVERLAP;
    assert_int_equal(rm_fragment_fault_of(&fault), RM_FRAGMENT_FAULT_OVERLAP);
    rm_fragment_faults_count(RM_FRAGMENT_FAULT_DROP | RM_FRAGMENT_FAULT_SHUFFLED, counters);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_FRAGMENTS_DROPPED), 1);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_FRAGMENTS_REORDERED), 1);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_FRAGMENTS_OVERLAPPED), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(without_faults_they_leave_in_order), cmocka_unit_test(they_leave_in_other_orders),
        cmocka_unit_test(one_is_missing_or_there_twice),      cmocka_unit_test(all_faults_at_once_stay_within_bounds),
        cmocka_unit_test(a_receiver_finds_what_was_done),     cmocka_unit_test(each_fault_has_its_bit_and_its_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
