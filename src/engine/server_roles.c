// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdlib.h>

#include "commands/command_server.h"
#include "engine/role.h"
#include "engine/server_state.h"
#include "fabric/segment_map.h"

static double const SPIN_SECONDS = 200e-6; /**< in simulated time: a ring with a core of its own goes on by then */

/** For how long a core without work spins before it naps; 0: it never naps. */
static uint64_t spin_ticks_of(struct rm_config const *config, double tsc_hz) {
    if (config->polling.naps)
        return 1;
    return config->simulated_time ? (uint64_t)(SPIN_SECONDS * tsc_hz) : 0;
}

static struct rm_role const *const ROLE[] = {
    [RM_ROLE_RECEIVE] = &rm_role_receive,   [RM_ROLE_HOUSEKEEPING] = &rm_role_housekeeping,
    [RM_ROLE_SPREAD] = &rm_role_spread,     [RM_ROLE_EXCEPTION_PATH] = &rm_role_exception_path,
    [RM_ROLE_TRANSMIT] = &rm_role_transmit, [RM_ROLE_APPLICATION] = &rm_role_application,
    [RM_ROLE_GENERATE] = &rm_role_generate, [RM_ROLE_FORWARD] = &rm_role_forward,
};

enum rm_code rm_server_make_roles(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < config->role_count; ++i)
        atomic_store_explicit(&server->place[i].cpu, RM_PLACE_NONE, memory_order_relaxed);
    for (uint32_t i = 0; code == RM_OK && i < config->role_count; ++i)
        code = ROLE[config->role[i].kind]->make(server, i, &server->role[i], error);
    return code;
}

enum rm_code rm_server_list(struct rm_server const *server, struct rm_config const *wanted,
                            struct rm_config_placement const *placement, uint32_t core, struct rm_core_list *list,
                            struct rm_error *error) {
    struct rm_config const *const config = server->config;
    *list = (struct rm_core_list){.target_packets = config->polling.target_packets};
    for (uint32_t i = 0; i < config->role_count; ++i) {
        uint32_t const role = placement->order[i];
        if (placement->core[role] != core)
            continue;
        if (list->duty_count == RM_CORE_DUTIES_MAX)
            return rm_config_fail_entry(wanted, error, "roles", i, "core", "core %u has more than %d roles", core,
                                        RM_CORE_DUTIES_MAX);
        struct rm_role const *const kind = ROLE[config->role[role].kind];
        list->duty[list->duty_count++] =
            (struct rm_duty){kind->duty, server->role[role], kind->arrive, &server->place[role]};
        if (kind->latency_critical || spin_ticks_of(config, server->tsc_hz) != 0)
            list->target_packets = 0;
    }
    return RM_OK;
}

static enum rm_code fill_core(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_core *core = &server->core[index];
    core->cpu = server->store.core[index];
    core->counters = rm_store_memory(&server->store, server->store.core_counters[index]);
    core->ns_per_tick = 1e9 / server->tsc_hz;
    core->spin_ticks = spin_ticks_of(config, server->tsc_hz);
    core->polling.longest_wait_ticks = (uint64_t)(config->polling.longest_wait_ns * 1e-9 * server->tsc_hz);
    struct rm_core_list list;
    enum rm_code const code = rm_server_list(server, config, &server->placement, core->cpu, &list, error);
    if (code == RM_OK)
        rm_core_give(core, &list);
    return code;
}

enum rm_code rm_server_start_cores(struct rm_server *server, struct rm_error *error) {
    server->core = calloc(server->store.core_count, sizeof *server->core);
    if (server->core == NULL)
        return rm_server_no_memory(error);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->store.core_count; ++i)
        code = fill_core(server, i, error);
    while (code == RM_OK && server->cores_started < server->store.core_count) {
        code = rm_core_start(&server->core[server->cores_started], &server->stop, error);
        server->cores_started += code == RM_OK;
    }
    return code;
}

enum rm_code rm_server_start_commands(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    struct rm_command_table table[RM_COMMAND_TABLES_MAX];
    uint32_t count = 0;
    table[count++] = rm_server_reload_commands(server);
    for (uint32_t i = 0; i < config->role_count && count + RM_ROLE_TABLES_MAX <= RM_COMMAND_TABLES_MAX; ++i) {
        struct rm_role const *const kind = ROLE[config->role[i].kind];
        count += kind->commands != NULL ? kind->commands(server->role[i], &table[count]) : 0;
    }
    char folder[PATH_MAX];
    enum rm_code code = rm_workspace_path(config->workspace, folder, error);
    for (uint32_t i = 0; code == RM_OK && i < config->role_count; ++i) /* while no thread does those of clients */
        if (config->role[i].script[0] != '\0')
            code = rm_command_run_file(table, count, config->role[i].script, stderr, error);
    if (code == RM_OK)
        code = rm_command_server_start(folder, table, count, &server->commands, error);
    return code;
}

void rm_server_stop_cores(struct rm_server *server) {
    atomic_store(&server->stop, true);
    for (uint32_t i = 0; i < server->cores_started; ++i)
        rm_core_join(&server->core[i]);
    free(server->core);
}

void rm_server_free_roles(struct rm_server *server) {
    for (uint32_t i = 0; server->role != NULL && i < server->config->role_count; ++i)
        ROLE[server->config->role[i].kind]->free(server->role[i]);
    free(server->role);
    free(server->place);
}
