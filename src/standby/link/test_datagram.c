// SPDX-License-Identifier: Apache-2.0
#include "standby/link/datagram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint8_t const KEY[RM_PEER_KEY_BYTES] = {1, 2, 3}, OTHER_KEY[RM_PEER_KEY_BYTES] = {1, 2, 4};

static size_t seal(uint8_t bytes[RM_PEER_DATAGRAM_BYTES], char const *body) {
    struct rm_peer_datagram const datagram = {.version = 1,
                                              .kind = 7,
                                              .body_bytes = (uint16_t)strlen(body),
                                              .from = 0x0102030405060708,
                                              .to = 9,
                                              .sequence = 10,
                                              .body = (uint8_t const *)body};
    return rm_peer_datagram_seal(bytes, &datagram, KEY);
}

static void it_comes_back_as_it_was(void **state) {
    (void)state;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES];
    size_t const size = seal(bytes, "abc");
    assert_int_equal(size, RM_PEER_HEAD_BYTES + 3 + RM_PEER_TAG_BYTES);
    struct rm_peer_datagram datagram;
    assert_int_equal(rm_peer_datagram_open(bytes, size, KEY, &datagram), RM_PEER_OPENED);
    assert_int_equal(datagram.version, 1);
    assert_int_equal(datagram.kind, 7);
    assert_int_equal(datagram.from, 0x0102030405060708);
    assert_int_equal(datagram.to, 9);
    assert_int_equal(datagram.sequence, 10);
    assert_int_equal(datagram.body_bytes, 3);
    assert_memory_equal(datagram.body, "abc", 3);
}

static void its_bytes_are_as_documented(void **state) {
    (void)state;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES];
    uint8_t const head[RM_PEER_HEAD_BYTES] = {'R', 'M', 'S', 'L', 1, 7, 1, 0, 8, 7, 6, 5, 4,
                                              3,   2,   1,   9,   0, 0, 0, 0, 0, 0, 0, 10};
    seal(bytes, "x");
    assert_memory_equal(bytes, head, sizeof head);
    assert_int_equal(bytes[RM_PEER_HEAD_BYTES], 'x');
}

static void another_key_is_refused(void **state) {
    (void)state;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES];
    size_t const size = seal(bytes, "abc");
    struct rm_peer_datagram datagram;
    assert_int_equal(rm_peer_datagram_open(bytes, size, OTHER_KEY, &datagram), RM_PEER_BAD_KEY);
}

static void every_changed_bit_is_refused(void **state) {
    (void)state;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES];
    size_t const size = seal(bytes, "abc");
    struct rm_peer_datagram datagram;
    for (size_t bit = 0; bit < 8 * size; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(rm_peer_datagram_open(bytes, size, KEY, &datagram), RM_PEER_OPENED);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void every_other_length_is_refused(void **state) {
    (void)state;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES + 1] = {0};
    size_t const size = seal(bytes, "abc");
    struct rm_peer_datagram datagram;
    for (size_t length = 0; length <= sizeof bytes; ++length)
        assert_int_equal(rm_peer_datagram_open(bytes, length, KEY, &datagram),
                         length == size ? RM_PEER_OPENED : RM_PEER_BAD_LENGTH);
}

static void the_longest_body_fits(void **state) {
    (void)state;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES], body[RM_PEER_BODY_BYTES] = {5};
    struct rm_peer_datagram datagram = {.body_bytes = RM_PEER_BODY_BYTES, .body = body};
    assert_int_equal(rm_peer_datagram_seal(bytes, &datagram, KEY), RM_PEER_DATAGRAM_BYTES);
    assert_int_equal(rm_peer_datagram_open(bytes, sizeof bytes, KEY, &datagram), RM_PEER_OPENED);
    assert_memory_equal(datagram.body, body, sizeof body);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(it_comes_back_as_it_was),       cmocka_unit_test(its_bytes_are_as_documented),
        cmocka_unit_test(another_key_is_refused),        cmocka_unit_test(every_changed_bit_is_refused),
        cmocka_unit_test(every_other_length_is_refused), cmocka_unit_test(the_longest_body_fits),
    };
    return rm_peer_datagram_ready() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
