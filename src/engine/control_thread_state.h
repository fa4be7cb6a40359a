// SPDX-License-Identifier: Apache-2.0
/** What the parts of the control thread share; control_thread.h is its outside.
 *
 *     control_thread.c             the thread, and what it does when
 *     control_thread_clients.c    applications that come and go
 *     control_thread_standby.c    what is here of the other of two servers, and the file of the highest term
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
    /** As setup.transmit_time; the role may have moved since. Relaxed: it says nothing but itself. */
    _Atomic clockid_t transmit_time;
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
    /** The segment of `ringmaster-standby`. */
    struct rm_control_thread_client standby;
    /** Highest term in its file, and the highest that could not be written there. */
    uint32_t saved_term, unsaved_term;
};

/** Finds out which users' segments count, and makes their folders. */
enum rm_code rm_control_thread_make_folders(struct rm_control_thread *control_thread, struct rm_error *error);

/** Looks at all applications: which have come, and which have gone. */
void rm_control_thread_look_at_clients(struct rm_control_thread *control_thread);
void rm_control_thread_free_clients(struct rm_control_thread *control_thread);

static inline uint64_t rm_control_thread_instance(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->generation, memory_order_relaxed);
}

static inline uint32_t rm_control_thread_state_of(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->state, memory_order_acquire);
}

/** Copies what a segment's directory says of an object, once: this memory may change at any time. */
bool rm_control_thread_find(struct rm_mapped_segment const *mapped, enum rm_object_kind kind, char const *name,
                            struct rm_object *found);

/** An object, if `bytes` of it lie wholly in its segment; else NULL. All numbers are copied before they are judged. */
void const *rm_control_thread_object(struct rm_mapped_segment const *mapped, enum rm_object_kind kind, char const *name,
                                     uint64_t bytes);

/** Setpoint vectors of so many actuators, if they are that; else NULL. */
struct rm_setpoints const *rm_control_thread_setpoints(struct rm_mapped_segment const *mapped, char const *name,
                                                       uint32_t actuators);

/** Looks whether `ringmaster-standby` has come or gone, and whether there is a higher term to write down. */
void rm_control_thread_look_at_standby(struct rm_control_thread *control_thread);
void rm_control_thread_free_standby(struct rm_control_thread *control_thread);

/** True where this is one of two servers, and not the one that sends; then `text` of `bytes` says so. */
bool rm_control_thread_stands_by(struct rm_control_thread const *control_thread, char *text, size_t bytes);

/** Answers the requests that wait: rm_inbox_thread.answer. `context` is the struct rm_control_thread. */
void rm_control_thread_answer(void *context, uint64_t until_ns);

/** Publishes what was sent and read back. */
void rm_control_thread_show_supplies(struct rm_control_thread *control_thread);

#endif
