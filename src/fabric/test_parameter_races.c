// SPDX-License-Identifier: Apache-2.0
/** Parameters between a writer at full speed and readers: no value of two changes at once, no stamp of another one; and
 * a writer that is killed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/parameter_parts.h"
#include "fabric/segment_objects.h"
#include <ringmaster/parameter.h>

enum { LONG = 500, READINGS = 100000, ENOUGH = 100, KILLS = 200 };

/** A segment that holds one parameter of doubles, in memory that a child shares. */
struct test {
    struct rm_segment_header *header;
    uint64_t bytes;
    struct rm_segment_plan plan;
    struct rm_parameter *parameter;
    size_t count;
    _Atomic bool stop;
};

static void make(struct test *test, size_t count) {
    *test = (struct test){.count = count};
    rm_plan_init(&test->plan);
    rm_planned_index const index = rm_plan_parameter(&test->plan, "p", "", "", RM_ELEMENT_F64, count, NULL);
    test->bytes = rm_plan_layout(&test->plan);
    test->header = mmap(NULL, test->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(test->header != MAP_FAILED);
    rm_objects_begin(test->header, &test->plan, "server", test->bytes);
    test->parameter = (struct rm_parameter *)((uint8_t *)test->header + test->plan.planned[index].object.offset);
}

static void drop(struct test *test) {
    rm_plan_free(&test->plan);
    munmap(test->header, test->bytes);
}

/** Change n: all values are multiples of n, in the turn n, at the time n. */
static void change(struct test *test, uint64_t n) {
    double values[LONG];
    for (size_t i = 0; i < test->count; ++i)
        values[i] = (double)(n * (i + 1));
    rm_parameter_write(test->parameter, values, test->count * sizeof values[0], (struct rm_stamp){n, n});
}

static void *write_on(void *argument) {
    struct test *test = argument;
    for (uint64_t n = 1; !atomic_load_explicit(&test->stop, memory_order_relaxed); ++n)
        change(test, n);
    return NULL;
}

/** Number of things that are wrong in one reading. */
static uint64_t faults_of(struct test const *test, double const *values, struct rm_parameter_reading const *reading) {
    uint64_t faults = 0;
    for (size_t i = 0; i < test->count; ++i)
        faults += values[i] != (double)(reading->turn * (i + 1));
    return faults + (reading->timestamp_tai_ns != reading->turn) + (reading->sequence != 2 * reading->turn);
}

static void race(size_t count) {
    struct test test;
    make(&test, count);
    change(&test, 0);
    atomic_store(&test.parameter->sequence, 0); // change 0 was none
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_on, &test), 0);
    uint64_t wrong = 0, changes = 0, last = 0;
    double before = 0.0;
    for (int i = 0; i < READINGS || changes < ENOUGH; ++i) {
        double values[LONG];
        struct rm_parameter_reading reading;
        size_t const bytes = rm_parameter_read(test.parameter, values, sizeof values, &reading);
        double const one = rm_parameter_read_f64(test.parameter);
        if (bytes == 0 || isnan(one))
            continue; // the writer lost its core inside, on a busy machine; it lives
        wrong += bytes != count * sizeof(double);
        wrong += faults_of(&test, values, &reading) + (reading.sequence < last);
        changes += reading.sequence != last;
        last = reading.sequence;
        wrong += !(one >= before) || !(one >= values[0]); // a later reading is of a later change
        before = one;
    }
    atomic_store(&test.stop, true);
    pthread_join(writer, NULL);
    assert_int_equal(wrong, 0);
    drop(&test);
}

static void test_four_doubles(void **state) {
    (void)state;
    race(RM_PARAMETER_INLINE_BYTES / 8);
}

static void test_long_array(void **state) {
    (void)state;
    race(LONG);
}

static pid_t fork_writer(struct test *test) {
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0)
        write_on(test);
    return child;
}

/** A process is killed somewhere in its changes. A reader then gets a whole change or none at all, and never waits
 * for long; the next writer ends it. */
static void test_killed_writers(void **state) {
    (void)state;
    struct test test;
    make(&test, LONG);
    int inside = 0;
    for (int i = 0; i < KILLS; ++i) {
        rm_parameter_heal(test.parameter);
        atomic_store(&test.parameter->sequence, 0);
        pid_t const child = fork_writer(&test);
        while (atomic_load_explicit(&test.parameter->sequence, memory_order_relaxed) < 10)
            ;
        usleep((useconds_t)(rand() % 300));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        double values[LONG];
        struct rm_parameter_reading reading;
        bool const killed_inside = atomic_load(&test.parameter->sequence) & 1;
        if (killed_inside && inside++ >= 2)
            continue; // each takes a tenth of a second
        size_t const bytes = rm_parameter_read(test.parameter, values, sizeof values, &reading);
        assert_int_equal(bytes, killed_inside ? 0 : sizeof values);
        assert_true(isnan(rm_parameter_read_f64(test.parameter)) == killed_inside);
        if (!killed_inside)
            assert_int_equal(faults_of(&test, values, &reading), 0);
    }
    assert_true(inside > 0); // of 200 kills of a process that does nothing else
    drop(&test);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_four_doubles),
        cmocka_unit_test(test_long_array),
        cmocka_unit_test(test_killed_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
