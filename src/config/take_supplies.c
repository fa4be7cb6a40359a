// SPDX-License-Identifier: Apache-2.0
/* Which supplies an application sets: by name, or by a pattern in which * stands for anything. */
#include "base/fail.h"
#include "base/nearest.h"
#include "config/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

/* One entry of an application's list. */
struct taking_supplies {
    struct rm_config *config;
    uint32_t application;
    uint32_t written; /* of the application in the file */
    uint32_t entry;
    char const *pattern;
    struct rm_error *error;
};

static enum rm_code fail_taken_supply(struct taking_supplies const *taking, char const *problem) {
    char member[32];
    snprintf(member, sizeof member, "supplies[%u]", taking->entry);
    return rm_config_fail_entry(taking->config, taking->error, "applications", taking->written, member, "%s", problem);
}

static enum rm_code fail_taken(struct taking_supplies const *taking, struct rm_config_supply const *supply) {
    struct rm_config const *const config = taking->config;
    char problem[RM_ERROR_TEXT_BYTES];
    if (supply->application == taking->application)
        snprintf(problem, sizeof problem,
                 "supply \"%s\" is already in this list, by an entry before; expected every supply once", supply->name);
    else
        snprintf(problem, sizeof problem,
                 "supply \"%s\" would be set by \"%s\", but it is already set by \"%s\" (applications[%u]); expected "
                 "at most one application for each supply",
                 supply->name, config->application[taking->application].name,
                 config->application[supply->application].name, supply->application - 1);
    return fail_taken_supply(taking, problem);
}

static enum rm_code fail_nothing(struct taking_supplies const *taking) {
    struct rm_config const *const config = taking->config;
    struct rm_nearest nearest = {.wanted = taking->pattern};
    char problem[RM_ERROR_TEXT_BYTES];
    char guess[128];
    for (uint32_t i = 0; i < config->supply_count; i++)
        rm_nearest_offer(&nearest, config->supply[i].name);
    if (rm_is_pattern(taking->pattern))
        snprintf(problem, sizeof problem,
                 "no supply matches \"%s\", expected the names of supplies, with * for any characters, such as \"%s\"",
                 taking->pattern, config->supply[0].name);
    else
        snprintf(problem, sizeof problem, "found \"%s\", expected the name of a supply, or a pattern with *%s",
                 taking->pattern, rm_config_guess(&nearest, guess, sizeof guess));
    return fail_taken_supply(taking, problem);
}

static enum rm_code take_matching_supplies(struct taking_supplies const *taking) {
    struct rm_config *const config = taking->config;
    struct rm_config_application *const application = &config->application[taking->application];
    bool nothing = true;
    for (uint32_t i = 0; i < config->supply_count; i++) {
        struct rm_config_supply *const supply = &config->supply[i];
        if (!rm_pattern_matches(taking->pattern, supply->name))
            continue;
        if (supply->application != 0)
            return fail_taken(taking, supply);
        supply->application = taking->application;
        application->supply[application->supply_count++] = i;
        nothing = false;
    }
    return nothing ? fail_nothing(taking) : RM_OK;
}

enum rm_code rm_config_take_supplies(struct rm_config *config, uint32_t application, uint32_t written,
                                     struct rm_file_application const *file, struct rm_error *error) {
    struct rm_config_application *const own = &config->application[application];
    own->supply = calloc(config->supply_count + 1ul, sizeof *own->supply);
    if (own->supply == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->supplies_count && code == RM_OK; i++)
        code = take_matching_supplies(
            &(struct taking_supplies){config, application, written, i, file->supplies[i], error});
    return code;
}
