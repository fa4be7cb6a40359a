// SPDX-License-Identifier: Apache-2.0
#include "sender_ports.h"

#include <stdlib.h>

#include "base/fail.h"

static uint32_t find_sender_port(struct rm_sender_ports const *ports, uint32_t index, uint32_t source_ipv4) {
    uint32_t found = 0;
    while (found < ports->count && (ports->of[found].index != index || ports->of[found].source_ipv4 != source_ipv4))
        ++found;
    return found;
}

static enum rm_code open_one(struct rm_port_config const *config, uint32_t source_ipv4, struct rm_port **port,
                             struct rm_error *error) {
    struct rm_port_config one = *config;
    one.bind_ipv4 = source_ipv4;
    return rm_port_open(&one, port, error);
}

/** What one group needs on one network: its port, or there a socket of its source address. */
static enum rm_code open_for(struct rm_sender_ports *ports, struct rm_ring_config const *ring,
                             struct rm_virtual_group const *group, uint32_t network, struct rm_error *error) {
    struct rm_sender_port const wanted = {
        .index = group->port[network],
        .source_ipv4 = ring->ports[group->port[network]].port.kind == RM_PORT_UDP ? group->source_ipv4[network] : 0,
    };
    if (find_sender_port(ports, wanted.index, wanted.source_ipv4) < ports->count)
        return RM_OK;
    struct rm_ring_port const *port = &ring->ports[wanted.index];
    enum rm_code code = open_one(&port->port, wanted.source_ipv4, &ports->port[ports->count], error);
    if (code == RM_OK && port->paired)
        code = open_one(&port->second, wanted.source_ipv4, &ports->second[ports->count], error);
    ports->of[ports->count] = wanted;
    ports->count += ports->port[ports->count] != NULL; /* one whose second has failed is closed with the others */
    return code;
}

enum rm_code rm_sender_ports_open(struct rm_ring_config const *ring, struct rm_sender_ports *ports,
                                  struct rm_error *error) {
    uint32_t const most = ring->group_count * ring->network_count;
    *ports = (struct rm_sender_ports){
        .port = calloc(most, sizeof(struct rm_port *)),
        .second = calloc(most, sizeof(struct rm_port *)),
        .of = calloc(most, sizeof *ports->of),
    };
    if (ports->port == NULL || ports->second == NULL || ports->of == NULL) {
        rm_sender_ports_close(ports);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the ports of %u instruments", ring->instrument_count);
    }
    enum rm_code code = RM_OK;
    for (uint32_t n = 0; n < ring->network_count; ++n)
        for (uint32_t g = 0; g < ring->group_count && code == RM_OK; ++g)
            code = open_for(ports, ring, &ring->groups[g], n, error);
    if (code != RM_OK)
        rm_sender_ports_close(ports);
    return code;
}

void rm_sender_ports_close(struct rm_sender_ports *ports) {
    for (uint32_t p = 0; p < ports->count; ++p) {
        rm_port_close(ports->port[p]);
        if (ports->second != NULL && ports->second[p] != NULL)
            rm_port_close(ports->second[p]);
    }
    free(ports->port);
    free(ports->second);
    free(ports->of);
    *ports = (struct rm_sender_ports){0};
}

uint32_t rm_sender_ports_find(struct rm_sender_ports const *ports, uint32_t index, uint32_t source_ipv4) {
    uint32_t const shared = find_sender_port(ports, index, 0);
    return shared < ports->count ? shared : find_sender_port(ports, index, source_ipv4);
}

struct rm_port *rm_sender_ports_shared(struct rm_sender_ports const *ports, uint32_t index, uint32_t server) {
    uint32_t const shared = find_sender_port(ports, index, 0);
    if (shared >= ports->count)
        return NULL;
    return server == 0 ? ports->port[shared] : ports->second[shared];
}

bool rm_sender_ports_paired(struct rm_sender_ports const *ports) {
    return ports->count != 0 && ports->second[0] != NULL;
}

static uint64_t unsent_of(struct rm_port *port) {
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    return totals.unsent + totals.refused;
}

uint64_t rm_sender_ports_unsent(struct rm_sender_ports const *ports) {
    uint64_t unsent = 0;
    for (uint32_t p = 0; p < ports->count; ++p) {
        unsent += unsent_of(ports->port[p]);
        if (ports->second[p] != NULL)
            unsent += unsent_of(ports->second[p]);
    }
    return unsent;
}
