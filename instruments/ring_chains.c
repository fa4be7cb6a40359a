// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "ring_resolve.h"
#include "wire/address.h"
#include "wire/arp.h"

enum { DEFAULT_SETPOINT_PORT = 4662, DEFAULT_ANSWER_PORT = 4660, NUMBER_DIGITS_LEAST = 2 };

static double const DEFAULT_TIMEOUT_MS = 100;

static char const CHAINS[] = "supplies.chains";

static uint32_t count_of(uint32_t const *count) { return count == NULL ? 1 : *count; }

static enum rm_code check_entry(struct rm_resolve const *resolve, uint32_t entry) {
    struct rm_ring_file_chain const *from = &resolve->file->supplies->chains[entry];
    uint32_t const room = RM_RING_CHAINS_MAX - resolve->config->supplies.chain_count, count = count_of(from->count);
    uint32_t const last_id = UINT16_MAX / RM_CHAIN_ID_PARTS;
    if (strcmp(from->name, "all") == 0 || !rm_virtual_name_is_good(from->name))
        return rm_resolve_fail(resolve, CHAINS, entry, "name",
                               "found \"%s\", expected a name of a-z, 0-9, _ and -, other than \"all\"", from->name);
    if (count == 0 || count > room)
        return rm_resolve_fail(resolve, CHAINS, entry, "count", "found %u, expected 1 to %u: %d chains are the most",
                               count, room, RM_RING_CHAINS_MAX);
    if (from->id + count - 1 > last_id)
        return rm_resolve_fail(resolve, CHAINS, entry, "id",
                               "the last id would be %u, expected at most %u: readbacks have ids of %d × as much",
                               from->id + count - 1, last_id, RM_CHAIN_ID_PARTS);
    if (from->udp_port != NULL && *from->udp_port == 0)
        return rm_resolve_fail(resolve, CHAINS, entry, "udp_port", "found 0, expected 1 to 65535");
    if (from->timeout_ms != NULL && !(*from->timeout_ms >= 0 && *from->timeout_ms <= 1e9))
        return rm_resolve_fail(resolve, CHAINS, entry, "timeout_ms", "found %g, expected 0 (never) to 1e9",
                               *from->timeout_ms);
    return RM_OK;
}

/** NAME, or NAME and a number from 1 on with as many digits as the last one has, and two at least. */
static enum rm_code write_name(struct rm_resolve const *resolve, uint32_t entry, uint32_t place, char *name) {
    struct rm_ring_file_chain const *from = &resolve->file->supplies->chains[entry];
    int digits = snprintf(NULL, 0, "%u", count_of(from->count));
    if (digits < NUMBER_DIGITS_LEAST)
        digits = NUMBER_DIGITS_LEAST;
    int length = (int)strlen(from->name);
    if (from->count == NULL)
        strcpy(name, from->name);
    else if ((length += digits) < RM_VIRTUAL_NAME_BYTES)
        sprintf(name, "%s%0*u", from->name, digits, place + 1);
    if (length >= RM_VIRTUAL_NAME_BYTES)
        return rm_resolve_fail(resolve, CHAINS, entry, "name",
                               "with its number it has %d characters, expected at most %d", length,
                               RM_VIRTUAL_NAME_BYTES - 1);
    return RM_OK;
}

static enum rm_code resolve_addresses(struct rm_resolve const *resolve, uint32_t entry, uint32_t place,
                                      struct rm_ring_chain *to) {
    struct rm_ring_file_chain const *from = &resolve->file->supplies->chains[entry];
    if (!rm_ipv4_parse(from->address, &to->ipv4))
        return rm_resolve_fail(resolve, CHAINS, entry, "address",
                               "found \"%s\", expected an IPv4 address such as 10.30.0.1", from->address);
    to->ipv4 += place;
    rm_arp_make_mac(to->ipv4, to->mac);
    if (from->mac == NULL)
        return RM_OK;
    if (!rm_mac_parse(from->mac, to->mac))
        return rm_resolve_fail(resolve, CHAINS, entry, "mac", "found \"%s\", expected a MAC such as 02:00:0a:1e:00:01",
                               from->mac);
    uint32_t const low = ((uint32_t)to->mac[3] << 16 | (uint32_t)to->mac[4] << 8 | to->mac[5]) + place;
    to->mac[3] = (uint8_t)(low >> 16);
    to->mac[4] = (uint8_t)(low >> 8);
    to->mac[5] = (uint8_t)low;
    return RM_OK;
}

