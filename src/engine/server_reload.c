// SPDX-License-Identifier: Apache-2.0
/* The commands by which roles move between cores: `reload FILE`, `reload check FILE`, `roles`. */
#include "commands/command.h"
#include "engine/server_state.h"

/** Reads where a file has the roles of this server. */
static enum rm_code read_placement(struct rm_server const *server, char const *path, struct rm_config **wanted,
                                   struct rm_config_placement *placement, struct rm_error *error) {
    enum rm_code code = rm_config_load(path, wanted, error);
    if (code != RM_OK)
        return code;
    code = rm_config_replace(server->config, *wanted, placement, error);
    if (code != RM_OK)
        rm_config_free(*wanted);
    return code;
}

/** A line for each role that is elsewhere now than in `before`: "ROLE KIND FROM TO STOOD_NS", "-" where it is to move. */
static void write_moves(struct rm_server const *server, struct rm_config_placement const *before,
                        struct rm_config_placement const *after, bool done, FILE *answer) {
    for (uint32_t i = 0; i < server->config->role_count; ++i) {
        if (before->core[i] == after->core[i])
            continue;
        fprintf(answer, "%u %s %u %u ", i, rm_config_role_name(server->config->role[i].kind), before->core[i],
                after->core[i]);
        if (done)
            fprintf(answer, "%.0f\n", (double)server->place[i].stood_ticks / server->tsc_hz * 1e9);
        else
            fputs("-\n", answer);
    }
}

static enum rm_code run_reload(void *context, struct rm_arguments const *arguments, FILE *answer,
                               struct rm_error *error) {
    struct rm_server *const server = context;
    struct rm_config_placement const before = server->placement;
    struct rm_config_placement wanted;
    struct rm_config *config;
    enum rm_code code = read_placement(server, arguments->word[0], &config, &wanted, error);
    if (code != RM_OK)
        return code;
    code = rm_server_move(server, config, &wanted, error);
    if (code == RM_OK)
        write_moves(server, &before, &server->placement, true, answer);
    rm_config_free(config);
    return code;
}

static enum rm_code run_reload_check(void *context, struct rm_arguments const *arguments, FILE *answer,
                                     struct rm_error *error) {
    struct rm_server *const server = context;
    struct rm_config_placement wanted;
    struct rm_config *config;
    enum rm_code code = read_placement(server, arguments->word[0], &config, &wanted, error);
    if (code != RM_OK)
        return code;
    for (uint32_t i = 0; code == RM_OK && i < server->cores_started; ++i) {
        struct rm_core_list list;
        code = rm_server_list(server, config, &wanted, server->core[i].cpu, &list, error);
    }
    if (code == RM_OK)
        write_moves(server, &server->placement, &wanted, false, answer);
    rm_config_free(config);
    return code;
}

static enum rm_code run_roles(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    struct rm_server *const server = context;
    (void)arguments;
    (void)error;
    for (uint32_t i = 0; i < server->config->role_count; ++i) {
        uint32_t const role = server->placement.order[i];
        fprintf(answer, "%u %s %u\n", role, rm_config_role_name(server->config->role[role].kind),
                server->placement.core[role]);
    }
    return RM_OK;
}

static struct rm_command const COMMANDS[] = {
    {"reload FILE", "moves roles to the cores that FILE gives them: role, kind, from, to, ns that it stood still",
     run_reload},
    {"reload check FILE", "says what would move, and moves nothing", run_reload_check},
    {"roles", "which role runs on which core: role, kind, core", run_roles},
};

struct rm_command_table rm_server_reload_commands(struct rm_server *server) {
    return (struct rm_command_table){
        .command = COMMANDS, .count = sizeof COMMANDS / sizeof COMMANDS[0], .context = server};
}
