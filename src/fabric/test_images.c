// SPDX-License-Identifier: Apache-2.0
/** Publishing, leasing and taking back of images; tickets; readers that never release, or are killed. */
#include "fabric/test_images_steps.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

static int set_up(void **state) {
    struct images_test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL || !test_workspaces_make(test->workspaces, sizeof test->workspaces))
        return -1;
    images_owner_open(test, LEASES);
    images_attach(test);
    return 0;
}

static int tear_down(void **state) {
    struct images_test *test = *state;
    images_detach(test);
    images_owner_close(test);
    test_workspaces_remove(test->workspaces);
    free(test);
    return 0;
}

static void test_frames_in_order(void **state) {
    struct images_test *test = *state;
    struct rm_frame frame;
    images_publish(test, 0, 10);
    struct rm_images_reader *reader = images_reader(test);
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET); // it begins with the next one
    for (uint64_t i = 1; i < 4; ++i)
        assert_int_equal(images_publish(test, (uint32_t)i, 10 + i), 1 + i);
    for (uint64_t i = 1; i < 4; ++i)
        images_expect_and_release(reader, 10 + i, 0);
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET);
    rm_images_reader_free(reader);
}

static void test_newest(void **state) {
    struct images_test *test = *state;
    struct rm_images_reader *reader = images_reader(test);
    struct rm_frame frame;
    for (uint32_t i = 0; i < 5; ++i)
        images_publish(test, i, i);
    assert_int_equal(rm_images_newest(reader, 0, &frame), RM_FRAME_OK);
    assert_int_equal(frame.slot->number, 4);
    assert_int_equal(frame.passed_over, 4);
    rm_images_release(reader, &frame);
    assert_int_equal(rm_images_newest(reader, 0, &frame), RM_FRAME_NOT_YET);
    rm_images_reader_free(reader);
}

/** The slot that was published first comes back first; the newest never. */
static void test_reclaim(void **state) {
    struct images_test *test = *state;
    uint32_t const order[SLOTS] = {3, 1, 7, 0, 2, 5, 4, 6};
    assert_int_equal(rm_images_reclaim(test->writer), SLOTS); // all are its own
    for (uint32_t i = 0; i < SLOTS; ++i)
        images_publish(test, order[i], i);
    for (uint32_t i = 0; i < SLOTS - 1; ++i)
        assert_int_equal(rm_images_reclaim(test->writer), order[i]);
    assert_int_equal(rm_images_reclaim(test->writer), SLOTS);
}

static void test_leased_slot_stays(void **state) {
    struct images_test *test = *state;
    struct rm_images_reader *reader = images_reader(test);
    for (uint32_t i = 0; i < SLOTS; ++i)
        images_publish(test, i, i);
    struct rm_frame frame = images_expect(reader, 0, 0);
    for (uint64_t number = SLOTS; number < 50; ++number)
        images_publish_next(test, number);
    assert_true(images_frame_good(&frame, 0));
    rm_images_release(reader, &frame);
    assert_int_equal(rm_images_reclaim(test->writer), 0);
    images_expect_and_release(reader, 50 - SLOTS + 1, 50 - SLOTS); // the others were gone, and 0 held a slot
    rm_images_reader_free(reader);
}

