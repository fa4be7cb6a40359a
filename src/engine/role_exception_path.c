// SPDX-License-Identifier: Apache-2.0
/* The exception path: the ports that punt frames to it. What it does is exception_path.h. */
#include <stdlib.h>

#include "base/zeroed.h"
#include "engine/role.h"
#include "engine/server_state.h"

/** True where the kernel knows the interface, and reports multicast groups itself. */
static bool kernel_reports(enum rm_port_kind kind) {
    return kind == RM_PORT_UDP || kind == RM_PORT_AF_PACKET || kind == RM_PORT_AF_XDP;
}

static struct rm_slow_port slow_port_of(struct rm_server_port const *port, struct rm_config_port const *wanted) {
    return (struct rm_slow_port){
        .port = port->port,
        .kernel = port->kernel,
        .counters = port->counters,
        .answer_ipv4 = wanted->answer_ipv4,
        .vlan = wanted->vlan == RM_CONFIG_ANY_VLAN ? 0 : wanted->vlan,
        .group_count = kernel_reports(wanted->port.kind) ? 0 : wanted->port.group_count,
        .group = wanted->port.group,
    };
}

static enum rm_code exception_path_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    (void)index;
    struct rm_config const *config = server->config;
    struct rm_exception_path *const exception_path = *made = rm_zeroed(1, sizeof *exception_path);
    if (exception_path == NULL)
        return rm_server_no_memory(error);
    exception_path->port = calloc(config->port_count, sizeof *exception_path->port);
    if (exception_path->port == NULL)
        return rm_server_no_memory(error);
    for (uint32_t i = 0; i < config->port_count; ++i)
        if (config->port[i].port.exception_path)
            exception_path->port[exception_path->port_count++] = slow_port_of(&server->port[i], &config->port[i]);
    exception_path->ticks_per_ms = (uint64_t)(server->tsc_hz / 1000);
    rm_exception_path_init(exception_path);
    return RM_OK;
}

static void exception_path_free(void *made) {
    struct rm_exception_path *const exception_path = made;
    if (exception_path != NULL)
        free(exception_path->port);
    free(exception_path);
}

struct rm_role const rm_role_exception_path = {
    .make = exception_path_make, .duty = rm_exception_path_duty, .free = exception_path_free};
