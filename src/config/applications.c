// SPDX-License-Identifier: Apache-2.0
/* Which applications may set which supplies: the operator first, then the applications of the file. */
#include "base/fail.h"
#include "base/nearest.h"
#include "config/resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t const LONGEST_PERIOD = 1u << 26; /* turns, as the slowest rate has them */
static char const OPERATOR[] = "operator";

enum {
    DEFAULT_DEADLINE_PERIODS = 2,
    DEFAULT_FRESHNESS_PERIODS = 20,
    WATCHDOG_CYCLES_MAX = 1000000,
};

/* One entry of the file while it is resolved. */
struct resolving_application {
    struct rm_config *config;
    struct rm_file_application const *written;
    uint32_t index; /* of `written`; of the application one more */
    struct rm_error *error;
};

__attribute__((format(printf, 3, 4))) static enum rm_code
fail_application(struct resolving_application const *resolving, char const *member, char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_config_fail_entry(resolving->config, resolving->error, "applications", resolving->index, member, "%s",
                                text);
}

static struct rm_config_application *application_of(struct resolving_application const *resolving) {
    return &resolving->config->application[resolving->index + 1];
}

/* Folders of the workspace, and beginnings of the server's own objects' names: an application's begin with its own. */
static bool is_reserved(char const *name) {
    static char const *const reserved[] = {"server", "ring",   "requests", OPERATOR, "setpoints",   "supply",
                                           "grant",  "stream", "counters", "clock",  "calibration", "latency"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(reserved[i], name) == 0)
            return true;
    return false;
}

/* "an instrument", "a chain", … that has this name; NULL when there is none. */
static char const *who_has(struct rm_config const *config, char const *name) {
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (strcmp(config->chain[i].name, name) == 0)
            return "a chain";
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (strcmp(config->instrument[i].name, name) == 0)
            return "an instrument";
    for (uint32_t i = 0; i < config->supply_count; i++)
        if (strcmp(config->supply[i].name, name) == 0)
            return "a supply";
    for (uint32_t i = 0; i < config->application_count; i++)
        if (strcmp(config->application[i].name, name) == 0)
            return "another application";
    return NULL;
}

static enum rm_code resolve_application_name(struct resolving_application const *resolving) {
    char const *const name = resolving->written->name;
    if (!rm_config_name_is_good(name))
        return fail_application(resolving, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, name);
    if (is_reserved(name))
        return fail_application(resolving, "name",
                                "\"%s\" has a meaning of its own in every workspace, expected another name", name);
    char const *const who = who_has(resolving->config, name);
    if (who != NULL)
        return fail_application(resolving, "name", "\"%s\" is already the name of %s, expected one of its own", name,
                                who);
    strcpy(application_of(resolving)->name, name);
    return RM_OK;
}

/* A name without a slash is looked for beside the programs, when the application starts. */
static enum rm_code resolve_code(struct resolving_application const *resolving) {
    char const *const code = resolving->written->code;
    char *const path = application_of(resolving)->code;
    if (strchr(code, '/') == NULL) {
        strcpy(path, code);
        return RM_OK;
    }
    if (!rm_config_locate(resolving->config, code, path))
        return fail_application(resolving, "code",
                                "with the configuration's folder before it the path is longer than %d bytes",
                                RM_CONFIG_PATH_BYTES - 1);
    return RM_OK;
}

/* The file that the application reads by itself: here only whether it is there. */
static enum rm_code resolve_configuration(struct resolving_application const *resolving) {
    char const *const written = resolving->written->configuration;
    char *const path = application_of(resolving)->configuration;
    if (written == NULL)
        return RM_OK;
    if (!rm_config_locate(resolving->config, written, path))
        return fail_application(resolving, "configuration",
                                "with the configuration's folder before it the path is longer than %d bytes",
                                RM_CONFIG_PATH_BYTES - 1);
    struct stat status;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0)
        return fail_application(resolving, "configuration",
                                "%s: %s; expected the application's own file, its path from this file's folder", path,
                                strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail_application(resolving, "configuration", "%s is a folder, expected the application's own file",
                                path);
    return RM_OK;
}

