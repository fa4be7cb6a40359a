// SPDX-License-Identifier: Apache-2.0
#include "engine/server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** One identity of an instrument: its own network, or the mirror's. */
struct instrument_place {
    uint32_t port;
    uint32_t source_ipv4;
};

static uint32_t places_of(struct rm_config_instrument const *instrument, struct instrument_place place[RM_NETWORKS]) {
    place[0] = (struct instrument_place){instrument->port, instrument->source_ipv4};
    place[1] = (struct instrument_place){instrument->mirror.port, instrument->mirror.source_ipv4};
    return instrument->mirror.present ? 2 : 1;
}

/** Notes that datagrams of `format` come to the port. */
static void add_format(struct rm_server *server, uint32_t port_index, uint32_t format) {
    struct rm_config const *config = server->config;
    struct rm_server_port *port = &server->port[port_index];
    struct rm_receive_format const comes = {rm_config_udp_port(config, port_index, format),
                                            config->format[format].layout};
    for (uint32_t i = 0; i < port->format_count; ++i)
        if (port->format[i].udp_port == comes.udp_port)
            return;
    port->format[port->format_count++] = comes;
}

/** All addresses that send to a port; each once. Returns how many. */
static uint32_t collect_sources(struct rm_config const *config, uint32_t port, uint32_t *source) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->instrument_count; ++i) {
        struct instrument_place place[RM_NETWORKS];
        uint32_t const places = places_of(&config->instrument[i], place);
        for (uint32_t p = 0; p < places; ++p) {
            if (place[p].port != port)
                continue;
            uint32_t at = 0;
            while (at < count && source[at] != place[p].source_ipv4)
                ++at;
            source[at] = place[p].source_ipv4;
            count += at == count;
        }
    }
    return count;
}

/** The tap beside a port, by which the kernel gets what no instrument sent. */
static enum rm_code open_kernel(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config_port const *wanted = &server->config->port[index];
    struct rm_port_config tap = {.kind = RM_PORT_TAP, .queues = 1, .longest_frame = wanted->port.longest_frame};
    strcpy(tap.name, wanted->port.name);
    strcpy(tap.interface, wanted->kernel_interface);
    struct rm_error reason = {0};
    if (rm_port_open(&tap, &server->port[index].kernel, &reason) == RM_OK)
        return RM_OK;
    return rm_config_fail_entry(server->config, error, "ports", index, "kernel_interface", "%s", reason.text);
}

static enum rm_code open_server_port(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_server_port *port = &server->port[index];
    struct rm_port_config wanted = config->port[index].port;
    uint32_t *source = calloc((size_t)RM_NETWORKS * config->instrument_count + 1, sizeof *source);
    if (source == NULL)
        return rm_server_no_memory(error);
    wanted.source = source;
    wanted.source_count = collect_sources(config, index, source);
    struct rm_error reason = {0};
    enum rm_code code = rm_port_open(&wanted, &port->port, &reason);
    free(source);
    if (code != RM_OK)
        return rm_config_fail_entry(config, error, "ports", index, NULL, "%s", reason.text);
    port->counters = rm_store_memory(&server->store, server->store.port_counters[index]);
    code = rm_identity_table_init(&port->identities, config->instrument_count, error);
    if (code == RM_OK && config->port[index].kernel_interface[0] != '\0')
        code = open_kernel(server, index, error);
    return code;
}

enum rm_code rm_server_open_ports(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *config = server->config;
    for (uint32_t i = 0; i < config->instrument_count; ++i) {
        struct instrument_place place[RM_NETWORKS];
        uint32_t const places = places_of(&config->instrument[i], place);
        for (uint32_t p = 0; p < places; ++p)
            add_format(server, place[p].port, config->instrument[i].format);
    }
    struct rm_net_config net = {.telemetry = config->dpdk_telemetry};
    /* The workspace tells servers on one machine apart, so it does for DPDK too. */
    strcpy(net.prefix, "rm-");
    strncat(net.prefix, config->workspace, sizeof net.prefix - 4);
    for (uint32_t i = 0; i < config->role_count; ++i)
        CPU_SET(config->role[i].core, &net.polled);
    for (uint32_t i = 0; i < config->spare_core_count; ++i)
        CPU_SET(config->spare_core[i], &net.polled);
    for (uint32_t i = 0; i < config->port_count; ++i)
        if (!config->port[i].cameras)
            rm_net_config_add(&net, &config->port[i].port);
    net.memory_mib += rm_server_router_memory_mib(config);
    enum rm_code code = rm_net_start(&net, error);
    server->net_started = code == RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < config->port_count; ++i)
        code = config->port[i].cameras ? RM_OK : open_server_port(server, i, error);
    return code;
}