/** The reader that never releases is stopped, not the others and not the writer. */
static void test_tickets(void **state) {
    struct images_test *test = *state;
    struct rm_images_reader *hoarder = images_reader(test), *other = images_reader(test), *late = images_reader(test);
    struct rm_frame frame;
    for (uint32_t i = 0; i < 4; ++i)
        images_publish(test, i, i);
    struct rm_frame const first = images_expect(hoarder, 0, 0);
    images_expect(hoarder, 1, 0);
    assert_int_equal(rm_images_next(hoarder, 0, &frame), RM_FRAME_NO_LEASE); // two of three
    for (uint64_t number = 0; number < 4; ++number)
        images_expect_and_release(late, number, 0);
    struct rm_frame second = images_expect(other, 0, 0);
    for (uint32_t i = 4; i < SLOTS; ++i)
        images_publish(test, i, i);
    assert_int_equal(rm_images_next(late, 0, &frame), RM_FRAME_NO_LEASE); // others hold all
    for (uint64_t number = SLOTS; number < 40; ++number)
        images_publish_next(test, number);
    rm_images_release(other, &second);
    assert_int_equal(rm_images_newest(late, 0, &frame), RM_FRAME_OK);
    assert_true(images_frame_good(&frame, 39) && images_frame_good(&first, 0));
    assert_int_equal(frame.passed_over, 35);
    rm_images_reader_free(hoarder); // with what it holds
    rm_images_reader_free(late);
    rm_images_reader_free(other);
    for (uint32_t i = 0; i < SLOTS - 1; ++i)
        assert_true(rm_images_reclaim(test->writer) < SLOTS);
}

static void test_killed_reader(void **state) {
    struct images_test *test = *state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    for (uint32_t i = 0; i < SLOTS - 1; ++i)
        images_publish(test, i, i);
    pid_t const child = fork();
    if (child == 0) {
        struct rm_images_reader *reader = NULL;
        struct rm_frame frame;
        bool good = rm_images_reader_new(&test->view, &reader, NULL) == RM_OK && write(ready[1], "r", 1) == 1 &&
                    rm_images_next(reader, UINT64_MAX / 2, &frame) == RM_FRAME_OK;
        good = good && write(ready[1], "l", 1) == 1;
        pause();
        _exit(good ? 0 : 1);
    }
    char word;
    assert_int_equal(read(ready[0], &word, 1), 1);
    images_publish(test, SLOTS - 1, SLOTS - 1); // it waits for this one
    assert_int_equal(read(ready[0], &word, 1), 1);
    for (uint64_t number = SLOTS; number < 30; ++number)
        images_publish_next(test, number);
    for (uint32_t i = 0; i < SLOTS - 2; ++i)
        assert_int_not_equal(rm_images_reclaim(test->writer), SLOTS - 1);
    assert_int_equal(rm_images_reclaim(test->writer), SLOTS); // one is the newest, one is leased
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rm_images_reclaim(test->writer), SLOTS - 1);
    close(ready[0]);
    close(ready[1]);
}

struct publisher {
    struct images_test *test;
    uint32_t slot;
};

static void *publish_later(void *argument) {
    struct publisher *publisher = argument;
    images_publish(publisher->test, publisher->slot, publisher->slot);
    return NULL;
}

static void test_wait_is_woken(void **state) {
    struct images_test *test = *state;
    struct rm_images_reader *reader = images_reader(test);
    for (uint32_t slot = 0; slot < SLOTS; ++slot) {
        struct publisher publisher = {test, slot};
        struct rm_frame frame;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, publish_later, &publisher), 0);
        assert_int_equal(rm_images_next(reader, 60ull * A_SECOND_NS, &frame), RM_FRAME_OK);
        assert_int_equal(frame.slot->number, slot);
        rm_images_release(reader, &frame);
        pthread_join(thread, NULL);
    }
    rm_images_reader_free(reader);
}

static void test_wait_for_several(void **state) {
    struct images_test *test = *state;
    struct rm_images_reader *readers[3];
    for (int i = 0; i < 3; ++i)
        readers[i] = images_reader(test);
    assert_int_equal(rm_images_wait(readers, 3, 0), 3);
    assert_int_equal(rm_images_wait(readers, 3, 1000000), 3);
    for (uint32_t slot = 0; slot < 5; ++slot) {
        struct publisher publisher = {test, slot};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, publish_later, &publisher), 0);
        for (uint32_t i = 0; i < 3; ++i) {
            assert_int_equal(rm_images_wait(readers, 3, 60ull * A_SECOND_NS), i);
            images_expect_and_release(readers[i], slot, 0);
        }
        assert_int_equal(rm_images_wait(readers, 3, 0), 3);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 3; ++i)
        rm_images_reader_free(readers[i]);
}

