// SPDX-License-Identifier: Apache-2.0
/** A segment of one's own: how a program tells others its parameters, and asks for others'.
 *
 *     struct rm_owner *owner;
 *     rm_owner_new("demo", "ramp", &owner, &error);
 *     struct rm_parameter_plan const plan = {.name = "ramp/slope", .unit = "A/s", …};
 *     rm_owner_index slope = rm_owner_parameter(owner, &plan);
 *     rm_owner_index vectors = rm_owner_setpoints(owner, "setpoints/ramp", "…", 8);
 *     if (rm_owner_open(owner, &error) != RM_OK) …
 *     struct rm_parameter *it = rm_owner_memory(owner, slope);
 *     …
 *     rm_owner_close(owner);
 *
 * ## From new to open
 * First the objects are added. An addition remembers its first error, which opening reports, so additions need not be
 * checked one by one. Opening takes the owner's lock. Then it makes the segment, or adopts an equal one that an earlier
 * owner left (rm_owner_adopted).
 *
 * ## What an adopting owner finds
 * Settings, and what others may set, have the values that the earlier owner left. Setpoint vectors go on counting.
 * Readings and counters begin anew. A setting of more than one word is RM_SEVERITY_INVALID if the earlier owner was
 * killed while it changed: some of it may be old.
 *
 * ## Lifetime and order
 * Pointers are valid from open to close. What is written through them follows the rules of each object's header
 * (parameter.h, setpoint.h, stream.h, …), memory ordering included. An owner is used by one thread, except where a call
 * says otherwise. An owner that is killed needs no cleaning up.
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

/** A segment to be, or open. */
struct rm_owner;

/** Names an object that was added, for rm_owner_memory. */
typedef size_t rm_owner_index;

/** A parameter to be added; rm_owner_parameter copies it. A text that is NULL is empty. Limits or a conversion that are
 * NULL do not exist. */
struct rm_parameter_plan {
    /** Name, unique in the workspace. Begin it with the owner's name. */
    char const *name;
    /** Unit of the values, UTF-8. */
    char const *unit;
    /** One sentence. */
    char const *description;
    /** Type of the elements. */
    enum rm_element_type type;
    /** Shape. `columns` is 0 or 1 for one dimension. */
    size_t rows, columns;

    struct rm_limits const *limits;
    struct rm_conversion const *conversion;
    /** enum rm_parameter_flags. RM_PARAMETER_ALARMS is set by the library. */
    unsigned flags;
    /** Name of a group that was added, or NULL. */
    char const *group;
};

/** A row ring to be added; rm_owner_rows copies it. A text that is NULL is empty. */
struct rm_rows_plan {
    /** With the name "tune/spectrum_x" the object is "rows/tune/spectrum_x". */
    char const *name;
    /** Unit of the values, UTF-8. */
    char const *unit;
    /** One sentence. */
    char const *description;
    /** Values of a row, 1 to 2^24. */
    uint64_t width;
    /** Newest rows that readers can rely on, 1 to 2^24: the ring has the next power of two above. */
    uint64_t depth;
    /** Turns from one row to the next. */
    uint64_t period;
    /** What the values of a row are at: struct rm_rows has the same. */
    double axis_first, axis_step;
    char const *axis_name, *axis_unit;
    /** Turns from what a row is of to its turn: struct rm_stream has the same. */
    double group_delay_turns;
};

/** Images to be added; rm_owner_images copies it. */
struct rm_images_plan {
    /** With the name "cam01" the object is "images/cam01". */
    char const *name;
    /** One sentence. */
    char const *description;
    /** Slots, 8 to RM_IMAGE_SLOTS_MAX, and leases, up to RM_IMAGE_SLOTS_OWN below. */
    uint32_t slots, leases;
    /** The longest frame, and its fragments. */
    uint64_t frame_bytes;
    uint32_t fragments_max;
};

/** Begins an owner, which ends with rm_owner_close. `workspace` is as in rm_workspace_attach, `name` as in
 * rm_segment_header.owner. */
enum rm_code rm_owner_new(char const *workspace, char const *name, struct rm_owner **owner, struct rm_error *error);

/** Begins a short-lived owner that asks others (request.h). It gets a name of its own that begins with `name`, and lies
 * in the workspace's folder `requests`. */
