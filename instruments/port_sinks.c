// SPDX-License-Identifier: Apache-2.0
#include "port_sinks.h"

#include <stdlib.h>

#include "base/fail.h"

enum { QUEUE = 0 };

static uint32_t port_sinks_reserve(void *state, struct rm_burst *burst, uint32_t count) {
    struct rm_port_sink const *sink = state;
    return rm_port_reserve(sink->port, QUEUE, burst, count);
}

static uint32_t port_sinks_send(void *state, struct rm_burst *burst) {
    struct rm_port_sink const *sink = state;
    return rm_port_send(sink->port, QUEUE, burst);
}

static void port_sinks_release(void *state, struct rm_burst *burst) {
    struct rm_port_sink const *sink = state;
    rm_port_release(sink->port, QUEUE, burst);
}

/** A socket is always up, but one whose sends fail (no route, no permission) is no use to wait for. */
static bool link_up(void *state) {
    struct rm_port_sink *sink = state;
    struct rm_port_statistics totals;
    rm_port_totals(sink->port, &totals);
    bool const refusing = rm_port_framing(sink->port) == RM_FRAMING_UDP && totals.unsent != sink->unsent;
    sink->unsent = totals.unsent;
    return totals.link_up && !refusing;
}

static enum rm_code open_sink_port(struct rm_port_sinks *sinks, uint32_t index, struct rm_port_config const *config,
                                   struct rm_error *error) {
    struct rm_port_sink *made = &sinks->port[sinks->count];
    enum rm_code const code = rm_port_open(config, &made->port, error);
    if (code != RM_OK)
        return code;
    made->index = index;
    made->source_ipv4 = config->bind_ipv4;
    sinks->sink[sinks->count] = (struct rm_sink){
        .framing = rm_port_framing(made->port),
        .reserve = port_sinks_reserve,
        .send = port_sinks_send,
        .release = port_sinks_release,
        .link_up = link_up,
        .state = made,
    };
    ++sinks->count;
    return RM_OK;
}

static bool is_open(struct rm_port_sinks const *sinks, uint32_t port, uint32_t source_ipv4) {
    for (uint32_t s = 0; s < sinks->count; ++s)
        if (sinks->port[s].index == port && sinks->port[s].source_ipv4 == source_ipv4)
            return true;
    return false;
}

/** What one group needs on one network: its port, or there a socket of its source address. */
static enum rm_code open_for(struct rm_port_sinks *sinks, struct rm_ring_config const *ring,
                             struct rm_virtual_group const *group, uint32_t network, struct rm_error *error) {
    struct rm_port_config one = ring->ports[group->port[network]].port;
    one.bind_ipv4 = one.kind == RM_PORT_UDP ? group->source_ipv4[network] : 0;
    if (is_open(sinks, group->port[network], one.bind_ipv4))
        return RM_OK;
    return open_sink_port(sinks, group->port[network], &one, error);
}

enum rm_code rm_port_sinks_open(struct rm_ring_config const *ring, struct rm_port_sinks *sinks,
                                struct rm_error *error) {
    uint32_t const most = ring->group_count * ring->network_count;
    *sinks = (struct rm_port_sinks){
        .port = calloc(most, sizeof *sinks->port),
        .sink = calloc(most, sizeof *sinks->sink),
    };
    if (sinks->port == NULL || sinks->sink == NULL) {
        rm_port_sinks_close(sinks);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the ports of %u instruments", ring->instrument_count);
    }
    enum rm_code code = RM_OK;
    for (uint32_t n = 0; n < ring->network_count; ++n)
        for (uint32_t g = 0; g < ring->group_count && code == RM_OK; ++g)
            code = open_for(sinks, ring, &ring->groups[g], n, error);
    if (code != RM_OK)
        rm_port_sinks_close(sinks);
    return code;
}

void rm_port_sinks_close(struct rm_port_sinks *sinks) {
    for (uint32_t s = 0; s < sinks->count; ++s)
        rm_port_close(sinks->port[s].port);
    free(sinks->port);
    free(sinks->sink);
    *sinks = (struct rm_port_sinks){0};
}

uint32_t rm_port_sinks_find(struct rm_port_sinks const *sinks, uint32_t port, uint32_t source_ipv4) {
    uint32_t found = 0;
    for (uint32_t s = 0; s < sinks->count; ++s)
        if (sinks->port[s].index == port &&
            (sinks->port[s].source_ipv4 == 0 || sinks->port[s].source_ipv4 == source_ipv4))
            found = s;
    return found;
}

struct rm_port *rm_port_sinks_port(struct rm_port_sinks const *sinks, uint32_t port) {
    for (uint32_t s = 0; s < sinks->count; ++s)
        if (sinks->port[s].index == port)
            return sinks->port[s].port;
    return NULL;
}

uint64_t rm_port_sinks_unsent(struct rm_port_sinks const *sinks) {
    uint64_t unsent = 0;
    for (uint32_t s = 0; s < sinks->count; ++s) {
        struct rm_port_statistics totals;
        rm_port_totals(sinks->port[s].port, &totals);
        unsent += totals.unsent;
    }
    return unsent;
}
