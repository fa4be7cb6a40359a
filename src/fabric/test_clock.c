// SPDX-License-Identifier: Apache-2.0
/** The clock in shared memory: conversions, and copies that are whole while it is written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>

#include "fabric/clock_writer.h"
#include "fabric/sequence_lock.h"

enum { READINGS = 200000 };

/** Every member follows from `i`, so that a mixture of two readings is told. */
static struct rm_clock_reading reading_of(uint64_t i) {
    return (struct rm_clock_reading){
        .anchored = i % 2,
        .turn_epoch = i,
        .turn = 3 * i,
        .turn_tsc = 5 * i,
        .ticks_per_turn = (double)i + 0.5,
        .residual_ticks = (double)i + 0.25,
        .tsc_hz = (double)i + 1e9,
        .tai_tsc = 7 * i,
        .tai_ns = 11 * i,
        .measured_ticks_per_turn = (double)i + 0.75,
        .supported = i % 3 == 0,
    };
}

static bool equal(struct rm_clock_reading const *a, struct rm_clock_reading const *b) {
    return a->anchored == b->anchored && a->turn_epoch == b->turn_epoch && a->turn == b->turn &&
           a->turn_tsc == b->turn_tsc && a->ticks_per_turn == b->ticks_per_turn &&
           a->residual_ticks == b->residual_ticks && a->tsc_hz == b->tsc_hz && a->tai_tsc == b->tai_tsc &&
           a->tai_ns == b->tai_ns && a->measured_ticks_per_turn == b->measured_ticks_per_turn &&
           a->supported == b->supported;
}

static void test_round_trip(void **state) {
    (void)state;
    struct rm_clock clock = {.sequence = 0};
    struct rm_clock_reading read;
    assert_true(rm_clock_read(&clock, &read));
    assert_false(read.anchored);
    struct rm_clock_reading const written = reading_of(12345);
    rm_clock_publish(&clock, &written);
    assert_true(rm_clock_read(&clock, &read));
    assert_true(equal(&read, &written));
    assert_int_equal(atomic_load(&clock.sequence), 2);
}

/** The writer was killed inside a change: the reader gives up, and the next writer mends it. */
static void test_killed_writer(void **state) {
    (void)state;
    struct rm_clock clock = {.sequence = 0};
    struct rm_clock_reading read;
    struct rm_clock_reading const written = reading_of(3);
    rm_clock_publish(&clock, &written);
    rm_sequence_begin(&clock.sequence);
    assert_false(rm_clock_read(&clock, &read));
    rm_clock_publish(&clock, &written);
    assert_true(rm_clock_read(&clock, &read));
    assert_true(equal(&read, &written));
}

struct race {
    struct rm_clock clock;
    _Atomic bool stop;
};

static void *publish_readings(void *argument) {
    struct race *race = argument;
    for (uint64_t i = 1; !atomic_load_explicit(&race->stop, memory_order_relaxed); ++i) {
        struct rm_clock_reading const reading = reading_of(i);
        rm_clock_publish(&race->clock, &reading);
    }
    return NULL;
}

static void test_concurrent(void **state) {
    (void)state;
    struct race race = {.stop = false};
    struct rm_clock_reading const first = reading_of(0);
    rm_clock_publish(&race.clock, &first);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, publish_readings, &race), 0);
    uint64_t wrong = 0, newest = 0, changes = 0;
    for (int i = 0; i < READINGS || changes < 100; ++i) {
        struct rm_clock_reading read;
        wrong += !rm_clock_read(&race.clock, &read);
        struct rm_clock_reading const expected = reading_of(read.turn_epoch);
        wrong += !equal(&read, &expected) || read.turn_epoch < newest;
        changes += read.turn_epoch != newest;
        newest = read.turn_epoch;
    }
    atomic_store(&race.stop, true);
    pthread_join(writer, NULL);
    assert_int_equal(wrong, 0);
}

static void test_conversions(void **state) {
    (void)state;
    struct rm_clock_reading const reading = {
        .anchored = true,
        .turn = 1000000,
        .turn_tsc = 5000000000,
        .ticks_per_turn = 2160.75,
        .tsc_hz = 2.5e9,
        .tai_tsc = 5000000100,
        .tai_ns = 1700000000000000000,
    };
    assert_int_equal(rm_clock_tsc(&reading, 1000000), 5000000000);
    assert_int_equal(rm_clock_tsc(&reading, 1000004), 5000000000 + 8643);
    assert_int_equal(rm_clock_tsc(&reading, 999996), 5000000000 - 8643);
    assert_int_equal(rm_clock_turn(&reading, 5000000000), 1000000);
    assert_int_equal(rm_clock_turn(&reading, 5000000000 + 8642), 1000003); // fractions are cut off …
    assert_int_equal(rm_clock_turn(&reading, 5000000000 - 1), 999999);     // … downwards
    for (rm_turn turn = 0; turn < 3000000; turn += 99991)
        assert_int_equal(rm_clock_turn(&reading, rm_clock_tsc(&reading, turn) + 1), turn);
    assert_int_equal(rm_clock_tai_ns(&reading, 5000000100), 1700000000000000000);
    assert_int_equal(rm_clock_tai_ns(&reading, 5000000100 + 2500000000), 1700000001000000000);
    assert_int_equal(rm_clock_tai_ns(&reading, 5000000100 - 25), 1700000000000000000 - 10);
}

static void test_before_turn_zero(void **state) {
    (void)state;
    struct rm_clock_reading const reading = {.turn = 2, .turn_tsc = 100000, .ticks_per_turn = 1000.0};
    assert_int_equal(rm_clock_turn(&reading, 98500), 0);
    assert_int_equal(rm_clock_turn(&reading, 97999), 0);
    assert_int_equal(rm_clock_turn(&reading, 0), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_killed_writer),    cmocka_unit_test(test_concurrent),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_before_turn_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
