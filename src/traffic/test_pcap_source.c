// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/test_pcap_files.h"
#include "traffic/pcap_source.h"

enum { LONGEST = 1514, FRAMES = 4 };

/* 2 ticks to the nanosecond */
static double const TSC_HZ = 2e9;
static uint64_t const START = 1000000;
static uint64_t const EPOCH_NS = 1700000000000000000;
/* gaps of 1, 3 and 5 µs; so the next lap begins another 3 µs after the last */
static uint64_t const at_ns[FRAMES] = {0, 1000, 4000, 9000};
static uint64_t const LAP_NS = 12000;

static char path[] = "/tmp/test-pcap-source-XXXXXX";

static int make_file(void **state) {
    (void)state;
    static struct test_pcap file = {.form = TEST_PCAP_NS};
    test_pcap_begin(&file, TEST_PCAP_ETHERNET);
    for (uint32_t i = 0; i < FRAMES; ++i)
        test_pcap_add(&file, EPOCH_NS + at_ns[i], 60 + i, 60 + i, (uint8_t)(i + 1));
    int const descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor) != 0 || !test_pcap_write(&file, path);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static struct rm_source *source_make(double speed, uint64_t laps) {
    struct rm_pcap_plan const plan = {
        .path = path, .speed = speed, .laps = laps, .longest_frame = LONGEST, .tsc_hz = TSC_HZ};
    struct rm_source *source;
    struct rm_error error = {.text = ""};
    if (rm_pcap_source_make(&plan, &source, &error) != RM_OK)
        fail_msg("%s", error.text);
    return source;
}

/** Fills `count` frames and checks that they are those from number `first` on. */
static void fill_checked(struct rm_source *source, uint64_t first, uint32_t count, uint32_t expected) {
    static uint8_t memory[RM_BURST][LONGEST];
    struct rm_burst burst = {.count = count};
    for (uint32_t i = 0; i < RM_BURST; ++i)
        burst.data[i] = memory[i];
    assert_int_equal(source->ops->fill(source, &burst, 0), expected);
    for (uint32_t i = 0; i < expected; ++i) {
        uint32_t const place = (uint32_t)((first + i) % FRAMES);
        assert_int_equal(burst.length[i], 60 + place);
        for (uint32_t b = 0; b < burst.length[i]; ++b)
            assert_int_equal(burst.data[i][b], place + 1);
        if (!source->lends)
            assert_ptr_equal(burst.data[i], memory[i]);
    }
}

static void frames_come_lap_by_lap(void **state) {
    (void)state;
    struct rm_source *const source = source_make(0, 3);
    assert_null(source->ops->due);
    for (int lends = 0; lends < 2; ++lends) {
        source->lends = lends;
        source->ops->start(source, START);
        fill_checked(source, 0, 5, 5);
        fill_checked(source, 5, 6, 6);
        fill_checked(source, 11, 6, 1);
        fill_checked(source, 12, 6, 0);
    }
    source->ops->free(source);
}

/** Frames due at a time, by the definition: one by one. */
static uint64_t due_slowly(uint64_t gone_ns, double speed) {
    uint64_t due = 0;
    for (uint64_t lap = 0;; ++lap)
        for (uint32_t i = 0; i < FRAMES; ++i, ++due)
            if ((double)(lap * LAP_NS + at_ns[i]) > (double)gone_ns * speed)
                return due;
}

static void frames_are_due_with_their_gaps(void **state) {
    (void)state;
    static double const speeds[] = {1, 2, 0.5};
    for (uint32_t s = 0; s < 3; ++s) {
        struct rm_source *const source = source_make(speeds[s], 0);
        source->ops->start(source, START);
        assert_int_equal(source->ops->due(source, START - 1), 1); /* the first one is due at once */
        uint64_t gone = 0;
        for (uint64_t ns = 0; ns < 200000; ns += 371) {
            uint64_t const due = source->ops->due(source, START + 2 * ns);
            assert_in_range(gone + due, due_slowly(ns > 1 ? ns - 1 : 0, speeds[s]), due_slowly(ns + 1, speeds[s]));
            uint32_t const taken = due > 3 ? 3 : (uint32_t)due;
            fill_checked(source, gone, taken, taken);
            gone += taken;
        }
        assert_true(gone > 20);
        source->ops->free(source);
    }
}

static void a_replay_ends_with_its_laps(void **state) {
    (void)state;
    struct rm_source *const source = source_make(1, 2);
    source->ops->start(source, START);
    fill_checked(source, 0, 3, 3);
    assert_int_equal(source->ops->due(source, START + (1ull << 60)), 5);
    (source->ops->skip)(source, 4); /* cmocka has a macro of that name */
    assert_int_equal(source->ops->due(source, START + (1ull << 60)), 1);
    fill_checked(source, 7, 64, 1);
    assert_int_equal(source->ops->due(source, START + (1ull << 60)), 1);
    fill_checked(source, 8, 64, 0);
    source->ops->free(source);
}

static void a_stall_is_skipped_at_once(void **state) {
    (void)state;
    struct rm_source *const source = source_make(1, 0);
    source->ops->start(source, START);
    uint64_t const stalled = START + 2000000000ull * 1000;
    uint64_t const due = source->ops->due(source, stalled);
    assert_true(due > 300000000);
    (source->ops->skip)(source, due); /* cmocka has a macro of that name */
    assert_int_equal(source->ops->due(source, stalled), 0);
    fill_checked(source, due, 9, 9);
    source->ops->free(source);
}

static void what_is_asked_wrongly_is_refused(void **state) {
    (void)state;
    static double const speeds[] = {-1, 1e-4, 1e7};
    for (uint32_t s = 0; s < 3; ++s) {
        struct rm_pcap_plan const plan = {.path = path, .speed = speeds[s], .longest_frame = LONGEST, .tsc_hz = TSC_HZ};
        struct rm_source *source;
        struct rm_error error;
        assert_int_equal(rm_pcap_source_make(&plan, &source, &error), RM_E_ARGUMENT);
        assert_non_null(strstr(error.text, "speed"));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(frames_come_lap_by_lap),           cmocka_unit_test(frames_are_due_with_their_gaps),
        cmocka_unit_test(a_replay_ends_with_its_laps),      cmocka_unit_test(a_stall_is_skipped_at_once),
        cmocka_unit_test(what_is_asked_wrongly_is_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
