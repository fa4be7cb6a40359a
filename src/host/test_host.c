// SPDX-License-Identifier: Apache-2.0
/** The host with a server written by hand, and time in the test's hands. Argument: the test application's path. */
#include "host/test_host_rig.h"

/** The first command is what was sent last: to the supplies that are its own, by their names. */
static void test_begins_where_the_supplies_stand(void **state) {
    struct host_test *test = *state;
    double values[ACTUATORS];
    open_host(test);
    uint64_t const grant_number = grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    struct rm_setpoint_reading const vector = newest(test, values);
    assert_int_equal(vector.grant_number, grant_number);
    assert_int_equal(vector.input_turn, 1200);
    assert_true(values[0] == 2.5 && values[1] == 4.5);
    assert_int_equal(duty(test), 0);
    test->turn += TEST_PERIOD;
    assert_int_equal(duty(test), 1);
    assert_int_equal(newest(test, values).input_turn, 1212);
    test->turn += 3 * TEST_PERIOD + 5;
    assert_int_equal(duty(test), 1);
    assert_int_equal(newest(test, values).input_turn, 1248);
    assert_int_equal(counter(test, RM_APPLICATION_SKIPPED), 2);
    assert_int_equal(counter(test, RM_APPLICATION_COMMITTED), 3);
    assert_int_equal(atomic_load(&test->host->latency->total), 3);
    assert_int_equal(atomic_load(&test->host->age->total), 3);
    assert_true(reading(test, TEST_TURN) == 1248.0 && reading(test, TEST_STEPS) == 2.0);
}

static enum rm_severity severity_of_steps(struct host_test *test) {
    struct rm_parameter_reading when;
    double value;
    assert_int_equal(rm_parameter_read(test->host->readings.parameter[TEST_STEPS], &value, sizeof value, &when),
                     sizeof value);
    return when.severity;
}

/** A reading is judged by the limits that the code gives it. */
static void test_readings_have_severities(void **state) {
    struct host_test *test = *state;
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    for (enum rm_severity severity = RM_SEVERITY_NONE; severity <= RM_SEVERITY_MAJOR; ++severity) {
        assert_int_equal(severity_of_steps(test), severity);
        test->turn += TEST_PERIOD;
        assert_int_equal(duty(test), 1);
    }
}

/** Not before the server knows where they stand; those that are lost are not waited for. */
static void test_waits_for_its_supplies(void **state) {
    struct host_test *test = *state;
    test_server_state(&test->server, 4, RM_SUPPLY_JOINING);
    open_host(test);
    grant(test);
    wait_for_words(test, "is there");
    for (unsigned i = 0; i < 100; ++i)
        assert_int_equal(duty(test), 0);
    test_server_state(&test->server, 3, RM_SUPPLY_JOINING); // another's
    turn_until(test, RM_APPLICATION_STEPS, 1);
    rm_host_close(test->host);
    test_server_state(&test->server, 4, RM_SUPPLY_JOINING | RM_SUPPLY_LOST);
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
}

static void test_only_by_its_own_grant(void **state) {
    struct host_test *test = *state;
    open_host(test);
    test_server_grant(&test->server, instance_of(test), (uint64_t)getpid() + 1);
    wait_for_words(test, "is there");
    for (unsigned i = 0; i < 100; ++i)
        assert_int_equal(duty(test), 0);
    test_server_grant(&test->server, instance_of(test) + 1, (uint64_t)getpid());
    assert_int_equal(duty(test), 0);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    test_server_grant(&test->server, 0, 0);
    test->turn += TEST_PERIOD;
    assert_int_equal(duty(test), 0);
    grant(test);
    assert_int_equal(duty(test), 1);
    assert_int_equal(counter(test, RM_APPLICATION_GRANTS), 2);
}

/** A server that died and came back grants anew; the first command is what it says then, and the state begins anew. */
static void test_restarted_server(void **state) {
    struct host_test *test = *state;
    double values[ACTUATORS];
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"offset", 1.0};
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    newest(test, values);
    assert_true(values[0] == 3.5);
    test_server_die(&test->server);
    wait_for_words(test, "has gone");
    test->turn += TEST_PERIOD;
    assert_int_equal(duty(test), 0);
    assert_true(test_server_open(&test->server));
    test_server_clock(&test->server, 0, BASE, TSC_HZ);
    test_server_send(&test->server, 5.5);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 2);
    newest(test, values);
    assert_true(values[0] == 8.5 && values[1] == 10.5);
    assert_true(reading(test, TEST_STEPS) == 0.0);
    assert_true(setting(test, TEST_OFFSET) == 1.0);
}

