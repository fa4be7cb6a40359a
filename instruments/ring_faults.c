// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "datagram.h"
#include "ring_resolve.h"

/** What each kind of fault may and must say besides. */
struct datagram_fault_rule {
    bool has_turns;
    bool has_duration;
    bool has_unseen;
    bool has_order;
    bool has_network; /**< befalls datagrams on their way, so that mirrored networks may differ */
    bool always;      /**< strikes every datagram: neither probability nor at_turn */
    bool at_a_turn;   /**< at_turn only: by probability it would make no sense */
    int64_t otherwise_turns;
};

static struct datagram_fault_rule const rules[RM_FAULT_KINDS] = {
    [RM_FAULT_TURN_JUMP] = {.has_turns = true, .has_duration = true},
    [RM_FAULT_TURN_RESET] = {.at_a_turn = true},
    [RM_FAULT_DROP] = {.has_network = true},
    [RM_FAULT_DUPLICATE] = {.has_network = true},
    [RM_FAULT_REORDER] = {.has_turns = true, .has_network = true, .otherwise_turns = 1},
    [RM_FAULT_LATE] = {.has_turns = true, .has_network = true},
    [RM_FAULT_DELAY] = {.has_turns = true, .has_network = true, .always = true},
    [RM_FAULT_CORRUPT] = {.has_unseen = true, .has_network = true},
    [RM_FAULT_TRUNCATED] = {.has_network = true},
    [RM_FAULT_WRONG_VERSION] = {.has_network = true},
    [RM_FAULT_FRAGMENT_ORDER] = {.has_order = true, .has_network = true},
    [RM_FAULT_FRAGMENT_DROP] = {.has_network = true},
    [RM_FAULT_FRAGMENT_DUPLICATE] = {.has_network = true},
    [RM_FAULT_FRAGMENT_OVERLAP] = {.has_network = true},
};

static enum rm_code fail_fault(struct rm_resolve *resolve, uint32_t index, char const *key, char const *text) {
    return rm_resolve_fail(resolve, "faults", index, key, "%s: %s",
                           rm_ring_fault_name(resolve->file->faults[index].fault), text);
}

/** A key that this kind of fault does not have. */
static enum rm_code check_foreign_keys(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_fault const *from = &resolve->file->faults[index];
    struct datagram_fault_rule const *rule = &rules[from->fault];
    struct {
        char const *key;
        bool foreign;
    } const keys[] = {
        {"turns", from->turns != NULL && !rule->has_turns},
        {"duration", from->duration != NULL && !rule->has_duration},
        {"unseen", from->unseen != NULL && !rule->has_unseen},
        {"order", from->order != NULL && !rule->has_order},
        {"network", from->network != NULL && !rule->has_network},
        {"probability", from->probability != NULL && (rule->always || rule->at_a_turn)},
        {"at_turn", from->at_turn != NULL && rule->always},
    };
    enum rm_code code = RM_OK;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k)
        if (keys[k].foreign)
            code = fail_fault(resolve, index, keys[k].key, "this fault has no such key, take it out");
    return code;
}

static enum rm_code check_when(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_fault const *from = &resolve->file->faults[index];
    struct datagram_fault_rule const *rule = &rules[from->fault];
    if (rule->always)
        return RM_OK;
    if (rule->at_a_turn && from->at_turn == NULL)
        return fail_fault(resolve, index, NULL, "expected at_turn");
    if ((from->probability == NULL) == (from->at_turn == NULL))
        return fail_fault(resolve, index, NULL, "expected either probability or at_turn");
    if (from->probability != NULL && !(*from->probability >= 0 && *from->probability <= 1))
        return fail_fault(resolve, index, "probability", "expected 0 to 1");
    if (from->at_turn != NULL && *from->at_turn == RM_TURN_NONE)
        return fail_fault(resolve, index, "at_turn", "no turn has this number");
    return RM_OK;
}

static enum rm_code check_turns(struct rm_resolve *resolve, uint32_t index) {
    enum rm_fault_kind const kind = resolve->file->faults[index].fault;
    int64_t const turns = resolve->config->faults[index].fault.turns;
    if (!rules[kind].has_turns)
        return RM_OK;
    if (kind == RM_FAULT_TURN_JUMP)
        return turns != 0 ? RM_OK : fail_fault(resolve, index, "turns", "expected turns ahead, or negative: back");
    if (turns < 1 || turns > RM_FAULT_DELAY_MAX)
        return fail_fault(resolve, index, "turns", "expected turns of 1 to 65536");
    return RM_OK;
}

