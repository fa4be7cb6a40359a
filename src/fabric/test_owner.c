// SPDX-License-Identifier: Apache-2.0
/** Owners by the public interface: what they add, what the next one of the same name finds, and requesters. */
#include "fabric/test_segment_steps.h"

#include <math.h>
#include <sys/stat.h>

#include <ringmaster/group.h>
#include <ringmaster/owner.h>
#include <ringmaster/request.h>
#include <ringmaster/setpoint.h>

#include "fabric/owner_folder.h"
#include "fabric/owner_names.h"
#include "fabric/owner_parts.h"
#include "fabric/segment_lock.h"
#include "fabric/sequence_lock.h"

enum { ACTUATORS = 8 };

/** An application's objects. */
struct application {
    struct rm_owner *owner;
    rm_owner_index group, slope, gains, current, vectors, counters, histogram, requests, replies;
};

static struct application plan(char const *name, double high) {
    struct application made = {0};
    struct rm_error error;
    assert_ok(rm_owner_new("demo", name, &made.owner, &error), &error);
    struct rm_limits const limits = {NAN, NAN, -1.0, high, NAN, NAN, NAN, NAN, 0.0};
    struct rm_parameter_plan parameter = {.name = "ramp/slope",
                                          .unit = "A/s",
                                          .type = RM_ELEMENT_F64,
                                          .rows = 1,
                                          .limits = &limits,
                                          .flags = RM_PARAMETER_WRITABLE | RM_PARAMETER_SETTING,
                                          .group = "ramp/settings"};
    made.group = rm_owner_group(made.owner, "ramp/settings", "all of them");
    made.slope = rm_owner_parameter(made.owner, &parameter);
    parameter.name = "ramp/gains";
    parameter.rows = 4;
    parameter.columns = 3;
    made.gains = rm_owner_parameter(made.owner, &parameter);
    parameter = (struct rm_parameter_plan){.name = "ramp/current", .unit = "A", .type = RM_ELEMENT_F64, .rows = 1};
    made.current = rm_owner_parameter(made.owner, &parameter);
    made.vectors = rm_owner_setpoints(made.owner, "setpoints/ramp", "what it wants", ACTUATORS);
    made.counters =
        rm_owner_counters(made.owner, "counters/application/ramp", "its counts", RM_COUNTER_SET_APPLICATION, 4);
    made.histogram = rm_owner_histogram(made.owner, "latency/ramp", "its latency", "ticks");
    made.requests = rm_owner_requests(made.owner);
    made.replies = rm_owner_replies(made.owner);
    return made;
}

static struct application start(char const *name) {
    struct application made = plan(name, 10.0);
    struct rm_error error;
    assert_ok(rm_owner_open(made.owner, &error), &error);
    return made;
}

static void write_vector(struct application *application, uint64_t grant_number) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(rm_owner_memory(application->owner, application->vectors));
    for (size_t i = 0; i < ACTUATORS; ++i)
        rm_setpoints_put(vector, i, (double)i);
    rm_setpoints_commit(vector, grant_number, 0, 0);
}

