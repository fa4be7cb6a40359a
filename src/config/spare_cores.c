// SPDX-License-Identifier: Apache-2.0
/* The cores that the server keeps beside those of its roles. */
#include "base/cores.h"
#include "config/resolve.h"

enum { LIST_BYTES = 128 };

/* True where a role before `end` is on the core. */
static bool has_role(struct rm_config const *config, uint32_t end, uint32_t core) {
    for (uint32_t i = 0; i < end; i++)
        if (config->role[i].core == core)
            return true;
    return false;
}

static uint32_t count_role_cores(struct rm_config const *config) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->role_count; i++)
        count += !has_role(config, i, config->role[i].core);
    return count;
}

enum rm_code rm_config_resolve_spare_cores(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error) {
    cpu_set_t wanted, available;
    char list[LIST_BYTES];
    if (file->spare_cores == NULL)
        return RM_OK;
    if (!rm_cores_read(file->spare_cores, &wanted))
        return rm_config_fail(config, error, "spare_cores",
                              "found \"%.64s\", expected numbers of cores below %d, such as 4-7 or \"2,4-7\"",
                              file->spare_cores, CPU_SETSIZE);
    enum rm_code const code = rm_cores_available(&available, error);
    if (code != RM_OK)
        return code;
    uint32_t count = count_role_cores(config);
    for (uint32_t core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &wanted) || has_role(config, config->role_count, core))
            continue;
        if (!CPU_ISSET(core, &available))
            return rm_config_fail(config, error, "spare_cores",
                                  "core %u is none that this process may run on, expected some of: %s", core,
                                  rm_cores_text(&available, list, sizeof list));
        if (++count > RM_CONFIG_CORES_MAX)
            return rm_config_fail(config, error, "spare_cores",
                                  "with the cores of roles these are more than %d, expected fewer",
                                  RM_CONFIG_CORES_MAX);
        config->spare_core[config->spare_core_count++] = core;
    }
    return RM_OK;
}
