// SPDX-License-Identifier: Apache-2.0
/** ringmaster-simulate-pair: two servers, one machine, and what befalls them, in simulated time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/timebase.h"
#include "engine/version.h"
#include "figures.h"
#include "pair.h"

static char const USAGE[] =
    "Usage: ringmaster-simulate-pair CONFIG [OVERLAY] [OPTION]…\n"
    "\n"
    "Runs two servers of one configuration and the virtual chains of its ring in simulated time: the real protocol of\n"
    "who sends, the real guards, a network between them, and faults at random moments. The same command gives the\n"
    "same numbers.\n"
    "\n"
    "  --cycles N        most cycles; 1000000\n"
    "  --seed N          of all that is random; 1\n"
    "  --missed N        cycles after which the standby may ask; 3\n"
    "  --faults LIST     with commas between: kill, stop, cut-to-chains, cut-from-chains, cut-link, cut-instruments,\n"
    "                    delay, divide, partition, clock, deaf, standby-first, power, switch; all: all but switch.\n"
    "                    Each time that the pair is at rest one of them befalls it, and now and then a second one\n"
    "  --rounds N        so many times; 1000\n"
    "  --disturbed P     share of datagrams that are lost, and that are late by up to two cycles; 0\n"
    "  --operator N      an operator puts a supply elsewhere every N cycles; 0: never\n"
    "  --application A   both servers run it, with the ring's instruments; else there is none\n"
    "  --set NAME=V[:W]  the operator sets it as soon as it runs, and later to something up to W; repeat it\n"
    "  --json            figures as JSON\n"
    "\n"
    "Exit status: 0 good, 1 something failed, 2 wrong usage.\n";

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static enum rm_code take_faults(void *value, char const *text, struct rm_error *error) {
    uint32_t *const faults = value;
    while (*text != '\0') {
        size_t const length = strcspn(text, ",");
        uint32_t bits = length == 3 && memcmp(text, "all", 3) == 0 ? (1u << RM_PAIR_SWITCH) - 1 : 0;
        for (uint32_t k = 0; k < RM_PAIR_FAULT_KINDS; ++k) {
            char const *const name = rm_pair_fault_name((enum rm_pair_fault_kind)k);
            if (strlen(name) == length && memcmp(name, text, length) == 0)
                bits |= 1u << k;
        }
        if (bits == 0)
            return rm_fail(error, RM_E_ARGUMENT, "--faults: found \"%s\", expected names of faults with commas between",
                           text);
        *faults |= bits;
        text += length + (text[length] == ',');
    }
    return RM_OK;
}

static enum rm_code take_setting(void *value, char const *text, struct rm_error *error) {
    struct rm_pair_setup *const setup = value;
    struct rm_pair_setting *const setting = &setup->setting[setup->settings];
    char const *const equals = strchr(text, '=');
    char *end = NULL;
    if (setup->settings == RM_PAIR_SETTINGS_MAX || equals == NULL || (size_t)(equals - text) >= sizeof setting->name)
        return rm_fail(error, RM_E_ARGUMENT, "--set: found \"%s\", expected NAME=VALUE or NAME=VALUE:VALUE, %u at most",
                       text, (unsigned)RM_PAIR_SETTINGS_MAX);
    memcpy(setting->name, text, (size_t)(equals - text));
    setting->from = setting->to = strtod(equals + 1, &end);
    if (*end == ':')
        setting->to = strtod(end + 1, &end);
    if (*end != '\0' || end == equals + 1)
        return rm_fail(error, RM_E_ARGUMENT, "--set: found \"%s\", expected numbers behind the =", text);
    ++setup->settings;
    return RM_OK;
}

static void pair_options_or_exit(int argc, char **argv, struct rm_pair_setup *setup) {
    static double const MOST = 1e18;
    uint64_t missed = 3;
    struct rm_option list[] = {
        {.name = "CONFIG", .kind = RM_OPTION_TEXT, .value = &setup->files.config, .place = RM_WORD},
        {.name = "OVERLAY", .kind = RM_OPTION_TEXT, .value = &setup->files.overlay, .place = RM_OPTIONAL_WORD},
        {.name = "cycles", .kind = RM_OPTION_WHOLE, .value = &setup->cycles, .least = 1, .most = MOST},
        {.name = "seed", .kind = RM_OPTION_WHOLE, .value = &setup->seed, .least = 0, .most = MOST},
        {.name = "missed", .kind = RM_OPTION_WHOLE, .value = &missed, .least = 2, .most = 60},
        {.name = "faults", .kind = RM_OPTION_TAKE, .value = &setup->faults, .take = take_faults},
        {.name = "rounds", .kind = RM_OPTION_WHOLE, .value = &setup->fault_count, .least = 0, .most = MOST},
        {.name = "disturbed", .kind = RM_OPTION_NUMBER, .value = &setup->disturbed, .least = 0, .most = 0.5},
        {.name = "operator", .kind = RM_OPTION_WHOLE, .value = &setup->operator_cycles, .least = 0, .most = MOST},
        {.name = "application", .kind = RM_OPTION_TEXT, .value = &setup->application},
        {.name = "set", .kind = RM_OPTION_TAKE, .value = setup, .take = take_setting},
        {.name = "json", .kind = RM_OPTION_FLAG, .value = &setup->json},
    };
    rm_options_or_exit(argc, argv, USAGE, list, sizeof list / sizeof *list);
    setup->missed_cycles = (uint32_t)missed;
}

int main(int argc, char **argv) {
    struct rm_pair_setup setup = {.seed = 1, .cycles = 1000000, .fault_count = 1000};
    struct rm_pair pair;
    struct rm_error error;
    pair_options_or_exit(argc, argv, &setup);
    uint64_t const begun = rm_monotonic_ns();
    enum rm_code code = rm_pair_open(&setup, &pair, &error);
    if (code == RM_OK)
        code = rm_pair_run(&pair, &error);
    double const wall_s = (double)(rm_monotonic_ns() - begun) * 1e-9;
    if (code == RM_OK && setup.json)
        rm_pair_figures_json(&pair, wall_s, stdout);
    else if (code == RM_OK)
        rm_pair_figures_say(&pair, wall_s, stdout);
    else
        fprintf(stderr, "ringmaster-simulate-pair: %s\n", error.text);
    rm_pair_close(&pair);
    return code == RM_OK ? EXIT_GOOD : EXIT_FAILED;
}
