// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"
#include "config/resolve.h"
#include "wire/address.h"

#include <string.h>

enum {
    MEMIF = 1 << RM_PORT_MEMIF,
    AF_PACKET = 1 << RM_PORT_AF_PACKET,
    UDP = 1 << RM_PORT_UDP,
    AF_XDP = 1 << RM_PORT_AF_XDP,
    PCAP = 1 << RM_PORT_PCAP,
    RING = 1 << RM_PORT_RING,
    NONE = 1 << RM_PORT_NULL,
    TAP = 1 << RM_PORT_TAP,
    VIRTIO_USER = 1 << RM_PORT_VIRTIO_USER,
    VHOST = 1 << RM_PORT_VHOST,
    PCI = 1 << RM_PORT_PCI,
    LINKS = MEMIF | TAP | VIRTIO_USER | VHOST | PCI, /* a peer at the other end, and no kernel's interface at this */
    FRAMES = LINKS | AF_PACKET | AF_XDP | PCAP | RING | NONE,
    ALL = FRAMES | UDP,
};

enum { LONGEST_FRAME_LEAST = 64, VLAN_LAST = 4094 };

/* A key that only some kinds of port have. */
struct kind_key {
    char const *key;
    bool given;
    unsigned kinds;    /* that may have it */
    unsigned needed;   /* kinds that cannot do without */
    char const *meant; /* for a file without the key */
};

/* Every key that was given belongs to the port's kind, and none that the kind needs is missing. */
static enum rm_code check_port_keys(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                    struct rm_file_port const *port) {
    unsigned const sockets = MEMIF | VIRTIO_USER | VHOST;
    unsigned const interfaces = AF_PACKET | AF_XDP | TAP;
    struct kind_key const keys[] = {
        {"socket", port->socket != NULL, sockets, sockets,
         "path of its control socket, such as /run/ringmaster/demo.sock"},
        {"role", port->role != NULL, MEMIF, 0, NULL},
        {"interface", port->interface != NULL, interfaces, interfaces, "kernel's name of the interface, such as veth0"},
        {"address", port->address != NULL, UDP, UDP, "address and UDP port to listen on, such as 127.0.0.1:4660"},
        {"udp_port", port->udp_port != NULL, FRAMES, 0, NULL},
        {"queues", port->queues != NULL, FRAMES, 0, NULL},
        {"file", port->file != NULL, PCAP, PCAP, "path of the capture, such as /data/ring.pcap"},
        {"device", port->device != NULL, PCI, PCI, "card's PCI address, such as 0000:03:00.0"},
        {"spread", port->spread != NULL, FRAMES, 0, NULL},
        {"longest_frame", port->longest_frame != NULL, ALL, 0, NULL},
        {"vlan", port->vlan != NULL, FRAMES, 0, NULL},
        {"local_senders", port->local_senders != NULL, AF_PACKET | AF_XDP, 0, NULL},
        {"multicast", port->multicast != NULL, LINKS | AF_PACKET | AF_XDP | UDP, 0, NULL},
        {"answer", port->answer != NULL, LINKS | AF_PACKET | AF_XDP | RING | NONE, 0, NULL},
        {"kernel_interface", port->kernel_interface != NULL, LINKS | AF_PACKET, 0, NULL},
    };
    unsigned const kind = 1u << port->kind;
    char const *const kind_name = rm_config_port_kind_name(port->kind);
    enum rm_code code = RM_OK;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct kind_key const *const key = &keys[i];
        if (key->given && (key->kinds & kind) == 0)
            code = rm_config_fail_entry(config, error, "ports", index, key->key,
                                        "a port of kind %s has no such key, take it out", kind_name);
        if (!key->given && (key->needed & kind) != 0)
            code = rm_config_fail_entry(config, error, "ports", index, NULL,
                                        "the key \"%s\" is missing, expected the %s", key->key, key->meant);
    }
    return code;
}

static enum rm_code resolve_port_name(struct rm_config *config, struct rm_error *error, uint32_t index,
                                      char const *name) {
    if (!rm_config_name_is_good(name))
        return rm_config_fail_entry(config, error, "ports", index, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, name);
    uint32_t const other = rm_config_find_port(config, name, strlen(name));
    if (other != config->port_count)
        return rm_config_fail_entry(config, error, "ports", index, "name",
                                    "\"%s\" is already the name of ports[%u], expected one of its own", name, other);
    return RM_OK;
}

