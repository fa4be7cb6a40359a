// SPDX-License-Identifier: Apache-2.0
/** The host of a latency-critical application: records as they come, streams, arrays, the thread beside. Argument: the
 * path of test_latency_critical.so. */
#include "host/test_host_rig.h"
#include "host/test_latency_critical.h"

enum { LENGTH = 600 };

static double reading_at(struct host_test *test, unsigned which, unsigned element) {
    double values[LENGTH];
    struct rm_parameter_reading when;
    assert_true(rm_parameter_read(test->host->readings.parameter[which], values, sizeof values, &when) > 0);
    return values[element];
}

static double setting_at(struct host_test *test, unsigned which, unsigned element) {
    double values[LENGTH];
    struct rm_parameter_reading when;
    assert_true(rm_parameter_read(test->host->settings.parameter[which], values, sizeof values, &when) > 0);
    return values[element];
}

static void write_file(struct host_test *test) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/own", test->workspaces);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%d\n", LENGTH);
    fclose(file);
    test->setup.configuration = path;
}

/** A host that has made its first step, of turn 1200, with a record of 1 from each input. */
static int set_up_critical(void **state) {
    if (set_up(state) != 0)
        return -1;
    struct host_test *test = *state;
    write_file(test);
    test->setup.input_count = TEST_INPUTS;
    test->setup.input = inputs;
    open_host(test);
    grant(test);
    for (unsigned i = 0; i < TEST_INPUTS; ++i)
        test_server_record(&test->server, i, test->turn, 1);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    return 0;
}

/** Sums of what arrived since the last look are half of the first setpoint above where it stood. */
static double sum_of(struct host_test *test, rm_turn turn) {
    double values[ACTUATORS];
    assert_int_equal(newest(test, values).input_turn, turn);
    assert_true(values[1] - 4.5 == values[0] - 2.5);
    return 2.0 * (values[0] - 2.5);
}

static void put(struct host_test *test, unsigned input, int32_t value) {
    test_server_record(&test->server, input, test->turn, value);
}

/** Whatever comes first, the vector is made by the last, and is the same. */
static void test_any_order(void **state) {
    struct host_test *test = *state;
    assert_true(sum_of(test, 1200) == 2.0);
    for (unsigned cycle = 0; cycle < 8; ++cycle) {
        rm_turn const before = test->turn;
        test->turn += TEST_PERIOD;
        assert_int_equal(duty(test), 0);
        put(test, cycle % 2, cycle % 2 == 0 ? 30 : 400);
        assert_int_equal(duty(test), 0);
        assert_true(sum_of(test, before) != 0.0);
        assert_int_equal(duty(test), 0);
        put(test, 1 - cycle % 2, cycle % 2 == 0 ? 400 : 30);
        assert_int_equal(duty(test), 1);
        assert_true(sum_of(test, test->turn) == 430.0);
    }
    assert_int_equal(atomic_load(&test->host->latency->total), 9);
    assert_true(reading_at(test, CRITICAL_ARRIVED, 0) == 2.0 && reading_at(test, CRITICAL_TWICE, 0) == 0.0);
    assert_int_equal(counter(test, RM_APPLICATION_MISSING), 0);
}

/** What has not come by the deadline is missing, and is nothing of the next turn when it does come. */
static void test_missing(void **state) {
    struct host_test *test = *state;
    test->turn += TEST_PERIOD;
    rm_turn const turn = test->turn;
    put(test, 1, 7);
    assert_int_equal(duty(test), 0);
    test->turn = turn + 6 + 2 * TEST_PERIOD - 1;
    assert_int_equal(duty(test), 0);
    test->turn += 1;
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, turn) == 7.0);
    assert_int_equal(counter(test, RM_APPLICATION_MISSING), 1);
    assert_int_equal(counter(test, RM_APPLICATION_LATE), 1);
    test_server_record(&test->server, 0, turn, 50); // too late
    test->turn = turn + TEST_PERIOD;
    assert_int_equal(duty(test), 0);
    put(test, 0, 1);
    put(test, 1, 2);
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, test->turn) == 3.0);
    assert_true(reading_at(test, CRITICAL_TWICE, 0) == 0.0);
    /* Skipped by its stream: it is not waited for. */
    test->turn += TEST_PERIOD;
    put(test, 0, 4);
    test_server_record(&test->server, 1, test->turn + TEST_PERIOD, 8);
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, test->turn) == 4.0);
    assert_int_equal(counter(test, RM_APPLICATION_MISSING), 2);
}

