// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <signal.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "capture/capture.h"
#include "capture/pcap_frames.h"

enum { CORES = 3, LONGEST = 1514, FILE_HEADER = 24, FRAME_HEADER = 16 };

static char path[] = "/tmp/test-capture-XXXXXX";
static double tsc_hz;

static int make_file(void **state) {
    (void)state;
    int const descriptor = mkstemp(path);
    tsc_hz = rm_tsc_hz_measure();
    return descriptor < 0 || close(descriptor) != 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static struct rm_capture *capture_start(uint64_t file_bytes, uint64_t ring_bytes) {
    struct rm_capture_plan const plan = {.path = path,
                                         .file_bytes = file_bytes,
                                         .ring_count = CORES,
                                         .ring_bytes = ring_bytes,
                                         .longest_frame = LONGEST,
                                         .tsc_hz = tsc_hz};
    struct rm_capture *capture;
    struct rm_error error = {.text = ""};
    if (rm_capture_start(&plan, &capture, &error) != RM_OK)
        fail_msg("%s", error.text);
    return capture;
}

/** Frame `n` has its own length and content. */
static uint32_t frame_make(uint32_t n, uint8_t frame[LONGEST]) {
    uint32_t const length = 14 + n * 37 % (LONGEST - 14 + 1);
    memset(frame, (int)(n & 0xFF), length);
    return length;
}

static void frames_put(struct rm_capture *capture, uint32_t count, uint64_t step_ticks) {
    uint8_t frame[LONGEST];
    uint64_t const begin = rm_tsc();
    for (uint32_t n = 0; n < count; ++n) {
        uint32_t const length = frame_make(n, frame);
        rm_capture_ring_put(rm_capture_ring_of(capture, 0), frame, length, begin + n * step_ticks);
    }
}

static void read_back(struct rm_pcap_frames *frames) {
    struct rm_error error = {.text = ""};
    if (rm_pcap_frames_load(path, LONGEST, RM_PCAP_MEMORY_MAX, frames, &error) != RM_OK)
        fail_msg("%s", error.text);
    uint8_t expected[LONGEST];
    for (uint32_t n = 0; n < frames->count; ++n) {
        uint32_t const length = frame_make(n, expected);
        assert_int_equal(frames->frame[n].length, length);
        assert_memory_equal(frames->bytes + frames->frame[n].offset, expected, length);
    }
}

static void what_was_put_is_in_the_file(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    struct rm_capture *const capture = capture_start(0, 0);
    frames_put(capture, COUNT, (uint64_t)(1e-6 * tsc_hz)); /* a microsecond apart */
    struct rm_capture_counts counts;
    struct rm_pcap_frames frames;
    assert_int_equal(rm_capture_stop(capture, &counts, NULL), RM_OK);
    read_back(&frames);
    assert_int_equal(counts.written, COUNT);
    assert_int_equal(frames.count, COUNT);
    assert_true(counts.ring_full == 0 && counts.file_full == 0 && frames.backwards == 0);
    double const step_ns = (double)(uint64_t)(1e-6 * tsc_hz) / tsc_hz * 1e9;
    double const slack_ns = 50e3; /* the anchor between two clocks, on a core that others use */
    for (uint32_t n = 0; n < COUNT; ++n)
        assert_true(fabs((double)frames.frame[n].at_ns - n * step_ns) < slack_ns);
    rm_pcap_frames_free(&frames);
}

/** Frame n is put by core n % CORES. The thread runs meanwhile: only the order of each core's frames is sure. */
static void cores_have_rings_of_their_own(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    struct rm_capture *const capture = capture_start(0, 0);
    uint8_t frame[LONGEST];
    for (uint32_t n = 0; n < COUNT; ++n) {
        uint32_t const length = frame_make(n, frame);
        rm_capture_ring_put(rm_capture_ring_of(capture, n % CORES), frame, length, rm_tsc());
    }
    struct rm_capture_counts counts;
    struct rm_pcap_frames frames;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_capture_stop(capture, &counts, NULL), RM_OK);
    assert_int_equal(rm_pcap_frames_load(path, LONGEST, RM_PCAP_MEMORY_MAX, &frames, &error), RM_OK);
    assert_true(counts.written == COUNT && counts.ring_full == 0);
    assert_true(frames.count == COUNT && frames.backwards == 0);
    uint32_t next[CORES] = {0, 1, 2};
    for (uint32_t i = 0; i < frames.count; ++i) {
        uint32_t core = 0;
        while (core < CORES && frame_make(next[core], frame) != frames.frame[i].length)
            ++core;
        assert_true(core < CORES);
        assert_memory_equal(frames.bytes + frames.frame[i].offset, frame, frames.frame[i].length);
        next[core] += CORES;
    }
    rm_pcap_frames_free(&frames);
}

