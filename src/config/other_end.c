// SPDX-License-Identifier: Apache-2.0
#include "config/other_end.h"

#include <string.h>

#include "wire/address.h"

/** The kind of port at the other end of one of kind `port`. */
static bool opposite_kind(enum rm_port_kind port, enum rm_port_kind *kind) {
    *kind = port == RM_PORT_VHOST ? RM_PORT_VIRTIO_USER : port == RM_PORT_VIRTIO_USER ? RM_PORT_VHOST : port;
    return port != RM_PORT_PCAP && port != RM_PORT_RING && port != RM_PORT_NULL;
}

bool rm_config_other_end(struct rm_config_port const *port, enum rm_port_kind const *kind, struct rm_port_config *end) {
    struct rm_port_config const *const server = &port->port;
    bool const has_end = opposite_kind(server->kind, &end->kind);
    if (kind != NULL)
        end->kind = *kind;
    else if (!has_end)
        return false;
    end->queues = 1;
    strcpy(end->name, server->name);
    end->memif_server = !server->memif_server;
    end->peer_ipv4 = server->bind_ipv4;
    end->peer_port = server->bind_port;
    if (end->kind == RM_PORT_MEMIF || end->kind == RM_PORT_VIRTIO_USER || end->kind == RM_PORT_VHOST)
        strcpy(end->socket_path, server->socket_path);
    return true;
}

void rm_config_other_end_flow(struct rm_config_port const *port, struct rm_flow *flow) {
    flow->source_port = flow->destination_port = port->udp_port;
    if (port->port.group_count != 0)
        flow->destination_ipv4 = port->port.group[0];
    else if (port->answer_ipv4 != 0)
        flow->destination_ipv4 = port->answer_ipv4;
    rm_multicast_mac(flow->destination_ipv4, flow->destination_mac);
    if (port->vlan != RM_CONFIG_ANY_VLAN)
        flow->vlan = port->vlan;
}
