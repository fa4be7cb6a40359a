// SPDX-License-Identifier: Apache-2.0
/** ringmaster-standby: the link between one of two servers and the other one, until it is stopped. */
#include <signal.h>
#include <stdio.h>

#include "base/errors.h"
#include "base/options.h"
#include "engine/version.h"
#include "standby/link/process.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-standby FILE.yaml@NAME      run until Ctrl-C or SIGTERM\n"
    "       ringmaster-standby --version | --help\n"
    "\n"
    "Runs beside server NAME of the two servers of FILE, and joins it to the other one: brings what the active server\n"
    "sends and decides into the workspace of the one that stands by, copies what that one lacks, and tells both who\n"
    "the other is. One such process runs beside each server; it outlives its server, and waits for it.\n"
    "\n"
    "Examples:\n"
    "  ringmaster-standby pair.yaml@a\n"
    "  ringmaster-standby /etc/ringmaster/pair.yaml@b\n"
    "  ringmaster standby status pair.yaml@a\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

/** Set by a signal; the second one ends the process at once. */
static atomic_bool ending;

static void standby_end(int signal_number) {
    (void)signal_number;
    atomic_store(&ending, true);
}

static void standby_listen(void) {
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = standby_end;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static enum rm_code standby_run(struct rm_config const *config, struct rm_error *error) {
    static struct rm_peer_process process;
    process.ending = &ending;
    enum rm_code code = rm_peer_process_open(&process, config, error);
    if (code == RM_OK) {
        struct rm_config_standby const *const standby = &config->standby;
        fprintf(stderr, "ringmaster-standby: server %s, workspace \"%s\": linked to server %s by %u link%s\n",
                standby->server[standby->own].name, config->workspace, standby->server[1 - standby->own].name,
                process.sockets.count, process.sockets.count == 1 ? "" : "s");
        code = rm_peer_process_run(&process, error);
    }
    rm_peer_process_close(&process);
    return code;
}

int main(int argc, char **argv) {
    char const *path = NULL;
    struct rm_option options[] = {{"FILE", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD}};
    struct rm_config *config = NULL;
    struct rm_errors errors = {.count = 0};
    struct rm_error error = {.text = ""};
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-standby %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    rm_options_or_exit(argc, argv, USAGE, options, 1);
    if (rm_config_load_all(path, &config, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-standby", stderr);
        return EXIT_FAILED;
    }
    standby_listen();
    enum rm_code code = RM_E_CONFIG;
    if (config->standby.present)
        code = standby_run(config, &error);
    else
        snprintf(error.text, sizeof error.text, "%s is of one server: expected a file with the key \"standby\"", path);
    rm_config_free(config);
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-standby: %s\n", error.text);
    return code == RM_OK ? EXIT_GOOD : EXIT_FAILED;
}
