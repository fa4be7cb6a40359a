// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <string.h>

#include "base/fail.h"
#include "base/options.h"

char const rm_simulate_usage[] =
    "Usage: ringmaster-simulate CONFIG [OVERLAY] APPLICATION --seconds S --out DIR [OPTION]…\n"
    "       ringmaster-simulate CONFIG [OVERLAY] APPLICATION --replay DIR --out DIR [OPTION]…\n"
    "       ringmaster-simulate CONFIG APPLICATION --archive DIR [--cycles N] [--json]\n"
    "\n"
    "Runs one application of the configuration and the virtual ring of the same file, with its overlay, in simulated\n"
    "time, in lock-step: no network, no server, no clock. In every cycle the application is given the ring's readings "
    "of that turn, steps, "
    "and\n"
    "its setpoints pass the server's guard and reach the ring's supplies as datagrams after the latency. The same\n"
    "command gives the same numbers, to the bit.\n"
    "\n"
    "How long:\n"
    "  --seconds S         of simulated time\n"
    "  --cycles N          steps of the application\n"
    "  --until READING:V[:S]\n"
    "                      ends before that: S seconds (0) after this reading of the application is V or more\n"
    "What happens meanwhile:\n"
    "  --at T:NAME=VALUE   at T seconds; as often as you like:\n"
    "                        APPLICATION/SETTING=V, APPLICATION/SETTING[I]=V   a parameter is set\n"
    "                        machine/KNOB=V                                    and one of the living machine\n"
    "                        drop=INSTRUMENT, freeze=INSTRUMENT, back=INSTRUMENT\n"
    "                        trip=SUPPLY, reset=SUPPLY\n"
    "                        event=EVENT                                       as in the overlay: event=kick, x_um: "
    "100\n"
    "  --events FILE.yaml  the same as a file: a list `events` of {at: T, set: NAME=VALUE}\n"
    "How:\n"
    "  --shuffle SEED      each cycle's records arrive in another order, drawn from SEED\n"
    "  --replay DIR        feed what an earlier simulation has recorded in DIR, with its events, instead of the ring:\n"
    "                      the setpoints are the same to the bit\n"
    "  --archive DIR       replay recorded streams, and obey the decision record that each step has left: it tells "
    "whether\n"
    "                      all steps are the same to the bit, or the first that is not. It needs no ring and no "
    "--out.\n"
    "                      DIR is that of an archive of ringmaster-record, or OUT/recorded of a simulation\n"
    "  --latency-us US     from the application's vector to the supplies' network interface; 10. Where the server's\n"
    "                      cycles follow the clock, it begins when the cycle goes out\n"
    "  --refresh-ms MS     from one look of the machine's background to the next, instead of the ring's; 0: never\n"
    "Results:\n"
    "  --out DIR           made if need be: simulation.json, and of each cycle readings.i32, tags.u64, setpoints.f64,\n"
    "                      sent.f64, currents.f64, streams.f32, reported.f64; docs/simulation.md says what they are\n"
    "  --record LIST       only these of them: readings,setpoints,sent,currents,streams,reported; or all, or none.\n"
    "                      all,decisions: also DIR/recorded, streams that --archive replays\n"
    "  --truth FILE        all errors that the ring has drawn, as JSON, for a test that scores\n"
    "  --json              print simulation.json on standard output\n"
    "\n"
    "Examples:\n"
    "  ringmaster-simulate configs/supplies.yaml ramp --seconds 0.1 --out /tmp/ramp \\\n"
    "      --at 0.02:ramp/target=2.5\n"
    "  ringmaster-simulate configs/supplies.yaml ramp --replay /tmp/ramp --out /tmp/again\n"
    "\n"
    "Ctrl-C ends it early and keeps what was done.\n"
    "Exit status: 0 good, 1 something failed or is not the same (one line on standard error says what), 2 wrong "
    "usage.\n";

static double const COUNT_MOST = 1e18;

static enum rm_code take_event(void *events, char const *text, struct rm_error *error) {
    return rm_events_add(events, text, error);
}

static enum rm_code take_events(void *events, char const *path, struct rm_error *error) {
    return rm_events_load(events, path, error);
}

static enum rm_code take_record(void *value, char const *text, struct rm_error *error) {
    static struct {
        char const *word;
        unsigned bits;
    } const WORDS[] = {
        {"readings", RM_RECORD_READINGS}, {"setpoints", RM_RECORD_SETPOINTS}, {"sent", RM_RECORD_SENT},
        {"currents", RM_RECORD_CURRENTS}, {"streams", RM_RECORD_STREAMS},     {"reported", RM_RECORD_REPORTED},
        {"all", RM_RECORD_ALL},           {"decisions", RM_RECORD_DECISIONS},
    };
    unsigned *const record = value;
    *record = 0;
    while (*text != '\0' && strcmp(text, "none") != 0) {
        size_t const length = strcspn(text, ",");
        unsigned bits = 0;
        for (unsigned w = 0; w < sizeof WORDS / sizeof WORDS[0]; ++w)
            if (strlen(WORDS[w].word) == length && memcmp(WORDS[w].word, text, length) == 0)
                bits = WORDS[w].bits;
        if (bits == 0)
            return rm_fail(error, RM_E_ARGUMENT,
                           "--record: found \"%s\", expected a list of readings, setpoints, sent, currents, streams, "
                           "reported, all and decisions with commas between, or none",
                           text);
        *record |= bits;
        text += length + (text[length] == ',');
    }
    return RM_OK;
}

