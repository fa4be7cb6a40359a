// SPDX-License-Identifier: Apache-2.0
/** A segment whose file is cut, or emptied, while it is mapped: its reader finds zeros and goes on. */
#include "fabric/test_segment_steps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <ringmaster/owner.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/truncation.h>
#include <ringmaster/workspace.h>

#include "fabric/segment_find.h"

enum { ACTUATORS = 3000, COPIES = 1000, CHAINED = 42 };

static struct sigaction ours; /**< what the library installs; cmocka puts its own in place of it in each test */
static bool volatile exits;   /**< what the program's own handler does, which the library found */

static void earlier_handler(int number) {
    if (exits)
        _exit(CHAINED);
    signal(number, SIG_DFL);
}

struct application {
    struct rm_owner *owner;
    struct rm_setpoints *vectors;
    struct rm_mapped_segment mapped;
    struct rm_setpoints const *read;
    char path[PATH_MAX];
};

static void write_vector(struct application *application) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(application->vectors);
    for (size_t i = 0; i < ACTUATORS; ++i)
        rm_setpoints_put(vector, i, 1.0);
    rm_setpoints_commit(vector, 1, 2, 3);
}

static void start(struct segment_test *test, struct application *application) {
    char workspace_path[PATH_MAX];
    struct rm_owner *owner;
    assert_ok(rm_owner_new("demo", "ramp", &owner, &test->error), &test->error);
    rm_owner_index const vectors = rm_owner_setpoints(owner, "setpoints/ramp", "", ACTUATORS);
    assert_ok(rm_owner_open(owner, &test->error), &test->error);
    *application = (struct application){.owner = owner, .vectors = rm_owner_memory(owner, vectors)};
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
    return rm_setpoints_copy(application->read, rm_setpoint_vector_bytes(ACTUATORS), place, &reading, values,
                             ACTUATORS);
}

/** In a child, which owns the segment: it would meet the signal itself when it closes. */
static int cut_and_read(struct segment_test *test, long bytes) {
    struct application ramp;
    struct rm_setpoints_place place = {0};
    double values[ACTUATORS];
    start(test, &ramp);
    write_vector(&ramp);
    if (!copy(&ramp, &place, values) || values[ACTUATORS - 1] != 1.0)
        return 1;
    write_vector(&ramp);
    if (truncate(ramp.path, bytes) != 0)
        return 77;               // on huge pages, perhaps
    copy(&ramp, &place, values); // whole or not at all: but it returns
    for (int i = 0; i < COPIES; ++i)
        if (copy(&ramp, &place, values))
            return 2;
    if (!rm_truncation_cut(ramp.mapped.header))
        return 5;
    return atomic_load(&ramp.mapped.header->magic) == (bytes > 0 ? RM_SEGMENT_MAGIC : 0) ? 0 : 3;
}

/** A process in which the signal means what it means outside of tests. */
static pid_t fork_plain(bool survive) {
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0 && survive)
        sigaction(SIGBUS, &ours, NULL);
    else if (child == 0)
        signal(SIGBUS, SIG_DFL);
    return child;
}

static int in_child(struct segment_test *test, bool survive, long bytes) {
    pid_t const child = fork_plain(survive);
    if (child == 0)
        _exit(cut_and_read(test, bytes));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_cut(void **state) {
    struct segment_test *test = *state;
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
static int fault_elsewhere(struct segment_test *test) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/other", test->workspaces);
    int const file = open(path, O_RDWR | O_CREAT, 0600);
    char volatile *byte = mmap(NULL, RM_PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
    return byte != MAP_FAILED ? byte[0] : 1;
}

static void test_elsewhere(void **state) {
    struct segment_test *test = *state;
    pid_t child = fork_plain(true);
    if (child == 0)
        _exit(fault_elsewhere(test));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);

    child = fork_plain(true); // the handler that the program had before is called
    if (child == 0) {
        exits = true;
        _exit(fault_elsewhere(test));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CHAINED);
}

/** A reader of the public API: it survives, says which owner cut, and knows that the server is no more. */
static int read_cut_workspace(struct segment_test *test) {
    struct application server;
    struct rm_owner *owner;
    assert_ok(rm_owner_new("demo", "server", &owner, &test->error), &test->error);
    rm_owner_setpoints(owner, "setpoints/sent", "", ACTUATORS);
    assert_ok(rm_owner_open(owner, &test->error), &test->error);
    start(test, &server);
    struct rm_workspace *workspace;
    if (rm_workspace_attach("demo", 0, &workspace, &test->error) != RM_OK)
        return 6;
    if (rm_workspace_cut(workspace) != NULL || !rm_workspace_alive(workspace))
        return 7;
    struct rm_object const *object;
    void const *memory;
    char path[PATH_MAX];
    path_of(test, "server.segment", path);
    if (truncate(server.path, 0) != 0 || truncate(path, 0) != 0)
        return 77;
    if (rm_workspace_find(workspace, RM_OBJECT_SETPOINTS, "setpoints/ramp", &object, &memory, NULL) == RM_OK)
        return 8;
    if (rm_workspace_cut(workspace) == NULL || rm_workspace_alive(workspace))
        return 9;
    rm_workspace_detach(workspace);
    return 0;
}

static void test_workspace(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_plain(true);
    if (child == 0)
        _exit(read_cut_workspace(test));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_stopped(void **state) {
    struct segment_test *test = *state;
    struct application ramp;
    double values[ACTUATORS];
    for (int i = 0; i < RM_WATCHED_MAX + 100; ++i) { // more than there are places: each is given back
        struct rm_setpoints_place place = {0};
        start(test, &ramp);
        write_vector(&ramp);
        assert_true(copy(&ramp, &place, values));
        stop(&ramp);
    }
    assert_int_equal(in_child(test, true, 0), 0);
}

int main(void) {
    signal(SIGBUS, earlier_handler);
    if (!rm_truncation_watch(&ours, 1) || sigaction(SIGBUS, NULL, &ours) != 0)
        return 1;
    rm_truncation_forget(&ours);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_workspace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