static void open_fast_path(struct rm_server *server, uint32_t index) {
    struct rm_config const *config = server->config;
    struct rm_config_instrument const *wanted = &config->instrument[index];
    struct rm_fast_path_sender const sender = {
        .source_ipv4 = wanted->source_ipv4,
        .udp_port = rm_config_udp_port(config, wanted->port, wanted->format),
        .id = wanted->id,
        .kind = (uint8_t)wanted->kind,
        .lane_count = (uint8_t)wanted->lane_count,
        .turn_offset = wanted->turn_offset,
    };
    if (config->port[wanted->port].vlan == RM_RECEIVE_ANY_VLAN)
        rm_instrument_open_fast_path(server->instrument[index], &sender);
    else
        rm_fast_path_shut(&server->instrument[index]->fast_path);
}

void rm_server_announce(struct rm_server *server, uint32_t index) {
    open_fast_path(server, index);
    struct rm_config_instrument const *wanted = &server->config->instrument[index];
    struct rm_instrument *instrument = server->instrument[index];
    struct instrument_place place[RM_NETWORKS];
    uint32_t const places = places_of(wanted, place);
    for (uint32_t p = 0; p < places; ++p)
        rm_identity_add(&server->port[place[p].port].identities, place[p].source_ipv4, wanted->id, instrument,
                        instrument->path[p]);
}

void rm_server_close_ports(struct rm_server *server) {
    for (uint32_t i = 0; server->port != NULL && i < server->config->port_count; ++i) {
        rm_port_close(server->port[i].port);
        rm_port_close(server->port[i].kernel);
        rm_identity_table_free(&server->port[i].identities);
    }
    free(server->port);
}

uint32_t rm_server_role_of(struct rm_server const *server, uint32_t port, uint32_t source_ipv4, uint16_t *queue) {
    struct rm_config const *config = server->config;
    *queue = rm_port_queue_of(server->port[port].port, source_ipv4);
    uint16_t const wanted = *queue == RM_QUEUE_ANY ? 0 : *queue;
    for (uint32_t role = 0; role < config->role_count; ++role)
        for (uint32_t q = 0; config->role[role].kind == RM_ROLE_RECEIVE && q < config->role[role].queue_count; ++q)
            if (config->role[role].queue[q].port == port && config->role[role].queue[q].queue == wanted)
                return role;
    return config->role_count; /* not reached: every queue is polled */
}

static bool one_role_polls_all(struct rm_config const *config, uint32_t port, uint32_t role) {
    uint32_t polled = 0;
    for (uint32_t q = 0; q < config->role[role].queue_count; ++q)
        polled += config->role[role].queue[q].port == port;
    return polled == config->port[port].port.queues;
}

static enum rm_code check_place(struct rm_server const *server, uint32_t index, struct instrument_place place,
                                uint32_t *role, uint16_t *queue, struct rm_error *error) {
    struct rm_config const *config = server->config;
    *role = rm_server_role_of(server, place.port, place.source_ipv4, queue);
    if (*queue != RM_QUEUE_ANY || one_role_polls_all(config, place.port, *role))
        return RM_OK;
    return rm_config_fail_entry(config, error, "instruments", index, "source",
                                "any queue of port \"%s\" may carry its datagrams (steering: %s), and several roles "
                                "poll them; expected all queues of that port in one role",
                                config->port[place.port].port.name,
                                rm_steering_name(rm_port_steering(server->port[place.port].port)));
}

/** Adds "INSTRUMENT PORT QUEUE ROLE CORE METHOD" to the text. */
static void describe_server_port(struct rm_server const *server, uint32_t index, uint32_t port, uint16_t queue,
                                 uint32_t role, FILE *out) {
    struct rm_config const *config = server->config;
    fprintf(out, "%s %s ", config->instrument[index].name, config->port[port].port.name);
    if (queue == RM_QUEUE_ANY)
        fputs("any", out);
    else
        fprintf(out, "%u", queue);
    fprintf(out, " %u %u %s\n", role, server->placement.core[role],
            rm_steering_name(rm_port_steering(server->port[port].port)));
}

static enum rm_code steer_one(struct rm_server const *server, uint32_t index, FILE *out, struct rm_error *error) {
    struct rm_config_instrument const *instrument = &server->config->instrument[index];
    struct instrument_place place[RM_NETWORKS];
    uint32_t const places = places_of(instrument, place);
    uint32_t role[RM_NETWORKS];
    for (uint32_t p = 0; p < places; ++p) {
        uint16_t queue;
        enum rm_code const code = check_place(server, index, place[p], &role[p], &queue, error);
        if (code != RM_OK)
            return code;
        describe_server_port(server, index, place[p].port, queue, role[p], out);
    }
    if (places == 1 || role[0] == role[1])
        return RM_OK;
    return rm_config_fail_entry(server->config, error, "instruments", index, "mirror",
                                "its two networks are polled by roles[%u] and roles[%u], expected both in one role, "
                                "which merges them",
                                role[0], role[1]);
}

enum rm_code rm_server_steer(struct rm_server *server, struct rm_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return rm_server_no_memory(error);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->config->instrument_count; ++i)
        code = steer_one(server, i, out, error);
    fclose(out);
    if (code == RM_OK && !rm_store_write_steering(&server->store, text))
        code = rm_server_no_memory(error);
    free(text);
    return code;
}
