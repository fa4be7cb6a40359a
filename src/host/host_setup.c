// SPDX-License-Identifier: Apache-2.0
#include "host/host_setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/** Copies the texts of three lists; those that there was no memory for stay NULL. */
static bool copy_lists(struct rm_host_setup const *setup, char const **input, struct rm_host_actuator *actuator,
                       struct rm_host_setting *setting) {
    bool good = true;
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        input[i] = strdup(setup->input[i]);
        good = good && input[i] != NULL;
    }
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        actuator[i] = setup->actuator[i];
        actuator[i].name = strdup(setup->actuator[i].name);
        actuator[i].unit = strdup(setup->actuator[i].unit);
        good = good && actuator[i].name != NULL && actuator[i].unit != NULL;
    }
    for (uint32_t i = 0; i < setup->setting_count; ++i) {
        setting[i] = setup->setting[i];
        setting[i].name = strdup(setup->setting[i].name);
        good = good && setting[i].name != NULL;
    }
    return good;
}

/** Of a text that may be NULL. */
static char *setup_copy_text(char const *text) { return text != NULL ? strdup(text) : NULL; }

enum rm_code rm_host_setup_copy(struct rm_host_setup *copy, struct rm_host_setup const *setup, struct rm_error *error) {
    char const **input = calloc(setup->input_count + 1ul, sizeof *input);
    struct rm_host_actuator *actuator = calloc(setup->actuator_count + 1ul, sizeof *actuator);
    struct rm_host_setting *setting = calloc(setup->setting_count + 1ul, sizeof *setting);
    *copy = *setup;
    copy->workspace = strdup(setup->workspace != NULL ? setup->workspace : "");
    copy->name = strdup(setup->name);
    copy->code = strdup(setup->code);
    copy->configuration = setup_copy_text(setup->configuration);
    copy->server = setup_copy_text(setup->server);
    copy->peer = setup_copy_text(setup->peer);
    copy->input = input;
    copy->actuator = actuator;
    copy->setting = setting;
    if (input == NULL || actuator == NULL || setting == NULL) {
        copy->input_count = 0;
        copy->actuator_count = 0;
        copy->setting_count = 0;
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    }
    bool const good = copy_lists(setup, input, actuator, setting);
    bool const lacks_text = (setup->configuration != NULL && copy->configuration == NULL) ||
                            (setup->server != NULL && copy->server == NULL) ||
                            (setup->peer != NULL && copy->peer == NULL);
    if (!good || lacks_text || copy->workspace == NULL || copy->name == NULL || copy->code == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    return RM_OK;
}

void rm_host_setup_free(struct rm_host_setup *copy) {
    for (uint32_t i = 0; i < copy->input_count; ++i)
        free((char *)copy->input[i]);
    for (uint32_t i = 0; i < copy->actuator_count; ++i) {
        free((char *)copy->actuator[i].name);
        free((char *)copy->actuator[i].unit);
    }
    for (uint32_t i = 0; i < copy->setting_count; ++i)
        free((char *)copy->setting[i].name);
    free((void *)copy->input);
    free((void *)copy->actuator);
    free((void *)copy->setting);
    free((char *)copy->workspace);
    free((char *)copy->name);
    free((char *)copy->code);
    free((char *)copy->configuration);
    free((char *)copy->server);
    free((char *)copy->peer);
    *copy = (struct rm_host_setup){0};
}
