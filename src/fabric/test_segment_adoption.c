// SPDX-License-Identifier: Apache-2.0
/** One owner after another: which may have a segment, what the next owner keeps, and what attached readers see. */
#include "fabric/clock_writer.h"
#include "fabric/segment_lock.h"
#include "fabric/stream_writer.h"
#include "fabric/test_segment_steps.h"
#include <ringmaster/parameter.h>

static void put(struct rm_stream_writer *writer, rm_turn turn, int32_t value) {
    struct rm_record record = {.turn = turn, .lane = {{.i = value}}};
    rm_stream_writer_put(writer, &record);
    rm_stream_writer_publish(writer, 0);
}

static void test_busy(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, start_server);
    struct rm_segment second;
    assert_int_equal(rm_segment_open("demo", "server", &test->owner.plan, &second, &test->error), RM_E_BUSY);
    char process[32];
    snprintf(process, sizeof process, "process %ld owns", (long)child);
    assert_non_null(strstr(test->error.text, process));
    rm_workspace_detach(attach(test, 0)); // and the first one was not disturbed
    kill_owner(child);
    start_server(test);
    assert_true(test->segment.adopted);
}

/** A successor has the lock, and has not touched the segment yet: nobody takes the dead owner's numbers for its. */
static void test_not_yet_adopted(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, start_server);
    struct rm_workspace *reader = attach(test, 0);
    char directory[PATH_MAX];
    path_of(test, "", directory);
    assert_true(rm_workspace_alive(reader));
    kill_owner(child);
    int file;
    assert_ok(rm_segment_lock_take(directory, "server", &file, &test->error), &test->error);
    assert_false(rm_workspace_alive(reader));
    assert_refused(test, RM_E_HALF_MADE, "starting just now", NULL);
    assert_ok(rm_segment_lock_tell(directory, file, &test->error), &test->error);
    assert_true(rm_workspace_alive(reader));
    close(file);
    assert_false(rm_workspace_alive(reader));
    rm_workspace_detach(reader);
}

/** What the first server of the adoption tests leaves behind. */
static void serve(struct segment_test *test) {
    start_server(test);
    struct rm_stream_writer writer;
    assert_true(rm_stream_writer_open(&writer, memory(test, test->owner.stream), 100));
    for (rm_turn turn = 50; turn < 100; ++turn)
        put(&writer, turn, 1);
    struct rm_clock_reading const reading = {.anchored = true, .turn = 99, .tsc_hz = 1e9, .ticks_per_turn = 1000.0};
    rm_clock_publish(memory(test, test->owner.clock), &reading);
    double const gains[3] = {1.0, 2.0, 3.0};
    rm_parameter_write(memory(test, test->owner.parameter), gains, sizeof gains, (struct rm_stamp){0, 99});
    rm_counter_add(memory(test, test->owner.counters), RM_PORT_RECEIVED, 50);
    rm_histogram_add(memory(test, test->owner.histogram), 1234, 1);
    rm_stream_writer_close(&writer);
}

static void test_adoption(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, serve);
    struct rm_workspace *reader = attach(test, 0);
    kill_owner(child);

    start_server(test);
    assert_true(test->segment.adopted);
    assert_int_equal(atomic_load(&test->segment.header->generation), 2);
    assert_int_equal(test->segment.header->owner_pid, getpid());
    assert_true(rm_workspace_alive(reader));

    struct rm_stream_view view;
    struct rm_record record;
    assert_ok(rm_workspace_stream(reader, "bpm01/turn", &view, &test->error), &test->error);
    assert_int_equal(rm_stream_read(&view, 99, &record), RM_READ_OK);
    assert_int_equal(record.lane[0].i, 1);
    struct rm_stream_writer writer;
    assert_true(rm_stream_writer_open(&writer, memory(test, test->owner.stream), 100));
    put(&writer, 120, 2);
    assert_int_equal(rm_stream_read(&view, 120, &record), RM_READ_OK); // the old mapping sees what is new
    assert_int_equal(record.lane[0].i, 2);
    assert_int_equal(rm_stream_read(&view, 99, &record), RM_READ_OK);
    assert_int_equal(rm_stream_read(&view, 110, &record), RM_READ_MISSING);
    rm_stream_writer_close(&writer);
    rm_workspace_detach(reader);
}

