// SPDX-License-Identifier: Apache-2.0
/* Forwards packets between its ports: run to completion on the role's core. Each forward role sends by a transmit queue of
 * its own in every port, that of its number among them: so none waits for another. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/role.h"
#include "engine/server_state.h"
#include "forward/forward.h"

/** One queue that the role polls. */
struct forward_queue {
    struct rm_port *port;
    /** Index into the configuration's ports, as the router numbers them. */
    uint32_t number;
    uint16_t queue;
};

struct forward_role {
    struct rm_forward forward;
    enum rm_forward_mode mode;
    double ns_per_tick;
    /** NULL in modes without a control side. */
    struct rm_control_core *control;
    struct rm_captures_core *captures;
    /** [port]: where frames leave; NULL: no role forwards it. */
    struct rm_port *out[RM_FORWARD_PORTS_MAX];
    /** The role's number among those that forward. */
    uint16_t core;
    /** The server's, and the role's index there. */
    struct rm_server *server;
    uint32_t index;
    struct rm_burst in;
    uint32_t queue_count;
    struct forward_queue queue[];
};

/** Sends, and captures what the port takes. Frames are copied before, for afterwards they are the port's. */
static uint32_t send_captured(struct forward_role *role, uint32_t port, struct rm_burst *burst) {
    struct rm_capture_ring *const ring = role->captures->ring[port];
    struct rm_capture_mark mark[RM_BURST + 1];
    mark[0] = rm_capture_ring_mark(ring);
    rm_capture_ring_stage_burst(ring, mark, burst->data, burst->length, burst->count, rm_tsc());
    uint32_t const sent = rm_port_send_from(role->out[port], role->core, burst);
    rm_capture_ring_publish(ring, &mark[sent]);
    return sent;
}

/** Before anything is rewritten. */
static void capture_received(struct rm_capture_ring *ring, struct rm_burst const *burst) {
    struct rm_capture_mark mark[RM_BURST + 1];
    mark[0] = rm_capture_ring_mark(ring);
    rm_capture_ring_stage_burst(ring, mark, burst->data, burst->length, burst->count, rm_tsc());
    rm_capture_ring_publish(ring, &mark[burst->count]);
}

