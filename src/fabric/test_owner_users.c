// SPDX-License-Identifier: Apache-2.0
/** Owners of another user: what they may do in their folder, and what they cannot do to others. Needs root, to become
 * that user. */
#include "fabric/test_segment_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>

#include "fabric/owner_folder.h"
#include "fabric/segment_lock.h"
#include "fabric/segment_map.h"

enum { NOBODY = 65534, NOT_POSSIBLE = 77 };

/** Runs `act` as another user in a process of its own; its result is the process's. */
static int as_nobody(struct segment_test *test, int (*act)(struct segment_test *)) {
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(setgid(NOBODY) == 0 && setuid(NOBODY) == 0 ? act(test) : NOT_POSSIBLE);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int set_up_users(void **state) {
    int const done = set_up(state);
    struct segment_test *test = *state;
    return done != 0 ? done : chmod(test->workspaces, 0755);
}

/** The server's, with the folders that it makes for two applications. */
static void start_workspace(struct segment_test *test) {
    start_server(test);
    assert_ok(rm_workspace_folder("demo", "ramp", NOBODY, &test->error), &test->error);
    assert_ok(rm_workspace_folder("demo", "other", 1, &test->error), &test->error);
    assert_ok(rm_workspace_folder("demo", "requests", 0, &test->error), &test->error);
}

static enum rm_code run_ramp(struct segment_test *test, struct rm_owner **owner) {
    struct rm_error *error = &test->error;
    enum rm_code code = rm_owner_new("demo", "ramp", owner, error);
    if (code != RM_OK)
        return code;
    rm_owner_setpoints(*owner, "setpoints/ramp", "", 8);
    rm_owner_requests(*owner);
    return rm_owner_open(*owner, error);
}

static enum rm_code map_ramp(struct segment_test *test, struct rm_mapped_segment *mapped) {
    char path[PATH_MAX];
    path_of(test, "", path);
    return rm_segment_map_readonly(path, "ramp", mapped, &test->error);
}

static int run_well(struct segment_test *test) {
    struct rm_owner *owner;
    if (run_ramp(test, &owner) != RM_OK)
        return 1;
    rm_owner_close(owner);
    if (run_ramp(test, &owner) != RM_OK || !rm_owner_adopted(owner))
        return 2;
    rm_owner_close(owner);
    struct rm_workspace *workspace; // and it reads the server's
    if (rm_workspace_attach("demo", RM_ATTACH_DEAD, &workspace, &test->error) != RM_OK)
        return 3;
    rm_workspace_detach(workspace);
    return 0;
}

static void test_owns_its_own(void **state) {
    struct segment_test *test = *state;
    start_workspace(test);
    assert_int_equal(as_nobody(test, run_well), 0);
    struct rm_mapped_segment mapped;
    assert_ok(map_ramp(test, &mapped), &test->error);
    assert_int_equal(mapped.uid, NOBODY);
    rm_segment_unmap(&mapped);
}

/** Opening, removing, replacing and making: each must be refused by the system. 0 when all are. */
static int trespass(struct segment_test *test) {
    char const *const others[] = {"server.segment", "server.lock", "other/other.segment", "other/other.lock"};
    char path[PATH_MAX], target[PATH_MAX];
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        path_of(test, others[i], path);
        if (open(path, O_RDWR) >= 0 || errno != EACCES)
            return 1;
        if (unlink(path) == 0 || (errno != EACCES && errno != EPERM))
            return 2;
    }
    char const *const fresh[] = {"evil.segment", "other/evil.segment", "requests/evil.segment", "evil"};
    for (size_t i = 0; i < sizeof fresh / sizeof fresh[0]; ++i) {
        path_of(test, fresh[i], path);
        if (open(path, O_RDWR | O_CREAT, 0644) >= 0 || errno != EACCES)
            return 3;
        if (mkdir(path, 0755) == 0 || symlink("/tmp", path) == 0)
            return 4;
    }
    path_of(test, "ramp", path);
    path_of(test, "mine", target);
    if (rename(path, target) == 0 || rmdir(path) == 0)
        return 5;
    struct rm_owner *owner;
    if (rm_owner_new_requester("demo", "put", &owner, &test->error) != RM_OK)
        return 6;
    rm_owner_requests(owner);
    if (rm_owner_open(owner, &test->error) != RM_E_SYSTEM)
        return 7;
    rm_owner_close(owner);
    struct rm_segment segment;
    return rm_segment_open("demo", "server", &test->owner.plan, &segment, &test->error) == RM_E_SYSTEM ? 0 : 8;
}

static void make_other(struct segment_test *test) {
    char const *const names[] = {"other/other.segment", "other/other.lock"};
    for (size_t i = 0; i < 2; ++i) {
        char path[PATH_MAX];
        path_of(test, names[i], path);
        int const file = open(path, O_RDWR | O_CREAT, 0644);
        assert_true(file >= 0);
        assert_int_equal(fchown(file, 1, (gid_t)-1), 0);
        close(file);
    }
}

static void test_cannot_trespass(void **state) {
    struct segment_test *test = *state;
    start_workspace(test);
    make_other(test);
    assert_int_equal(as_nobody(test, trespass), 0);
}

