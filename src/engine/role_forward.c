// SPDX-License-Identifier: Apache-2.0
/* Forwards packets between its ports: run to completion on the role's core. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/role.h"
#include "engine/server_state.h"
#include "forward/forward.h"

struct forward_role {
    struct rm_server *server;
    struct rm_config_role const *config;
    struct rm_control_core *control;
    rm_counter *counters[RM_FORWARD_PORTS_MAX];
    struct rm_forward forward;
    struct rm_burst in, out;
    double ns_per_tick;
};

static void role_send(void *context, uint32_t port, struct rm_burst *burst) {
    struct forward_role *const role = context;
    struct rm_port *const to = role->server->port[port].port;
    struct rm_burst *const out = &role->out;
    uint32_t const room = burst->count != 0 ? rm_port_reserve(to, 0, out, burst->count) : 0;
    for (uint32_t i = 0; i < room; ++i) {
        memcpy(out->data[i], burst->data[i], burst->length[i]);
        out->length[i] = burst->length[i];
    }
    uint32_t const sent = room != 0 ? rm_port_send(to, 0, out) : 0;
    if (room != 0)
        rm_port_release(to, 0, out);
    if (role->counters[port] != NULL) {
        rm_counter_add(role->counters[port], RM_FORWARD_SENT, sent);
        rm_counter_add(role->counters[port], RM_FORWARD_OUT_FULL, burst->count - sent);
    }
}

/** Sends what the control side has to send. */
static uint32_t send_controls(struct forward_role *role) {
    struct rm_handoff_packet packet;
    uint32_t count = 0;
    for (; count < RM_BURST && rm_handoff_see(&role->control->from_control, &packet); ++count) {
        struct rm_burst one = {.count = 1, .data = {(uint8_t *)packet.frame}, .length = {packet.length}};
        role_send(role, packet.port, &one);
        rm_handoff_done(&role->control->from_control);
    }
    return count;
}

static uint32_t forward_duty(void *made, uint64_t tsc) {
    struct forward_role *const role = made;
    uint64_t const now_ns = (uint64_t)((double)tsc * role->ns_per_tick);
    uint32_t work = role->control != NULL ? send_controls(role) : 0;
    for (uint32_t i = 0; i < role->config->queue_count; ++i) {
        struct rm_config_queue const *const queue = &role->config->queue[i];
        struct rm_port *const port = role->server->port[queue->port].port;
        uint32_t const count = rm_port_receive(port, queue->queue, &role->in);
        if (count == 0)
            continue;
        work += count;
        rm_forward_burst(&role->forward, queue->port, &role->in, now_ns);
        rm_port_release(port, queue->queue, &role->in);
    }
    return work;
}

static enum rm_code forward_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    struct forward_role *const role = *made = calloc(1, sizeof *role);
    if (role == NULL)
        return rm_server_no_memory(error);
    uint32_t const core = rm_server_router_core(server, index);
    role->server = server;
    role->config = &config->role[index];
    role->ns_per_tick = 1e9 / server->tsc_hz;
    role->control = &server->router->core[core];
    role->forward = (struct rm_forward){.routes = server->router->routes,
                                        .reader = core,
                                        .port_count = config->port_count,
                                        .handoff = &role->control->to_control,
                                        .longest_frame = server->router->longest_frame,
                                        .send = role_send,
                                        .send_context = role};
    for (uint32_t i = 0; i < config->port_count; ++i)
        if (rm_config_role_polls(role->config, i))
            role->forward.counters[i] = role->counters[i] =
                rm_store_memory(&server->store, server->store.traffic_counters[index * config->port_count + i]);
    return rm_forward_make(&role->forward) ? RM_OK : rm_server_no_memory(error);
}

static bool forward_commands(void *made, struct rm_command_table *table) {
    struct forward_role const *const role = made;
    struct rm_server_router *const router = role->server->router;
    if (router->control == NULL ||
        rm_server_router_core(role->server, (uint32_t)(role->config - role->server->config->role)) != 0)
        return false; /* the first role has them for all */
    rm_control_commands(router->control, table);
    return true;
}

static void forward_free(void *made) {
    struct forward_role *const role = made;
    if (role != NULL)
        rm_forward_free(&role->forward);
    free(role);
}

struct rm_role const rm_role_forward = {
    .make = forward_make, .duty = forward_duty, .free = forward_free, .commands = forward_commands};
