// SPDX-License-Identifier: Apache-2.0
/* What chains answer, as instruments: one for every ten supplies. */
#include "config/resolve.h"

#include <ringmaster/supply.h>

#include <stdio.h>
#include <string.h>

/* "a", "b", …: no chain has more parts than its ids have room for. */
_Static_assert((int)RM_CHAIN_SUPPLIES_MAX <= (int)(RM_CHAIN_ID_PARTS * RM_SUPPLIES_PER_RECORD), "every part has an id");
_Static_assert((int)RM_SUPPLY_LANE_FIRST + (int)RM_SUPPLIES_PER_RECORD <= (int)RM_LANES, "a record holds ten");

uint32_t rm_config_chain_of(struct rm_config const *config, uint32_t instrument) {
    uint32_t i = 0;
    while (i < config->chain_count &&
           instrument - config->chain[i].first_instrument >= config->chain[i].instrument_count)
        i++;
    return i;
}

static enum rm_code check_readback_name(struct rm_config_resolving_chain const *resolving, char const *name) {
    struct rm_config const *const config = resolving->config;
    uint32_t i = 0;
    while (i < config->instrument_count && strcmp(config->instrument[i].name, name) != 0)
        i++;
    if (i == config->instrument_count)
        return RM_OK;
    uint32_t const chain = rm_config_chain_of(config, i);
    if (chain != config->chain_count)
        return rm_config_fail_entry(config, resolving->error, "chains", resolving->index, "name",
                                    "its answers would be an instrument \"%s\", as those of chain \"%s\" (chains[%u]) "
                                    "are, expected another name",
                                    name, config->chain[chain].name, rm_config_written_chain(resolving->file, chain));
    return rm_config_fail_entry(config, resolving->error, "chains", resolving->index, "name",
                                "its answers would be an instrument \"%s\", as instruments[%u] is, expected another "
                                "name",
                                name, rm_config_written_instrument(resolving->file, i));
}

static void set_readback_lane(struct rm_lane_info *lane, char const *name, char const *unit, enum rm_lane_type type,
                              enum rm_reduction reduction) {
    *lane = (struct rm_lane_info){.type = type, .reduction = reduction};
    snprintf(lane->name, sizeof lane->name, "%s", name);
    snprintf(lane->unit, sizeof lane->unit, "%s", unit);
}

/* The part of a supply's name behind the last slash. */
static char const *short_name(struct rm_config_supply const *supply) {
    char const *const slash = strrchr(supply->name, '/');
    return slash == NULL ? supply->name : slash + 1;
}

/* True where the short names of `count` supplies can be names of lanes beside "sequence" and "state". */
static bool short_names_do(struct rm_config_supply const *supply, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char const *const name = short_name(&supply[i]);
        if (strlen(name) >= RM_LANE_NAME_BYTES || strcmp(name, "sequence") == 0 || strcmp(name, "state") == 0)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(short_name(&supply[j]), name) == 0)
                return false;
    }
    return true;
}

static void set_lanes(struct rm_config_instrument *instrument, struct rm_config_supply const *supply, uint32_t first,
                      uint32_t count) {
    bool const by_name = short_names_do(supply, count);
    set_readback_lane(&instrument->lane[RM_SUPPLY_LANE_SEQUENCE], "sequence", "", RM_LANE_I32, RM_REDUCE_LAST);
    set_readback_lane(&instrument->lane[RM_SUPPLY_LANE_STATE], "state", "bits", RM_LANE_I32, RM_REDUCE_OR);
    for (uint32_t i = 0; i < count; i++) {
        char number[RM_LANE_NAME_BYTES];
        snprintf(number, sizeof number, "i%02u", first + i + 1);
        set_readback_lane(&instrument->lane[RM_SUPPLY_LANE_FIRST + i], by_name ? short_name(&supply[i]) : number,
                          supply[i].unit, RM_LANE_F32, RM_REDUCE_FIR);
    }
    instrument->lane_count = RM_SUPPLY_LANE_FIRST + count;
}

/* Part `part` of `parts`. */
static enum rm_code add_readback(struct rm_config_resolving_chain const *resolving, struct rm_config_chain const *chain,
                                 uint32_t part, uint32_t parts) {
    struct rm_config *const config = resolving->config;
    struct rm_config_instrument *const instrument = &config->instrument[config->instrument_count];
    *instrument = (struct rm_config_instrument){
        .kind = RM_KIND_POWER_SUPPLY,
        .id = (uint16_t)(chain->id * RM_CHAIN_ID_PARTS + part),
        .port = chain->port,
        .source_ipv4 = chain->address_ipv4,
        .period_turns = config->setpoints.period_turns,
        .follows = true,
    };
    int const bytes =
        parts == 1 ? snprintf(instrument->name, sizeof instrument->name, "%s", chain->name)
                   : snprintf(instrument->name, sizeof instrument->name, "%s_%c", chain->name, (char)('a' + part));
    if (bytes >= RM_CONFIG_NAME_BYTES)
        return rm_config_fail_entry(config, resolving->error, "chains", resolving->index, "name",
                                    "\"%s\" has no room for the \"_%c\" of its answers, expected at most %d characters",
                                    chain->name, (char)('a' + part), RM_CONFIG_NAME_BYTES - 3);
    enum rm_code const code = check_readback_name(resolving, instrument->name);
    if (code != RM_OK)
        return code;
    uint32_t const first = part * RM_SUPPLIES_PER_RECORD;
    uint32_t const left = chain->supply_count - first;
    set_lanes(instrument, &config->supply[chain->first_supply + first], first,
              left < RM_SUPPLIES_PER_RECORD ? left : RM_SUPPLIES_PER_RECORD);
    config->instrument_count++;
    return RM_OK;
}

enum rm_code rm_config_resolve_readbacks(struct rm_config_resolving_chain const *resolving) {
    struct rm_config *const config = resolving->config;
    struct rm_config_chain *const chain = &config->chain[config->chain_count];
    chain->first_instrument = config->instrument_count;
    if (!chain->readback)
        return RM_OK;
    uint32_t const parts = (chain->supply_count + RM_SUPPLIES_PER_RECORD - 1) / RM_SUPPLIES_PER_RECORD;
    if (parts > RM_CONFIG_INSTRUMENTS_MAX - config->instrument_count)
        return rm_config_fail_entry(config, resolving->error, "chains", resolving->index, NULL,
                                    "with the answers of chain \"%s\" there are more than %d instruments, expected "
                                    "fewer, or readback: false",
                                    chain->name, RM_CONFIG_INSTRUMENTS_MAX);
    enum rm_code code = RM_OK;
    for (uint32_t part = 0; part < parts && code == RM_OK; part++)
        code = add_readback(resolving, chain, part, parts);
    chain->instrument_count = parts;
    return code;
}