static enum rm_code resolve_socket(struct rm_config *config, struct rm_error *error, uint32_t index,
                                   struct rm_file_port const *port) {
    if (port->socket[0] != '/')
        return rm_config_fail_entry(config, error, "ports", index, "socket",
                                    "found \"%s\", expected a path that begins with /", port->socket);
    struct rm_port_config *const resolved = &config->port[index].port;
    strcpy(resolved->socket_path, port->socket);
    resolved->memif_server = *port->role == RM_MEMIF_SERVER;
    return RM_OK;
}

static enum rm_code resolve_address(struct rm_config *config, struct rm_error *error, uint32_t index,
                                    char const *address) {
    struct rm_port_config *const resolved = &config->port[index].port;
    if (!rm_endpoint_parse(address, &resolved->bind_ipv4, &resolved->bind_port))
        return rm_config_fail_entry(config, error, "ports", index, "address",
                                    "found \"%s\", expected an IPv4 address and a UDP port, such as 127.0.0.1:4660",
                                    address);
    config->port[index].udp_port = resolved->bind_port;
    return RM_OK;
}

static enum rm_code resolve_numbers(struct rm_config *config, struct rm_error *error, uint32_t index,
                                    struct rm_file_port const *port) {
    struct rm_config_port *const resolved = &config->port[index];
    resolved->port.queues = *port->queues;
    if (resolved->port.queues < 1 || resolved->port.queues > RM_CONFIG_QUEUES_MAX)
        return rm_config_fail_entry(config, error, "ports", index, "queues", "found %u, expected 1 to %d",
                                    resolved->port.queues, RM_CONFIG_QUEUES_MAX);
    resolved->udp_port = *port->udp_port;
    if (resolved->udp_port == 0)
        return rm_config_fail_entry(config, error, "ports", index, "udp_port", "found 0, expected 1 to %d", UINT16_MAX);
    return RM_OK;
}

static enum rm_code resolve_spread(struct rm_config *config, struct rm_error *error, uint32_t index,
                                   struct rm_file_port const *port) {
    struct rm_port_config *const resolved = &config->port[index].port;
    resolved->spread = *port->spread;
    if (resolved->spread && resolved->queues == 1)
        return rm_config_fail_entry(config, error, "ports", index, "spread",
                                    "there is one queue to spread to, expected the key \"queues\" with 2 to %d",
                                    RM_SPREAD_QUEUES_MAX);
    return RM_OK;
}

/* What the frames look like. */
static enum rm_code resolve_frames(struct rm_config *config, struct rm_error *error, uint32_t index,
                                   struct rm_file_port const *port) {
    struct rm_config_port *const resolved = &config->port[index];
    resolved->port.longest_frame = *port->longest_frame;
    if (resolved->port.longest_frame < LONGEST_FRAME_LEAST || resolved->port.longest_frame > RM_LONGEST_FRAME_MAX)
        return rm_config_fail_entry(config, error, "ports", index, "longest_frame",
                                    "found %u bytes, expected %d to %d, without FCS", resolved->port.longest_frame,
                                    LONGEST_FRAME_LEAST, RM_LONGEST_FRAME_MAX);
    resolved->local_senders = *port->local_senders;
    resolved->vlan = port->vlan == NULL ? RM_CONFIG_ANY_VLAN : *port->vlan;
    if (port->vlan != NULL && *port->vlan > VLAN_LAST)
        return rm_config_fail_entry(config, error, "ports", index, "vlan", "found %u, expected 0 to %d", *port->vlan,
                                    VLAN_LAST);
    return RM_OK;
}

static enum rm_code resolve_groups(struct rm_config *config, struct rm_error *error, uint32_t index,
                                   struct rm_file_port const *port) {
    struct rm_port_config *const resolved = &config->port[index].port;
    for (uint32_t i = 0; i < port->multicast_count; i++) {
        char member[32];
        uint32_t group = 0;
        snprintf(member, sizeof member, "multicast[%u]", i);
        if (!rm_ipv4_parse(port->multicast[i], &group) || group >> 28 != 0xE)
            return rm_config_fail_entry(config, error, "ports", index, member,
                                        "found \"%s\", expected a multicast address, 224.0.0.0 to 239.255.255.255",
                                        port->multicast[i]);
        for (uint32_t j = 0; j < i; j++)
            if (resolved->group[j] == group)
                return rm_config_fail_entry(config, error, "ports", index, member, "%s is multicast[%u] already",
                                            port->multicast[i], j);
        resolved->group[i] = group;
    }
    resolved->group_count = port->multicast_count;
    return RM_OK;
}