static void role_send(void *context, uint32_t port, struct rm_burst *burst) {
    struct forward_role *const role = context;
    uint32_t const wanted = burst->count;
    uint32_t const sent = role->captures->ring[port] != NULL ? send_captured(role, port, burst)
                                                             : rm_port_send_from(role->out[port], role->core, burst);
    rm_counter_add(role->forward.counters[port], RM_FORWARD_SENT, sent);
    if (sent != wanted)
        rm_counter_add(role->forward.counters[port], RM_FORWARD_OUT_FULL, wanted - sent);
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

static void forward_received(struct forward_role *role, uint32_t port, uint64_t tsc) {
    uint64_t const now_ns = (uint64_t)((double)tsc * role->ns_per_tick);
    switch (role->mode) {
    case RM_FORWARD_ROUTE:
        rm_forward_burst(&role->forward, port, &role->in, now_ns);
        return;
    case RM_FORWARD_IO:
        rm_forward_io(&role->forward, port, &role->in);
        return;
    case RM_FORWARD_MACSWAP:
        rm_forward_macswap(&role->forward, port, &role->in);
        return;
    case RM_FORWARD_L2:
        rm_forward_bridge(&role->forward, port, &role->in, now_ns);
    }
}

static uint32_t forward_duty(void *made, uint64_t tsc) {
    struct forward_role *const role = made;
    uint32_t work = 0;
    rm_captures_obey(role->captures);
    if (role->mode == RM_FORWARD_ROUTE) {
        (void)rm_routes_table(role->forward.routes, role->forward.reader); // done with the last one, also when idle
        work = send_controls(role);
    }
    for (uint32_t i = 0; i < role->queue_count; ++i) {
        struct forward_queue const *const queue = &role->queue[i];
        uint32_t const count = rm_port_receive(queue->port, queue->queue, &role->in);
        if (count == 0)
            continue;
        work += count;
        if (role->captures->ring[queue->number] != NULL)
            capture_received(role->captures->ring[queue->number], &role->in);
        forward_received(role, queue->number, tsc);
        role->in.count = count; // a mode may have shortened it
        rm_port_release(queue->port, queue->queue, &role->in);
    }
    return work;
}

/** Each core sends by its own transmit queue. */
static enum rm_code check_send_queue(struct rm_config const *config, uint32_t index, uint32_t core, uint32_t port,
                                     struct rm_error *error) {
    struct rm_port_config const *const wanted = &config->port[port].port;
    uint32_t const queues = wanted->spread ? 1 : wanted->queues;
    if (core < queues)
        return RM_OK;
    return rm_config_fail_entry(
        config, error, "roles", index, "ports",
        "this is role forward number %u, and port \"%s\" has %u transmit queue%s; each role needs "
        "one for itself: give the port \"queues: %u\"%s, or let fewer roles forward",
        core + 1, wanted->name, queues, queues == 1 ? "" : "s", core + 1, wanted->spread ? " without \"spread\"" : "");
}

/** All ports that any role forwards, those of other roles too: frames leave there. */
static enum rm_code find_ports(struct forward_role *role, struct rm_error *error) {
    struct rm_server *const server = role->server;
    struct rm_config const *const config = server->config;
    uint16_t before = RM_FORWARD_PORTS_MAX;
    enum rm_code code = RM_OK;
    for (uint32_t port = 0; code == RM_OK && port < config->port_count; ++port) {
        if (!rm_config_is_forwarded(config, port))
            continue;
        role->out[port] = server->port[port].port;
        role->forward.counters[port] =
            rm_store_memory(&server->store, server->store.traffic_counters[role->index * config->port_count + port]);
        role->forward.pair[port] = before != RM_FORWARD_PORTS_MAX ? before : (uint16_t)port;
        if (before != RM_FORWARD_PORTS_MAX)
            role->forward.pair[before] = (uint16_t)port;
        before = before != RM_FORWARD_PORTS_MAX ? RM_FORWARD_PORTS_MAX : (uint16_t)port;
        code = check_send_queue(config, role->index, role->core, port, error);
    }
    return code;
}

static void find_queues(struct forward_role *role) {
    struct rm_config_role const *const wanted = &role->server->config->role[role->index];
    for (; role->queue_count < wanted->queue_count; ++role->queue_count) {
        struct rm_config_queue const *const queue = &wanted->queue[role->queue_count];
        role->queue[role->queue_count] =
            (struct forward_queue){role->server->port[queue->port].port, queue->port, queue->queue};
    }
}

static enum rm_code forward_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    struct forward_role *const role = *made =
        calloc(1, sizeof *role + config->role[index].queue_count * sizeof role->queue[0]);
    if (role == NULL)
        return rm_server_no_memory(error);
    role->server = server;
    role->index = index;
    role->mode = config->router->mode;
    role->core = (uint16_t)rm_server_router_core(server, index);
    role->captures = rm_captures_core(server->router->captures, role->core);
    role->ns_per_tick = 1e9 / server->tsc_hz;
    if (role->mode == RM_FORWARD_ROUTE)
        role->control = &server->router->core[role->core];
    role->forward = (struct rm_forward){.routes = server->router->routes,
                                        .reader = role->core,
                                        .port_count = config->port_count,
                                        .handoff = role->control != NULL ? &role->control->to_control : NULL,
                                        .longest_frame = server->router->longest_frame,
                                        .send = role_send,
                                        .send_context = role};
    if (role->mode == RM_FORWARD_L2 && role->core != 0)
        return rm_config_fail_entry(config, error, "roles", index, "role",
                                    "a bridge (router.mode l2) is one role forward, for what it learns is its own; "
                                    "expected all ports in the first");
    find_queues(role);
    enum rm_code const code = find_ports(role, error);
    if (code != RM_OK)
        return code;
    return rm_forward_make(&role->forward, role->mode) ? RM_OK : rm_server_no_memory(error);
}

static uint32_t forward_commands(void *made, struct rm_command_table *table) {
    struct forward_role const *const role = made;
    struct rm_server_router const *const router = role->server->router;
    uint32_t count = 0;
    if (role->core != 0)
        return 0; // the first role has them for all
    rm_captures_commands(router->captures, &table[count++]);
    if (router->control != NULL)
        rm_control_commands(router->control, &table[count++]);
    return count;
}

static void forward_free(void *made) {
    struct forward_role *const role = made;
    if (role != NULL)
        rm_forward_free(&role->forward);
    free(role);
}

struct rm_role const rm_role_forward = {
    .make = forward_make, .duty = forward_duty, .free = forward_free, .commands = forward_commands};
