// SPDX-License-Identifier: Apache-2.0
/** The own server's workspace, as `ringmaster-standby` reads it: what its transmit role says, what it sent, and the
 * decision records, states and readings of all applications.
 *
 * It attaches whenever a server is there, and anew when that one has ended, or when the segment of an application has
 * come or was made anew. Nothing here writes.
 */
#ifndef RM_STANDBY_LINK_OWN_H
#define RM_STANDBY_LINK_OWN_H

#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>
#include <ringmaster/workspace.h>

#include "config/config.h"
#include "standby/link/steps.h"

/** An application that steps. Its streams stand in the order of rm_peer_record.stream: `decision` is the first. */
struct rm_peer_own_application {
    char const *name;
    struct rm_segment_header const *segment;
    uint32_t stream_count;
    struct rm_stream_view *stream;
    /** [stream] its name without the application's. */
    char (*stream_name)[RM_LANE_NAME_BYTES + 8];
    struct rm_state const *state;
    uint64_t state_capacity;
    struct rm_parameter const *in_step;
    /** counters/follow/NAME, or NULL. */
    rm_counter const *follow;
    /** Turn-counter epoch of the newest step that was read. */
    uint64_t turn_epoch;
};

struct rm_peer_own {
    struct rm_config const *config;
    /** NULL while no server is there. */
    struct rm_workspace *workspace;
    uint64_t generation;
    struct rm_standby_state const *state;
    struct rm_setpoints const *vector[RM_PEER_VECTORS];
    struct rm_setpoints_place place[RM_PEER_VECTORS];
    uint32_t application_count;
    struct rm_peer_own_application application[RM_PEER_APPLICATIONS];
    uint64_t looked_ns, tried_ns;
};

/** `config` outlives it. */
void rm_peer_own_make(struct rm_peer_own *own, struct rm_config const *config);
void rm_peer_own_free(struct rm_peer_own *own);

/** Looks whether the server and the applications are as they were; a few times per second it makes system calls.
 * Returns true when what is there has changed. */
bool rm_peer_own_look(struct rm_peer_own *own, uint64_t now_ns);

/** What struct rm_peer_local needs of them. */
bool rm_peer_own_state(struct rm_peer_own const *own, struct rm_standby_state_reading *reading);
bool rm_peer_own_vector(struct rm_peer_own *own, enum rm_peer_vector_of of, double *values, rm_turn *turn);
bool rm_peer_own_step(struct rm_peer_own *own, uint32_t application, rm_turn after, struct rm_peer_records *records,
                      rm_turn *previous);

/** Turn of an application's newest step; RM_TURN_NONE: none. */
rm_turn rm_peer_own_followed(struct rm_peer_own const *own, uint32_t application);

/** Its follower says that it is in step. */
bool rm_peer_own_in_step(struct rm_peer_own const *own, uint32_t application);

/** Differences that followers have counted, over all applications. */
uint64_t rm_peer_own_differences(struct rm_peer_own const *own);

#endif
