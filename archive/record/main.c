// SPDX-License-Identifier: Apache-2.0
/** ringmaster-record: records what a configuration says, until it is stopped. */
#include <signal.h>
#include <stdio.h>

#include "base/errors.h"
#include "base/options.h"
#include "engine/version.h"
#include "recorder.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-record CONFIG\n"
    "\n"
    "Records streams of a workspace, their reductions and all events into an archive, as CONFIG says, until it is\n"
    "stopped. It only reads the server's memory, and waits for the server where there is none. What it does is in the\n"
    "workspace under recorder/ and counters/recorder/: `ringmaster get recorder/`.\n"
    "\n"
    "  --check   only check CONFIG\n"
    "\n"
    "Examples:\n"
    "  ringmaster-record configs/record.yaml\n"
    "  ringmaster-record configs/record.yaml --check\n"
    "\n"
    "Ctrl-C ends it in good order. What kills it, or the power, costs at most the last second.\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

/** Set by a signal; the second one ends the process at once. */
static sig_atomic_t volatile ending;

static void record_end(int signal_number) {
    (void)signal_number;
    ending = 1;
}

static void record_listen(void) {
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = record_end;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void record_say(char const *text) { fprintf(stderr, "ringmaster-record: %s\n", text); }

static enum rm_code record_run(struct rm_record_configuration const *configuration, struct rm_error *error) {
    struct rm_recorder recorder = {.configuration = configuration, .ending = &ending, .say = record_say};
    enum rm_code code = rm_recorder_open(&recorder, error);
    if (code == RM_OK) {
        printf("recording workspace \"%s\" into %s\n", configuration->workspace, configuration->directory);
        fflush(stdout);
        code = rm_recorder_run(&recorder, error);
    }
    rm_recorder_close(&recorder);
    return code;
}

int main(int argc, char **argv) {
    char const *path = NULL;
    bool check = false;
    struct rm_option options[] = {
        {"CONFIG", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"check", &check, .kind = RM_OPTION_FLAG},
    };
    struct rm_record_configuration configuration = {0};
    struct rm_errors errors = {.count = 0};
    struct rm_error error = {.text = ""};
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-record %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    rm_options_or_exit(argc, argv, USAGE, options, sizeof options / sizeof *options);
    if (rm_record_configuration_load(path, &configuration, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-record", stderr);
        return EXIT_FAILED;
    }
    record_listen();
    enum rm_code const code = check ? RM_OK : record_run(&configuration, &error);
    rm_record_configuration_free(&configuration);
    if (code != RM_OK)
        record_say(error.text);
    return code == RM_OK ? EXIT_GOOD : EXIT_FAILED;
}