/** A reader that came in between would take the generation of the dead one for that of its successor. */
static void a_server_that_adopts_is_not_there_before_it_has_finished(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, serve);
    struct rm_workspace *reader = attach(test, 0);
    kill_owner(child);
    assert_refused(test, RM_E_DEAD, "has died", NULL);
    open_server(test);
    assert_true(test->segment.adopted);
    assert_false(rm_workspace_alive(reader));
    assert_refused(test, RM_E_HALF_MADE, "\"demo\" is starting just now", NULL);
    rm_segment_finish(&test->segment);
    assert_true(rm_workspace_alive(reader));
    rm_workspace_detach(attach(test, 0));
    rm_workspace_detach(reader);
}

static void const *find(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *found = NULL;
    struct rm_error error;
    assert_ok(rm_workspace_find(workspace, kind, name, &object, &found, &error), &error);
    return found;
}

/** Everything but the streams begins anew, and a reader that is attached gets whole values before and after. */
static void test_adoption_renews(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, serve);
    kill_owner(child);
    struct rm_workspace *reader = attach(test, RM_ATTACH_DEAD);
    struct rm_parameter const *gains = find(reader, RM_OBJECT_PARAMETER, "ring/gains");
    struct rm_clock const *clock = find(reader, RM_OBJECT_CLOCK, "clock");
    rm_counter const *counters = find(reader, RM_OBJECT_COUNTERS, "counters/port/ring");
    struct rm_histogram const *histogram = find(reader, RM_OBJECT_HISTOGRAM, "latency/ring");
    struct rm_parameter_reading first, second;
    struct rm_clock_reading reading;
    double values[3];
    assert_int_equal(rm_parameter_read(gains, values, sizeof values, &first), sizeof values);
    assert_true(values[2] == 3.0);
    assert_int_equal(first.turn, 99);
    assert_true(rm_clock_read(clock, &reading) && reading.anchored);
    assert_int_equal(rm_counter_get(counters, RM_PORT_RECEIVED), 50);
    assert_int_equal(atomic_load(&histogram->total), 1);

    start_server(test);
    assert_int_equal(rm_parameter_read(gains, values, sizeof values, &second), sizeof values);
    assert_true(values[2] == 0.0);
    assert_int_equal(second.turn, RM_TURN_NONE);
    assert_int_equal(second.sequence, first.sequence + 2); // a change like any other: it cannot be missed
    assert_true(rm_clock_read(clock, &reading));
    assert_false(reading.anchored);
    assert_int_equal(rm_counter_get(counters, RM_PORT_RECEIVED), 0);
    assert_int_equal(atomic_load(&histogram->total), 0);
    assert_int_equal(atomic_load(&histogram->bucket[rm_histogram_index(1234)]), 0);
    rm_workspace_detach(reader);
}

static void test_replacement(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    struct rm_workspace *reader = attach(test, 0);
    struct rm_object const *object = rm_workspace_object(reader, 0, NULL);
    rm_segment_close(&test->segment);
    rm_plan_free(&test->owner.plan);
    test_plan_make(&test->owner, 2 * TEST_CAPACITY);
    start_server(test);
    assert_false(test->segment.adopted);
    assert_int_equal(atomic_load(&test->segment.header->generation), 1);
    assert_string_equal(object->name, "stream/bpm01/turn"); // the old mapping stays
    assert_int_equal(object->shape[0], TEST_CAPACITY);
    assert_false(rm_workspace_alive(reader)); // but says that it is of the past
    rm_workspace_detach(reader);
    reader = attach(test, 0);
    assert_int_equal(rm_workspace_object(reader, 0, NULL)->shape[0], 2 * TEST_CAPACITY);
    rm_workspace_detach(reader);
}

/** A directory that has the right hash and the wrong content is not adopted: a server would crash on it. */
static void test_damaged_segment_is_not_adopted(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    ((struct rm_stream *)memory(test, test->owner.stream))->capacity = 1u << 30;
    rm_segment_close(&test->segment);
    start_server(test);
    assert_false(test->segment.adopted);
    assert_int_equal(((struct rm_stream *)memory(test, test->owner.stream))->capacity, TEST_CAPACITY);
    char path[PATH_MAX];
    path_of(test, "server.segment", path);
    bool const huge = test->segment.huge;
    rm_segment_close(&test->segment);
    assert_int_equal(truncate(path, huge ? 0 : RM_PAGE_BYTES), 0); // huge pages cannot be cut
    start_server(test);
    assert_false(test->segment.adopted);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_busy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_yet_adopted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_adopts_is_not_there_before_it_has_finished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption_renews, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replacement, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_segment_is_not_adopted, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
