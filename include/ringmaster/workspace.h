// SPDX-License-Identifier: Apache-2.0
/** Attaching to a workspace, and finding what is in it.
 *
 *     struct rm_error error;
 *     struct rm_workspace *workspace;
 *     if (rm_workspace_attach("demo", 0, &workspace, &error) != RM_OK)
 *         errx(1, "%s", error.text);
 *     struct rm_stream_view bpm;
 *     if (rm_workspace_stream(workspace, "bpm01/turn", &bpm, &error) != RM_OK) …
 *     …
 *     rm_workspace_detach(workspace);
 *
 * Everything is mapped read-only. So a reader can do no harm, and may end at any instant, by kill -9 too. All pointers
 * that these functions return stay valid until rm_workspace_detach. Several threads may use a workspace at once; one
 * thread attaches and detaches it.
 *
 * Memory ordering: attaching loads each segment's `magic` with acquire, so the caller sees its header, its directory
 * and the constant part of every object (segment.h). How live parts are read stands in the header of each object.
 */
#ifndef RINGMASTER_WORKSPACE_H
#define RINGMASTER_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>

#include <ringmaster/clock.h>
#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/histogram.h>
#include <ringmaster/images.h>
#include <ringmaster/parameter.h>
#include <ringmaster/rows.h>
#include <ringmaster/segment.h>
#include <ringmaster/stream.h>

/** An attached workspace. */
struct rm_workspace;

/** How to attach. 0: only while the server lives. */
enum rm_attach_flags {
    /** Attach also when the server has ended, to read what it left. */
    RM_ATTACH_DEAD = 1,
    /** Attach also where no server lives, to a workspace of other owners, one of which lives: a camera receiver. What a
     * server left there is not mapped. */
    RM_ATTACH_SERVERLESS = 2,
};

/** Attaches to the workspace NAME (`/dev/shm/ringmaster/NAME`, or below $RINGMASTER_WORKSPACES, or the user's own
 * `/dev/shm/ringmaster-UID/NAME`; a name with a slash is taken as a path). Maps the server's segment and those of all
 * other owners that are whole.
 *
 * Errors, each with its own text: RM_E_ABSENT, RM_E_HALF_MADE, RM_E_VERSION, RM_E_DEAD (unless RM_ATTACH_DEAD),
 * RM_E_SYSTEM (no permission, for instance). */
enum rm_code rm_workspace_attach(char const *name, unsigned flags, struct rm_workspace **workspace,
                                 struct rm_error *error);

/** Unmaps everything. NULL is allowed. */
void rm_workspace_detach(struct rm_workspace *workspace);

/** True while the process that owns the server's segment lives; without a server (RM_ATTACH_SERVERLESS) that of the
 * leading owner, which is the first by name of those that lived when the workspace was attached. Also false while a server that adopts the segment of a
 * dead one starts, and when one with another configuration has replaced it: attach again. Takes some system calls. */
bool rm_workspace_alive(struct rm_workspace const *workspace);

/** The name of an owner that cut its file below what is mapped here, as far as it was read since; NULL when there is
 * none. In place of what was cut stand zeros (truncation.h): detach, and attach again. */
char const *rm_workspace_cut(struct rm_workspace const *workspace);

/** Instance of the server, or of the leading owner: a number that each server raises when it adopts the segment of a dead one. Where it changes,
 * one server has ended and another one begun, even if no call of rm_workspace_alive was false between. */
uint64_t rm_workspace_generation(struct rm_workspace const *workspace);

/** Number of objects over all segments, and object `index` of them with the start of its memory. They stand in the
 * order of the owners' names, then of the directories. */
size_t rm_workspace_object_count(struct rm_workspace const *workspace);
struct rm_object const *rm_workspace_object(struct rm_workspace const *workspace, size_t index, void const **memory);

/** Finds an object by its whole name and kind. RM_E_NOT_FOUND names the nearest existing name. */
enum rm_code rm_workspace_find(struct rm_workspace const *workspace, enum rm_object_kind kind, char const *name,
                               struct rm_object const **object, void const **memory, struct rm_error *error);

/** True while the process lives that owns the segment in which `memory` lies, as rm_workspace_find gave it: what a dead
 * one has left can still be read. Takes some system calls. */
bool rm_workspace_owner_alive(struct rm_workspace const *workspace, void const *memory);

/** Finds a stream by name, "bpm01/turn", "bpm01/fast", "bpm01/low_latency". */
enum rm_code rm_workspace_stream(struct rm_workspace const *workspace, char const *name, struct rm_stream_view *view,
                                 struct rm_error *error);

/** Finds a row ring by name, "tune/spectrum_x". */
enum rm_code rm_workspace_rows(struct rm_workspace const *workspace, char const *name, struct rm_rows_view *view,
                               struct rm_error *error);

/** Finds images by name, "cam01". */
enum rm_code rm_workspace_images(struct rm_workspace const *workspace, char const *name, struct rm_images_view *view,
                                 struct rm_error *error);

#endif
