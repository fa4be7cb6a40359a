// SPDX-License-Identifier: Apache-2.0
/** Parameters: values of every width, and arrays that are whole while they are written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/segment_objects.h"
#include "fabric/sequence_lock.h"
#include <ringmaster/parameter.h>

enum { VALUES = 5, READINGS = 200000 };

/** A segment in private memory that holds one parameter. */
struct test {
    struct rm_segment_header *header;
    struct rm_segment_plan plan;
    struct rm_parameter *parameter;
};

static void make(struct test *test, enum rm_element_type type, size_t count, struct rm_limits const *limits) {
    rm_plan_init(&test->plan);
    rm_planned_index const index = rm_plan_parameter(&test->plan, "p", "mm", "some", type, count, limits);
    uint64_t const bytes = rm_plan_layout(&test->plan);
    test->header = aligned_alloc(RM_PAGE_BYTES, bytes);
    assert_non_null(test->header);
    memset(test->header, 0, bytes);
    rm_objects_begin(test->header, &test->plan, "server", bytes);
    test->parameter = (struct rm_parameter *)((uint8_t *)test->header + test->plan.planned[index].object.offset);
}

static void drop(struct test *test) {
    rm_plan_free(&test->plan);
    free(test->header);
}

static void test_fresh(void **state) {
    (void)state;
    struct test test;
    make(&test, RM_ELEMENT_F64, 1, NULL);
    double value = 1.0;
    struct rm_parameter_reading reading;
    assert_int_equal(rm_parameter_read(test.parameter, &value, sizeof value, &reading), sizeof value);
    assert_true(value == 0.0);
    assert_int_equal(reading.sequence, 0); // never set
    assert_int_equal(reading.turn, RM_TURN_NONE);
    assert_true(isnan(test.parameter->limits.control_high));
    drop(&test);

    struct rm_limits const limits = {.control_low = -1.0, .control_high = 1.0};
    make(&test, RM_ELEMENT_F64, 1, &limits);
    assert_memory_equal(&test.parameter->limits, &limits, sizeof limits);
    drop(&test);
}

static void test_round_trip(void **state) {
    (void)state;
    enum rm_element_type const types[] = {RM_ELEMENT_F64, RM_ELEMENT_F32, RM_ELEMENT_I64, RM_ELEMENT_I32,
                                          RM_ELEMENT_U64, RM_ELEMENT_U32, RM_ELEMENT_U8};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        struct test test;
        make(&test, types[i], VALUES, NULL);
        size_t const bytes = VALUES * rm_element_bytes(types[i]);
        uint8_t written[VALUES * 8], read[VALUES * 8 + 1];
        for (size_t at = 0; at < sizeof written; ++at)
            written[at] = (uint8_t)(17 * at + 1);
        rm_parameter_write(test.parameter, written, sizeof written,
                           (struct rm_stamp){rm_tai_ns(), 77}); // more than fits is cut
        struct rm_parameter_reading reading;
        memset(read, 0xEE, sizeof read);
        assert_int_equal(rm_parameter_read(test.parameter, read, sizeof read, &reading), bytes);
        assert_memory_equal(read, written, bytes);
        assert_int_equal(read[bytes], 0xEE);
        assert_int_equal(reading.turn, 77);
        assert_int_equal(reading.sequence, 2);
        assert_true(reading.timestamp_tai_ns > 0);

        memset(read, 0xEE, sizeof read);
        assert_int_equal(rm_parameter_read(test.parameter, read, 3, &reading), bytes); // less is asked for
        assert_memory_equal(read, written, 3);
        assert_int_equal(read[3], 0xEE);
        drop(&test);
    }
}

static void test_one_double(void **state) {
    (void)state;
    struct test test;
    make(&test, RM_ELEMENT_F64, 1, NULL);
    rm_parameter_write_f64(test.parameter, -0.27, rm_stamp_now());
    rm_parameter_write_f64(test.parameter, 0.27, rm_stamp_now());
    double value;
    struct rm_parameter_reading reading;
    assert_int_equal(rm_parameter_read(test.parameter, &value, sizeof value, &reading), sizeof value);
    assert_true(value == 0.27);
    assert_int_equal(reading.sequence, 4);
    drop(&test);
}

static void test_killed_writer(void **state) {
    (void)state;
    struct test test;
    make(&test, RM_ELEMENT_F64, 1, NULL);
    double value;
    struct rm_parameter_reading reading;
    rm_sequence_begin(&test.parameter->sequence);
    assert_int_equal(rm_parameter_read(test.parameter, &value, sizeof value, &reading), 0);
    rm_parameter_write_f64(test.parameter, 4.0, (struct rm_stamp){rm_tai_ns(), 5}); // the next owner
    assert_int_equal(rm_parameter_read(test.parameter, &value, sizeof value, &reading), sizeof value);
    assert_true(value == 4.0);
    drop(&test);
}

struct race {
    struct test test;
    _Atomic bool stop;
};

static void *write_values(void *argument) {
    struct race *race = argument;
    for (uint64_t i = 1; !atomic_load_explicit(&race->stop, memory_order_relaxed); ++i) {
        uint64_t values[VALUES];
        for (uint64_t v = 0; v < VALUES; ++v)
            values[v] = i * (v + 1);
        rm_parameter_write(race->test.parameter, values, sizeof values, (struct rm_stamp){0, i});
    }
    return NULL;
}

static void test_concurrent(void **state) {
    (void)state;
    struct race race = {.stop = false};
    make(&race.test, RM_ELEMENT_U64, VALUES, NULL);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_values, &race), 0);
    uint64_t wrong = 0, changes = 0, last = 0;
    for (int i = 0; i < READINGS || changes < 100; ++i) {
        uint64_t values[VALUES];
        struct rm_parameter_reading reading;
        wrong += rm_parameter_read(race.test.parameter, values, sizeof values, &reading) != sizeof values;
        wrong += reading.sequence % 2 + (reading.sequence < last);
        changes += reading.sequence != last;
        last = reading.sequence;
        for (uint64_t v = 0; v < VALUES && last > 0; ++v)
            wrong += values[v] != reading.turn * (v + 1) || reading.sequence != 2 * reading.turn;
    }
    atomic_store(&race.stop, true);
    pthread_join(writer, NULL);
    assert_int_equal(wrong, 0);
    drop(&race.test);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_fresh),         cmocka_unit_test(test_round_trip), cmocka_unit_test(test_one_double),
        cmocka_unit_test(test_killed_writer), cmocka_unit_test(test_concurrent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
