// SPDX-License-Identifier: Apache-2.0
/* Composing the chains' datagrams, and sending them. */
#include "engine/transmit_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"

enum {
    TRIES = 4, /**< that a full link gets per turn of the duty cycle: other roles of the core shall have theirs */
    LATER_BURST = 32,
};

static struct rm_transmit_sender *sender_of(struct rm_transmit *transmit, struct rm_transmit_chain const *chain) {
    for (uint32_t i = 0; i < transmit->sender_count; ++i)
        if (transmit->sender[i].port == chain->port && transmit->sender[i].queue == chain->queue)
            return &transmit->sender[i];
    struct rm_transmit_sender *const sender = &transmit->sender[transmit->sender_count++];
    sender->port = chain->port;
    sender->queue = chain->queue;
    return sender;
}

static bool prepare_frame(struct rm_transmit_link *link) {
    struct rm_transmit_chain const *const chain = &link->place;
    struct rm_flow flow = {
        .source_ipv4 = chain->source_ipv4,
        .destination_ipv4 = chain->config->address_ipv4,
        .source_port = (uint16_t)chain->source_port,
        .destination_port = chain->config->udp_port,
        .vlan = chain->vlan,
    };
    memcpy(flow.destination_mac, chain->config->mac, sizeof flow.destination_mac);
    memcpy(flow.source_mac, chain->source_mac, sizeof flow.source_mac);
    return rm_setpoint_frame_prepare(&link->frame, &flow, chain->config->id, link->count);
}

bool rm_transmit_make_senders(struct rm_transmit *transmit) {
    uint32_t const chains = transmit->chain_count;
    for (uint32_t i = 0; i < chains; ++i) {
        if (!prepare_frame(&transmit->link[i]))
            return false;
        ++sender_of(transmit, &transmit->link[i].place)->count;
    }
    transmit->sender_chain = calloc(chains + 1u, sizeof *transmit->sender_chain);
    if (transmit->sender_chain == NULL)
        return false;
    uint32_t *list = transmit->sender_chain;
    for (uint32_t s = 0; s < transmit->sender_count; ++s) {
        struct rm_transmit_sender *const sender = &transmit->sender[s];
        sender->chain = list;
        list += sender->count;
        sender->count = 0;
    }
    for (uint32_t i = 0; i < chains; ++i) {
        struct rm_transmit_sender *const sender = sender_of(transmit, &transmit->link[i].place);
        sender->chain[sender->count++] = i;
    }
    return true;
}

/** What a chain gets that missed a cycle: from what it was sent last it goes one slew at most towards what the guard
 * has reached meanwhile. */
static void catch_up(struct rm_transmit *transmit, struct rm_transmit_link *link) {
    float const *const wanted = rm_guard_setpoints(transmit->guard);
    link->catching = true;
    link->behind = false;
    for (uint32_t i = link->first; i < link->first + link->count; ++i) {
        float const sent = transmit->sent[i], slew = transmit->supply[i].slew;
        float const step = wanted[i] - sent;
        bool const far = fabsf(step) > slew;
        transmit->caught[i] = far ? sent + copysignf(slew, step) : wanted[i];
        link->behind |= far;
    }
}

void rm_transmit_open_chains(struct rm_transmit *transmit) {
    for (uint32_t s = 0; s < transmit->sender_count; ++s)
        transmit->sender[s].composed = transmit->sender[s].handed = 0;
    transmit->sending = transmit->chain_count != 0 && transmit->act != RM_STANDBY_QUIET;
    transmit->first_tsc = 0;
}

/** Whether any of these values was not sent before. Told by the bits, so that this is plain comparing of memory. */
static bool setpoints_differ(float const *sent, float const *values, uint32_t count) {
    return memcmp(sent, values, count * sizeof *sent) != 0;
}

/** The datagram of one chain, whose supplies have gone their step; `moves`: its setpoints may differ from the last.
 * Returns the frame's length. */
