// SPDX-License-Identifier: Apache-2.0
/** What the link tells its own server, and people. */
#include <stdio.h>
#include <string.h>

#include "standby/link/link_parts.h"

static uint64_t max(uint64_t one, uint64_t other) { return one > other ? one : other; }

/** Cycles may be longer than the network takes. */
static uint64_t silent_ns(struct rm_peer_link const *link) {
    return max(RM_PEER_LINK_SILENT_NS, 10 * rm_peer_link_cycle_ns(link));
}

/** What comes is too old to go on from: a network keeps it, or an intruder does. */
static bool link_is_late(struct rm_peer_link const *link) {
    return (double)link->late_turns * 1e9 / link->setup.turn_rate_hz >= (double)silent_ns(link);
}

bool rm_peer_link_hears(struct rm_peer_link const *link, uint64_t now_ns) {
    return link->session.up && link->heard_ns != 0 && now_ns - link->heard_ns < silent_ns(link);
}

int rm_peer_link_role(struct rm_peer_link const *link, uint64_t now_ns) {
    bool const knows =
        rm_peer_link_hears(link, now_ns) && link->status_ns != 0 && (link->status.flags & RM_PEER_HAS_SERVER) != 0;
    return knows ? link->status.role : -1;
}

uint64_t rm_peer_link_lag(struct rm_peer_link const *link) {
    rm_turn const here = link->vector_in_turn[RM_PEER_SENT];
    if (link->vector_in[RM_PEER_SENT].number == 0 || link->state.turn <= here)
        return 0;
    return (link->state.turn - here) / link->setup.period_turns;
}

/** True while everything of the active server is here. */
static bool is_synchronised(struct rm_peer_link const *link, uint64_t now_ns) {
    bool const is_standby =
        link->has_server && (link->state.role == RM_STANDBY_JOINING || link->state.role == RM_STANDBY_READY);
    if (!is_standby || link->relation != RM_PEER_JOINED || !rm_peer_join_is_whole(link) || link_is_late(link))
        return false;
    /* It begins while the peer is active, and ends some time after its last word. */
    uint64_t const gone_ns = max(RM_PEER_SERVER_GONE_NS, 20 * rm_peer_link_cycle_ns(link));
    return rm_peer_link_hears(link, now_ns) && now_ns - link->complete_ns < silent_ns(link) && link->active_ns != 0 &&
           now_ns - link->active_ns < (link->orders.synchronised ? gone_ns : silent_ns(link));
}

void rm_peer_tell(struct rm_peer_link *link, uint64_t now_ns) {
    struct rm_standby_orders_reading *const orders = &link->orders;
    int const role = rm_peer_link_role(link, now_ns);
    orders->synchronised = is_synchronised(link, now_ns);
    if (orders->synchronised)
        orders->synchronised_turn = link->vector_in_turn[RM_PEER_SENT];
    orders->hold = link->hold;
    orders->acknowledged = link->acknowledged;
    orders->switch_turn =
        link->planned.phase == RM_PEER_AGREED && link->planned.id != 0 ? link->planned.turn : RM_TURN_NONE;
    orders->peer_role = role < 0 ? 0 : (uint64_t)role + 1;
    orders->peer_term = link->status.term;
    orders->peer_turn = role < 0 ? RM_TURN_NONE : link->status.turn;
    orders->peer_unacknowledged = (link->status.flags & RM_PEER_UNACKNOWLEDGED) != 0;
    orders->planned_only = link->relation == RM_PEER_JOINED && strcmp(link->hello.build, link->setup.build) != 0;
    /* A server that sends goes on alone, whatever else is there. */
    orders->refused = link->relation > RM_PEER_JOINED && link->session.up && !rm_peer_link_is_active(link);
    ++orders->beat;
}

static void why_apart(struct rm_peer_link const *link, char text[RM_PEER_WHY_BYTES]) {
    char const *const own = link->setup.name, *const peer = link->setup.peer_name;
    switch (link->relation) {
    case RM_PEER_SAME_SERVER:
        snprintf(text, RM_PEER_WHY_BYTES,
                 "the same server twice: the other end of the link says that it is server %s, too; one of the two must "
                 "be started as \"FILE@%s\"",
                 link->hello.name, peer);
        break;
    case RM_PEER_OTHER_NAME:
        snprintf(text, RM_PEER_WHY_BYTES,
                 "the other end of the link says that it is server %s, and %s is expected: give both the same file",
                 link->hello.name, peer);
        break;
    case RM_PEER_OTHER_VERSION:
        snprintf(text, RM_PEER_WHY_BYTES,
                 "incompatible version: server %s (%s) speaks versions %u to %u of the link's protocol, server %s (%s) "
                 "%u to %u; update the older one",
                 link->hello.name, link->hello.build, link->hello.least, link->hello.version, own, link->setup.build,
                 link->setup.least, link->setup.version);
        break;
    case RM_PEER_OTHER_CONFIGURATION:
        snprintf(text, RM_PEER_WHY_BYTES, "server %s has another configuration: %.900s", link->hello.name,
                 link->difference[0] != '\0' ? link->difference : "its lines are being asked for");
        break;
    default:
        snprintf(text, RM_PEER_WHY_BYTES,
                 "server %s is not heard: is ringmaster-standby running there, with this key, "
                 "and is the link whole?",
                 peer);
        break;
    }
}

