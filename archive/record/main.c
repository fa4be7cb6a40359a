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
    "Usage: ringmaster-record run CONFIG     record until stopped\n"
    "       ringmaster-record check CONFIG   only check CONFIG, and say what it amounts to\n"
    "\n"
    "Records streams of a workspace, their reductions, frames of cameras and all events into an archive, as CONFIG "
    "says, until it is\n"
    "stopped. It only reads the server's memory, and waits for the server where there is none; frames of cameras need\n"
    "no server. What it does is in the workspace under recorder/ and counters/recorder/: `ringmaster get recorder/`.\n"
    "\n"
    "  --json   print what came of it as JSON in the end\n"
    "\n"
    "Examples:\n"
    "  ringmaster-record run configs/record.yaml\n"
    "  ringmaster-record check configs/record.yaml\n"
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

static uint64_t record_lost(struct rm_recorded_log const *log) {
    uint64_t lost = 0;
    for (unsigned reason = 0; reason < RM_FOLLOW_REASONS; ++reason)
        lost += log->lost[reason];
    return lost;
}

/** What came of it: a line for each log that has something. */
static void record_print(struct rm_recorder const *recorder) {
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log const *log = &recorder->log[l];
        if (log->log.figures.records > 0 || record_lost(log) > 0)
            printf("%s: %llu records, %.1f MB; %llu were missing in the streams, %llu were lost\n", log->log.name,
                   (unsigned long long)log->log.figures.records, (double)log->log.figures.bytes / 1e6,
                   (unsigned long long)log->missing, (unsigned long long)record_lost(log));
    }
}

static void record_print_json(struct rm_recorder const *recorder) {
    fputs("{\"logs\": {", stdout);
    for (unsigned l = 0; l < recorder->log_count; ++l) {
        struct rm_recorded_log const *log = &recorder->log[l];
        printf("%s\"%s\": {\"records\": %llu, \"bytes\": %llu, \"missing\": %llu, \"lost\": %llu, "
               "\"plain_bytes\": %llu, \"stored_bytes\": %llu}",
               l > 0 ? ", " : "", log->log.name, (unsigned long long)log->log.figures.records,
               (unsigned long long)log->log.figures.bytes, (unsigned long long)log->missing,
               (unsigned long long)record_lost(log), (unsigned long long)log->plain_bytes,
               (unsigned long long)log->stored_bytes);
    }
    puts("}}");
}

static enum rm_code record_run(struct rm_record_configuration const *configuration, bool json, struct rm_error *error) {
    struct rm_recorder recorder = {.configuration = configuration, .ending = &ending, .say = record_say};
    enum rm_code code = rm_recorder_open(&recorder, error);
    if (code == RM_OK) {
        printf("recording workspace \"%s\" into %s\n", configuration->workspace, configuration->directory);
        fflush(stdout);
        code = rm_recorder_run(&recorder, error);
    }
    rm_recorder_stop(&recorder);
    if (code == RM_OK)
        (json ? record_print_json : record_print)(&recorder);
    rm_recorder_close(&recorder);
    return code;
}

static char const *or_dash(char const *text) { return text != NULL ? text : "-"; }

/** Says what the file amounts to: a line for each log. */
static enum rm_code record_check(struct rm_record_configuration const *configuration, struct rm_error *error) {
    char const *const quota = configuration->quota_text;
    printf("workspace %s into %s, %s%s\n%-24s %-10s %-10s streams\n", configuration->workspace,
           configuration->directory, quota != NULL ? "at most " : "as long as there is room",
           quota != NULL ? quota : "", "log", "keep", "quota");
    for (uint32_t l = 0; l < configuration->log_count; ++l) {
        struct rm_record_log const *log = &configuration->log[l];
        printf("%-24s %-10s %-10s", log->name, or_dash(log->retention.keep_text), or_dash(log->retention.quota_text));
        for (uint32_t p = 0; p < log->pattern_count; ++p)
            printf(" %s", log->pattern[p]);
        putchar('\n');
        for (uint32_t s = 0; s < log->step_count; ++s)
            printf("  steps of %-13s %-10s %-10s\n", log->step[s].step_text, or_dash(log->step[s].retention.keep_text),
                   or_dash(log->step[s].retention.quota_text));
    }
    for (uint32_t i = 0; i < configuration->images_count; ++i) {
        struct rm_record_images const *images = &configuration->images[i];
        printf("%-24s %-10s %-10s", images->name, or_dash(images->retention.keep_text),
               or_dash(images->retention.quota_text));
        for (uint32_t p = 0; p < images->pattern_count; ++p)
            printf(" %s", images->pattern[p]);
        putchar('\n');
    }
    printf("%-24s %-10s %-10s\n", "events", or_dash(configuration->events.retention.keep_text),
           or_dash(configuration->events.retention.quota_text));
    return rm_archive_folder_check(configuration->directory, error);
}

int main(int argc, char **argv) {
    char const *path = NULL;
    bool json = false;
    struct rm_option options[] = {
        {"CONFIG", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"json", &json, .kind = RM_OPTION_FLAG},
    };
    static char const *const commands[] = {"run", "check", NULL};
    struct rm_record_configuration configuration = {0};
    struct rm_errors errors = {.count = 0};
    struct rm_error error = {.text = ""};
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-record %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    bool const runs = rm_options_command_or_exit(argc, argv, USAGE, commands) == 0;
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, sizeof options / sizeof *options);
    if (rm_record_configuration_load(path, &configuration, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-record", stderr);
        return EXIT_FAILED;
    }
    record_listen();
    enum rm_code const code = runs ? record_run(&configuration, json, &error) : record_check(&configuration, &error);
    rm_record_configuration_free(&configuration);
    if (code != RM_OK)
        record_say(error.text);
    return code == RM_OK ? EXIT_GOOD : EXIT_FAILED;
}
