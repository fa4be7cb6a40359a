// SPDX-License-Identifier: Apache-2.0
/** What the service manager hears, on a socket of this test's; and environments that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/notify.h"

static struct rm_error error;

static int forget_environment(void **state) {
    (void)state;
    return unsetenv("NOTIFY_SOCKET") | unsetenv("WATCHDOG_USEC") | unsetenv("WATCHDOG_PID");
}

/** A manager's socket in no folder, under a name that no other process has; the environment tells of it. */
static int manager_listens(void) {
    int const manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int const length =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ringmaster-test-notify-%ld", (long)getpid());
    socklen_t const bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    assert_int_equal(bind(manager, (struct sockaddr const *)&address, bytes), 0);
    char name[sizeof address.sun_path];
    snprintf(name, sizeof name, "@%s", address.sun_path + 1);
    setenv("NOTIFY_SOCKET", name, 1);
    return manager;
}

static void hears(int manager, char const *expected) {
    char heard[256] = "";
    ssize_t const length = recv(manager, heard, sizeof heard - 1, 0);
    assert_true(length >= 0);
    assert_string_equal(heard, expected);
}

static void the_manager_hears_each_line_once(void **state) {
    (void)state;
    int const manager = manager_listens();
    struct rm_notify notify;
    assert_int_equal(rm_notify_open(&notify, &error), RM_OK);
    assert_int_equal(notify.watchdog_ns, 0);
    assert_true(rm_notify_send(&notify, "READY=1\nSTATUS=3 instruments"));
    assert_true(rm_notify_send(&notify, "STOPPING=1"));
    hears(manager, "READY=1\nSTATUS=3 instruments");
    hears(manager, "STOPPING=1");
    char byte;
    assert_int_equal(recv(manager, &byte, 1, 0), -1);
    rm_notify_close(&notify);
    close(manager);
}

static void without_a_manager_nothing_is_sent(void **state) {
    (void)state;
    struct rm_notify notify;
    setenv("WATCHDOG_USEC", "1000", 1);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(rm_notify_open(&notify, &error), RM_OK);
        assert_int_equal(notify.socket, -1);
        assert_int_equal(notify.watchdog_ns, 0);
        assert_true(rm_notify_send(&notify, "READY=1"));
        rm_notify_close(&notify);
        setenv("NOTIFY_SOCKET", "", 1);
    }
}

static void a_manager_that_is_gone_does_not_block(void **state) {
    (void)state;
    close(manager_listens());
    struct rm_notify notify;
    assert_int_equal(rm_notify_open(&notify, &error), RM_OK);
    assert_false(rm_notify_send(&notify, "WATCHDOG=1"));
    rm_notify_close(&notify);
}

static void a_manager_that_does_not_read_does_not_block(void **state) {
    (void)state;
    int const manager = manager_listens();
    struct rm_notify notify;
    assert_int_equal(rm_notify_open(&notify, &error), RM_OK);
    bool taken = true;
    for (int i = 0; i < 100000 && taken; ++i)
        taken = rm_notify_send(&notify, "WATCHDOG=1");
    assert_false(taken);
    rm_notify_close(&notify);
    close(manager);
}

static void the_watchdog_is_that_of_this_process(void **state) {
    (void)state;
    int const manager = manager_listens();
    struct rm_notify notify;
    char process[24];
    setenv("WATCHDOG_USEC", "10000000", 1);
    for (int other = 0; other < 2; ++other) {
        snprintf(process, sizeof process, "%ld", (long)getpid() + other);
        setenv("WATCHDOG_PID", process, 1);
        assert_int_equal(rm_notify_open(&notify, &error), RM_OK);
        assert_int_equal(notify.watchdog_ns, other ? 0 : UINT64_C(10000000000));
        rm_notify_close(&notify);
    }
    unsetenv("WATCHDOG_PID");
    assert_int_equal(rm_notify_open(&notify, &error), RM_OK);
    assert_int_equal(notify.watchdog_ns, UINT64_C(10000000000));
    rm_notify_close(&notify);
    close(manager);
}

static void what_makes_no_sense_is_refused_by_name(void **state) {
    (void)state;
    struct rm_notify notify;
    char longest[200];
    memset(longest, 'a', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    char const *const sockets[] = {"relative", "@", "vsock:2:1", longest};
    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; ++i) {
        setenv("NOTIFY_SOCKET", sockets[i], 1);
        assert_int_equal(rm_notify_open(&notify, &error), RM_E_ARGUMENT);
        assert_non_null(strstr(error.text, "$NOTIFY_SOCKET"));
        assert_int_equal(notify.socket, -1);
    }
    setenv("NOTIFY_SOCKET", "/run/there-is-none", 1);
    char const *const periods[] = {"", "0", "-1", " 5", "5s", "99999999999999999999", "18446744073709551615"};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; ++i) {
        setenv("WATCHDOG_USEC", periods[i], 1);
        assert_int_equal(rm_notify_open(&notify, &error), RM_E_ARGUMENT);
        assert_non_null(strstr(error.text, "$WATCHDOG_USEC"));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup(the_manager_hears_each_line_once, forget_environment),
        cmocka_unit_test_setup(without_a_manager_nothing_is_sent, forget_environment),
        cmocka_unit_test_setup(a_manager_that_is_gone_does_not_block, forget_environment),
        cmocka_unit_test_setup(a_manager_that_does_not_read_does_not_block, forget_environment),
        cmocka_unit_test_setup(the_watchdog_is_that_of_this_process, forget_environment),
        cmocka_unit_test_setup(what_makes_no_sense_is_refused_by_name, forget_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
