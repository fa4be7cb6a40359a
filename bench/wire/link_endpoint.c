// SPDX-License-Identifier: Apache-2.0
#include "link_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "link_stamps.h"
#include "probe.h"
#include "wire/frame.h"

enum { QUEUE = 0, TAG_BYTES = RM_ETHERNET_BYTES + RM_VLAN_BYTES };

static uint8_t const NO_MAC[6] = {0x02, 0x52, 0x4d, 0x00, 0x00, 0x01};

struct rm_link {
    struct rm_link_config config;
    struct rm_port *port;
    /** Bursts hold whole frames, not payloads. */
    bool ethernet;
    /** Addresses and ports of what we send; Ethernet only. */
    struct rm_flow flow;
    /** The header made for the last payload length: most datagrams have the length of the one before. */
    uint8_t header[RM_FRAME_HEADER_BYTES];
    /** Length of the payload that the header was made for. 0: none yet. */
    uint32_t header_payload;

    uint64_t foreign;
    char hardware_stamps[64];
};

static struct rm_port_config port_config_of(struct rm_link_config const *config) {
    static enum rm_port_kind const kinds[] = {
        [RM_LINK_MEMIF] = RM_PORT_MEMIF,   [RM_LINK_AF_PACKET] = RM_PORT_AF_PACKET,
        [RM_LINK_AF_XDP] = RM_PORT_AF_XDP, [RM_LINK_PCI] = RM_PORT_PCI,
        [RM_LINK_RAW] = RM_PORT_RAW,       [RM_LINK_UDP] = RM_PORT_UDP};
    struct rm_port_config port = {
        .name = "wire",
        .kind = kinds[config->kind],
        .memif_server = config->server,
        .queues = 1,
        .longest_frame =
            config->kind == RM_LINK_UDP ? rm_link_largest_payload(config) : config->mtu + (uint32_t)TAG_BYTES,
        .claim_count = 1,
        .claim = {config->udp_port},
        .bind_ipv4 = config->address,
        .bind_port = config->udp_port,
        .peer_ipv4 = config->peer,
        .peer_port = config->peer_port,
        .connected = true,
        .batch = config->batch,
    };
    snprintf(port.socket_path, sizeof port.socket_path, "%s", config->where);
    snprintf(port.interface, sizeof port.interface, "%.*s", RM_PORT_NAME_BYTES - 1, config->where);
    memcpy(port.device, port.interface, sizeof port.device);
    return port;
}

static bool needs_net(enum rm_link_kind kind) { return kind != RM_LINK_RAW && kind != RM_LINK_UDP; }

/** Tells DPDK, which starts once, of all ports that there will be. */
static enum rm_code start_links_net(struct rm_link_config const *configs, uint32_t count, struct rm_error *error) {
    struct rm_net_config net = {0};
    snprintf(net.prefix, sizeof net.prefix, "ringmaster-wire-%d", (int)getpid());
    bool needed = false;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_port_config const port = port_config_of(&configs[i]);
        if (needs_net(configs[i].kind)) {
            rm_net_config_add(&net, &port);
            needed = true;
        }
    }
    return needed ? rm_net_start(&net, error) : RM_OK;
}

/** DPDK's own words do not say it. */
static char const *link_advice(enum rm_link_kind kind) {
    return needs_net(kind) && kind != RM_LINK_MEMIF && geteuid() != 0
               ? "; an interface needs CAP_NET_RAW, CAP_NET_ADMIN and, for af_xdp, CAP_BPF: run as root"
               : "";
}

static void ask_stamps(struct rm_link *link) {
    snprintf(link->hardware_stamps, sizeof link->hardware_stamps, "none");
    if (link->config.kind == RM_LINK_UDP)
        rm_address_hardware_stamps(link->config.address, link->hardware_stamps);
    else if (link->config.kind != RM_LINK_MEMIF && link->config.kind != RM_LINK_PCI)
        rm_interface_hardware_stamps(link->config.where, link->hardware_stamps);
}

static enum rm_code open_one(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error) {
    struct rm_link *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "link %s: no memory for its state; free some memory", config->text);
    made->config = *config;
    made->flow = (struct rm_flow){.source_ipv4 = config->address,
                                  .destination_ipv4 = config->peer,
                                  .source_port = config->udp_port,
                                  .destination_port = config->peer_port};
    memcpy(made->flow.source_mac, NO_MAC, sizeof NO_MAC);
    memcpy(made->flow.destination_mac, config->peer_mac, sizeof config->peer_mac);
    struct rm_port_config const port = port_config_of(config);
    struct rm_error why;
    enum rm_code const code = rm_port_open(&port, &made->port, &why);
    if (code != RM_OK) {
        free(made);
        return rm_fail(error, code, "link %s: %s%s", config->text, why.text, link_advice(config->kind));
    }
    made->ethernet = rm_port_framing(made->port) == RM_FRAMING_ETHERNET;
    (void)rm_port_mac(made->port, made->flow.source_mac);
    ask_stamps(made);
    *link = made;
    return RM_OK;
}

enum rm_code rm_links_open(struct rm_link_config const *configs, uint32_t count, struct rm_link **links,
                           struct rm_error *error) {
    if (count > RM_LINKS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "%u links; a process takes at most %d", count, RM_LINKS_MAX);
    enum rm_code code = start_links_net(configs, count, error);
    uint32_t open = 0;
    for (; open < count && code == RM_OK; ++open)
        code = open_one(&configs[open], &links[open], error);
    if (code != RM_OK)
        rm_links_close(links, open == 0 ? 0 : open - 1);
    return code;
}

