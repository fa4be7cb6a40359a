// SPDX-License-Identifier: Apache-2.0
/** Groups: parameters that change together, read together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/segment_objects.h"
#include "fabric/sequence_lock.h"
#include <ringmaster/group.h>

enum { MEMBERS = 3, READINGS = 100000, ENOUGH = 100 };

struct test {
    struct rm_segment_header *header;
    struct rm_segment_plan plan;
    struct rm_group *group;
    struct rm_parameter *member[MEMBERS];
    _Atomic bool stop;
};

static void *memory(struct test *test, rm_planned_index index) {
    return (uint8_t *)test->header + test->plan.planned[index].object.offset;
}

static void make(struct test *test) {
    static char const *const NAMES[MEMBERS] = {"kp", "ki", "kd"};
    *test = (struct test){.stop = false};
    rm_plan_init(&test->plan);
    rm_planned_index const group = rm_plan_group(&test->plan, "gains", "change together");
    rm_planned_index member[MEMBERS];
    for (size_t i = 0; i < MEMBERS; ++i)
        member[i] = rm_plan_full_parameter(
            &test->plan,
            &(struct rm_parameter_plan){.name = NAMES[i], .type = RM_ELEMENT_F64, .rows = 1, .group = "gains"});
    assert_int_equal(rm_plan_check(&test->plan, NULL), RM_OK);
    uint64_t const bytes = rm_plan_layout(&test->plan);
    test->header = aligned_alloc(RM_PAGE_BYTES, bytes);
    assert_non_null(test->header);
    memset(test->header, 0, bytes);
    rm_objects_begin(test->header, &test->plan, "server", bytes);
    test->group = memory(test, group);
    for (size_t i = 0; i < MEMBERS; ++i)
        test->member[i] = memory(test, member[i]);
}

static void drop(struct test *test) {
    rm_plan_free(&test->plan);
    free(test->header);
}

static void change(struct test *test, uint64_t n) {
    struct rm_stamp const stamp = {n, n};
    rm_group_begin(test->group);
    for (size_t i = 0; i < MEMBERS; ++i)
        rm_parameter_write_f64(test->member[i], (double)n, stamp);
    rm_group_commit(test->group, stamp);
}

static void test_group(void **state) {
    (void)state;
    struct test test;
    make(&test);
    assert_int_equal(test.group->member_count, MEMBERS);
    assert_string_equal(test.member[1]->group, "gains");
    uint64_t seen;
    assert_true(rm_group_enter(test.group, &seen));
    assert_true(rm_group_leave(test.group, seen));
    change(&test, 7);
    assert_false(rm_group_leave(test.group, seen));
    assert_int_equal(atomic_load(&test.group->sequence), 2);
    assert_int_equal(atomic_load(&test.group->turn), 7);
    assert_int_equal(atomic_load(&test.group->timestamp_tai_ns), 7);
    rm_group_begin(test.group);
    assert_false(rm_group_enter(test.group, &seen)); // killed there
    change(&test, 8);                                // the next owner
    assert_true(rm_group_enter(test.group, &seen));
    drop(&test);
}

static void *write_on(void *argument) {
    struct test *test = argument;
    for (uint64_t n = 1; !atomic_load_explicit(&test->stop, memory_order_relaxed); ++n)
        change(test, n);
    return NULL;
}

static void test_never_a_mixture(void **state) {
    (void)state;
    struct test test;
    make(&test);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_on, &test), 0);
    uint64_t mixed = 0, backwards = 0, changes = 0;
    double last = 0.0;
    for (int i = 0; i < READINGS || changes < ENOUGH; ++i) {
        double value[MEMBERS];
        uint64_t seen;
        do {
            assert_true(rm_group_enter(test.group, &seen));
            for (size_t m = 0; m < MEMBERS; ++m)
                value[m] = rm_parameter_read_f64(test.member[m]);
        } while (!rm_group_leave(test.group, seen));
        mixed += value[0] != value[1] || value[0] != value[2] || seen != 2 * (uint64_t)value[0];
        backwards += value[0] < last;
        changes += value[0] != last;
        last = value[0];
    }
    atomic_store(&test.stop, true);
    pthread_join(writer, NULL);
    assert_int_equal(mixed, 0);
    assert_int_equal(backwards, 0);
    drop(&test);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_never_a_mixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
