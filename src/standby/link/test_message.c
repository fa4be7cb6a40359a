// SPDX-License-Identifier: Apache-2.0
#include "standby/link/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rm_peer_message const SOME[] = {
    {.kind = RM_PEER_HELLO, .hello = {3, 2, 1, "a", "0.1.0", {1, 2, 3}}},
    {.kind = RM_PEER_STATUS,
     .status = {.role = 3,
                .reason = 4,
                .flags = 31,
                .term = 65535,
                .instance = 7,
                .turn = 8,
                .acknowledged = 9,
                .time_ns = 10,
                .echo_ns = 11,
                .held_ns = 12,
                .vector = {17, 18},
                .count = 2,
                .progress = {{13, 14}, {15, 16}}}},
    {.kind = RM_PEER_VECTOR,
     .vector = {.of = 1,
                .part = 2,
                .parts = 3,
                .actuators = 300,
                .first = 10,
                .count = 2,
                .number = 5,
                .previous = 4,
                .turn = 600,
                .value = {1.5, -0.0}}},
    {.kind = RM_PEER_STEP,
     .step = {.application = 3,
              .part = 0,
              .parts = 1,
              .count = 1,
              .turn = 24,
              .previous = 12,
              .record = {{.stream = 9, .tag = 10, .lane = {{.i = 11}, {.f = 1.25f}}}}}},
    {.kind = RM_PEER_REPEAT, .repeat = {4, RM_TURN_NONE}},
    {.kind = RM_PEER_WANT, .want = {1, 2, 3, 4, 5, 6}},
    {.kind = RM_PEER_OFFER, .offer = {1, 2, 3, 4, 5, 6, 7, 8}},
    {.kind = RM_PEER_CHUNK, .chunk = {.of = 1, .application = 2, .index = 3, .id = 4, .count = 3, .bytes = "xyz"}},
    {.kind = RM_PEER_SWITCH, .exchange = {RM_PEER_REFUSED, 1, 2, "because"}},
};

enum { SOME_COUNT = sizeof SOME / sizeof *SOME };

static void each_comes_back_as_it_was(void **state) {
    (void)state;
    for (int i = 0; i < SOME_COUNT; ++i) {
        struct rm_peer_message read;
        memset(&read, 0, sizeof read);
        uint8_t body[RM_PEER_BODY_BYTES], again[RM_PEER_BODY_BYTES];
        size_t const bytes = rm_peer_message_write(&SOME[i], body);
        assert_int_not_equal(bytes, 0);
        assert_true(rm_peer_message_read((uint8_t)SOME[i].kind, body, bytes, &read));
        assert_int_equal(rm_peer_message_write(&read, again), bytes);
        assert_memory_equal(body, again, bytes);
        assert_int_equal(read.kind, SOME[i].kind);
    }
    struct rm_peer_message read;
    uint8_t body[RM_PEER_BODY_BYTES];
    size_t const bytes = rm_peer_message_write(&SOME[3], body);
    assert_true(rm_peer_message_read(RM_PEER_STEP, body, bytes, &read));
    assert_int_equal(read.step.record[0].lane[0].i, 11);
    assert_true(read.step.record[0].lane[1].f == 1.25f);
}

static void a_body_that_ends_early_is_refused(void **state) {
    (void)state;
    for (int i = 0; i < SOME_COUNT; ++i) {
        struct rm_peer_message read;
        uint8_t body[RM_PEER_BODY_BYTES];
        size_t const bytes = rm_peer_message_write(&SOME[i], body);
        for (size_t length = 0; length < bytes; ++length) {
            uint8_t *const exact = malloc(length + 1); // a sanitizer sees what is read behind it
            memcpy(exact, body, length);
            assert_false(rm_peer_message_read((uint8_t)SOME[i].kind, exact, length, &read));
            free(exact);
        }
    }
}

static void a_body_that_is_longer_is_refused(void **state) {
    (void)state;
    for (int i = 0; i < SOME_COUNT; ++i) {
        struct rm_peer_message read;
        uint8_t body[RM_PEER_BODY_BYTES] = {0};
        size_t const bytes = rm_peer_message_write(&SOME[i], body);
        bool const is_hello = SOME[i].kind == RM_PEER_HELLO; // a later version's may be longer
        assert_int_equal(rm_peer_message_read((uint8_t)SOME[i].kind, body, bytes + 1, &read), is_hello);
    }
}

static void a_hello_of_before_its_version_is_refused(void **state) {
    (void)state;
    struct rm_peer_message read, hello = SOME[0];
    uint8_t body[RM_PEER_BODY_BYTES];
    hello.hello.least = 4;
    size_t const bytes = rm_peer_message_write(&hello, body);
    assert_false(rm_peer_message_read(RM_PEER_HELLO, body, bytes, &read));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    struct rm_peer_message message = SOME[2];
    uint8_t body[RM_PEER_BODY_BYTES];
    message.vector.first = 299; // and two values of 300 from there on
    assert_int_equal(rm_peer_message_write(&message, body), 0);
    message = SOME[3];
    message.step.previous = 24;
    assert_int_equal(rm_peer_message_write(&message, body), 0);
    message = SOME[3];
    message.step.part = 1;
    assert_int_equal(rm_peer_message_write(&message, body), 0);
    message = SOME[7];
    message.chunk.count = RM_PEER_CHUNK_BYTES + 1;
    assert_int_equal(rm_peer_message_write(&message, body), 0);
    assert_false(rm_peer_message_read(0, body, 0, &message));
    assert_false(rm_peer_message_read(77, body, 0, &message));
}

static void the_longest_of_each_fits(void **state) {
    (void)state;
    uint8_t body[RM_PEER_BODY_BYTES];
    struct rm_peer_message message = SOME[1];
    message.status.count = RM_PEER_APPLICATIONS;
    assert_int_not_equal(rm_peer_message_write(&message, body), 0);
    message = SOME[2];
    message.vector.count = RM_PEER_VECTOR_VALUES;
    assert_int_not_equal(rm_peer_message_write(&message, body), 0);
    message = SOME[3];
    message.step.count = RM_PEER_STEP_RECORDS;
    assert_int_not_equal(rm_peer_message_write(&message, body), 0);
    message = SOME[7];
    message.chunk.count = RM_PEER_CHUNK_BYTES;
    assert_int_not_equal(rm_peer_message_write(&message, body), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_comes_back_as_it_was),        cmocka_unit_test(a_body_that_ends_early_is_refused),
        cmocka_unit_test(a_body_that_is_longer_is_refused), cmocka_unit_test(a_hello_of_before_its_version_is_refused),
        cmocka_unit_test(what_cannot_be_is_refused),        cmocka_unit_test(the_longest_of_each_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
