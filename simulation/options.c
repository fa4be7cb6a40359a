// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

char const rm_simulate_usage[] =
    "Usage: ringmaster-simulate CONFIG [OVERLAY] APPLICATION --seconds S --out DIR [OPTION]…\n"
    "       ringmaster-simulate CONFIG [OVERLAY] APPLICATION --replay DIR --out DIR [OPTION]…\n"
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
    "What happens meanwhile:\n"
    "  --at T:NAME=VALUE   at T seconds; as often as you like:\n"
    "                        APPLICATION/SETTING=V, APPLICATION/SETTING[I]=V   a parameter is set\n"
    "                        machine/KNOB=V                                    and one of the living machine\n"
    "                        drop=INSTRUMENT, freeze=INSTRUMENT, back=INSTRUMENT\n"
    "                        trip=SUPPLY, reset=SUPPLY\n"
    "  --events FILE.yaml  the same as a file: a list `events` of {at: T, set: NAME=VALUE}\n"
    "How:\n"
    "  --shuffle SEED      each cycle's records arrive in another order, drawn from SEED\n"
    "  --replay DIR        feed what an earlier simulation has recorded in DIR, with its events, instead of the ring:\n"
    "                      the setpoints are the same to the bit\n"
    "  --latency-us US     from the application's vector to the supplies' network interface; 10. Where the server's\n"
    "                      cycles follow the clock, it begins when the cycle goes out\n"
    "  --refresh-ms MS     from one look of the machine's background to the next, instead of the ring's; 0: never\n"
    "Results:\n"
    "  --out DIR           made if need be: simulation.json, and of each cycle readings.i32, tags.u64, setpoints.f64,\n"
    "                      sent.f64, currents.f64, streams.f32, reported.f64; docs/simulation.md says what they are\n"
    "  --record LIST       only these of them: readings,setpoints,sent,currents,streams,reported; or none\n"
    "  --json              print simulation.json on standard output\n"
    "\n"
    "Examples:\n"
    "  ringmaster-simulate configs/supplies.yaml ramp --seconds 0.1 --out /tmp/ramp \\\n"
    "      --at 0.02:ramp/target=2.5\n"
    "  ringmaster-simulate configs/supplies.yaml ramp --replay /tmp/ramp --out /tmp/again\n"
    "\n"
    "Ctrl-C ends it early and keeps what was done.\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

enum simulation_option {
    KEY_HELP = 'h',
    KEY_SECONDS = 256,
    KEY_CYCLES,
    KEY_AT,
    KEY_EVENTS,
    KEY_SHUFFLE,
    KEY_REPLAY,
    KEY_LATENCY,
    KEY_REFRESH,
    KEY_OUT,
    KEY_RECORD,
    KEY_JSON,
    KEY_VERSION,
};

static struct option const options_known[] = {
    {"help", no_argument, NULL, KEY_HELP},
    {"seconds", required_argument, NULL, KEY_SECONDS},
    {"cycles", required_argument, NULL, KEY_CYCLES},
    {"at", required_argument, NULL, KEY_AT},
    {"events", required_argument, NULL, KEY_EVENTS},
    {"shuffle", required_argument, NULL, KEY_SHUFFLE},
    {"replay", required_argument, NULL, KEY_REPLAY},
    {"latency-us", required_argument, NULL, KEY_LATENCY},
    {"refresh-ms", required_argument, NULL, KEY_REFRESH},
    {"out", required_argument, NULL, KEY_OUT},
    {"record", required_argument, NULL, KEY_RECORD},
    {"json", no_argument, NULL, KEY_JSON},
    {"version", no_argument, NULL, KEY_VERSION},
    {NULL, 0, NULL, 0},
};

static enum rm_code take_simulate_number(char const *option, char const *text, double low, double high, double scale,
                                         double *number, struct rm_error *error) {
    char *end;
    double const value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= low && value <= high))
        return rm_fail(error, RM_E_ARGUMENT, "--%s: found \"%s\", expected a number from %g to %g", option, text, low,
                       high);
    *number = value * scale;
    return RM_OK;
}

static enum rm_code take_count(char const *option, char const *text, uint64_t *count, struct rm_error *error) {
    char *end;
    errno = 0;
    *count = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *count == 0 || *count > 1ull << 62)
        return rm_fail(error, RM_E_ARGUMENT, "--%s: found \"%s\", expected a whole number from 1", option, text);
    return RM_OK;
}