/** A link to the server's segment in the place of its own. */
static int link_to_server(struct segment_test *test) {
    char path[PATH_MAX];
    path_of(test, "ramp/ramp.segment", path);
    return symlink("../server.segment", path);
}

static int make_pipe(struct segment_test *test) {
    char path[PATH_MAX];
    path_of(test, "ramp/ramp.segment", path);
    unlink(path);
    if (mkfifo(path, 0644) != 0)
        return 1;
    path_of(test, "ramp/ramp.lock", path);
    unlink(path);
    return mkfifo(path, 0644);
}

static int link_lock(struct segment_test *test) {
    char path[PATH_MAX];
    path_of(test, "ramp/ramp.segment", path);
    unlink(path);
    path_of(test, "ramp/ramp.lock", path);
    unlink(path);
    return symlink("../precious", path);
}

/** What its folder's user puts in the place of its files leads no other process anywhere: not a reader, and not root
 * when it begins as that owner. */
static void test_traps(void **state) {
    struct segment_test *test = *state;
    start_workspace(test);
    char precious[PATH_MAX], path[PATH_MAX], workspace_path[PATH_MAX];
    path_of(test, "precious", precious);
    path_of(test, "", workspace_path);
    int const file = open(precious, O_RDWR | O_CREAT, 0644);
    assert_int_equal(write(file, "precious", 8), 8);
    struct rm_mapped_segment mapped;
    struct rm_owner *owner;

    assert_int_equal(as_nobody(test, link_to_server), 0);
    assert_int_equal(map_ramp(test, &mapped), RM_E_SYSTEM);
    assert_int_equal(run_ramp(test, &owner), RM_OK); // removes the link, not what it leads to
    rm_owner_close(owner);
    path_of(test, "server.segment", path);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(atomic_load(&test->segment.header->state), RM_SEGMENT_LIVE);

    assert_int_equal(as_nobody(test, make_pipe), 0);
    assert_int_equal(map_ramp(test, &mapped), RM_E_SYSTEM); // and does not wait for a writer
    assert_false(rm_segment_lock_held(workspace_path, "ramp"));
    assert_int_equal(run_ramp(test, &owner), RM_E_SYSTEM);
    rm_owner_close(owner);

    assert_int_equal(as_nobody(test, link_lock), 0);
    assert_int_equal(run_ramp(test, &owner), RM_E_SYSTEM);
    rm_owner_close(owner);
    assert_false(rm_segment_lock_held(workspace_path, "ramp"));
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 8);
    close(file);
}

static int stay_in(struct segment_test *test) {
    struct rm_owner *owner;
    return run_ramp(test, &owner) == RM_OK ? 0 : 1; // not closed: as if it were killed
}

/** The configuration names another user: what the first one left is still that user's, and so is not read. */
static void test_folder_changes_hands(void **state) {
    struct segment_test *test = *state;
    start_workspace(test);
    assert_int_equal(as_nobody(test, stay_in), 0);
    char path[PATH_MAX];
    path_of(test, "ramp", path);
    assert_int_equal(chown(path, 1, (gid_t)-1), 0); // by other hands than ours: the file stays
    struct rm_mapped_segment mapped;
    assert_int_equal(map_ramp(test, &mapped), RM_E_SYSTEM);
    assert_int_equal(chown(path, NOBODY, (gid_t)-1), 0);
    assert_ok(map_ramp(test, &mapped), &test->error);
    rm_segment_unmap(&mapped);
    assert_ok(rm_workspace_folder("demo", "ramp", 1, &test->error), &test->error); // by ours: it goes
    assert_int_equal(map_ramp(test, &mapped), RM_E_ABSENT);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_uid, 1);
    assert_int_equal(status.st_mode & 07777, 0755);
}

/** A folder is not made through a link, and root adopts nothing that a user could write still. */
static void test_root(void **state) {
    struct segment_test *test = *state;
    start_workspace(test);
    char path[PATH_MAX];
    path_of(test, "linked", path);
    assert_int_equal(symlink("/tmp", path), 0);
    assert_int_equal(rm_workspace_folder("demo", "linked", NOBODY, &test->error), RM_E_SYSTEM);
    assert_int_equal(as_nobody(test, stay_in), 0);
    struct rm_owner *owner;
    assert_ok(run_ramp(test, &owner), &test->error);
    assert_false(rm_owner_adopted(owner));
    struct rm_mapped_segment mapped;
    assert_ok(map_ramp(test, &mapped), &test->error); // root's own is read too
    assert_int_equal(mapped.uid, 0);
    rm_segment_unmap(&mapped);
    rm_owner_close(owner);
}

int main(void) {
    if (geteuid() != 0) {
        print_message("another user's rights are NOT TESTED: run this as root\n");
        return NOT_POSSIBLE;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_owns_its_own, set_up_users, tear_down),
        cmocka_unit_test_setup_teardown(test_cannot_trespass, set_up_users, tear_down),
        cmocka_unit_test_setup_teardown(test_traps, set_up_users, tear_down),
        cmocka_unit_test_setup_teardown(test_folder_changes_hands, set_up_users, tear_down),
        cmocka_unit_test_setup_teardown(test_root, set_up_users, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
