// SPDX-License-Identifier: Apache-2.0
/** Permission to act ends with what it was given to: this process, and the server's grant. Settings do not. Argument:
 * the test application's path. */
#include "host/test_host_rig.h"

#include <sys/wait.h>

#include "host/host_permissions.h"

static double withdrawn(struct host_test *test) { return rm_parameter_read_f64(test->host->settings.withdrawn); }

static void put(struct host_test *test, char const *name, double value) {
    struct host_asker asker = asker_open();
    struct rm_reply const reply = reply_to(test, &asker, ask(&asker, name, value));
    if (reply.verdict != RM_VERDICT_DONE)
        fail_msg("%s: %s", name, reply.reason);
    asker_close(&asker);
}

static void write_command(struct host_test *test, unsigned which, double value) {
    rm_host_settings_begin(&test->host->settings);
    rm_host_settings_ask(&test->host->settings, which, 0, &value, sizeof value);
}

static void post_command(struct host_test *test) {
    struct rm_host_settings *settings = &test->host->settings;
    while (!rm_mailbox_is_free(&settings->mailbox)) /* its other sender has read its answer */
        usleep(100);
    rm_mailbox_post(&settings->mailbox);
    assert_int_equal(rm_host_settings_take(settings, test->host->program, rm_stamp_now()), 1);
    rm_mailbox_close(&settings->mailbox);
}

static void come_back(struct host_test *test) {
    assert_true(test_server_open(&test->server));
    test_server_clock(&test->server, 0, BASE, TSC_HZ);
    test_server_send(&test->server, 0.5);
}

/** A host that steps, with a setting and a permission that were given. */
static void open_allowed(struct host_test *test) {
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    assert_true(setting(test, TEST_ENABLE) == 0.0 && withdrawn(test) == RM_WITHDRAWN_NOT);
    put(test, "app/offset", 2.0);
    put(test, "app/enable", 1.0);
    assert_true(setting(test, TEST_ENABLE) == 1.0 && withdrawn(test) == RM_WITHDRAWN_NOT);
}

static void assert_withdrawn(struct host_test *test, enum rm_withdrawal why) {
    assert_true(setting(test, TEST_OFFSET) == 2.0);
    assert_true(setting(test, TEST_ENABLE) == 0.0);
    assert_int_equal((int)withdrawn(test), why);
}

static void test_ends_with_the_server(void **state) {
    struct host_test *test = *state;
    open_allowed(test);
    test_server_die(&test->server);
    wait_for_words(test, "may not act any more");
    assert_withdrawn(test, RM_WITHDRAWN_SERVER);
    write_command(test, TEST_ENABLE, 1.0); // asked for while there is no server to act under
    post_command(test);
    assert_true(setting(test, TEST_ENABLE) == 1.0 && withdrawn(test) == RM_WITHDRAWN_NOT);
    come_back(test);
    grant(test);
    test->turn += TEST_PERIOD;
    turn_until(test, RM_APPLICATION_STEPS, 2);
    assert_withdrawn(test, RM_WITHDRAWN_SERVER);
    put(test, "app/enable", 1.0);
    assert_int_equal((int)withdrawn(test), RM_WITHDRAWN_NOT);
    test->turn += TEST_PERIOD;
    duty(test);
    assert_true(setting(test, TEST_ENABLE) == 1.0);
}

/** The server was away for so short a time that the host has not seen it. */
static void test_ends_with_the_grant(void **state) {
    struct host_test *test = *state;
    open_allowed(test);
    grant(test);
    turn_until(test, RM_APPLICATION_GRANTS, 2);
    assert_withdrawn(test, RM_WITHDRAWN_SERVER);
}

/** Nor that it came back: it has the segment of the one before. No grant was there yet. */
static void test_ends_with_a_server_that_nobody_saw_dead(void **state) {
    struct host_test *test = *state;
    open_host(test);
    wait_for_words(test, "is there");
    put(test, "app/offset", 2.0);
    put(test, "app/enable", 1.0);
    test_server_die(&test->server);
    come_back(test);
    wait_for_words(test, "may not act any more");
    assert_withdrawn(test, RM_WITHDRAWN_SERVER);
}

/** In a process of its own, which is killed in the midst of its life: its segment lives on. */
static void be_killed(struct host_test *test) {
    pid_t const child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        open_host(test);
        double const on = 1.0, offset = 2.0;
        rm_parameter_write(test->host->settings.parameter[TEST_ENABLE], &on, sizeof on, rm_stamp_now());
        rm_parameter_write(test->host->settings.parameter[TEST_OFFSET], &offset, sizeof offset, rm_stamp_now());
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void test_ends_with_the_process(void **state) {
    struct host_test *test = *state;
    be_killed(test);
    open_host(test);
    assert_withdrawn(test, RM_WITHDRAWN_DIED);
    wait_for_words(test, "its last process died");
    rm_host_close(test->host);
    open_host(test); // an end in good order begins anew
    assert_true(setting(test, TEST_OFFSET) == 0.0 && setting(test, TEST_ENABLE) == 0.0);
    assert_int_equal((int)withdrawn(test), RM_WITHDRAWN_NOT);
    rm_host_close(test->host);
    be_killed(test);
    test->setup.fresh = true;
    open_host(test);
    assert_true(setting(test, TEST_OFFSET) == 0.0 && setting(test, TEST_ENABLE) == 0.0);
    assert_int_equal((int)withdrawn(test), RM_WITHDRAWN_DIED);
}

/** A change of another setting, written before the permission went and taken over after, does not bring it back. */
static void test_does_not_come_with_another(void **state) {
    struct host_test *test = *state;
    open_allowed(test);
    write_command(test, TEST_OFFSET, 3.0);
    rm_host_permissions_withdraw(&test->host->settings, test->host->program, RM_WITHDRAWN_SERVER, rm_stamp_now());
    post_command(test);
    assert_true(setting(test, TEST_OFFSET) == 3.0 && setting(test, TEST_ENABLE) == 0.0);
    assert_int_equal((int)withdrawn(test), RM_WITHDRAWN_SERVER);
}

/** What a file would keep, `ringmaster save`'s or the configuration, it would also bring back. */
static void test_no_file_gives_it(void **state) {
    struct host_test *test = *state;
    struct rm_error error;
    struct rm_host *host;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"enable", 1.0};
    assert_int_equal(rm_host_open(&test->setup, &host, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "\"enable\" is a permission to act"));
    test->setup.setting_count = 0;
    open_host(test);
    assert_int_equal(test->host->settings.parameter[TEST_ENABLE]->flags & RM_PARAMETER_SETTING, 0);
    assert_int_not_equal(test->host->settings.parameter[TEST_OFFSET]->flags & RM_PARAMETER_SETTING, 0);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    application = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_with_the_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_with_the_grant, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_with_a_server_that_nobody_saw_dead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_with_the_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_does_not_come_with_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_file_gives_it, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
