// SPDX-License-Identifier: Apache-2.0
/** "Did you mean …?" for messages. Cold path only. */
#ifndef RM_BASE_NEAREST_H
#define RM_BASE_NEAREST_H

#include <stddef.h>

/** How many letters must be changed, added, removed or swapped with their neighbour to make `left` of `right`
 * (optimal string alignment). Only the first 63 bytes of either are looked at. */
size_t rm_edit_distance(char const *left, char const *right);

/** The best guess so far. Start with `{.wanted = what was written}` and offer it every name there is. */
struct rm_nearest {
    char const *wanted;
    /** The nearest name, or NULL while none was near enough to be a slip of the hand. */
    char const *name;
    /** Edit distance of `name`. */
    size_t distance;
};

void rm_nearest_offer(struct rm_nearest *nearest, char const *name);

#endif
