// SPDX-License-Identifier: Apache-2.0
/** What a segment is going to hold, before it exists.
 *
 * An owner adds its objects, makes the segment of them in one go (segment_file.h), and then finds each object's memory
 * by the handle that adding gave. The plan computes the layout and the directory's hash, over names, shapes and
 * constant parts: two owners with equal plans make equal segments, so one can adopt the other's.
 *
 * Strings longer than their field are refused, as are names that exist already: the plan remembers its first error
 * (`rm_plan_check`), so that callers need not check every addition.
 */
#ifndef RM_FABRIC_SEGMENT_PLAN_H
#define RM_FABRIC_SEGMENT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/counters.h>
#include <ringmaster/error.h>
#include <ringmaster/grant.h>
#include <ringmaster/owner.h>
#include <ringmaster/parameter.h>
#include <ringmaster/segment.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>
#include <ringmaster/stream.h>

#include "fabric/element.h"

/** One planned object: its directory entry, and the bytes it starts with. */
struct rm_planned {
    struct rm_object object;
    /** Copied to the object's start; NULL: nothing is. */
    void *constant;

    size_t constant_bytes;
};

struct rm_segment_plan {
    struct rm_planned *planned;
    size_t count;
    size_t room;
    /** The first error; its code is RM_OK while there is none. */
    struct rm_error error;
};

/** Handle of a planned object: its place in the directory. */
typedef size_t rm_planned_index;

void rm_plan_init(struct rm_segment_plan *plan);
void rm_plan_free(struct rm_segment_plan *plan);

/** Returns the first error of all additions, or RM_OK. */
enum rm_code rm_plan_check(struct rm_segment_plan const *plan, struct rm_error *error);

/** Adds a stream. `stream` is its constant part; slots_offset and margin are filled in. `name` is "bpm01/turn": the
 * object is called "stream/bpm01/turn". `capacity` is a power of two from 1024 to 2^40, `period` at least 1. */
rm_planned_index rm_plan_stream(struct rm_segment_plan *plan, char const *name, char const *description,
                                struct rm_stream const *stream);

/** Adds a row ring. */
rm_planned_index rm_plan_rows(struct rm_segment_plan *plan, struct rm_rows_plan const *rows);

/** Adds images. */
rm_planned_index rm_plan_images(struct rm_segment_plan *plan, struct rm_images_plan const *images);

/** Number of objects of a kind. */
static inline size_t rm_plan_count(struct rm_segment_plan const *plan, enum rm_object_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < plan->count; ++i)
        count += plan->planned[i].object.kind == kind;
    return count;
}

/** Adds a block of counters; `name` as in counters.toml ("counters/port/ring"). */
rm_planned_index rm_plan_counters(struct rm_segment_plan *plan, char const *name, char const *description,
                                  enum rm_counter_set_id set, size_t count);

/** Add the clock; a histogram in `unit`; a constant text. */
rm_planned_index rm_plan_clock(struct rm_segment_plan *plan, char const *name, char const *description);
rm_planned_index rm_plan_histogram(struct rm_segment_plan *plan, char const *name, char const *description,
                                   char const *unit);
rm_planned_index rm_plan_text(struct rm_segment_plan *plan, char const *name, char const *description,
                              char const *text);

/** Adds a parameter of `count` elements that its owner alone sets. `limits` may be NULL: it has none. The full name is
 * as given: "ring/tune_x". */
rm_planned_index rm_plan_parameter(struct rm_segment_plan *plan, char const *name, char const *unit,
                                   char const *description, enum rm_element_type type, size_t count,
                                   struct rm_limits const *limits);

/** Adds a parameter with everything that one can have. Its group was planned before; limits are in order; the
 * conversion is invertible (rm_conversion_is_good). */
rm_planned_index rm_plan_full_parameter(struct rm_segment_plan *plan, struct rm_parameter_plan const *parameter);

/** Adds a group, which counts the parameters that name it. */
rm_planned_index rm_plan_group(struct rm_segment_plan *plan, char const *name, char const *description);

/** Adds setpoint vectors of so many actuators, 0 to 2^20. */
rm_planned_index rm_plan_setpoints(struct rm_segment_plan *plan, char const *name, char const *description,
                                   size_t actuator_count);

/** Add requests to other owners ("ramp/requests"), and replies to theirs ("ramp/replies"). */
rm_planned_index rm_plan_requests(struct rm_segment_plan *plan, char const *name, char const *description);
rm_planned_index rm_plan_replies(struct rm_segment_plan *plan, char const *name, char const *description);

/** Adds what so many chains of supplies are intended to be sent. */
rm_planned_index rm_plan_intended(struct rm_segment_plan *plan, char const *name, char const *description,
                                  size_t chain_count);

/** Adds a grant; `grant` is its constant part. */
rm_planned_index rm_plan_grant(struct rm_segment_plan *plan, char const *name, char const *description,
                               struct rm_grant const *grant);

/** Adds what one of two servers is; `state` is its constant part. And what it may do, which begins as zeros. */
rm_planned_index rm_plan_standby_state(struct rm_segment_plan *plan, char const *name, char const *description,
                                       struct rm_standby_state const *state);
rm_planned_index rm_plan_standby_orders(struct rm_segment_plan *plan, char const *name, char const *description);

/** Adds an application's state ("state/ramp"), with room for `capacity` bytes, 1 to 2^36, rounded up to words. */
rm_planned_index rm_plan_state(struct rm_segment_plan *plan, char const *name, char const *description,
                               uint64_t capacity);

/** Writes the owner's name into every parameter. Opening a segment does so, before the layout is settled. */
void rm_plan_own(struct rm_segment_plan *plan, char const *owner);

/** Settles the offsets of all objects. Returns the segment's size in bytes. */
uint64_t rm_plan_layout(struct rm_segment_plan *plan);

/** Hash over the directory and the constant parts; call after rm_plan_layout. */
uint64_t rm_plan_hash(struct rm_segment_plan const *plan);

#endif
