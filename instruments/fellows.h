// SPDX-License-Identifier: Apache-2.0
/** The other rings that run in this workspace, read-only. The first is the owner "ring", those that join it are
 * "ring-2" to "ring-8". Each publishes its turn zero as OWNER/turn_zero and OWNER/ticks_per_turn: a ring that joins
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

/** Rings of one workspace. */
enum { RM_FELLOWS_MAX = 8 };

struct rm_fellows {
    /** Owner's name of this ring: the first one that no living ring has. */
    char owner[RM_OWNER_BYTES];
    /** Another one lives whose segment is not whole yet. */
    bool begins;
    /** Living rings. */
    uint32_t count;

    struct rm_mapped_segment ring[RM_FELLOWS_MAX];
};

/** Maps what lives now. Without a workspace, and where nothing lives, there are none. RM_E_BUSY: too many. */
enum rm_code rm_fellows_open(char const *workspace, struct rm_fellows *fellows, struct rm_error *error);
void rm_fellows_close(struct rm_fellows *fellows);

/** Checks that no other ring sends one of these instruments or has one of these chains; else RM_E_BUSY. */
enum rm_code rm_fellows_check_names(struct rm_fellows const *fellows, struct rm_ring_config const *ring,
                                    struct rm_error *error);

/** Where the turns come from of a ring of this file at `turn_rate_hz`. */
enum rm_fellows_time_source {
    /** No other ring has turns: from its own start. */
    RM_FELLOWS_NO_TIME,
    /** Another has not begun: open again, and look. */
    RM_FELLOWS_WAIT,
    /** `*time` is another's. */
    RM_FELLOWS_TIME,
};

/** RM_E_CONFIG: a ring in lock-step, unpaced, or of another turn rate shares no time. */
enum rm_code rm_fellows_time(struct rm_fellows const *fellows, struct rm_ring_config const *ring, double turn_rate_hz,
                             enum rm_fellows_time_source *answer, struct rm_ring_time *time, struct rm_error *error);

/** A parameter of another ring by its whole name; NULL where there is none. Valid until rm_fellows_close. */
struct rm_parameter const *rm_fellows_parameter(struct rm_fellows const *fellows, char const *name);

#endif