static uint32_t compose_setpoint_frame(struct rm_transmit *transmit, struct rm_transmit_link *link, bool moves,
                                       uint8_t *frame) {
    float const *values = rm_guard_setpoints(transmit->guard);
    link->query = !link->joined || transmit->act == RM_STANDBY_ASKS;
    link->catching = false;
    if (link->behind && !link->query) {
        catch_up(transmit, link);
        values = transmit->caught;
    }
    if (!link->query && (moves || link->in_doubt || link->begins))
        rm_transmit_intend(link, values + link->first);
    return rm_setpoint_frame_fill(&link->frame, frame, link->query ? RM_SETPOINT_QUERY : 0, transmit->cycle_turn,
                                  transmit->term, transmit->setup.instance, link->sequence + !link->query,
                                  link->query ? NULL : values + link->first);
}

/** The supplies of the burst's chains, and of all before them, go their step. True when one of the burst moves: at rest,
 * which is one comparison for all, nothing of it is intended anew. */
static bool advance_burst(struct rm_transmit *transmit, struct rm_transmit_sender const *sender) {
    struct rm_transmit_link const *const first = &transmit->link[sender->chain[sender->composed]];
    struct rm_transmit_link const *const last =
        &transmit->link[sender->chain[sender->composed + sender->out.count - 1]];
    uint32_t const end = last->first + last->count;
    if (transmit->moves)
        rm_guard_advance(transmit->guard, end);
    return setpoints_differ(transmit->sent + first->first, rm_guard_setpoints(transmit->guard) + first->first,
                            end - first->first);
}

/** Fills the burst with the next datagrams, as many as there are buffers. */
static void compose_burst(struct rm_transmit *transmit, struct rm_transmit_sender *sender) {
    uint32_t const left = sender->count - sender->composed;
    uint32_t const most = sender->composed == 0 ? RM_TRANSMIT_FIRST_BURST : LATER_BURST;
    if (!sender->spare)
        (void)rm_port_reserve(sender->port, sender->queue, &sender->out, left < most ? left : most);
    sender->spare = false;
    /* Those of a later burst go their step together: ten at a time cost as much as forty. */
    bool const moves = sender->out.count != 0 && advance_burst(transmit, sender);
    for (uint32_t i = 0; i < sender->out.count; ++i)
        sender->out.length[i] = compose_setpoint_frame(transmit, &transmit->link[sender->chain[sender->composed++]],
                                                       moves, sender->out.data[i]);
}

/** The port has taken `count` more. */
static void hand_over_frames(struct rm_transmit *transmit, struct rm_transmit_sender *sender, uint32_t count) {
    if (count != 0 && transmit->first_tsc == 0)
        transmit->first_tsc = rm_tsc();
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_transmit_link *const link = &transmit->link[sender->chain[sender->handed++]];
        link->sequence += !link->query;
        link->handed = true;
        if (link->in_doubt && !link->query)
            rm_transmit_note_transmitted(link);
    }
}

/** Sends what the port takes. True when nothing is left; and where one of two servers has slept since the cycle was
 * decided: by now the other one may be master, so the rest is given up. */
static bool send_some(struct rm_transmit *transmit, struct rm_transmit_sender *sender) {
    for (int tries = 0; sender->handed < sender->count && tries < TRIES;) {
        if (sender->out.count == 0 || sender->spare)
            compose_burst(transmit, sender);
        if (transmit->standby != NULL && rm_transmit_has_slept(transmit))
            return true;
        atomic_thread_fence(memory_order_release); /* what is intended is stored before any of it is with the port */
        uint32_t const sent = sender->out.count != 0 ? rm_port_send(sender->port, sender->queue, &sender->out) : 0;
        hand_over_frames(transmit, sender, sent);
        tries += sent == 0;
    }
    return sender->handed == sender->count;
}

uint32_t rm_transmit_send(struct rm_transmit *transmit) {
    uint32_t sent = 0;
    bool left = false;
    for (uint32_t s = 0; transmit->sending && s < transmit->sender_count; ++s) {
        uint32_t const before = transmit->sender[s].handed;
        left |= !send_some(transmit, &transmit->sender[s]);
        sent += transmit->sender[s].handed - before;
    }
    transmit->sending = left;
    return sent;
}

/** Notes the setpoints that the supplies from `first` to before `end` were sent. At rest, which most of them are most
 * of the time, nothing is written. */
