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

#include "fabric/parameter_parts.h"
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

/** The same with a whole plan; the name and the shape are filled in. */
static void make_full(struct test *test, struct rm_parameter_plan plan, size_t count) {
    plan.name = "p";
    plan.rows = count;
    rm_plan_init(&test->plan);
    rm_planned_index const index = rm_plan_full_parameter(&test->plan, &plan);
    struct rm_error error;
    if (rm_plan_check(&test->plan, &error) != RM_OK)
        fail_msg("%s", error.text);
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
    assert_true(isnan(rm_parameter_read_f64(test.parameter)));
    rm_parameter_write_f64(test.parameter, 4.0, (struct rm_stamp){rm_tai_ns(), 5}); // the next owner
    assert_int_equal(rm_parameter_read(test.parameter, &value, sizeof value, &reading), sizeof value);
    assert_true(value == 4.0);
    drop(&test);
}

static struct rm_limits const ALARMS = {.display_low = NAN,
                                        .display_high = NAN,
                                        .control_low = NAN,
                                        .control_high = NAN,
                                        .minor_low = -5.0,
                                        .minor_high = 5.0,
                                        .major_low = -8.0,
                                        .major_high = 8.0,
                                        .hysteresis = 0.5};

static enum rm_severity severity(struct test const *test) {
    struct rm_parameter_reading reading;
    double value;
    assert_int_not_equal(rm_parameter_read(test->parameter, &value, sizeof value, &reading), 0);
    return reading.severity;
}

static enum rm_severity after(struct test *test, double value) {
    rm_parameter_write_f64(test->parameter, value, (struct rm_stamp){1, 2});
    return severity(test);
}

static void test_severities(void **state) {
    (void)state;
    struct test test;
    make_full(&test, (struct rm_parameter_plan){.type = RM_ELEMENT_F64, .limits = &ALARMS}, 1);
    assert_true(test.parameter->flags & RM_PARAMETER_ALARMS);
    double const values[] = {5.0, 5.1, 4.6, 4.5, 8.1, 7.6, 7.5, 4.6, 0.0, -5.1, -8.1, -7.6, -4.4, INFINITY, NAN, 4.6};
    enum rm_severity const severities[] = {0, 1, 1, 0, 2, 2, 1, 1, 0, 1, 2, 2, 0, 2, 3, 0};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i)
        if (after(&test, values[i]) != severities[i])
            fail_msg("%g: severity %d, expected %d", values[i], severity(&test), severities[i]);
    drop(&test);
}

static void test_invalid(void **state) {
    (void)state;
    struct test test;
    make_full(&test, (struct rm_parameter_plan){.type = RM_ELEMENT_F64}, 1);
    assert_false(test.parameter->flags & RM_PARAMETER_ALARMS);
    assert_int_equal(after(&test, 1e300), RM_SEVERITY_NONE);
    assert_int_equal(after(&test, NAN), RM_SEVERITY_INVALID);
    assert_int_equal(after(&test, 7.0), RM_SEVERITY_NONE);
    rm_parameter_invalidate(test.parameter, (struct rm_stamp){3, 4});
    assert_int_equal(severity(&test), RM_SEVERITY_INVALID);
    assert_true(rm_parameter_read_f64(test.parameter) == 7.0);
    assert_int_equal(atomic_load(&test.parameter->turn), 4);
    assert_int_equal(after(&test, 7.0), RM_SEVERITY_NONE);
    drop(&test);
}

/** The worst element counts, wherever it stands and whatever its type. */
static void test_arrays_are_judged(void **state) {
    (void)state;
    enum rm_element_type const types[] = {RM_ELEMENT_F64, RM_ELEMENT_F32, RM_ELEMENT_I64, RM_ELEMENT_I32};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        struct test test;
        make_full(&test, (struct rm_parameter_plan){.type = types[t], .limits = &ALARMS}, VALUES);
        size_t const each = rm_element_bytes(types[t]);
        for (size_t i = 0; i < VALUES; ++i) {
            uint8_t values[VALUES * 8] = {0};
            rm_element_put(types[t], values + i * each, -9.0);
            rm_element_put(types[t], values + (VALUES - 1 - i) * each, i == VALUES / 2 ? -9.0 : 6.0);
            rm_parameter_write(test.parameter, values, VALUES * each, (struct rm_stamp){0, 0});
            assert_int_equal(severity(&test), RM_SEVERITY_MAJOR);
            memset(values, 0, sizeof values);
            rm_parameter_write(test.parameter, values, VALUES * each, (struct rm_stamp){0, 0});
            assert_int_equal(severity(&test), RM_SEVERITY_NONE);
        }
        drop(&test);
    }
}

/** A part changes nothing beside it, wherever it begins and ends, and the whole is judged. */
static void test_parts(void **state) {
    (void)state;
    enum rm_element_type const types[] = {RM_ELEMENT_U8, RM_ELEMENT_F32, RM_ELEMENT_U64};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        size_t const each = rm_element_bytes(types[t]), bytes = VALUES * each;
        for (size_t from = 0; from <= bytes; ++from)
            for (size_t length = 0; length <= bytes + 3 - from; ++length) {
                struct test test;
                make_full(&test, (struct rm_parameter_plan){.type = types[t]}, VALUES);
                uint8_t expected[VALUES * 8 + 8], part[VALUES * 8 + 8], got[VALUES * 8];
                memset(expected, 0x11, sizeof expected);
                memset(part, 0x22, sizeof part);
                rm_parameter_write(test.parameter, expected, bytes, (struct rm_stamp){0, 0});
                rm_parameter_write_part(test.parameter, from, part, length, (struct rm_stamp){0, 0});
                memcpy(expected + from, part, length);
                struct rm_parameter_reading reading;
                assert_int_equal(rm_parameter_read(test.parameter, got, bytes, &reading), bytes);
                assert_memory_equal(got, expected, bytes);
                drop(&test);
            }
    }
}