/** One that comes back with another configuration has another segment: the old one is left. */
static void test_replaced_server(void **state) {
    struct host_test *test = *state;
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    test_server_close(&test->server);
    wait_for_words(test, "has gone");
    test_server_plan(&test->server, NULL);
    assert_true(test_server_open(&test->server));
    wait_for_words(test, "runs without an application \"app\"");
    test_server_close(&test->server);
    test_server_plan(&test->server, "app");
    assert_true(test_server_open(&test->server));
    test_server_clock(&test->server, 0, BASE, TSC_HZ);
    test_server_send(&test->server, 0.5);
    grant(test);
    test->turn += TEST_PERIOD;
    turn_until(test, RM_APPLICATION_STEPS, 2);
}

/* ── settings ── */

static void assert_refused(struct host_test *test, struct host_asker *asker, char const *name, double value,
                           char const *words) {
    struct rm_reply const reply = reply_to(test, asker, ask(asker, name, value));
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
    if (strstr(reply.reason, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", reply.reason, words);
}

static void test_settings(void **state) {
    struct host_test *test = *state;
    double values[ACTUATORS];
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    struct host_asker asker = asker_open();
    assert_int_equal(reply_to(test, &asker, ask(&asker, "app/offset", 2.0)).verdict, RM_VERDICT_DONE);
    assert_true(setting(test, TEST_OFFSET) == 2.0);
    test->turn += TEST_PERIOD;
    assert_int_equal(duty(test), 1);
    newest(test, values);
    assert_true(values[0] == 4.5);
    assert_refused(test, &asker, "app/offset", 11.0, "above");
    assert_refused(test, &asker, "app/offset", NAN, "number");
    assert_refused(test, &asker, "app/gain", 7.0, "offset times gain is above 1");
    assert_refused(test, &asker, "app/turn", 7.0, "");
    assert_true(setting(test, TEST_OFFSET) == 2.0 && setting(test, TEST_GAIN) == 0.0);
    assert_int_equal(counter(test, RM_APPLICATION_SETTINGS), 1);
    assert_int_equal(counter(test, RM_APPLICATION_REFUSED), 4);
    asker_close(&asker);
}

/** Asks for a gain that only goes with a smaller offset, and for the offset. False where the host took the core away in
 * between, so that the two were apart: then the gain is refused, and the offset is as it was again. */
static bool asked_together(struct host_test *test, struct host_asker *asker, uint64_t *group) {
    uint64_t const GATHER_NS = 300000; /* as docs/applications.md promises */
    *group = atomic_load(&test->host->settings.group->sequence);
    uint64_t const begin_ns = rm_monotonic_ns();
    uint64_t const first = ask(asker, "app/gain", 5.0);
    uint64_t const second = ask(asker, "app/offset", 0.125);
    bool const apart = rm_monotonic_ns() - begin_ns >= GATHER_NS;
    enum rm_verdict const verdict = reply_to(test, asker, first).verdict;
    assert_int_equal(reply_to(test, asker, second).verdict, RM_VERDICT_DONE);
    if (verdict == RM_VERDICT_DONE)
        return true;
    assert_true(apart);
    assert_int_equal(reply_to(test, asker, ask(asker, "app/offset", 10.0)).verdict, RM_VERDICT_DONE);
    return false;
}

/** Two that one asks for together change in one step: apart, the first would be refused. */
static void test_settings_together(void **state) {
    struct host_test *test = *state;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"offset", 10.0};
    open_host(test);
    struct host_asker asker = asker_open();
    uint64_t group;
    while (!asked_together(test, &asker, &group)) {
    }
    assert_true(setting(test, TEST_GAIN) == 5.0 && setting(test, TEST_OFFSET) == 0.125);
    assert_int_equal(atomic_load(&test->host->settings.group->sequence), group + 2);
    asker_close(&asker);
}

/** A requester of an application that is stuck in a step is told so. */
static void test_settings_of_a_stuck_one(void **state) {
    struct host_test *test = *state;
    open_host(test);
    struct host_asker asker = asker_open();
    uint64_t const number = ask(&asker, "app/offset", 1.0);
    struct rm_reply reply;
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!rm_requests_reply(asker.owner, asker.workspace, "app", number, &reply) && rm_monotonic_ns() < end)
        usleep(1000); // and no duty
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
    assert_non_null(strstr(reply.reason, "inside of one step"));
    duty(test);
    assert_true(setting(test, TEST_OFFSET) == 0.0);
    asker_close(&asker);
}

