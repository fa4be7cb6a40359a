// SPDX-License-Identifier: Apache-2.0
/** ringmaster-simulate: an application and a virtual ring in simulated time. */
#include <signal.h>
#include <stdio.h>

#include "archive.h"
#include "base/fail.h"
#include "base/options.h"
#include "engine/version.h"
#include "options.h"
#include "simulation.h"
#include "summary.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

/** Set by a signal; the second one ends the process at once. */
static volatile sig_atomic_t ending;

static void simulate_end(int signal_number) {
    (void)signal_number;
    ending = 1;
}

static void listen_to_signals(void) {
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = simulate_end;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void simulate_say(struct rm_simulation const *simulation) {
    double const seconds = (double)simulation->done / rm_simulation_rate_hz(simulation);
    double const times = simulation->wall_s > 0 ? seconds / simulation->wall_s : 0;
    printf("%llu cycles of %s, %.6g s at %.6g Hz%s, in %.3g s: %.3g times as %s as real time; results in %s\n",
           (unsigned long long)simulation->done, simulation->program->setup.name, seconds,
           rm_simulation_rate_hz(simulation),
           simulation->done < simulation->cycles && !simulation->until.has_come ? " (ended early)" : "",
           simulation->wall_s, times >= 1 ? times : 1 / times, times >= 1 ? "fast" : "slow", simulation->options->out);
}

static enum rm_code simulate_run(struct rm_simulate_options *options, struct rm_error *error) {
    struct rm_simulation simulation;
    struct rm_error reason = {.text = ""};
    enum rm_code code = rm_simulation_open(options, &simulation, error);
    if (code == RM_OK) {
        enum rm_code const ran = rm_simulation_run(&simulation, &ending, error);
        code = rm_recording_close(&simulation.recording, &reason);
        if (code == RM_OK)
            code = rm_simulation_decisions_close(&simulation.decisions, &reason);
        if (code == RM_OK)
            code = rm_simulation_rows_close(&simulation.rows, &reason);
        if (code == RM_OK)
            code = rm_summary_write(&simulation, &reason);
        if (ran == RM_OK && code != RM_OK)
            *error = reason;
        code = ran != RM_OK ? ran : code;
        if (code == RM_OK && options->json)
            rm_summary_print(&simulation, stdout);
        else if (code == RM_OK)
            simulate_say(&simulation);
    }
    rm_simulation_close(&simulation);
    return code;
}

/** Says what is not the same as a failure. */
static enum rm_code simulate_archive(struct rm_simulate_options const *options, struct rm_error *error) {
    struct rm_archive_result result;
    enum rm_code const code = rm_archive_replay(options, &ending, &result, error);
    if (code != RM_OK)
        return code;
    rm_archive_tell(options, &result);
    if (result.differs.differs == RM_REPLAY_SAME)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "turn %llu, step %llu: %s: %s", (unsigned long long)result.differs.turn,
                   (unsigned long long)result.differs.step, rm_replay_difference_text(result.differs.differs),
                   result.differs.text);
}

int main(int argc, char **argv) {
    struct rm_simulate_options options;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(rm_simulate_usage, stdout);
        return EXIT_GOOD;
    }
    if (rm_options_version(argc, argv)) {
        printf("ringmaster-simulate %s\n", RM_VERSION);
        return EXIT_GOOD;
    }
    enum rm_code code = rm_simulate_options_read(argc, argv, &options, &error);
    bool const wrong = code == RM_E_ARGUMENT;
    if (code == RM_OK) {
        listen_to_signals();
        code = options.archive != NULL ? simulate_archive(&options, &error) : simulate_run(&options, &error);
    }
    rm_events_free(&options.events);
    if (wrong)
        return rm_options_refuse(&error);
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-simulate: %s\n", error.text);
    return code == RM_OK ? EXIT_GOOD : EXIT_FAILED;
}
