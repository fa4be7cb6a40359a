// SPDX-License-Identifier: Apache-2.0
/** ringmaster-fast-archiver: serves the fast archiver's protocol, until it is stopped. */
#include <signal.h>
#include <stdio.h>

#include "base/errors.h"
#include "base/options.h"
#include "engine/version.h"
#include "server.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-fast-archiver run CONFIG     serve until stopped\n"
    "       ringmaster-fast-archiver check CONFIG   only check CONFIG, and say what it amounts to\n"
    "\n"
    "Serves live data of a workspace, and data of an archive, by the protocol of Diamond's fast archiver. It only "
    "reads\n"
    "the server's memory, and waits for the server where there is none.\n"
    "\n"
    "  --json   print what came of it as JSON in the end\n"
    "\n"
    "Examples:\n"
    "  ringmaster-fast-archiver run configs/fast-archiver.yaml\n"
    "  ringmaster-fast-archiver check configs/fast-archiver.yaml\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

/** Set by a signal; the second one ends the process at once. */
static atomic_bool ending;

static void gateway_end(int signal_number) {
    (void)signal_number;
    atomic_store(&ending, true);
}

static void gateway_listen(void) {
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = gateway_end;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void gateway_say(char const *text) { fprintf(stderr, "ringmaster-fast-archiver: %s\n", text); }

static void gateway_print(struct fa_server const *server, bool json) {
    char const *const form =
        json ? "{\"accepted\": %llu, \"refused\": %llu, \"too_slow\": %llu, \"gaps\": %llu, \"missing\": %llu}\n"
             : "%llu clients, %llu refused, %llu too slow; %llu gaps, %llu records missing\n";
    printf(form, (unsigned long long)server->accepted, (unsigned long long)server->refused,
           (unsigned long long)server->too_slow, (unsigned long long)server->live.frames[FA_RATE_FULL].gaps,
           (unsigned long long)server->live.frames[FA_RATE_FULL].missing);
}

static enum rm_code gateway_run(struct fa_file const *file, bool json, struct rm_error *error) {
    struct fa_server server = {.file = file, .ending = &ending, .say = gateway_say};
    enum rm_code const code = fa_server_open(&server, error);
    if (code == RM_OK) {
        printf("serving workspace \"%s\" on %s:%u\n", file->workspace, file->address, file->port);
        fflush(stdout);
        fa_server_run(&server);
        gateway_print(&server, json);
    }
    fa_server_close(&server);
    return code;
}

/** Says what the file amounts to: a line for each entry. */
static void gateway_check(struct fa_file const *file) {
    printf("workspace %s on %s:%u, */%s%s%s; archive %s\n", file->workspace, file->address, file->port, file->rate,
           file->decimated != NULL ? ", decimated */" : "", file->decimated != NULL ? file->decimated : "",
           file->archive != NULL ? file->archive : "-");
    for (uint32_t i = 0; i < file->ids_count; ++i) {
        struct fa_file_ids const *const ids = &file->ids[i];
        char first[RM_NAME_BYTES], last[RM_NAME_BYTES];
        uint32_t const count = ids->count == 0 ? 1 : ids->count;
        if (fa_file_instrument(ids, 0, first) && fa_file_instrument(ids, count - 1, last))
            printf("ids %u to %u: %s to %s, lanes %s and %s\n", ids->id, ids->id + count - 1, first, last, ids->x,
                   ids->y);
    }
}

int main(int argc, char **argv) {
    char const *path = NULL;
    bool json = false;
    struct rm_option options[] = {
        {"CONFIG", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"json", &json, .kind = RM_OPTION_FLAG},
    };
    static char const *const commands[] = {"run", "check", NULL};
    struct fa_file file = {0};
    struct rm_errors errors = {.count = 0};
    struct rm_error error = {.text = ""};
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-fast-archiver %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    bool const runs = rm_options_command_or_exit(argc, argv, USAGE, commands) == 0;
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, sizeof options / sizeof *options);
    if (fa_file_load(path, &file, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-fast-archiver", stderr);
        return EXIT_FAILED;
    }
    gateway_listen();
    enum rm_code code = RM_OK;
    if (runs)
        code = gateway_run(&file, json, &error);
    else
        gateway_check(&file);
    fa_file_free(&file);
    if (code != RM_OK)
        gateway_say(error.text);
    return code == RM_OK ? EXIT_GOOD : EXIT_FAILED;
}
