// SPDX-License-Identifier: Apache-2.0
/** Fragments that overlap, contradict, overflow, flood, or come too late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/network_order.h"
#include "wire/test_fragments.h"
#include "wire/test_guard_page.h"

/** After each of these the datagram is gone: its last fragment alone does not make it whole. */
static void assert_refused(uint32_t first, uint32_t length, bool more, bool bent) {
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(1600 - RM_UDP_BYTES, 3);
    uint8_t *const content = whole->frame + whole->header - RM_UDP_BYTES;
    struct rm_datagram datagram;
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 1200, 400, false, 0, &datagram), RM_PORT_FRAGMENT);
    content[first + length / 2] ^= bent ? 1 : 0;
    assert_int_equal(put_at(reassembly, whole, first, length, more, 0, &datagram), RM_PORT_BAD_FRAGMENT);
    content[first + length / 2] ^= bent ? 1 : 0;
    assert_int_equal(put_at(reassembly, whole, 800, 400, true, 0, &datagram), RM_PORT_FRAGMENT);
    /* It can be sent again, whole. */
    assert_int_equal(put_at(reassembly, whole, 1200, 400, false, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 0, &datagram), RM_PORT_DECODED);
    assert_is_whole(&datagram, whole);
    assert_int_equal(rm_reassembly_expire(reassembly, TIMEOUT), 0);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void overlaps_and_contradictions_are_refused(void **state) {
    (void)state;
    assert_refused(0, 800, true, true);     /* other bytes in the same place */
    assert_refused(792, 16, true, false);   /* a tail that overlaps, and new bytes behind */
    assert_refused(8, 16, true, true);      /* teardrop: within another */
    assert_refused(0, 1600, false, true);   /* over everything */
    assert_refused(1192, 16, true, false);  /* overlaps the last one's head */
    assert_refused(1200, 400, true, false); /* the last, which says that it is not */
    assert_refused(1600, 8, true, false);   /* behind the last */
    assert_refused(1600, 8, false, false);  /* a second last, further on */
    assert_refused(800, 8, false, false);   /* a second last, before the first one */
    assert_refused(792, 8, false, false);   /* a last, within what has more behind it */
    assert_refused(800, 7, true, false);    /* no multiple of 8 */
    assert_refused(800, 0, true, false);    /* nothing */
    assert_refused(1600, 0, false, false);  /* nothing, at the end */
    assert_refused(9216, 16, true, false);  /* ends beyond the longest */
}

/** The ping of death: a last fragment at the greatest offset, whose end is beyond what 16 bits can say. */
static void too_long_is_refused(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = rm_reassembly_new(SLOTS, RM_REASSEMBLY_LONGEST_MAX, TIMEOUT);
    assert_non_null(reassembly);
    struct whole_frame *const longest = whole_make(65507, 4);
    struct rm_datagram datagram;
    assert_int_equal(put_at(reassembly, longest, 65512, 3, false, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, longest, 0, 32760, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, longest, 32760, 32752, true, 0, &datagram), RM_PORT_DECODED);
    assert_is_whole(&datagram, longest);
    uint8_t frame[FRAGMENT_MOST];
    uint32_t const length = rm_fragment_write(longest->frame, longest->length, MTU, 5, 0, frame);
    rm_store16(frame + 14 + IPV4_FRAGMENT, 0x1FFF);
    assert_int_equal(put_frame(reassembly, frame, length, 0, &datagram), RM_PORT_BAD_FRAGMENT);
    rm_store16(frame + 14 + IPV4_FRAGMENT, 0x1FFF | MORE_FRAGMENTS);
    assert_int_equal(put_frame(reassembly, frame, length, 0, &datagram), RM_PORT_BAD_FRAGMENT);
    free(longest);
    rm_reassembly_free(reassembly);
}

