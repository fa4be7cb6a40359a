// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "ring_resolve.h"

/** What each kind of fault may and must say besides. */
struct rule {
    bool has_turns;
    bool has_duration;
    bool has_unseen;
    bool always;    /**< strikes every datagram: neither probability nor at_turn */
    bool at_a_turn; /**< at_turn only: by probability it would make no sense */
    int64_t otherwise_turns;
};

static struct rule const rules[RM_FAULT_KINDS] = {
    [RM_FAULT_TURN_JUMP] = {.has_turns = true, .has_duration = true}, [RM_FAULT_TURN_RESET] = {.at_a_turn = true},
    [RM_FAULT_REORDER] = {.has_turns = true, .otherwise_turns = 1},   [RM_FAULT_LATE] = {.has_turns = true},
    [RM_FAULT_DELAY] = {.has_turns = true, .always = true},           [RM_FAULT_CORRUPT] = {.has_unseen = true},
};

static enum rm_code fail(struct rm_resolve const *resolve, uint32_t index, char const *key, char const *text) {
    return rm_resolve_fail(resolve, "faults", index, key, "%s: %s",
                           rm_ring_fault_name(resolve->file->faults[index].fault), text);
}

/** A key that this kind of fault does not have. */
static enum rm_code check_foreign_keys(struct rm_resolve const *resolve, uint32_t index) {
    struct rm_ring_file_fault const *from = &resolve->file->faults[index];
    struct rule const *rule = &rules[from->fault];
    struct {
        char const *key;
        bool foreign;
    } const keys[] = {
        {"turns", from->turns != NULL && !rule->has_turns},
        {"duration", from->duration != NULL && !rule->has_duration},
        {"unseen", from->unseen != NULL && !rule->has_unseen},
        {"probability", from->probability != NULL && (rule->always || rule->at_a_turn)},
        {"at_turn", from->at_turn != NULL && rule->always},
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k)
        if (keys[k].foreign)
            return fail(resolve, index, keys[k].key, "this fault has no such key, take it out");
    return RM_OK;
}

static enum rm_code check_when(struct rm_resolve const *resolve, uint32_t index) {
    struct rm_ring_file_fault const *from = &resolve->file->faults[index];
    struct rule const *rule = &rules[from->fault];
    if (rule->always)
        return RM_OK;
    if (rule->at_a_turn && from->at_turn == NULL)
        return fail(resolve, index, NULL, "expected at_turn");
    if ((from->probability == NULL) == (from->at_turn == NULL))
        return fail(resolve, index, NULL, "expected either probability or at_turn");
    if (from->probability != NULL && !(*from->probability >= 0 && *from->probability <= 1))
        return fail(resolve, index, "probability", "expected 0 to 1");
    if (from->at_turn != NULL && *from->at_turn == RM_TURN_NONE)
        return fail(resolve, index, "at_turn", "no turn has this number");
    return RM_OK;
}

static enum rm_code check_turns(struct rm_resolve const *resolve, uint32_t index, int64_t turns) {
    enum rm_fault_kind const kind = resolve->file->faults[index].fault;
    if (!rules[kind].has_turns)
        return RM_OK;
    if (kind == RM_FAULT_TURN_JUMP)
        return turns != 0 ? RM_OK : fail(resolve, index, "turns", "expected turns ahead, or negative: back");
    if (turns < 1 || turns > RM_FAULT_DELAY_MAX)
        return fail(resolve, index, "turns", "expected turns of 1 to 65536");
    return RM_OK;
}

static enum rm_code find_instrument(struct rm_resolve const *resolve, uint32_t index, int32_t *found) {
    char const *name = resolve->file->faults[index].instrument;
    *found = RM_RING_ALL;
    if (strcmp(name, "all") == 0)
        return RM_OK;
    for (uint32_t i = 0; i < resolve->config->instrument_count; ++i)
        if (strcmp(resolve->config->instruments[i].name, name) == 0) {
            *found = (int32_t)i;
            return RM_OK;
        }
    return rm_resolve_fail(resolve, "faults", index, "instrument",
                           "found \"%s\", expected the name of an instrument, or \"all\"", name);
}

static enum rm_code resolve_fault(struct rm_resolve const *resolve, uint32_t index) {
    struct rm_ring_file_fault const *from = &resolve->file->faults[index];
    struct rm_ring_fault *to = &resolve->config->faults[index];
    to->fault = (struct rm_fault){
        .kind = from->fault,
        .at_turn = from->at_turn == NULL ? RM_TURN_NONE : *from->at_turn,
        .probability = from->probability == NULL ? 0 : *from->probability,
        .turns = from->turns == NULL ? rules[from->fault].otherwise_turns : *from->turns,
        .duration = from->duration == NULL ? 1 : *from->duration,
        .unseen = from->unseen != NULL && *from->unseen,
    };
    enum rm_code code = find_instrument(resolve, index, &to->instrument);
    if (code == RM_OK)
        code = check_foreign_keys(resolve, index);
    if (code == RM_OK)
        code = check_when(resolve, index);
    return code == RM_OK ? check_turns(resolve, index, to->fault.turns) : code;
}

enum rm_code rm_resolve_faults(struct rm_resolve const *resolve) {
    struct rm_ring_config *config = resolve->config;
    if (resolve->file->faults_count == 0)
        return RM_OK;
    config->faults = calloc(resolve->file->faults_count, sizeof *config->faults);
    if (config->faults == NULL)
        return rm_fail(resolve->error, RM_E_NO_SPACE, "%s: no memory for the faults", resolve->path);
    enum rm_code code = RM_OK;
    while (code == RM_OK && config->fault_count < resolve->file->faults_count)
        code = resolve_fault(resolve, config->fault_count++);
    return code;
}
