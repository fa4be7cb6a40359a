// SPDX-License-Identifier: Apache-2.0
/** ringmaster-virtual-cameras: the cameras of a machine's file, as a program that sends what they would. */
#include <stdio.h>
#include <stdlib.h>

#include "base/errors.h"
#include "base/fail.h"
#include "base/options.h"
#include "cameras_summary.h"
#include "session.h"

#define PROGRAM "ringmaster-virtual-cameras"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, RUN = 0 };

static char const USAGE[] =
    "Usage: ringmaster-virtual-cameras run CONFIG [OVERLAY] [OPTION]…   send frames of the cameras that CONFIG\n"
    "                                                       describes for their receiver; OVERLAY has what only a\n"
    "                                                       virtual camera has: rate, picture, pace, faults\n"
    "       ringmaster-virtual-cameras check CONFIG [OVERLAY]   check both, and print what would be sent\n"
    "\n"
    "Options of run:\n"
    "  --frames N    end after N frames of each camera\n"
    "  --seconds S   end after S seconds\n"
    "  --json        print what was sent as a JSON object, and nothing else\n"
    "\n"
    "Examples:\n"
    "  ringmaster-virtual-cameras run configs/cameras.yaml\n"
    "  ringmaster-virtual-cameras run configs/cameras.yaml configs/virtual-cameras.yaml --seconds 10 --json\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

static int run_cameras(struct rm_cameras_session const *session) {
    struct rm_error error;
    if (rm_cameras_run(session, &error) == RM_OK)
        return EXIT_GOOD;
    fprintf(stderr, PROGRAM ": %s\n", error.text);
    return EXIT_FAILED;
}

int main(int argc, char **argv) {
    static char const *const commands[] = {"run", "check", NULL};
    uint64_t const command = rm_options_command_or_exit(argc, argv, USAGE, commands);
    char const *machine = NULL, *overlay = NULL;
    struct rm_cameras_session session = {0};
    struct rm_option options[] = {
        {.name = "CONFIG", .value = &machine, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {.name = "OVERLAY", .value = &overlay, .kind = RM_OPTION_TEXT, .place = RM_OPTIONAL_WORD},
        {.name = "frames", .value = &session.frames, .kind = RM_OPTION_WHOLE, .least = 1, .most = 1e15},
        {.name = "seconds", .value = &session.seconds, .kind = RM_OPTION_NUMBER, .least = 1e-3, .most = 1e9},
        {.name = "json", .value = &session.json, .kind = RM_OPTION_FLAG},
    };
    size_t const words = 2, all = sizeof options / sizeof *options;
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, command == RUN ? all : words);
    struct rm_cameras_config config;
    struct rm_errors errors = {.count = 0};
    if (rm_cameras_config_load(machine, overlay, &config, &errors) != RM_OK) {
        rm_errors_print(&errors, PROGRAM, stderr);
        return EXIT_FAILED;
    }
    session.config = &config;
    int status = EXIT_GOOD;
    if (command == RUN)
        status = run_cameras(&session);
    else
        rm_cameras_describe(&config, stdout);
    rm_cameras_config_free(&config);
    return status;
}
