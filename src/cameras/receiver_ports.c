// SPDX-License-Identifier: Apache-2.0
#include "cameras/receiver_ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Adds the port of that index in the file, with its cameras behind those of the ports before. */
static void ports_add(struct rm_camera_ports *ports, uint32_t index, struct rm_camera *cameras,
                      struct rm_camera **place, atomic_bool const *stop) {
    struct rm_config const *const config = ports->config;
    struct rm_camera_port *const port = &ports->port[ports->count++];
    *port = (struct rm_camera_port){
        .config = &config->port[index], .polling = &config->polling, .camera = place, .stop = stop};
    for (uint32_t i = 0; i < config->camera_count; ++i)
        if (config->camera[i].port == index)
            port->camera[port->camera_count++] = &cameras[i];
    port->ticks_per_second = cameras[0].ticks_per_second;
}

bool rm_camera_ports_make(struct rm_camera_ports *ports, struct rm_config const *config, struct rm_camera *cameras,
                          atomic_bool const *stop) {
    *ports = (struct rm_camera_ports){.config = config};
    ports->port = calloc(config->port_count, sizeof *ports->port);
    ports->counters_index = calloc(config->port_count, sizeof *ports->counters_index);
    ports->camera = calloc(config->camera_count, sizeof(void *));
    if (ports->port == NULL || ports->counters_index == NULL || ports->camera == NULL)
        return false;
    struct rm_camera **place = ports->camera;
    for (uint32_t i = 0; i < config->port_count; ++i)
        if (config->port[i].cameras) {
            ports_add(ports, i, cameras, place, stop);
            place += ports->port[ports->count - 1].camera_count;
        }
    return true;
}

void rm_camera_ports_plan(struct rm_camera_ports *ports, struct rm_owner *owner) {
    for (uint32_t i = 0; i < ports->count; ++i) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "counters/port/%s", ports->port[i].config->port.name);
        ports->counters_index[i] = rm_owner_counters(owner, name, "what happened to every datagram of the port",
                                                     RM_COUNTER_SET_PORT, RM_PORT_COUNTERS);
    }
}

/** Sockets need no DPDK. */
static enum rm_code ports_start_net(struct rm_camera_ports *ports, struct rm_error *error) {
    struct rm_net_config net = {.memory_mib = 0};
    /* The workspace tells receivers on one machine apart, as it does servers. */
    snprintf(net.prefix, sizeof net.prefix, "rmc-%.26s", ports->config->workspace);
    bool needed = false;
    for (uint32_t i = 0; i < ports->count; ++i) {
        needed = needed || ports->port[i].config->port.kind != RM_PORT_UDP;
        rm_net_config_add(&net, &ports->port[i].config->port);
    }
    enum rm_code const code = needed ? rm_net_start(&net, error) : RM_OK;
    ports->is_net_started = needed && code == RM_OK;
    return code;
}

static enum rm_code port_open(struct rm_camera_ports *ports, uint32_t index, struct rm_error *error) {
    struct rm_camera_port *const port = &ports->port[index];
    struct rm_port_config wanted = port->config->port;
    uint32_t source[RM_CONFIG_CAMERAS_MAX];
    wanted.source = source;
    for (uint32_t i = 0; i < port->camera_count; ++i)
        if (port->camera[i]->config->ipv4 != 0)
            source[wanted.source_count++] = port->camera[i]->config->ipv4;
    struct rm_error reason = {.text = ""};
    if (rm_port_open(&wanted, &port->port, &reason) == RM_OK)
        return RM_OK;
    uint32_t const in_file = (uint32_t)(port->config - ports->config->port);
    return rm_config_fail_entry(ports->config, error, "ports", in_file, NULL, "%s", reason.text);
}

enum rm_code rm_camera_ports_open(struct rm_camera_ports *ports, struct rm_owner *owner, struct rm_error *error) {
    enum rm_code code = ports_start_net(ports, error);
    for (uint32_t i = 0; code == RM_OK && i < ports->count; ++i) {
        ports->port[i].counters = rm_owner_memory(owner, ports->counters_index[i]);
        code = port_open(ports, i, error);
    }
    return code;
}

enum rm_code rm_camera_ports_start(struct rm_camera_ports *ports, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < ports->count; ++i)
        code = rm_camera_port_start(&ports->port[i], error);
    return code;
}

void rm_camera_ports_watch(struct rm_camera_ports *ports) {
    for (uint32_t i = 0; i < ports->count; ++i) {
        struct rm_port_statistics totals;
        rm_port_totals(ports->port[i].port, &totals);
        rm_counter_set(ports->port[i].counters, RM_PORT_KERNEL_MISSED, totals.missed);
    }
}

void rm_camera_ports_close(struct rm_camera_ports *ports) {
    for (uint32_t i = 0; i < ports->count; ++i) {
        rm_camera_port_join(&ports->port[i]);
        if (ports->port[i].port != NULL)
            rm_port_close(ports->port[i].port);
    }
    if (ports->is_net_started)
        rm_net_stop();
    free(ports->port);
    free(ports->counters_index);
    free(ports->camera);
}
