// SPDX-License-Identifier: Apache-2.0
/** A segment whose file is cut, or emptied, while it is mapped: its reader finds zeros and goes on. */
#include "fabric/test_segment_steps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <ringmaster/owner.h>
#include <ringmaster/setpoint.h>

#include "fabric/segment_find.h"
#include "fabric/truncation.h"

enum { ACTUATORS = 3000, COPIES = 1000 };

struct application {
    struct rm_owner *owner;
    struct rm_setpoints *rows;
    struct rm_mapped_segment mapped;
    struct rm_setpoints const *read;
    char path[PATH_MAX];
};

static void write_row(struct application *application) {
    struct rm_setpoint_row *row = rm_setpoints_begin(application->rows);
    for (size_t i = 0; i < ACTUATORS; ++i)
        rm_setpoints_put(row, i, 1.0);
    rm_setpoints_commit(row, 1, 2, 3);
}

static void start(struct test *test, struct application *application) {
    char workspace_path[PATH_MAX];
    struct rm_owner *owner;
    assert_ok(rm_owner_new("demo", "ramp", &owner, &test->error), &test->error);
    rm_owner_index const rows = rm_owner_setpoints(owner, "setpoints/ramp", "", ACTUATORS);
    assert_ok(rm_owner_open(owner, &test->error), &test->error);
    *application = (struct application){.owner = owner, .rows = rm_owner_memory(owner, rows)};
    path_of(test, "ramp.segment", application->path);
    path_of(test, "", workspace_path);
    assert_ok(rm_segment_map_readonly(workspace_path, "ramp", &application->mapped, &test->error), &test->error);
    void const *memory;
    assert_non_null(rm_segment_find(&application->mapped, RM_OBJECT_SETPOINTS, "setpoints/ramp",
                                    rm_setpoints_bytes(ACTUATORS), &memory));
    application->read = memory;
}

static void stop(struct application *application) {
    rm_segment_unmap(&application->mapped);
    rm_owner_close(application->owner);
}

static bool copy(struct application *application, struct rm_setpoints_place *place, double values[ACTUATORS]) {
    struct rm_setpoint_reading reading;
    return rm_setpoints_copy(application->read, rm_setpoint_row_bytes(ACTUATORS), place, &reading, values, ACTUATORS);
}

/** In a child, which owns the segment: it would meet the signal itself when it closes. */
static int cut_and_read(struct test *test, long bytes) {
    struct application ramp;
    struct rm_setpoints_place place = {0};
    double values[ACTUATORS];
    start(test, &ramp);
    write_row(&ramp);
    if (!copy(&ramp, &place, values) || values[ACTUATORS - 1] != 1.0)
        return 1;
    write_row(&ramp);
    if (truncate(ramp.path, bytes) != 0)
        return 77;               // on huge pages, perhaps
    copy(&ramp, &place, values); // whole or not at all: but it returns
    for (int i = 0; i < COPIES; ++i)
        if (copy(&ramp, &place, values))
            return 2;
    return atomic_load(&ramp.mapped.header->magic) == (bytes > 0 ? RM_SEGMENT_MAGIC : 0) ? 0 : 3;
}

/** A process in which the signal means what it means outside of tests. */
static pid_t fork_plain(void) {
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0)
        signal(SIGBUS, SIG_DFL);
    return child;
}

static int in_child(struct test *test, bool survive, long bytes) {
    pid_t const child = fork_plain();
    if (child == 0)
        _exit(survive && rm_truncation_survive(NULL) != RM_OK ? 4 : cut_and_read(test, bytes));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_cut(void **state) {
    struct test *test = *state;
    long const cuts[] = {0, RM_PAGE_BYTES, 5L * RM_PAGE_BYTES};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; ++i) {
        int const status = in_child(test, true, cuts[i]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(status, 0);
    }
    assert_true(WIFSIGNALED(in_child(test, false, 0))); // this is what it is good for
}

/** A fault elsewhere ends the process as ever. */
static int fault_elsewhere(struct test *test) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/other", test->workspaces);
    int const file = open(path, O_RDWR | O_CREAT, 0600);
    char volatile *byte = mmap(NULL, RM_PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
    return rm_truncation_survive(NULL) == RM_OK && byte != MAP_FAILED ? byte[0] : 1;
}

static void test_elsewhere(void **state) {
    struct test *test = *state;
    pid_t const child = fork_plain();
    if (child == 0)
        _exit(fault_elsewhere(test));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

static void test_stopped(void **state) {
    struct test *test = *state;
    struct application ramp;
    struct rm_setpoints_place place = {0};
    double values[ACTUATORS];
    for (int i = 0; i < 3000; ++i) { // more than there are places: each is given back
        start(test, &ramp);
        write_row(&ramp);
        assert_true(copy(&ramp, &place, values));
        stop(&ramp);
    }
    assert_int_equal(in_child(test, true, 0), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