/* ── steps ── */

static void test_quiet(void **state) {
    struct host_test *test = *state;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"mode", TEST_IS_QUIET};
    open_host(test);
    grant(test);
    turn_until(test, RM_APPLICATION_QUIET, 1);
    assert_int_equal(counter(test, RM_APPLICATION_COMMITTED), 0);
    assert_int_equal(atomic_load(&test->host->latency->total), 0);
}

static void test_refuses_init(void **state) {
    struct host_test *test = *state;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"mode", TEST_REFUSES_INIT};
    open_host(test);
    grant(test);
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (rm_host_failure(test->host) == NULL && rm_monotonic_ns() < end)
        duty(test);
    assert_non_null(rm_host_failure(test->host));
    assert_string_equal(rm_host_failure(test->host)->text, "the test wants it so");
    assert_int_equal(counter(test, RM_APPLICATION_STEPS), 0);
}

/** One run over inputs that come irregularly, some of them never: the vectors that it makes. */
static void run_inputs(struct host_test *test, uint64_t vectors[][ACTUATORS + 1], unsigned count) {
    uint64_t random = 12345;
    open_host(test);
    grant(test);
    /* It begins with the newest record, so the first one is there before it. */
    for (unsigned input = 0; input < TEST_INPUTS; ++input)
        test_server_record(&test->server, input, test->turn, 1);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    for (unsigned i = 0; i < count; ++i) {
        test->turn += TEST_PERIOD;
        rm_turn const turn = test->turn;
        for (unsigned input = 0; input < TEST_INPUTS; ++input) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            if (random >> 60 != 0) // one of sixteen never comes
                test_server_record(&test->server, input, turn, (int32_t)(random >> 40));
        }
        if (duty(test) == 0) { // not before the deadline
            test->turn = turn + 6 + 2 * TEST_PERIOD;
            assert_int_equal(duty(test), 1);
            test->turn = turn;
        }
        double values[ACTUATORS];
        vectors[i][0] = newest(test, values).input_turn;
        memcpy(&vectors[i][1], values, sizeof values);
        assert_int_equal(vectors[i][0], turn);
    }
    assert_true(counter(test, RM_APPLICATION_MISSING) > 0);
    rm_host_close(test->host);
    test->host = NULL;
}

/** The same inputs give the same vectors, bit by bit: in another life of the host, at other times. */
static void test_replay(void **state) {
    enum { VECTORS = 500 };
    static uint64_t first[VECTORS][ACTUATORS + 1], second[VECTORS][ACTUATORS + 1];
    struct host_test *test = *state;
    test->setup.input_count = TEST_INPUTS;
    test->setup.input = inputs;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"gain", 1.0 / 3.0e6};
    run_inputs(test, first, VECTORS);
    for (unsigned i = 0; i < TEST_INPUTS; ++i)
        rm_stream_writer_restart(&test->server.writer[i]);
    test->turn = 1200;
    run_inputs(test, second, VECTORS);
    assert_memory_equal(first, second, sizeof first);
    assert_int_not_equal(first[0][1], first[VECTORS - 1][1]);
}

/* ── what is refused at the start ── */

static void assert_not_opened(struct host_test *test, enum rm_code wanted, char const *words) {
    struct rm_error error;
    struct rm_host *host;
    assert_int_equal(rm_host_open(&test->setup, &host, &error), wanted);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void test_refused_at_the_start(void **state) {
    struct host_test *test = *state;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"ofset", 1.0};
    assert_not_opened(test, RM_E_CONFIG, "did you mean \"offset\"?");
    test->setup.setting = &(struct rm_host_setting){"offset", 10.5};
    assert_not_opened(test, RM_E_CONFIG, "10.5 is not within its limits -10 … 10");
    test->setup.setting_count = 2;
    test->setup.setting = (struct rm_host_setting[]){{"offset", 10.0}, {"gain", 1.0}};
    assert_not_opened(test, RM_E_CONFIG, "offset times gain is above 1");
    test->setup.setting_count = 0;
    open_host(test);
    assert_not_opened(test, RM_E_BUSY, "app");
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    application = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_begins_where_the_supplies_stand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_readings_have_severities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waits_for_its_supplies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_by_its_own_grant, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_restarted_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_settings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_settings_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_settings_of_a_stuck_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quiet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_init, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_at_the_start, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
