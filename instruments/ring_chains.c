// SPDX-License-Identifier: Apache-2.0
/** The chains of a ring: those of the configuration that answer through one of its ports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

#include "base/fail.h"
#include "ring_resolve.h"
#include "wire/arp.h"

static double const TIMEOUT_S = 0.1;

/** One that the configuration gives none has the MAC that its address makes: the server finds it by broadcast. */
static void take_mac(struct rm_config_chain const *from, struct rm_ring_chain *to) {
    static uint8_t const broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    if (memcmp(from->mac, broadcast, sizeof broadcast) == 0)
        rm_arp_make_mac(from->address_ipv4, to->mac);
    else
        memcpy(to->mac, from->mac, sizeof to->mac);
}

/** Setpoints find their chain by its address alone. */
static enum rm_code check_address(struct rm_resolve *resolve, struct rm_config_chain const *from) {
    struct rm_ring_supplies const *supplies = &resolve->config->supplies;
    for (uint32_t c = 0; c < supplies->chain_count; ++c)
        if (supplies->chains[c].ipv4 == from->address_ipv4)
            return rm_resolve_fail_plain(
                resolve, RM_E_CONFIG,
                "%s: chains \"%s\" and \"%s\" have the same address on two ports; one virtual ring can be "
                "only one of them, expected --ports with one of the two",
                resolve->machine->source_path, supplies->chains[c].name, from->name);
    return RM_OK;
}

static enum rm_code add_chain(struct rm_resolve *resolve, uint32_t described) {
    struct rm_config const *machine = resolve->machine;
    struct rm_config_chain const *from = &machine->chain[described];
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    enum rm_code const code = check_address(resolve, from);
    if (code != RM_OK)
        return code;
    struct rm_ring_chain *to = &supplies->chains[supplies->chain_count++];
    *to = (struct rm_ring_chain){
        .ipv4 = from->address_ipv4,
        .port = resolve->ring_port[from->port],
        .udp_port = from->udp_port,
        .answer_port = machine->port[from->port].udp_port,
        .answers = from->readback,
        .first = supplies->supply_count,
        .config = {.id = from->id,
                   .supply_count = from->supply_count,
                   .timeout_s = from->timeout_s != 0 ? from->timeout_s : TIMEOUT_S},
    };
    strcpy(to->name, from->name);
    strcpy(to->entry, from->entry);
    take_mac(from, to);
    to->config.supply = &supplies->supplies[to->first];
    for (uint32_t s = 0; s < from->supply_count; ++s)
        supplies->described[supplies->supply_count++] = from->first_supply + s;
    return RM_OK;
}

/** What the overlay says of a chain, or of several. */
static enum rm_code take_chain_overlay(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_chain const *from = &resolve->file->chains[index];
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    bool found = false;
    enum rm_code code = RM_OK;
    struct rm_yaml_key const *timeout_ms = rm_yaml_key_at(&rm_ring_chain_schema, "timeout_ms");
    if (from->timeout_ms != NULL && !rm_yaml_in_range(timeout_ms, *from->timeout_ms))
        code = rm_resolve_fail(resolve, "chains", index, "timeout_ms", "found %g, expected 0 (never) to %g",
                               *from->timeout_ms, timeout_ms->max);
    for (uint32_t c = 0; c < supplies->chain_count; ++c) {
        struct rm_ring_chain *chain = &supplies->chains[c];
        if (!rm_resolve_means(from->name, chain->name, chain->entry))
            continue;
        found = true;
        if (from->timeout_ms != NULL)
            chain->config.timeout_s = *from->timeout_ms == 0 ? INFINITY : 1e-3 * *from->timeout_ms;
        if (from->stop != NULL)
            chain->config.ramps = *from->stop == RM_RING_FILE_RAMP;
        if (from->mirror != NULL)
            chain->mirror = *from->mirror;
    }
    if (found)
        return code;
    return rm_resolve_fail(resolve, "chains", index, "name",
                           "found \"%s\", expected the name of a chain of %s, or \"all\"", from->name,
                           resolve->machine->source_path);
}

