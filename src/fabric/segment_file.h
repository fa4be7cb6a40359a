// SPDX-License-Identifier: Apache-2.0
/** Making, adopting and closing the segment that this process owns (ringmaster/segment.h).
 *
 *     rm_segment_open      lock OWNER.lock, then adopt an equal OWNER.segment or make a new one
 *     (initialise live parts, get the objects' memory)
 *     rm_segment_finish    the segment is whole: readers may attach
 *     rm_segment_close     in good order: state CLOSED, unmapped, lock dropped; the file stays for readers
 *
 * An owner that is killed leaves state LIVE and no lock: the next rm_segment_open adopts what it left.
 */
#ifndef RM_FABRIC_SEGMENT_FILE_H
#define RM_FABRIC_SEGMENT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/segment.h>

#include "fabric/segment_plan.h"

struct rm_segment {
    /** Start of the writable mapping. */
    struct rm_segment_header *header;

    uint64_t bytes;
    /** Path of its file in the workspace. */
    char path[PATH_MAX];

    int lock_file;
    /** It was adopted: an earlier owner's content is in it. */
    bool adopted;
    /** It is on huge pages. */
    bool huge;
};

/** Opens the segment OWNER of a workspace, which is created when absent, in OWNER's folder where there is one. The
 * memory is reserved and touched: a full file system is RM_E_NO_SPACE here, never a fault later. RM_E_BUSY when another
 * living process owns it, with its process id. */
enum rm_code rm_segment_open(char const *workspace, char const *owner, struct rm_segment_plan *plan,
                             struct rm_segment *segment, struct rm_error *error);

/** The same in a directory that exists, under a valid name, with a plan that was checked. */
enum rm_code rm_segment_open_in(char const *directory, char const *owner, struct rm_segment_plan *plan,
                                struct rm_segment *segment, struct rm_error *error);

/** Memory of a planned object. */
void *rm_segment_memory(struct rm_segment const *segment, struct rm_segment_plan const *plan, rm_planned_index index);

/** Publishes the segment: release store of the magic. Pairs with the acquire in rm_segment_whole (segment_map.c). */
void rm_segment_finish(struct rm_segment *segment);

/** Closes in good order. A segment that was never finished is removed: no reader has seen it. */
void rm_segment_close(struct rm_segment *segment);

/** Closes, and removes segment and lock: for an owner that needs not be known afterwards. */
void rm_segment_remove(struct rm_segment *segment);

#endif
