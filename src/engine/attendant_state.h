// SPDX-License-Identifier: Apache-2.0
/** What the parts of the attendant share; attendant.h is its outside.
 *
 *     attendant.c             the thread, and what it does when
 *     attendant_visitors.c    applications that come and go
 *     attendant_requests.c    what others ask for
 *     attendant_supplies.c    SUPPLY/setpoint and SUPPLY/readback
 */
#ifndef RM_ENGINE_ATTENDANT_STATE_H
#define RM_ENGINE_ATTENDANT_STATE_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ringmaster/request.h>

#include "engine/attendant.h"
#include "fabric/segment_map.h"

/** What is kept of one application. */
struct rm_attendant_visitor {
    /** Whose segment counts. */
    uid_t uid;
    /** It was granted an epoch, and has not gone. */
    bool here;
    /** Of the one that is here. */
    uint64_t instance;
    /** Its segment, while it is here. */
    struct rm_mapped_segment mapped;
    /** Segment of an application that has gone, until the transmit role has let it go. */
    struct rm_mapped_segment gone;
    /** By this letter. */
    uint64_t gone_letter;
};

struct rm_attendant {
    struct rm_attendant_setup setup;
    /** Its directory. */
    char workspace[PATH_MAX];

    struct rm_inbox *inbox;
    /** As config->application. */
    struct rm_attendant_visitor *visitor;
    /** Number of grants so far. */
    uint64_t grants;
    /** The cycle that SUPPLY/setpoint is of. */
    rm_turn shown;
    /** Per instrument of the chains: the turn that was shown last. */
    rm_turn *heard;
    /** A row of it. */
    double *sent;

    struct rm_setpoints_place place;
    pthread_t thread;
    bool started;
    atomic_bool stop;
};

/** Finds out whose segments count, and makes their folders. */
enum rm_code rm_attendant_make_folders(struct rm_attendant *attendant, struct rm_error *error);

/** Looks at all applications: who has come, who has gone. */
void rm_attendant_look_at_visitors(struct rm_attendant *attendant);
void rm_attendant_free_visitors(struct rm_attendant *attendant);

/** Answers what waits: all of it, or, where others ask without end, until CLOCK_MONOTONIC is `until_ns`; one at least.
 */
void rm_attendant_answer(struct rm_attendant *attendant, uint64_t until_ns);

/** Shows what was sent and read back. */
void rm_attendant_show_supplies(struct rm_attendant *attendant);

#endif
