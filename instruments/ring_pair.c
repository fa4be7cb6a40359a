// SPDX-License-Identifier: Apache-2.0
/** The ring of a pair: the ports of the second server, which get what the first one's get, and are heard like those. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "ring_resolve.h"

__attribute__((format(printf, 2, 3))) static enum rm_code fail_pair(struct rm_resolve const *resolve,
                                                                    char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_resolve_fail_plain(resolve, RM_E_CONFIG, "%s: %s", resolve->machine->source_path, text);
}

static bool instruments_are_alike(struct rm_config_instrument const *a, struct rm_config_instrument const *b) {
    return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->id == b->id && a->port == b->port &&
           a->source_ipv4 == b->source_ipv4 && a->format == b->format && a->period_turns == b->period_turns &&
           a->lane_count == b->lane_count && a->mirror.present == b->mirror.present;
}

static bool chains_are_alike(struct rm_config_chain const *a, struct rm_config_chain const *b) {
    return strcmp(a->name, b->name) == 0 && a->id == b->id && a->port == b->port &&
           a->address_ipv4 == b->address_ipv4 && a->udp_port == b->udp_port && a->supply_count == b->supply_count;
}

/** One ring has one of each, whatever a server calls it. */
static enum rm_code check_senders(struct rm_resolve const *resolve) {
    struct rm_config const *a = resolve->machine, *b = resolve->second;
    if (a->instrument_count != b->instrument_count || a->chain_count != b->chain_count)
        return fail_pair(resolve, "server %s has other instruments or chains, expected the same",
                         b->standby.server[1].name);
    for (uint32_t i = 0; i < a->instrument_count; ++i)
        if (!instruments_are_alike(&a->instrument[i], &b->instrument[i]))
            return fail_pair(
                resolve,
                "instrument \"%s\" is another one for server %s, expected the same: it sends both servers the "
                "same datagrams",
                a->instrument[i].name, b->standby.server[1].name);
    for (uint32_t c = 0; c < a->chain_count; ++c)
        if (!chains_are_alike(&a->chain[c], &b->chain[c]))
            return fail_pair(resolve,
                             "chain \"%s\" is another one for server %s, expected the same: it hears both servers",
                             a->chain[c].name, b->standby.server[1].name);
    return RM_OK;
}

/** True where both would be the same socket, interface or address: then one server would take what is the other's. */
static bool is_same_end(struct rm_port_config const *a, struct rm_port_config const *b) {
    switch (a->kind) {
    case RM_PORT_MEMIF:
    case RM_PORT_VIRTIO_USER:
    case RM_PORT_VHOST:
        return strcmp(a->socket_path, b->socket_path) == 0;
    case RM_PORT_AF_PACKET:
    case RM_PORT_AF_XDP:
    case RM_PORT_TAP:
    case RM_PORT_RAW:
        return strcmp(a->interface, b->interface) == 0;
    case RM_PORT_PCI:
        return strcmp(a->device, b->device) == 0;
    case RM_PORT_UDP:
        return a->peer_ipv4 == b->peer_ipv4 && a->peer_port == b->peer_port;
    case RM_PORT_PCAP:
    case RM_PORT_RING:
    case RM_PORT_NULL:
        return false;
    }
    return false;
}

static enum rm_code take_second(struct rm_resolve const *resolve, struct rm_ring_port const *from,
                                struct rm_ring_port *to) {
    char const *const name = to->port.name;
    if (strcmp(from->port.name, name) != 0 || from->port.kind != to->port.kind)
        return fail_pair(resolve, "port \"%s\" is another one for server %s, expected the same name and kind", name,
                         resolve->second->standby.server[1].name);
    if (is_same_end(&from->port, &to->port))
        return fail_pair(
            resolve,
            "port \"%s\" is the same for both servers, expected {server} or {number} in its socket, interface "
            "or address, or in its entry of the overlay",
            name);
    if (to->port.kind != RM_PORT_UDP &&
        (from->flow.vlan != to->flow.vlan || from->flow.destination_port != to->flow.destination_port))
        return fail_pair(
            resolve,
            "port \"%s\": VLAN and UDP port of server %s differ, expected the same: both servers get the same "
            "frames",
            name, resolve->second->standby.server[1].name);
    to->paired = true;
    to->second = from->port;
    return RM_OK;
}

enum rm_code rm_resolve_second(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    struct rm_ring_config *ends = calloc(1, sizeof *ends);
    if (ends == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the ports", resolve->path);
    struct rm_resolve second = *resolve;
    second.machine = resolve->second;
    second.file = resolve->second_file;
    second.config = ends;
    enum rm_code code = rm_resolve_ports(&second);
    if (code == RM_OK)
        code = check_senders(resolve);
    for (uint32_t p = 0; p < config->port_count && code == RM_OK; ++p)
        code = take_second(resolve, &ends->ports[p], &config->ports[p]);
    free(ends);
    return code;
}
