// SPDX-License-Identifier: Apache-2.0
/** What asking and answering need to know of an owner (ringmaster/owner.h). */
#ifndef RM_FABRIC_OWNER_PARTS_H
#define RM_FABRIC_OWNER_PARTS_H

#include <limits.h>
#include <stdint.h>

#include <ringmaster/owner.h>

#include "fabric/segment_file.h"
#include "fabric/stream_writer.h"

#define RM_OWNER_NONE SIZE_MAX

struct rm_owner {
    /** Its directory. */
    char workspace[PATH_MAX];

    char name[RM_OWNER_BYTES];
    struct rm_segment_plan plan;
    struct rm_segment segment;
    /** RM_OWNER_NONE: it asks nobody. */
    rm_owner_index requests;
    /** RM_OWNER_NONE: it answers nobody. */
    rm_owner_index replies;
    /** Of the folder `requests`. */
    bool requester;

    bool open;
    /** Of each planned object that is a stream; NULL before it opens. */
    struct rm_stream_writer **writer;
    /** Plan and segment are somebody else's to free and to close. */
    bool borrowed;
};

/** An owner's face for an open segment that was made by other means, as the server's: so it can have an inbox. Both
 * outlive it; its closing touches neither. `workspace` by its name. */
enum rm_code rm_owner_borrow(char const *workspace, struct rm_segment_plan const *plan,
                             struct rm_segment const *segment, struct rm_owner **owner, struct rm_error *error);

/** Takes over all streams of a segment that is not finished yet (owner_streams.c); and lets go of them. */
enum rm_code rm_owner_streams_open(struct rm_owner *owner, struct rm_error *error);
void rm_owner_streams_close(struct rm_owner *owner);

/** An object's memory by its name, or NULL. */
void *rm_owner_object(struct rm_owner const *owner, enum rm_object_kind kind, char const *name);

#endif
