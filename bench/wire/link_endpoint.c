// SPDX-License-Identifier: Apache-2.0
#include "link_endpoint.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "link_way.h"
#include "probe.h"

enum { LONGEST_SLEEP_NS = 100 * 1000 * 1000 };

static uint8_t const NO_MAC[6] = {0x02, 0x52, 0x4d, 0x00, 0x00, 0x01};

struct rm_link *rm_link_new(size_t bytes, struct rm_link_ops const *ops, struct rm_link_config const *config,
                            struct rm_error *error) {
    struct rm_link *const link = calloc(1, bytes);
    if (link == NULL) {
        rm_fail(error, RM_E_NO_SPACE, "link %s: no memory for its state; free some memory", config->text);
        return NULL;
    }
    link->ops = ops;
    link->config = *config;
    link->file = -1;
    link->flow = (struct rm_flow){.source_ipv4 = config->address,
                                  .destination_ipv4 = config->peer,
                                  .source_port = config->udp_port,
                                  .destination_port = config->peer_port};
    memcpy(link->flow.source_mac, NO_MAC, sizeof NO_MAC);
    memcpy(link->flow.destination_mac, config->peer_mac, sizeof config->peer_mac);
    snprintf(link->hardware_stamps, sizeof link->hardware_stamps, "none");
    return link;
}

/** Tells DPDK, which starts once, of all ports that there will be. */
static enum rm_code start_links_net(struct rm_link_config const *configs, uint32_t count, struct rm_error *error) {
    struct rm_net_config net = {0};
    snprintf(net.prefix, sizeof net.prefix, "ringmaster-wire-%d", (int)getpid());
    bool needed = false;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_port_config port;
        if (rm_link_port_config(&configs[i], &port)) {
            rm_net_config_add(&net, &port);
            needed = true;
        }
    }
    return needed ? rm_net_start(&net, error) : RM_OK;
}

static enum rm_code open_one(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error) {
    switch (config->kind) {
    case RM_LINK_RAW:
        return rm_link_raw_open(config, link, error);
    case RM_LINK_UDP:
        return rm_link_udp_open(config, link, error);
    default:
        return rm_link_port_open(config, link, error);
    }
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
        links[i]->ops->close(links[i]);
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
    uint32_t const came = link->ops->receive(link, &burst->frames, wait_ns);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < came; ++i) {
        struct rm_datagram datagram = {.payload = burst->frames.data[i], .length = burst->frames.length[i]};
        if (link->ops->ethernet ? !unpack_frame(link, &burst->frames, i, &datagram)
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
    link->ops->release(link, &burst->frames);
    burst->frames.count = burst->count = 0;
}

void rm_links_wait(struct rm_link *const *links, uint32_t count, uint64_t wait_ns) {
    struct pollfd files[RM_LINKS_MAX];
    for (uint32_t i = 0; i < count; ++i) {
        if (links[i]->config.spin)
            return;
        files[i] = (struct pollfd){.fd = links[i]->file, .events = POLLIN};
    }
    struct timespec const time = {.tv_nsec = (long)(wait_ns < LONGEST_SLEEP_NS ? wait_ns : LONGEST_SLEEP_NS)};
    (void)ppoll(files, count, &time, NULL);
}

static void show_payloads(struct rm_link const *link, struct rm_link_burst *burst) {
    uint32_t const header = link->ops->ethernet ? RM_FRAME_HEADER_BYTES : 0;
    burst->count = burst->frames.count;
    for (uint32_t i = 0; i < burst->count; ++i)
        burst->payload[i] = burst->frames.data[i] + header;
}

uint32_t rm_link_reserve(struct rm_link *link, struct rm_link_burst *burst, uint32_t count) {
    burst->frames.count = link->ops->reserve(link, &burst->frames, count);
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
        if (link->ops->ethernet) {
            write_header(link, burst->frames.data[i], burst->length[i]);
            burst->frames.length[i] += RM_FRAME_HEADER_BYTES;
        }
    }
    burst->frames.count = count;
    uint32_t const gone = link->ops->send(link, &burst->frames);
    memmove(burst->length, burst->length + gone, (count - gone) * sizeof burst->length[0]);
    show_payloads(link, burst);
    return gone;
}

void rm_link_totals(struct rm_link *link, struct rm_link_statistics *totals) {
    *totals = (struct rm_link_statistics){.foreign = link->foreign};
    link->ops->totals(link, totals);
}

enum rm_code rm_link_check(struct rm_link *link, struct rm_error *error) { return link->ops->check(link, error); }

char const *rm_link_hardware_stamps(struct rm_link const *link) { return link->hardware_stamps; }