void rm_links_close(struct rm_link **links, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        rm_port_close(links[i]->port);
        free(links[i]);
    }
    rm_net_stop();
}

char const *rm_link_text(struct rm_link const *link) { return link->config.text; }

bool rm_link_spins(struct rm_link const *link) { return link->config.spin; }

/** From now on sends to the sender of this frame, from the address that it was sent to. */
static void turn_to(struct rm_link *link, uint8_t const *frame, struct rm_datagram const *datagram) {
    struct rm_flow *const flow = &link->flow;
    if (memcmp(flow->destination_mac, frame + 6, 6) == 0 && flow->destination_ipv4 == datagram->source_ipv4 &&
        flow->source_ipv4 == datagram->destination_ipv4 && flow->destination_port == datagram->source_port)
        return;
    memcpy(flow->destination_mac, frame + 6, 6);
    flow->source_ipv4 = datagram->destination_ipv4;
    flow->destination_ipv4 = datagram->source_ipv4;
    flow->destination_port = datagram->source_port;
    link->header_payload = 0;
}

/** Room for a probe, but no more than the MTU: buffers have no room for a longer payload. */
static bool frame_fits_link(struct rm_link const *link, uint32_t length) {
    return length >= RM_PROBE_BYTES && length <= rm_link_largest_payload(&link->config);
}

/** True for a frame to our UDP port, of a length that fits. */
static bool unpack_frame(struct rm_link *link, struct rm_burst const *frames, uint32_t i,
                         struct rm_datagram *datagram) {
    if (rm_frame_parse(frames->data[i], frames->length[i], frames->checksum_good[i], datagram) != RM_PORT_DECODED ||
        datagram->destination_port != link->config.udp_port || !frame_fits_link(link, datagram->length))
        return false;
    if (link->config.answer)
        turn_to(link, frames->data[i], datagram);
    return true;
}

uint32_t rm_link_receive(struct rm_link *link, struct rm_link_burst *burst, uint64_t wait_ns) {
    uint32_t const came = rm_port_receive_sleeping(link->port, QUEUE, &burst->frames, link->config.spin ? 0 : wait_ns);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < came; ++i) {
        struct rm_datagram datagram = {.payload = burst->frames.data[i], .length = burst->frames.length[i]};
        if (link->ethernet ? !unpack_frame(link, &burst->frames, i, &datagram)
                           : !frame_fits_link(link, datagram.length))
            continue;
        burst->payload[kept] = (uint8_t *)(uintptr_t)datagram.payload;
        burst->length[kept++] = datagram.length;
    }
    link->foreign += came - kept;
    burst->count = kept;
    return kept;
}

void rm_link_release(struct rm_link *link, struct rm_link_burst *burst) {
    rm_port_release(link->port, QUEUE, &burst->frames);
    burst->frames.count = burst->count = 0;
}

void rm_links_wait(struct rm_link *const *links, uint32_t count, uint64_t wait_ns) {
    struct rm_port *ports[RM_LINKS_MAX];
    for (uint32_t i = 0; i < count; ++i) {
        if (links[i]->config.spin)
            return;
        ports[i] = links[i]->port;
    }
    rm_ports_wait(ports, count, wait_ns);
}

static void show_payloads(struct rm_link const *link, struct rm_link_burst *burst) {
    uint32_t const header = link->ethernet ? RM_FRAME_HEADER_BYTES : 0;
    burst->count = burst->frames.count;
    for (uint32_t i = 0; i < burst->count; ++i)
        burst->payload[i] = burst->frames.data[i] + header;
}

uint32_t rm_link_reserve(struct rm_link *link, struct rm_link_burst *burst, uint32_t count) {
    rm_port_reserve(link->port, QUEUE, &burst->frames, count);
    show_payloads(link, burst);
    return burst->count;
}

static void write_header(struct rm_link *link, uint8_t *frame, uint32_t payload_bytes) {
    if (link->header_payload != payload_bytes) {
        (void)rm_frame_write_header(link->header, &link->flow, payload_bytes);
        link->header_payload = payload_bytes;
    }
    memcpy(frame, link->header, sizeof link->header);
}

uint32_t rm_link_send(struct rm_link *link, struct rm_link_burst *burst) {
    uint32_t const count = burst->count;
    for (uint32_t i = 0; i < count; ++i) {
        burst->frames.length[i] = burst->length[i];
        if (link->ethernet) {
            write_header(link, burst->frames.data[i], burst->length[i]);
            burst->frames.length[i] += RM_FRAME_HEADER_BYTES;
        }
    }
    burst->frames.count = count;
    uint32_t const gone = rm_port_send(link->port, QUEUE, &burst->frames);
    memmove(burst->length, burst->length + gone, (count - gone) * sizeof burst->length[0]);
    show_payloads(link, burst);
    return gone;
}

void rm_link_totals(struct rm_link *link, struct rm_link_statistics *totals) {
    struct rm_port_statistics of_port;
    rm_port_totals(link->port, &of_port);
    *totals = (struct rm_link_statistics){
        .foreign = link->foreign, .missed = of_port.missed + of_port.errors, .unsent = of_port.unsent};
}

enum rm_code rm_link_check(struct rm_link *link, struct rm_error *error) {
    struct rm_error why;
    enum rm_code const code = rm_port_check(link->port, &why);
    return code == RM_OK ? RM_OK : rm_fail(error, code, "link %s: %s", link->config.text, why.text);
}

char const *rm_link_hardware_stamps(struct rm_link const *link) { return link->hardware_stamps; }
