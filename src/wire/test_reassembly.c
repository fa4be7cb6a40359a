// SPDX-License-Identifier: Apache-2.0
/** Fragments: every order, twice over, from many sources at once; and what a sender cuts is what comes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/network_order.h"
#include "wire/test_fragments.h"
#include "wire/test_reassembly_model.h"

static void what_a_sender_cuts_comes_out(void **state) {
    (void)state;
    static uint32_t const lengths[] = {0, 1, 1472, 1473, 1480, 2688, 2716, 2952, 2953, 4096, 8972, 9000, 9216};
    static uint32_t const mtus[] = {28, 68, 576, 1499, 1500, 9000};
    struct rm_reassembly *const reassembly = reassembly_make();
    for (uint32_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        for (uint32_t j = 0; j < sizeof mtus / sizeof mtus[0]; ++j) {
            struct rm_flow const tagged = {.source_ipv4 = i, .vlan = (i + j) % 2 ? 100 : 0};
            struct whole_frame *const whole = whole_make_of(&tagged, lengths[i], i);
            uint32_t const count = rm_fragment_count(whole->frame, whole->length, mtus[j]);
            uint32_t const content = lengths[i] + RM_UDP_BYTES, each = (mtus[j] - 20) / 8 * 8;
            assert_int_equal(count, content + 20 <= mtus[j] ? 1 : (content + each - 1) / each);
            for (uint32_t k = 0; k < count; ++k) {
                uint8_t frame[9018];
                struct rm_datagram datagram;
                uint32_t const length = rm_fragment_write(whole->frame, whole->length, mtus[j], (uint16_t)i, k, frame);
                assert_true(length <= mtus[j] + 14 + (tagged.vlan ? 4 : 0));
                enum rm_port_counter const parsed = rm_frame_parse(frame, length, false, &datagram);
                assert_int_equal(parsed, count == 1 ? RM_PORT_DECODED : RM_PORT_FRAGMENT);
                enum rm_port_counter const verdict = put_frame(reassembly, frame, length, 0, &datagram);
                assert_int_equal(verdict, k + 1 < count ? RM_PORT_FRAGMENT : RM_PORT_DECODED);
                if (k + 1 == count)
                    assert_is_whole(&datagram, whole);
            }
            free(whole);
        }
    }
    assert_int_equal(rm_reassembly_expire(reassembly, TIMEOUT), 0);
    rm_reassembly_free(reassembly);
}

/** All permutations of seven fragments, by Heap's algorithm. */
static void every_order(void **state) {
    (void)state;
    enum { PIECES = 7 };
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(9000, 1);
    assert_int_equal(rm_fragment_count(whole->frame, whole->length, MTU), PIECES);
    uint32_t order[PIECES] = {0, 1, 2, 3, 4, 5, 6}, counter[PIECES] = {0}, orders = 0;
    for (uint32_t i = 0; i < PIECES;) {
        if (i == 0) {
            struct rm_datagram datagram;
            for (uint32_t k = 0; k + 1 < PIECES; ++k)
                assert_int_equal(put_cut(reassembly, whole, 5, order[k], &datagram), RM_PORT_FRAGMENT);
            assert_int_equal(put_cut(reassembly, whole, 5, order[PIECES - 1], &datagram), RM_PORT_DECODED);
            assert_is_whole(&datagram, whole);
            ++orders;
            i = 1;
        }
        if (counter[i] < i) {
            uint32_t const other = i % 2 ? counter[i] : 0, kept = order[i];
            order[i] = order[other];
            order[other] = kept;
            ++counter[i];
            i = 0;
        } else {
            counter[i++] = 0;
        }
    }
    assert_int_equal(orders, 5040);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void a_repeated_fragment_does_no_harm(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(4000, 2);
    struct rm_datagram datagram;
    for (uint32_t k = 2; k > 0; --k)
        for (int times = 0; times < 3; ++times)
            assert_int_equal(put_cut(reassembly, whole, 5, k, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_cut(reassembly, whole, 5, 0, &datagram), RM_PORT_DECODED);
    assert_is_whole(&datagram, whole);
    /* A part of what is there, and over two of them, as another router may have cut it. */
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 800, 800, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 8, 1000, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 1600, 2408, false, 0, &datagram), RM_PORT_DECODED);
    assert_is_whole(&datagram, whole);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void sources_are_reported_apart(void **state) {
    (void)state;
    enum { SOURCES = 168 };
    struct rm_reassembly *const reassembly = rm_reassembly_new(SOURCES, LONGEST, TIMEOUT);
    struct whole_frame *whole[SOURCES];
    for (uint32_t i = 0; i < SOURCES; ++i) {
        struct rm_flow const of = {.source_ipv4 = 0x0A000000 + i / 3, .vlan = (uint16_t)(i % 3)};
        whole[i] = whole_make_of(&of, 2700 + i, i);
    }
    struct rm_datagram datagram;
    for (uint32_t i = 0; i < SOURCES; ++i)
        assert_int_equal(put_cut(reassembly, whole[i], 5, 1, &datagram), RM_PORT_FRAGMENT);
    for (uint32_t i = SOURCES; i-- > 0;) {
        assert_int_equal(put_cut(reassembly, whole[i], 5, 0, &datagram), RM_PORT_DECODED);
        assert_is_whole(&datagram, whole[i]);
        free(whole[i]);
    }
    rm_reassembly_free(reassembly);
}

/** Options stand in the first fragment, or in every one; the others may be shorter. */
static void options_do_not_matter(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(1592, 8);
    uint8_t frame[FRAGMENT_MOST];
    memcpy(frame, whole->frame, 34);
    memset(frame + 34, 1, 40);
    memcpy(frame + 74, whole->frame + 34, 800);
    frame[14] = 0x4F;
    rm_store16(frame + 14 + IPV4_TOTAL_LENGTH, 60 + 800);
    rm_store16(frame + 14 + IPV4_FRAGMENT, MORE_FRAGMENTS);
    struct rm_datagram datagram;
    assert_int_equal(put_frame(reassembly, frame, 874, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 800, 800, false, 0, &datagram), RM_PORT_DECODED);
    assert_is_whole(&datagram, whole);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void wholes_are_judged_like_any_datagram(void **state) {
    (void)state;
    struct rm_reassembly *const reassembly = reassembly_make();
    struct whole_frame *const whole = whole_make(1592, 9);
    struct rm_datagram datagram;
    whole->frame[1000] ^= 4;
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 800, 800, false, 0, &datagram), RM_PORT_BAD_UDP_CHECKSUM);
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 0, &datagram), RM_PORT_FRAGMENT);
    assert_int_equal(put_at(reassembly, whole, 800, 799, false, 0, &datagram), RM_PORT_TRUNCATED);
    whole->frame[14 + IPV4_PROTOCOL] = PROTOCOL_ICMP;
    assert_int_equal(put_at(reassembly, whole, 0, 800, true, 0, &datagram), RM_PORT_NOT_UDP);
    assert_int_equal(rm_reassembly_expire(reassembly, TIMEOUT), 0);
    free(whole);
    rm_reassembly_free(reassembly);
}

static void random_scripts_do_as_the_model(void **state) {
    (void)state;
    enum { SCRIPTS = 4000, BYTES = 600 };
    struct model_seen seen = {0};
    unsigned seed = 11;
    for (unsigned i = 0; i < SCRIPTS; ++i) {
        uint8_t script[BYTES];
        for (unsigned k = 0; k < BYTES; ++k)
            script[k] = (uint8_t)(rand_r(&seed) >> 7);
        char const *const broken = model_play(script, BYTES, &seen);
        if (broken != NULL)
            fail_msg("script %u: %s", i, broken);
    }
    assert_true(seen.put_by > 1000 && seen.refused > 1000 && seen.whole > 1000 && seen.wrong > 1000);
    assert_true(seen.given_up > 1000);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_a_sender_cuts_comes_out),
        cmocka_unit_test(every_order),
        cmocka_unit_test(a_repeated_fragment_does_no_harm),
        cmocka_unit_test(sources_are_reported_apart),
        cmocka_unit_test(options_do_not_matter),
        cmocka_unit_test(wholes_are_judged_like_any_datagram),
        cmocka_unit_test(random_scripts_do_as_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
