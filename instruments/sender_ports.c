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

/** What one group needs on one network: its port, or there a socket of its source address. */
static enum rm_code open_for(struct rm_sender_ports *ports, struct rm_ring_config const *ring,
                             struct rm_virtual_group const *group, uint32_t network, struct rm_error *error) {
    struct rm_sender_port const wanted = {
        .index = group->port[network],
        .source_ipv4 = ring->ports[group->port[network]].port.kind == RM_PORT_UDP ? group->source_ipv4[network] : 0,
    };
    if (find_sender_port(ports, wanted.index, wanted.source_ipv4) < ports->count)
        return RM_OK;
    struct rm_port_config one = ring->ports[wanted.index].port;
    one.bind_ipv4 = wanted.source_ipv4;
    enum rm_code const code = rm_port_open(&one, &ports->port[ports->count], error);
    if (code == RM_OK)
        ports->of[ports->count++] = wanted;
    return code;
}

enum rm_code rm_sender_ports_open(struct rm_ring_config const *ring, struct rm_sender_ports *ports,
                                  struct rm_error *error) {
    uint32_t const most = ring->group_count * ring->network_count;
    *ports = (struct rm_sender_ports){
        .port = calloc(most, sizeof(struct rm_port *)),
        .of = calloc(most, sizeof *ports->of),
    };
    if (ports->port == NULL || ports->of == NULL) {
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
    for (uint32_t p = 0; p < ports->count; ++p)
        rm_port_close(ports->port[p]);
    free(ports->port);
    free(ports->of);
    *ports = (struct rm_sender_ports){0};
}

uint32_t rm_sender_ports_find(struct rm_sender_ports const *ports, uint32_t index, uint32_t source_ipv4) {
    uint32_t const shared = find_sender_port(ports, index, 0);
    return shared < ports->count ? shared : find_sender_port(ports, index, source_ipv4);
}

struct rm_port *rm_sender_ports_shared(struct rm_sender_ports const *ports, uint32_t index) {
    uint32_t const shared = find_sender_port(ports, index, 0);
    return shared < ports->count ? ports->port[shared] : NULL;
}

uint64_t rm_sender_ports_unsent(struct rm_sender_ports const *ports) {
    uint64_t unsent = 0;
    for (uint32_t p = 0; p < ports->count; ++p) {
        struct rm_port_statistics totals;
        rm_port_totals(ports->port[p], &totals);
        unsent += totals.unsent + totals.refused;
    }
    return unsent;
}
