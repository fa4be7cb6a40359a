// SPDX-License-Identifier: Apache-2.0
/** ringmaster-server: run a configuration, or check it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/notify.h"
#include "base/options.h"
#include "config/config.h"
#include "engine/application_check.h"
#include "engine/calibrate_store.h"
#include "engine/server.h"
#include "engine/version.h"

enum {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,
    /** Looks at the cores within the time after which the service manager restarts a silent server. */
    WATCHDOG_LOOKS = 4
};

static double const NS_PER_S = 1e9;

static char const USAGE[] =
    "Usage: ringmaster-server run CONFIG.yaml      run until Ctrl-C or SIGTERM\n"
    "       ringmaster-server check CONFIG.yaml    check a configuration and its applications' own, and say\n"
    "                                              what it would make; of a pair: of both servers\n"
    "       CONFIG.yaml@NAME is server NAME of the two in the file.\n"
    "       ringmaster-server --version | --help\n"
    "\n"
    "Examples:\n"
    "  ringmaster-server check configs/demo.yaml\n"
    "  ringmaster-server run configs/loopback.yaml\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

static int server_fail(struct rm_error const *error) {
    fprintf(stderr, "ringmaster-server: %s\n", error->text);
    return EXIT_FAILED;
}

static void server_announce(struct rm_config const *config, struct rm_server const *server) {
    fprintf(stderr, "ringmaster-server: workspace \"%s\" is ready: %u instruments on %u ports%s\n", config->workspace,
            config->instrument_count, config->port_count,
            rm_server_adopted(server) ? "; the rings of the last run were taken over" : "");
    if (config->chain_count > 0)
        fprintf(stderr,
                "ringmaster-server: it drives %u supplies on %u chains every %u turns, for %u applications and the "
                "operator\n",
                config->supply_count, config->chain_count, config->setpoints.period_turns,
                config->application_count - 1);
    if (!rm_server_huge_pages(server))
        fprintf(stderr,
                "ringmaster-server: no huge pages: it works, with more TLB misses; `sysctl vm.nr_hugepages=1024` and a "
                "mounted hugetlbfs make it faster\n");
}

static void server_tell_ready(struct rm_config const *config, struct rm_notify const *notify) {
    char lines[256];
    snprintf(lines, sizeof lines, "READY=1\nSTATUS=workspace \"%s\": %u instruments on %u ports", config->workspace,
             config->instrument_count, config->port_count);
    rm_notify_send(notify, lines);
}

/** A server of which one core stands still is as good as dead, whatever its other threads do: then nothing is sent. */
static void server_tell_alive(struct rm_server *server, struct rm_notify const *notify, bool *told_stuck) {
    unsigned stuck;
    if (rm_server_turned(server, &stuck)) {
        rm_notify_send(notify, "WATCHDOG=1");
        *told_stuck = false;
    } else if (!*told_stuck) {
        fprintf(
            stderr,
            "ringmaster-server: core %u has not gone round for %.3g s; the service manager restarts the server when "
            "that lasts %.3g s\n",
            stuck, (double)notify->watchdog_ns / WATCHDOG_LOOKS / NS_PER_S, (double)notify->watchdog_ns / NS_PER_S);
        *told_stuck = true;
    }
}

/** Until a signal of `ending` comes. */
static void server_wait(struct rm_server *server, struct rm_notify const *notify, sigset_t const *ending) {
    bool told_stuck = false;
    uint64_t const look_ns = notify->watchdog_ns / WATCHDOG_LOOKS;
    struct timespec const look = {.tv_sec = (time_t)(look_ns / (uint64_t)NS_PER_S),
                                  .tv_nsec = (long)(look_ns % (uint64_t)NS_PER_S)};
    /* A stop and a continue from the shell end a wait, too, with EINTR. */
    while ((notify->watchdog_ns != 0 ? sigtimedwait(ending, NULL, &look) : sigwaitinfo(ending, NULL)) < 0)
        if (errno == EAGAIN)
            server_tell_alive(server, notify, &told_stuck);
}

static int server_run(struct rm_config const *config) {
    /* Blocked before any thread starts, so that all inherit it and this one alone takes the signal. */
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    struct rm_server *server;
    struct rm_error error;
    if (rm_server_start(config, rm_simd_best(), &server, &error) != RM_OK)
        return server_fail(&error);
    server_announce(config, server);
    struct rm_notify notify;
    if (rm_notify_open(&notify, &error) != RM_OK)
        server_fail(&error); // the data is worth more than the manager: it runs on, and tells nothing
    server_tell_ready(config, &notify);
    server_wait(server, &notify, &ending);
    rm_notify_send(&notify, "STOPPING=1");
    rm_server_stop(server);
    rm_notify_close(&notify);
    return EXIT_GOOD;
}

static int check_applications(struct rm_config const *config) {
    struct rm_error error;
    int status = EXIT_GOOD;
    for (uint32_t i = 1; i < config->application_count; i++) /* 0 is the operator */
        if (rm_application_check(config, i, &error) != RM_OK)
            status = server_fail(&error);
    return status;
}

static int check_parts(struct rm_config const *config) {
    struct rm_calibrations *calibrations;
    struct rm_error error;
    if (rm_calibrations_load(config, &calibrations, &error) != RM_OK)
        return server_fail(&error);
    rm_calibrations_free(calibrations);
    uint8_t key[RM_CONFIG_KEY_BYTES];
    if (config->standby.present && rm_config_read_key(config, key, &error) != RM_OK)
        return server_fail(&error);
    return check_applications(config);
}

/** One server, or both of a pair, of which the first one's errors are enough. */
static int server_check(struct rm_config *const *config, uint32_t count) {
    int status = EXIT_GOOD;
    for (uint32_t i = 0; i < count && status == EXIT_GOOD; i++)
        status = check_parts(config[i]);
    if (status == EXIT_GOOD && count == 1)
        rm_config_describe(config[0], stdout);
    else if (status == EXIT_GOOD)
        rm_config_describe_pair(config[0], config[1], stdout);
    return status;
}

int main(int argc, char **argv) {
    static char const *const commands[] = {"run", "check", NULL};
    char const *path = NULL;
    struct rm_option options[] = {{.name = "CONFIG", .kind = RM_OPTION_TEXT, .value = &path, .place = RM_WORD}};
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-server %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    bool const runs = rm_options_command_or_exit(argc, argv, USAGE, commands) == 0;
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, 1);
    struct rm_config *config[RM_CONFIG_SERVERS];
    uint32_t count = 1;
    struct rm_errors errors = {.count = 0};
    enum rm_code const code =
        runs ? rm_config_load_all(path, &config[0], &errors) : rm_config_load_each(path, config, &count, &errors);
    if (code != RM_OK) {
        rm_errors_print(&errors, "ringmaster-server", stderr);
        return EXIT_FAILED;
    }
    int const status = runs ? server_run(config[0]) : server_check(config, count);
    for (uint32_t i = 0; i < count; i++)
        rm_config_free(config[i]);
    return status;
}
