// SPDX-License-Identifier: Apache-2.0
/** Commands on DPDK's telemetry socket, and what they leave behind. DPDK starts once per process, so each case has a
 * process of its own, which is program and clients at once. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_eal.h>

#include "net/port.h"
#include "net/telemetry.h"

enum { CLIENTS_MAX = 10, ROUNDS = 3000 };

/** Runs `act` in a child that exits as programs do: true when it returned true. */
static bool passes(bool (*act)(void)) {
    fflush(NULL);
    pid_t const child = fork();
    if (child == 0)
        exit(act() ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
}

static void answer_echo(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    ++*(unsigned *)context;
    rm_telemetry_text(reply, "parameter", parameter);
}

static void answer_lists(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    (void)context;
    (void)parameter;
    struct rm_telemetry_list *const names = rm_telemetry_texts(reply, "name");
    struct rm_telemetry_list *const values = rm_telemetry_numbers(reply, "value");
    rm_telemetry_add_text(names, "one");
    rm_telemetry_add_text(names, "all");
    rm_telemetry_add_number(values, 1);
    rm_telemetry_add_number(values, UINT64_MAX);
    rm_telemetry_number(reply, "count", 2);
}

static struct rm_telemetry_command const commands[] = {
    {"/test/echo", "Says its parameter again.", answer_echo},
    {"/test/lists", "Has lists.", answer_lists},
};

/** The prefix is that of the process that runs the test, so that cases follow each other in one directory. */
static bool telemetry_starts(pid_t prefix, unsigned *answered) {
    struct rm_net_config config = {.telemetry = true};
    struct rm_error error;
    snprintf(config.prefix, sizeof config.prefix, "rm-test-tel-%d", (int)prefix);
    return rm_net_start(&config, &error) == RM_OK && rm_telemetry_open(commands, 2, answered, &error) == RM_OK;
}

static int connect_to(char const *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", rte_eal_get_runtime_dir(), name);
    int const client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (connect(client, (struct sockaddr *)&address, sizeof address) == 0)
        return client;
    close(client);
    return -1;
}

/** Sends a command, and takes the answer. "": the connection is closed. */
static char const *asked(int client, char const *command, char reply[RM_TELEMETRY_REPLY_BYTES]) {
    ssize_t length = command[0] == '\0' ? 0 : send(client, command, strlen(command), MSG_NOSIGNAL);
    length = length < 0 ? 0 : recv(client, reply, RM_TELEMETRY_REPLY_BYTES - 1, 0);
    reply[length < 0 ? 0 : length] = '\0';
    return reply;
}

enum { REFUSED = -1, ABSENT = -2 };

/** A client that has had its greeting; REFUSED; ABSENT: no program listens. */
static int greeted(void) {
    char reply[RM_TELEMETRY_REPLY_BYTES];
    int const client = connect_to("dpdk_telemetry.v2");
    if (client < 0)
        return ABSENT;
    if (strstr(asked(client, "", reply), "max_output_len") != NULL)
        return client;
    close(client);
    return REFUSED;
}

/** The same, once DPDK has seen those go that have gone. */
static int greeted_at_last(void) {
    int client;
    while ((client = greeted()) == REFUSED)
        sched_yield();
    return client;
}

static bool answers_json(void) {
    unsigned answered = 0;
    char reply[RM_TELEMETRY_REPLY_BYTES];
    bool const started = telemetry_starts(getpid(), &answered);
    int const client = greeted_at_last();
    bool const echoed =
        strcmp(asked(client, "/test/echo,a, b", reply), "{\"/test/echo\":{\"parameter\":\"a, b\"}}") == 0;
    bool const bare = strcmp(asked(client, "/test/echo", reply), "{\"/test/echo\":{\"parameter\":\"\"}}") == 0;
    bool const lists = strcmp(asked(client, "/test/lists", reply),
                              "{\"/test/lists\":{\"name\":[\"one\",\"all\"],\"value\":[1,18446744073709551615],"
                              "\"count\":2}}") == 0;
    bool const unknown = strstr(asked(client, "/test/other", reply), "null") != NULL;
    rm_telemetry_close();
    rm_net_stop();
    return started && echoed && bare && lists && unknown && answered == 2;
}

static void a_command_answers_in_json(void **state) {
    (void)state;
    assert_true(passes(answers_json));
}

static bool refuses_long(void) {
    unsigned answered = 0;
    char reply[RM_TELEMETRY_REPLY_BYTES], command[1000] = "/test/echo,";
    bool const started = telemetry_starts(getpid(), &answered);
    int const client = greeted_at_last();
    memset(command + 11, 'x', RM_TELEMETRY_PARAMETER_BYTES);
    bool const refused = strstr(asked(client, command, reply), "\"error\":\"the parameter has 128 bytes") != NULL;
    command[11 + RM_TELEMETRY_PARAMETER_BYTES - 1] = '\0';
    bool const fits = strstr(asked(client, command, reply), "parameter") != NULL && answered == 1;
    return started && refused && fits;
}

static void a_long_parameter_is_refused(void **state) {
    (void)state;
    assert_true(passes(refuses_long));
}

static bool says_it_stops(void) {
    unsigned answered = 0;
    char reply[RM_TELEMETRY_REPLY_BYTES];
    bool const started = telemetry_starts(getpid(), &answered);
    int const client = greeted_at_last();
    rm_telemetry_close();
    return started && strstr(asked(client, "/test/echo", reply), "the program stops") != NULL && answered == 0;
}

static void after_the_close_no_answer_runs(void **state) {
    (void)state;
    assert_true(passes(says_it_stops));
}

static void *ask_often(void *argument) {
    atomic_int *const wrong = argument;
    int const client = greeted_at_last();
    for (int round = 0; round < ROUNDS; ++round) {
        char command[64], expected[64], reply[RM_TELEMETRY_REPLY_BYTES];
        snprintf(command, sizeof command, "/test/echo,%d-%d", client, round);
        snprintf(expected, sizeof expected, "\"parameter\":\"%d-%d\"", client, round);
        if (strstr(asked(client, command, reply), expected) == NULL)
            ++*wrong;
    }
    close(client);
    return NULL;
}

static bool serves_many(void) {
    unsigned answered = 0;
    atomic_int wrong = 0;
    bool const started = telemetry_starts(getpid(), &answered);
    pthread_t thread[CLIENTS_MAX - 1];
    for (int i = 0; i < CLIENTS_MAX - 1; ++i)
        pthread_create(&thread[i], NULL, ask_often, &wrong);
    for (int i = 0; i < CLIENTS_MAX - 1; ++i)
        pthread_join(thread[i], NULL);
    return started && wrong == 0 && answered == (CLIENTS_MAX - 1) * ROUNDS;
}

static void each_of_many_clients_has_its_own_parameter(void **state) {
    (void)state;
    assert_true(passes(serves_many));
}

static bool survives_silence(void) {
    unsigned answered = 0;
    char reply[RM_TELEMETRY_REPLY_BYTES];
    bool good = telemetry_starts(getpid(), &answered);
    int client[CLIENTS_MAX];
    for (int i = 0; i < CLIENTS_MAX; ++i)
        client[i] = greeted_at_last();
    good = greeted() == REFUSED && good; // one too many
    close(client[0]);
    int const again = greeted_at_last();
    return good && strstr(asked(again, "/test/echo,x", reply), "\"x\"") != NULL &&
           strstr(asked(client[1], "/test/echo,y", reply), "\"y\"") != NULL;
}

static void silent_clients_keep_others_out_and_no_more(void **state) {
    (void)state;
    assert_true(passes(survives_silence));
}

/** How many files a directory has; -1: it is not there. */
static int files_left(char const *directory) {
    DIR *const listing = opendir(directory);
    if (listing == NULL)
        return -1;
    int count = 0;
    for (struct dirent const *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

/** A program of the test's prefix in a process of its own, which stays until it is killed. */
static pid_t program_starts(char directory[256]) {
    int channel[2];
    pid_t const prefix = getpid();
    assert_int_equal(pipe(channel), 0);
    pid_t const child = fork();
    if (child == 0) {
        unsigned answered = 0;
        if (telemetry_starts(prefix, &answered) &&
            write(channel[1], rte_eal_get_runtime_dir(), strlen(rte_eal_get_runtime_dir())) > 0)
            for (;;)
                pause();
        exit(1);
    }
    close(channel[1]);
    ssize_t const length = read(channel[0], directory, 255);
    close(channel[0]);
    assert_true(length > 0);
    directory[length] = '\0';
    return child;
}

static void program_is_killed(pid_t program) {
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
}

static bool starts_and_exits(void) {
    unsigned answered = 0;
    bool const good = telemetry_starts(getppid(), &answered) && greeted_at_last() >= 0;
    rm_telemetry_close();
    rm_net_stop();
    return good;
}

static void what_the_killed_left_goes_with_the_next(void **state) {
    (void)state;
    char directory[256];
    pid_t const one = program_starts(directory), other = program_starts(directory);
    int const both = files_left(directory);
    program_is_killed(other);
    program_is_killed(one);
    int const dead = files_left(directory);
    bool const good = passes(starts_and_exits);
    assert_int_equal(both, 2);
    assert_int_equal(dead, 2);
    assert_true(good);
    assert_int_equal(files_left(directory), -1);
}

static bool asks_both(void) {
    unsigned answered = 0;
    char reply[RM_TELEMETRY_REPLY_BYTES];
    bool const started = telemetry_starts(getppid(), &answered);
    int const first = connect_to("dpdk_telemetry.v2"), own = connect_to("dpdk_telemetry.v2:1");
    asked(first, "", reply);
    bool const theirs = strstr(asked(first, "/test/echo,p", reply), "\"p\"") != NULL && answered == 0;
    asked(own, "", reply);
    bool const ours = strstr(asked(own, "/test/echo,q", reply), "\"q\"") != NULL && answered == 1;
    rm_net_stop();
    return started && theirs && ours;
}

static void two_of_one_prefix_do_not_clash(void **state) {
    (void)state;
    char directory[256];
    pid_t const one = program_starts(directory);
    bool const good = passes(asks_both);
    int const left = files_left(directory);
    program_is_killed(one);
    bool const again = passes(starts_and_exits);
    assert_true(good);
    assert_int_equal(left, 1);
    assert_true(again);
    assert_int_equal(files_left(directory), -1);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_command_answers_in_json),
        cmocka_unit_test(a_long_parameter_is_refused),
        cmocka_unit_test(after_the_close_no_answer_runs),
        cmocka_unit_test(each_of_many_clients_has_its_own_parameter),
        cmocka_unit_test(silent_clients_keep_others_out_and_no_more),
        cmocka_unit_test(what_the_killed_left_goes_with_the_next),
        cmocka_unit_test(two_of_one_prefix_do_not_clash),
    };
    return cmocka_run_group_tests_name("telemetry", tests, NULL, NULL);
}
