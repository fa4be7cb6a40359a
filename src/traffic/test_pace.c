// SPDX-License-Identifier: Apache-2.0
/** The pace: exact over any time, no burst at the start, what is late made up for within bounds or skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "traffic/pace.h"

static double const TSC_HZ = 2.5e9;
static uint64_t const START = 1000000007;
static uint64_t const SECOND = 2500000000;

static struct rm_traffic paced(double packets_per_s, uint32_t burst) {
    struct rm_traffic traffic;
    rm_traffic_default(&traffic, 0);
    traffic.pace = RM_TRAFFIC_PACKETS_PER_S;
    traffic.rate = packets_per_s;
    traffic.burst = burst;
    return traffic;
}

static struct rm_pace started(struct rm_traffic const *traffic) {
    struct rm_pace pace;
    rm_pace_start(&pace, traffic, TSC_HZ, START);
    return pace;
}

/** What is due at `tsc` is sent. */
static uint32_t take(struct rm_pace *pace, uint64_t tsc, uint64_t *skipped) {
    uint32_t const due = rm_pace_due(pace, tsc, skipped);
    rm_pace_advance(pace, due);
    return due;
}

/** Frames until `end`, looked at every `step` ticks. */
static uint64_t take_until(struct rm_pace *pace, uint64_t from, uint64_t end, uint64_t step, uint64_t *skipped) {
    uint64_t frames = 0;
    for (uint64_t tsc = from; tsc < end; tsc += step)
        frames += take(pace, tsc, skipped);
    return frames;
}

static void rates_are_exact(void **state) {
    (void)state;
    static struct {
        double packets_per_s;
        uint32_t burst;
    } const CASES[] = {{1000, 1}, {14880952.38, 1}, {14880952.38, 64}, {333333.333, 7}, {0.5, 1}, {2.25, 1}, {1e6, 33}};
    for (unsigned i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        struct rm_traffic const traffic = paced(CASES[i].packets_per_s, CASES[i].burst);
        struct rm_pace pace = started(&traffic);
        uint64_t skipped = 0;
        double const seconds = CASES[i].packets_per_s < 100 ? 40 : 1;
        uint64_t const step = CASES[i].packets_per_s < 100 ? 100000 : 1777; // 0.7 µs: ten frames at 14.88 million
        uint64_t const frames = take_until(&pace, START, START + (uint64_t)(seconds * (double)SECOND), step, &skipped);
        double const wanted = CASES[i].packets_per_s * seconds;
        assert_int_equal(skipped, 0);
        assert_true((double)frames >= wanted - CASES[i].burst - 12);
        assert_true((double)frames <= wanted + CASES[i].burst);
    }
}

static void no_error_adds_up(void **state) {
    (void)state;
    struct rm_traffic const traffic = paced(14880952.380952381, 1);
    struct rm_pace pace = started(&traffic);
    pace.next = 14880952ull * 3600 * 24;
    rm_pace_advance(&pace, 1);
    double const seconds = (double)pace.next / 14880952.380952381;
    assert_true((double)(pace.due_tsc - START) - seconds * TSC_HZ < 2);
    assert_true((double)(pace.due_tsc - START) - seconds * TSC_HZ > -2);
}

static void frames_are_never_early(void **state) {
    (void)state;
    unsigned seed = 3;
    for (uint32_t round = 0; round < 200; ++round) {
        struct rm_traffic const traffic = paced(1 + rand_r(&seed) % 20000000, 1 + (uint32_t)rand_r(&seed) % 64);
        struct rm_pace pace = started(&traffic);
        uint64_t tsc = START, skipped = 0, past = 0;
        for (uint32_t i = 0; i < 300; ++i) {
            past += take(&pace, tsc, &skipped);
            double const ticks = (double)(past + skipped - 1) * TSC_HZ / traffic.rate;
            double const burst = (double)(traffic.burst - 1) * TSC_HZ / traffic.rate;
            assert_true(past == 0 || ticks - burst <= (double)(tsc - START) + 1);
            tsc += (uint64_t)rand_r(&seed) % 20000;
        }
        assert_int_equal(pace.next, past + skipped);
    }
}

