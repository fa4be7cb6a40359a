// SPDX-License-Identifier: Apache-2.0
/** Setpoint vectors: the newest whole one, never a torn one, whatever the other side does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/setpoint_vectors.h"
#include <ringmaster/setpoint.h>

enum { ACTUATORS = 40, COPIES = 200000, ENOUGH = 1000 };

struct test {
    struct rm_setpoints *setpoints;
    size_t vector_bytes, actuators;
    struct rm_setpoints_place place;
    struct rm_setpoint_reading reading;
    double values[ACTUATORS + 1];
    _Atomic bool stop;
};

static void make(struct test *test, size_t actuators) {
    *test = (struct test){.vector_bytes = rm_setpoint_vector_bytes(actuators), .actuators = actuators};
    test->setpoints = aligned_alloc(RM_CACHE_LINE, rm_setpoints_bytes(actuators));
    assert_non_null(test->setpoints);
    memset(test->setpoints, 0, rm_setpoints_bytes(actuators));
    *test->setpoints = (struct rm_setpoints){
        .vectors_offset = sizeof *test->setpoints, .vector_bytes = test->vector_bytes, .actuator_count = actuators};
}

static void drop(struct test *test) { free(test->setpoints); }

/** Vector n: all values are multiples of n, and so is all else. */
static struct rm_setpoint_vector *begin(struct test *test, uint64_t n) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(test->setpoints);
    for (size_t i = 0; i < test->actuators; ++i)
        rm_setpoints_put(vector, i, (double)(n * (i + 1)));
    return vector;
}

static void write_vector(struct test *test, uint64_t n) { rm_setpoints_commit(begin(test, n), n, 2 * n, 3 * n); }

static bool copy(struct test *test) {
    return rm_setpoints_copy(test->setpoints, test->vector_bytes, &test->place, &test->reading, test->values,
                             ACTUATORS);
}

/** Number of things that are wrong in the copy. */
static uint64_t faults(struct test const *test) {
    uint64_t const n = test->reading.number;
    uint64_t wrong =
        (test->reading.grant_number != n) + (test->reading.input_turn != 2 * n) + (test->reading.tsc != 3 * n);
    for (size_t i = 0; i < test->actuators; ++i)
        wrong += test->values[i] != (double)(n * (i + 1));
    return wrong;
}

static void assert_copies(struct test *test, uint64_t vector) {
    assert_true(copy(test));
    assert_int_equal(test->reading.number, vector);
    assert_int_equal(faults(test), 0);
    assert_false(copy(test)); // seen
}

static void test_vectors(void **state) {
    (void)state;
    for (size_t actuators = 1; actuators <= ACTUATORS; ++actuators) {
        struct test test;
        make(&test, actuators);
        assert_false(copy(&test));
        for (uint64_t n = 0; n < 10; ++n) {
            write_vector(&test, n);
            assert_copies(&test, n);
        }
        drop(&test);
    }
}

/** A reader that looks seldom gets the newest vector, and knows by its number how many it missed. */
static void test_newest(void **state) {
    (void)state;
    for (uint64_t missed = 0; missed < 10; ++missed)
        for (uint64_t before = 0; before < 4; ++before) {
            struct test test;
            make(&test, ACTUATORS);
            uint64_t n = 0;
            for (; n < before; ++n) {
                write_vector(&test, n);
                assert_copies(&test, n);
            }
            for (uint64_t i = 0; i <= missed; ++i)
                write_vector(&test, n++);
            struct rm_setpoint_vector *unfinished = begin(&test, n); // and another one is on its way
            assert_copies(&test, n - 1);
            rm_setpoints_commit(unfinished, n, 2 * n, 3 * n);
            assert_copies(&test, n);
            drop(&test);
        }
}