/** A replay of recorded streams writes nothing, and has none of the ring's events. */
static enum rm_code simulate_check_archive(struct rm_simulate_options const *options, struct rm_error *error) {
    bool const alone = options->out == NULL && options->replay == NULL && options->truth == NULL &&
                       options->files.overlay == NULL && options->seconds <= 0 && options->events.count == 0 &&
                       options->shuffle == 0 && options->until == NULL;
    if (!alone)
        return rm_fail(
            error, RM_E_ARGUMENT,
            "--archive: expected CONFIG APPLICATION and no options but --cycles and --json: what happened is "
            "on record");
    return RM_OK;
}

/** What goes together. */
static enum rm_code simulate_check_options(struct rm_simulate_options *options, struct rm_error *error) {
    if (options->archive != NULL)
        return simulate_check_archive(options, error);
    if (options->out == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "expected --out DIR: where the results go");
    if (options->seconds > 0 && options->cycles > 0)
        return rm_fail(error, RM_E_ARGUMENT, "found --seconds and --cycles, expected one of them");
    if (options->seconds <= 0 && options->cycles == 0 && options->replay == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "expected --seconds S or --cycles N: how long to simulate");
    if (options->replay != NULL && options->truth != NULL)
        return rm_fail(error, RM_E_ARGUMENT, "found --replay and --truth, expected one: a replay draws no errors");
    if (options->replay != NULL && strcmp(options->replay, options->out) == 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "--replay and --out are both \"%s\": expected another folder for the "
                       "results than for what is replayed",
                       options->out);
    return RM_OK;
}

enum rm_code rm_simulate_options_read(int argc, char **argv, struct rm_simulate_options *options,
                                      struct rm_error *error) {
    *options = (struct rm_simulate_options){.record = RM_RECORD_ALL};
    char const *second = NULL, *third = NULL;
    double latency_us = 10, refresh_ms = -1;
    struct rm_option list[] = {
        {.name = "CONFIG", .kind = RM_OPTION_TEXT, .value = &options->files.config, .place = RM_WORD},
        {.name = "APPLICATION", .kind = RM_OPTION_TEXT, .value = &second, .place = RM_WORD},
        {.name = "APPLICATION behind OVERLAY", .kind = RM_OPTION_TEXT, .value = &third, .place = RM_OPTIONAL_WORD},
        {.name = "seconds", .kind = RM_OPTION_NUMBER, .value = &options->seconds, .least = 1e-6, .most = 1e6},
        {.name = "cycles", .kind = RM_OPTION_WHOLE, .value = &options->cycles, .least = 1, .most = COUNT_MOST},
        {.name = "until", .kind = RM_OPTION_TEXT, .value = &options->until},
        {.name = "at", .kind = RM_OPTION_TAKE, .value = &options->events, .take = take_event},
        {.name = "events", .kind = RM_OPTION_TAKE, .value = &options->events, .take = take_events},
        {.name = "shuffle", .kind = RM_OPTION_WHOLE, .value = &options->shuffle, .least = 1, .most = COUNT_MOST},
        {.name = "replay", .kind = RM_OPTION_TEXT, .value = &options->replay},
        {.name = "archive", .kind = RM_OPTION_TEXT, .value = &options->archive},
        {.name = "latency-us", .kind = RM_OPTION_NUMBER, .value = &latency_us, .most = 1e6},
        {.name = "refresh-ms", .kind = RM_OPTION_NUMBER, .value = &refresh_ms, .most = 1e9},
        {.name = "out", .kind = RM_OPTION_TEXT, .value = &options->out},
        {.name = "record", .kind = RM_OPTION_TAKE, .value = &options->record, .take = take_record},
        {.name = "truth", .kind = RM_OPTION_TEXT, .value = &options->truth},
        {.name = "json", .kind = RM_OPTION_FLAG, .value = &options->json},
    };
    enum rm_code const code = rm_options_read(argc, argv, list, sizeof list / sizeof *list, error);
    if (code != RM_OK)
        return code;
    options->files.overlay = third != NULL ? second : NULL;
    options->application = third != NULL ? third : second;
    options->latency_s = latency_us / 1e6;
    options->refresh_s = refresh_ms < 0 ? -1 : refresh_ms / 1e3;
    return simulate_check_options(options, error);
}