/** All supplies of one chain: entry after entry, each as often as it counts. */
static enum rm_code resolve_supplies(struct rm_resolve const *resolve, uint32_t entry, struct rm_ring_chain *to) {
    struct rm_ring_file_chain const *from = &resolve->file->supplies->chains[entry];
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    to->first = supplies->supply_count;
    to->config.supply = &supplies->supplies[to->first];
    for (uint32_t e = 0; e < from->supplies_count; ++e) {
        uint32_t const count = count_of(from->supplies[e].count),
                       room = RM_CHAIN_SUPPLIES_MAX - to->config.supply_count;
        struct rm_supply_config supply = {0};
        if (count == 0 || count > room)
            return rm_resolve_fail(resolve, CHAINS, entry, "supplies",
                                   "found %u more, expected 1 to %u: %d supplies are the most of a chain", count, room,
                                   RM_CHAIN_SUPPLIES_MAX);
        enum rm_code const code = rm_resolve_supply(resolve, entry, e, &supply);
        if (code != RM_OK)
            return code;
        for (uint32_t s = 0; s < count; ++s)
            supplies->supplies[supplies->supply_count++] = supply;
        to->config.supply_count += count;
    }
    return RM_OK;
}

static enum rm_code check_unique(struct rm_resolve const *resolve, uint32_t entry, uint32_t index) {
    struct rm_ring_chain const *all = resolve->config->supplies.chains, *one = &all[index];
    for (uint32_t c = 0; c < index; ++c) {
        if (strcmp(all[c].name, one->name) == 0)
            return rm_resolve_fail(resolve, CHAINS, entry, "name", "there is a chain of the name \"%s\" already",
                                   one->name);
        if (all[c].ipv4 == one->ipv4)
            return rm_resolve_fail(resolve, CHAINS, entry, "address", "\"%s\" has the same address", all[c].name);
    }
    return RM_OK;
}

static enum rm_code resolve_one(struct rm_resolve const *resolve, uint32_t entry, uint32_t place, uint32_t port) {
    struct rm_ring_file_chain const *from = &resolve->file->supplies->chains[entry];
    uint32_t const index = resolve->config->supplies.chain_count++;
    struct rm_ring_chain *to = &resolve->config->supplies.chains[index];
    double const timeout_ms = from->timeout_ms == NULL ? DEFAULT_TIMEOUT_MS : *from->timeout_ms;
    to->port = port;
    to->udp_port = from->udp_port == NULL ? DEFAULT_SETPOINT_PORT : *from->udp_port;
    to->config.id = (uint16_t)(from->id + place);
    to->config.timeout_s = timeout_ms == 0 ? INFINITY : 1e-3 * timeout_ms;
    to->config.ramps = from->stop != NULL && *from->stop == RM_RING_FILE_RAMP;
    enum rm_code code = write_name(resolve, entry, place, to->name);
    if (code == RM_OK)
        code = resolve_addresses(resolve, entry, place, to);
    if (code == RM_OK)
        code = resolve_supplies(resolve, entry, to);
    return code == RM_OK ? check_unique(resolve, entry, index) : code;
}

