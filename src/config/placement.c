// SPDX-License-Identifier: Apache-2.0
#include "config/placement.h"

#include <string.h>

#include "base/cores.h"
#include "config/difference.h"

enum { LIST_BYTES = 160 };

void rm_config_place(struct rm_config const *config, struct rm_config_placement *placement) {
    for (uint32_t i = 0; i < config->role_count; i++) {
        placement->core[i] = config->role[i].core;
        placement->order[i] = i;
    }
}

bool rm_config_has_core(struct rm_config const *config, uint32_t core) {
    for (uint32_t i = 0; i < config->role_count; i++)
        if (config->role[i].core == core)
            return true;
    for (uint32_t i = 0; i < config->spare_core_count; i++)
        if (config->spare_core[i] == core)
            return true;
    return false;
}

/* "0-1,5". */
static char const *cores_of(struct rm_config const *config, char text[LIST_BYTES]) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (uint32_t core = 0; core < CPU_SETSIZE; core++)
        if (rm_config_has_core(config, core))
            CPU_SET(core, &cores);
    return rm_cores_text(&cores, text, LIST_BYTES);
}

/* The same work, on whatever core. Ports have the same numbers in both files. */
static bool is_same_role(struct rm_config_role const *a, struct rm_config_role const *b) {
    if (a->kind != b->kind || a->queue_count != b->queue_count || a->first_count != b->first_count ||
        a->application != b->application || strcmp(a->script, b->script) != 0)
        return false;
    for (uint32_t i = 0; i < a->queue_count; i++)
        if (a->queue[i].port != b->queue[i].port || a->queue[i].queue != b->queue[i].queue)
            return false;
    return true;
}

static uint32_t find_role(struct rm_config const *config, struct rm_config_role const *wanted) {
    uint32_t i = 0;
    while (i < config->role_count && !is_same_role(&config->role[i], wanted))
        i++;
    return i;
}

static enum rm_code replace_role(struct rm_config const *running, struct rm_config const *wanted, uint32_t index,
                                 struct rm_config_placement *placement, struct rm_error *error) {
    struct rm_config_role const *const role = &wanted->role[index];
    uint32_t const found = find_role(running, role);
    char list[LIST_BYTES];
    if (found == running->role_count)
        return rm_config_fail_entry(wanted, error, "roles", index, NULL,
                                    "the running server has no such role %s, expected one of its own roles: only "
                                    "their cores and their order change without a restart",
                                    rm_config_role_name(role->kind));
    if (!rm_config_has_core(running, role->core))
        return rm_config_fail_entry(wanted, error, "roles", index, "core",
                                    "core %u was not kept for the running server, expected one of its cores, %s; it "
                                    "keeps those that its file names in roles and spare_cores when it starts",
                                    role->core, cores_of(running, list));
    placement->core[found] = role->core;
    placement->order[index] = found;
    return RM_OK;
}

enum rm_code rm_config_replace(struct rm_config const *running, struct rm_config const *wanted,
                               struct rm_config_placement *placement, struct rm_error *error) {
    struct rm_config_difference difference;
    enum rm_code code = rm_config_compare(running, wanted, &difference, error);
    if (code == RM_OK && difference.count != 0)
        code = rm_config_fail(wanted, error, difference.first,
                              "the running server began with other values of %s; expected other cores or another order "
                              "in `roles`, and nothing else: the rest needs a restart",
                              difference.keys);
    for (uint32_t i = 0; code == RM_OK && i < wanted->role_count; i++)
        code = replace_role(running, wanted, i, placement, error);
    if (code == RM_OK && wanted->role_count != running->role_count)
        code = rm_config_fail(wanted, error, "roles",
                              "the running server has %u roles, and these are %u of them; expected all: roles come and "
                              "go with a restart alone",
                              running->role_count, wanted->role_count);
    return code;
}
