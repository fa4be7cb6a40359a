// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"
#include "engine/config_resolve.h"
#include "engine/cores.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT16_MAX };

/* Which role polls which queue. */
struct polled {
    uint16_t by[RM_CONFIG_PORTS_MAX][RM_CONFIG_QUEUES_MAX]; /* role, or NOBODY */
    cpu_set_t cores;
};

static enum rm_code check_core(struct rm_config const *config, struct polled const *polled, struct rm_error *error,
                               uint32_t index, uint32_t core) {
    char available[128];
    if (core < CPU_SETSIZE && CPU_ISSET(core, &polled->cores))
        return RM_OK;
    return rm_config_fail_entry(config, error, "roles", index, "core",
                                "core %u is none that this process may run on, expected one of: %s", core,
                                rm_cores_text(&polled->cores, available, sizeof available));
}

static enum rm_code fail_queue(struct rm_config const *config, struct rm_error *error, uint32_t role, uint32_t entry,
                               char const *text) {
    char member[32];
    snprintf(member, sizeof member, "ports[%u]", entry);
    return rm_config_fail_entry(config, error, "roles", role, member, "%s", text);
}

/* "ring" gives its first queue and `*all`, "ring/3" queue 3. */
static enum rm_code read_queue(struct rm_config const *config, struct rm_error *error, uint32_t role, uint32_t entry,
                               char const *text, struct rm_config_queue *queue, bool *all) {
    char problem[256];
    char guess[64];
    size_t const name_bytes = strcspn(text, "/");
    *all = text[name_bytes] == '\0';
    uint32_t number = 0;
    queue->port = rm_config_find_port(config, text, name_bytes);
    if (queue->port == config->port_count) {
        snprintf(problem, sizeof problem, "found \"%s\", expected the name of a port%s", text,
                 rm_config_guess_port(config, text, guess, sizeof guess));
        return fail_queue(config, error, role, entry, problem);
    }
    uint32_t const last = config->port[queue->port].port.queues - 1u;
    if (!*all && !rm_config_read_number(text + name_bytes + 1, last, &number)) {
        snprintf(problem, sizeof problem, "found \"%s\", expected a queue from 0 to %u, such as \"%s/%u\"", text, last,
                 config->port[queue->port].port.name, last);
        return fail_queue(config, error, role, entry, problem);
    }
    queue->queue = (uint16_t)number;
    return RM_OK;
}

/* One role per port: nothing here steers an instrument's datagrams to one queue of several, so any of them may carry
 * any of its turns, and a stream has one writer. */
static enum rm_code check_one_writer(struct rm_config const *config, struct polled const *polled,
                                     struct rm_error *error, uint32_t role, uint32_t entry, uint32_t port) {
    char problem[256];
    for (uint32_t i = 0; i < config->port[port].port.queues; i++) {
        uint16_t const other = polled->by[port][i];
        if (other == NOBODY || other == role)
            continue;
        snprintf(problem, sizeof problem,
                 "two queues for one identity: roles[%u] polls port \"%s\" too, and any of its queues may carry any "
                 "instrument; expected all queues of a port in one role",
                 other, config->port[port].port.name);
        return fail_queue(config, error, role, entry, problem);
    }
    return RM_OK;
}

static enum rm_code claim(struct rm_config *config, struct polled *polled, struct rm_error *error, uint32_t role,
                          uint32_t entry, struct rm_config_queue queue) {
    uint16_t *const by = &polled->by[queue.port][queue.queue];
    if (*by != NOBODY) {
        char problem[160];
        snprintf(problem, sizeof problem, "queue %u of port \"%s\" is already polled by roles[%u], expected it once",
                 queue.queue, config->port[queue.port].port.name, *by);
        return fail_queue(config, error, role, entry, problem);
    }
    *by = (uint16_t)role;
    struct rm_config_role *const resolved = &config->role[role];
    resolved->queue[resolved->queue_count++] = queue;
    return RM_OK;
}