/** Also where a burst is no whole number of ticks, however many went before. */
static void each_burst_is_due_at_its_tick(void **state) {
    (void)state;
    unsigned seed = 4;
    for (uint32_t round = 0; round < 20000; ++round) {
        struct rm_traffic const traffic =
            paced(1 + rand_r(&seed) % 20000000 + rand_r(&seed) % 100 / 100.0, 1 + (uint32_t)rand_r(&seed) % 64);
        struct rm_pace pace = started(&traffic);
        uint64_t skipped = 0;
        pace.late_max_ticks = UINT64_MAX;
        pace.next = (uint64_t)rand_r(&seed) * traffic.burst;
        rm_pace_advance(&pace, 0);
        assert_int_equal(rm_pace_due(&pace, pace.due_tsc - 1, &skipped), 0);
        assert_int_equal(rm_pace_due(&pace, pace.due_tsc, &skipped), traffic.burst);
        assert_int_equal(skipped, 0);
    }
}

static void the_first_is_alone(void **state) {
    (void)state;
    struct rm_traffic const traffic = paced(1e6, 1);
    struct rm_pace pace = started(&traffic);
    uint64_t skipped = 0;
    assert_int_equal(take(&pace, START - 1, &skipped), 0);
    assert_int_equal(take(&pace, START, &skipped), 1);
    assert_int_equal(take(&pace, START + 2499, &skipped), 0);
    assert_int_equal(take(&pace, START + 2500, &skipped), 1);
}

static void a_count_ends_it(void **state) {
    (void)state;
    struct rm_traffic traffic = paced(1e6, 32);
    uint64_t skipped = 0;
    traffic.count = 100;
    struct rm_pace pace = started(&traffic);
    assert_int_equal(take_until(&pace, START, START + SECOND / 1000, 1000, &skipped), 100);
    assert_true(rm_pace_over(&pace));
    traffic.pace = RM_TRAFFIC_UNPACED;
    pace = started(&traffic);
    assert_int_equal(take_until(&pace, START, START + 10, 1, &skipped), 100);
    assert_int_equal(skipped, 0);
}

static void what_is_late_is_sent_within_the_bound(void **state) {
    (void)state;
    struct rm_traffic traffic = paced(1e6, 1);
    traffic.late_max_ns = 50000;
    struct rm_pace pace = started(&traffic);
    uint64_t skipped = 0;
    assert_int_equal(take(&pace, START, &skipped), 1);
    uint64_t const stalled = START + SECOND / 1000; // by 1 ms, so 1000 frames are due
    uint64_t const frames = take_until(&pace, stalled, stalled + 100, 10, &skipped);
    assert_int_equal(frames, 51); // those late by 0, 1, … 50 µs
    assert_int_equal(frames + skipped, 1000);
    assert_int_equal(take(&pace, stalled + 2500, &skipped), 1);
}

static void what_is_late_is_skipped(void **state) {
    (void)state;
    struct rm_traffic traffic = paced(1e6, 1);
    traffic.late = RM_TRAFFIC_SKIP_LATE;
    traffic.late_max_ns = 50000;
    struct rm_pace pace = started(&traffic);
    uint64_t skipped = 0;
    assert_int_equal(take(&pace, START, &skipped), 1);
    assert_int_equal(take(&pace, START + 20 * 2500, &skipped), 20); // within the bound
    assert_int_equal(skipped, 0);
    assert_int_equal(take(&pace, START + SECOND / 1000, &skipped), 1);
    assert_int_equal(skipped, 979);
    assert_int_equal(take(&pace, START + SECOND / 1000 + 2500, &skipped), 1);
}

static void a_stall_beyond_the_count_ends_it(void **state) {
    (void)state;
    struct rm_traffic traffic = paced(1e6, 1);
    traffic.count = 10;
    for (traffic.late = RM_TRAFFIC_SEND_LATE; traffic.late <= RM_TRAFFIC_SKIP_LATE; ++traffic.late) {
        struct rm_pace pace = started(&traffic);
        uint64_t skipped = 0;
        uint64_t const frames = take(&pace, START + SECOND, &skipped);
        assert_int_equal(frames + skipped, 10);
        assert_true(rm_pace_over(&pace));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_burst_is_due_at_its_tick),
        cmocka_unit_test(rates_are_exact),
        cmocka_unit_test(no_error_adds_up),
        cmocka_unit_test(frames_are_never_early),
        cmocka_unit_test(the_first_is_alone),
        cmocka_unit_test(a_count_ends_it),
        cmocka_unit_test(what_is_late_is_sent_within_the_bound),
        cmocka_unit_test(what_is_late_is_skipped),
        cmocka_unit_test(a_stall_beyond_the_count_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
