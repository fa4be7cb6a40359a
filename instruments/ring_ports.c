// SPDX-License-Identifier: Apache-2.0
/** The other ends of the server's ports. Of a socket, an address or a memif they follow from the server's own; the
 * interface at the other end of a veth or of a card's cable only the overlay can name. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "config/other_end.h"
#include "config/resolve.h"
#include "fragments.h"
#include "ring_resolve.h"
#include "wire/address.h"

enum { VLAN_MOST = 4094 };

/** One port while it is resolved. */
struct outlet {
    struct rm_resolve *resolve;
    uint32_t index; /**< of the configuration's */
    struct rm_config_port const *server;
    struct rm_ring_file_port const *file; /**< what the overlay says; NULL: nothing */
    uint32_t entry;                       /**< of the overlay's `ports` */
    struct rm_ring_port *to;
};

static unsigned port_kind_bit(enum rm_port_kind kind) { return 1u << kind; }

/** An error at the port's entry of the overlay; where that has none, of the configuration. */
static enum rm_code fail_outlet(struct outlet const *outlet, char const *key, char const *text) {
    struct rm_resolve const *resolve = outlet->resolve;
    if (outlet->file != NULL)
        return rm_resolve_fail(resolve, "ports", outlet->entry, key, "%s", text);
    struct rm_error error;
    enum rm_code const code =
        rm_config_fail_entry(resolve->machine, &error, "ports", outlet->index, NULL,
                             "the virtual ring is its other end: %s, in an overlay: ports: [{name: %s, …}]", text,
                             outlet->server->port.name);
    rm_errors_add(resolve->errors, &error);
    return code;
}

static enum rm_code derive_outlet(struct outlet const *outlet) {
    enum rm_port_kind const *const kind = outlet->file == NULL ? NULL : outlet->file->kind;
    if (rm_config_other_end(outlet->server, kind, &outlet->to->port))
        return RM_OK;
    return fail_outlet(
        outlet, "kind",
        "nothing can be at the other end of a port of this kind, expected the key \"kind\" with the port "
        "to send through");
}

/** A key that the overlay may write, the kinds of port that have it, and what it is. */
struct port_key {
    char const *key;
    bool given;
    unsigned kinds;
};

static enum rm_code check_outlet_keys(struct outlet const *outlet) {
    struct rm_ring_file_port const *file = outlet->file;
    struct port_key const keys[] = {
        {"socket", file->socket != NULL,
         port_kind_bit(RM_PORT_MEMIF) | port_kind_bit(RM_PORT_VIRTIO_USER) | port_kind_bit(RM_PORT_VHOST)},
        {"role", file->role != NULL, port_kind_bit(RM_PORT_MEMIF)},
        {"interface", file->interface != NULL,
         port_kind_bit(RM_PORT_AF_PACKET) | port_kind_bit(RM_PORT_AF_XDP) | port_kind_bit(RM_PORT_TAP)},
        {"peer", file->peer != NULL, port_kind_bit(RM_PORT_UDP)},
        {"device", file->device != NULL, port_kind_bit(RM_PORT_PCI)},
    };
    enum rm_code code = RM_OK;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k)
        if (keys[k].given && (keys[k].kinds & port_kind_bit(outlet->to->port.kind)) == 0)
            code = fail_outlet(outlet, keys[k].key, "a port of this kind has no such key, take it out");
    return code;
}

static void copy_port_text(char *to, size_t bytes, char const *from) {
    if (from != NULL)
        snprintf(to, bytes, "%s", from);
}

/** What the overlay says of the port itself. */
static enum rm_code take_port(struct outlet const *outlet) {
    struct rm_ring_file_port const *file = outlet->file;
    struct rm_port_config *to = &outlet->to->port;
    if (file == NULL)
        return RM_OK;
    enum rm_code const code = check_outlet_keys(outlet);
    if (code != RM_OK)
        return code;
    if (file->role != NULL)
        to->memif_server = *file->role == RM_MEMIF_SERVER;
    copy_port_text(to->socket_path, sizeof to->socket_path, file->socket);
    copy_port_text(to->interface, sizeof to->interface, file->interface);
    copy_port_text(to->device, sizeof to->device, file->device);
    if (file->peer != NULL && !rm_endpoint_parse(file->peer, &to->peer_ipv4, &to->peer_port))
        return rm_resolve_fail(outlet->resolve, "ports", outlet->entry, "peer",
                               "found \"%s\", expected an address and a UDP port such as 127.0.0.1:4660", file->peer);
    return RM_OK;
}

