// SPDX-License-Identifier: Apache-2.0
/** What a segment's memory contains when its owner begins: directory, constant parts, live parts. */
#ifndef RM_FABRIC_SEGMENT_OBJECTS_H
#define RM_FABRIC_SEGMENT_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/segment.h>

#include "fabric/segment_plan.h"

/** Fills a fresh segment (zeros) of `bytes` bytes by the plan, whose layout is settled. No reader uses it yet. */
void rm_objects_begin(struct rm_segment_header *header, struct rm_segment_plan const *plan, char const *owner,
                      uint64_t bytes);

/** True when directory and constant parts are equal to the plan's, byte for byte: then the segment can be adopted. The
 * segment must be whole, of this version, and mapped for at least as many bytes as its header says. */
bool rm_objects_equal(struct rm_segment_header const *header, struct rm_segment_plan const *plan);

/** Resets the live parts of an adopted segment while its readers go on. Some outlive their owner and stay: streams,
 * row rings, setpoint vectors, replies, and parameters that are settings or that others may set. Counters and histograms go to
 * zero word by word; clock, grants and other parameters under their sequence locks. Requests begin anew, as those of
 * an instance are numbered. A change in which the last owner was killed is ended. Constant parts are not touched. */
void rm_objects_renew(struct rm_segment_header *header, struct rm_segment_plan const *plan);

#endif