/** By the first frame's stamp in the file, which is a number of the standard's first frame header. */
static void stamps_are_utc(void **state) {
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    struct rm_capture *const capture = capture_start(0, 0);
    struct rm_capture_counts counts;
    frames_put(capture, 1, 0);
    assert_int_equal(rm_capture_stop(capture, &counts, NULL), RM_OK);
    clock_gettime(CLOCK_REALTIME, &after);
    FILE *const file = fopen(path, "rbe");
    uint32_t words[(FILE_HEADER + FRAME_HEADER) / 4];
    assert_int_equal(fread(words, sizeof words, 1, file), 1);
    fclose(file);
    assert_int_equal(words[0], 0xA1B23C4D);
    double const stamp = words[6] + words[7] * 1e-9;
    double const slack = 1e-3; /* a clock may be set a little meanwhile */
    assert_true(stamp > (double)before.tv_sec + (double)before.tv_nsec * 1e-9 - slack);
    assert_true(stamp < (double)after.tv_sec + (double)after.tv_nsec * 1e-9 + slack);
}

static void a_small_ring_counts_what_it_had_no_room_for(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    struct rm_capture *const capture = capture_start(0, 1 << 13);
    uint8_t frame[LONGEST];
    uint32_t taken = 0;
    for (uint32_t tries = 0; tries < COUNT; ++tries) {
        uint32_t const length = frame_make(taken, frame);
        taken += rm_capture_ring_put(rm_capture_ring_of(capture, 0), frame, length, rm_tsc());
    }
    struct rm_capture_counts counts;
    struct rm_pcap_frames frames;
    assert_int_equal(rm_capture_stop(capture, &counts, NULL), RM_OK);
    read_back(&frames);
    assert_int_equal(counts.written, taken);
    assert_int_equal(counts.ring_full, COUNT - taken);
    assert_int_equal(frames.count, taken);
    rm_pcap_frames_free(&frames);
}

/** A core stages a burst, and the link takes a part of it. */
static void only_what_the_link_took_is_in_the_file(void **state) {
    (void)state;
    enum { BURSTS = 200, STAGED = 5 };
    struct rm_capture *const capture = capture_start(0, 1 << 20);
    struct rm_capture_ring *const ring = rm_capture_ring_of(capture, 0);
    uint32_t taken = 0;
    for (uint32_t b = 0; b < BURSTS; ++b) {
        struct rm_capture_mark mark[STAGED + 1] = {rm_capture_ring_mark(ring)};
        uint8_t frame[LONGEST];
        for (uint32_t i = 0; i < STAGED; ++i) {
            uint32_t const length = frame_make(taken + i, frame);
            mark[i + 1] = mark[i];
            rm_capture_ring_stage(ring, &mark[i + 1], frame, length, rm_tsc());
        }
        rm_capture_ring_publish(ring, &mark[b % (STAGED + 1)]);
        taken += b % (STAGED + 1);
    }
    struct rm_capture_counts counts;
    struct rm_pcap_frames frames;
    assert_int_equal(rm_capture_stop(capture, &counts, NULL), RM_OK);
    read_back(&frames);
    assert_int_equal(counts.ring_full, 0); /* it has room for all, also where the thread is late */
    assert_int_equal(frames.count, taken);
    rm_pcap_frames_free(&frames);
}

static void a_file_ends_at_its_size_with_a_whole_frame(void **state) {
    (void)state;
    enum { COUNT = 500, BYTES = 100000 };
    struct rm_capture *const capture = capture_start(BYTES, 0);
    frames_put(capture, COUNT, 1);
    struct rm_capture_counts counts;
    struct rm_pcap_frames frames;
    assert_int_equal(rm_capture_stop(capture, &counts, NULL), RM_OK);
    read_back(&frames);
    assert_int_equal(counts.written, frames.count);
    assert_int_equal(counts.file_full, COUNT - frames.count);
    assert_true(counts.bytes <= BYTES && counts.bytes > BYTES - LONGEST - FRAME_HEADER);
    rm_pcap_frames_free(&frames);
}

static void a_disk_that_refuses_is_told(void **state) {
    (void)state;
    enum { BYTES = 50000 };
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    struct rm_capture *const capture = capture_start(0, 0);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES, before.rlim_max});
    frames_put(capture, 10, 1);
    frames_put(capture, 500, 1);
    struct rm_capture_counts counts;
    struct rm_error error;
    assert_int_equal(rm_capture_stop(capture, &counts, &error), RM_E_SYSTEM);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_non_null(strstr(error.text, "ends early"));
    assert_int_equal(counts.written + counts.file_full, 510);
    FILE *const file = fopen(path, "rbe");
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftell(file), counts.bytes);
    fclose(file);
}

static void a_place_that_cannot_be_written_is_told(void **state) {
    (void)state;
    static char const *const places[] = {"/dev/full", "/nonexistent/a.pcap"};
    for (uint32_t i = 0; i < 2; ++i) {
        struct rm_capture_plan const plan = {
            .path = places[i], .ring_count = 1, .longest_frame = LONGEST, .tsc_hz = tsc_hz};
        struct rm_capture *capture;
        struct rm_error error;
        assert_int_equal(rm_capture_start(&plan, &capture, &error), RM_E_SYSTEM);
        assert_non_null(strstr(error.text, places[i]));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_was_put_is_in_the_file),
        cmocka_unit_test(cores_have_rings_of_their_own),
        cmocka_unit_test(stamps_are_utc),
        cmocka_unit_test(a_small_ring_counts_what_it_had_no_room_for),
        cmocka_unit_test(only_what_the_link_took_is_in_the_file),
        cmocka_unit_test(a_file_ends_at_its_size_with_a_whole_frame),
        cmocka_unit_test(a_disk_that_refuses_is_told),
        cmocka_unit_test(a_place_that_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