/** Nothing that its kind needs is missing. */
static enum rm_code check_complete(struct outlet const *outlet) {
    struct rm_port_config const *to = &outlet->to->port;
    unsigned const kind = port_kind_bit(to->kind);
    if ((kind & (port_kind_bit(RM_PORT_AF_PACKET) | port_kind_bit(RM_PORT_AF_XDP) | port_kind_bit(RM_PORT_TAP))) != 0 &&
        to->interface[0] == '\0')
        return fail_outlet(outlet, NULL,
                           "the key \"interface\" is missing, expected the kernel's name of the interface at "
                           "this end of the link, such as veth1");
    if ((kind & port_kind_bit(RM_PORT_PCI)) != 0 && to->device[0] == '\0')
        return fail_outlet(outlet, NULL,
                           "the key \"device\" is missing, expected the PCI address of the card at this end of "
                           "the cable, such as 0000:03:00.0");
    if ((kind & (port_kind_bit(RM_PORT_MEMIF) | port_kind_bit(RM_PORT_VIRTIO_USER) | port_kind_bit(RM_PORT_VHOST))) !=
            0 &&
        to->socket_path[0] == '\0')
        return fail_outlet(outlet, NULL, "the key \"socket\" is missing, expected the path of the control socket");
    if ((kind & port_kind_bit(RM_PORT_UDP)) != 0 && to->peer_port == 0)
        return fail_outlet(outlet, NULL,
                           "the key \"peer\" is missing, expected the receiver's address and UDP port, such as "
                           "127.0.0.1:4660");
    return RM_OK;
}

static enum rm_code take_flow(struct outlet const *outlet) {
    struct rm_ring_file_port const *file = outlet->file;
    struct rm_flow *flow = &outlet->to->flow;
    enum rm_code code = RM_OK;
    rm_ring_flow_default(flow);
    rm_config_other_end_flow(outlet->server, flow);
    if (file == NULL)
        return RM_OK;
    if (file->destination != NULL && !rm_ipv4_parse(file->destination, &flow->destination_ipv4))
        code = rm_resolve_fail(outlet->resolve, "ports", outlet->entry, "destination",
                               "found \"%s\", expected an IPv4 address such as 10.20.255.1", file->destination);
    if (file->destination != NULL)
        rm_multicast_mac(flow->destination_ipv4, flow->destination_mac);
    if (file->vlan != NULL && (*file->vlan == 0 || *file->vlan > VLAN_MOST))
        code = rm_resolve_fail(outlet->resolve, "ports", outlet->entry, "vlan", "found %u, expected 1 to %u",
                               *file->vlan, VLAN_MOST);
    if (file->vlan != NULL)
        flow->vlan = *file->vlan;
    if (file->destination_mac != NULL && !rm_mac_parse(file->destination_mac, flow->destination_mac))
        code = rm_resolve_fail(outlet->resolve, "ports", outlet->entry, "destination_mac",
                               "found \"%s\", expected a MAC such as 02:00:0a:14:ff:01", file->destination_mac);
    return code;
}

/** The keys that all ports have in common. */
enum rm_code rm_resolve_frames(struct rm_resolve *resolve) {
    struct rm_ring_file const *file = resolve->file;
    uint8_t mac[6];
    enum rm_code code = RM_OK;
    if (*file->mtu < RM_MTU_LEAST || *file->mtu > RM_MTU_MOST)
        code = rm_resolve_fail_at(resolve, "mtu", "found %u, expected %d to %d", *file->mtu, RM_MTU_LEAST, RM_MTU_MOST);
    if (file->source_mac != NULL && !rm_mac_parse(file->source_mac, mac))
        code = rm_resolve_fail_at(resolve, "source_mac", "found \"%s\", expected a MAC such as 02:00:0a:14:ff:01",
                                  file->source_mac);
    return code;
}

static void take_common(struct outlet const *outlet) {
    struct rm_ring_file const *file = outlet->resolve->file;
    outlet->to->mtu = *file->mtu;
    if (file->source_mac != NULL)
        rm_mac_parse(file->source_mac, outlet->to->flow.source_mac);
}

static void find_entry(struct outlet *outlet) {
    struct rm_ring_file const *file = outlet->resolve->file;
    for (uint32_t p = 0; p < file->ports_count; ++p)
        if (strcmp(file->ports[p].name, outlet->server->port.name) == 0) {
            outlet->file = &file->ports[p];
            outlet->entry = p;
        }
}

