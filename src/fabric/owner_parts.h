// SPDX-License-Identifier: Apache-2.0
/** The inside of an owner (ringmaster/owner.h), for making and answering requests. */
#ifndef RM_FABRIC_OWNER_PARTS_H
#define RM_FABRIC_OWNER_PARTS_H

#include <limits.h>
#include <stdint.h>

#include <ringmaster/owner.h>

#include "fabric/segment_file.h"
#include "fabric/stream_writer.h"

#define RM_OWNER_NONE SIZE_MAX

struct rm_owner {
    /** Directory of its workspace. */
    char workspace[PATH_MAX];

    char name[RM_OWNER_BYTES];
    struct rm_segment_plan plan;
    struct rm_segment segment;
    /** RM_OWNER_NONE: it makes no requests. */
    rm_owner_index requests;
    /** RM_OWNER_NONE: it answers no requests. */
    rm_owner_index replies;
    /** It lies in the folder `requests`. */
    bool requester;

    bool open;
    /** [planned object] its writer if it is a stream or a row ring; NULL before the owner opens. */
    struct rm_stream_writer **writer;
    /** Plan and segment belong to the caller, which frees and closes them. */
    bool borrowed;
};

/** Makes an owner of an open segment that was made by other means, such as the server's, so that it can have an inbox.
 * Plan and segment outlive it; closing it touches neither. `workspace` is a name. */
enum rm_code rm_owner_borrow(char const *workspace, struct rm_segment_plan const *plan,
                             struct rm_segment const *segment, struct rm_owner **owner, struct rm_error *error);

/** Opens all streams of a segment that is not finished yet (owner_streams.c); and closes them. */
enum rm_code rm_owner_streams_open(struct rm_owner *owner, struct rm_error *error);
void rm_owner_streams_close(struct rm_owner *owner);

/** An object's memory by its name, or NULL. */
void *rm_owner_object(struct rm_owner const *owner, enum rm_object_kind kind, char const *name);

#endif
