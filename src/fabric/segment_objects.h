// SPDX-License-Identifier: Apache-2.0
/** What stands in a segment's memory when its owner begins: directory, constant parts, live parts. */
#ifndef RM_FABRIC_SEGMENT_OBJECTS_H
#define RM_FABRIC_SEGMENT_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/segment.h>

#include "fabric/segment_plan.h"

/** Fills a fresh segment (zeros) of `bytes` bytes by the plan, which is laid out. Nobody reads it yet. */
void rm_objects_begin(struct rm_segment_header *header, struct rm_segment_plan const *plan, char const *owner,
                      uint64_t bytes);

/** True when directory and constant parts are what the plan says, byte for byte: the segment can be adopted. Needs a
 * whole segment of this version, `bytes` long by its own header and at least by its mapping. */
bool rm_objects_equal(struct rm_segment_header const *header, struct rm_segment_plan const *plan);

/** Sets the live parts of an adopted segment back while its readers go on. Streams, setpoint vectors, replies and
 * those parameters that are settings or that others may set stay as they were left: they outlive their owner. Counters
 * and histograms go to zero word by word; clock, grants and other parameters under their sequence locks. Requests begin
 * anew, as those of an instance are numbered. A change in which the last owner was killed is ended. Constant parts are
 * not touched. */
void rm_objects_renew(struct rm_segment_header *header, struct rm_segment_plan const *plan);

#endif
