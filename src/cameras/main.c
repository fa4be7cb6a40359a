// SPDX-License-Identifier: Apache-2.0
/** ringmaster-cameras: receives the cameras of a file until it is stopped. */
#include <signal.h>
#include <stdio.h>

#include <ringmaster/errors.h>

#include "base/errors.h"
#include "base/options.h"
#include "cameras/receiver.h"
#include "engine/version.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-cameras FILE.yaml           receive until Ctrl-C or SIGTERM\n"
    "       ringmaster-cameras --version | --help\n"
    "\n"
    "Receives the cameras of FILE, which its key `cameras` lists, on the ports that they name, and puts their frames\n"
    "into shared memory, where any number of programs read them without a copy. A server may run beside it in the\n"
    "same workspace, now or later: then frames have the turn in which they came.\n"
    "\n"
    "Examples:\n"
    "  ringmaster-cameras configs/cameras.yaml\n"
    "  ringmaster cameras list cameras\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

static int cameras_fail(struct rm_error const *error) {
    fprintf(stderr, "ringmaster-cameras: %s\n", error->text);
    return EXIT_FAILED;
}

static int cameras_run(struct rm_config const *config) {
    /* Blocked before any thread starts, so that all inherit it and this one alone takes the signal. */
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    struct rm_camera_receiver *receiver;
    struct rm_error error;
    if (rm_camera_receiver_start(config, &receiver, &error) != RM_OK)
        return cameras_fail(&error);
    fprintf(stderr, "ringmaster-cameras: workspace \"%s\" is ready: %u camera%s\n", config->workspace,
            config->camera_count, config->camera_count == 1 ? "" : "s");
    int signal_number;
    sigwait(&ending, &signal_number);
    rm_camera_receiver_stop(receiver);
    return EXIT_GOOD;
}

int main(int argc, char **argv) {
    char const *path = NULL;
    struct rm_option options[] = {{"FILE", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD}};
    struct rm_config *config = NULL;
    struct rm_errors errors = {.count = 0};
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-cameras %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    rm_options_or_exit(argc, argv, USAGE, options, 1);
    if (rm_config_load_machine(path, &config, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-cameras", stderr);
        return EXIT_FAILED;
    }
    int const status = cameras_run(config);
    rm_config_free(config);
    return status;
}
