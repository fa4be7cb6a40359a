// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "fragments.h"
#include "ring_resolve.h"

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

static enum rm_code resolve_mirror(struct rm_resolve const *resolve) {
    struct rm_ring_file_mirror const *from = resolve->file->mirror;
    struct rm_ring_network *to = &resolve->config->network[1];
    if (from == NULL)
        return RM_OK;
    resolve->config->network_count = 2;
    to->flow = resolve->config->network[0].flow;
    to->mtu = resolve->config->network[0].mtu;
    enum rm_code const code = rm_resolve_port(resolve, "mirror.port", &from->port, "mirror", &to->port);
    if (code != RM_OK)
        return code;
    struct destination const where = {"mirror.destination",  from->destination, "mirror.destination_mac",
                                      from->destination_mac, "mirror.vlan",     from->vlan};
    return resolve_destination(resolve, &where, &to->flow);
}

enum rm_code rm_resolve_networks(struct rm_resolve const *resolve) {
    struct rm_ring_network *first = &resolve->config->network[0];
    bool const instruments = resolve->file->instruments_count != 0;
    if (resolve->file->port == NULL)
        return instruments ? rm_yaml_fail(resolve->error, resolve->path, "port",
                                          "the key is missing, expected the port that datagrams leave by")
                           : RM_OK;
    enum rm_code code = rm_resolve_port(resolve, "port", resolve->file->port, "ring", &first->port);
    if (!instruments)
        return code;
    resolve->config->network_count = 1;
    if (code == RM_OK)
        code = resolve_flow(resolve, &first->flow);
    if (code == RM_OK)
        code = resolve_mtu(resolve, &first->mtu);
    return code == RM_OK ? resolve_mirror(resolve) : code;
}