/** Turns that all inputs have passed get no step, and of them nothing arrives. */
static void test_backlog(void **state) {
    struct host_test *test = *state;
    for (int32_t i = 1; i <= 5; ++i) {
        test->turn += TEST_PERIOD;
        put(test, 0, i);
        put(test, 1, 10 * i);
    }
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, test->turn) == 55.0);
    assert_int_equal(counter(test, RM_APPLICATION_SKIPPED), 4);
    assert_true(reading_at(test, CRITICAL_ARRIVED, 0) == 2.0 && reading_at(test, CRITICAL_TWICE, 0) == 0.0);
    assert_int_equal(duty(test), 0);
}

/** A restarted count of turns: what has come of the old one gets its step, and the new one goes on. */
static void test_restarted_turns(void **state) {
    struct host_test *test = *state;
    test->turn += TEST_PERIOD;
    put(test, 0, 3);
    assert_int_equal(duty(test), 0);
    for (unsigned i = 0; i < TEST_INPUTS; ++i)
        rm_stream_writer_restart(&test->server.writer[i]);
    test_server_record(&test->server, 0, 24, 100);
    test_server_record(&test->server, 1, 24, 200);
    rm_turn const turn = test->turn;
    test->turn = 30;
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, turn) == 3.0);
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, 24) == 300.0);
    assert_true(reading_at(test, CRITICAL_TWICE, 0) == 0.0);
}

/** What was sent is what it was before the inputs came. */
static void test_sent(void **state) {
    struct host_test *test = *state;
    test_server_send(&test->server, 3.5);
    assert_int_equal(duty(test), 0);
    assert_true(test->host->program->sent[0] == 5.5 && test->host->program->sent[1] == 7.5);
    test->turn += TEST_PERIOD;
    put(test, 0, 3);
    assert_int_equal(duty(test), 0);
    test_server_send(&test->server, 4.5);
    assert_int_equal(duty(test), 0);
    assert_true(test->host->program->sent[0] == 5.5);
}

/* ── streams ── */

static void test_streams(void **state) {
    struct host_test *test = *state;
    struct rm_workspace *workspace;
    struct rm_stream_view total, constant;
    struct rm_record record;
    struct rm_error error;
    for (unsigned i = 0; i < 3; ++i) {
        test->turn += TEST_PERIOD;
        put(test, 1, (int32_t)i);
        put(test, 0, 20);
        assert_int_equal(duty(test), 1);
    }
    assert_int_equal(rm_workspace_attach("demo", 0, &workspace, &error), RM_OK);
    assert_int_equal(rm_workspace_stream(workspace, "app/total", &total, &error), RM_OK);
    assert_int_equal(rm_workspace_stream(workspace, "app/constant", &constant, &error), RM_OK);
    assert_int_equal(total.period, TEST_PERIOD);
    assert_int_equal(total.header->lane_count, CRITICAL_LANES);
    assert_int_equal(constant.header->lane_count, 1);
    assert_int_equal(total.header->instrument_kind, RM_KIND_APPLICATION);
    assert_string_equal(total.header->lane[CRITICAL_LANE_SUM].unit, "nm");
    assert_int_equal(rm_stream_head(&total), test->turn);
    assert_int_equal(rm_stream_read(&total, 1200 + TEST_PERIOD, &record), RM_READ_OK);
    assert_true(record.lane[CRITICAL_LANE_SUM].f == 20.0f);
    assert_int_equal(rm_stream_read(&total, 1200 + 3 * TEST_PERIOD, &record), RM_READ_OK);
    assert_true(record.lane[CRITICAL_LANE_SUM].f == 22.0f && record.lane[CRITICAL_LANE_MISSING].f == 0.0f);
    assert_int_equal(rm_stream_read(&constant, 1200, &record), RM_READ_OK);
    assert_true(record.lane[0].f == 7.0f && record.lane[1].f == 0.0f);
    rm_workspace_detach(workspace);
}

/* ── rows ── */

