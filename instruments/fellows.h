// SPDX-License-Identifier: Apache-2.0
/** The other rings that run in this workspace, read-only. The first one is the owner "ring"; those that join it are
 * "ring-2" to "ring-8". Each publishes its turn zero as OWNER/turn_zero and OWNER/ticks_per_turn. A ring that joins
 * takes its turns from there, so that all count alike. Cold path. */
#ifndef RM_INSTRUMENTS_FELLOWS_H
#define RM_INSTRUMENTS_FELLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/parameter.h>

#include "fabric/segment_map.h"
#include "pace.h"
#include "ring_config.h"

/** Most rings of one workspace. */
enum { RM_FELLOWS_MAX = 8 };

struct rm_fellows {
    /** Owner's name of this ring: the first one that no living ring has. */
    char owner[RM_OWNER_BYTES];
    /** Another ring lives whose segment is not complete yet. */
    bool begins;
    /** Living rings. */
    uint32_t count;

    struct rm_mapped_segment ring[RM_FELLOWS_MAX];
};

/** Maps the segments of all living rings. Without a workspace, and where no ring lives, there are none. RM_E_BUSY:
 * there are too many. */
enum rm_code rm_fellows_open(char const *workspace, struct rm_fellows *fellows, struct rm_error *error);
void rm_fellows_close(struct rm_fellows *fellows);

/** Checks that no other ring sends one of these instruments or has one of these chains; else RM_E_BUSY. */
enum rm_code rm_fellows_check_names(struct rm_fellows const *fellows, struct rm_ring_config const *ring,
                                    struct rm_error *error);

/** Where a ring of this file at `turn_rate_hz` takes its turns from. */
enum rm_fellows_time_source {
    /** From its own start: no other ring has turns. */
    RM_FELLOWS_NO_TIME,
    /** Another ring has not begun its turns: open again later, and look. */
    RM_FELLOWS_WAIT,
    /** From another ring: `*time`. */
    RM_FELLOWS_TIME,
};

/** Finds the time to share. RM_E_CONFIG: another ring shares no time, because it is in lock-step, unpaced, or of
 * another turn rate. */
enum rm_code rm_fellows_time(struct rm_fellows const *fellows, struct rm_ring_config const *ring, double turn_rate_hz,
                             enum rm_fellows_time_source *answer, struct rm_ring_time *time, struct rm_error *error);

/** A parameter of another ring by its whole name; NULL where there is none. Valid until rm_fellows_close. */
struct rm_parameter const *rm_fellows_parameter(struct rm_fellows const *fellows, char const *name);

#endif