static enum rm_code allocate_ring_chains(struct rm_resolve *resolve) {
    struct rm_ring_supplies *to = &resolve->config->supplies;
    to->chains = calloc(RM_CONFIG_CHAINS_MAX, sizeof *to->chains);
    to->supplies = calloc(RM_CONFIG_SUPPLIES_MAX, sizeof *to->supplies);
    to->described = calloc(RM_CONFIG_SUPPLIES_MAX, sizeof *to->described);
    to->limits = calloc(RM_CONFIG_SUPPLIES_MAX, sizeof *to->limits);
    to->faults = calloc(resolve->file->chain_faults_count + 1, sizeof *to->faults);
    if (to->chains == NULL || to->supplies == NULL || to->described == NULL || to->limits == NULL || to->faults == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the supplies", resolve->path);
    return RM_OK;
}

enum rm_code rm_resolve_chains(struct rm_resolve *resolve) {
    enum rm_code code = allocate_ring_chains(resolve);
    for (uint32_t c = 0; code == RM_OK && c < resolve->machine->chain_count; ++c)
        if (resolve->ring_port[resolve->machine->chain[c].port] != RM_RING_NO_PORT)
            code = add_chain(resolve, c);
    return code;
}

enum rm_code rm_resolve_chain_keys(struct rm_resolve *resolve) {
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < resolve->file->chains_count; ++c)
        code = rm_code_first(code, take_chain_overlay(resolve, c));
    return code;
}

/* ── which supplies a text means ── */

/** "cf*", all supplies of the chains that match; "c0?/3", the third of each; "c0?/3-8", six of each. */
struct choice {
    char chains[64];
    unsigned long first, last;
};

static bool parse_choice(char const *text, struct choice *choice) {
    char *end = NULL;
    size_t const length = strcspn(text, "/");
    if (length == 0 || length >= sizeof choice->chains)
        return false;
    snprintf(choice->chains, sizeof choice->chains, "%.*s", (int)length, text);
    choice->first = 1;
    choice->last = RM_CHAIN_SUPPLIES_MAX;
    if (text[length] == '\0')
        return true;
    choice->first = choice->last = strtoul(text + length + 1, &end, 10);
    if (*end == '-')
        choice->last = strtoul(end + 1, &end, 10);
    return *end == '\0' && choice->first >= 1 && choice->last >= choice->first;
}

static uint32_t choose_of_chains(struct rm_ring_supplies const *supplies, struct choice const *choice,
                                 uint32_t *chosen) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < supplies->chain_count; ++c) {
        struct rm_ring_chain const *chain = &supplies->chains[c];
        if (!rm_resolve_means(choice->chains, chain->name, chain->entry))
            continue;
        for (unsigned long s = choice->first; s <= choice->last && s <= chain->config.supply_count; ++s)
            chosen[count++] = chain->first + (uint32_t)s - 1;
    }
    return count;
}

uint32_t rm_ring_choose_supplies(struct rm_ring_config const *ring, char const *text, uint32_t *chosen) {
    struct rm_ring_supplies const *supplies = &ring->supplies;
    struct rm_config_supply const *described = ring->description->supply;
    struct choice choice;
    uint32_t count = parse_choice(text, &choice) ? choose_of_chains(supplies, &choice, chosen) : 0;
    for (uint32_t s = 0; count == 0 && s < supplies->supply_count; ++s)
        if (strcmp(described[supplies->described[s]].name, text) == 0)
            chosen[count++] = s;
    if (count != 0)
        return count;
    for (uint32_t s = 0; s < supplies->supply_count; ++s)
        if (rm_pattern_matches(text, described[supplies->described[s]].name))
            chosen[count++] = s;
    return count;
}