/** A row in every second step, of turns that are multiples of two periods; one whose step was skipped is missing. */
static void test_rows(void **state) {
    struct host_test *test = *state;
    struct rm_workspace *workspace;
    struct rm_rows_view rows;
    struct rm_record record;
    float values[CRITICAL_ROW_WIDTH];
    struct rm_error error;
    for (unsigned i = 1; i <= 8; ++i) {
        test->turn += TEST_PERIOD;
        if (test->turn == 1200 + 4 * TEST_PERIOD)
            continue;
        put(test, 0, (int32_t)(10 * i));
        put(test, 1, 1);
        assert_int_equal(duty(test), 1);
    }
    assert_int_equal(rm_workspace_attach("demo", 0, &workspace, &error), RM_OK);
    assert_int_equal(rm_workspace_rows(workspace, "app/absent", &rows, &error), RM_E_NOT_FOUND);
    assert_int_equal(rm_workspace_rows(workspace, "app/profile", &rows, &error), RM_OK);
    uint64_t const period = 2 * TEST_PERIOD;
    assert_int_equal(rows.stream.period, period);
    assert_true(rows.stream.header->group_delay_turns == 12.5 && rm_rows_axis(&rows, 2) == 1.0);
    assert_string_equal(rows.unit, "nm");
    rm_turn const first = (1200 + period - 1) / period * period, last = test->turn / period * period;
    assert_int_equal(rm_stream_head(&rows.stream), last);
    for (rm_turn turn = last - 2 * period; turn <= last; turn += period) {
        bool const was_skipped = turn == 1200 + 4 * TEST_PERIOD;
        enum rm_read const expected = was_skipped ? RM_READ_MISSING : RM_READ_OK;
        assert_int_equal(rm_rows_read(&rows, turn, &record, values), expected);
        uint64_t const step = (turn - 1200) / TEST_PERIOD;
        float const sum = (float)(1 + 10 * step);
        assert_true(was_skipped || (values[0] == sum && values[CRITICAL_ROW_WIDTH - 1] == sum + 6.0f));
        assert_true(was_skipped || record.lane[RM_ROWS_QUALITY].i == 0);
    }
    assert_int_equal(rm_rows_read(&rows, first, &record, values), RM_READ_LAPPED);
    rm_workspace_detach(workspace);
}

/* ── arrays ── */

static void assert_answer(struct host_test *test, struct host_asker *asker, uint64_t number, enum rm_verdict wanted,
                          char const *words) {
    struct rm_reply const reply = reply_to(test, asker, number);
    if (reply.verdict != wanted || strstr(reply.reason, words) == NULL)
        fail_msg("verdict %d: \"%s\" does not say \"%s\"", reply.verdict, reply.reason, words);
}

/** Whole and in parts; limits are of each element, and `accept` sees all of them. */
static void test_arrays(void **state) {
    struct host_test *test = *state;
    struct host_asker asker = asker_open();
    double all[LENGTH];
    assert_true(setting_at(test, CRITICAL_WEIGHT, 8) == 1.0);
    for (unsigned i = 0; i < LENGTH; ++i)
        all[i] = 0.01 * i;
    uint64_t const front = ask_part(&asker, "app/weight", 0, all, 512);
    uint64_t const rest = ask_part(&asker, "app/weight", 512, all + 512, LENGTH - 512);
    assert_answer(test, &asker, front, RM_VERDICT_DONE, "");
    assert_answer(test, &asker, rest, RM_VERDICT_DONE, "");
    for (unsigned i = 0; i < LENGTH; ++i)
        assert_true(setting_at(test, CRITICAL_WEIGHT, i) == all[i] && test->host->program->setting[1 + i] == all[i]);
    assert_answer(test, &asker, ask_part(&asker, "app/weight", 7, (double[]){1.0, 100.5}, 2), RM_VERDICT_REFUSED,
                  "above");
    assert_answer(test, &asker, ask_part(&asker, "app/weight", 7, (double[]){99.5, 99.5}, 2), RM_VERDICT_REFUSED,
                  "two weights are above 99");
    assert_answer(test, &asker, ask(&asker, "app/off_set", 0.25), RM_VERDICT_DONE, "");
    assert_true(setting_at(test, CRITICAL_WEIGHT, 7) == all[7] && setting_at(test, CRITICAL_OFFSET, 0) == 0.25);
    assert_true(setting_at(test, CRITICAL_SCALE, 0) == 0.5);
    asker_close(&asker);
}

