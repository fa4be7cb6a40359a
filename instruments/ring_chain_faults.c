// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "ring_resolve.h"

/** What each kind of fault may and must say besides. */
struct chain_fault_rule {
    bool of_supply;  /**< befalls one supply, or all of the chain */
    bool of_answers; /**< has a probability */
    bool needs_limit;
    bool needs_id;
};

static struct chain_fault_rule const rules[RM_CHAIN_FAULT_KINDS] = {
    [RM_CHAIN_FAULT_TRIP] = {.of_supply = true},
    [RM_CHAIN_FAULT_SATURATE] = {.of_supply = true, .needs_limit = true},
    [RM_CHAIN_FAULT_STUCK] = {.of_supply = true},
    [RM_CHAIN_FAULT_DEAF] = {.of_supply = true},
    [RM_CHAIN_FAULT_SILENT] = {.of_answers = true},
    [RM_CHAIN_FAULT_OTHER_ID] = {.of_answers = true, .needs_id = true},
    [RM_CHAIN_FAULT_POWER_CYCLE] = {.of_supply = false},
};

static enum rm_code fail_chain_fault(struct rm_resolve *resolve, uint32_t index, char const *key, char const *text) {
    return rm_resolve_fail(resolve, "chain_faults", index, key, "%s: %s",
                           rm_ring_chain_fault_name(resolve->file->chain_faults[index].fault), text);
}

static enum rm_code check_chain_fault_keys(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_chain_fault const *from = &resolve->file->chain_faults[index];
    struct chain_fault_rule const *rule = &rules[from->fault];
    struct {
        char const *key;
        bool foreign;
    } const keys[] = {
        {"supply", from->supply != NULL && !rule->of_supply},
        {"probability", from->probability != NULL && !rule->of_answers},
        {"limit", from->limit != NULL && !rule->needs_limit},
        {"id", from->id != NULL && !rule->needs_id},
    };
    enum rm_code code = RM_OK;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k)
        if (keys[k].foreign)
            code = fail_chain_fault(resolve, index, keys[k].key, "this fault has no such key, take it out");
    if (rule->needs_limit && from->limit == NULL)
        return fail_chain_fault(resolve, index, NULL, "expected limit: it can no more than that, either way");
    if (rule->needs_id && from->id == NULL)
        return fail_chain_fault(resolve, index, NULL, "expected id: of the chain for which it answers");
    return code;
}

static enum rm_code check_chain_fault_numbers(struct rm_resolve *resolve, uint32_t index) {
    struct rm_chain_fault const *fault = &resolve->config->supplies.faults[index].fault;
    enum rm_code code = RM_OK;
    if (!(fault->from_s >= 0))
        code = fail_chain_fault(resolve, index, "from_s", "expected seconds since the start of the run");
    if (!(fault->to_s > fault->from_s))
        code = fail_chain_fault(resolve, index, "for_s", "expected more than 0 seconds");
    if (!(fault->probability >= 0 && fault->probability <= 1))
        code = fail_chain_fault(resolve, index, "probability", "expected 0 to 1");
    if (!(fault->limit >= 0))
        code = fail_chain_fault(resolve, index, "limit", "expected 0 or more");
    return code;
}

/** The chains that a fault names: all, one, or those of an entry of the configuration. They stand together. */
static enum rm_code find_chains(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_supplies const *supplies = &resolve->config->supplies;
    struct rm_ring_chain_fault *to = &supplies->faults[index];
    char const *name = resolve->file->chain_faults[index].chain;
    for (uint32_t c = 0; c < supplies->chain_count; ++c)
        if (rm_resolve_means(name, supplies->chains[c].name, supplies->chains[c].entry))
            to->first_chain = to->chain_count++ == 0 ? c : to->first_chain;
    if (to->chain_count == 0)
        return rm_resolve_fail(resolve, "chain_faults", index, "chain",
                               "found \"%s\", expected the name of a chain, or \"all\"", name);
    return RM_OK;
}

static enum rm_code find_supply(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_chain_fault *to = &resolve->config->supplies.faults[index];
    uint32_t const *number = resolve->file->chain_faults[index].supply;
    to->fault.supply = RM_CHAIN_ALL_SUPPLIES;
    if (number == NULL)
        return RM_OK;
    to->fault.supply = (int32_t)*number - 1;
    for (uint32_t c = to->first_chain; c < to->first_chain + to->chain_count; ++c)
        if (*number == 0 || *number > resolve->config->supplies.chains[c].config.supply_count)
            return rm_resolve_fail(resolve, "chain_faults", index, "supply", "found %u, expected 1 to %u", *number,
                                   resolve->config->supplies.chains[c].config.supply_count);
    return RM_OK;
}

static enum rm_code take_fault(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_chain_fault *from = &resolve->file->chain_faults[index];
    struct rm_chain_fault *to = &resolve->config->supplies.faults[index].fault;
    if (!rm_yaml_fill(&rm_ring_chain_fault_schema, from, true))
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the faults", resolve->path);
    *to = (struct rm_chain_fault){
        .kind = from->fault,
        .from_s = *from->from_s,
        .to_s = INFINITY,
        .probability = *from->probability,
        .limit = from->limit == NULL ? 0 : *from->limit,
        .other_id = from->id == NULL ? 0 : *from->id,
    };
    if (from->for_s != NULL)
        to->to_s = to->from_s + *from->for_s;
    return RM_OK;
}

static enum rm_code resolve_fault(struct rm_resolve *resolve, uint32_t index) {
    enum rm_code code = check_chain_fault_keys(resolve, index);
    if (code == RM_OK)
        code = take_fault(resolve, index);
    if (code == RM_OK)
        code = check_chain_fault_numbers(resolve, index);
    enum rm_code const chains = find_chains(resolve, index);
    code = rm_code_first(code, chains);
    return chains == RM_OK ? rm_code_first(code, find_supply(resolve, index)) : code;
}

enum rm_code rm_resolve_chain_faults(struct rm_resolve *resolve) {
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    enum rm_code code = RM_OK;
    for (; supplies->fault_count < resolve->file->chain_faults_count; ++supplies->fault_count)
        code = rm_code_first(code, resolve_fault(resolve, supplies->fault_count));
    return code;
}
