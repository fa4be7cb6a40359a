// SPDX-License-Identifier: Apache-2.0
/** A planned switch: both servers agree on its turn.
 *
 * The standby proposes it, whichever server was asked: the active server only asks it to. The active one has agreed first, so it
 * sends nothing from that turn on, whether the standby has heard of it or not: no cycle has two. If the standby has
 * not, it takes over as from a server that is silent. Each message is repeated until the answer comes.
 */
#include <stdio.h>

#include "standby/link/link_parts.h"

enum {
    AGAIN_NS = 2 * RM_PEER_MS,
    /** How far ahead a switch is: many repetitions and round trips. */
    AHEAD_NS = 30 * RM_PEER_MS,
};
/** And no further: what is agreed cannot be taken back. */
#define MOST_NS (600000ull * RM_PEER_MS)

static rm_turn turns_of(struct rm_peer_link const *link, uint64_t ns) {
    return (rm_turn)((double)ns * 1e-9 * link->setup.turn_rate_hz) + 1;
}

static uint64_t ahead_ns(struct rm_peer_link const *link) { return AHEAD_NS + 8 * link->round_trip_ns; }

static void switch_send(struct rm_peer_link *link, uint8_t phase, uint64_t id, rm_turn turn, char const *reason) {
    struct rm_peer_message message = {.kind = RM_PEER_SWITCH, .exchange = {.phase = phase, .id = id, .turn = turn}};
    snprintf(message.exchange.reason, sizeof message.exchange.reason, "%s", reason);
    rm_peer_link_emit(link, &message);
}

/** Why these two cannot switch now; NULL: they can. */
static char const *switch_hindrance(struct rm_peer_link const *link, uint64_t now_ns) {
    int const peer = rm_peer_link_role(link, now_ns);
    if (link->relation != RM_PEER_JOINED || peer < 0)
        return "the other server is not there";
    if (!link->has_server)
        return "this server is not there";
    if (link->state.role == RM_STANDBY_ACTIVE && peer == RM_STANDBY_READY)
        return NULL;
    if (link->state.role == RM_STANDBY_READY && peer == RM_STANDBY_ACTIVE)
        return NULL;
    return "one server must be active and the other one ready";
}

static void switch_begin(struct rm_peer_link *link, uint64_t id, rm_turn turn, uint64_t now_ns) {
    bool const is_active = rm_peer_link_is_active(link);
    link->planned = (struct rm_peer_planned){
        .id = id, .turn = turn, .phase = is_active ? RM_PEER_ASKED : RM_PEER_PROPOSED, .begun_ns = now_ns};
}

char const *rm_peer_link_switch(struct rm_peer_link *link, rm_turn turn, uint64_t now_ns) {
    char const *const hindrance = switch_hindrance(link, now_ns);
    if (hindrance != NULL)
        return hindrance;
    /* The standby sends from there on, so the active one stops there, and forgets it for no other. */
    if (link->orders.switch_turn != RM_TURN_NONE && link->state.turn < link->orders.switch_turn)
        return "a switch is agreed already, and its turn is to come";
    rm_turn const earliest = link->state.turn + turns_of(link, ahead_ns(link));
    if (turn != 0 && turn < earliest)
        return "its turn is too early: the two servers cannot agree on it in time";
    if (turn != 0 && turn - link->state.turn > turns_of(link, MOST_NS))
        return "its turn is too far ahead: expected one of the next ten minutes";
    rm_turn const wanted = turn != 0 ? turn : earliest;
    uint32_t const period = link->setup.period_turns;
    switch_begin(link, link->setup.draw(link->setup.draw_context), (wanted + period - 1) / period * period, now_ns);
    return NULL;
}

static void switch_refuse(struct rm_peer_link *link, char const *reason) {
    link->planned.phase = RM_PEER_REFUSED;
    snprintf(link->planned.reason, sizeof link->planned.reason, "%s", reason);
}

void rm_peer_switch_tick(struct rm_peer_link *link, uint64_t now_ns) {
    struct rm_peer_planned *const planned = &link->planned;
    bool const is_open = planned->phase == RM_PEER_ASKED || planned->phase == RM_PEER_PROPOSED;
    if (planned->id == 0 || !is_open)
        return;
    if (link->state.turn >= planned->turn || now_ns - planned->begun_ns >= 2 * ahead_ns(link)) {
        switch_refuse(link, "the other server did not agree in time");
        return;
    }
    if (now_ns - planned->sent_ns < AGAIN_NS)
        return;
    planned->sent_ns = now_ns;
    switch_send(link, planned->phase, planned->id, planned->turn, "");
}

static void switch_judge(struct rm_peer_link *link, struct rm_peer_switch const *exchange, uint64_t now_ns) {
    struct rm_peer_planned *const planned = &link->planned;
    char const *hindrance = switch_hindrance(link, now_ns);
    rm_turn const least = link->state.turn + 2ull * link->setup.period_turns;
    if (hindrance == NULL && (exchange->turn < least || exchange->turn % link->setup.period_turns != 0))
        hindrance = "its turn is too early";
    if (hindrance != NULL) {
        switch_send(link, RM_PEER_REFUSED, exchange->id, exchange->turn, hindrance);
        return;
    }
    if (exchange->phase == RM_PEER_PROPOSED && rm_peer_link_is_active(link)) {
        *planned = (struct rm_peer_planned){
            .id = exchange->id, .turn = exchange->turn, .phase = RM_PEER_AGREED, .begun_ns = now_ns};
        switch_send(link, RM_PEER_AGREED, exchange->id, exchange->turn, "");
    } else if (exchange->phase == RM_PEER_ASKED && !rm_peer_link_is_active(link))
        switch_begin(link, exchange->id, exchange->turn, now_ns);
}

void rm_peer_switch_take(struct rm_peer_link *link, struct rm_peer_switch const *exchange, uint64_t now_ns) {
    struct rm_peer_planned *const planned = &link->planned;
    bool const is_known = planned->id == exchange->id && exchange->id != 0 && planned->turn == exchange->turn;
    switch ((enum rm_peer_switch_phase)exchange->phase) {
    case RM_PEER_ASKED:
        if (!is_known)
            switch_judge(link, exchange, now_ns);
        break;
    case RM_PEER_PROPOSED:
        if (is_known && planned->phase == RM_PEER_AGREED) // what was agreed, and the answer was lost
            switch_send(link, RM_PEER_AGREED, exchange->id, exchange->turn, "");
        else if (!is_known || planned->phase == RM_PEER_ASKED)
            switch_judge(link, exchange, now_ns);
        break;
    case RM_PEER_AGREED:
        if (is_known && planned->phase == RM_PEER_PROPOSED && link->state.turn < planned->turn)
            planned->phase = RM_PEER_AGREED;
        break;
    case RM_PEER_REFUSED:
        if (is_known && planned->phase != RM_PEER_AGREED)
            switch_refuse(link, exchange->reason);
        break;
    }
}