enum rm_code rm_owner_new_requester(char const *workspace, char const *name, struct rm_owner **owner,
                                    struct rm_error *error);

/** Adds a parameter. */
rm_owner_index rm_owner_parameter(struct rm_owner *owner, struct rm_parameter_plan const *plan);

/** Adds a group: group.h. */
rm_owner_index rm_owner_group(struct rm_owner *owner, char const *name, char const *description);

/** Adds setpoint vectors for `actuator_count` actuators: setpoint.h. */
rm_owner_index rm_owner_setpoints(struct rm_owner *owner, char const *name, char const *description,
                                  size_t actuator_count);

/** Adds a block of `count` counters. `set` is enum rm_counter_set_id. */
rm_owner_index rm_owner_counters(struct rm_owner *owner, char const *name, char const *description, unsigned set,
                                 size_t count);

/** Adds a stream. The constant members of `stream` are taken: capacity (a power of two, at least 1024), period, kind,
 * lanes, filter and delays. The library sets the place of the records. With the name "ramp/target" the object is
 * "stream/ramp/target". */
rm_owner_index rm_owner_stream(struct rm_owner *owner, char const *name, char const *description,
                               struct rm_stream const *stream);

/** Adds a row ring: rows.h. */
rm_owner_index rm_owner_rows(struct rm_owner *owner, struct rm_rows_plan const *plan);

/** Adds images: images.h. Opening makes the file of their leases, too. */
rm_owner_index rm_owner_images(struct rm_owner *owner, struct rm_images_plan const *plan);

/** Adds a histogram: histogram.h. */
rm_owner_index rm_owner_histogram(struct rm_owner *owner, char const *name, char const *description, char const *unit);

/** Adds what `ringmaster-standby` tells its server: standby.h. */
rm_owner_index rm_owner_standby_orders(struct rm_owner *owner, char const *name, char const *description);

/** Adds an application's state ("state/ramp") with room for `capacity` bytes: state.h. */
rm_owner_index rm_owner_state(struct rm_owner *owner, char const *name, char const *description, uint64_t capacity);

/** Adds what an owner needs to ask, and what it needs to answer: request.h. At most one of each. */
rm_owner_index rm_owner_requests(struct rm_owner *owner);
rm_owner_index rm_owner_replies(struct rm_owner *owner);

/** Makes or adopts the segment. Readers can attach when it returns RM_OK. It returns RM_E_BUSY while another process
 * owns the segment, or the first error of the additions. */
enum rm_code rm_owner_open(struct rm_owner *owner, struct rm_error *error);

/** The memory of an object. Valid from open to close. */
void *rm_owner_memory(struct rm_owner const *owner, rm_owner_index index);

/** Stores a record in a stream of this owner and shows it to readers, as of `tsc`. The record's turn is a multiple
 * of the period. A turn that is not above the newest one begins the stream anew: readers see another turn-counter
 * epoch, as when the machine's turn counter restarts. Returns false, and stores nothing, where the turn is RM_TURN_END
 * or above, or the owner is not open or has no such stream. Allocates nothing, calls no system. One thread at a time
 * per stream. */
bool rm_owner_stream_put(struct rm_owner *owner, rm_owner_index index, struct rm_record const *record, uint64_t tsc);

/** The same for a row of a row ring. `quality` is the record's lane (rows.h), `values` are as many as the ring is wide. */
bool rm_owner_rows_put(struct rm_owner *owner, rm_owner_index index, rm_turn turn, uint32_t quality,
                       float const *values, uint64_t tsc);

/** The parameter of that name in this owner's segment, or NULL. The owner is open. */
struct rm_parameter *rm_owner_find(struct rm_owner const *owner, char const *name);

/** The header of the open segment. */
struct rm_segment_header const *rm_owner_header(struct rm_owner const *owner);

/** Whether opening adopted the segment of an earlier owner. */
bool rm_owner_adopted(struct rm_owner const *owner);

/** Closes in good order, and frees the owner. The segment stays for readers while the workspace has a segment of a
 * server, and is removed where it has none. The segment of a requester is removed always. NULL is allowed. */
void rm_owner_close(struct rm_owner *owner);

#endif