/** A frame that claims more than its slot holds is not shown, and no place leads outside. */
static void test_frames_that_lie(void **state) {
    struct images_test *test = *state;
    struct rm_images_reader *reader = images_reader(test);
    struct rm_frame frame;
    struct rm_images *images = rm_owner_memory(test->owner, test->index);
    rm_images_slot(test->writer, 0)->length = test->view.frame_bytes + 1;
    rm_images_publish(test->writer, 0);
    rm_images_slot(test->writer, 1)->fragments = (uint32_t)test->view.map_bytes * 8 + 1;
    rm_images_publish(test->writer, 1);
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET);
    uint64_t const sequence = images_publish(test, 2, 2);
    uint64_t const hostile[] = {sequence << 8 | 255, sequence << 8 | SLOTS, sequence << 8 | 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; ++i) {
        atomic_store(&images->place[sequence], hostile[i]);
        assert_int_equal(rm_images_newest(reader, 0, &frame), RM_FRAME_NOT_YET);
        atomic_store(&images->newest, UINT64_MAX); // all of it is looked for
        assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET);
        atomic_store(&images->newest, sequence);
        rm_images_reader_free(reader);
        reader = images_reader(test);
    }
    images_publish(test, 3, 3);
    images_expect_and_release(reader, 3, 0);
    rm_images_reader_free(reader);
}

/** Every user who may read the segment may take a ticket; nobody else. */
static void test_mode_and_removal(void **state) {
    struct images_test *test = *state;
    struct stat status;
    char segment[PATH_MAX];
    assert_int_equal(stat(test->view.lease_path, &status), 0);
    mode_t const leases = status.st_mode & 0777;
    snprintf(segment, sizeof segment, "%s/demo/cameras.segment", test->workspaces);
    assert_int_equal(stat(segment, &status), 0);
    assert_int_equal(leases, (status.st_mode & 0444) | (status.st_mode & 0444) >> 1);
    images_owner_close(test); // the last one of the workspace takes all with it
    assert_int_equal(stat(test->view.lease_path, &status), -1);
    struct rm_images_reader *reader;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_images_reader_new(&test->view, &reader, &error), RM_E_ABSENT);
    images_owner_open(test, LEASES);
}

static void test_refused(void **state) {
    struct images_test *test = *state;
    struct rm_images_plan const bad[] = {
        {"a", "", 7, 1, 100, 1}, {"a", "", 65, 1, 100, 1},
        {"a", "", 8, 4, 100, 1}, {"a", "", 8, 0, 100, 1},
        {"a", "", 8, 3, 0, 1},   {"a", "", 8, 3, 1ull << 33, 1},
        {"a", "", 8, 3, 100, 0}, {"a", "", 8, UINT32_MAX, 100, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        struct rm_owner *owner;
        struct rm_error error = {.text = ""};
        assert_int_equal(rm_owner_new("demo", "other", &owner, &error), RM_OK);
        rm_owner_images(owner, &bad[i]);
        assert_int_equal(rm_owner_open(owner, &error), RM_E_ARGUMENT);
        rm_owner_close(owner);
    }
    struct rm_images_writer *writer;
    assert_int_equal(rm_images_writer_new(test->owner, test->index + 1, &writer, NULL), RM_E_ARGUMENT);
}

static void test_a_reader_goes_on_where_another_one_was(void **state) {
    struct images_test *test = *state;
    struct rm_frame frame;
    for (uint32_t i = 0; i < 4; ++i)
        images_publish(test, i, 10 + i);
    struct rm_images_reader *reader = images_reader(test);
    rm_images_begin_after(reader, 2);
    images_expect_and_release(reader, 12, 0);
    images_expect_and_release(reader, 13, 0);
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_NOT_YET);
    rm_images_begin_after(reader, 99); /* of an owner before */
    images_expect_and_release(reader, 10, 0);
    rm_images_reader_free(reader);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_frames_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_newest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_reader_goes_on_where_another_one_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reclaim, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_leased_slot_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tickets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_reader, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wait_is_woken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wait_for_several, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frames_that_lie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mode_and_removal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
