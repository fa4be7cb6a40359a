// SPDX-License-Identifier: Apache-2.0
/** ringmaster-application as a process, and all that can become of it: it is killed, it crashes, it freezes, it is
 * stopped. Its server is written by hand. Arguments: the program, the test application, how often to kill it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <ringmaster/counter.h>
#include <ringmaster/request.h>

#include "host/test_application.h"
#include "host/test_server.h"

static char const *program, *application;
static unsigned kills;

static uint64_t const TIMEOUT_NS = 30000000000ull;

enum { ACTUATORS = 2 };

static char const CONFIG[] = "workspace: demo\n"
                             "turn_rate_hz: 1000000\n"
                             "ports: [{name: link, kind: memif, socket: /run/l.sock, answer: 10.30.0.250}]\n"
                             "setpoints: {period_turns: 2000}\n"
                             "chains:\n"
                             "  - {name: c, id: 1, port: link, address: 10.30.0.1, supplies: [\n"
                             "      {name: ps/a, unit: A, limits: [-10, 10], slew: 1000}, {name: ps/ab, unit: A, "
                             "limits: [-10, 10], slew: 1000},\n"
                             "      {name: ps/b, unit: A, limits: [-10, 10], slew: 1000}, {name: ps/c, unit: A, "
                             "limits: [-10, 10], slew: 1000},\n"
                             "      {name: ps/d, unit: A, limits: [-10, 10], slew: 1000}, {name: ps/e, unit: A, "
                             "limits: [-10, 10], slew: 1000}]}\n"
                             "applications:\n"
                             "  - {name: app, code: %s, supplies: [ps/b, ps/d], settings: [{name: offset, value: 0}]}\n"
                             "roles: [{role: receive, ports: [link], core: %d}, {role: transmit, core: %d}]\n";

struct test {
    char workspaces[PATH_MAX / 2];
    char config[PATH_MAX];
    char words[PATH_MAX]; /**< what the program says goes there */
    struct test_server server;
    bool has_server;
    double tsc_hz;
    pid_t child;
    struct rm_mapped_segment segment; /**< the application's */
};

static void server_up(struct test *test) {
    test_server_plan(&test->server, "app");
    if (!test_server_open(&test->server))
        fail();
    test->has_server = true;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/demo/app", test->workspaces);
    mkdir(folder, 0755);
    test_server_clock(&test->server, 1000, rm_tsc(), test->tsc_hz);
    test_server_send(&test->server, 0.5);
}

static int set_up(void **state) {
    struct test *test = aligned_alloc(_Alignof(struct test), sizeof *test);
    *state = test;
    if (test != NULL)
        memset(test, 0, sizeof *test);
    if (test == NULL || !test_workspaces_make(test->workspaces, sizeof test->workspaces))
        return -1;
    test->tsc_hz = rm_tsc_hz_measure();
    snprintf(test->config, sizeof test->config, "%s/app.yaml", test->workspaces);
    snprintf(test->words, sizeof test->words, "%s/words", test->workspaces);
    FILE *file = fopen(test->config, "w");
    if (file == NULL)
        return -1;
    int const core = sched_getcpu();
    fprintf(file, CONFIG, application, core, core);
    return fclose(file);
}

static void end_child(struct test *test, int with) {
    if (test->child > 0) {
        kill(test->child, with);
        waitpid(test->child, NULL, 0);
    }
    test->child = 0;
    if (test->segment.header != NULL)
        rm_segment_unmap(&test->segment);
    test->segment.header = NULL;
}

static int tear_down(void **state) {
    struct test *test = *state;
    end_child(test, SIGKILL);
    if (test->has_server)
        test_server_close(&test->server);
    test_workspaces_remove(test->workspaces);
    free(test);
    return 0;
}

static void start(struct test *test, char const *name, char const *option) {
    test->child = fork();
    assert_true(test->child >= 0);
    if (test->child > 0)
        return;
    int const words = open(test->words, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(words, STDERR_FILENO);
    execl(program, program, test->config, name, option, (char *)NULL);
    _exit(127);
}

static bool has_reported(struct test const *test, char const *words) {
    static char text[65536];
    FILE *file = fopen(test->words, "r");
    if (file == NULL)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return strstr(text, words) != NULL;
}

/** Waits until `there` is true, with `what` for the message if it waits in vain. */
static void wait_for(struct test *test, bool (*there)(struct test *test), char const *what) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!there(test)) {
        if (rm_monotonic_ns() > end)
            fail_msg("waited in vain: %s", what);
        usleep(500);
    }
}