/* Where it runs, and as which user. */
static enum rm_code resolve_process(struct resolving_application const *resolving) {
    struct rm_file_application const *const written = resolving->written;
    struct rm_config_application *const application = application_of(resolving);
    application->hosted = *written->hosted;
    application->core = written->core == NULL ? -1 : (int32_t)*written->core;
    if (application->hosted && written->core != NULL)
        return fail_application(resolving, "core",
                                "a hosted application runs on the core of its role, take this key out");
    if (application->hosted && written->user != NULL)
        return fail_application(resolving, "user",
                                "a hosted application runs inside the server, as the server's user, take this key out");
    if (written->core != NULL && *written->core >= CPU_SETSIZE)
        return fail_application(resolving, "core", "found %u, expected the number of a core, 0 to %d", *written->core,
                                CPU_SETSIZE - 1);
    if (written->user == NULL)
        return RM_OK;
    if (!rm_config_name_is_good(written->user))
        return fail_application(resolving, "user",
                                "found \"%s\", expected the name of a user of the system: lower-case letters, "
                                "digits, _ and -",
                                written->user);
    strcpy(application->user, written->user);
    return RM_OK;
}

static enum rm_code resolve_period(struct resolving_application const *resolving) {
    uint32_t const *const written = resolving->written->period_turns;
    uint32_t const cycle = resolving->config->setpoints.period_turns;
    uint32_t const period = written == NULL ? cycle : *written;
    if (period == 0 || period > LONGEST_PERIOD || period % cycle != 0)
        return fail_application(resolving, "period_turns",
                                "found %u, expected a multiple of setpoints.period_turns (%u), up to %u", period, cycle,
                                LONGEST_PERIOD);
    application_of(resolving)->period_turns = period;
    return RM_OK;
}

/* When its inputs and it itself are too late, and what follows. */
static enum rm_code resolve_deadlines(struct resolving_application const *resolving) {
    struct rm_file_application const *const written = resolving->written;
    struct rm_config_application *const application = application_of(resolving);
    uint32_t const period = application->period_turns;
    application->deadline_turns =
        written->deadline_turns == NULL ? DEFAULT_DEADLINE_PERIODS * period : *written->deadline_turns;
    application->freshness_turns =
        written->freshness_turns == NULL ? (uint64_t)DEFAULT_FRESHNESS_PERIODS * period : *written->freshness_turns;
    application->watchdog_cycles = *written->watchdog_cycles;
    application->stop = *written->stop;
    if (application->deadline_turns == 0 || application->deadline_turns > LONGEST_PERIOD)
        return fail_application(resolving, "deadline_turns", "found %u, expected 1 to %u turns",
                                application->deadline_turns, LONGEST_PERIOD);
    if (application->freshness_turns < period || application->freshness_turns > UINT32_MAX)
        return fail_application(resolving, "freshness_turns",
                                "found %" PRIu64 ", expected %u (period_turns) to %u turns",
                                application->freshness_turns, period, UINT32_MAX);
    if (application->watchdog_cycles == 0 || application->watchdog_cycles > WATCHDOG_CYCLES_MAX)
        return fail_application(resolving, "watchdog_cycles", "found %u, expected 1 to %d cycles",
                                application->watchdog_cycles, WATCHDOG_CYCLES_MAX);
    return RM_OK;
}

/* Names of the application's objects that are no settings. */
static bool is_own_object(char const *name) {
    return strcmp(name, "requests") == 0 || strcmp(name, "replies") == 0 || strcmp(name, "settings") == 0;
}

static enum rm_code resolve_setting(struct resolving_application const *resolving, uint32_t index) {
    struct rm_file_setting const *const written = &resolving->written->settings[index];
    struct rm_config_application *const application = application_of(resolving);
    char member[32];
    snprintf(member, sizeof member, "settings[%u].name", index);
    if (!rm_config_name_is_good(written->name))
        return fail_application(resolving, member, "found \"%s\", " RM_CONFIG_NAME_RULE, written->name);
    if (is_own_object(written->name))
        return fail_application(resolving, member,
                                "%s/%s is something else already, expected the name of one of its settings",
                                application->name, written->name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(application->setting[i].name, written->name) == 0)
            return fail_application(resolving, member, "\"%s\" is settings[%u] already, expected it once",
                                    written->name, i);
    strcpy(application->setting[index].name, written->name);
    application->setting[index].value = written->value;
    application->setting_count = index + 1;
    return RM_OK;
}

