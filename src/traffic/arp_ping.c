// SPDX-License-Identifier: Apache-2.0
#include "traffic/arp_ping.h"

#include <string.h>

#include "wire/arp.h"
#include "wire/icmp.h"

enum { TRIES_MOST = 3 };

static double const ANSWER_S = 1;
/* So long the link is asked to take a frame. */
static double const LINK_S = 3;

static uint64_t ticks_of(struct rm_arp_ping const *ping, double seconds) { return (uint64_t)(seconds * ping->tsc_hz); }

static void put32(_Atomic uint32_t *shared, uint32_t value) {
    atomic_store_explicit(shared, value, memory_order_relaxed);
}

static void put64(_Atomic uint64_t *shared, uint64_t value) {
    atomic_store_explicit(shared, value, memory_order_relaxed);
}

static uint64_t get64(_Atomic uint64_t const *shared) { return atomic_load_explicit(shared, memory_order_relaxed); }

static uint32_t get32(_Atomic uint32_t const *shared) { return atomic_load_explicit(shared, memory_order_relaxed); }

void rm_arp_ping_init(struct rm_arp_ping *ping, double tsc_hz) { ping->tsc_hz = tsc_hz; }

void rm_arp_ping_answer_for(struct rm_arp_ping *ping, struct rm_arp_ping_identity const *identity) {
    ping->answers_for = identity != NULL ? *identity : (struct rm_arp_ping_identity){0};
}

static void request_begin(struct rm_arp_ping *ping, uint64_t tsc) {
    struct rm_arp_ping_shared *const shared = &ping->shared;
    ping->request = ping->asked;
    ping->busy = true;
    ping->tries = 0;
    ping->offered = false;
    ping->next_tsc = tsc;
    ping->identifier = (uint16_t)(tsc * 0x9E3779B97F4A7C15u >> 48);
    memset(ping->sent_tsc, 0, sizeof ping->sent_tsc);
    put32(&shared->what, ping->request.what);
    put32(&shared->target_ipv4, ping->request.target_ipv4);
    put32(&shared->sent, 0);
    put32(&shared->answered, 0);
    put32(&shared->repeated, 0);
    put64(&shared->least_ticks, UINT64_MAX);
    put64(&shared->last_ticks, 0);
    put64(&shared->most_ticks, 0);
    put64(&shared->sum_ticks, 0);
    put32(&shared->state, RM_ARP_PING_RESOLVING);
    rm_mailbox_free(&ping->mailbox); /* after the state, so that the next request finds this one going on */
}

static void request_end(struct rm_arp_ping *ping, enum rm_arp_ping_state state) {
    ping->busy = false;
    put32(&ping->shared.state, state);
}

/** The target has said where it is. */
static void request_resolved(struct rm_arp_ping *ping, uint8_t const mac[6], uint64_t tsc) {
    uint64_t number = 0;
    for (int i = 0; i < 6; ++i)
        number = number << 8 | mac[i];
    memcpy(ping->target_mac, mac, 6);
    put64(&ping->shared.target_mac, number);
    if (ping->request.what == RM_ARP_PING_ARP) {
        request_end(ping, RM_ARP_PING_DONE);
    } else {
        put32(&ping->shared.state, RM_ARP_PING_PINGING);
        ping->next_tsc = tsc;
    }
}

static void take_arp(struct rm_arp_ping *ping, struct rm_arp_packet const *packet, uint64_t tsc) {
    if (ping->busy && ping->tries > 0 && get32(&ping->shared.state) == RM_ARP_PING_RESOLVING && packet->reply &&
        packet->sender_ipv4 == ping->request.target_ipv4)
        request_resolved(ping, packet->sender_mac, tsc);
}

/** An echo's answer, if it is one that is waited for. */
static void take_reply(struct rm_arp_ping *ping, struct rm_icmp_echo const *echo, uint64_t tsc) {
    struct rm_arp_ping_shared *const shared = &ping->shared;
    uint32_t const sent = get32(&shared->sent), age = (uint16_t)(sent - 1 - echo->sequence);
    if (!ping->busy || echo->source_ipv4 != ping->request.target_ipv4 || echo->identifier != ping->identifier ||
        age >= RM_PING_WINDOW || age >= sent)
        return;
    uint64_t *const sent_tsc = &ping->sent_tsc[echo->sequence % RM_PING_WINDOW];
    if (*sent_tsc == 0) {
        put32(&shared->repeated, get32(&shared->repeated) + 1);
        return;
    }
    uint64_t const ticks = tsc - *sent_tsc;
    *sent_tsc = 0;
    if (ticks > ticks_of(ping, ANSWER_S))
        return;
    put64(&shared->last_ticks, ticks);
    put64(&shared->sum_ticks, get64(&shared->sum_ticks) + ticks);
    if (ticks < get64(&shared->least_ticks))
        put64(&shared->least_ticks, ticks);
    if (ticks > get64(&shared->most_ticks))
        put64(&shared->most_ticks, ticks);
    put32(&shared->answered, get32(&shared->answered) + 1);
    if (get32(&shared->answered) == ping->request.count)
        request_end(ping, RM_ARP_PING_DONE);
}