/** The child's segment, once it is its own. */
static bool is_open(struct test *test) {
    char path[PATH_MAX];
    if (test->segment.header == NULL && (rm_workspace_path("demo", path, NULL) != RM_OK ||
                                         rm_segment_map_readonly(path, "app", &test->segment, NULL) != RM_OK))
        return false;
    return atomic_load(&test->segment.header->owner_pid) == (uint32_t)test->child &&
           atomic_load(&test->segment.header->state) == RM_SEGMENT_LIVE;
}

static void const *object(struct test *test, char const *name) {
    uint8_t const *start = (uint8_t const *)test->segment.header;
    struct rm_object const *found = (struct rm_object const *)(start + test->segment.header->directory_offset);
    while (strcmp(found->name, name) != 0)
        ++found;
    return start + found->offset;
}

static uint64_t steps(struct test *test) {
    return rm_counter_get(object(test, "counters/application/app"), RM_APPLICATION_STEPS);
}

static bool has_stepped(struct test *test) { return steps(test) > 0; }

/** Starts it, grants it a number, and waits for its first step. */
static void run(struct test *test, char const *option) {
    start(test, "app", option);
    wait_for(test, is_open, "its segment");
    test_server_grant(&test->server, atomic_load(&test->segment.header->generation), (uint64_t)test->child);
    wait_for(test, has_stepped, "its first step");
}

/** What it wants now; its vector's number from 0. */
static struct rm_setpoint_reading command(struct test *test, double values[ACTUATORS]) {
    struct rm_setpoints_place place = {.next = 0};
    struct rm_setpoint_reading reading = {.number = UINT64_MAX};
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!rm_setpoints_copy(object(test, "setpoints/app"), rm_setpoint_vector_bytes(ACTUATORS), &place, &reading,
                              values, ACTUATORS) &&
           rm_monotonic_ns() < end)
        usleep(100);
    assert_int_not_equal(reading.number, UINT64_MAX);
    return reading;
}

