// SPDX-License-Identifier: Apache-2.0
/** DPDK's way: a port of src/net/port.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "link_way.h"

enum { TAG_BYTES = RM_ETHERNET_BYTES + RM_VLAN_BYTES };

struct port_link {
    struct rm_link link;
    struct rm_port *port;
};

static struct rm_port *port_of(struct rm_link *link) { return ((struct port_link *)link)->port; }

static uint32_t port_receive(struct rm_link *link, struct rm_burst *frames, uint64_t wait_ns) {
    (void)wait_ns;
    return rm_port_receive(port_of(link), 0, frames);
}

static void port_release(struct rm_link *link, struct rm_burst *frames) {
    if (frames->count != 0)
        rm_port_release(port_of(link), 0, frames);
}

static uint32_t port_reserve(struct rm_link *link, struct rm_burst *frames, uint32_t count) {
    return rm_port_reserve(port_of(link), 0, frames, count);
}

static uint32_t port_send(struct rm_link *link, struct rm_burst *frames) {
    return rm_port_send(port_of(link), 0, frames);
}

static void port_totals(struct rm_link *link, struct rm_link_statistics *totals) {
    struct rm_port_statistics of_port;
    rm_port_totals(port_of(link), &of_port);
    totals->missed = of_port.missed + of_port.errors;
    totals->unsent = of_port.unsent;
}

static enum rm_code port_check(struct rm_link *link, struct rm_error *error) {
    struct rm_port_statistics totals;
    rm_port_totals(port_of(link), &totals);
    if (totals.link_up)
        return RM_OK;
    if (link->config.kind == RM_LINK_MEMIF)
        return rm_fail(error, RM_E_ABSENT, "link %s has no peer: start the %s on this socket", link->config.text,
                       link->config.server ? "client" : "server");
    return rm_fail(error, RM_E_SYSTEM,
                   "link %s is down: the interface is gone, switched off, or its cable is out; "
                   "`ip link` shows it",
                   link->config.text);
}

static void port_close(struct rm_link *link) { rm_port_close(port_of(link)); }

static struct rm_link_ops const port_ops = {.ethernet = true,
                                            .receive = port_receive,
                                            .release = port_release,
                                            .reserve = port_reserve,
                                            .send = port_send,
                                            .totals = port_totals,
                                            .check = port_check,
                                            .close = port_close};

bool rm_link_port_config(struct rm_link_config const *config, struct rm_port_config *port) {
    static enum rm_port_kind const kinds[] = {[RM_LINK_MEMIF] = RM_PORT_MEMIF,
                                              [RM_LINK_AF_PACKET] = RM_PORT_AF_PACKET,
                                              [RM_LINK_AF_XDP] = RM_PORT_AF_XDP,
                                              [RM_LINK_PCI] = RM_PORT_PCI};
    if (config->kind == RM_LINK_RAW || config->kind == RM_LINK_UDP)
        return false;
    *port = (struct rm_port_config){.name = "wire",
                                    .kind = kinds[config->kind],
                                    .memif_server = config->server,
                                    .queues = 1,
                                    .longest_frame = config->mtu + TAG_BYTES,
                                    .claim_count = 1,
                                    .claim = {config->udp_port}};
    snprintf(port->socket_path, sizeof port->socket_path, "%s", config->where);
    snprintf(port->interface, sizeof port->interface, "%.*s", RM_PORT_NAME_BYTES - 1, config->where);
    memcpy(port->device, port->interface, sizeof port->device);
    return true;
}

/** DPDK's own words do not say it. */
static char const *link_port_advice(struct rm_link_config const *config) {
    return config->kind != RM_LINK_MEMIF && geteuid() != 0
               ? "; an interface needs CAP_NET_RAW, CAP_NET_ADMIN and, for af_xdp, CAP_BPF: run as root"
               : "";
}

enum rm_code rm_link_port_open(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error) {
    struct rm_port_config port;
    (void)rm_link_port_config(config, &port);
    struct rm_link *const made = rm_link_new(sizeof(struct port_link), &port_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    struct rm_error why;
    enum rm_code const code = rm_port_open(&port, &((struct port_link *)made)->port, &why);
    if (code != RM_OK) {
        free(made);
        return rm_fail(error, code, "link %s: %s%s", config->text, why.text, link_port_advice(config));
    }
    (void)rm_port_mac(port_of(made), made->flow.source_mac);
    if (config->kind == RM_LINK_AF_PACKET || config->kind == RM_LINK_AF_XDP)
        rm_link_ask_hardware_stamps(made, config->where);
    *link = made;
    return RM_OK;
}
