// SPDX-License-Identifier: Apache-2.0
#include "engine/config_resolve.h"

#include <string.h>

static uint16_t const DEFAULT_UDP_PORT = 4660; /* 0x1234 */

enum {
    MEMIF = 1 << RM_PORT_MEMIF,
    AF_PACKET = 1 << RM_PORT_AF_PACKET,
    UDP = 1 << RM_PORT_UDP,
};

/* A key that only some kinds of port have. */
struct kind_key {
    char const *key;
    bool given;
    unsigned kinds;    /* that may have it */
    unsigned needed;   /* kinds that cannot do without */
    char const *meant; /* for who has forgotten it */
};

/* Every key that was given belongs to the port's kind, and none that the kind needs is missing. */
static enum rm_code check_keys(struct rm_config const *config, struct rm_error *error, uint32_t index,
                               struct rm_file_port const *port) {
    struct kind_key const keys[] = {
        {"socket", port->socket != NULL, MEMIF, MEMIF, "path of its control socket, such as /run/ringmaster/demo.sock"},
        {"role", port->role != NULL, MEMIF, 0, NULL},
        {"interface", port->interface != NULL, AF_PACKET, AF_PACKET, "kernel's name of the interface, such as veth0"},
        {"address", port->address != NULL, UDP, UDP, "address and UDP port to listen on, such as 127.0.0.1:4660"},
        {"udp_port", port->udp_port != NULL, MEMIF | AF_PACKET, 0, NULL},
        {"queues", port->queues != NULL, MEMIF | AF_PACKET, 0, NULL},
    };
    unsigned const kind = 1u << port->kind;
    char const *const kind_name = rm_config_port_kind_name(port->kind);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct kind_key const *const key = &keys[i];
        if (key->given && (key->kinds & kind) == 0)
            return rm_config_fail_entry(config, error, "ports", index, key->key,
                                        "a port of kind %s has no such key, take it out", kind_name);
        if (!key->given && (key->needed & kind) != 0)
            return rm_config_fail_entry(config, error, "ports", index, NULL,
                                        "the key \"%s\" is missing, expected the %s", key->key, key->meant);
    }
    return RM_OK;
}

static enum rm_code resolve_name(struct rm_config *config, struct rm_error *error, uint32_t index, char const *name) {
    if (!rm_config_name_is_good(name))
        return rm_config_fail_entry(config, error, "ports", index, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, name);
    uint32_t const other = rm_config_find_port(config, name, strlen(name));
    if (other != config->port_count)
        return rm_config_fail_entry(config, error, "ports", index, "name",
                                    "\"%s\" is already the name of ports[%u], expected one of its own", name, other);
    strcpy(config->port[index].port.name, name);
    return RM_OK;
}

static enum rm_code resolve_socket(struct rm_config *config, struct rm_error *error, uint32_t index,
                                   struct rm_file_port const *port) {
    if (port->socket[0] != '/')
        return rm_config_fail_entry(config, error, "ports", index, "socket",
                                    "found \"%s\", expected a path that begins with /", port->socket);
    struct rm_port_config *const resolved = &config->port[index].port;
    strcpy(resolved->socket_path, port->socket);
    resolved->memif_server = port->role == NULL || *port->role == RM_MEMIF_SERVER;
    return RM_OK;
}

static enum rm_code resolve_address(struct rm_config *config, struct rm_error *error, uint32_t index,
                                    char const *address) {
    char const *const colon = strrchr(address, ':');
    char host[sizeof "255.255.255.255"] = "";
    if (colon != NULL && (size_t)(colon - address) < sizeof host)
        memcpy(host, address, (size_t)(colon - address));
    struct rm_port_config *const resolved = &config->port[index].port;
    uint32_t udp_port = 0;
    if (!rm_config_read_ipv4(host, &resolved->bind_ipv4) || !rm_config_read_number(colon + 1, UINT16_MAX, &udp_port) ||
        udp_port == 0)
        return rm_config_fail_entry(config, error, "ports", index, "address",
                                    "found \"%s\", expected an IPv4 address and a UDP port, such as 127.0.0.1:4660",
                                    address);
    resolved->bind_port = (uint16_t)udp_port;
    config->port[index].udp_port = (uint16_t)udp_port;
    return RM_OK;
}

static enum rm_code resolve_numbers(struct rm_config *config, struct rm_error *error, uint32_t index,
                                    struct rm_file_port const *port) {
    struct rm_config_port *const resolved = &config->port[index];
    resolved->port.queues = port->queues == NULL ? 1 : *port->queues;
    if (resolved->port.queues < 1 || resolved->port.queues > RM_CONFIG_QUEUES_MAX)
        return rm_config_fail_entry(config, error, "ports", index, "queues", "found %u, expected 1 to %d",
                                    resolved->port.queues, RM_CONFIG_QUEUES_MAX);
    resolved->udp_port = port->udp_port == NULL ? DEFAULT_UDP_PORT : *port->udp_port;
    if (resolved->udp_port == 0)
        return rm_config_fail_entry(config, error, "ports", index, "udp_port", "found 0, expected 1 to %d", UINT16_MAX);
    return RM_OK;
}

/* Two ports on one socket, interface or address would take each other's datagrams. */
static enum rm_code check_shared(struct rm_config const *config, struct rm_error *error, uint32_t index) {
    struct rm_port_config const *const port = &config->port[index].port;
    static char const *const keys[] = {"socket", "interface", "address"};
    for (uint32_t i = 0; i < index; i++) {
        struct rm_port_config const *const other = &config->port[i].port;
        if (other->kind == port->kind && strcmp(other->socket_path, port->socket_path) == 0 &&
            strcmp(other->interface, port->interface) == 0 && other->bind_ipv4 == port->bind_ipv4 &&
            other->bind_port == port->bind_port)
            return rm_config_fail_entry(config, error, "ports", index, keys[port->kind],
                                        "port \"%s\" (ports[%u]) already has it, expected one of its own", other->name,
                                        i);
    }
    return RM_OK;
}

static enum rm_code resolve_port(struct rm_config *config, struct rm_error *error, uint32_t index,
                                 struct rm_file_port const *port) {
    enum rm_code code = resolve_name(config, error, index, port->name);
    if (code != RM_OK)
        return code;
    config->port[index].port.kind = port->kind;
    code = check_keys(config, error, index, port);
    if (code == RM_OK)
        code = resolve_numbers(config, error, index, port);
    if (code == RM_OK && port->kind == RM_PORT_MEMIF)
        code = resolve_socket(config, error, index, port);
    if (code == RM_OK && port->kind == RM_PORT_AF_PACKET)
        strcpy(config->port[index].port.interface, port->interface);
    if (code == RM_OK && port->kind == RM_PORT_UDP)
        code = resolve_address(config, error, index, port->address);
    return code == RM_OK ? check_shared(config, error, index) : code;
}

enum rm_code rm_config_resolve_ports(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error) {
    for (uint32_t i = 0; i < file->ports_count; i++) {
        enum rm_code const code = resolve_port(config, error, i, &file->ports[i]);
        if (code != RM_OK)
            return code;
        config->port_count = i + 1;
    }
    return RM_OK;
}