static enum rm_code add_port(struct rm_resolve *resolve, uint32_t index) {
    struct outlet outlet = {
        .resolve = resolve,
        .index = index,
        .server = &resolve->machine->port[index],
        .to = &resolve->config->ports[resolve->config->port_count],
    };
    find_entry(&outlet);
    enum rm_code code = derive_outlet(&outlet);
    if (code == RM_OK)
        code = take_port(&outlet);
    if (code == RM_OK)
        code = check_complete(&outlet);
    code = rm_code_first(code, take_flow(&outlet));
    take_common(&outlet);
    resolve->ring_port[index] = resolve->config->port_count++;
    return code;
}

static char const EXPECTED[] = "expected the name of a port of";

/** An entry of the overlay is of one port of the configuration. */
static enum rm_code check_name(struct rm_resolve const *resolve, uint32_t entry) {
    char const *name = resolve->file->ports[entry].name;
    char guess[64];
    if (rm_config_find_port(resolve->machine, name, strlen(name)) == resolve->machine->port_count)
        return rm_resolve_fail(resolve, "ports", entry, "name", "found \"%s\", %s %s%s", name, EXPECTED,
                               resolve->machine->source_path,
                               rm_config_guess_port(resolve->machine, name, guess, sizeof guess));
    for (uint32_t earlier = 0; earlier < entry; ++earlier)
        if (strcmp(resolve->file->ports[earlier].name, name) == 0)
            return rm_resolve_fail(resolve, "ports", entry, "name", "ports[%u] is of \"%s\" already", earlier, name);
    return RM_OK;
}

static enum rm_code check_names(struct rm_resolve const *resolve) {
    enum rm_code code = RM_OK;
    for (uint32_t p = 0; p < resolve->file->ports_count; ++p)
        code = rm_code_first(code, check_name(resolve, p));
    return code;
}

/** Which ports the command line wants: all, or those of a list. */
static enum rm_code find_wanted(struct rm_resolve const *resolve, bool wanted[RM_CONFIG_PORTS_MAX]) {
    char const *text = resolve->ports_wanted;
    memset(wanted, text == NULL, RM_CONFIG_PORTS_MAX * sizeof *wanted);
    while (text != NULL && *text != '\0') {
        size_t const bytes = strcspn(text, ",");
        char name[RM_PORT_NAME_BYTES], guess[64];
        snprintf(name, sizeof name, "%.*s", (int)bytes, text);
        uint32_t const port = rm_config_find_port(resolve->machine, text, bytes);
        if (port == resolve->machine->port_count)
            return rm_resolve_fail_plain(
                resolve, RM_E_ARGUMENT, "--ports: found \"%s\", %s %s%s; several have commas between", name, EXPECTED,
                resolve->machine->source_path, rm_config_guess_port(resolve->machine, name, guess, sizeof guess));
        wanted[port] = true;
        text += bytes + (text[bytes] == ',');
    }
    return RM_OK;
}

/** Whether anything virtual is there: a port without is of other senders. */
static bool is_used(struct rm_config const *machine, uint32_t port) {
    for (uint32_t i = 0; i < machine->instrument_count; ++i)
        if (machine->instrument[i].port == port ||
            (machine->instrument[i].mirror.present && machine->instrument[i].mirror.port == port))
            return true;
    for (uint32_t c = 0; c < machine->chain_count; ++c)
        if (machine->chain[c].port == port)
            return true;
    return false;
}

/** Where an entry is of no port, a port may lack it: then none is judged. */
static enum rm_code add_ports(struct rm_resolve *resolve) {
    bool wanted[RM_CONFIG_PORTS_MAX];
    enum rm_code code = check_names(resolve);
    code = rm_code_first(code, find_wanted(resolve, wanted));
    if (code != RM_OK)
        return code;
    for (uint32_t p = 0; p < resolve->machine->port_count; ++p)
        if (wanted[p] && is_used(resolve->machine, p))
            code = rm_code_first(code, add_port(resolve, p));
    if (resolve->config->port_count != 0)
        return code;
    return rm_resolve_fail_plain(
        resolve, RM_E_ARGUMENT, "--ports: no instrument and no chain of %s uses \"%s\", so there is nothing to send",
        resolve->machine->source_path, resolve->ports_wanted == NULL ? "" : resolve->ports_wanted);
}

enum rm_code rm_resolve_ports(struct rm_resolve *resolve) {
    for (uint32_t p = 0; p < RM_CONFIG_PORTS_MAX; ++p)
        resolve->ring_port[p] = RM_RING_NO_PORT;
    return add_ports(resolve);
}