static enum rm_code resolve_settings(struct resolving_application const *resolving) {
    uint32_t const count = resolving->written->settings_count;
    struct rm_config_application *const application = application_of(resolving);
    application->setting = calloc(count + 1ul, sizeof *application->setting);
    if (application->setting == NULL)
        return rm_fail(resolving->error, RM_E_NO_SPACE, "%s: no memory to hold it", resolving->config->source_path);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < count && code == RM_OK; i++)
        code = resolve_setting(resolving, i);
    return code;
}

static enum rm_code resolve_application_entry(struct resolving_application const *resolving) {
    typedef enum rm_code resolver(struct resolving_application const *resolving);
    static resolver *const resolvers[] = {resolve_application_name, resolve_code,   resolve_configuration,
                                          resolve_process,          resolve_period, resolve_deadlines,
                                          resolve_settings};
    enum rm_code code = RM_OK;
    for (size_t i = 0; i < sizeof resolvers / sizeof resolvers[0] && code == RM_OK; i++)
        code = resolvers[i](resolving);
    resolving->config->application_count = resolving->index + 2; /* its lists are to be freed, whatever became of it */
    if (code == RM_OK)
        code = rm_config_take_inputs(resolving->config, resolving->index + 1, resolving->index, resolving->written,
                                     resolving->error);
    if (code == RM_OK)
        code = rm_config_take_supplies(resolving->config, resolving->index + 1, resolving->index, resolving->written,
                                       resolving->error);
    return code;
}

/* What no application has is the operator's. */
static enum rm_code give_to_operator(struct rm_config *config, struct rm_error *error) {
    struct rm_config_application *const operator= & config->application[0];
    operator->supply = calloc(config->supply_count + 1ul, sizeof *operator->supply);
    if (operator->supply == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    for (uint32_t i = 0; i < config->supply_count; i++)
        if (config->supply[i].application == 0)
            operator->supply[operator->supply_count++] = i;
    return RM_OK;
}

static enum rm_code resolve_lead(struct rm_config_file const *file, struct rm_config *config, struct rm_error *error) {
    char const *const lead = file->setpoints == NULL ? NULL : file->setpoints->lead;
    if (lead == NULL)
        return RM_OK;
    struct rm_nearest nearest = {.wanted = lead};
    char guess[64];
    for (uint32_t i = 1; i < config->application_count; i++) {
        rm_nearest_offer(&nearest, config->application[i].name);
        if (strcmp(config->application[i].name, lead) == 0)
            config->setpoints.lead = i;
    }
    if (config->setpoints.lead != 0)
        return RM_OK;
    return rm_config_fail(
        config, error, "setpoints.lead",
        "found \"%s\", expected the name of an application, whose setpoint vectors send the setpoints at once%s", lead,
        rm_config_guess(&nearest, guess, sizeof guess));
}

/* The operator has the cycles' own period, and no watchdog. */
static enum rm_code add_operator(struct rm_config_file const *file, struct rm_config *config, struct rm_error *error) {
    config->application = calloc(file->applications_count + 1ul, sizeof *config->application);
    if (config->application == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    struct rm_config_application *const operator= & config->application[0];
    uint32_t const period = config->setpoints.period_turns;
    *operator=(struct rm_config_application){
        .core = -1,
        .period_turns = period,
        .deadline_turns = DEFAULT_DEADLINE_PERIODS * period,
        .freshness_turns = (uint64_t)DEFAULT_FRESHNESS_PERIODS * period,
        .watchdog_cycles = (uint32_t)rm_yaml_default(&rm_config_application_schema, "watchdog_cycles"),
        .stop = RM_STOP_HOLD,
    };
    strcpy(operator->name, OPERATOR);
    config->application_count = 1;
    return RM_OK;
}

enum rm_code rm_config_resolve_applications(struct rm_config_file const *file, struct rm_config *config,
                                            struct rm_error *error) {
    if (file->applications != NULL && config->chain_count == 0)
        return rm_config_fail(config, error, "applications",
                              "there are no supplies that they could set, expected the keys \"setpoints\" and "
                              "\"chains\" too, or take this one out");
    enum rm_code code = add_operator(file, config, error);
    for (uint32_t i = 0; file->applications != NULL && i < file->applications_count && code != RM_E_NO_SPACE; i++)
        code = rm_code_first(
            code, resolve_application_entry(&(struct resolving_application){config, &file->applications[i], i, error}));
    if (code == RM_OK)
        code = give_to_operator(config, error);
    return code == RM_OK ? resolve_lead(file, config, error) : code;
}
