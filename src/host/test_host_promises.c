// SPDX-License-Identifier: Apache-2.0
/** What host.h promises of the thread that steps: it calls no system, allocates nothing, and touches no page for the
 * first time once it has done everything once. It is held to that from before the first grant on, while the server
 * grants, the clock's writer hangs, and people change settings. Argument: the path of test_latency_critical.so. */
#include "host/test_host_rig.h"
#include "host/test_latency_critical.h"

/* Last: a header of the compiler declares one of the functions that it defines. */
#include "base/test_promises.h"

enum {
    /** In a round: more than the rings of its inputs have records, so that the first round reads all of their pages. */
    CYCLES = 1100,
    LOOKS = 3,
};

/** The thread that steps. */
struct stepping {
    struct host_test *test;
    _Atomic rm_turn turn;
    atomic_bool ending;
};

static void *step_on_and_on(void *argument) {
    struct stepping *stepping = argument;
    promises_begin();
    while (!atomic_load(&stepping->ending)) {
        rm_host_duty(stepping->test->host, BASE + atomic_load(&stepping->turn) * 1000);
        promises_look();
    }
    promises_look();
    return NULL;
}

static void expect_steps(struct stepping *stepping, uint64_t wanted) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (counter(stepping->test, RM_APPLICATION_STEPS) < wanted) {
        if (rm_monotonic_ns() > end)
            fail_msg("%llu steps, not %llu; call %d was trapped; it said:\n%s",
                     (unsigned long long)counter(stepping->test, RM_APPLICATION_STEPS), (unsigned long long)wanted,
                     atomic_load(&promises_call) - 1, stepping->test->said);
        usleep(100);
    }
}

/** Cycles with records of all inputs. */
static void pass_cycles(struct stepping *stepping, unsigned cycles) {
    for (unsigned cycle = 0; cycle < cycles; ++cycle) {
        uint64_t const before = counter(stepping->test, RM_APPLICATION_STEPS);
        rm_turn const turn = atomic_load(&stepping->turn) + TEST_PERIOD;
        atomic_store(&stepping->turn, turn);
        for (unsigned i = 0; i < TEST_INPUTS; ++i)
            test_server_record(&stepping->test->server, i, turn, (int32_t)cycle);
        expect_steps(stepping, before + 1);
    }
}

/** The clock's writer loses its core inside, while the host looks at the clock several times. */
static void hang_in_the_clock(struct stepping *stepping) {
    struct rm_host const *host = stepping->test->host;
    struct rm_clock *clock = test_memory(&stepping->test->server, stepping->test->server.clock);
    rm_turn const look_turns = (host->clock_wait / 1000 / TEST_PERIOD + 1) * TEST_PERIOD;
    rm_sequence_begin(&clock->sequence);
    for (int look = 0; look < LOOKS; ++look) {
        atomic_store(&stepping->turn, atomic_load(&stepping->turn) + look_turns);
        pass_cycles(stepping, 2);
    }
    assert_in_range(host->clock_misses, 1, LOOKS);
    rm_sequence_end(&clock->sequence);
    atomic_store(&stepping->turn, atomic_load(&stepping->turn) + look_turns);
    pass_cycles(stepping, 2);
    assert_int_equal(host->clock_misses, 0);
}

static void change_a_setting(struct stepping *stepping, struct host_asker *asker) {
    uint64_t const number = ask(asker, "app/scale", 0.5);
    struct rm_reply reply;
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!rm_requests_reply(asker->owner, asker->workspace, "app", number, &reply)) {
        assert_true(rm_monotonic_ns() < end);
        usleep(100);
    }
    assert_int_equal(reply.verdict, RM_VERDICT_DONE);
    pass_cycles(stepping, 3);
}

static void the_stepping_thread_keeps_its_promises(void **state) {
    struct host_test *test = *state;
    struct stepping stepping = {.test = test, .turn = test->turn};
    pthread_t thread;
    promises_listen();
    assert_int_equal(pthread_create(&thread, NULL, step_on_and_on, &stepping), 0);
    struct host_asker asker = asker_open();
    grant(test);
    for (unsigned i = 0; i < TEST_INPUTS; ++i)
        test_server_record(&test->server, i, test->turn, 1);
    expect_steps(&stepping, 1);
    for (int round = 0; round < 2; ++round) {
        pass_cycles(&stepping, CYCLES);
        hang_in_the_clock(&stepping);
        change_a_setting(&stepping, &asker);
        promises_warm();
    }
    asker_close(&asker);
    promises_end();
    atomic_store(&stepping.ending, true);
    pthread_join(thread, NULL);
    promises_expect_kept("the stepping thread");
}

static int set_up_host(void **state) {
    if (set_up(state) != 0)
        return -1;
    struct host_test *test = *state;
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/own", test->workspaces);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return -1;
    fprintf(file, "600\n");
    fclose(file);
    test->setup.configuration = path;
    test->setup.input_count = TEST_INPUTS;
    test->setup.input = inputs;
    open_host(test);
    return 0;
}

int main(int argc, char **argv) {
    application = argc > 1 ? argv[1] : "";
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(the_stepping_thread_keeps_its_promises, set_up_host, tear_down),
    };
    return cmocka_run_group_tests_name("promises of the host", tests, NULL, NULL);
}