/** One double is read and written whatever the type, brought into what the type can hold. */
static void test_doubles_of_other_types(void **state) {
    (void)state;
    struct {
        enum rm_element_type type;
        double written, read;
    } const cases[] = {
        {RM_ELEMENT_F32, 0.5, 0.5},       {RM_ELEMENT_I32, -2.6, -3.0},   {RM_ELEMENT_I32, 1e20, 0x1p31 - 1},
        {RM_ELEMENT_I32, -1e20, -0x1p31}, {RM_ELEMENT_U32, -1.0, 0.0},    {RM_ELEMENT_U32, 1e20, 0x1p32 - 1},
        {RM_ELEMENT_U8, 300.0, 255.0},    {RM_ELEMENT_I64, 1e30, 0x1p63}, {RM_ELEMENT_I64, -1e30, -0x1p63},
        {RM_ELEMENT_U64, 1e30, 0x1p64},   {RM_ELEMENT_I64, NAN, 0.0},     {RM_ELEMENT_U64, 12.0, 12.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (size_t count = 1; count <= 100; count += 99) {
            struct test test;
            make_full(&test, (struct rm_parameter_plan){.type = cases[i].type}, count);
            rm_parameter_write_f64(test.parameter, cases[i].written, (struct rm_stamp){0, 0});
            if (rm_parameter_read_f64(test.parameter) != cases[i].read)
                fail_msg("type %d: %g gave %g", (int)cases[i].type, cases[i].written,
                         rm_parameter_read_f64(test.parameter));
            drop(&test);
        }
    struct test test;
    make_full(&test, (struct rm_parameter_plan){.type = RM_ELEMENT_F64}, 100);
    rm_parameter_write_f64(test.parameter, 1.5, (struct rm_stamp){0, 0});
    assert_true(rm_parameter_read_f64(test.parameter) == 1.5);
    drop(&test);
}

/** What the next owner finds of a change that was not ended. */
static void test_healing(void **state) {
    (void)state;
    struct test test;
    make_full(&test, (struct rm_parameter_plan){.type = RM_ELEMENT_F64, .limits = &ALARMS}, 1);
    rm_parameter_write_f64(test.parameter, 1.0, (struct rm_stamp){0, 0});
    rm_sequence_begin(&test.parameter->sequence);
    union {
        double number;
        uint64_t bits;
    } const seven = {7.0};
    atomic_store(&test.parameter->value[0], seven.bits);
    rm_parameter_heal(test.parameter);
    assert_true(rm_parameter_read_f64(test.parameter) == 7.0);
    assert_int_equal(severity(&test), RM_SEVERITY_MINOR); // one word is old or new, and judged as what it is
    rm_parameter_heal(test.parameter);
    assert_int_equal(atomic_load(&test.parameter->sequence), 4); // there was nothing to heal
    drop(&test);
    make_full(&test, (struct rm_parameter_plan){.type = RM_ELEMENT_F64}, 2);
    rm_sequence_begin(&test.parameter->sequence);
    rm_parameter_heal(test.parameter);
    assert_int_equal(severity(&test), RM_SEVERITY_INVALID); // some of the old and some of the new, perhaps
    drop(&test);
}

static void assert_refused(struct rm_parameter_plan plan, char const *word) {
    struct rm_segment_plan segment;
    struct rm_error error = {.text = ""};
    rm_plan_init(&segment);
    plan.name = "p";
    plan.rows = plan.rows ? plan.rows : 1;
    rm_plan_full_parameter(&segment, &plan);
    assert_int_equal(rm_plan_check(&segment, &error), RM_E_ARGUMENT);
    if (strstr(error.text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    rm_plan_free(&segment);
}

static void test_plans_that_contradict_themselves(void **state) {
    (void)state;
    struct rm_limits limits = ALARMS;
    limits.minor_low = 6.0;
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64, .limits = &limits}, "minor");
    limits = ALARMS;
    limits.hysteresis = -1.0;
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64, .limits = &limits}, "hysteresis");
    limits.hysteresis = NAN;
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64, .limits = &limits}, "hysteresis");
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64, .group = "none"}, "group");
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_RECORD}, "element type");
    assert_refused((struct rm_parameter_plan){.type = 77}, "element type");
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64, .rows = SIZE_MAX, .columns = 2}, "elements");
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64,
                                              .conversion = &(struct rm_conversion){.unit = "T", .c = {0, 0, 1, 0}}},
                   "gone back");
    struct rm_conversion endless = {.c = {0, 1, 0, 0}};
    memset(endless.unit, 'u', sizeof endless.unit);
    assert_refused((struct rm_parameter_plan){.type = RM_ELEMENT_F64, .conversion = &endless}, "other unit");
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
        cmocka_unit_test(test_fresh),      cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_one_double), cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_concurrent), cmocka_unit_test(test_severities),
        cmocka_unit_test(test_invalid),    cmocka_unit_test(test_arrays_are_judged),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_doubles_of_other_types),
        cmocka_unit_test(test_healing),    cmocka_unit_test(test_plans_that_contradict_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