static enum rm_code take_record(char const *text, unsigned *record, struct rm_error *error) {
    static char const *const WORDS[] = {"readings", "setpoints", "sent", "currents", "streams", "reported"};
    *record = 0;
    while (*text != '\0' && strcmp(text, "none") != 0) {
        size_t const length = strcspn(text, ",");
        unsigned bit = 0;
        for (unsigned w = 0; w < sizeof WORDS / sizeof WORDS[0]; ++w)
            if (strlen(WORDS[w]) == length && memcmp(WORDS[w], text, length) == 0)
                bit = 1u << w;
        if (bit == 0)
            return rm_fail(error, RM_E_ARGUMENT,
                           "--record: found \"%s\", expected a list of readings, setpoints, sent, currents, streams "
                           "and reported with commas between, or none",
                           text);
        *record |= bit;
        text += length + (text[length] == ',');
    }
    return RM_OK;
}

static enum rm_code simulate_take_option(struct rm_simulate_options *options, int key, char const *text,
                                         struct rm_error *error) {
    switch (key) {
    case KEY_HELP:
        options->help = true;
        return RM_OK;
    case KEY_VERSION:
        options->version = true;
        return RM_OK;
    case KEY_JSON:
        options->json = true;
        return RM_OK;
    case KEY_SECONDS:
        return take_simulate_number("seconds", text, 1e-6, 1e6, 1, &options->seconds, error);
    case KEY_CYCLES:
        return take_count("cycles", text, &options->cycles, error);
    case KEY_AT:
        return rm_events_add(&options->events, text, error);
    case KEY_EVENTS:
        return rm_events_load(&options->events, text, error);
    case KEY_SHUFFLE:
        return take_count("shuffle", text, &options->shuffle, error);
    case KEY_REPLAY:
        options->replay = text;
        return RM_OK;
    case KEY_LATENCY:
        return take_simulate_number("latency-us", text, 0, 1e6, 1e-6, &options->latency_s, error);
    case KEY_REFRESH:
        return take_simulate_number("refresh-ms", text, 0, 1e9, 1e-3, &options->refresh_s, error);
    case KEY_OUT:
        options->out = text;
        return RM_OK;
    case KEY_RECORD:
        return take_record(text, &options->record, error);
    default:
        return rm_fail(error, RM_E_ARGUMENT, "what is wanted is not clear");
    }
}

/** What is there, and what goes together. */
static enum rm_code simulate_check_options(struct rm_simulate_options *options, int words, char **word,
                                           struct rm_error *error) {
    if (options->help || options->version)
        return RM_OK;
    if (words != 2 && words != 3)
        return rm_fail(error, RM_E_ARGUMENT,
                       "found %d names, expected CONFIG APPLICATION, or CONFIG OVERLAY APPLICATION", words);
    options->files.config = word[0];
    options->files.overlay = words == 3 ? word[1] : NULL;
    options->application = word[words - 1];
    if (options->out == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "expected --out DIR: where the results go");
    if (options->seconds > 0 && options->cycles > 0)
        return rm_fail(error, RM_E_ARGUMENT, "found --seconds and --cycles, expected one of them");
    if (options->seconds <= 0 && options->cycles == 0 && options->replay == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "expected --seconds S or --cycles N: how long to simulate");
    if (options->replay != NULL && strcmp(options->replay, options->out) == 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "--replay and --out are both \"%s\": expected another folder for the "
                       "results than for what is replayed",
                       options->out);
    return RM_OK;
}

enum rm_code rm_simulate_options_parse(int argc, char **argv, struct rm_simulate_options *options,
                                       struct rm_error *error) {
    *options = (struct rm_simulate_options){.latency_s = 10e-6, .refresh_s = -1, .record = RM_RECORD_ALL};
    opterr = 0;
    int key;
    while ((key = getopt_long(argc, argv, "h", options_known, NULL)) != -1) {
        if (key == '?')
            return rm_fail(error, RM_E_ARGUMENT, "\"%s\" is not known, or its value is missing", argv[optind - 1]);
        enum rm_code const code = simulate_take_option(options, key, optarg, error);
        if (code != RM_OK)
            return code;
    }
    return simulate_check_options(options, argc - optind, argv + optind, error);
}
