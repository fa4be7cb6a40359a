// SPDX-License-Identifier: Apache-2.0
/** What host.h promises of the thread that steps: it calls no system, allocates nothing, and touches no page for the
 * first time once it has done everything once. A seccomp filter of that thread traps every call, from before the first
 * grant on, while the server grants, the clock's writer hangs, and people change settings. Argument: the path of
 * test_latency_critical.so. */
#include "host/test_host_rig.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "host/test_latency_critical.h"

enum { CYCLES = 300, LOOKS = 3, SKIPPED = 77 };

/* Of the thread that steps, as the handlers and wrappers below see it. */
static _Thread_local bool steps;
static _Atomic int forbidden_call;
static _Atomic int allocations;

static void note_call(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    int none = 0;
    atomic_compare_exchange_strong(&forbidden_call, &none, info->si_syscall + 1); // 0 is a call, too
}

#define WRAP(type, name, parameters, arguments)                                                                        \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters {                                                                                    \
        atomic_fetch_add(&allocations, steps);                                                                         \
        return __real_##name arguments;                                                                                \
    }
// NOLINTBEGIN(bugprone-reserved-identifier,bugprone-macro-parentheses): the linker names them so
WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *memory, size_t bytes), (memory, bytes))
WRAP(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
// NOLINTEND(bugprone-reserved-identifier,bugprone-macro-parentheses)

/** From now on this thread may ask for its page faults, and end; every other call is trapped and comes to nothing. */
static void forbid_calls(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 3, 0), // of the stack, as the thread ends
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0), // of the handler above
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog const program = {.len = sizeof code / sizeof code[0], .filter = code};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/** The thread that steps. */
struct stepping {
    struct host_test *test;
    _Atomic rm_turn turn;
    atomic_bool ending;
    /** It has done everything once. */
    atomic_bool warm;
    /** Page faults since. */
    long faults;
};

static long faults_so_far(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void *step_on_and_on(void *argument) {
    struct stepping *stepping = argument;
    struct rm_host *host = stepping->test->host;
    bool warm = false;
    forbid_calls();
    steps = true;
    while (!atomic_load(&stepping->ending)) {
        rm_host_duty(host, BASE + atomic_load(&stepping->turn) * 1000);
        if (!warm && atomic_load(&stepping->warm)) {
            warm = true;
            stepping->faults = faults_so_far();
        }
    }
    stepping->faults = faults_so_far() - stepping->faults;
    steps = false;
    return NULL;
}

static void expect_steps(struct stepping *stepping, uint64_t wanted) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (counter(stepping->test, RM_APPLICATION_STEPS) < wanted) {
        if (rm_monotonic_ns() > end)
            fail_msg("%llu steps, not %llu; call %d was trapped; it said:\n%s",
                     (unsigned long long)counter(stepping->test, RM_APPLICATION_STEPS), (unsigned long long)wanted,
                     atomic_load(&forbidden_call) - 1, stepping->test->said);
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

/** The kernel's NUMA balancing takes pages away from under a thread. */
static bool moves_pages(void) {
    int balancing = 0;
    FILE *file = fopen("/proc/sys/kernel/numa_balancing", "r");
    if (file == NULL)
        return false;
    bool const known = fscanf(file, "%d", &balancing) == 1;
    fclose(file);
    return known && balancing != 0;
}

static void expect_nothing_forbidden(struct stepping const *stepping) {
    if (atomic_load(&forbidden_call) != 0)
        fail_msg("the stepping thread made system call %d (asm/unistd_64.h)", atomic_load(&forbidden_call) - 1);
    assert_int_equal(atomic_load(&allocations), 0);
    if (!moves_pages())
        assert_int_equal(stepping->faults, 0);
}

static void the_stepping_thread_keeps_its_promises(void **state) {
    struct host_test *test = *state;
    struct stepping stepping = {.test = test, .turn = test->turn};
    struct sigaction const action = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    assert_int_equal(sigaction(SIGSYS, &action, NULL), 0);
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
        atomic_store(&stepping.warm, true);
    }
    asker_close(&asker);
    atomic_store(&stepping.ending, true);
    pthread_join(thread, NULL);
    expect_nothing_forbidden(&stepping);
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

/** Sanitizers make calls and allocate on their own. */
static bool is_watched(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    return true;
#endif
#endif
    return false;
}

int main(int argc, char **argv) {
    if (is_watched())
        return SKIPPED;
    application = argc > 1 ? argv[1] : "";
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(the_stepping_thread_keeps_its_promises, set_up_host, tear_down),
    };
    return cmocka_run_group_tests_name("promises of the host", tests, NULL, NULL);
}
