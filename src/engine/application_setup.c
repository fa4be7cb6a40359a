// SPDX-License-Identifier: Apache-2.0
#include "engine/application_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/** "ramp, square" for a message. */
static void list_names(struct rm_config const *config, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 1; i < config->application_count && used < bytes; ++i)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i > 1 ? ", " : "", config->application[i].name);
}

enum rm_code rm_application_find(struct rm_config const *config, char const *name, uint32_t *index,
                                 struct rm_error *error) {
    for (uint32_t i = 1; i < config->application_count; ++i) {
        if (strcmp(config->application[i].name, name) != 0)
            continue;
        *index = i;
        return RM_OK;
    }
    if (config->application_count < 2)
        return rm_fail(error, RM_E_CONFIG, "%s: there is no application \"%s\": the file has no key `applications`",
                       config->source_path, name);
    char names[256];
    list_names(config, names, sizeof names);
    return rm_config_fail(config, error, "applications", "there is no application \"%s\"; there are: %s", name, names);
}

enum rm_code rm_application_stands_alone(struct rm_config const *config, uint32_t index, struct rm_error *error) {
    if (!config->application[index].hosted)
        return RM_OK;
    return rm_config_fail_entry(
        config, error, "applications", index - 1, "hosted",
        "\"%s\" runs inside of the server; to run it in a process of its own, say hosted: false",
        config->application[index].name);
}

static void fill_lists(struct rm_config const *config, struct rm_config_application const *application,
                       char const **input, struct rm_host_actuator *actuator, struct rm_host_setting *setting) {
    for (uint32_t i = 0; i < application->input_count; ++i)
        input[i] = application->input[i];
    for (uint32_t i = 0; i < application->supply_count; ++i) {
        struct rm_config_supply const *supply = &config->supply[application->supply[i]];
        actuator[i] = (struct rm_host_actuator){
            .name = supply->name,
            .unit = supply->unit,
            .low = supply->low,
            .high = supply->high,
            .slew_per_s = supply->slew_per_s,
        };
    }
    for (uint32_t i = 0; i < application->setting_count; ++i)
        setting[i] = (struct rm_host_setting){application->setting[i].name, application->setting[i].value};
}

enum rm_code rm_application_setup_make(struct rm_config const *config, uint32_t index, struct rm_host_setup *setup,
                                       struct rm_error *error) {
    struct rm_config_application const *application = &config->application[index];
    char const **input = calloc(application->input_count + 1ul, sizeof *input);
    struct rm_host_actuator *actuator = calloc(application->supply_count + 1ul, sizeof *actuator);
    struct rm_host_setting *setting = calloc(application->setting_count + 1ul, sizeof *setting);
    *setup = (struct rm_host_setup){
        .workspace = config->workspace,
        .name = application->name,
        .code = application->code,
        .configuration = application->configuration[0] != '\0' ? application->configuration : NULL,
        .turn_rate_hz = config->turn_rate_hz,
        .period_turns = application->period_turns,
        .deadline_turns = application->deadline_turns,
        .input_count = application->input_count,
        .input = input,
        .actuator_count = application->supply_count,
        .actuator = actuator,
        .setting_count = application->setting_count,
        .setting = setting,
    };
    if (config->standby.present) {
        setup->server = config->standby.server[config->standby.own].name;
        setup->peer = config->standby.server[1 - config->standby.own].name;
    }
    if (input == NULL || actuator == NULL || setting == NULL) {
        rm_application_setup_free(setup);
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    }
    fill_lists(config, application, input, actuator, setting);
    return RM_OK;
}

void rm_application_setup_free(struct rm_host_setup *setup) {
    free((void *)setup->input);
    free((void *)setup->actuator);
    free((void *)setup->setting);
    *setup = (struct rm_host_setup){0};
}

enum rm_code rm_application_fail(struct rm_config const *config, uint32_t index, uint32_t wrong_setting,
                                 enum rm_code code, struct rm_error const *reason, struct rm_error *error) {
    char setting[32];
    snprintf(setting, sizeof setting, "settings[%u].name", wrong_setting);
    char const *const member = code == RM_E_NOT_FOUND || code == RM_E_VERSION ? "code"
                               : wrong_setting != UINT32_MAX                  ? setting
                                                                              : NULL;
    if (member == NULL && code != RM_E_CONFIG)
        return rm_fail(error, code, "application \"%s\": %s", config->application[index].name, reason->text);
    return rm_config_fail_entry(config, error, "applications", index - 1, member, "%s", reason->text);
}

enum rm_code rm_application_open(struct rm_config const *config, uint32_t index, bool fresh,
                                 void (*say)(void *context, char const *text), void *context, struct rm_host **host,
                                 struct rm_error *error) {
    struct rm_host_setup setup;
    struct rm_error reason;
    uint32_t wrong_setting = UINT32_MAX;
    enum rm_code code = rm_application_setup_make(config, index, &setup, &reason);
    if (code == RM_OK) {
        setup.wrong_setting = &wrong_setting;
        setup.fresh = fresh;
        setup.say = say;
        setup.context = context;
        code = rm_host_open(&setup, host, &reason);
        rm_application_setup_free(&setup);
    }
    return code == RM_OK ? RM_OK : rm_application_fail(config, index, wrong_setting, code, &reason, error);
}
