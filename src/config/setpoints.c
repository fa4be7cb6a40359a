// SPDX-License-Identifier: Apache-2.0
/* When setpoints go out. Which application leads is resolved with the applications. */
#include "config/resolve.h"

enum { PERIOD_TURNS_MAX = 65536, LOST_CYCLES_LEAST = 2, LOST_CYCLES_MAX = 10000 };

/* Setpoints and chains come together, or not at all. */
static enum rm_code check_setpoint_keys(struct rm_config_file const *file, struct rm_config const *config,
                                        struct rm_error *error) {
    if (file->setpoints == NULL && file->chains != NULL)
        return rm_config_fail(config, error, "chains",
                              "nothing says how often setpoints are sent to them, expected the key \"setpoints\" too, "
                              "such as setpoints: {period_turns: 12}");
    if (file->setpoints != NULL && file->chains == NULL)
        return rm_config_fail(config, error, "setpoints",
                              "there are no chains of supplies to send them to, expected the key \"chains\" too, or "
                              "take this one out");
    return RM_OK;
}

enum rm_code rm_config_resolve_setpoints(struct rm_config_file const *file, struct rm_config *config,
                                         struct rm_error *error) {
    struct rm_file_setpoints const *const written = file->setpoints;
    enum rm_code const code = check_setpoint_keys(file, config, error);
    if (code != RM_OK || written == NULL)
        return code;
    struct rm_config_setpoints *const setpoints = &config->setpoints;
    *setpoints = (struct rm_config_setpoints){
        .period_turns = written->period_turns,
        .phase_turns = *written->phase_turns,
        .lost_cycles = *written->lost_cycles,
    };
    if (setpoints->period_turns == 0 || setpoints->period_turns > PERIOD_TURNS_MAX)
        return rm_config_fail(config, error, "setpoints.period_turns", "found %u, expected 1 to %d turns",
                              setpoints->period_turns, PERIOD_TURNS_MAX);
    if (setpoints->phase_turns >= setpoints->period_turns)
        return rm_config_fail(config, error, "setpoints.phase_turns",
                              "found %u, expected 0 to %u: less than period_turns", setpoints->phase_turns,
                              setpoints->period_turns - 1);
    if (written->terms != NULL && !rm_config_locate(config, written->terms, setpoints->terms_path))
        return rm_config_fail(config, error, "setpoints.terms",
                              "with the configuration's folder before it the path is longer than %d bytes",
                              RM_CONFIG_PATH_BYTES - 1);
    if (setpoints->lost_cycles < LOST_CYCLES_LEAST || setpoints->lost_cycles > LOST_CYCLES_MAX)
        return rm_config_fail(config, error, "setpoints.lost_cycles", "found %u, expected %d to %d cycles",
                              setpoints->lost_cycles, LOST_CYCLES_LEAST, LOST_CYCLES_MAX);
    return RM_OK;
}
