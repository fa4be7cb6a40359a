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
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ringmaster/request.h>

#include "engine/control_thread.h"
#include "fabric/segment_map.h"

/** What is kept of one application. */
struct rm_control_thread_client {
    /** Whose segment counts. */
    uid_t uid;
    /** It was granted a number, and has not gone. */
    bool here;
    /** Of the one that is here. */
    uint64_t instance;
    /** Its segment, while it is here. */
    struct rm_mapped_segment mapped;
    /** Segment of an application that has gone, until the transmit role has let it go. */
    struct rm_mapped_segment gone;
    /** By this command. */
    uint64_t gone_command;
};

struct rm_control_thread {
    struct rm_control_thread_setup setup;
    /** Its directory. */
    char workspace[PATH_MAX];

    struct rm_inbox *inbox;
    /** As config->application. */
    struct rm_control_thread_client *client;
    /** Number of grants so far. */
    uint64_t grants;
    /** The cycle that SUPPLY/setpoint is of. */
    rm_turn shown;
    /** Per instrument of the chains: the turn that was shown last. */
    rm_turn *heard;
    /** A vector of it. */
    double *sent;

    struct rm_setpoints_place place;
    pthread_t thread;
    bool started;
    atomic_bool stop;
};

/** Finds out whose segments count, and makes their folders. */
enum rm_code rm_control_thread_make_folders(struct rm_control_thread *control_thread, struct rm_error *error);

/** Looks at all applications: who has come, who has gone. */
void rm_control_thread_look_at_clients(struct rm_control_thread *control_thread);
void rm_control_thread_free_clients(struct rm_control_thread *control_thread);

/** Answers what waits: all of it, or, where others ask without end, until CLOCK_MONOTONIC is `until_ns`; one at least.
 */
void rm_control_thread_answer(struct rm_control_thread *control_thread, uint64_t until_ns);

/** Shows what was sent and read back. */
void rm_control_thread_show_supplies(struct rm_control_thread *control_thread);

#endif
