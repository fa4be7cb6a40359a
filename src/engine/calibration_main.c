// SPDX-License-Identifier: Apache-2.0
/** ringmaster-calibration: check a table of calibrations against a configuration, or make one to be filled in. */
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "calibration/table.h"
#include "config/config.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-calibration check FILE.csv CONFIG.yaml     is the table right for these instruments?\n"
    "       ringmaster-calibration template CONFIG.yaml           print a table to fill in\n"
    "\n"
    "Examples:\n"
    "  ringmaster-calibration template configs/demo.yaml > calibration.csv\n"
    "  ringmaster-calibration check calibration.csv configs/demo.yaml\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

static int calibration_fail(struct rm_error const *error) {
    fprintf(stderr, "ringmaster-calibration: %s\n", error->text);
    return EXIT_FAILED;
}

static void calibration_describe(struct rm_calibration_instrument const *instrument) {
    char const *between = ": ";
    printf("%s", instrument->name);
    for (uint32_t i = 0; i < instrument->lane_count; ++i) {
        if (instrument->line[i] == 0)
            continue;
        printf("%s%s %s → %s", between, instrument->lane[i].name, instrument->lane[i].unit, instrument->unit[i]);
        between = ", ";
    }
    printf("%s\n", between[0] == ':' ? ": not calibrated" : "");
}

static int calibration_check_table(char const *path, struct rm_calibration_instrument *instruments, uint32_t count) {
    struct rm_error error;
    if (rm_calibration_load_csv(path, instruments, count, &error) != RM_OK)
        return calibration_fail(&error);
    for (uint32_t i = 0; i < count; ++i)
        calibration_describe(&instruments[i]);
    return EXIT_GOOD;
}

static int make_template(struct rm_calibration_instrument const *instruments, uint32_t count) {
    struct rm_error error;
    if (rm_calibration_write_template(stdout, instruments, count, &error) != RM_OK)
        return calibration_fail(&error);
    return EXIT_GOOD;
}

static int calibration_run(struct rm_config const *config, char const *table) {
    struct rm_calibration_instrument *const instruments = calloc(config->instrument_count, sizeof *instruments);
    if (instruments == NULL)
        return EXIT_FAILED;
    for (uint32_t i = 0; i < config->instrument_count; ++i) {
        instruments[i].name = config->instrument[i].name;
        instruments[i].lane = config->instrument[i].lane;
        instruments[i].lane_count = config->instrument[i].lane_count;
    }
    int const status = table != NULL ? calibration_check_table(table, instruments, config->instrument_count)
                                     : make_template(instruments, config->instrument_count);
    free(instruments);
    return status;
}

int main(int argc, char **argv) {
    static char const *const commands[] = {"check", "template", NULL};
    char const *table = NULL, *path = NULL;
    struct rm_option options[] = {
        {.name = "FILE", .kind = RM_OPTION_TEXT, .value = &table, .place = RM_WORD},
        {.name = "CONFIG", .kind = RM_OPTION_TEXT, .value = &path, .place = RM_WORD},
    };
    bool const checks = rm_options_command_or_exit(argc, argv, USAGE, commands) == 0;
    rm_options_or_exit(argc - 1, argv + 1, USAGE, checks ? options : &options[1], checks ? 2 : 1);
    struct rm_config *config;
    struct rm_error error;
    if (rm_config_load(path, &config, &error) != RM_OK)
        return calibration_fail(&error);
    int const status = calibration_run(config, table);
    rm_config_free(config);
    return status;
}