static void test_objects(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    struct application ramp = start("ramp");
    assert_false(rm_owner_adopted(ramp.owner));
    assert_int_equal(atomic_load(&rm_owner_header(ramp.owner)->generation), 1);
    struct rm_parameter *slope = rm_owner_find(ramp.owner, "ramp/slope");
    assert_ptr_equal(slope, rm_owner_memory(ramp.owner, ramp.slope));
    assert_string_equal(slope->owner, "ramp");
    assert_string_equal(slope->group, "ramp/settings");
    assert_null(rm_owner_find(ramp.owner, "ramp/none"));
    assert_null(rm_owner_find(ramp.owner, "ramp/settings")); // a group is no parameter
    assert_null(rm_owner_memory(ramp.owner, 1000));
    assert_int_equal(((struct rm_group *)rm_owner_memory(ramp.owner, ramp.group))->member_count, 2);

    struct rm_workspace *workspace = attach(test, 0);
    struct rm_object const *object;
    void const *memory;
    rm_parameter_write_f64(slope, 2.5, rm_stamp_now());
    assert_ok(rm_workspace_find(workspace, RM_OBJECT_PARAMETER, "ramp/slope", &object, &memory, &test->error),
              &test->error);
    assert_true(rm_parameter_read_f64(memory) == 2.5);
    assert_ok(rm_workspace_find(workspace, RM_OBJECT_PARAMETER, "ramp/gains", &object, &memory, &test->error),
              &test->error);
    assert_int_equal(object->shape[0], 4);
    assert_int_equal(object->shape[1], 3);
    enum rm_object_kind const kinds[] = {RM_OBJECT_GROUP,   RM_OBJECT_SETPOINTS, RM_OBJECT_REQUESTS,
                                         RM_OBJECT_REPLIES, RM_OBJECT_COUNTERS,  RM_OBJECT_HISTOGRAM};
    char const *const names[] = {
        "ramp/settings", "setpoints/ramp", "ramp/requests", "ramp/replies", "counters/application/ramp",
        "latency/ramp"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
        assert_ok(rm_workspace_find(workspace, kinds[i], names[i], &object, &memory, &test->error), &test->error);
    rm_workspace_detach(workspace);
    assert_int_equal(rm_owner_open(ramp.owner, &test->error), RM_E_ARGUMENT);
    rm_owner_close(ramp.owner);
    rm_owner_close(NULL);
}

static void test_errors(void **state) {
    struct segment_test *test = *state;
    struct rm_owner *owner;
    char const *const names[] = {"", ".", "..", "a/b", "requests", "an owner's name of 32 bytes, oh!"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        assert_int_equal(rm_owner_new("demo", names[i], &owner, &test->error), RM_E_ARGUMENT);
    assert_int_equal(rm_owner_new("", "ramp", &owner, &test->error), RM_E_ARGUMENT);

    assert_ok(rm_owner_new("demo", "ramp", &owner, &test->error), &test->error);
    rm_owner_setpoints(owner, "setpoints/ramp", "", (size_t)1 << 21);
    rm_owner_group(owner, "setpoints/ramp", "");
    assert_int_equal(rm_owner_open(owner, &test->error), RM_E_ARGUMENT);
    assert_non_null(strstr(test->error.text, "2097152 actuators")); // the first of two
    assert_null(rm_owner_memory(owner, 0));
    rm_owner_close(owner);

    struct application first = start("ramp"), second = plan("ramp", 10.0);
    assert_int_equal(rm_owner_open(second.owner, &test->error), RM_E_BUSY);
    rm_owner_close(second.owner);
    rm_owner_close(first.owner);
}

/** What a killed instance leaves: settings as they were, rows that go on counting, and everything else begun anew. */
static void run_and_leave(struct segment_test *test) {
    (void)test;
    struct application ramp = start("ramp");
    double const gains[12] = {1.0, 2.0, 3.0};
    rm_parameter_write_f64(rm_owner_memory(ramp.owner, ramp.slope), 2.5, (struct rm_stamp){11, 12});
    rm_parameter_write(rm_owner_memory(ramp.owner, ramp.gains), gains, sizeof gains, (struct rm_stamp){13, 14});
    rm_parameter_write_f64(rm_owner_memory(ramp.owner, ramp.current), 99.0, (struct rm_stamp){15, 16});
    for (int i = 0; i < 5; ++i)
        write_vector(&ramp, 3);
    rm_setpoints_begin(rm_owner_memory(ramp.owner, ramp.vectors)); // killed inside the sixth,
    rm_group_begin(rm_owner_memory(ramp.owner, ramp.group));       // inside a change of the group,
    struct rm_parameter *of_gains = rm_owner_memory(ramp.owner, ramp.gains);
    rm_sequence_begin(&of_gains->sequence); // and of one of its parameters
    rm_counter_add(rm_owner_memory(ramp.owner, ramp.counters), 0, 50);
    rm_histogram_add(rm_owner_memory(ramp.owner, ramp.histogram), 5, 6);
    struct rm_requests *requests = rm_owner_memory(ramp.owner, ramp.requests);
    atomic_store(&requests->head, 9);
    struct rm_replies *replies = rm_owner_memory(ramp.owner, ramp.replies);
    atomic_store(&replies->head, 8);
}

static void test_adoption(void **state) {
    struct segment_test *test = *state;
    kill_owner(fork_owner(test, run_and_leave));
    struct application ramp = start("ramp");
    assert_true(rm_owner_adopted(ramp.owner));
    assert_int_equal(atomic_load(&rm_owner_header(ramp.owner)->generation), 2);
    double gains[12];
    struct rm_parameter_reading reading;
    struct rm_parameter *slope = rm_owner_memory(ramp.owner, ramp.slope);
    assert_int_equal(rm_parameter_read(slope, gains, sizeof gains, &reading), 8);
    assert_true(gains[0] == 2.5);
    assert_int_equal(reading.timestamp_tai_ns, 11);
    assert_int_equal(reading.turn, 12);
    assert_int_equal(reading.sequence, 2); // not even a change
    assert_int_equal(reading.severity, RM_SEVERITY_NONE);
    assert_int_equal(rm_parameter_read(rm_owner_memory(ramp.owner, ramp.gains), gains, sizeof gains, &reading), 96);
    assert_true(gains[2] == 3.0);
    assert_int_equal(reading.severity, RM_SEVERITY_INVALID); // perhaps it was half changed
    assert_int_equal(rm_parameter_read(rm_owner_memory(ramp.owner, ramp.current), gains, sizeof gains, &reading), 8);
    assert_true(gains[0] == 0.0); // a reading of an instance that is no more
    assert_int_equal(reading.turn, RM_TURN_NONE);
    uint64_t seen;
    assert_true(rm_group_enter(rm_owner_memory(ramp.owner, ramp.group), &seen));

    struct rm_setpoints_place place = {.next = 5};
    struct rm_setpoint_reading vector;
    double values[ACTUATORS];
    struct rm_setpoints *vectors = rm_owner_memory(ramp.owner, ramp.vectors);
    assert_false(rm_setpoints_copy(vectors, rm_setpoint_vector_bytes(ACTUATORS), &place, &vector, values, ACTUATORS));
    write_vector(&ramp, 4);
    assert_true(rm_setpoints_copy(vectors, rm_setpoint_vector_bytes(ACTUATORS), &place, &vector, values, ACTUATORS));
    assert_int_equal(vector.number, 5);
    assert_int_equal(vector.grant_number, 4);

    assert_int_equal(rm_counter_get(rm_owner_memory(ramp.owner, ramp.counters), 0), 0);
    assert_int_equal(atomic_load(&((struct rm_histogram *)rm_owner_memory(ramp.owner, ramp.histogram))->total), 0);
    assert_int_equal(atomic_load(&((struct rm_requests *)rm_owner_memory(ramp.owner, ramp.requests))->head), 0);
    assert_int_equal(atomic_load(&((struct rm_replies *)rm_owner_memory(ramp.owner, ramp.replies))->head), 8);
    rm_owner_close(ramp.owner);

    struct application other = plan("ramp", 11.0); // another limit is another segment
    assert_ok(rm_owner_open(other.owner, &test->error), &test->error);
    assert_false(rm_owner_adopted(other.owner));
    rm_owner_close(other.owner);
}

static void confuse_vectors(struct segment_test *test) {
    (void)test;
    struct application ramp = start("ramp");
    write_vector(&ramp, 1);
    struct rm_setpoint_vector *vector = (void *)((struct rm_setpoints *)rm_owner_memory(ramp.owner, ramp.vectors) + 1);
    atomic_store(&vector->sequence, UINT64_MAX - 1);
}

/** Vectors that no owner can have written are not gone on with. */
static void test_confused_vectors(void **state) {
    kill_owner(fork_owner(*state, confuse_vectors));
    struct application ramp = start("ramp");
    assert_true(rm_owner_adopted(ramp.owner));
    struct rm_setpoint_vector *vector = (void *)((struct rm_setpoints *)rm_owner_memory(ramp.owner, ramp.vectors) + 1);
    assert_int_equal(atomic_load(&vector->sequence), 0);
    rm_owner_close(ramp.owner);
}

static int files_in(struct segment_test const *test, char const *folder) {
    char path[PATH_MAX];
    path_of(test, folder, path);
    struct rm_owner_names names;
    rm_owner_names_list_in(&names, path);
    int const count = (int)names.count;
    rm_owner_names_free(&names);
    return count;
}

static struct rm_owner *ask(char const *name) {
    struct rm_owner *owner;
    struct rm_error error;
    assert_ok(rm_owner_new_requester("demo", name, &owner, &error), &error);
    rm_owner_requests(owner);
    assert_ok(rm_owner_open(owner, &error), &error);
    return owner;
}

static void ask_and_stay(struct segment_test *test) {
    (void)test;
    ask("put");
}

static void test_requesters(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    struct rm_owner *first = ask("put"), *second = ask("put"), *third = ask("a name with more bytes than "); // 28
    assert_string_not_equal(first->name, second->name);
    assert_memory_equal(first->name, "put-", 4);
    assert_true(strlen(third->name) < RM_OWNER_BYTES);
    assert_string_equal(rm_owner_header(third)->owner, third->name);
    assert_int_equal(files_in(test, "requests"), 3);
    struct rm_workspace *workspace = attach(test, 0);
    struct rm_object const *object;
    void const *memory;
    assert_int_equal(rm_workspace_find(workspace, RM_OBJECT_REQUESTS, "put/requests", &object, &memory, NULL),
                     RM_E_NOT_FOUND); // they are not to be seen
    rm_workspace_detach(workspace);
    rm_owner_close(first);
    rm_owner_close(third);
    assert_int_equal(files_in(test, "requests"), 1);

    kill_owner(fork_owner(test, ask_and_stay));
    assert_int_equal(files_in(test, "requests"), 2);
    first = ask("put"); // clears away what the killed one left, and leaves the living one alone
    assert_int_equal(files_in(test, "requests"), 2);
    rm_owner_close(first);
    rm_owner_close(second);
    assert_int_equal(files_in(test, "requests"), 0);
}

/** Which users may ask is decided once, for all servers to come; an application's folder is always what we make it. */
static void test_folder_modes(void **state) {
    struct segment_test *test = *state;
    char const *const name[] = {"requests", "ramp"};
    mode_t const kept[] = {02775, 0755};
    mode_t const before = umask(077); // what is made anew does not depend on it
    for (size_t i = 0; i < sizeof name / sizeof name[0]; ++i) {
        char path[PATH_MAX];
        struct stat status;
        assert_ok(rm_workspace_folder("demo", name[i], geteuid(), &test->error), &test->error);
        path_of(test, name[i], path);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0755);
        assert_int_equal(chmod(path, 02775), 0);
        assert_ok(rm_workspace_folder("demo", name[i], geteuid(), &test->error), &test->error);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, kept[i]);
    }
    umask(before);
}