/** Asks for a setting; false when it was not answered, as by one that the setting kills. */
static bool asks(char const *name, double value) {
    struct rm_owner *owner = NULL;
    struct rm_workspace *workspace = NULL;
    struct rm_error error;
    struct rm_reply reply = {.verdict = RM_VERDICT_REFUSED};
    if (rm_owner_new_requester("demo", "test", &owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_owner_requests(owner);
    if (rm_owner_open(owner, &error) != RM_OK || rm_workspace_attach("demo", 0, &workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
    bool const answered =
        rm_requests_put(owner, workspace, name, 0, &value, sizeof value, TIMEOUT_NS, &reply, &error) == RM_OK;
    rm_workspace_detach(workspace);
    rm_owner_close(owner);
    return answered && reply.verdict == RM_VERDICT_DONE;
}

static double setting(struct test *test, char const *name) { return rm_parameter_read_f64(object(test, name)); }

/** Its exit status; the signal's number, negative, of one that was killed. */
static int ended(struct test *test) {
    int status;
    assert_int_equal(waitpid(test->child, &status, 0), test->child);
    test->child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_ends_in_good_order(void **state) {
    struct test *test = *state;
    server_up(test);
    run(test, NULL);
    assert_true(asks("app/offset", 1.0));
    kill(test->child, SIGINT);
    assert_int_equal(ended(test), 0);
    assert_int_equal(atomic_load(&test->segment.header->state), RM_SEGMENT_CLOSED);
    end_child(test, SIGKILL);
    /* And begins with the configuration's settings again. */
    run(test, NULL);
    assert_true(setting(test, "app/offset") == 0.0);
    assert_true(has_reported(test, "app: the server of workspace \"demo\" is there"));
}

/** It comes before its server: says so once, and begins when the server is there. */
static bool is_waiting(struct test *test) {
    return has_reported(test, "app: waiting for the server: workspace \"demo\"");
}

static void test_comes_before_its_server(void **state) {
    struct test *test = *state;
    start(test, "app", NULL);
    wait_for(test, is_waiting, "its words");
    server_up(test);
    wait_for(test, is_open, "its segment");
    test_server_grant(&test->server, atomic_load(&test->segment.header->generation), (uint64_t)test->child);
    wait_for(test, has_stepped, "its first step");
}

/** kill -9 at any instant: the next instance goes on without a step, with the settings that it had. */
static void test_killed(void **state) {
    struct test *test = *state;
    server_up(test);
    uint64_t random = (uint64_t)getpid();
    uint64_t vector = 0, instance = 0;
    for (unsigned i = 0; i < kills; ++i) {
        double values[ACTUATORS];
        double const offset = i == 0 ? 0.0 : 1.25;
        test_server_send(&test->server, (double)i * 0.0078125); // an f32, as all that is sent
        run(test, NULL);
        assert_true(atomic_load(&test->segment.header->generation) > instance);
        instance = atomic_load(&test->segment.header->generation);
        assert_true(setting(test, "app/offset") == offset);
        struct rm_setpoint_reading const first = command(test, values);
        assert_true(values[0] == (double)i * 0.0078125 + 2.0 + offset &&
                    values[1] == (double)i * 0.0078125 + 4.0 + offset);
        assert_true(first.grant_number == test->server.grant_number);
        assert_true(first.number > vector || i == 0);
        vector = first.number;
        if (i == 0)
            assert_true(asks("app/offset", 1.25));
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        usleep((useconds_t)(random >> 51)); // up to 8 ms: some steps
        end_child(test, SIGKILL);
    }
    run(test, "--fresh");
    assert_true(setting(test, "app/offset") == 0.0);
}

/** A fault in a step ends the process, and no other. */
static void test_crashes(void **state) {
    struct test *test = *state;
    server_up(test);
    run(test, NULL);
    asks("app/mode", TEST_CRASHES);
    assert_int_equal(ended(test), -SIGSEGV);
    end_child(test, SIGKILL);
    /* The setting that kills it is still there; --fresh is the way out. */
    run(test, "--fresh");
    assert_true(setting(test, "app/mode") == TEST_BEHAVES);
}

static bool ends_when_interrupted(struct test *test) {
    siginfo_t seen = {0};
    kill(test->child, SIGINT);
    usleep(20000);
    assert_int_equal(waitid(P_PID, (id_t)test->child, &seen, WEXITED | WNOHANG | WNOWAIT), 0);
    return seen.si_pid == test->child;
}

static void test_freezes(void **state) {
    struct test *test = *state;
    server_up(test);
    run(test, NULL);
    asks("app/mode", TEST_FREEZES);
    usleep(20000);
    uint64_t const frozen = steps(test);
    usleep(20000);
    assert_int_equal(steps(test), frozen);
    kill(test->child, SIGINT);
    usleep(20000);
    assert_int_equal(waitpid(test->child, NULL, WNOHANG), 0);
    /* The second one ends it in the midst of its step. Two that come before it ran are one, so there may be more. */
    wait_for(test, ends_when_interrupted, "the end of an application that hangs");
    assert_int_equal(ended(test), -SIGINT);
}

static rm_turn stopped_at;
static bool has_gone_on(struct test *test) {
    double values[ACTUATORS];
    return command(test, values).input_turn > stopped_at;
}

/** SIGSTOP and SIGCONT: the turns in between are left out, not made up for. */
static void test_stopped(void **state) {
    struct test *test = *state;
    double values[ACTUATORS];
    server_up(test);
    run(test, NULL);
    kill(test->child, SIGSTOP);
    usleep(50000); // 25 periods
    uint64_t const before = rm_counter_get(object(test, "counters/application/app"), RM_APPLICATION_SKIPPED);
    stopped_at = command(test, values).input_turn;
    kill(test->child, SIGCONT);
    wait_for(test, has_gone_on, "another step");
    assert_true(rm_counter_get(object(test, "counters/application/app"), RM_APPLICATION_SKIPPED) > before);
}

static void test_wrong_words(void **state) {
    struct test *test = *state;
    start(test, "ap", NULL);
    assert_int_equal(ended(test), 1);
    assert_true(has_reported(test, "app.yaml:11:3: applications: there is no application \"ap\"; there are: app"));
    start(test, "app", "--frsh");
    assert_int_equal(ended(test), 2);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    program = argv[1];
    application = realpath(argv[2], NULL);
    kills = (unsigned)atoi(argv[3]);
    /* A crash is to end the process by its signal: a sanitizer would make an exit of it. */
    setenv("ASAN_OPTIONS", "handle_segv=0", 0);
    setenv("TSAN_OPTIONS", "handle_segv=0", 0);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_in_good_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_comes_before_its_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_crashes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_freezes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_words, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
