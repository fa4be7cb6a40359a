// SPDX-License-Identifier: Apache-2.0
/** The segment of owner "standby" in the own server's workspace: what came from the peer, and what the link says.
 *
 * | object                                | what                                                            |
 * |---------------------------------------|-----------------------------------------------------------------|
 * | `standby/orders`                      | struct rm_standby_orders, for the transmit role                 |
 * | `peer/setpoints/sent`, `…/targets`    | the peer's vectors, of all supplies. Their grant number is 0    |
 * | `stream/peer/NAME/decision` …         | the peer's decision records; `decision` of a turn is put last   |
 * | `peer/state/NAME`                     | the peer's copy of an application's state                       |
 * | `peer/followed/NAME`                  | turn of the newest step that the peer has made after us, or −1  |
 * | `counters/link`                       | what became of the link's datagrams                             |
 * | `standby/role`, `standby/why`, …      | parameters, for people                                          |
 *
 * Streams have the shapes of the own applications', so the segment is made anew when an application comes that has
 * others than it had: readers attach again, as to any owner.
 */
#ifndef RM_STANDBY_LINK_SEGMENT_H
#define RM_STANDBY_LINK_SEGMENT_H

#include <ringmaster/owner.h>
#include <ringmaster/request.h>

#include "standby/link/own.h"
#include "standby/link/peer_link.h"

/** Parameters, in the order of segment.c. */
enum rm_peer_parameter {
    RM_PEER_PARAMETER_ROLE,
    RM_PEER_PARAMETER_PEER_ROLE,
    RM_PEER_PARAMETER_READY,
    RM_PEER_PARAMETER_TERM,
    RM_PEER_PARAMETER_PEER_TERM,
    RM_PEER_PARAMETER_LAG,
    RM_PEER_PARAMETER_DIFFERENCES,
    RM_PEER_PARAMETER_ROUND_TRIP,
    RM_PEER_PARAMETER_SWITCH,
    RM_PEER_PARAMETER_HOLD,
    RM_PEER_PARAMETER_ACKNOWLEDGE,
    RM_PEER_PARAMETERS,
};

struct rm_peer_segment {
    struct rm_owner *owner;
    struct rm_inbox *inbox;
    struct rm_standby_orders *orders;
    struct rm_setpoints *vector[RM_PEER_VECTORS];
    rm_counter *counters;
    struct rm_parameter *parameter[RM_PEER_PARAMETERS];
    double shown[RM_PEER_PARAMETERS];
    struct rm_parameter *why;
    char why_shown[RM_PEER_WHY_BYTES];
    /** What standard error has of it, and when that was written. */
    char why_said[RM_PEER_WHY_BYTES];
    uint64_t said_ns;

    struct {
        uint32_t stream_count;
        rm_owner_index *stream;
        struct rm_state *state;
        uint64_t state_capacity;
        struct rm_parameter *followed;
        rm_turn shown;
    } application[RM_PEER_APPLICATIONS];
};

/** Makes or adopts it, with objects for all applications that `own` has found. RM_E_BUSY: another `ringmaster-standby`
 * runs in this workspace. */
enum rm_code rm_peer_segment_open(struct rm_peer_segment *segment, struct rm_peer_own const *own,
                                  struct rm_error *error);
void rm_peer_segment_close(struct rm_peer_segment *segment);

/** True when it has objects of the shapes that the applications have now. One that is not there has any. */
bool rm_peer_segment_fits(struct rm_peer_segment const *segment, struct rm_peer_own const *own);

/** Turn of the newest step of the peer's that an adopted segment has; RM_TURN_NONE: none. */
rm_turn rm_peer_segment_newest(struct rm_peer_segment const *segment, uint32_t application);

void rm_peer_segment_vector(struct rm_peer_segment *segment, enum rm_peer_vector_of of, double const *values,
                            uint32_t count, rm_turn turn);
void rm_peer_segment_step(struct rm_peer_segment *segment, uint32_t application, struct rm_peer_records const *records);
void rm_peer_segment_state(struct rm_peer_segment *segment, uint32_t application, struct rm_peer_offer const *offer,
                           void const *bytes);

/** Writes what the link says: for programs, and for people, where it has changed. */
void rm_peer_segment_show(struct rm_peer_segment *segment, struct rm_peer_link const *link);
void rm_peer_segment_show_people(struct rm_peer_segment *segment, struct rm_peer_link const *link, uint64_t differences,
                                 uint64_t now_ns);

#endif