static enum rm_code claim_entry(struct rm_config *config, struct polled *polled, struct rm_error *error, uint32_t role,
                                uint32_t entry, char const *text) {
    struct rm_config_queue queue = {0};
    bool all = false;
    enum rm_code code = read_queue(config, error, role, entry, text, &queue, &all);
    if (code != RM_OK)
        return code;
    uint16_t const end = all ? config->port[queue.port].port.queues : queue.queue + 1;
    for (; queue.queue < end && code == RM_OK; queue.queue++)
        code = claim(config, polled, error, role, entry, queue);
    return code == RM_OK ? check_one_writer(config, polled, error, role, entry, queue.port) : code;
}

static enum rm_code resolve_receive(struct rm_config *config, struct polled *polled, struct rm_error *error,
                                    uint32_t role, struct rm_file_role const *written) {
    if (written->ports == NULL)
        return rm_config_fail_entry(config, error, "roles", role, NULL,
                                    "the key \"ports\" is missing, expected the ports that this role polls");
    config->role[role].queue = calloc(RM_CONFIG_PORTS_MAX * RM_CONFIG_QUEUES_MAX, sizeof *config->role[role].queue);
    if (config->role[role].queue == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    for (uint32_t i = 0; i < written->ports_count; i++) {
        enum rm_code const code = claim_entry(config, polled, error, role, i, written->ports[i]);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

static enum rm_code resolve_housekeeping(struct rm_config const *config, struct rm_error *error, uint32_t role,
                                         struct rm_file_role const *written) {
    if (written->ports != NULL)
        return rm_config_fail_entry(config, error, "roles", role, "ports",
                                    "housekeeping polls no ports, take this key out");
    for (uint32_t i = 0; i < role; i++)
        if (config->role[i].kind == RM_ROLE_HOUSEKEEPING)
            return rm_config_fail_entry(config, error, "roles", role, "role",
                                        "roles[%u] is housekeeping already, expected only one", i);
    return RM_OK;
}

static enum rm_code resolve_role(struct rm_config *config, struct polled *polled, struct rm_error *error, uint32_t role,
                                 struct rm_file_role const *written) {
    config->role[role] = (struct rm_config_role){.kind = written->role, .core = written->core};
    config->role_count = role + 1;
    enum rm_code const code = check_core(config, polled, error, role, written->core);
    if (code != RM_OK)
        return code;
    return written->role == RM_ROLE_RECEIVE ? resolve_receive(config, polled, error, role, written)
                                            : resolve_housekeeping(config, error, role, written);
}

static enum rm_code check_all_polled(struct rm_config const *config, struct polled const *polled,
                                     struct rm_error *error) {
    for (uint32_t i = 0; i < config->port_count; i++)
        for (uint32_t j = 0; j < config->port[i].port.queues; j++)
            if (polled->by[i][j] == NOBODY)
                return rm_config_fail(config, error, "roles",
                                      "no receive role polls queue %u of port \"%s\", expected \"%s\" in one role's "
                                      "ports",
                                      j, config->port[i].port.name, config->port[i].port.name);
    return RM_OK;
}

/* Where the file gives housekeeping no core, it shares that of the first receive role. */
static void add_housekeeping(struct rm_config *config) {
    for (uint32_t i = 0; i < config->role_count; i++)
        if (config->role[i].kind == RM_ROLE_HOUSEKEEPING)
            return;
    config->role[config->role_count++] =
        (struct rm_config_role){.kind = RM_ROLE_HOUSEKEEPING, .core = config->role[0].core};
}

enum rm_code rm_config_resolve_roles(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error) {
    struct polled polled;
    memset(polled.by, 0xFF, sizeof polled.by); /* NOBODY */
    enum rm_code code = rm_cores_available(&polled.cores, error);
    for (uint32_t i = 0; i < file->roles_count && code == RM_OK; i++)
        code = resolve_role(config, &polled, error, i, &file->roles[i]);
    if (code == RM_OK)
        code = check_all_polled(config, &polled, error);
    if (code == RM_OK)
        add_housekeeping(config);
    return code;
}