static void late_ones_expire(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(1592, 5);
    struct rm_datagram datagram;
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 100, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(rm_reassembly_expire(reassembly, 100 + TIMEOUT - 1), 0);
    assert_int_equal(put_at(reassembly, whole, 800, 400, true, 100 + TIMEOUT - 1, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(rm_reassembly_expire(reassembly, 100 + TIMEOUT), 1);
    assert_int_equal(rm_reassembly_expire(reassembly, 100 + TIMEOUT), 0);
    assert_int_equal(put_at(reassembly, whole, 1200, 400, false, 100 + TIMEOUT, &datagram), RM_PORT_FRAGMENT);
    /* Without a call of expire, an old namesake is not mixed with the new. */
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 100 + 2 * TIMEOUT, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 800, 400, true, 100 + 2 * TIMEOUT, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(rm_reassembly_expire(reassembly, 100 + 2 * TIMEOUT), 1);
    /* A time stamp of a moment before is no reason. */
    assert_int_equal(put_at(reassembly, whole, 1200, 400, false, 99 + 2 * TIMEOUT, &datagram), RM_PORT_DECODED);
    assert_is_whole(&datagram, whole);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void the_oldest_makes_room(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(2800, 6);
    struct rm_datagram datagram;
    for (uint32_t id = 0; id <= SLOTS; ++id)
        assert_int_equal(put_cut(reassembly, whole, (uint16_t)id, 0, &datagram), RM_PORT_FRAGMENT);
    for (uint32_t id = 1; id <= SLOTS; ++id) {
        assert_int_equal(put_cut(reassembly, whole, (uint16_t)id, 1, &datagram), RM_PORT_DECODED);
        assert_is_whole(&datagram, whole);
    }
    assert_int_equal(put_cut(reassembly, whole, 0, 1, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(rm_reassembly_expire(reassembly, 0), 1);
    free(whole);
    rm_reassembly_free(reassembly);
}

/** A flood of first fragments that never go on: a sender that sends both of its own in time still gets through. */
static void a_flood_costs_only_what_it_overtakes(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(2800, 7);
    struct rm_datagram datagram;
    uint64_t floods = 0;
    for (uint16_t round = 0; round < 1000; ++round) {
        assert_int_equal(put_cut(reassembly, whole, round, 0, &datagram), RM_PORT_FRAGMENT);
        for (unsigned i = 0; i + 1 < SLOTS; ++i, ++floods) {
            struct rm_flow const hostile = {.source_ipv4 = 0xC0A80000 + (uint32_t)floods};
            struct whole_frame *const bait = whole_make_of(&hostile, 1480, 1);
            assert_int_equal(put_cut(reassembly, bait, 9, 0, &datagram), RM_PORT_FRAGMENT);
            free(bait);
        }
        assert_int_equal(put_cut(reassembly, whole, round, 1, &datagram), RM_PORT_DECODED);
        assert_is_whole(&datagram, whole);
    }
    assert_int_equal(rm_reassembly_expire(reassembly, TIMEOUT), floods);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void nothing_beyond_the_frame_is_read(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(2800, 10);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint8_t frame[FRAGMENT_MOST];
    uint32_t const length = rm_fragment_write(whole->frame, whole->length, MTU, 5, 0, frame);
    for (uint32_t cut = 0; cut < length; ++cut) {
        struct rm_datagram datagram;
        uint8_t const *const copy = guard_page_copy(guard, frame, cut);
        assert_int_equal(rm_reassembly_put(reassembly, copy, cut, 0, &datagram), RM_PORT_TRUNCATED);
    }
    guard_page_free(guard);
    free(whole);
    rm_reassembly_free(reassembly);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(overlaps_and_contradictions_are_refused),
        cmocka_unit_test(too_long_is_refused),
        cmocka_unit_test(late_ones_expire),
        cmocka_unit_test(the_oldest_makes_room),
        cmocka_unit_test(a_flood_costs_only_what_it_overtakes),
        cmocka_unit_test(nothing_beyond_the_frame_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
