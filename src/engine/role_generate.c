// SPDX-License-Identifier: Apache-2.0
/* The generate role: its ports of the packet generator, which all such roles share. What a port does is
 * traffic/generator.h. */
#include <stdlib.h>

#include "base/timebase.h"
#include "engine/generate_commands.h"
#include "engine/role.h"
#include "engine/server_state.h"
#include "traffic/generator.h"

struct generate {
    struct rm_generator *generator;
    bool owns; /**< the first of such roles frees the generator */
    uint32_t port_count;
    struct rm_generator_port *port[RM_TRAFFIC_PORTS_MAX];
    struct rm_server *server;
    struct rm_generate_commands *commands; /**< of the first of such roles: of all their ports */
};

/** The queues of the role that are of port `index`. */
static void collect_queues(struct rm_config_role const *role, uint32_t index, struct rm_generator_port_plan *plan) {
    for (uint32_t i = 0; i < role->queue_count; ++i)
        if (role->queue[i].port == index && plan->queue_count < RM_GENERATOR_QUEUES_MAX)
            plan->queue[plan->queue_count++] = role->queue[i].queue;
}

static enum rm_code generate_add_port(struct rm_server *server, uint32_t role, uint32_t index,
                                      struct generate *generate, struct rm_error *error) {
    struct rm_store const *const store = &server->store;
    uint32_t const place = role * server->config->port_count + index;
    struct rm_generator_port_plan plan = {
        .port = server->port[index].port,
        .longest_frame = server->config->port[index].port.longest_frame,
        .counters = rm_store_memory(store, store->traffic_counters[place]),
        .jitter = rm_store_memory(store, store->generator[place].jitter),
        .latency = rm_store_memory(store, store->generator[place].latency),
    };
    collect_queues(&server->config->role[role], index, &plan);
    enum rm_code const code = rm_generator_add_port(generate->generator, &plan, error);
    if (code == RM_OK)
        generate->port[generate->port_count++] = generate->generator->port[generate->generator->port_count - 1];
    return code;
}

static enum rm_code generate_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    struct generate *const generate = calloc(1, sizeof *generate);
    *made = generate;
    if (generate == NULL)
        return rm_server_no_memory(error);
    generate->server = server;
    generate->owns = server->generator == NULL;
    enum rm_code code = RM_OK;
    if (generate->owns)
        code = rm_generator_new(server->tsc_hz, server->generation, &server->generator, error);
    generate->generator = server->generator;
    if (code == RM_OK)
        code = rm_generator_add_side(server->generator, error);
    for (uint32_t i = 0; i < config->port_count && code == RM_OK; ++i)
        if (rm_config_role_polls(&config->role[index], i))
            code = generate_add_port(server, index, i, generate, error);
    return code;
}

static uint32_t generate_duty(void *made, uint64_t tsc) {
    struct generate *const generate = made;
    uint32_t packets = 0;
    for (uint32_t i = 0; i < generate->port_count; ++i)
        packets += rm_generator_turn(generate->port[i], i == 0 ? tsc : rm_tsc());
    return packets;
}

/* The first of such roles has the commands of all. Ports are those of all roles, which are made by now. */
static uint32_t generate_commands(void *made, struct rm_command_table *table) {
    struct generate *const generate = made;
    if (!generate->owns || rm_generate_commands_new(generate->server, &generate->commands, NULL) != RM_OK)
        return 0;
    *table = rm_generate_commands_table(generate->commands);
    return 1;
}

static void generate_free(void *made) {
    struct generate *const generate = made;
    if (generate != NULL)
        rm_generate_commands_free(generate->commands);
    if (generate != NULL && generate->owns)
        rm_generator_free(generate->generator);
    free(generate);
}

struct rm_role const rm_role_generate = {
    .make = generate_make, .duty = generate_duty, .free = generate_free, .commands = generate_commands};
