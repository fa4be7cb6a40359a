// SPDX-License-Identifier: Apache-2.0
#include "engine/server_router.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "engine/server_state.h"
#include "wire/arp.h"

/** Frames between a core and the control side: a burst of each neighbour that is sought, and some. */
enum { HANDOFF_SLOTS = 512 };

static bool is_forwarded(struct rm_config const *config, uint32_t port, uint32_t *role) {
    for (*role = 0; *role < config->role_count; ++*role)
        if (config->role[*role].kind == RM_ROLE_FORWARD && rm_config_role_polls(&config->role[*role], port))
            return true;
    return false;
}

static void find_cores(struct rm_server_router *router, struct rm_config const *config) {
    for (uint32_t i = 0; i < config->role_count && router->core_count < RM_ROUTES_READERS_MAX; ++i)
        if (config->role[i].kind == RM_ROLE_FORWARD)
            router->role[router->core_count++] = i;
    for (uint32_t i = 0; i < config->port_count; ++i) {
        uint32_t role;
        if (is_forwarded(config, i, &role) && config->port[i].port.longest_frame > router->longest_frame)
            router->longest_frame = config->port[i].port.longest_frame;
    }
}

static enum rm_code make_rings(struct rm_server_router *router, struct rm_error *error) {
    for (uint32_t i = 0; i < router->core_count; ++i)
        if (!rm_handoff_make(&router->core[i].to_control, HANDOFF_SLOTS, router->longest_frame) ||
            !rm_handoff_make(&router->core[i].from_control, HANDOFF_SLOTS, router->longest_frame))
            return rm_server_no_memory(error);
    return RM_OK;
}

static void describe_forwarded_port(struct rm_server const *server, uint32_t index, struct rm_control_port *port) {
    struct rm_config_port const *const wanted = &server->config->port[index];
    uint32_t role;
    if (!is_forwarded(server->config, index, &role))
        return;
    *port = (struct rm_control_port){.name = wanted->port.name,
                                     .kernel = server->port[index].kernel,
                                     .kernel_interface = wanted->kernel_interface,
                                     .core = rm_server_router_core(server, role),
                                     .present = true};
    if (!rm_port_mac(server->port[index].port, port->mac))
        rm_arp_make_mac(0x0A000000u | index, port->mac);
}

static enum rm_code make_control(struct rm_server *server, struct rm_error *error) {
    struct rm_server_router *const router = server->router;
    struct rm_config_router const *const wanted = server->config->router;
    struct rm_control_setup setup = {
        .routes = router->routes,
        .interfaces = router->interfaces,
        .core_count = router->core_count,
        .core = router->core,
        .route_count = wanted->route_count,
        .route = wanted->route,
        .neighbour_count = wanted->neighbour_count,
        .neighbour = wanted->neighbour,
        .longest_frame = router->longest_frame,
        .counters = rm_store_memory(&server->store, server->store.router_counters),
    };
    for (uint32_t i = 0; i < server->config->port_count; ++i)
        describe_forwarded_port(server, i, &setup.port[i]);
    return rm_control_make(&setup, &router->control, error);
}

static struct rm_captures *make_captures(struct rm_server const *server) {
    struct rm_captures_setup setup = {.core_count = server->router->core_count,
                                      .longest_frame = server->router->longest_frame,
                                      .tsc_hz = server->tsc_hz};
    for (uint32_t i = 0; i < server->config->port_count; ++i)
        if (rm_config_is_forwarded(server->config, i))
            setup.port[i] = server->config->port[i].port.name;
    return rm_captures_make(&setup);
}

enum rm_code rm_server_make_router(struct rm_server *server, struct rm_error *error) {
    struct rm_config_router const *const wanted = server->config->router;
    if (wanted == NULL)
        return RM_OK;
    struct rm_server_router *const router = server->router = rm_zeroed(1, sizeof *router);
    if (router == NULL)
        return rm_server_no_memory(error);
    find_cores(router, server->config);
    router->captures = make_captures(server);
    if (router->captures == NULL)
        return rm_server_no_memory(error);
    if (wanted->mode != RM_FORWARD_ROUTE)
        return RM_OK;
    router->interfaces = malloc(sizeof *router->interfaces);
    if (router->interfaces == NULL)
        return rm_server_no_memory(error);
    *router->interfaces = *wanted->interfaces;
    enum rm_code code = make_rings(router, error);
    if (code == RM_OK)
        code = rm_routes_make(&router->routes, &wanted->limits, router->core_count, error);
    return code == RM_OK ? make_control(server, error) : code;
}

enum rm_code rm_server_start_router(struct rm_server *server, struct rm_error *error) {
    return server->router != NULL && server->router->control != NULL ? rm_control_start(server->router->control, error)
                                                                     : RM_OK;
}

void rm_server_free_router(struct rm_server *server) {
    struct rm_server_router *const router = server->router;
    if (router == NULL)
        return;
    rm_control_stop(router->control);
    rm_captures_free(router->captures);
    for (uint32_t i = 0; i < router->core_count; ++i) {
        rm_handoff_free(&router->core[i].to_control);
        rm_handoff_free(&router->core[i].from_control);
    }
    if (router->routes != NULL)
        rm_routes_free(router->routes);
    free(router->interfaces);
    free(router);
}

uint32_t rm_server_router_core(struct rm_server const *server, uint32_t role) {
    uint32_t core = 0;
    while (core < server->router->core_count && server->router->role[core] != role)
        ++core;
    return core;
}

uint32_t rm_server_router_memory_mib(struct rm_config const *config) {
    return config->router != NULL && config->router->mode == RM_FORWARD_ROUTE
               ? rm_routes_memory_mib(&config->router->limits)
               : 0;
}