/** Chains have frames: a socket of the kernel is no port for them. */
static enum rm_code check_frames(struct rm_resolve const *resolve, uint32_t port) {
    char place[32];
    if (resolve->config->ports[port].port.kind != RM_PORT_UDP)
        return RM_OK;
    strcpy(place, resolve->file->supplies->port != NULL ? "supplies.port.kind" : "port.kind");
    if (port < resolve->file->ports_count)
        snprintf(place, sizeof place, "ports[%u].kind", port);
    return rm_yaml_fail(resolve->error, resolve->path, place,
                        "found udp, expected a port of frames for the supplies, such as memif or af_packet");
}

/** The port of the chains that name none: `supplies.port`, or the ring's first. */
static enum rm_code resolve_port(struct rm_resolve const *resolve, uint32_t *port) {
    struct rm_ring_file_supplies const *from = resolve->file->supplies;
    struct rm_ring_config *config = resolve->config;
    config->supplies.answer_port = from->udp_port == NULL ? DEFAULT_ANSWER_PORT : *from->udp_port;
    if (config->supplies.answer_port == 0)
        return rm_yaml_fail(resolve->error, resolve->path, "supplies.udp_port", "found 0, expected 1 to 65535");
    *port = 0;
    if (from->port == NULL && config->port_count == 0)
        return rm_yaml_fail(resolve->error, resolve->path, "supplies",
                            "the key \"port\" is missing, expected the port that setpoints come by");
    if (from->port == NULL)
        return RM_OK;
    *port = config->port_count++;
    return rm_resolve_port(resolve, "supplies.port", from->port, "supplies", &config->ports[*port].port);
}

static enum rm_code resolve_chain_port(struct rm_resolve const *resolve, uint32_t entry, uint32_t otherwise,
                                       uint32_t *port) {
    char const *name = resolve->file->supplies->chains[entry].port;
    *port = otherwise;
    enum rm_code const code = name == NULL ? RM_OK : rm_resolve_port_name(resolve, CHAINS, entry, name, port);
    return code == RM_OK ? check_frames(resolve, *port) : code;
}

static enum rm_code allocate(struct rm_resolve const *resolve) {
    struct rm_ring_file_supplies const *from = resolve->file->supplies;
    struct rm_ring_supplies *to = &resolve->config->supplies;
    to->chains = calloc(RM_RING_CHAINS_MAX, sizeof *to->chains);
    to->supplies = calloc((size_t)RM_RING_CHAINS_MAX * RM_CHAIN_SUPPLIES_MAX, sizeof *to->supplies);
    to->faults = calloc(from->faults_count + 1, sizeof *to->faults);
    to->responses = calloc(from->responses_count + 1, sizeof *to->responses);
    if (to->chains == NULL || to->supplies == NULL || to->faults == NULL || to->responses == NULL)
        return rm_fail(resolve->error, RM_E_NO_SPACE, "%s: no memory for the supplies", resolve->path);
    return RM_OK;
}

static enum rm_code resolve_chains(struct rm_resolve const *resolve, uint32_t otherwise) {
    enum rm_code code = RM_OK;
    for (uint32_t e = 0; code == RM_OK && e < resolve->file->supplies->chains_count; ++e) {
        uint32_t const count = count_of(resolve->file->supplies->chains[e].count);
        uint32_t port = otherwise;
        code = check_entry(resolve, e);
        if (code == RM_OK)
            code = resolve_chain_port(resolve, e, otherwise, &port);
        for (uint32_t place = 0; code == RM_OK && place < count; ++place)
            code = resolve_one(resolve, e, place, port);
    }
    return code;
}

enum rm_code rm_resolve_supplies(struct rm_resolve const *resolve) {
    if (resolve->file->supplies == NULL)
        return RM_OK;
    uint32_t port = 0;
    enum rm_code code = resolve_port(resolve, &port);
    if (code == RM_OK)
        code = allocate(resolve);
    if (code == RM_OK)
        code = resolve_chains(resolve, port);
    if (code == RM_OK)
        code = rm_resolve_responses(resolve);
    return code == RM_OK ? rm_resolve_chain_faults(resolve) : code;
}
