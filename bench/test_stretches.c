// SPDX-License-Identifier: Apache-2.0
/** Stretches of times that nobody measured: what ends one, what does not count, and their rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stretches.h"

static double const TSC_HZ = 1e9; /* so a tick is a nanosecond */
static struct bench_stretches stretches;

/** Polls each microsecond for so long, with so many frames each; returns when it ended. */
static uint64_t poll_for(uint64_t tsc, uint64_t ns, uint32_t frames) {
    for (uint64_t const end = tsc + ns; tsc < end; tsc += 1000)
        bench_stretches_poll(&stretches, frames, tsc);
    return tsc;
}

static void the_rate_is_that_between_gaps(void **state) {
    (void)state;
    bench_stretches_begin(&stretches, TSC_HZ, 5);
    uint64_t tsc = poll_for(5, 2000000, 10);
    tsc = poll_for(tsc + 500000, 1000000, 20); // the receiver stood still before
    poll_for(tsc + 20000, 1000, 20);
    assert_int_equal(stretches.count, 2);
    assert_float_equal(stretches.rate_pps[0], 1e7, 1);
    assert_float_equal(stretches.rate_pps[1], 2e7, 1);
    assert_in_range(stretches.ticks, 2860000 - 110000, 2760000 + 10000);
}

static void a_sender_that_stands_still_ends_one(void **state) {
    (void)state;
    bench_stretches_begin(&stretches, TSC_HZ, 5);
    uint64_t tsc = poll_for(5, 1000000, 10);
    tsc = poll_for(tsc, 1000000, 0);
    poll_for(tsc, 1000000, 30);
    assert_int_equal(stretches.count, 1);
    assert_float_equal(stretches.rate_pps[0], 1e7, 1);
    bench_stretches_json(&stretches, "\n");
    assert_int_equal(stretches.count, 2);
}

static void what_the_ring_held_does_not_count(void **state) {
    (void)state;
    bench_stretches_begin(&stretches, TSC_HZ, 5);
    uint64_t tsc = poll_for(5, 100000, 64);
    tsc = poll_for(tsc, 1000000, 1);
    poll_for(tsc + 20000, 1000, 1);
    assert_int_equal(stretches.count, 1);
    assert_float_equal(stretches.rate_pps[0], 1e6, 1);
}

static void short_ones_do_not_count(void **state) {
    (void)state;
    bench_stretches_begin(&stretches, TSC_HZ, 5);
    for (uint64_t tsc = 5, i = 0; i < 100; ++i)
        tsc = poll_for(tsc, 300000, 8) + 20000;
    bench_stretches_json(&stretches, "\n");
    assert_int_equal(stretches.count, 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_rate_is_that_between_gaps),
        cmocka_unit_test(a_sender_that_stands_still_ends_one),
        cmocka_unit_test(what_the_ring_held_does_not_count),
        cmocka_unit_test(short_ones_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
