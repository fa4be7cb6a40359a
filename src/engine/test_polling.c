// SPDX-License-Identifier: Apache-2.0
/* The wait between polls, against packets that come at a rate. */
#include "engine/polling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { POLL_TICKS = 100, LONGEST = 5000 };

/** Packets come every `ticks_per_packet`; a queue takes 64 in one poll. Returns packets per poll over the last half. */
static double run_polling(struct rm_polling *polling, double ticks_per_packet, int polls) {
    double now = 0, taken = 0, packets_seen = 0;
    int const settled = polls / 2;
    for (int i = 0; i < polls; ++i) {
        double const waiting = now / ticks_per_packet - taken;
        uint32_t const packets = waiting > 64 ? 64 : waiting < 0 ? 0 : (uint32_t)waiting;
        taken += packets;
        packets_seen += i >= settled ? packets : 0;
        now += POLL_TICKS + (double)rm_polling_next(polling, packets);
    }
    return packets_seen / (polls - settled);
}

static struct rm_polling polling_of(uint32_t target) {
    return (struct rm_polling){.target_packets = target, .longest_wait_ticks = LONGEST};
}

static void it_settles_at_the_target(void **state) {
    (void)state;
    double const rates[] = {50, 200, 600, 1000};
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; ++i) {
        struct rm_polling polling = polling_of(4);
        double const packets = run_polling(&polling, rates[i], 100000);
        assert_true(packets > 3.2 && packets < 4.8);
        assert_true(polling.wait_ticks <= LONGEST);
    }
}

static void few_packets_wait_no_longer_than_the_longest(void **state) {
    (void)state;
    struct rm_polling polling = polling_of(4);
    run_polling(&polling, 1e6, 100000);
    assert_int_equal(polling.wait_ticks, LONGEST);
}

static void a_filling_queue_ends_the_waiting(void **state) {
    (void)state;
    struct rm_polling polling = polling_of(4);
    run_polling(&polling, 1e6, 100000);
    assert_int_equal(rm_polling_next(&polling, 64), 0);
    assert_int_equal(rm_polling_next(&polling, 3), 0);
}

static void without_a_target_nobody_waits(void **state) {
    (void)state;
    struct rm_polling polling = polling_of(0);
    for (int i = 0; i < 1000; ++i)
        assert_int_equal(rm_polling_next(&polling, 0), 0);
}

static void with_no_longest_wait_nobody_waits(void **state) {
    (void)state;
    struct rm_polling polling = {.target_packets = 4};
    for (int i = 0; i < 1000; ++i)
        assert_int_equal(rm_polling_next(&polling, 0), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(it_settles_at_the_target),
        cmocka_unit_test(few_packets_wait_no_longer_than_the_longest),
        cmocka_unit_test(a_filling_queue_ends_the_waiting),
        cmocka_unit_test(without_a_target_nobody_waits),
        cmocka_unit_test(with_no_longest_wait_nobody_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
