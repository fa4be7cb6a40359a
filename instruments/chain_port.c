// SPDX-License-Identifier: Apache-2.0
#include "chain_port.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static uint8_t const BROADCAST[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

enum { QUEUE = 0, SOURCE_MAC = 6 /**< offset in a frame */, MAC_BYTES = 6 };

enum rm_code rm_chain_port_make(struct rm_port *port, struct rm_pair *pair, uint32_t index, struct rm_chains *chains,
                                struct rm_chain_port *made, struct rm_error *error) {
    *made = (struct rm_chain_port){.port = port, .pair = pair, .index = index, .chains = chains};
    made->peer = calloc(chains->config->chain_count, sizeof *made->peer);
    if (made->peer == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u chains", chains->config->chain_count);
    return RM_OK;
}

void rm_chain_port_free(struct rm_chain_port *port) {
    free(port->peer);
    *port = (struct rm_chain_port){0};
}

/* To one server, or to both. */

static uint32_t answer_reserve(struct rm_chain_port *port) {
    return port->pair != NULL ? rm_pair_reserve(port->pair, &port->out, RM_BURST)
                              : rm_port_reserve(port->port, QUEUE, &port->out, RM_BURST);
}

static uint32_t answer_send(struct rm_chain_port *port) {
    return port->pair != NULL ? rm_pair_send(port->pair, &port->out) : rm_port_send(port->port, QUEUE, &port->out);
}

static void answer_release(struct rm_chain_port *port, struct rm_burst *burst) {
    if (port->pair != NULL)
        rm_pair_release(port->pair, burst);
    else
        rm_port_release(port->port, QUEUE, burst);
}

/** Sends what was filled, and gives back the rest. */
static void chain_port_flush(struct rm_chain_port *port) {
    struct rm_burst spare = {0};
    for (uint32_t i = port->filled; i < port->out.count; ++i) {
        spare.data[spare.count] = port->out.data[i];
        spare.handle[spare.count++] = port->out.handle[i];
    }
    port->out.count = port->filled;
    uint32_t const sent = port->filled == 0 ? 0 : answer_send(port);
    for (uint32_t i = 0; i < sent; ++i)
        rm_counter_add(port->owner[i], RM_SUPPLY_ANSWERS, 1);
    if (port->out.count != 0)
        answer_release(port, &port->out);
    if (spare.count != 0)
        answer_release(port, &spare);
    port->out.count = 0;
    port->filled = 0;
}

/** The buffer of the next answer, or NULL. */
static uint8_t *chain_port_answer_buffer(struct rm_chain_port *port) {
    if (port->filled == port->out.count) {
        chain_port_flush(port);
        if (answer_reserve(port) == 0)
            return NULL;
    }
    return port->out.data[port->filled];
}

/** The peer of a chain, with headers for it. */
static struct rm_chain_peer *peer_of(struct rm_chain_port *port, uint32_t index, uint8_t const *frame,
                                     struct rm_datagram const *datagram) {
    struct rm_chain_peer *peer = &port->peer[index];
    struct rm_ring_chain const *chain = &port->chains->config->chains[index];
    struct rm_chain_answer const *answer = &port->answer;
    uint16_t const vlan = datagram->vlan == RM_VLAN_NONE ? 0 : datagram->vlan;
    uint8_t const *const mac = chain->mirror ? BROADCAST : frame + SOURCE_MAC;
    if (peer->header_bytes != 0 && peer->flow.destination_ipv4 == datagram->source_ipv4 && peer->flow.vlan == vlan &&
        memcmp(peer->flow.destination_mac, mac, MAC_BYTES) == 0)
        return peer;
    peer->flow = (struct rm_flow){
        .source_ipv4 = chain->ipv4,
        .destination_ipv4 = datagram->source_ipv4,
        .source_port = chain->udp_port,
        .destination_port = chain->answer_port,
        .vlan = vlan,
    };
    memcpy(peer->flow.destination_mac, mac, MAC_BYTES);
    memcpy(peer->flow.source_mac, chain->mac, MAC_BYTES);
    peer->header_bytes = rm_frame_write_header(peer->header[0], &peer->flow, answer->length[0]);
    rm_frame_write_header(peer->header[1], &peer->flow, answer->length[answer->parts - 1]);
    return peer;
}

static void send_answer(struct rm_chain_port *port, uint32_t index, struct rm_chain_peer const *peer) {
    struct rm_chain_answer const *answer = &port->answer;
    for (uint32_t p = 0; p < answer->parts; ++p) {
        uint8_t *frame = chain_port_answer_buffer(port);
        if (frame == NULL)
            return;
        memcpy(frame, peer->header[p + 1 == answer->parts], peer->header_bytes);
        memcpy(frame + peer->header_bytes, answer->payload[p], answer->length[p]);
        port->out.length[port->filled] = peer->header_bytes + answer->length[p];
        port->owner[port->filled++] = port->chains->chain[index].counters;
    }
}

static void chain_port_take_frame(struct rm_chain_port *port, uint32_t i, double time) {
    uint8_t const *frame = port->in.data[i];
    struct rm_datagram datagram;
    if (rm_frame_parse(frame, port->in.length[i], port->in.checksum_good[i], &datagram) != RM_PORT_DECODED)
        return;
    uint32_t const index = rm_chains_find(port->chains, datagram.destination_ipv4, datagram.destination_port);
    if (index == RM_CHAINS_NOBODY || port->chains->config->chains[index].port != port->index)
        return;
    if (rm_chain_take(&port->chains->chain[index], datagram.payload, datagram.length, time, &port->answer) &&
        port->chains->config->chains[index].answers)
        send_answer(port, index, peer_of(port, index, frame, &datagram));
}

static uint32_t take_burst(struct rm_chain_port *port, struct rm_port *from, double time) {
    uint32_t const count = rm_port_receive(from, QUEUE, &port->in);
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < count; ++i)
        chain_port_take_frame(port, i, time);
    rm_port_release(from, QUEUE, &port->in);
    return count;
}

uint32_t rm_chain_port_poll(struct rm_chain_port *port, double time) {
    uint32_t count = take_burst(port, port->port, time);
    if (port->pair != NULL)
        count += take_burst(port, port->pair->port[1], time);
    if (count != 0 && port->out.count != 0)
        chain_port_flush(port);
    return count;
}