/* What becomes of frames that no instrument sent. */
static enum rm_code resolve_exception_path(struct rm_config *config, struct rm_error *error, uint32_t index,
                                           struct rm_file_port const *port) {
    struct rm_config_port *const resolved = &config->port[index];
    bool const may_answer = ((LINKS | AF_PACKET) & 1u << port->kind) != 0; /* else it is where setpoints come from */
    resolved->port.exception_path = (port->answer != NULL && may_answer) || port->kernel_interface != NULL;
    if (port->answer != NULL && (!rm_ipv4_parse(port->answer, &resolved->answer_ipv4) || resolved->answer_ipv4 == 0 ||
                                 resolved->answer_ipv4 >> 28 >= 0xE))
        return rm_config_fail_entry(config, error, "ports", index, "answer",
                                    "found \"%s\", expected the IPv4 address that the server shall have on this port, "
                                    "such as 10.20.0.100",
                                    port->answer);
    if (port->kernel_interface != NULL)
        strcpy(resolved->kernel_interface, port->kernel_interface);
    return RM_OK;
}

/* Two ports on one socket, interface, address, file or card would take each other's datagrams. */
static enum rm_code check_shared(struct rm_config const *config, struct rm_error *error, uint32_t index) {
    struct rm_port_config const *const port = &config->port[index].port;
    static char const *const keys[] = {[RM_PORT_MEMIF] = "socket",
                                       [RM_PORT_AF_PACKET] = "interface",
                                       [RM_PORT_UDP] = "address",
                                       [RM_PORT_AF_XDP] = "interface",
                                       [RM_PORT_PCAP] = NULL,
                                       [RM_PORT_RING] = NULL,
                                       [RM_PORT_NULL] = NULL,
                                       [RM_PORT_TAP] = "interface",
                                       [RM_PORT_VIRTIO_USER] = "socket",
                                       [RM_PORT_VHOST] = "socket",
                                       [RM_PORT_PCI] = "device"};
    for (uint32_t i = 0; i < index && keys[port->kind] != NULL; i++) {
        struct rm_port_config const *const other = &config->port[i].port;
        bool const same_address = other->bind_ipv4 == port->bind_ipv4 && other->bind_port == port->bind_port;
        if (strcmp(other->socket_path, port->socket_path) == 0 && strcmp(other->interface, port->interface) == 0 &&
            strcmp(other->device, port->device) == 0 && same_address && keys[other->kind] != NULL)
            return rm_config_fail_entry(config, error, "ports", index, keys[port->kind],
                                        "port \"%s\" (ports[%u]) already has it, expected one of its own", other->name,
                                        i);
    }
    return RM_OK;
}

/* What only some kinds have; check_keys has seen to it that they do. */
static enum rm_code resolve_place(struct rm_config *config, struct rm_error *error, uint32_t index,
                                  struct rm_file_port const *port) {
    struct rm_port_config *const resolved = &config->port[index].port;
    if (port->interface != NULL)
        strcpy(resolved->interface, port->interface);
    if (port->file != NULL)
        strcpy(resolved->file, port->file);
    if (port->device != NULL)
        strcpy(resolved->device, port->device);
    if (port->socket != NULL)
        return resolve_socket(config, error, index, port);
    return port->address != NULL ? resolve_address(config, error, index, port->address) : RM_OK;
}

typedef enum rm_code resolver(struct rm_config *config, struct rm_error *error, uint32_t index,
                              struct rm_file_port const *port);

static enum rm_code resolve_port(struct rm_config *config, struct rm_error *error, uint32_t index,
                                 struct rm_file_port *port) {
    static resolver *const resolvers[] = {resolve_numbers, resolve_place,  resolve_spread,
                                          resolve_frames,  resolve_groups, resolve_exception_path};
    enum rm_code code = resolve_port_name(config, error, index, port->name);
    strcpy(config->port[index].port.name, port->name); /* a wrong one is still what the rest of the file calls it */
    config->port[index].port.kind = port->kind;
    enum rm_code const keys = check_port_keys(config, error, index, port);
    if (keys != RM_OK)
        return keys; /* the others take what the kind needs for granted */
    if (!rm_yaml_fill(&rm_config_port_schema, port, true))
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    for (size_t i = 0; i < sizeof resolvers / sizeof resolvers[0]; i++)
        code = rm_code_first(code, resolvers[i](config, error, index, port));
    return code == RM_OK ? check_shared(config, error, index) : code;
}

enum rm_code rm_config_resolve_ports(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->ports_count; i++) {
        code = rm_code_first(code, resolve_port(config, error, i, &file->ports[i]));
        config->port_count = i + 1;
    }
    return code;
}