/** Nothing is set while a turn is under way: between two steps it is. */
static void test_no_setting_inside_a_turn(void **state) {
    struct host_test *test = *state;
    struct host_asker asker = asker_open();
    test->turn += TEST_PERIOD;
    put(test, 0, 1);
    assert_int_equal(duty(test), 0);
    uint64_t const number = ask(&asker, "app/scale", 2.0);
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!rm_mailbox_is_in(&test->host->settings.mailbox, RM_MAILBOX_POSTED) && rm_monotonic_ns() < end)
        usleep(100);
    assert_int_equal(duty(test), 0);
    assert_true(rm_mailbox_is_in(&test->host->settings.mailbox, RM_MAILBOX_POSTED));
    put(test, 1, 1);
    assert_int_equal(duty(test), 1);
    assert_true(sum_of(test, test->turn) == 2.0);
    assert_answer(test, &asker, number, RM_VERDICT_DONE, "");
    assert_true(test->host->program->setting[0] == 2.0);
    asker_close(&asker);
}

/** An array among the readings is shown some ten times a second; a number after each step. */
static void test_readings(void **state) {
    struct host_test *test = *state;
    unsigned shown = 0;
    double before = 0.0;
    assert_true(reading_at(test, CRITICAL_ECHO, 0) == before);
    assert_true(reading_at(test, CRITICAL_ECHO, 8) == 1.0);
    for (unsigned i = 0; i < 2000; ++i) {
        test->turn += TEST_PERIOD;
        put(test, 0, (int32_t)i);
        put(test, 1, 0);
        assert_int_equal(duty(test), 1);
        assert_true(reading_at(test, CRITICAL_SUM, 0) == i);
        double const echo = reading_at(test, CRITICAL_ECHO, 0);
        shown += echo != before;
        before = echo;
    }
    assert_true(shown < 1000);
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (reading_at(test, CRITICAL_ECHO, 0) == before && rm_monotonic_ns() < end) {
        test->turn += TEST_PERIOD;
        put(test, 0, 0);
        put(test, 1, 0);
        assert_int_equal(duty(test), 1);
        usleep(1000);
    }
    assert_true(reading_at(test, CRITICAL_ECHO, 0) > before);
}

/* ── life ── */

/** Beside the steps, also while there is no server; and the application's memory is given back. */
static void test_work(void **state) {
    struct host_test *test = *state;
    char closed[PATH_MAX];
    struct critical_memory *memory = test->host->program->passed.memory;
    snprintf(closed, sizeof closed, "%s", memory->closed);
    uint64_t const before = atomic_load(&memory->worked);
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (atomic_load(&memory->worked) < before + 3 && rm_monotonic_ns() < end)
        usleep(1000);
    assert_true(atomic_load(&memory->worked) >= before + 3);
    assert_int_not_equal(access(closed, F_OK), 0);
    rm_host_close(test->host);
    test->host = NULL;
    assert_int_equal(access(closed, F_OK), 0);
}

/** Arrays that people have set outlive a crash, as numbers do; not an end in good order. */
static void test_settings_after_a_crash(void **state) {
    struct host_test *test = *state;
    rm_host_close(test->host);
    test->host = NULL;
    pid_t const child = fork();
    if (child == 0) {
        struct rm_host *host;
        struct rm_error error;
        bool const good = rm_host_open(&test->setup, &host, &error) == RM_OK &&
                          rm_host_program_set(host->program, "weight", 3, (double[]){-5.0, -6.0}, 2, &error) == RM_OK;
        if (good)
            rm_host_settings_show(&host->settings, rm_stamp_now());
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    open_host(test);
    assert_true(setting_at(test, CRITICAL_WEIGHT, 3) == -5.0 && setting_at(test, CRITICAL_WEIGHT, 4) == -6.0);
    assert_true(setting_at(test, CRITICAL_WEIGHT, 8) == 1.0 && test->host->program->setting[1 + 4] == -6.0);
    rm_host_close(test->host);
    open_host(test);
    assert_true(setting_at(test, CRITICAL_WEIGHT, 3) == 0.375);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    application = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_any_order, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_missing, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_backlog, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_restarted_turns, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_sent, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_streams, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_rows, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_no_setting_inside_a_turn, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_readings, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_work, set_up_critical, tear_down),
        cmocka_unit_test_setup_teardown(test_settings_after_a_crash, set_up_critical, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
