// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"
#include "base/fail.h"
#include "config/resolve.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT16_MAX };

/* Which role polls which queue, and which spreads which port. */
struct polled {
    uint16_t by[RM_CONFIG_PORTS_MAX][RM_CONFIG_QUEUES_MAX]; /* role, or NOBODY */
    uint16_t spread_by[RM_CONFIG_PORTS_MAX];                /* role, or NOBODY */
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

/* True where a source's datagrams come by one queue, or may do: whether a card can do it shows when it is opened. */
static bool may_steer(struct rm_config_port const *port) {
    return port->port.spread != 0 || port->port.kind == RM_PORT_PCI;
}

/* One role per port where nothing steers an instrument's datagrams to one queue of several: any of them may carry any
 * of its turns, and a stream has one writer. */
static enum rm_code check_one_writer(struct rm_config const *config, struct polled const *polled,
                                     struct rm_error *error, struct rm_config_queue_name const *name, uint32_t port) {
    char problem[256];
    for (uint32_t i = 0; i < config->port[port].port.queues && !may_steer(&config->port[port]); i++) {
        uint16_t const other = polled->by[port][i];
        if (other == NOBODY || other == name->role)
            continue;
        snprintf(problem, sizeof problem,
                 "two queues for one identity: roles[%u] polls port \"%s\" too, and any of its queues may carry any "
                 "instrument; expected all queues of a port in one role, or spread: true in the port",
                 other, config->port[port].port.name);
        return rm_config_fail_queue(config, error, name, problem);
    }
    return RM_OK;
}

static enum rm_code claim_queue(struct rm_config *config, struct polled *polled, struct rm_error *error,
                                struct rm_config_queue_name const *name, struct rm_config_queue queue) {
    uint16_t *const by = &polled->by[queue.port][queue.queue];
    if (*by != NOBODY) {
        char problem[160];
        snprintf(problem, sizeof problem, "queue %u of port \"%s\" is already polled by roles[%u], expected it once",
                 queue.queue, config->port[queue.port].port.name, *by);
        return rm_config_fail_queue(config, error, name, problem);
    }
    *by = (uint16_t)name->role;
    struct rm_config_role *const resolved = &config->role[name->role];
    resolved->queue[resolved->queue_count++] = queue;
    return RM_OK;
}

static enum rm_code claim_entry(struct rm_config *config, struct polled *polled, struct rm_error *error,
                                struct rm_config_queue_name const *name) {
    struct rm_config_queue queue = {0};
    uint16_t end = 0;
    enum rm_code code = rm_config_read_queues(config, error, name, &queue, &end);
    for (; code == RM_OK && queue.queue < end; queue.queue++)
        code = claim_queue(config, polled, error, name, queue);
    return code == RM_OK && config->role[name->role].kind != RM_ROLE_FORWARD
               ? check_one_writer(config, polled, error, name, queue.port)
               : code;
}

static enum rm_code want_ports(struct rm_config *config, struct rm_error *error, uint32_t role,
                               struct rm_file_role const *written, char const *meant) {
    if (written->ports == NULL)
        return rm_config_fail_entry(config, error, "roles", role, NULL,
                                    "the key \"ports\" is missing, expected the ports that this role %s", meant);
    config->role[role].queue = calloc(RM_CONFIG_PORTS_MAX * RM_CONFIG_QUEUES_MAX, sizeof *config->role[role].queue);
    if (config->role[role].queue == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    return RM_OK;
}

/* Roles that poll: receive, generate and forward. */
static enum rm_code resolve_polls(struct rm_config *config, struct polled *polled, struct rm_error *error,
                                  uint32_t role, struct rm_file_role const *written) {
    enum rm_code code = want_ports(config, error, role, written, "polls");
    for (uint32_t i = 0; i < written->ports_count && code == RM_OK; i++)
        code = claim_entry(config, polled, error, &(struct rm_config_queue_name){role, "ports", i, written->ports[i]});
    if (code == RM_OK && written->first != NULL)
        code = rm_config_put_first(config, error, role, written);
    if (code == RM_OK && written->script != NULL &&
        !rm_config_locate(config, written->script, config->role[role].script))
        code = rm_config_fail_entry(config, error, "roles", role, "script",
                                    "with the configuration's folder before it the path is longer than %d bytes",
                                    RM_CONFIG_PATH_BYTES - 1);
    return code;
}

static enum rm_code spread_entry(struct rm_config *config, struct polled *polled, struct rm_error *error,
                                 struct rm_config_queue_name const *name) {
    struct rm_config_queue queue = {0};
    uint16_t end = 0;
    enum rm_code const code = rm_config_read_queues(config, error, name, &queue, &end);
    if (code != RM_OK)
        return code;
    if (strchr(name->text, '/') != NULL || config->port[queue.port].port.spread == 0)
        return rm_config_fail_queue(config, error, name, "expected the name of a port that has spread: true");
    if (polled->spread_by[queue.port] != NOBODY)
        return rm_config_fail_queue(config, error, name, "this port is already spread, expected it once");
    struct rm_config_role *const resolved = &config->role[name->role];
    polled->spread_by[queue.port] = (uint16_t)name->role;
    resolved->queue[resolved->queue_count++] = queue;
    return RM_OK;
}

static enum rm_code resolve_spread(struct rm_config *config, struct polled *polled, struct rm_error *error,
                                   uint32_t role, struct rm_file_role const *written) {
    enum rm_code code = want_ports(config, error, role, written, "spreads");
    for (uint32_t i = 0; i < written->ports_count && code == RM_OK; i++)
        code = spread_entry(config, polled, error, &(struct rm_config_queue_name){role, "ports", i, written->ports[i]});
    return code;
}

/* Housekeeping and the exception path serve all ports, and there is one of each. */
static enum rm_code resolve_single(struct rm_config const *config, struct rm_error *error, uint32_t role,
                                   struct rm_file_role const *written) {
    char const *const name = rm_config_role_name(written->role);
    if (written->ports != NULL)
        return rm_config_fail_entry(config, error, "roles", role, "ports", "%s serves all ports, take this key out",
                                    name);
    for (uint32_t i = 0; i < role; i++)
        if (config->role[i].kind == written->role)
            return rm_config_fail_entry(config, error, "roles", role, "role",
                                        "roles[%u] is %s already, expected only one", i, name);
    return RM_OK;
}

/* Keys that one kind of role has alone. */
static enum rm_code check_role_keys(struct rm_config const *config, struct rm_error *error, uint32_t role,
                                    struct rm_file_role const *written) {
    struct {
        char const *key;
        bool written;
        enum rm_role_kind belongs;
    } const own[] = {
        {"first", written->first != NULL, RM_ROLE_RECEIVE},
        {"application", written->application != NULL, RM_ROLE_APPLICATION},
        {"script", written->script != NULL, RM_ROLE_GENERATE},
    };
    for (uint32_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i].written && own[i].belongs != written->role)
            return rm_config_fail_entry(config, error, "roles", role, own[i].key,
                                        "a role %s has no such key, take it out; it belongs to a role %s",
                                        rm_config_role_name(written->role), rm_config_role_name(own[i].belongs));
    return RM_OK;
}

static enum rm_code resolve_role(struct rm_config *config, struct polled *polled, struct rm_error *error, uint32_t role,
                                 struct rm_file_role const *written) {
    config->role[role] = (struct rm_config_role){.kind = written->role, .core = written->core};
    config->role_count = role + 1;
    enum rm_code code = check_core(config, polled, error, role, written->core);
    if (code == RM_OK)
        code = check_role_keys(config, error, role, written);
    if (code != RM_OK)
        return code;
    switch (written->role) {
    case RM_ROLE_RECEIVE:
    case RM_ROLE_GENERATE:
    case RM_ROLE_FORWARD:
        return resolve_polls(config, polled, error, role, written);
    case RM_ROLE_SPREAD:
        return resolve_spread(config, polled, error, role, written);
    case RM_ROLE_TRANSMIT:
    case RM_ROLE_APPLICATION:
        return rm_config_resolve_setpoint_role(config, role, written, error);
    case RM_ROLE_HOUSEKEEPING:
    case RM_ROLE_EXCEPTION_PATH:
        break;
    }
    return resolve_single(config, error, role, written);
}

static enum rm_code check_all_polled(struct rm_config const *config, struct polled const *polled,
                                     struct rm_error *error) {
    for (uint32_t i = 0; i < config->port_count; i++)
        for (uint32_t j = 0; j < config->port[i].port.queues; j++)
            if (polled->by[i][j] == NOBODY && !config->port[i].cameras)
                return rm_config_fail(config, error, "roles",
                                      "no role polls queue %u of port \"%s\", expected \"%s\" in one role's "
                                      "ports",
                                      j, config->port[i].port.name, config->port[i].port.name);
    return RM_OK;
}

static enum rm_code check_all_spread(struct rm_config const *config, struct polled const *polled,
                                     struct rm_error *error) {
    for (uint32_t i = 0; i < config->port_count; i++)
        if (config->port[i].port.spread != 0 && polled->spread_by[i] == NOBODY && !config->port[i].cameras)
            return rm_config_fail(config, error, "roles",
                                  "no role spreads port \"%s\", expected {role: spread, core: …, ports: [%s]}",
                                  config->port[i].port.name, config->port[i].port.name);
    return RM_OK;
}

/* Instruments' datagrams are for a receive role. */
static enum rm_code check_all_received(struct rm_config const *config, struct polled const *polled,
                                       struct rm_error *error) {
    for (uint32_t i = 0; i < config->instrument_count; i++) {
        uint32_t const port = config->instrument[i].port;
        for (uint32_t j = 0; j < config->port[port].port.queues; j++) {
            uint16_t const role = polled->by[port][j];
            if (config->role[role].kind != RM_ROLE_RECEIVE)
                return rm_config_fail(config, error, "roles",
                                      "instrument \"%s\" comes by port \"%s\", which roles[%u] polls to %s; expected a "
                                      "role receive there, or another port",
                                      config->instrument[i].name, config->port[port].port.name, role,
                                      rm_config_role_name(config->role[role].kind));
        }
    }
    return RM_OK;
}

/* The role that polls all of a port's queues, or NOBODY where several do. */
static uint16_t only_role(struct rm_config const *config, struct polled const *polled, uint32_t port) {
    for (uint32_t i = 1; i < config->port[port].port.queues; i++)
        if (polled->by[port][i] != polled->by[port][0])
            return NOBODY;
    return polled->by[port][0];
}

/* One core merges mirrored networks. Where a port's queues are shared out, it shows when the port is opened. */
static enum rm_code check_mirrors(struct rm_config const *config, struct polled const *polled, struct rm_error *error) {
    for (uint32_t i = 0; i < config->instrument_count; i++) {
        struct rm_config_instrument const *const instrument = &config->instrument[i];
        if (!instrument->mirror.present)
            continue;
        uint16_t const one = only_role(config, polled, instrument->port);
        uint16_t const other = only_role(config, polled, instrument->mirror.port);
        if (one != NOBODY && other != NOBODY && one != other)
            return rm_config_fail(
                config, error, "roles",
                "instrument \"%s\" comes by port \"%s\" and, mirrored, by port \"%s\", which roles[%u] "
                "and roles[%u] poll; expected both ports in one role, which merges them",
                instrument->name, config->port[instrument->port].port.name,
                config->port[instrument->mirror.port].port.name, one, other);
    }
    return RM_OK;
}

static struct rm_config_role const *find_role(struct rm_config const *config, enum rm_role_kind kind) {
    for (uint32_t i = 0; i < config->role_count; i++)
        if (config->role[i].kind == kind)
            return &config->role[i];
    return NULL;
}

/* All frames of a router's port are the router's. */
static void leave_to_router(struct rm_config *config) {
    for (uint32_t i = 0; i < config->role_count; i++)
        for (uint32_t j = 0; config->role[i].kind == RM_ROLE_FORWARD && j < config->role[i].queue_count; j++) {
            struct rm_port_config *const port = &config->port[config->role[i].queue[j].port].port;
            port->exception_path = false;
            port->ethertype_count = 1;
            port->ethertype[0] = RM_ETHERTYPE_ALL;
        }
}

/* What the file gives no core shares another's: housekeeping that of the first role, the exception path
 * housekeeping's. */
static void add_missing(struct rm_config *config) {
    if (find_role(config, RM_ROLE_HOUSEKEEPING) == NULL)
        config->role[config->role_count++] =
            (struct rm_config_role){.kind = RM_ROLE_HOUSEKEEPING, .core = config->role[0].core};
    bool wanted = false;
    for (uint32_t i = 0; i < config->port_count; i++)
        wanted |= config->port[i].port.exception_path;
    if (wanted && find_role(config, RM_ROLE_EXCEPTION_PATH) == NULL)
        config->role[config->role_count++] = (struct rm_config_role){
            .kind = RM_ROLE_EXCEPTION_PATH, .core = find_role(config, RM_ROLE_HOUSEKEEPING)->core};
}

bool rm_config_role_polls(struct rm_config_role const *role, uint32_t port) {
    for (uint32_t i = 0; i < role->queue_count; i++)
        if (role->queue[i].port == port)
            return true;
    return false;
}

bool rm_config_is_forwarded(struct rm_config const *config, uint32_t port) {
    for (uint32_t i = 0; i < config->role_count; i++)
        if (config->role[i].kind == RM_ROLE_FORWARD && rm_config_role_polls(&config->role[i], port))
            return true;
    return false;
}

enum rm_code rm_config_resolve_roles(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error) {
    struct polled polled;
    memset(polled.by, 0xFF, sizeof polled.by); /* NOBODY */
    memset(polled.spread_by, 0xFF, sizeof polled.spread_by);
    enum rm_code code = rm_cores_available(&polled.cores, error);
    for (uint32_t i = 0; i < file->roles_count && (code == RM_OK || code == RM_E_CONFIG); i++)
        code = rm_code_first(code, resolve_role(config, &polled, error, i, &file->roles[i]));
    if (code == RM_OK)
        code = check_all_polled(config, &polled, error);
    if (code == RM_OK)
        code = check_all_spread(config, &polled, error);
    if (code == RM_OK)
        code = check_all_received(config, &polled, error);
    if (code == RM_OK)
        code = check_mirrors(config, &polled, error);
    if (code == RM_OK)
        code = rm_config_check_setpoint_roles(config, error);
    if (code == RM_OK) {
        leave_to_router(config);
        add_missing(config);
    }
    return code;
}
