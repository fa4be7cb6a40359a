// SPDX-License-Identifier: Apache-2.0
/** Path groups: sets of next hops that routes share. A group never changes while something holds it, so cores read it
 * without asking. Of the control side's one thread, but for `slot`. */
#ifndef RM_FORWARD_PATH_GROUPS_H
#define RM_FORWARD_PATH_GROUPS_H

#include "forward/routes.h"

/** Numbers of next hops, those of one path side by side: where first and last are the same there is one path. */
struct rm_path_slots {
    uint16_t hop[RM_PATHS_MAX];
};

struct rm_path_groups {
    /** [group]: what cores read. Group 0 is "no route". */
    struct rm_path_slots *slot;
    /** [group]: how many routes and pending changes hold it; 0: it is free. */
    uint32_t *holders;
    /** [group]: the next of the free ones, or of those with the same hash. */
    uint16_t *next;
    /** [hash]: the first group of it. */
    uint16_t *first;
    /** The first free group; 0: none. */
    uint16_t free;
};

bool rm_path_groups_make(struct rm_path_groups *groups);
void rm_path_groups_free(struct rm_path_groups *groups);

/** Shares the slots out by weight. The paths are 1 … RM_PATHS_MAX, their weights 1 or more. */
struct rm_path_slots rm_path_slots_of(struct rm_path const *path, uint32_t count);
/** The paths of slots, with the smallest weights that say the same. Returns how many. */
uint32_t rm_path_slots_paths(struct rm_path_slots const *slots, struct rm_path path[RM_PATHS_MAX]);

/** Finds or makes the group of these slots, and holds it. `*made` says that it was not there before. 0: all groups are
 * in use. */
uint32_t rm_path_groups_take(struct rm_path_groups *groups, struct rm_path_slots const *slots, bool *made);
void rm_path_groups_hold(struct rm_path_groups *groups, uint32_t group);
/** Ends a hold. True: it was the last, and the group is free. */
bool rm_path_groups_drop(struct rm_path_groups *groups, uint32_t group);

#endif