/** The groups that a fault names: all, one, or those of an entry of the file, which stand together. */
static void find_groups(struct rm_resolve *resolve, char const *name, struct rm_ring_fault *fault) {
    struct rm_ring_config const *config = resolve->config;
    for (uint32_t g = 0; g < config->group_count; ++g) {
        struct rm_virtual_group const *group = &config->groups[g];
        char const *entry = resolve->machine->instrument[resolve->described[group->first]].entry;
        if (!rm_resolve_means(name, group->name, entry))
            continue;
        if (fault->group_count++ == 0)
            fault->first_group = g;
    }
}

static enum rm_code find_faulty_instrument(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_config const *config = resolve->config;
    char const *name = resolve->file->faults[index].instrument;
    find_groups(resolve, name, &config->faults[index]);
    if (config->faults[index].group_count != 0)
        return RM_OK;
    for (uint32_t g = 0; g < config->group_count; ++g)
        for (uint32_t i = 0; i < config->groups[g].count; ++i)
            if (strcmp(config->instruments[config->groups[g].first + i].name, name) == 0)
                return rm_resolve_fail(resolve, "faults", index, "instrument",
                                       "\"%s\" shares its datagrams, expected the name of all of them: \"%s\"", name,
                                       config->groups[g].name);
    return rm_resolve_fail(resolve, "faults", index, "instrument",
                           "found \"%s\", expected the name of an instrument, or \"all\"", name);
}

/** Whether the kernel writes the datagrams of a group that a fault befalls. */
static bool meets_udp(struct rm_ring_config const *config, struct rm_ring_fault const *fault) {
    for (uint32_t g = fault->first_group; g < fault->first_group + fault->group_count; ++g)
        for (uint32_t n = 0; n < config->network_count; ++n)
            if ((fault->network == RM_RING_BOTH_NETWORKS || fault->network == (int32_t)n) &&
                config->ports[config->groups[g].port[n]].port.kind == RM_PORT_UDP)
                return true;
    return false;
}

static enum rm_code check_network(struct rm_resolve *resolve, uint32_t index, int32_t network) {
    struct rm_ring_config const *config = resolve->config;
    if (network != RM_RING_BOTH_NETWORKS && config->network_count < 2)
        return fail_fault(resolve, index, "network", "there is only one network, take it out");
    if (rm_fault_is_of_fragments(resolve->file->faults[index].fault) && meets_udp(config, &config->faults[index]))
        return fail_fault(resolve, index, NULL, "a udp port has no fragments of ours: the kernel makes them");
    return RM_OK;
}

/** What a fault needs of the format that it befalls. */
static enum rm_code check_formats(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_fault const *fault = &resolve->config->faults[index];
    if (fault->fault.kind != RM_FAULT_WRONG_VERSION)
        return RM_OK;
    for (uint32_t g = fault->first_group; g < fault->first_group + fault->group_count; ++g)
        if (rm_datagram_version_at(resolve->config->groups[g].format) == RM_NO_VERSION)
            return fail_fault(resolve, index, NULL, "the format has no constants by which its version could be told");
    return RM_OK;
}

static enum rm_code take_fault(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_fault *from = &resolve->file->faults[index];
    struct rm_ring_fault *to = &resolve->config->faults[index];
    if (!rm_yaml_fill(&rm_ring_fault_schema, from, true))
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the faults", resolve->path);
    to->network = from->network == NULL ? RM_RING_BOTH_NETWORKS : (int32_t)*from->network;
    to->fault = (struct rm_fault){
        .kind = from->fault,
        .at_turn = from->at_turn == NULL ? RM_TURN_NONE : *from->at_turn,
        .probability = from->probability == NULL ? 0 : *from->probability,
        .turns = from->turns == NULL ? rules[from->fault].otherwise_turns : *from->turns,
        .duration = *from->duration,
        .unseen = *from->unseen,
        .order = *from->order,
    };
    return RM_OK;
}

static enum rm_code resolve_fault(struct rm_resolve *resolve, uint32_t index) {
    enum rm_code const instrument = find_faulty_instrument(resolve, index);
    enum rm_code keys = check_foreign_keys(resolve, index);
    if (keys == RM_OK)
        keys = take_fault(resolve, index);
    enum rm_code code = rm_code_first(instrument, keys);
    if (keys == RM_OK) {
        code = rm_code_first(code, check_when(resolve, index));
        code = rm_code_first(code, check_turns(resolve, index));
    }
    if (instrument != RM_OK || keys != RM_OK)
        return code;
    code = rm_code_first(code, check_formats(resolve, index));
    return rm_code_first(code, check_network(resolve, index, resolve->config->faults[index].network));
}

enum rm_code rm_resolve_faults(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    if (resolve->file->faults_count == 0)
        return RM_OK;
    config->faults = calloc(resolve->file->faults_count, sizeof *config->faults);
    if (config->faults == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the faults", resolve->path);
    enum rm_code code = RM_OK;
    while (config->fault_count < resolve->file->faults_count)
        code = rm_code_first(code, resolve_fault(resolve, config->fault_count++));
    return code;
}
