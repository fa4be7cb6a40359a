// SPDX-License-Identifier: Apache-2.0
/** Finding objects in a segment that was found sound. */
#ifndef RM_FABRIC_SEGMENT_FIND_H
#define RM_FABRIC_SEGMENT_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fabric/segment_map.h"

/** Finds the first object of a kind, by its name where `name` is not NULL; `memory` is where it lies. NULL when there
 * is none. The place is checked once more, so that an owner that changes its directory later leads no reader outside.
 */
struct rm_object const *rm_segment_find(struct rm_mapped_segment const *mapped, enum rm_object_kind kind,
                                        char const *name, size_t bytes, void const **memory);

#endif