/** The first application that is not in step, as the server that stands by knows. */
static bool why_application(struct rm_peer_link const *link, char text[RM_PEER_WHY_BYTES]) {
    for (uint32_t i = 0; i < link->setup.application_count; ++i) {
        struct rm_peer_application const *const application = &link->application[i];
        char const *const name = link->setup.application[i];
        if (!application->present)
            snprintf(text, RM_PEER_WHY_BYTES, "application %s does not run here", name);
        else if (link->steps_in[i]->came == RM_TURN_NONE)
            snprintf(text, RM_PEER_WHY_BYTES,
                     "no decision record of application %s has come: does it run at server %s?", name,
                     link->setup.peer_name);
        else if (!application->in_step)
            snprintf(text, RM_PEER_WHY_BYTES, "application %s is not in step: a copy of its state is on its way", name);
        else if (!rm_peer_join_follows(link, i))
            snprintf(text, RM_PEER_WHY_BYTES, "application %s stands, or is far behind server %s", name,
                     link->setup.peer_name);
        else
            continue;
        return true;
    }
    return false;
}

static void why_not_whole(struct rm_peer_link const *link, char text[RM_PEER_WHY_BYTES]) {
    if (why_application(link, text))
        return;
    if (link_is_late(link)) {
        snprintf(text, RM_PEER_WHY_BYTES, "what server %s sends comes too late: the network keeps it for long",
                 link->setup.peer_name);
        return;
    }
    bool const here = rm_peer_join_is_whole(link);
    snprintf(text, RM_PEER_WHY_BYTES,
             here ? "all is here, and the server is about to be ready"
                  : "setpoints of server %s have not come whole yet",
             link->setup.peer_name);
}

void rm_peer_link_why(struct rm_peer_link const *link, uint64_t now_ns, char text[RM_PEER_WHY_BYTES]) {
    int const peer = rm_peer_link_role(link, now_ns);
    enum rm_standby_role const own = link->state.role;
    char const *const name = link->setup.peer_name;
    text[0] = '\0';
    if (link->relation != RM_PEER_JOINED || !rm_peer_link_hears(link, now_ns))
        why_apart(link, text);
    else if (!link->has_server)
        snprintf(text, RM_PEER_WHY_BYTES, "server %s is not running", link->setup.name);
    else if (peer < 0)
        snprintf(text, RM_PEER_WHY_BYTES, "server %s is not running", name);
    else if (own == RM_STANDBY_MAINTENANCE || peer == RM_STANDBY_MAINTENANCE)
        snprintf(text, RM_PEER_WHY_BYTES, "an operator holds server %s",
                 own == RM_STANDBY_MAINTENANCE ? link->setup.name : name);
    else if (own == RM_STANDBY_FAULT || peer == RM_STANDBY_FAULT)
        snprintf(text, RM_PEER_WHY_BYTES, "server %s is in fault", own == RM_STANDBY_FAULT ? link->setup.name : name);
    else if (own == RM_STANDBY_ACTIVE && peer != RM_STANDBY_READY)
        snprintf(text, RM_PEER_WHY_BYTES, "server %s is joining: `ringmaster standby why` there says what it lacks",
                 name);
    else if (own == RM_STANDBY_JOINING && peer == RM_STANDBY_ACTIVE)
        why_not_whole(link, text);
    else if (own != RM_STANDBY_ACTIVE && peer != RM_STANDBY_ACTIVE)
        snprintf(text, RM_PEER_WHY_BYTES, "neither server is active");
    else if (link->orders.planned_only)
        snprintf(text, RM_PEER_WHY_BYTES,
                 "server %s is of version %s, and server %s of %s: different builds swap by a planned switch alone",
                 link->setup.name, link->setup.build, name, link->hello.build);
    if (link->thirds > 5 && now_ns - link->third_ns < RM_PEER_THIRD_NS && strlen(text) < RM_PEER_WHY_BYTES - 100)
        sprintf(text + strlen(text), "%sa third server asks to join and is refused", text[0] == '\0' ? "" : "; ");
}
