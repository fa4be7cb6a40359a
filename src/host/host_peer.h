// SPDX-License-Identifier: Apache-2.0
/** What the control thread of a host does for a pair of servers (ringmaster/standby.h), by what `ringmaster-standby`
 * writes into the workspace:
 *
 *     peer/state/NAME                a copy of the peer's state: it is taken over while the host is parked
 *     peer/NAME/decision …           the peer's decision records, which the host follows from there
 *     peer/followed/NAME             turn of the newest step that the peer has made again (u64)
 *     standby/orders                 whether the peer is READY
 *
 * A setting is refused where the host does not lead. Where it leads, its reply waits until the peer has made the step
 * that adopted it, or is not READY any more.
 */
#ifndef RM_HOST_HOST_PEER_H
#define RM_HOST_HOST_PEER_H

#include <ringmaster/parameter.h>
#include <ringmaster/request.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>
#include <ringmaster/workspace.h>

#include "host/host_server.h"

struct rm_host;

/** Zeros but for `host`; all of it is the control thread's. */
struct rm_host_peer {
    struct rm_host *host;
    /** NULL: the objects of the other owner are not there. */
    struct rm_workspace *workspace;
    struct rm_state const *state;
    struct rm_standby_orders const *orders;
    struct rm_parameter const *followed;
    /** A copy that came, and room for it. */
    uint8_t *bytes;
    size_t room;
    /** Turn and number of steps of the copy that was looked at last. */
    rm_turn tried_turn;
    uint64_t tried_steps;
    /** Since when it has followed without being in step; 0: it is. */
    uint64_t behind_ns;
    /** What was said last. */
    int said_phase;
    char said[RM_ERROR_TEXT_BYTES];
};

/** About ten times a second. `server` is the one in use, or NULL. Does nothing where there is one server. */
void rm_host_peer_look(struct rm_host_peer *peer, struct rm_host_server const *server);

/** True when a request for this parameter is answered here: `reason` says why it is refused; "": it is done. */
bool rm_host_peer_takes(struct rm_host_peer *peer, struct rm_parameter const *parameter, char reason[RM_REASON_BYTES]);

/** A setting was adopted: waits until the peer has it too. */
void rm_host_peer_wait(struct rm_host_peer *peer);

void rm_host_peer_close(struct rm_host_peer *peer);

#endif
