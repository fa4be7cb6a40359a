// SPDX-License-Identifier: Apache-2.0
#include "forward/path_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"

enum {
    GROUPS = RM_PATH_GROUPS_MAX,
    HASHES = 4096,
};

bool rm_path_groups_make(struct rm_path_groups *groups) {
    groups->slot = rm_zeroed(GROUPS, sizeof *groups->slot);
    groups->holders = calloc(GROUPS, sizeof *groups->holders);
    groups->next = calloc(GROUPS, sizeof *groups->next);
    groups->first = calloc(HASHES, sizeof *groups->first);
    if (groups->slot == NULL || groups->holders == NULL || groups->next == NULL || groups->first == NULL)
        return false;
    for (uint32_t i = 1; i < GROUPS - 1; ++i)
        groups->next[i] = (uint16_t)(i + 1);
    groups->free = 1;
    return true;
}

void rm_path_groups_free(struct rm_path_groups *groups) {
    free(groups->slot);
    free(groups->holders);
    free(groups->next);
    free(groups->first);
}

/** Each path has a slot; each slot left goes to the path that has the least for its weight. */
struct rm_path_slots rm_path_slots_of(struct rm_path const *path, uint32_t count) {
    uint32_t slots[RM_PATHS_MAX] = {0};
    for (uint32_t i = 0; i < RM_PATHS_MAX; ++i) {
        uint32_t poorest = i < count ? i : 0;
        for (uint32_t at = 0; i >= count && at < count; ++at)
            if ((uint64_t)(slots[at] + 1) * path[poorest].weight < (uint64_t)(slots[poorest] + 1) * path[at].weight)
                poorest = at;
        ++slots[poorest];
    }
    struct rm_path_slots made = {{0}};
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < slots[i]; ++j)
            made.hop[filled++] = (uint16_t)path[i].hop;
    return made;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b) {
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

uint32_t rm_path_slots_paths(struct rm_path_slots const *slots, struct rm_path path[RM_PATHS_MAX]) {
    uint32_t count = 0, divisor = 0;
    for (uint32_t i = 0; i < RM_PATHS_MAX; ++i) {
        if (i == 0 || slots->hop[i] != slots->hop[i - 1])
            path[count++] = (struct rm_path){.hop = slots->hop[i]};
        ++path[count - 1].weight;
    }
    for (uint32_t i = 0; i < count; ++i)
        divisor = greatest_common_divisor(path[i].weight, divisor);
    for (uint32_t i = 0; i < count; ++i)
        path[i].weight /= divisor;
    return count;
}

static uint32_t path_slots_hash(struct rm_path_slots const *slots) {
    uint64_t words[2];
    memcpy(words, slots, sizeof words);
    uint64_t const mixed = (words[0] ^ words[1] * 0x9E3779B97F4A7C15u) * 0xC2B2AE3D27D4EB4Fu;
    return (uint32_t)(mixed >> 52) % HASHES;
}

uint32_t rm_path_groups_take(struct rm_path_groups *groups, struct rm_path_slots const *slots, bool *made) {
    uint16_t *const first = &groups->first[path_slots_hash(slots)];
    *made = false;
    for (uint32_t group = *first; group != 0; group = groups->next[group])
        if (memcmp(&groups->slot[group], slots, sizeof *slots) == 0) {
            ++groups->holders[group];
            return group;
        }
    uint16_t const group = groups->free;
    if (group == 0)
        return 0;
    groups->free = groups->next[group];
    groups->next[group] = *first;
    *first = group;
    groups->slot[group] = *slots;
    groups->holders[group] = 1;
    *made = true;
    return group;
}

void rm_path_groups_hold(struct rm_path_groups *groups, uint32_t group) { ++groups->holders[group]; }

bool rm_path_groups_drop(struct rm_path_groups *groups, uint32_t group) {
    if (--groups->holders[group] != 0)
        return false;
    uint16_t *at = &groups->first[path_slots_hash(&groups->slot[group])];
    while (*at != group)
        at = &groups->next[*at];
    *at = groups->next[group];
    groups->next[group] = groups->free;
    groups->free = (uint16_t)group;
    return true;
}