static uint32_t answer_to(struct rm_arp_ping const *ping, uint8_t const *frame, uint32_t length,
                          uint8_t answer[RM_SEND_BYTES]) {
    struct rm_arp_ping_identity const *const we = &ping->answers_for;
    if (we->ipv4 == 0 || length > RM_SEND_BYTES)
        return 0;
    memcpy(answer, frame, length);
    uint32_t const arp = rm_arp_answer(answer, length, we->mac, we->ipv4);
    return arp != 0 ? arp : rm_icmp_answer(answer, length, we->ipv4);
}

uint32_t rm_arp_ping_take(struct rm_arp_ping *ping, uint8_t const *frame, uint32_t length, uint64_t tsc,
                          uint8_t answer[RM_SEND_BYTES]) {
    struct rm_arp_packet packet;
    struct rm_icmp_echo echo;
    if (rm_arp_read(frame, length, &packet))
        take_arp(ping, &packet, tsc);
    else if (rm_icmp_read_reply(frame, length, &echo))
        take_reply(ping, &echo, tsc);
    return answer_to(ping, frame, length, answer);
}

static uint32_t write_arp(struct rm_arp_ping *ping, uint8_t frame[RM_SEND_BYTES]) {
    struct rm_arp_ping_identity const *const we = &ping->request.from;
    if (ping->request.what == RM_ARP_PING_ANNOUNCE)
        rm_arp_announce(frame, we->mac, we->ipv4, we->vlan);
    else
        rm_arp_request(frame, we->mac, we->ipv4, ping->request.target_ipv4, we->vlan);
    return RM_ARP_REQUEST_BYTES;
}

static uint32_t write_echo(struct rm_arp_ping *ping, uint8_t frame[RM_SEND_BYTES]) {
    struct rm_arp_ping_identity const *const we = &ping->request.from;
    struct rm_flow flow = {.source_ipv4 = we->ipv4, .destination_ipv4 = ping->request.target_ipv4, .vlan = we->vlan};
    memcpy(flow.source_mac, we->mac, sizeof flow.source_mac);
    memcpy(flow.destination_mac, ping->target_mac, sizeof flow.destination_mac);
    return rm_icmp_write_request(frame, &flow, ping->identifier, (uint16_t)get32(&ping->shared.sent),
                                 ping->request.content_bytes);
}

uint32_t rm_arp_ping_write(struct rm_arp_ping *ping, uint64_t tsc, uint8_t frame[RM_SEND_BYTES]) {
    if (!ping->busy) {
        if (!rm_mailbox_take(&ping->mailbox))
            return 0;
        request_begin(ping, tsc);
    }
    if (tsc < ping->next_tsc)
        return 0;
    bool const resolving = get32(&ping->shared.state) == RM_ARP_PING_RESOLVING;
    if (resolving ? ping->tries == TRIES_MOST : get32(&ping->shared.sent) == ping->request.count) {
        /* the last answers were waited for */
        request_end(ping, resolving ? RM_ARP_PING_UNRESOLVED : RM_ARP_PING_DONE);
        return 0;
    }
    if (!ping->offered)
        ping->offered_tsc = tsc;
    ping->offered = true;
    if (tsc - ping->offered_tsc > ticks_of(ping, LINK_S)) {
        request_end(ping, RM_ARP_PING_UNSENT);
        return 0;
    }
    return resolving ? write_arp(ping, frame) : write_echo(ping, frame);
}

void rm_arp_ping_sent(struct rm_arp_ping *ping, uint64_t tsc) {
    uint64_t const answer_ticks = ticks_of(ping, ANSWER_S);
    ping->offered = false;
    if (ping->request.what == RM_ARP_PING_ANNOUNCE) {
        request_end(ping, RM_ARP_PING_DONE);
    } else if (get32(&ping->shared.state) == RM_ARP_PING_RESOLVING) {
        ++ping->tries;
        ping->next_tsc = tsc + answer_ticks;
    } else {
        uint32_t const sent = get32(&ping->shared.sent);
        ping->sent_tsc[sent % RM_PING_WINDOW] = tsc;
        put32(&ping->shared.sent, sent + 1);
        bool const last = sent + 1 == ping->request.count;
        ping->next_tsc = tsc + (last ? answer_ticks : ticks_of(ping, (double)ping->request.interval_ns * 1e-9));
    }
}
