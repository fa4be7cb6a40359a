// SPDX-License-Identifier: Apache-2.0
/** For tests of a host: a host beside a server written by hand, with time in the test's hands, and a process that
 * makes requests. */
#ifndef RM_HOST_TEST_HOST_RIG_H
#define RM_HOST_TEST_HOST_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include <ringmaster/request.h>

#include "host/host.h"
#include "host/host_state.h"
#include "host/test_application.h"
#include "host/test_server.h"

/** Path of its shared object: the test program's argument. */
static char const *application;
/** Rate of the server's clock here: a thousand ticks are a turn. */
static double const TSC_HZ = 1e9;
/** TSC of turn 0. */
static uint64_t const BASE = 1000000000000ull;

static uint64_t const TIMEOUT_NS = 20000000000ull;

enum { ACTUATORS = 2 };

static struct rm_host_actuator const actuators[ACTUATORS] = {
    {.name = "ps/b", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "ps/d", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
};
static char const *const inputs[TEST_INPUTS] = {"bpm01/fast", "bpm02/fast"};

struct host_test {
    char workspaces[PATH_MAX / 2];
    struct test_server server;
    struct rm_host_setup setup;
    struct rm_host *host;
    /** Turn that the clock shows. */
    rm_turn turn;

    pthread_mutex_t lock;
    /** All lines that the host has said. */
    char said[4096];
};

static inline void say(void *context, char const *text) {
    struct host_test *test = context;
    pthread_mutex_lock(&test->lock);
    size_t const used = strlen(test->said);
    snprintf(test->said + used, sizeof test->said - used, "%s\n", text);
    pthread_mutex_unlock(&test->lock);
}

static inline bool has_reported(struct host_test *test, char const *words) {
    pthread_mutex_lock(&test->lock);
    bool const found = strstr(test->said, words) != NULL;
    pthread_mutex_unlock(&test->lock);
    return found;
}

static inline int set_up(void **state) {
    struct host_test *test = aligned_alloc(_Alignof(struct host_test), sizeof *test);
    *state = test;
    if (test != NULL)
        memset(test, 0, sizeof *test);
    if (test == NULL || !test_workspaces_make(test->workspaces, sizeof test->workspaces))
        return -1;
    pthread_mutex_init(&test->lock, NULL);
    test->setup = (struct rm_host_setup){
        .workspace = "demo",
        .name = "app",
        .code = application,
        .turn_rate_hz = TEST_TURN_RATE_HZ,
        .period_turns = TEST_PERIOD,
        .deadline_turns = 2 * TEST_PERIOD,
        .actuator_count = ACTUATORS,
        .actuator = actuators,
        .say = say,
        .context = test,
    };
    test_server_plan(&test->server, "app");
    if (!test_server_open(&test->server))
        return -1;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/demo/app", test->workspaces);
    if (mkdir(folder, 0755) != 0)
        return -1;
    test->turn = 1200;
    test_server_clock(&test->server, 0, BASE, TSC_HZ);
    test_server_send(&test->server, 0.5);
    return 0;
}

static inline int tear_down(void **state) {
    struct host_test *test = *state;
    rm_host_close(test->host);
    test_server_close(&test->server);
    test_workspaces_remove(test->workspaces);
    free(test);
    return 0;
}

static inline uint32_t duty(struct host_test *test) { return rm_host_duty(test->host, BASE + test->turn * 1000); }

static inline uint64_t counter(struct host_test *test, enum rm_application_counter which) {
    return rm_counter_get(test->host->counters, which);
}

static inline void open_host(struct host_test *test) {
    struct rm_error error;
    if (rm_host_open(&test->setup, &test->host, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** Calls the duty, at one turn of the clock, until `which` counts `wanted`. */
static inline void turn_until(struct host_test *test, enum rm_application_counter which, uint64_t wanted) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (counter(test, which) != wanted) {
        if (rm_monotonic_ns() > end)
            fail_msg("counter %d is %llu, not %llu; it said:\n%s", which, (unsigned long long)counter(test, which),
                     (unsigned long long)wanted, test->said);
        duty(test);
        usleep(100);
    }
}

static inline void wait_for_words(struct host_test *test, char const *words) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!has_reported(test, words)) {
        if (rm_monotonic_ns() > end)
            fail_msg("it has not said \"%s\", but:\n%s", words, test->said);
        duty(test);
        usleep(100);
    }
}

static inline uint64_t instance_of(struct host_test const *test) {
    return rm_owner_header(test->host->owner)->generation;
}

static inline uint64_t grant(struct host_test *test) {
    return test_server_grant(&test->server, instance_of(test), (uint64_t)getpid());
}

/** The newest vector. */
static inline struct rm_setpoint_reading newest(struct host_test *test, double values[ACTUATORS]) {
    struct rm_setpoints_place place = {.next = 0};
    struct rm_setpoint_reading reading;
    assert_true(rm_setpoints_copy(test->host->vectors, rm_setpoint_vector_bytes(ACTUATORS), &place, &reading, values,
                                  ACTUATORS));
    return reading;
}

static inline double setting(struct host_test *test, unsigned which) {
    return rm_parameter_read_f64(test->host->settings.parameter[which]);
}

static inline double reading(struct host_test *test, unsigned which) {
    return rm_parameter_read_f64(test->host->readings.parameter[which]);
}

/* ── the process that makes requests ── */

struct host_asker {
    struct rm_owner *owner;
    struct rm_workspace *workspace;
};

static inline struct host_asker asker_open(void) {
    struct host_asker asker;
    struct rm_error error;
    if (rm_owner_new_requester("demo", "test", &asker.owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_owner_requests(asker.owner);
    if (rm_owner_open(asker.owner, &error) != RM_OK ||
        rm_workspace_attach("demo", 0, &asker.workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
    return asker;
}

static inline void asker_close(struct host_asker *asker) {
    rm_workspace_detach(asker->workspace);
    rm_owner_close(asker->owner);
}

static inline uint64_t ask_part(struct host_asker *asker, char const *name, uint64_t first, double const *values,
                                size_t count) {
    uint64_t number;
    struct rm_error error;
    if (rm_requests_post(asker->owner, asker->workspace, name, first, values, count * sizeof values[0], &number,
                         &error) != RM_OK)
        fail_msg("%s", error.text);
    return number;
}

static inline uint64_t ask(struct host_asker *asker, char const *name, double value) {
    return ask_part(asker, name, 0, &value, 1);
}

static inline struct rm_reply reply_to(struct host_test *test, struct host_asker *asker, uint64_t number) {
    struct rm_reply reply;
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!rm_requests_reply(asker->owner, asker->workspace, "app", number, &reply)) {
        if (rm_monotonic_ns() > end)
            fail_msg("no reply; it said:\n%s", test->said);
        duty(test);
        usleep(100);
    }
    return reply;
}

#endif
