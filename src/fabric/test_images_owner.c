// SPDX-License-Identifier: Apache-2.0
/** Owners of images that end, are killed, adopted or replaced; and workspaces in which no server lives. */
#include "fabric/test_images_steps.h"

#include <signal.h>
#include <sys/stat.h>

#include "fabric/segment_lock.h"

static int set_up(void **state) {
    struct images_test *test = calloc(1, sizeof *test);
    *state = test;
    return test == NULL || !test_workspaces_make(test->workspaces, sizeof test->workspaces) ? -1 : 0;
}

static int tear_down(void **state) {
    struct images_test *test = *state;
    images_detach(test);
    if (test->owner != NULL)
        images_owner_close(test);
    test_workspaces_remove(test->workspaces);
    free(test);
    return 0;
}

static void expect_ended(struct rm_images_reader *reader) {
    struct rm_frame frame;
    assert_int_equal(rm_images_next(reader, 60ull * A_SECOND_NS, &frame), RM_FRAME_ENDED);
    assert_int_equal(rm_images_newest(reader, 0, &frame), RM_FRAME_ENDED);
}

/** A process that owns images, and publishes a frame for each byte that it is sent. */
struct child_owner {
    pid_t process;
    int orders, answers;
    uint64_t published;
};

static void child_run(int orders, int answers) {
    struct images_test child = {0};
    images_owner_open(&child, LEASES);
    char word = 'r';
    for (uint32_t number = 0; write(answers, &word, 1) == 1 && read(orders, &word, 1) == 1; ++number)
        images_publish(&child, number % SLOTS, number);
    _exit(0);
}

static void child_answers(struct child_owner *child) {
    char word;
    assert_int_equal(read(child->answers, &word, 1), 1);
}

static void child_start(struct child_owner *child) {
    int orders[2], answers[2];
    assert_int_equal(pipe(orders) | pipe(answers), 0);
    child->process = fork();
    if (child->process == 0)
        child_run(orders[0], answers[1]);
    close(orders[0]);
    close(answers[1]);
    child->orders = orders[1];
    child->answers = answers[0];
    child->published = 0;
    child_answers(child);
}

static void child_publish(struct child_owner *child) {
    assert_int_equal(write(child->orders, "p", 1), 1);
    child_answers(child);
    ++child->published;
}

static void child_kill(struct child_owner *child) {
    kill(child->process, SIGKILL);
    assert_int_equal(waitpid(child->process, NULL, 0), child->process);
    close(child->orders);
    close(child->answers);
}

static void test_closed(void **state) {
    struct images_test *test = *state;
    images_owner_open(test, LEASES);
    images_attach(test);
    struct rm_images_reader *reader = images_reader(test);
    images_publish(test, 0, 0);
    images_publish(test, 1, 1);
    images_owner_close(test);
    assert_false(rm_workspace_alive(test->workspace));
    images_expect_and_release(reader, 0, 0); // what lies there is read to its end
    images_expect_and_release(reader, 1, 0);
    expect_ended(reader);
    rm_images_reader_free(reader);
}

static void test_killed(void **state) {
    struct images_test *test = *state;
    struct child_owner child;
    child_start(&child);
    images_attach(test);
    assert_true(rm_workspace_alive(test->workspace));
    struct rm_images_reader *reader = images_reader(test);
    struct rm_frame frame;
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET); // it has asked, and was told that it lives
    child_publish(&child);
    child_kill(&child);
    images_expect_and_release(reader, 0, 0);
    expect_ended(reader);
    assert_false(rm_workspace_alive(test->workspace));
    rm_images_reader_free(reader);
}

