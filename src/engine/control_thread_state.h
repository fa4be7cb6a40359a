// SPDX-License-Identifier: Apache-2.0
/** What the parts of the control thread share; control_thread.h is its outside.
 *
 *     control_thread.c             the thread, and what it does when
 *     control_thread_clients.c    applications that come and go
 *     control_thread_requests.c    what others ask for
 *     control_thread_supplies.c    SUPPLY/setpoint and SUPPLY/readback
 */
#ifndef RM_ENGINE_CONTROL_THREAD_STATE_H
#define RM_ENGINE_CONTROL_THREAD_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ringmaster/request.h>

#include "engine/control_thread.h"
#include "fabric/inbox_thread.h"
#include "fabric/segment_map.h"

/** What is kept of one application. */
struct rm_control_thread_client {
    /** User whose segment counts. */
    uid_t uid;
    /** It was granted a number, and has not gone. */
    bool here;
    /** Instance that is here. */
    uint64_t instance;
    /** Its segment, while it is here. */
    struct rm_mapped_segment mapped;
    /** Segment of an application that has gone, until the transmit role has let it go. */
    struct rm_mapped_segment gone;
};

struct rm_control_thread {
    struct rm_control_thread_setup setup;
    /** Path of its workspace folder. */
    char workspace[PATH_MAX];

    /** The thread itself. */
    struct rm_inbox_thread beside;
    /** [application]. */
    struct rm_control_thread_client *client;
    /** Number of grants so far. */
    uint64_t grants;
    /** Turn of the cycle that SUPPLY/setpoint shows. */
    rm_turn shown;
    /** [instrument of the chains] the turn that was shown last. */
    rm_turn *heard;
    /** Room for one vector of "setpoints/sent". */
    double *sent;

    struct rm_setpoints_place place;
};

/** Finds out which users' segments count, and makes their folders. */
enum rm_code rm_control_thread_make_folders(struct rm_control_thread *control_thread, struct rm_error *error);

/** Looks at all applications: which have come, and which have gone. */
void rm_control_thread_look_at_clients(struct rm_control_thread *control_thread);
void rm_control_thread_free_clients(struct rm_control_thread *control_thread);

/** Answers the requests that wait: rm_inbox_thread.answer. `context` is the struct rm_control_thread. */
void rm_control_thread_answer(void *context, uint64_t until_ns);

/** Publishes what was sent and read back. */
void rm_control_thread_show_supplies(struct rm_control_thread *control_thread);

#endif
