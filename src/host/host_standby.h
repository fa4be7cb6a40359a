// SPDX-License-Identifier: Apache-2.0
/** A host on one of two servers (ringmaster/standby.h): whether it leads or follows, and how it changes.
 *
 *     LEADS     the role is ACTIVE: it decides, as beside a single server
 *     PARKED    it makes no steps: it needs a copy of the peer's state. The program is the control thread's
 *     RESTORES  the control thread is taking a copy over
 *     FOLLOWS   it makes the peer's steps again (host_follow.h), and commits their vectors by its own grant
 *
 *     LEADS ──role is not ACTIVE──▶ PARKED ──copy──▶ RESTORES ──▶ FOLLOWS ──ACTIVE, in step──▶ LEADS: it goes on
 *       ▲                             │ ▲                            │
 *       └──ACTIVE: it begins anew─────┘ └──something is missing──────┘
 *
 * It goes on only where the term came from a living server to a READY one (TOOK_OVER, SWITCHED) and it is in step, or
 * where its own server led last and goes on (UNANSWERED): then settings and permissions are as they were, and `init` is
 * not called. In all other cases it begins anew, without permissions.
 *
 * The control thread moves PARKED to RESTORES, and that to PARKED or FOLLOWS. All other moves are the stepping thread's.
 * Both store with release and load with acquire: whose move it is has the program, the inputs and `follow`.
 *
 * What it publishes, in the application's segment:
 *
 *     state/NAME             a copy of its state, when it is asked for one
 *     NAME/state_wanted      a request for that; the reply comes when the copy is there
 *     NAME/in_step           1: it follows, and no step came to other bits
 *     counters/follow/NAME   set "follow"
 */
#ifndef RM_HOST_HOST_STANDBY_H
#define RM_HOST_HOST_STANDBY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/parameter.h>
#include <ringmaster/state.h>

#include "host/host_follow.h"
#include "host/host_follow_streams.h"
#include "host/host_inputs.h"

struct rm_host;

enum rm_host_phase {
    RM_HOST_LEADS,
    RM_HOST_PARKED,
    RM_HOST_RESTORES,
    RM_HOST_FOLLOWS,
};

struct rm_host_standby {
    /* In the application's segment. */
    struct rm_state *state;
    rm_counter *counters;
    struct rm_parameter *in_step, *state_wanted;

    /* Between the two threads. */

    /** enum rm_host_phase. */
    _Atomic int phase;
    /** A copy of the state is wanted: the control thread sets it, the stepping thread clears it with release. */
    _Atomic bool wants_state;
    /** The peer's streams are gone, or it takes too long: the stepping thread parks. */
    _Atomic bool is_to_park;
    /** Turn of the newest step. */
    _Atomic uint64_t stepped;
    /** It follows without a difference, and not far behind. */
    _Atomic bool is_in_step;

    /* Of the thread whose move it is. */

    struct rm_host_follow follow;
    struct rm_follow_streams streams;
    /** What became of the last step; its text says why it parked. */
    struct rm_host_replayed told;
    /** Turn since which its server has been ACTIVE, when it began to lead. */
    rm_turn led_since;
    /** Newest term of its server while it led. */
    uint64_t led_term;
    /** The grant under which it led, while its state is that of its last step; 0: it is not. */
    uint64_t led_grant;
    /** Calls of `work` that had begun when the last step was made. */
    uint64_t worked;
    /** Generation of settings that is shown. */
    uint32_t shown_generation;
    /** It was restored, and the next vector has not begun. */
    bool begins;
    /** No step since the copy came to other bits. */
    bool is_same;
    /** It was in step since the copy: one that is behind then catches up before it leads. */
    bool was_in_step;
};

/** Makes all but what lies in the segment. False without memory. `host->standby` stays NULL where there is one server. */
bool rm_host_standby_open(struct rm_host *host);
void rm_host_standby_close(struct rm_host *host);

/** For the stepping thread, in each duty: true when the host decides itself. Else rm_host_standby_duty is called. */
bool rm_host_standby_leads(struct rm_host *host);

/** What a host that does not lead does in a duty. Returns the steps made. */
uint32_t rm_host_standby_duty(struct rm_host *host);

/** Another server is used from now on. */
void rm_host_standby_leave_server(struct rm_host *host);

/** After each step, behind all else: turn, and the copy that is wanted. */
void rm_host_standby_note_step(struct rm_host *host, rm_turn turn);

static inline enum rm_host_phase rm_host_standby_phase(struct rm_host_standby const *standby) {
    return (enum rm_host_phase)atomic_load_explicit(&standby->phase, memory_order_acquire);
}

static inline void rm_host_standby_move(struct rm_host_standby *standby, enum rm_host_phase phase) {
    atomic_store_explicit(&standby->phase, (int)phase, memory_order_release);
}

#endif
