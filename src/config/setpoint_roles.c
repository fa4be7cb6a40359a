// SPDX-License-Identifier: Apache-2.0
/* The roles that setpoints need: one that sends them, and one for each application that the server hosts. */
#include "base/nearest.h"
#include "config/resolve.h"

#include <string.h>

static enum rm_code resolve_transmit(struct rm_config const *config, uint32_t role, struct rm_error *error) {
    if (config->chain_count == 0)
        return rm_config_fail_entry(config, error, "roles", role, "role",
                                    "there are no chains of supplies to transmit to, expected the key \"chains\", or "
                                    "take this role out");
    for (uint32_t i = 0; i < role; i++)
        if (config->role[i].kind == RM_ROLE_TRANSMIT)
            return rm_config_fail_entry(config, error, "roles", role, "role",
                                        "roles[%u] is transmit already, expected only one", i);
    return RM_OK;
}

/* Index of the application of this name; 0 when there is none. */
static uint32_t find_application(struct rm_config const *config, char const *name, struct rm_nearest *nearest) {
    uint32_t found = 0;
    for (uint32_t i = 1; i < config->application_count; i++) {
        rm_nearest_offer(nearest, config->application[i].name);
        if (strcmp(config->application[i].name, name) == 0)
            found = i;
    }
    return found;
}

static enum rm_code resolve_application(struct rm_config *config, uint32_t role, char const *name,
                                        struct rm_error *error) {
    if (name == NULL)
        return rm_config_fail_entry(config, error, "roles", role, NULL,
                                    "the key \"application\" is missing, expected the name of the application that "
                                    "this role steps");
    struct rm_nearest nearest = {.wanted = name};
    char guess[64];
    uint32_t const application = find_application(config, name, &nearest);
    if (application == 0)
        return rm_config_fail_entry(config, error, "roles", role, "application",
                                    "found \"%s\", expected the name of an application%s", name,
                                    rm_config_guess(&nearest, guess, sizeof guess));
    if (!config->application[application].hosted)
        return rm_config_fail_entry(config, error, "roles", role, "application",
                                    "\"%s\" is a process of its own, expected hosted: true in applications[%u], or "
                                    "take this role out",
                                    name, application - 1);
    for (uint32_t i = 0; i < role; i++)
        if (config->role[i].kind == RM_ROLE_APPLICATION && config->role[i].application == application)
            return rm_config_fail_entry(config, error, "roles", role, "application",
                                        "roles[%u] steps \"%s\" already, expected one role for it", i, name);
    config->role[role].application = application;
    return RM_OK;
}

enum rm_code rm_config_resolve_setpoint_role(struct rm_config *config, uint32_t role,
                                             struct rm_file_role const *written, struct rm_error *error) {
    if (written->ports != NULL)
        return rm_config_fail_entry(config, error, "roles", role, "ports", "a role %s polls no port, take this key out",
                                    rm_config_role_name(written->role));
    if (written->role == RM_ROLE_TRANSMIT)
        return resolve_transmit(config, role, error);
    return resolve_application(config, role, written->application, error);
}

static bool has_role(struct rm_config const *config, enum rm_role_kind kind, uint32_t application) {
    for (uint32_t i = 0; i < config->role_count; i++)
        if (config->role[i].kind == kind && config->role[i].application == application)
            return true;
    return false;
}

enum rm_code rm_config_check_setpoint_roles(struct rm_config const *config, struct rm_error *error) {
    if (config->chain_count != 0 && !has_role(config, RM_ROLE_TRANSMIT, 0))
        return rm_config_fail(config, error, "roles",
                              "no role sends the setpoints of chain \"%s\", expected {role: transmit, core: …}",
                              config->chain[0].name);
    for (uint32_t i = 1; i < config->application_count; i++)
        if (config->application[i].hosted && !has_role(config, RM_ROLE_APPLICATION, i))
            return rm_config_fail(config, error, "roles",
                                  "no role steps application \"%s\", expected {role: application, core: …, "
                                  "application: %s}, or take hosted: true out of applications[%u]",
                                  config->application[i].name, config->application[i].name, i - 1);
    return RM_OK;
}