/** A writer was killed inside a vector: it is never seen, and its number is used again. */
static void test_killed_writer(void **state) {
    (void)state;
    for (uint64_t before = 0; before < 5; ++before) {
        struct test test;
        make(&test, ACTUATORS);
        for (uint64_t n = 0; n < before; ++n) {
            write_vector(&test, n);
            assert_copies(&test, n);
        }
        begin(&test, 1000);
        assert_false(copy(&test));
        assert_false(rm_setpoints_confused(test.setpoints));
        write_vector(&test, before); // the next instance
        assert_copies(&test, before);
        drop(&test);
    }
}

/** Not more values than asked for, and none beyond the vector, whatever the head says by now. */
static void test_bounds(void **state) {
    (void)state;
    struct test test;
    make(&test, 8);
    write_vector(&test, 0);
    test.setpoints->vector_bytes = test.setpoints->actuator_count = test.setpoints->vectors_offset = UINT64_MAX;
    test.values[3] = -1.0;
    assert_true(rm_setpoints_copy(test.setpoints, test.vector_bytes, &test.place, &test.reading, test.values, 3));
    assert_true(test.values[2] == 0.0 && test.values[3] == -1.0);
    test.place.next = 0;
    size_t const room = (test.vector_bytes - offsetof(struct rm_setpoint_vector, value)) / sizeof(uint64_t);
    for (size_t i = 0; i <= ACTUATORS; ++i)
        test.values[i] = -1.0;
    assert_true(copy(&test)); // for more values than there are
    for (size_t i = room; i <= ACTUATORS; ++i)
        assert_true(test.values[i] == -1.0);
    drop(&test);
}

/** Sequences that no writer makes: nothing is believed that does not belong into its buffer, and nothing hangs. */
static void test_nonsense(void **state) {
    (void)state;
    struct test test;
    make(&test, 8);
    uint64_t const words[] = {0, 1, 2, 4, 6, 8, 1ull << 62, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    size_t const count = sizeof words / sizeof words[0];
    for (size_t i = 0; i < count * count * count; ++i) {
        size_t const which[RM_SETPOINT_BUFFERS] = {i % count, i / count % count, i / count / count};
        for (size_t b = 0; b < RM_SETPOINT_BUFFERS; ++b) {
            struct rm_setpoint_vector *vector =
                (struct rm_setpoint_vector *)((uint8_t *)(test.setpoints + 1) + b * test.vector_bytes);
            atomic_store(&vector->sequence, words[which[b]]);
        }
        test.place.next = 1;
        if (copy(&test)) {
            uint64_t const sequence = words[which[test.reading.number % RM_SETPOINT_BUFFERS]];
            assert_true(test.reading.number >= 1 && sequence == 2 * test.reading.number + 2);
            assert_int_equal(test.place.next, test.reading.number + 1);
        }
        bool const fine = which[0] == 0 && which[1] == 0 && which[2] == 0;
        assert_true(!fine || !rm_setpoints_confused(test.setpoints));
    }
    drop(&test);
}

static void *write_on(void *argument) {
    struct test *test = argument;
    for (uint64_t n = 0; !atomic_load_explicit(&test->stop, memory_order_relaxed); ++n)
        write_vector(test, n);
    return NULL;
}

/** A writer at full speed laps its reader all the time. */
static void test_race(void **state) {
    (void)state;
    size_t const counts[] = {1, RM_SETPOINT_INLINE, ACTUATORS};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
        struct test test;
        make(&test, counts[c]);
        pthread_t writer;
        assert_int_equal(pthread_create(&writer, NULL, write_on, &test), 0);
        uint64_t wrong = 0, copies = 0, last = 0;
        for (int i = 0; i < COPIES || copies < ENOUGH; ++i) {
            if (!copy(&test))
                continue;
            wrong += faults(&test) + (copies > 0 && test.reading.number <= last);
            last = test.reading.number;
            ++copies;
        }
        atomic_store(&test.stop, true);
        pthread_join(writer, NULL);
        assert_int_equal(wrong, 0);
        drop(&test);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_newest),   cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_bounds),  cmocka_unit_test(test_nonsense), cmocka_unit_test(test_race),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
