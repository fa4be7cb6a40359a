// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/pcap_frames.h"
#include "capture/test_pcap_files.h"

enum { LONGEST = 1514, RAW_IP = 101 };

static uint64_t const EPOCH_NS = 1700000000000000000;

static struct test_pcap file;

static enum rm_code file_read(struct rm_pcap_frames *frames, uint64_t memory_max, struct rm_error *error) {
    return rm_pcap_frames_read(test_pcap_open(&file), "some.pcap", LONGEST, memory_max, frames, error);
}

static void assert_refused(enum rm_code code, char const *part) {
    struct rm_pcap_frames frames;
    struct rm_error error;
    assert_int_equal(file_read(&frames, RM_PCAP_MEMORY_MAX, &error), code);
    if (strstr(error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    assert_null(frames.frame);
}

static void every_format_in_both_byte_orders(void **state) {
    (void)state;
    for (int form = TEST_PCAP_US; form <= TEST_PCAP_NG; ++form)
        for (int big = 0; big < 2; ++big) {
            file.form = (enum test_pcap_form)form;
            file.big_endian = big;
            test_pcap_begin(&file, TEST_PCAP_ETHERNET);
            test_pcap_add(&file, EPOCH_NS + 999999000, 60, 60, 0xAA);
            test_pcap_add(&file, EPOCH_NS + 1000001000, 61, 61, 0xBB);
            test_pcap_add(&file, EPOCH_NS + 3000001000, LONGEST, LONGEST, 0xCC);
            struct rm_pcap_frames frames;
            struct rm_error error = {.text = ""};
            if (file_read(&frames, RM_PCAP_MEMORY_MAX, &error) != RM_OK)
                fail_msg("format %d, byte order %d: %s", form, big, error.text);
            assert_int_equal(frames.count, 3);
            static uint64_t const at_ns[] = {0, 2000, 2000002000};
            static uint32_t const length[] = {60, 61, LONGEST};
            for (uint32_t i = 0; i < 3; ++i) {
                assert_int_equal(frames.frame[i].at_ns, at_ns[i]);
                assert_int_equal(frames.frame[i].length, length[i]);
                assert_int_equal(frames.frame[i].offset % RM_PCAP_ALIGNMENT, 0);
                for (uint32_t b = 0; b < length[i]; ++b)
                    assert_int_equal(frames.bytes[frames.frame[i].offset + b], 0xAA + 0x11 * i);
            }
            rm_pcap_frames_free(&frames);
        }
}

static void nanoseconds_are_kept(void **state) {
    (void)state;
    file = (struct test_pcap){.form = TEST_PCAP_NS};
    test_pcap_begin(&file, TEST_PCAP_ETHERNET);
    test_pcap_add(&file, EPOCH_NS + 1, 60, 60, 0);
    test_pcap_add(&file, EPOCH_NS + 124, 60, 60, 0);
    struct rm_pcap_frames frames;
    assert_int_equal(file_read(&frames, RM_PCAP_MEMORY_MAX, NULL), RM_OK);
    assert_int_equal(frames.frame[1].at_ns, 123);
    rm_pcap_frames_free(&frames);
}

static void what_cannot_be_sent_is_counted(void **state) {
    (void)state;
    file = (struct test_pcap){.form = TEST_PCAP_NS};
    test_pcap_begin(&file, TEST_PCAP_ETHERNET);
    test_pcap_add(&file, EPOCH_NS, LONGEST + 1, LONGEST + 1, 0);
    test_pcap_add(&file, EPOCH_NS + 10, LONGEST + 1, 60, 0);
    test_pcap_add(&file, EPOCH_NS + 20, 100, 99, 0);
    test_pcap_add(&file, EPOCH_NS + 30, 13, 13, 0);
    test_pcap_add(&file, EPOCH_NS + 40, 14, 14, 0);
    test_pcap_add(&file, EPOCH_NS + 39, 15, 15, 0);
    test_pcap_add(&file, EPOCH_NS + 41, 16, 16, 0);
    struct rm_pcap_frames frames;
    assert_int_equal(file_read(&frames, RM_PCAP_MEMORY_MAX, NULL), RM_OK);
    assert_int_equal(frames.count, 3);
    assert_int_equal(frames.too_long, 2);
    assert_int_equal(frames.cut, 1);
    assert_int_equal(frames.too_short, 1);
    assert_int_equal(frames.backwards, 1);
    assert_int_equal(frames.frame[1].at_ns, 0);
    assert_int_equal(frames.frame[2].at_ns, 1);
    rm_pcap_frames_free(&frames);
}

static void memory_is_bounded(void **state) {
    (void)state;
    file = (struct test_pcap){.form = TEST_PCAP_NS};
    test_pcap_begin(&file, TEST_PCAP_ETHERNET);
    for (int i = 0; i < 30; ++i)
        test_pcap_add(&file, EPOCH_NS, 1000, 1000, 0);
    struct rm_pcap_frames frames;
    struct rm_error error;
    assert_int_equal(file_read(&frames, 10 * 1040, &error), RM_E_NO_SPACE);
    assert_non_null(strstr(error.text, "more than 10 frames"));
    assert_int_equal(file_read(&frames, 30 * 1040, &error), RM_OK);
    assert_int_equal(frames.count, 30);
    rm_pcap_frames_free(&frames);
}

static void wild_stamps_stay_in_order(void **state) {
    (void)state;
    file = (struct test_pcap){.form = TEST_PCAP_NS};
    test_pcap_begin(&file, TEST_PCAP_ETHERNET);
    for (uint32_t i = 0; i < 40; ++i)
        test_pcap_add(&file, (uint64_t)(i * 2654435761u) * 1000000000, 60, 60, 0);
    struct rm_pcap_frames frames;
    assert_int_equal(file_read(&frames, RM_PCAP_MEMORY_MAX, NULL), RM_OK);
    for (uint32_t i = 1; i < frames.count; ++i)
        assert_true(frames.frame[i].at_ns >= frames.frame[i - 1].at_ns);
    assert_true(frames.frame[frames.count - 1].at_ns == RM_PCAP_SPAN_MAX_NS);
    rm_pcap_frames_free(&frames);
}

static void what_is_no_capture_is_refused(void **state) {
    (void)state;
    file = (struct test_pcap){.form = TEST_PCAP_NS};
    test_pcap_begin(&file, RAW_IP);
    test_pcap_add(&file, EPOCH_NS, 60, 60, 0);
    assert_refused(RM_E_CONFIG, "expected Ethernet");
    test_pcap_begin(&file, TEST_PCAP_ETHERNET);
    assert_refused(RM_E_CONFIG, "none of its 0 frames");
    test_pcap_add(&file, EPOCH_NS, 60, 60, 0);
    --file.length;
    assert_refused(RM_E_CONFIG, "after frame 0: truncated");
    memset(file.bytes, 'x', file.length);
    assert_refused(RM_E_CONFIG, "no capture in pcap or pcapng");
    struct rm_pcap_frames frames;
    struct rm_error error;
    assert_int_equal(rm_pcap_frames_load("/nonexistent/a.pcap", LONGEST, RM_PCAP_MEMORY_MAX, &frames, &error),
                     RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/nonexistent/a.pcap"));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_format_in_both_byte_orders), cmocka_unit_test(nanoseconds_are_kept),
        cmocka_unit_test(what_cannot_be_sent_is_counted),   cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(wild_stamps_stay_in_order),        cmocka_unit_test(what_is_no_capture_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
