// SPDX-License-Identifier: Apache-2.0
/** Stamps and flows: what is a stamp, and counts beside a model that remembers every sequence number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "traffic/flows.h"

enum { KEY = 0xBEEF, FLOW = 131, STEPS = 20000 };

static struct rm_flows made(void) {
    struct rm_flows flows;
    struct rm_error error;
    assert_int_equal(rm_flows_init(&flows, KEY, &error), RM_OK);
    return flows;
}

static struct rm_flow_reading reading_of(struct rm_flows const *flows) {
    struct rm_flow_reading reading;
    rm_flow_read(NULL, &flows, 1, FLOW, &reading);
    return reading;
}

static void count(struct rm_flows *flows, uint64_t sequence) {
    rm_flows_count(flows, &(struct rm_flow_stamp){FLOW, (uint32_t)sequence, 100}, 150);
}

static void stamps_come_back(void **state) {
    (void)state;
    unsigned seed = 5;
    for (uint32_t i = 0; i < STEPS; ++i) {
        struct rm_flow_stamp const stamp = {(uint16_t)(rand_r(&seed) % RM_FLOWS), (uint32_t)rand_r(&seed) * 3u,
                                            (uint64_t)rand_r(&seed) << 33 | (uint64_t)rand_r(&seed)};
        uint16_t const key = rm_flow_stamp_key((uint64_t)rand_r(&seed));
        uint8_t bytes[RM_FLOW_STAMP_BYTES];
        struct rm_flow_stamp read = {0};
        rm_flow_stamp_write(bytes, &stamp, rm_flow_stamp_base(stamp.tsc, key));
        assert_int_equal(rm_checksum_fold(rm_checksum_add_bytes(0, bytes, sizeof bytes)), key);
        assert_true(rm_flow_stamp_read(bytes, key, &read));
        assert_int_equal(read.flow, stamp.flow);
        assert_int_equal(read.sequence, stamp.sequence);
        assert_int_equal(read.tsc, stamp.tsc);
        assert_false(rm_flow_stamp_read(bytes, rm_flow_stamp_key(key), &read));
        bytes[rand_r(&seed) % RM_FLOW_STAMP_BYTES] ^= (uint8_t)(1 << rand_r(&seed) % 8);
        assert_false(rm_flow_stamp_read(bytes, key, &read));
    }
}

static void what_others_send_is_no_stamp(void **state) {
    (void)state;
    unsigned seed = 6;
    struct rm_flow_stamp stamp;
    for (uint32_t i = 0; i < STEPS; ++i) {
        uint8_t bytes[RM_FLOW_STAMP_BYTES];
        for (uint32_t b = 0; b < sizeof bytes; ++b)
            bytes[b] = (uint8_t)rand_r(&seed);
        assert_false(rm_flow_stamp_read(bytes, KEY, &stamp));
    }
}

static void a_flow_in_order_has_lost_nothing(void **state) {
    (void)state;
    struct rm_flows flows = made();
    for (uint32_t i = 0; i < STEPS; ++i)
        count(&flows, i);
    struct rm_flow_reading const reading = reading_of(&flows);
    assert_int_equal(reading.received, STEPS);
    assert_int_equal(reading.lost + reading.duplicated + reading.out_of_order, 0);
    assert_int_equal(reading.latency_total, STEPS);
    assert_int_equal(rm_flow_latency_ticks(&reading, 0.5), 50);
    assert_int_equal(rm_flow_latency_ticks(&reading, 1), 50);
    rm_flows_free(&flows);
}

/** Sequence numbers that are lost, copied and swapped within the window, counted from a list of them. */
static void counts_are_those_of_the_model(void **state) {
    (void)state;
    static uint8_t times[STEPS + 1];
    unsigned seed = 7;
    struct rm_flows flows = made();
    uint64_t received = 0, duplicated = 0, out_of_order = 0, next = 0;
    memset(times, 0, sizeof times);
    for (uint64_t newest = 0; newest < STEPS;) {
        uint32_t const kind = (uint32_t)rand_r(&seed) % 10;
        uint64_t sequence = newest;
        if (kind == 0)
            newest += (uint64_t)rand_r(&seed) % 40; // lost, or to come later
        else if (kind < 4)
            sequence -= (uint64_t)rand_r(&seed) % (RM_FLOW_WINDOW - 50) % (newest + 1);
        else
            ++newest;
        if (kind == 0)
            continue;
        count(&flows, sequence);
        ++received;
        if (sequence >= next)
            next = sequence + 1;
        else if (times[sequence] > 0)
            ++duplicated;
        else
            ++out_of_order;
        times[sequence] = 1;
    }
    uint64_t lost = 0;
    for (uint64_t i = 0; i < next; ++i)
        lost += times[i] == 0;
    struct rm_flow_reading const reading = reading_of(&flows);
    assert_int_equal(reading.received, received);
    assert_int_equal(reading.duplicated, duplicated);
    assert_int_equal(reading.out_of_order, out_of_order);
    assert_int_equal(reading.lost, lost);
    assert_true(lost > 0 && duplicated > 0 && out_of_order > 0);
    rm_flows_free(&flows);
}

