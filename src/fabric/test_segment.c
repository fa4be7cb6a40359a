// SPDX-License-Identifier: Apache-2.0
/** Owning and attaching: how a segment comes to be, what it may be called, and what readers are told of it. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "fabric/huge_pages.h"
#include "fabric/test_segment_steps.h"

static void test_create_and_attach(void **state) {
    struct segment_test *test = *state;
    open_server(test);
    assert_false(test->segment.adopted);
    rm_segment_finish(&test->segment);
    struct rm_workspace *workspace = attach(test, 0);
    assert_true(rm_workspace_alive(workspace));
    assert_int_equal(rm_workspace_object_count(workspace), test->owner.plan.count);
    for (size_t i = 0; i < test->owner.plan.count; ++i) {
        struct rm_object const *object = rm_workspace_object(workspace, i, NULL);
        assert_memory_equal(object, &test->owner.plan.planned[i].object, sizeof *object);
    }
    assert_null(rm_workspace_object(workspace, test->owner.plan.count, NULL));
    struct rm_stream_view view;
    assert_ok(rm_workspace_stream(workspace, "bpm01/turn", &view, &test->error), &test->error);
    assert_int_equal(view.header->margin, 512);
    assert_string_equal(view.header->lane[0].name, "x1");
    assert_int_equal(rm_stream_head(&view), RM_TURN_NONE);

    struct rm_object const *object;
    void const *text;
    assert_ok(rm_workspace_find(workspace, RM_OBJECT_TEXT, "server/config", &object, &text, &test->error),
              &test->error);
    assert_int_equal(object->shape[0], strlen("key: value\n"));
    assert_memory_equal(text, "key: value\n", object->shape[0]);
    rm_workspace_detach(workspace);
    rm_workspace_detach(NULL);
}

static void test_find_names_the_nearest(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    struct rm_workspace *workspace = attach(test, 0);
    struct rm_stream_view view;
    assert_int_equal(rm_workspace_stream(workspace, "bpm01/trun", &view, &test->error), RM_E_NOT_FOUND);
    assert_non_null(strstr(test->error.text, "stream/bpm01/trun"));
    assert_non_null(strstr(test->error.text, "nearest name is \"stream/bpm01/turn\""));
    struct rm_object const *object;
    void const *found;
    assert_int_equal(rm_workspace_find(workspace, RM_OBJECT_GRANT, "row", &object, &found, &test->error),
                     RM_E_NOT_FOUND);
    assert_int_equal(rm_workspace_find(workspace, RM_OBJECT_CLOCK, "stream/bpm01/turn", &object, &found, &test->error),
                     RM_E_NOT_FOUND); // of another kind
    char long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(rm_workspace_stream(workspace, long_name, &view, &test->error), RM_E_NOT_FOUND);
    rm_workspace_detach(workspace);
}

static void test_several_owners(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    struct rm_segment_plan plan;
    rm_plan_init(&plan);
    rm_plan_parameter(&plan, "ring/tune_x", "", "a tune", RM_ELEMENT_F64, 1, NULL);
    struct rm_segment ring;
    assert_ok(rm_segment_open("demo", "ring", &plan, &ring, &test->error), &test->error);
    struct rm_workspace *early = attach(test, 0);
    assert_int_equal(rm_workspace_object_count(early), test->owner.plan.count); // half made: not this reader's concern
    rm_workspace_detach(early);
    rm_segment_finish(&ring);
    struct rm_workspace *workspace = attach(test, 0);
    assert_int_equal(rm_workspace_object_count(workspace), test->owner.plan.count + 1);
    struct rm_object const *object;
    void const *found;
    assert_ok(rm_workspace_find(workspace, RM_OBJECT_PARAMETER, "ring/tune_x", &object, &found, &test->error),
              &test->error);
    rm_workspace_detach(workspace);
    rm_segment_close(&ring);
    rm_plan_free(&plan);
}

static void test_absent(void **state) {
    struct segment_test *test = *state;
    assert_refused(test, RM_E_ABSENT, "\"demo\" does not exist", test->workspaces, "start a server", NULL);
    char path[PATH_MAX];
    path_of(test, "", path);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_refused(test, RM_E_ABSENT, "server.segment does not exist", NULL);
}

static void test_half_made(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, open_server);
    assert_refused(test, RM_E_HALF_MADE, "being made just now", "try again", NULL);
    kill_owner(child);
    assert_refused(test, RM_E_HALF_MADE, "half made", "start it again", NULL);
    char path[PATH_MAX];
    path_of(test, "server.segment", path);
    assert_int_equal(truncate(path, 0), 0);
    assert_refused(test, RM_E_HALF_MADE, "half made", "start it again", NULL);
    start_server(test); // the next owner takes no notice of it
    assert_false(test->segment.adopted);
    rm_workspace_detach(attach(test, 0));
}

static void test_never_finished(void **state) {
    struct segment_test *test = *state;
    open_server(test);
    rm_segment_close(&test->segment);
    assert_refused(test, RM_E_ABSENT, "does not exist", NULL);
}

static void test_other_version(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    struct rm_segment_header *header = test->segment.header;
    char found[32], own[32];
    snprintf(found, sizeof found, "ABI version %u", RM_ABI_VERSION + 1);
    snprintf(own, sizeof own, "this program has %u", RM_ABI_VERSION);
    header->abi_version += 1;
    assert_refused(test, RM_E_VERSION, found, own, NULL);
    header->abi_version -= 1;
    header->layout_hash ^= 1;
    assert_refused(test, RM_E_VERSION, "layout", "one Ringmaster version", NULL);
    header->layout_hash ^= 1;
    rm_workspace_detach(attach(test, 0));
}

static void test_dead_server(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork_owner(test, start_server);
    struct rm_workspace *before = attach(test, 0);
    assert_true(rm_workspace_alive(before));
    kill_owner(child);
    assert_false(rm_workspace_alive(before));
    char process[32];
    snprintf(process, sizeof process, "process %ld", (long)child);
    assert_refused(test, RM_E_DEAD, process, "died", "RM_ATTACH_DEAD", NULL);
    rm_workspace_detach(attach(test, RM_ATTACH_DEAD));
    rm_workspace_detach(before);
}

static void test_closed_in_good_order(void **state) {
    struct segment_test *test = *state;
    start_server(test);
    rm_segment_close(&test->segment);
    assert_refused(test, RM_E_DEAD, "stopped", "start it again", NULL);
    struct rm_workspace *workspace = attach(test, RM_ATTACH_DEAD);
    assert_int_equal(rm_workspace_object_count(workspace), test->owner.plan.count);
    rm_workspace_detach(workspace);
    rm_segment_close(&test->segment); // once more does nothing
}

static void assert_plan_refused(struct rm_segment_plan *plan, char const *words) {
    struct rm_error error;
    struct rm_segment segment;
    assert_int_equal(rm_plan_check(plan, &error), RM_E_ARGUMENT);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_int_equal(rm_segment_open("demo", "server", plan, &segment, NULL), RM_E_ARGUMENT);
    rm_plan_free(plan);
}

static void test_plan_errors(void **state) {
    struct segment_test *test = *state;
    char long_name[RM_NAME_BYTES + 1];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    struct rm_segment_plan plan;
    struct rm_stream stream = {.capacity = 1024, .period = 1};

    rm_plan_init(&plan);
    rm_plan_clock(&plan, long_name, "");
    assert_plan_refused(&plan, "too long for the directory: at most 95 bytes");
    rm_plan_stream(&plan, long_name + 1 + strlen("stream/") - 1, "", &stream); // one byte too long with its prefix
    assert_plan_refused(&plan, "too long");
    rm_plan_parameter(&plan, "p", "a unit too long for it", "", RM_ELEMENT_F64, 1, NULL);
    assert_plan_refused(&plan, "at most 15 bytes");
    char long_description[RM_DESCRIPTION_BYTES + 1] = "";
    memset(long_description, 'd', RM_DESCRIPTION_BYTES);
    rm_plan_text(&plan, "t", long_description, "");
    assert_plan_refused(&plan, "at most 103 bytes");

    rm_plan_clock(&plan, "clock", "");
    rm_plan_text(&plan, "clock", "", "");
    rm_plan_clock(&plan, long_name, ""); // the first error is the one that is told
    stream.capacity = 1000;
    rm_plan_stream(&plan, "s", "", &stream);
    assert_plan_refused(&plan, "two objects are called \"clock\"");

    uint64_t const capacities[] = {0, 512, 1000, 1025, 1ull << 41, 1ull << 63};
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; ++i) {
        stream.capacity = capacities[i];
        rm_plan_stream(&plan, "s", "", &stream);
        assert_plan_refused(&plan, "no power of two from 1024");
    }
    stream = (struct rm_stream){.capacity = 1024, .period = 0};
    rm_plan_stream(&plan, "s", "", &stream);
    assert_plan_refused(&plan, "a period of 0 turns");

    char path[PATH_MAX];
    path_of(test, "", path);
    assert_int_equal(access(path, F_OK), -1); // nothing was made
}

static void test_names_of_owners_and_workspaces(void **state) {
    struct segment_test *test = *state;
    struct rm_segment segment;
    char const *owners[] = {"", ".", "../up", "a/b", "an owner's name of 32 bytes, oh!"};
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; ++i)
        assert_int_equal(rm_segment_open("demo", owners[i], &test->owner.plan, &segment, &test->error), RM_E_ARGUMENT);
    char const *workspaces[] = {"", ".", ".."};
    for (size_t i = 0; i < sizeof workspaces / sizeof workspaces[0]; ++i)
        assert_int_equal(rm_segment_open(workspaces[i], "server", &test->owner.plan, &segment, &test->error),
                         RM_E_ARGUMENT);
    static char long_name[PATH_MAX];
    memset(long_name, 'w', sizeof long_name - 1);
    assert_int_equal(rm_segment_open(long_name, "server", &test->owner.plan, &segment, &test->error), RM_E_ARGUMENT);
    struct rm_workspace *workspace;
    assert_int_equal(rm_workspace_attach(long_name, 0, &workspace, &test->error), RM_E_ARGUMENT);
}

/** In the child: a file system of its own that is too small. Exit status 0: as it should be; 77: not possible here. */
static int fill_up(struct segment_test *test) {
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tiny", test->workspaces, "tmpfs", 0, "size=64k") != 0)
        return 77;
    struct rm_huge_pages pages;
    while (rm_huge_pages_find(&pages))
        if (umount2(pages.mount, MNT_DETACH) != 0)
            return 77;
    struct rm_segment segment;
    rm_plan_free(&test->owner.plan);
    test_plan_make(&test->owner, 16 * TEST_CAPACITY);
    enum rm_code const code = rm_segment_open("demo", "server", &test->owner.plan, &segment, &test->error);
    fprintf(stderr, "%s\n", test->error.text);
    if (code != RM_E_NO_SPACE)
        return 1;
    char needed[32];
    snprintf(needed, sizeof needed, "needs %.1f MiB", (double)rm_plan_layout(&test->owner.plan) / 0x1p20);
    if (strstr(test->error.text, needed) == NULL || strstr(test->error.text, "0.1 MiB are free") == NULL)
        return 2;
    char path[PATH_MAX];
    path_of(test, "server.segment", path);
    if (access(path, F_OK) == 0)
        return 3;
    struct statvfs space;
    if (statvfs(test->workspaces, &space) != 0 || (space.f_blocks - space.f_bfree) * space.f_frsize > RM_PAGE_BYTES)
        return 4; // more than the lock file is left behind
    struct rm_workspace *workspace;
    if (rm_workspace_attach("demo", 0, &workspace, NULL) != RM_E_ABSENT)
        return 5;
    /* The same with a larger file system: the failed try left nothing in the way. */
    if (mount("tiny", test->workspaces, "tmpfs", MS_REMOUNT, "size=2m") != 0)
        return 77;
    return rm_segment_open("demo", "server", &test->owner.plan, &segment, &test->error) == RM_OK ? 0 : 6;
}

static void test_full_file_system(void **state) {
    struct segment_test *test = *state;
    pid_t const child = fork();
    if (child == 0)
        _exit(fill_up(test));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        fprintf(stderr, "SKIPPED: a full file system needs the right to mount one (root)\n");
        skip();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_create_and_attach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_find_names_the_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_several_owners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_never_finished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dead_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed_in_good_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plan_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_of_owners_and_workspaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_file_system, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