static void test_adopted(void **state) {
    struct images_test *test = *state;
    struct child_owner child;
    struct rm_frame frame;
    child_start(&child);
    images_attach(test);
    uint64_t const generation = rm_workspace_generation(test->workspace);
    struct rm_images_reader *holder = images_reader(test), *reader = images_reader(test);
    for (int i = 0; i < 3; ++i)
        child_publish(&child);
    struct rm_frame held = images_expect(holder, 0, 0);
    child_kill(&child);
    images_owner_open(test, LEASES);
    assert_true(rm_owner_adopted(test->owner));
    assert_int_equal(rm_workspace_generation(test->workspace), generation + 1);
    assert_true(rm_workspace_alive(test->workspace));
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET); // none of the dead owner's
    assert_int_equal(rm_images_newest(reader, 0, &frame), RM_FRAME_NOT_YET);
    for (uint32_t slot = 1; slot < SLOTS; ++slot)
        assert_int_equal(images_publish(test, slot, 100 + slot), 3 + slot);
    images_expect_and_release(reader, 101, 3);
    assert_true(images_frame_good(&held, 0)); // its slot was left alone
    for (uint32_t slot = 1; slot < SLOTS - 1; ++slot)
        assert_int_equal(rm_images_reclaim(test->writer), slot);
    assert_int_equal(rm_images_reclaim(test->writer), SLOTS);
    rm_images_release(holder, &held);
    assert_int_equal(rm_images_reclaim(test->writer), 0);
    rm_images_reader_free(holder);
    rm_images_reader_free(reader);
}

static void test_replaced(void **state) {
    struct images_test *test = *state;
    struct child_owner child;
    child_start(&child);
    images_attach(test);
    struct rm_images_reader *reader = images_reader(test);
    child_kill(&child);
    images_owner_open(test, LEASES + 1); // another layout
    assert_false(rm_workspace_alive(test->workspace));
    expect_ended(reader);
    rm_images_reader_free(reader);
}

/** A segment that was removed says nothing of it; the file under its name is another one. */
static void test_removed_and_made_anew(void **state) {
    struct images_test *test = *state;
    struct child_owner child;
    char directory[PATH_MAX];
    child_start(&child);
    images_attach(test);
    struct rm_images_reader *reader = images_reader(test);
    child_kill(&child);
    snprintf(directory, sizeof directory, "%s/demo", test->workspaces);
    rm_segment_lock_clear(directory, "cameras");
    struct stat status;
    assert_int_equal(stat(test->view.lease_path, &status), -1);
    images_owner_open(test, LEASES);
    assert_false(rm_owner_adopted(test->owner));
    assert_false(rm_workspace_alive(test->workspace));
    expect_ended(reader);
    rm_images_reader_free(reader);
}

static void expect_attach(unsigned flags, enum rm_code code) {
    struct rm_workspace *workspace = NULL;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_workspace_attach("demo", flags, &workspace, &error), code);
    rm_workspace_detach(workspace);
}

static void test_serverless(void **state) {
    struct images_test *test = *state;
    struct child_owner child;
    expect_attach(RM_ATTACH_SERVERLESS, RM_E_ABSENT);
    child_start(&child);
    expect_attach(0, RM_E_ABSENT);
    expect_attach(RM_ATTACH_SERVERLESS, RM_OK);
    child_kill(&child);
    expect_attach(RM_ATTACH_SERVERLESS, RM_E_ABSENT);
    images_owner_open(test, LEASES);
    images_attach(test);
    assert_int_equal(rm_workspace_object_count(test->workspace), 1);
}

/** What a server that ended left is not mapped; a living one leads. */
static void test_server_beside(void **state) {
    struct images_test *test = *state;
    struct test_plan plan;
    struct rm_segment server;
    test_plan_make(&plan, TEST_CAPACITY);
    assert_int_equal(rm_segment_open("demo", "server", &plan.plan, &server, NULL), RM_OK);
    rm_segment_finish(&server);
    images_owner_open(test, LEASES);
    images_attach(test);
    assert_int_equal(rm_workspace_object_count(test->workspace), plan.plan.count + 1);
    rm_segment_close(&server);
    assert_false(rm_workspace_alive(test->workspace));
    images_detach(test);
    expect_attach(0, RM_E_DEAD);
    images_attach(test);
    assert_int_equal(rm_workspace_object_count(test->workspace), 1);
    assert_true(rm_workspace_alive(test->workspace));
    rm_plan_free(&plan.plan);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adopted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_removed_and_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_serverless, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_server_beside, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
