// SPDX-License-Identifier: Apache-2.0
/** ringmaster-application: one application of a configuration, in a process of its own. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <ringmaster/workspace.h>

#include "base/fail.h"
#include "base/idle.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "base/user.h"
#include "config/config.h"
#include "engine/application_setup.h"
#include "engine/version.h"
#include "fabric/owner_folder.h"
#include "fabric/segment_map.h"
#include "host/host.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-application CONFIG.yaml NAME [--fresh]\n"
    "                                                  run application NAME of the server's configuration\n"
    "       ringmaster-application --version | --help\n"
    "\n"
    "It waits for the server, steps as soon as the server grants it its supplies, and goes on when the server is\n"
    "restarted. Ctrl-C or SIGTERM ends it in good order. With `core` in the configuration it spins on that core;\n"
    "without, it sleeps where its period leaves time to. After Ctrl-C its settings begin with the configuration's\n"
    "values again; after a crash they go on as they were, but with --fresh. Permissions to act begin off, always.\n"
    "With `user` in the configuration it is that user's: started by root it becomes so, by another it refuses.\n"
    "\n"
    "Examples:\n"
    "  ringmaster-application configs/supplies.yaml ramp\n"
    "  ringmaster put ramp/target 2.5       in another terminal\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

static uint64_t const WAIT_NS = 100000000; /**< from one look for the workspace to the next */
static uint64_t const LONGEST_NAP_NS = 1000000;
static uint64_t const WAKING_NS = 80000; /**< a sleep may last so much longer: the rest is waited for awake */

/** Set by a signal; the second one ends the process at once, in the midst of a step too. */
static volatile sig_atomic_t ending;

static void application_end(int signal_number) {
    (void)signal_number;
    ending = 1;
}

static void listen_to_signals(void) {
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = application_end;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void application_say(void *context, char const *text) {
    fprintf(stderr, "ringmaster-application: %s: %s\n", (char const *)context, text);
}

static int application_fail(struct rm_error const *error) {
    fprintf(stderr, "ringmaster-application: %s\n", error->text);
    return EXIT_FAILED;
}

static void application_nap(uint64_t ns) {
    struct timespec const time = {.tv_nsec = (long)ns};
    nanosleep(&time, NULL);
}

/** True when the server lives and has made the folder for this application's segment. */
static bool is_ready(struct rm_config const *config, char const *name, struct rm_error *error) {
    struct rm_workspace *workspace;
    char path[PATH_MAX];
    uid_t uid;
    if (rm_workspace_attach(config->workspace, 0, &workspace, error) != RM_OK ||
        rm_workspace_path(config->workspace, path, error) != RM_OK)
        return false;
    rm_workspace_detach(workspace);
    if (rm_owner_folder(path, name, &uid))
        return true;
    rm_fail(error, RM_E_NOT_FOUND,
            "that of workspace \"%s\" runs without an application \"%s\": restart it with this configuration",
            config->workspace, name);
    return false;
}

/** The server makes the workspace, and in it the folder for this application's segment: so it comes first. Says once
 * what it waits for. False when a signal ended the wait. */
static bool wait_for_server(struct rm_config const *config, char *name) {
    struct rm_error said = {.text = ""};
    while (!ending) {
        struct rm_error error;
        if (is_ready(config, name, &error))
            return true;
        if (strcmp(error.text, said.text) != 0) {
            char text[RM_ERROR_TEXT_BYTES + 32];
            snprintf(text, sizeof text, "waiting for the server: %s", error.text);
            application_say(name, text);
        }
        said = error;
        application_nap(WAIT_NS);
    }
    return false;
}

/** The thread that steps, and no other, on its core. */
static enum rm_code application_pin(struct rm_config const *config, uint32_t index, struct rm_error *error) {
    int32_t const core = config->application[index].core;
    if (core < 0)
        return RM_OK;
    struct rm_error why;
    if (rm_pin((uint32_t)core, &why) == RM_OK)
        return RM_OK;
    return rm_config_fail_entry(config, error, "applications", index - 1, "core", "%s", why.text);
}

/** Between two turns: nothing on a core of its own, where a sleep would be what makes it late. */
static void application_rest(struct rm_host const *host, bool own_core, bool naps, uint64_t tsc) {
    if (naps) {
        rm_nap();
        return;
    }
    uint64_t const idle = rm_host_idle_ns(host, tsc);
    bool const waits_for_grant = idle >= LONGEST_NAP_NS;
    if ((own_core && !waits_for_grant) || idle <= WAKING_NS) {
        rm_pause();
        return;
    }
    uint64_t const time = idle - WAKING_NS;
    application_nap(time < LONGEST_NAP_NS ? time : LONGEST_NAP_NS);
}

static int application_run(struct rm_config const *config, uint32_t index, struct rm_host *host) {
    bool const own_core = config->application[index].core >= 0;
    while (!ending) {
        uint64_t const tsc = rm_tsc();
        if (rm_host_duty(host, tsc) == 0)
            application_rest(host, own_core, config->polling.naps, tsc);
        struct rm_error const *failure = rm_host_failure(host);
        if (failure == NULL)
            continue;
        struct rm_error error;
        rm_config_fail_entry(config, &error, "applications", index - 1, NULL, "%s", failure->text);
        return application_fail(&error);
    }
    return EXIT_GOOD;
}

/** Before its code is loaded: that is whose rights `user` is there to limit. */
static enum rm_code become_its_user(struct rm_config const *config, uint32_t index, struct rm_error *error) {
    struct rm_error reason;
    if (config->application[index].user[0] == '\0' || rm_user_become(config->application[index].user, &reason) == RM_OK)
        return RM_OK;
    return rm_config_fail_entry(config, error, "applications", index - 1, "user", "%s", reason.text);
}

static int host_it(struct rm_config *config, uint32_t index, bool fresh) {
    char *name = config->application[index].name;
    struct rm_host *host;
    struct rm_error error;
    if (become_its_user(config, index, &error) != RM_OK)
        return application_fail(&error);
    listen_to_signals();
    prctl(PR_SET_TIMERSLACK, 1000ul); // sleeps end when they should
    if (!wait_for_server(config, name))
        return EXIT_GOOD;
    if (rm_application_open(config, index, fresh, application_say, name, &host, &error) != RM_OK)
        return application_fail(&error);
    int const status = application_pin(config, index, &error) == RM_OK ? application_run(config, index, host)
                                                                       : application_fail(&error);
    rm_host_close(host);
    return status;
}

int main(int argc, char **argv) {
    char const *path = NULL, *name = NULL;
    bool fresh = false;
    struct rm_option options[] = {
        {.name = "CONFIG", .kind = RM_OPTION_TEXT, .value = &path, .place = RM_WORD},
        {.name = "NAME", .kind = RM_OPTION_TEXT, .value = &name, .place = RM_WORD},
        {.name = "fresh", .kind = RM_OPTION_FLAG, .value = &fresh},
    };
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-application %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    rm_options_or_exit(argc, argv, USAGE, options, sizeof options / sizeof *options);
    struct rm_config *config;
    struct rm_error error;
    if (rm_config_load(path, &config, &error) != RM_OK)
        return application_fail(&error);
    uint32_t index;
    bool const found = rm_application_find(config, name, &index, &error) == RM_OK &&
                       rm_application_stands_alone(config, index, &error) == RM_OK;
    int const status = found ? host_it(config, index, fresh) : application_fail(&error);
    rm_config_free(config);
    return status;
}