static void sequence_numbers_go_on_beyond_32_bits(void **state) {
    (void)state;
    struct rm_flows flows = made();
    uint64_t const first = (1ull << 33) - 5;
    atomic_store(&flows.seen[FLOW].next, first);
    for (uint64_t i = 0; i < 10; ++i)
        count(&flows, first + i);
    assert_int_equal(atomic_load(&flows.seen[FLOW].next), first + 10);
    count(&flows, first + 3);
    struct rm_flow_reading const reading = reading_of(&flows);
    assert_int_equal(reading.received, 11);
    assert_int_equal(reading.duplicated, 1);
    assert_int_equal(reading.out_of_order, 0);
    rm_flows_free(&flows);
}

static void what_is_older_than_the_window_is_out_of_order(void **state) {
    (void)state;
    struct rm_flows flows = made();
    count(&flows, 5000);
    count(&flows, 5000 - RM_FLOW_WINDOW);
    count(&flows, 5000 - RM_FLOW_WINDOW + 1);
    count(&flows, 5000 - RM_FLOW_WINDOW + 1);
    struct rm_flow_reading const reading = reading_of(&flows);
    assert_int_equal(reading.out_of_order, 2);
    assert_int_equal(reading.duplicated, 1);
    assert_int_equal(reading.lost, 5001 - 3);
    rm_flows_free(&flows);
}

static void sides_add_up(void **state) {
    (void)state;
    struct rm_flows one = made(), other = made();
    for (uint64_t i = 0; i < 100; ++i)
        count(i % 2 ? &one : &other, i);
    struct rm_flows const *const sides[] = {&one, &other};
    struct rm_flow_sent const sent = {120};
    struct rm_flow_reading reading;
    rm_flow_read(&sent, sides, 2, FLOW, &reading);
    assert_int_equal(reading.stamped, 120);
    assert_int_equal(reading.received, 100);
    assert_int_equal(reading.lost, 0);
    assert_int_equal(reading.latency_total, 100);
    rm_flows_free(&one);
    rm_flows_free(&other);
}

static void a_time_to_come_is_counted_apart(void **state) {
    (void)state;
    struct rm_flows flows = made();
    rm_flows_count(&flows, &(struct rm_flow_stamp){FLOW, 0, 200}, 150);
    struct rm_flow_reading const reading = reading_of(&flows);
    assert_int_equal(reading.from_future, 1);
    assert_int_equal(reading.latency_total, 0);
    assert_int_equal(rm_flow_latency_ticks(&reading, 0.5), 0);
    rm_flows_free(&flows);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(stamps_come_back),
        cmocka_unit_test(what_others_send_is_no_stamp),
        cmocka_unit_test(a_flow_in_order_has_lost_nothing),
        cmocka_unit_test(counts_are_those_of_the_model),
        cmocka_unit_test(sequence_numbers_go_on_beyond_32_bits),
        cmocka_unit_test(what_is_older_than_the_window_is_out_of_order),
        cmocka_unit_test(sides_add_up),
        cmocka_unit_test(a_time_to_come_is_counted_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
