// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "fragments.h"
#include "ring_resolve.h"
#include "wire/address.h"

enum { DEFAULT_MTU = 1500, VLAN_MOST = 4094 };

/** A key of a port, the kinds that cannot do without it, and what it is. */
struct port_key {
    char const *key;
    char const *given;
    unsigned kinds;
    char const *meant;
};

static unsigned bit(enum rm_port_kind kind) { return 1u << kind; }

static enum rm_code check_port_key(struct rm_resolve const *resolve, char const *place, enum rm_port_kind kind,
                                   struct port_key const *key) {
    bool const wanted = (key->kinds & bit(kind)) != 0;
    if ((key->given != NULL) == wanted)
        return RM_OK;
    if (wanted)
        return rm_yaml_fail(resolve->error, resolve->path, place, "the key \"%s\" is missing, expected %s", key->key,
                            key->meant);
    char full[32];
    snprintf(full, sizeof full, "%s.%s", place, key->key);
    return rm_yaml_fail(resolve->error, resolve->path, full, "a port of this kind has no such key, take it out");
}

static enum rm_code check_port(struct rm_resolve const *resolve, char const *place,
                               struct rm_ring_file_port const *from) {
    struct port_key const keys[] = {
        {"socket", from->socket, bit(RM_PORT_MEMIF) | bit(RM_PORT_VIRTIO_USER) | bit(RM_PORT_VHOST),
         "the path of the control socket, such as /run/ringmaster/demo.sock"},
        {"interface", from->interface, bit(RM_PORT_AF_PACKET) | bit(RM_PORT_AF_XDP) | bit(RM_PORT_TAP),
         "the kernel's name of the interface, such as veth0"},
        {"peer", from->peer, bit(RM_PORT_UDP), "the receiver's address and UDP port, such as 127.0.0.1:4660"},
        {"device", from->device, bit(RM_PORT_PCI), "the card's PCI address, such as 0000:03:00.0"},
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k) {
        enum rm_code const code = check_port_key(resolve, place, from->kind, &keys[k]);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

static void copy(char *to, size_t bytes, char const *from) { snprintf(to, bytes, "%s", from == NULL ? "" : from); }

enum rm_code rm_resolve_port(struct rm_resolve const *resolve, char const *place, struct rm_ring_file_port const *from,
                             char const *name, struct rm_port_config *to) {
    enum rm_code const code = check_port(resolve, place, from);
    if (code != RM_OK)
        return code;
    char full[32];
    snprintf(full, sizeof full, "%s.role", place);
    if (from->role != NULL && from->kind != RM_PORT_MEMIF)
        return rm_yaml_fail(resolve->error, resolve->path, full, "only a memif has a role, take it out");
    snprintf(full, sizeof full, "%s.peer", place);
    if (from->peer != NULL && !rm_endpoint_parse(from->peer, &to->peer_ipv4, &to->peer_port))
        return rm_yaml_fail(resolve->error, resolve->path, full,
                            "found \"%s\", expected an address and a UDP port such as 127.0.0.1:4660", from->peer);
    to->kind = from->kind;
    to->memif_server = from->role != NULL && *from->role == RM_MEMIF_SERVER;
    to->queues = 1;
    copy(to->name, sizeof to->name, from->name == NULL ? name : from->name);
    copy(to->socket_path, sizeof to->socket_path, from->socket);
    copy(to->interface, sizeof to->interface, from->interface);
    copy(to->device, sizeof to->device, from->device);
    return RM_OK;
}

static enum rm_code resolve_mac(struct rm_resolve const *resolve, char const *key, char const *text, uint8_t mac[6]) {
    if (text == NULL || rm_mac_parse(text, mac))
        return RM_OK;
    return rm_yaml_fail(resolve->error, resolve->path, key, "found \"%s\", expected a MAC such as 02:00:0a:14:ff:01",
                        text);
}

/** The keys of where to that a ring and its mirror both have. */
struct destination {
    char const *address_key, *address, *mac_key, *mac, *vlan_key;
    uint16_t const *vlan;
};

static enum rm_code resolve_destination(struct rm_resolve const *resolve, struct destination const *from,
                                        struct rm_flow *flow) {
    if (from->address != NULL && !rm_ipv4_parse(from->address, &flow->destination_ipv4))
        return rm_yaml_fail(resolve->error, resolve->path, from->address_key,
                            "found \"%s\", expected an IPv4 address such as 10.20.255.1", from->address);
    if (from->address != NULL)
        rm_multicast_mac(flow->destination_ipv4, flow->destination_mac);
    if (from->vlan != NULL && (*from->vlan == 0 || *from->vlan > VLAN_MOST))
        return rm_yaml_fail(resolve->error, resolve->path, from->vlan_key, "found %u, expected 1 to %u", *from->vlan,
                            VLAN_MOST);
    if (from->vlan != NULL)
        flow->vlan = *from->vlan;
    return resolve_mac(resolve, from->mac_key, from->mac, flow->destination_mac);
}

static enum rm_code resolve_flow(struct rm_resolve const *resolve, struct rm_flow *flow) {
    struct rm_ring_file const *file = resolve->file;
    rm_ring_flow_default(flow);
    if (file->udp_port != NULL && *file->udp_port == 0)
        return rm_yaml_fail(resolve->error, resolve->path, "udp_port", "found 0, expected 1 to 65535");
    if (file->udp_port != NULL)
        flow->source_port = flow->destination_port = *file->udp_port;
    struct destination const to = {"destination", file->destination, "destination_mac", file->destination_mac,
                                   "vlan",        file->vlan};
    enum rm_code const code = resolve_destination(resolve, &to, flow);
    return code != RM_OK ? code : resolve_mac(resolve, "source_mac", file->source_mac, flow->source_mac);
}

static enum rm_code resolve_mtu(struct rm_resolve const *resolve, uint32_t *mtu) {
    uint32_t const *given = resolve->file->mtu;
    *mtu = given == NULL ? DEFAULT_MTU : *given;
    if (*mtu < RM_MTU_LEAST || *mtu > RM_MTU_MOST)
        return rm_yaml_fail(resolve->error, resolve->path, "mtu", "found %u, expected %d to %d", *mtu, RM_MTU_LEAST,
                            RM_MTU_MOST);
    return RM_OK;
}

/** A port of the file's list, or the mirror's: `place` is its key, `ports[1].`, `at` that of the port itself. */
static enum rm_code resolve_outlet(struct rm_resolve const *resolve, char const *place, char const *at,
                                   struct rm_ring_file_outlet const *from, struct rm_ring_port *to) {
    char keys[3][40];
    char const *const names[3] = {"destination", "destination_mac", "vlan"};
    for (int k = 0; k < 3; ++k)
        snprintf(keys[k], sizeof keys[k], "%s.%s", place, names[k]);
    struct destination const where = {keys[0], from->destination, keys[1], from->destination_mac, keys[2], from->vlan};
    enum rm_code const code = rm_resolve_port(resolve, at, &from->port, place, &to->port);
    return code == RM_OK ? resolve_destination(resolve, &where, &to->flow) : code;
}

/** A further port, that does as the ring does if its keys say nothing else. */
static struct rm_ring_port *add_port(struct rm_resolve const *resolve, struct rm_ring_port const *ring) {
    struct rm_ring_port *port = &resolve->config->ports[resolve->config->port_count++];
    *port = *ring;
    return port;
}

static enum rm_code resolve_mirror(struct rm_resolve const *resolve, struct rm_ring_port const *ring) {
    struct rm_ring_file_outlet const *from = resolve->file->mirror;
    if (from == NULL)
        return RM_OK;
    resolve->config->network_count = 2;
    resolve->config->mirror_port = resolve->config->port_count;
    return resolve_outlet(resolve, "mirror", "mirror.port", from, add_port(resolve, ring));
}

static enum rm_code check_port_name(struct rm_resolve const *resolve, uint32_t index) {
    struct rm_ring_file_outlet const *ports = resolve->file->ports;
    char const *name = ports[index].port.name;
    if (name == NULL)
        return rm_resolve_fail(resolve, "ports", index, NULL,
                               "the key \"name\" is missing, expected the name that instruments and chains call it by");
    if (!rm_virtual_name_is_good(name))
        return rm_resolve_fail(resolve, "ports", index, "name", "found \"%s\", expected a name of a-z, 0-9, _ and -",
                               name);
    for (uint32_t p = 0; p < index; ++p)
        if (strcmp(ports[p].port.name, name) == 0)
            return rm_resolve_fail(resolve, "ports", index, "name",
                                   "\"%s\" is already the name of ports[%u], expected one of its own", name, p);
    return RM_OK;
}

static enum rm_code resolve_list(struct rm_resolve const *resolve, struct rm_ring_port const *ring) {
    enum rm_code code = RM_OK;
    for (uint32_t p = 0; p < resolve->file->ports_count && code == RM_OK; ++p) {
        char place[24];
        snprintf(place, sizeof place, "ports[%u]", p);
        code = check_port_name(resolve, p);
        if (code == RM_OK)
            code = resolve_outlet(resolve, place, place, &resolve->file->ports[p], add_port(resolve, ring));
    }
    return code;
}

/** The keys `port` and `ports`: one of them, or neither where there are only supplies. */
static enum rm_code check_keys(struct rm_resolve const *resolve) {
    struct rm_ring_file const *file = resolve->file;
    if (file->port != NULL && file->ports_count != 0)
        return rm_yaml_fail(resolve->error, resolve->path, "ports",
                            "found beside \"port\", expected one of them: a ring has one port, or a list");
    if (file->port == NULL && file->ports_count == 0 && file->instruments_count != 0)
        return rm_yaml_fail(resolve->error, resolve->path, "port",
                            "the key is missing, expected the port that datagrams leave by, or \"ports\"");
    return RM_OK;
}

enum rm_code rm_resolve_ports(struct rm_resolve const *resolve) {
    struct rm_ring_file_port const *one = resolve->file->port;
    struct rm_ring_port ring = {0};
    enum rm_code code = check_keys(resolve);
    if (code == RM_OK)
        code = resolve_flow(resolve, &ring.flow);
    if (code == RM_OK)
        code = resolve_mtu(resolve, &ring.mtu);
    if (code == RM_OK)
        code = one == NULL ? resolve_list(resolve, &ring)
                           : rm_resolve_port(resolve, "port", one, "ring", &add_port(resolve, &ring)->port);
    if (code != RM_OK || resolve->file->instruments_count == 0)
        return code;
    resolve->config->network_count = 1;
    return resolve_mirror(resolve, &ring);
}

enum rm_code rm_resolve_port_name(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *name,
                                  uint32_t *port) {
    struct rm_nearest nearest = {.wanted = name};
    *port = 0;
    if (name == NULL)
        return RM_OK;
    if (resolve->file->ports_count == 0)
        return rm_resolve_fail(resolve, list, index, "port",
                               "the ring has no list \"ports\" to choose from, take it out");
    for (; *port < resolve->file->ports_count; ++*port) {
        if (strcmp(resolve->file->ports[*port].port.name, name) == 0)
            return RM_OK;
        rm_nearest_offer(&nearest, resolve->file->ports[*port].port.name);
    }
    return rm_resolve_fail(resolve, list, index, "port",
                           "found \"%s\", expected the name of an entry of \"ports\"%s%s%s", name,
                           nearest.name == NULL ? "" : " (did you mean \"", nearest.name == NULL ? "" : nearest.name,
                           nearest.name == NULL ? "" : "\"?)");
}

static bool has_chains(struct rm_ring_supplies const *supplies, uint32_t port) {
    for (uint32_t c = 0; c < supplies->chain_count; ++c)
        if (supplies->chains[c].port == port)
            return true;
    return false;
}

enum rm_code rm_resolve_ports_used(struct rm_resolve const *resolve) {
    struct rm_ring_config const *config = resolve->config;
    for (uint32_t p = 0; p < resolve->file->ports_count; ++p)
        if (!rm_ring_sends_through(config, p) && !has_chains(&config->supplies, p))
            return rm_resolve_fail(resolve, "ports", p, NULL,
                                   "no instrument and no chain uses \"%s\", write `port: %s` where one should",
                                   config->ports[p].port.name, config->ports[p].port.name);
    return RM_OK;
}