static void note_sent(struct rm_transmit *transmit, float const *values, uint32_t first, uint32_t end) {
    if (!setpoints_differ(transmit->sent + first, values + first, end - first))
        return;
    transmit->sent_vectors = 0;
    uint64_t const cycle = transmit->cycle;
    float *const sent = transmit->sent;
    uint64_t *const moved = transmit->moved;
    for (uint32_t i = first; i < end; ++i) {
        moved[i] = sent[i] == values[i] ? moved[i] : cycle;
        sent[i] = values[i];
    }
}

/** Nothing went to this chain. */
static void note_missed(struct rm_transmit *transmit, struct rm_transmit_link *link) {
    rm_counter_add(link->counters, RM_CHAIN_UNSENT, 1);
    rm_counter_add(transmit->setup.counters, RM_TRANSMIT_UNSENT, 1);
    link->behind = true;
    if (link->parts != 0)
        link->said[transmit->cycle % RM_TRANSMIT_WINDOW] = 0;
}

/** The chain's datagram is with the port. True when it said what the guard has for its supplies. */
static bool note_handed(struct rm_transmit *transmit, struct rm_transmit_link *link) {
    link->handed = false;
    rm_counter_add(link->counters, RM_CHAIN_SENT, 1);
    if (link->parts != 0) {
        uint32_t const place = transmit->cycle % RM_TRANSMIT_WINDOW;
        link->said[place] = link->query ? RM_TRANSMIT_ASKED : link->sequence;
        link->pending |= 1ull << place;
    }
    if (link->query)
        rm_counter_add(link->counters, RM_CHAIN_QUERIES, 1);
    else if (link->catching)
        note_sent(transmit, transmit->caught, link->first, link->first + link->count);
    return !link->query && !link->catching;
}

/** Supplies of chains beside each other are noted together: one skip all of them where no chain was left out. */
static void close_links(struct rm_transmit *transmit) {
    float const *const values = rm_guard_setpoints(transmit->guard);
    uint64_t handed = 0;
    uint32_t first = 0, end = 0; /* sent, and not noted yet */
    for (uint32_t i = 0; i < transmit->chain_count; ++i) {
        struct rm_transmit_link *const link = &transmit->link[i];
        if (!link->handed) {
            note_missed(transmit, link);
            continue;
        }
        ++handed;
        if (!note_handed(transmit, link))
            continue;
        if (link->first != end) {
            note_sent(transmit, values, first, end);
            first = link->first;
        }
        end = link->first + link->count;
    }
    note_sent(transmit, values, first, end);
    rm_counter_add(transmit->setup.counters, RM_TRANSMIT_DATAGRAMS, handed);
}

/** A cycle that sends nothing: no answer is ours. */
static void close_quiet_links(struct rm_transmit *transmit) {
    for (uint32_t i = 0; i < transmit->chain_count; ++i)
        transmit->link[i].said[transmit->cycle % RM_TRANSMIT_WINDOW] = 0;
}

void rm_transmit_close_chains(struct rm_transmit *transmit) {
    for (uint32_t s = 0; s < transmit->sender_count; ++s) {
        struct rm_transmit_sender *const sender = &transmit->sender[s];
        if (sender->out.count != 0)
            rm_port_release(sender->port, sender->queue, &sender->out);
        sender->spare = false;
    }
    if (transmit->act != RM_STANDBY_QUIET)
        close_links(transmit);
    else
        close_quiet_links(transmit);
    transmit->sending = false;
}

void rm_transmit_reserve(struct rm_transmit *transmit) {
    for (uint32_t s = 0; s < transmit->sender_count; ++s) {
        struct rm_transmit_sender *const sender = &transmit->sender[s];
        sender->spare = rm_port_reserve(sender->port, sender->queue, &sender->out, RM_TRANSMIT_FIRST_BURST) != 0;
    }
}

void rm_transmit_release(struct rm_transmit *transmit) {
    for (uint32_t s = 0; s < transmit->sender_count; ++s)
        if (transmit->sender[s].out.count != 0)
            rm_port_release(transmit->sender[s].port, transmit->sender[s].queue, &transmit->sender[s].out);
}
