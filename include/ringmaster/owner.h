// SPDX-License-Identifier: Apache-2.0
/** A segment of one's own: how a program tells others its parameters, and asks for others'.
 *
 *     struct rm_owner *owner;
 *     rm_owner_new("demo", "ramp", &owner, &error);
 *     struct rm_parameter_plan const plan = {.name = "ramp/slope", .unit = "A/s", …};
 *     rm_owner_index slope = rm_owner_parameter(owner, &plan);
 *     rm_owner_index rows = rm_owner_setpoints(owner, "setpoints/ramp", "…", 8);
 *     if (rm_owner_open(owner, &error) != RM_OK) …
 *     struct rm_parameter *it = rm_owner_memory(owner, slope);
 *     …
 *     rm_owner_close(owner);
 *
 * Additions remember their first error, which opening reports, so they need not be checked one by one. Opening takes
 * the owner's lock and makes the segment or adopts an equal one that an earlier owner left (rm_owner_adopted): then
 * settings, and what others may set, still have the values it left, and setpoint rows go on counting; readings and
 * counters begin anew. A setting of more than one word in whose change that owner was killed is RM_SEVERITY_INVALID:
 * some of it may be old. What is written through the pointers follows the rules of each object's header. A killed owner
 * needs no cleaning up.
 */
#ifndef RINGMASTER_OWNER_H
#define RINGMASTER_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/parameter.h>
#include <ringmaster/record.h>
#include <ringmaster/segment.h>
#include <ringmaster/stream.h>

struct rm_owner;

/** Names an object that was added. */
typedef size_t rm_owner_index;

/** A parameter to be. NULL texts are empty, NULL limits and conversion mean none. */
struct rm_parameter_plan {
    /** Unique in the workspace: begin it with the owner's name. */
    char const *name;

    char const *unit;
    char const *description;
    enum rm_element_type type;
    /** Shape; columns 0 or 1 for one dimension. */
    size_t rows, columns;

    struct rm_limits const *limits;
    struct rm_conversion const *conversion;
    /** enum rm_parameter_flags; RM_PARAMETER_ALARMS is set by itself. */
    unsigned flags;
    /** Name of a group that was added, or NULL. */
    char const *group;
};

/** `workspace` as in rm_workspace_attach; `name` as in rm_segment_header.owner. */
enum rm_code rm_owner_new(char const *workspace, char const *name, struct rm_owner **owner, struct rm_error *error);

/** As rm_owner_new, under a name of its own that begins with `name`, in the workspace's folder `requests`. */
enum rm_code rm_owner_new_requester(char const *workspace, char const *name, struct rm_owner **owner,
                                    struct rm_error *error);

rm_owner_index rm_owner_parameter(struct rm_owner *owner, struct rm_parameter_plan const *plan);
rm_owner_index rm_owner_group(struct rm_owner *owner, char const *name, char const *description);
rm_owner_index rm_owner_setpoints(struct rm_owner *owner, char const *name, char const *description,
                                  size_t actuator_count);
rm_owner_index rm_owner_counters(struct rm_owner *owner, char const *name, char const *description, unsigned set,
                                 size_t count);
/** A stream. Of `stream` what is constant is taken: capacity (a power of two from 1024 on), period, kind, lanes, filter
 * and delays; where its records lie is found by itself. `name` is "ramp/target", the object's "stream/ramp/target". */
rm_owner_index rm_owner_stream(struct rm_owner *owner, char const *name, char const *description,
                               struct rm_stream const *stream);
rm_owner_index rm_owner_histogram(struct rm_owner *owner, char const *name, char const *description, char const *unit);

/** At most one of each. */
rm_owner_index rm_owner_requests(struct rm_owner *owner);
rm_owner_index rm_owner_replies(struct rm_owner *owner);

/** Makes or adopts the segment; readers can attach when it returns. RM_E_BUSY while another process owns it. */
enum rm_code rm_owner_open(struct rm_owner *owner, struct rm_error *error);

/** An object's memory, valid from open to close. */
void *rm_owner_memory(struct rm_owner const *owner, rm_owner_index index);

/** Stores a record in a stream of this owner's and shows it to readers, as of `tsc`. Its turn is a multiple of the
 * period. One that is not above the newest begins the stream anew: readers see another machine epoch, as when the count
 * of turns begins anew. False, and nothing is stored, where the turn is RM_TURN_END or above, or the owner is not open
 * or has no such stream. Allocates nothing, calls no system. One thread at a time for each stream. */
bool rm_owner_stream_put(struct rm_owner *owner, rm_owner_index index, struct rm_record const *record, uint64_t tsc);

/** The parameter of that name in this owner's segment, or NULL. */
struct rm_parameter *rm_owner_find(struct rm_owner const *owner, char const *name);

struct rm_segment_header const *rm_owner_header(struct rm_owner const *owner);
bool rm_owner_adopted(struct rm_owner const *owner);

/** Closes in good order. The segment stays for readers as long as the workspace has a server's, and is removed where it
 * has none. That of a requester is removed. NULL is allowed. */
void rm_owner_close(struct rm_owner *owner);

#endif
