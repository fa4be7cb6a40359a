// SPDX-License-Identifier: Apache-2.0
/** Starting DPDK: what it must not do to the process and its surroundings. Each case in a process of its own. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/port.h"

/** Runs `act` in a child whose terminal is a file in memory: true when it returned true. */
static bool passes(bool (*act)(void), bool *silent) {
    fflush(NULL);
    int const terminal = memfd_create("terminal", 0);
    pid_t const child = fork();
    if (child == 0) {
        dup2(terminal, STDOUT_FILENO);
        dup2(terminal, STDERR_FILENO);
        bool const good = act();
        exit(good ? 0 : 1);
    }
    int status = 1;
    struct stat printed;
    waitpid(child, &status, 0);
    fstat(terminal, &printed);
    close(terminal);
    *silent = printed.st_size == 0;
    return status == 0;
}

static bool passes_silently(bool (*act)(void)) {
    bool silent = false;
    return passes(act, &silent) && silent;
}

static bool starts(char const *prefix) {
    struct rm_net_config config = {0};
    struct rm_error error;
    snprintf(config.prefix, sizeof config.prefix, "%s", prefix);
    return rm_net_start(&config, &error) == RM_OK;
}

static bool keeps_affinity(void) {
    cpu_set_t one, after;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    bool const started = starts("ringmaster-test-start");
    sched_getaffinity(0, sizeof after, &after);
    rm_net_stop();
    return started && CPU_EQUAL(&one, &after);
}

static void the_affinity_of_the_caller_is_kept(void **state) {
    (void)state;
    assert_true(passes_silently(keeps_affinity));
}

/** True when no thread but the caller may run on a CPU. */
static bool others_keep_off(int cpu) {
    DIR *const threads = opendir("/proc/self/task");
    int others = 0;
    bool good = true;
    if (threads == NULL)
        return false;
    for (struct dirent const *entry; good && (entry = readdir(threads)) != NULL;) {
        pid_t const thread = (pid_t)strtol(entry->d_name, NULL, 10);
        cpu_set_t cpus;
        if (thread == 0 || thread == getpid())
            continue;
        good = sched_getaffinity(thread, sizeof cpus, &cpus) == 0 && !CPU_ISSET(cpu, &cpus);
        ++others;
    }
    closedir(threads);
    return good && others > 0;
}

static bool keeps_helpers_off(void) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    int polled = 0;
    while (!CPU_ISSET(polled, &all))
        ++polled;
    struct rm_net_config config = {.prefix = "ringmaster-test-start", .telemetry = true};
    struct rm_error error;
    CPU_SET(polled, &config.polled);
    bool const good = rm_net_start(&config, &error) == RM_OK && (CPU_COUNT(&all) == 1 || others_keep_off(polled));
    rm_net_stop();
    return good;
}

static void helpers_keep_off_the_cpus_that_poll(void **state) {
    (void)state;
    assert_true(passes_silently(keeps_helpers_off));
}

static bool starts_once(void) {
    struct rm_net_config const config = {.prefix = "ringmaster-test-start"};
    struct rm_error error = {0};
    bool const started = starts(config.prefix);
    bool const refused = rm_net_start(&config, &error) == RM_E_BUSY && strstr(error.text, "once") != NULL;
    rm_net_stop();
    return started && refused;
}

static void a_second_start_is_refused(void **state) {
    (void)state;
    assert_true(passes_silently(starts_once));
}

static bool asks_for_too_much(void) {
    struct rm_net_config const config = {.prefix = "ringmaster-test-start", .memory_mib = 1u << 30};
    struct rm_error error = {0};
    return rm_net_start(&config, &error) == RM_E_SYSTEM && strstr(error.text, "EAL: ") != NULL;
}

static void a_failure_quotes_dpdk(void **state) {
    (void)state;
    bool silent; // it is not: DPDK prints one line of its own past its log
    assert_true(passes(asks_for_too_much, &silent));
}

static bool leaves_no_directory(void) {
    char prefix[RM_PORT_NAME_BYTES], directory[64];
    snprintf(prefix, sizeof prefix, "ringmaster-test-%d", getpid());
    snprintf(directory, sizeof directory, "/var/run/dpdk/%s", prefix);
    bool const started = starts(prefix);
    bool const there = geteuid() != 0 || access(directory, F_OK) == 0; // others have theirs elsewhere
    rm_net_stop();
    return started && there && access(directory, F_OK) != 0;
}

static void no_directory_is_left(void **state) {
    (void)state;
    assert_true(passes_silently(leaves_no_directory));
}

static void *join_and_leave(void *argument) {
    struct rm_error error;
    bool *const good = argument;
    bool const once = rm_net_thread_join(&error) == RM_OK;
    bool const again = rm_net_thread_join(&error) == RM_OK;
    *good = once && again;
    rm_net_thread_leave();
    return NULL;
}

/** More threads, one after the other, than DPDK knows at a time. */
static bool threads_join(void) {
    bool good = starts("ringmaster-test-start");
    for (int i = 0; i < 200 && good; ++i) {
        pthread_t thread;
        good = pthread_create(&thread, NULL, join_and_leave, &good) == 0;
        pthread_join(thread, NULL);
    }
    struct rm_error error;
    good = good && rm_net_thread_join(&error) == RM_OK; // the starting thread need not
    rm_net_thread_leave();
    rm_net_stop();
    return good;
}

static void threads_come_and_go(void **state) {
    (void)state;
    assert_true(passes_silently(threads_join));
}

static bool threads_join_without_dpdk(void) {
    struct rm_error error;
    bool const joined = rm_net_thread_join(&error) == RM_OK;
    rm_net_thread_leave();
    rm_net_stop();
    return joined && !rm_net_hugepages();
}

static void without_dpdk_nothing_happens(void **state) {
    (void)state;
    assert_true(passes_silently(threads_join_without_dpdk));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_affinity_of_the_caller_is_kept),
        cmocka_unit_test(helpers_keep_off_the_cpus_that_poll),
        cmocka_unit_test(a_second_start_is_refused),
        cmocka_unit_test(a_failure_quotes_dpdk),
        cmocka_unit_test(no_directory_is_left),
        cmocka_unit_test(threads_come_and_go),
        cmocka_unit_test(without_dpdk_nothing_happens),
    };
    return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
