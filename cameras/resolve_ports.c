// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cameras_resolve.h"
#include "config/other_end.h"
#include "config/resolve.h"
#include "faults.h"
#include "wire/address.h"

/** Ethernet header with two tags. */
enum { ETHERNET_MAX = RM_ETHERNET_BYTES + 2 * RM_VLAN_BYTES };

/** One port while it is resolved. */
struct resolving_port {
    struct rm_cameras_resolve const *resolve;
    struct rm_config_port const *machine;
    /** What the overlay says, and where; NULL: nothing. */
    struct rm_virtual_file_port const *entry;
    char place[32];
    struct rm_camera_outlet *to;
};

/** The longest frame that a camera sends there. */
static uint32_t longest_frame(struct rm_cameras_config const *config, uint32_t port) {
    uint32_t longest = RM_LONGEST_FRAME;
    for (uint32_t c = 0; c < config->camera_count; ++c) {
        struct rm_virtual_camera const *const camera = &config->camera[c];
        uint32_t frame = camera->mtu + ETHERNET_MAX;
        for (uint32_t f = 0; f < camera->fault_count; ++f)
            if (camera->fault[f].kind == RM_CAMERA_FAULT_JUMBO)
                frame = RM_JUMBO_BYTES + RM_CAMERA_HEADER_MAX + RM_CAMERA_IP_UDP_BYTES + ETHERNET_MAX;
        longest = camera->port == port && frame > longest ? frame : longest;
    }
    return longest;
}

static enum rm_code check_port(struct resolving_port const *of) {
    struct rm_port_config const *const port = &of->to->port;
    bool const at_interface =
        port->kind == RM_PORT_AF_PACKET || port->kind == RM_PORT_AF_XDP || port->kind == RM_PORT_RAW;
    if (at_interface && port->interface[0] == '\0')
        return rm_cameras_fail(of->resolve, of->place, "interface",
                               "port \"%s\" has an interface at its other end that only the overlay can name, expected "
                               "ports: [{name: %s, interface: veth1}]",
                               of->machine->port.name, of->machine->port.name);
    if (port->kind == RM_PORT_UDP && port->peer_port == 0)
        return rm_cameras_fail(of->resolve, of->place, "kind",
                               "port \"%s\" is no socket, so there is no address to send to, expected another kind",
                               of->machine->port.name);
    return RM_OK;
}

static enum rm_code take_addresses(struct resolving_port const *of) {
    struct rm_virtual_file_port const *const entry = of->entry;
    struct rm_flow *const flow = &of->to->flow;
    if (entry->destination != NULL && !rm_ipv4_parse(entry->destination, &flow->destination_ipv4))
        return rm_cameras_fail(of->resolve, of->place, "destination",
                               "found \"%s\", expected an IPv4 address such as 10.30.0.1", entry->destination);
    if (entry->destination != NULL)
        rm_multicast_mac(flow->destination_ipv4, flow->destination_mac);
    char const *const texts[] = {entry->destination_mac, entry->source_mac};
    char const *const keys[] = {"destination_mac", "source_mac"};
    uint8_t *const macs[] = {flow->destination_mac, flow->source_mac};
    for (int i = 0; i < 2; ++i)
        if (texts[i] != NULL && !rm_mac_parse(texts[i], macs[i]))
            return rm_cameras_fail(of->resolve, of->place, keys[i],
                                   "found \"%s\", expected a MAC such as 02:52:4d:00:00:01", texts[i]);
    return RM_OK;
}

static enum rm_code resolve_port(struct resolving_port const *of) {
    struct rm_port_config *const port = &of->to->port;
    /* locally administered: a kernel that sees such frames leaves them alone */
    of->to->flow = (struct rm_flow){.destination_mac = {0x02, 'R', 'M', 0, 0, 1},
                                    .source_mac = {0x02, 'R', 'M', 0, 0, 2},
                                    .destination_ipv4 = 0x0A1E0001};
    of->to->used = true;
    if (!rm_config_other_end(of->machine, of->entry == NULL ? NULL : of->entry->kind, port))
        return rm_cameras_fail(
            of->resolve, of->place, "kind",
            "nothing can be at the other end of port \"%s\", expected the kind of port to send through",
            of->machine->port.name);
    port->longest_frame = longest_frame(of->resolve->config, (uint32_t)(of->to - of->resolve->config->port));
    rm_config_other_end_flow(of->machine, &of->to->flow);
    if (port->kind == RM_PORT_UDP)
        of->to->flow.destination_ipv4 = port->peer_ipv4;
    if (of->entry != NULL && of->entry->interface != NULL)
        snprintf(port->interface, sizeof port->interface, "%s", of->entry->interface);
    enum rm_code const code = check_port(of);
    return code == RM_OK && of->entry != NULL ? take_addresses(of) : code;
}

static void find_port_entry(struct resolving_port *of) {
    struct rm_virtual_file const *const file = of->resolve->file;
    strcpy(of->place, "ports");
    for (uint32_t e = 0; e < file->ports_count && of->entry == NULL; ++e)
        if (strcmp(file->ports[e].name, of->machine->port.name) == 0) {
            of->entry = &file->ports[e];
            snprintf(of->place, sizeof of->place, "ports[%u]", e);
        }
}

static enum rm_code check_port_names(struct rm_cameras_resolve const *resolve) {
    struct rm_config const *const machine = resolve->config->machine;
    enum rm_code code = RM_OK;
    for (uint32_t e = 0; e < resolve->file->ports_count; ++e) {
        char const *const name = resolve->file->ports[e].name;
        char place[32];
        snprintf(place, sizeof place, "ports[%u]", e);
        if (rm_config_find_port(machine, name, strlen(name)) == machine->port_count)
            code = rm_cameras_fail(resolve, place, "name", "found \"%s\", expected a port of %s", name,
                                   machine->source_path);
    }
    return code;
}

enum rm_code rm_cameras_resolve_ports(struct rm_cameras_resolve const *resolve) {
    struct rm_cameras_config *const config = resolve->config;
    enum rm_code code = check_port_names(resolve);
    for (uint32_t c = 0; c < config->camera_count; ++c) {
        uint32_t const p = config->camera[c].port;
        struct resolving_port of = {.resolve = resolve, .machine = &config->machine->port[p], .to = &config->port[p]};
        if (of.to->used)
            continue;
        find_port_entry(&of);
        code = rm_code_first(code, resolve_port(&of));
    }
    return code;
}