/** An owner that has a folder has its files there, and every reader finds them. */
static void test_folders(void **state) {
    struct segment_test *test = *state;
    assert_ok(rm_workspace_folder("demo", "ramp", geteuid(), &test->error), &test->error);
    assert_ok(rm_workspace_folder("demo", "ramp", geteuid(), &test->error), &test->error); // twice is once
    assert_ok(rm_workspace_folder("demo", "requests", geteuid(), &test->error), &test->error);
    char const *const names[] = {"", ".", "..", "a/b", "a folder's name with 32 bytes, oh"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        assert_int_equal(rm_workspace_folder("demo", names[i], geteuid(), &test->error), RM_E_ARGUMENT);
    start_server(test);
    struct application ramp = start("ramp");
    char path[PATH_MAX], workspace_path[PATH_MAX];
    path_of(test, "ramp/ramp.segment", path);
    path_of(test, "", workspace_path);
    workspace_path[strlen(workspace_path) - 1] = '\0';
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    path_of(test, "ramp.segment", path);
    assert_int_equal(stat(path, &status), -1);
    assert_true(rm_segment_lock_held(workspace_path, "ramp"));
    struct rm_workspace *workspace = attach(test, 0);
    struct rm_object const *object;
    void const *memory;
    assert_ok(rm_workspace_find(workspace, RM_OBJECT_PARAMETER, "ramp/slope", &object, &memory, &test->error),
              &test->error);
    rm_workspace_detach(workspace);
    rm_owner_close(ramp.owner);
    assert_false(rm_segment_lock_held(workspace_path, "ramp"));
}

/** What is read of `turn` from a stream of the workspace. */
static enum rm_read read_stream(char const *name, rm_turn turn, struct rm_record *record, uint64_t *turn_epoch) {
    struct rm_workspace *workspace;
    struct rm_stream_view view;
    struct rm_error error;
    assert_ok(rm_workspace_attach("demo", 0, &workspace, &error), &error);
    assert_ok(rm_workspace_stream(workspace, name, &view, &error), &error);
    assert_int_equal(view.header->instrument_kind, RM_KIND_APPLICATION);
    enum rm_read const result = rm_stream_read(&view, turn, record);
    *turn_epoch = atomic_load(&view.header->turn_epoch);
    rm_workspace_detach(workspace);
    return result;
}

static rm_owner_index add_stream(struct rm_owner *owner) {
    struct rm_stream const stream = {
        .capacity = 1024,
        .period = 120,
        .instrument_kind = RM_KIND_APPLICATION,
        .lane_count = 1,
        .filter = "none",
        .lane = {{.name = "rms", .unit = "nm", .type = RM_LANE_F32}},
    };
    return rm_owner_stream(owner, "server/orbit", "what it computes", &stream);
}

static bool put_stream(struct rm_owner *owner, rm_owner_index index, rm_turn turn, float value) {
    struct rm_record const record = {.turn = turn, .lane = {{.f = value}}};
    return rm_owner_stream_put(owner, index, &record, 77);
}

/** Records are read under their turns; the next owner goes on, and a count of turns that begins anew is another grant
 * number.
 */
static void test_stream(void **state) {
    (void)state;
    struct rm_record record;
    struct rm_owner *owner;
    struct rm_error error;
    uint64_t before, after;
    assert_ok(rm_owner_new("demo", "server", &owner, &error), &error);
    rm_owner_index const index = add_stream(owner);
    assert_ok(rm_owner_open(owner, &error), &error);
    put_stream(owner, index, 1200, 1.5f);
    put_stream(owner, index, 1440, 2.5f);
    assert_int_equal(read_stream("server/orbit", 1200, &record, &before), RM_READ_OK);
    assert_true(record.lane[0].f == 1.5f);
    assert_int_equal(read_stream("server/orbit", 1320, &record, &before), RM_READ_MISSING);
    rm_owner_close(owner);
    assert_ok(rm_owner_new("demo", "server", &owner, &error), &error);
    add_stream(owner);
    assert_ok(rm_owner_open(owner, &error), &error);
    put_stream(owner, index, 1560, 3.5f);
    assert_int_equal(read_stream("server/orbit", 1440, &record, &after), RM_READ_OK);
    assert_int_equal(after, before);
    put_stream(owner, index, 240, 4.5f);
    assert_int_equal(read_stream("server/orbit", 240, &record, &after), RM_READ_OK);
    assert_int_equal(after, before + 1);
    assert_int_equal(read_stream("server/orbit", 1560, &record, &after), RM_READ_NOT_YET);
    rm_turn const last = RM_TURN_END / 120 * 120;
    assert_true(put_stream(owner, index, last, 5.5f));
    assert_false(put_stream(owner, index, RM_TURN_END, 6.5f));
    assert_false(put_stream(owner, index, RM_TURN_NONE, 6.5f));
    assert_int_equal(read_stream("server/orbit", last, &record, &after), RM_READ_OK);
    assert_true(record.lane[0].f == 5.5f);
    rm_owner_close(owner);
}

static bool is_there(struct segment_test const *test, char const *file) {
    char path[PATH_MAX];
    struct stat status;
    path_of(test, file, path);
    return lstat(path, &status) == 0;
}

/** Without a server an owner leaves nothing; beside a server's segment it stays, for readers of both, until one that
 * goes finds no server's. */
static void test_leaving(void **state) {
    struct segment_test *test = *state;
    struct rm_owner *server;
    struct application ramp = start("ramp");
    rm_owner_close(ramp.owner);
    assert_false(is_there(test, ""));
    assert_ok(rm_owner_new("demo", "server", &server, &test->error), &test->error);
    assert_ok(rm_owner_open(server, &test->error), &test->error);
    ramp = start("ramp");
    rm_owner_close(ramp.owner);
    rm_owner_close(server);
    assert_true(is_there(test, "ramp.segment"));
    char path[PATH_MAX];
    path_of(test, "server.segment", path);
    assert_int_equal(unlink(path), 0);
    path_of(test, "server.lock", path);
    assert_int_equal(unlink(path), 0);
    ramp = start("other");
    struct application living = start("living");
    rm_owner_close(ramp.owner);
    assert_false(is_there(test, "ramp.segment"));
    assert_false(is_there(test, "other.segment"));
    assert_true(is_there(test, "living.segment"));
    rm_owner_close(living.owner);
    assert_false(is_there(test, ""));
}

/** What an administrator has decided of which users may ask is not forgotten. */
static void test_leaving_a_folder_of_requesters(void **state) {
    struct segment_test *test = *state;
    char path[PATH_MAX];
    for (int chosen = 0; chosen <= 1; ++chosen) {
        struct application ramp = start("ramp");
        assert_ok(rm_workspace_folder("demo", RM_REQUESTS_FOLDER, geteuid(), &test->error), &test->error);
        path_of(test, RM_REQUESTS_FOLDER, path);
        assert_int_equal(chmod(path, chosen ? 02775 : 0755), 0);
        rm_owner_close(ramp.owner);
        assert_int_equal(is_there(test, RM_REQUESTS_FOLDER), chosen);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_confused_vectors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requesters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folder_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_leaving, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_leaving_a_folder_of_requesters, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
