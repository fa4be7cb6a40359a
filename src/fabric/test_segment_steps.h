// SPDX-License-Identifier: Apache-2.0
/** Steps of the segment tests: a server's segment in a private workspace, owned by this process or by one to be killed.
 */
#ifndef RM_FABRIC_TEST_SEGMENT_STEPS_H
#define RM_FABRIC_TEST_SEGMENT_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <limits.h>
#include <signal.h>
#include <string.h>

#include <ringmaster/workspace.h>

#include "fabric/test_workspace.h"

struct segment_test {
    char workspaces[PATH_MAX / 2];
    /** The plan of the segment below. */
    struct test_plan owner;

    struct rm_segment segment;
    struct rm_error error;
};

static inline int set_up(void **state) {
    struct segment_test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL || !test_workspaces_make(test->workspaces, sizeof test->workspaces))
        return -1;
    test_plan_make(&test->owner, TEST_CAPACITY);
    return 0;
}

static inline int tear_down(void **state) {
    struct segment_test *test = *state;
    rm_segment_close(&test->segment);
    rm_plan_free(&test->owner.plan);
    test_workspaces_remove(test->workspaces);
    free(test);
    return 0;
}

static inline void path_of(struct segment_test const *test, char const *file, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/demo/%s", test->workspaces, file);
}

static inline void assert_ok(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static inline void open_server(struct segment_test *test) {
    assert_ok(rm_segment_open("demo", "server", &test->owner.plan, &test->segment, &test->error), &test->error);
}

static inline void *memory(struct segment_test const *test, rm_planned_index index) {
    return rm_segment_memory(&test->segment, &test->owner.plan, index);
}

static inline void start_server(struct segment_test *test) {
    open_server(test);
    rm_segment_finish(&test->segment);
}

static inline struct rm_workspace *attach(struct segment_test *test, unsigned flags) {
    struct rm_workspace *workspace = NULL;
    assert_ok(rm_workspace_attach("demo", flags, &workspace, &test->error), &test->error);
    return workspace;
}

/** Checks that attaching fails with this code, and with a text that has all of these words (the last is NULL). */
static inline void assert_refused(struct segment_test *test, enum rm_code code, ...) {
    struct rm_workspace *workspace = NULL;
    assert_int_equal(rm_workspace_attach("demo", 0, &workspace, &test->error), code);
    assert_null(workspace);
    assert_int_equal(test->error.code, code);
    va_list words;
    va_start(words, code);
    for (char const *word = va_arg(words, char const *); word != NULL; word = va_arg(words, char const *))
        if (strstr(test->error.text, word) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", test->error.text, word);
    va_end(words);
    assert_int_equal(rm_workspace_attach("demo", 0, &workspace, NULL), code); // no text is wanted
}

/** Runs `act` as an owner in a process of its own, which stays until it is killed. Returns its id once `act` is done.
 */
static inline pid_t fork_owner(struct segment_test *test, void (*act)(struct segment_test *)) {
    int done[2];
    assert_int_equal(pipe(done), 0);
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act(test);
        if (write(done[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(done[1]);
    char byte;
    assert_int_equal(read(done[0], &byte, 1), 1);
    close(done[0]);
    return child;
}

static inline void kill_owner(pid_t child) {
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

#endif
