// SPDX-License-Identifier: Apache-2.0
#include "forward/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "forward/waiting.h"
#include "wire/arp.h"
#include "wire/neighbour_discovery.h"

enum { BUCKETS = 4096, NONE = UINT32_MAX, TICK_MS = 10 };

struct entry {
    bool used;
    uint8_t mac[6];
    enum rm_neighbour_state state;
    uint32_t asks; /**< sent in this state */
    uint32_t interface;
    uint32_t hop;   /**< held; its next hop */
    uint32_t next;  /**< in its bucket, or among those that are free */
    bool has_route; /**< its host route is known */
    bool ready;     /**< what waits need wait no longer */
    bool kernel;    /**< permanent by the kernel's word … */
    uint32_t dump;  /**< … last in this dump of it */
    struct rm_ip ip;
    uint64_t due_ms;   /**< when its state ends, or it is asked for again */
    uint64_t heard_ms; /**< when it last answered; 0: never */
    struct rm_waiting waiting;
};

struct rm_neighbours {
    struct rm_routes *routes;
    struct rm_known_routes *known;
    struct rm_router_interfaces const *interfaces;
    struct rm_neighbour_ways ways;
    struct rm_neighbour_counts counts;
    struct rm_waiting_room *room;
    uint64_t tick_ms;
    uint32_t dump; /**< number of the kernel's dump */
    bool some_ready;
    uint32_t sought; /**< that are incomplete or have failed */
    uint32_t free;   /**< the first that is */
    uint32_t bucket[BUCKETS];
    struct entry entry[RM_NEIGHBOURS_MAX];
};

struct rm_neighbours *rm_neighbours_make(struct rm_routes *routes, struct rm_known_routes *known,
                                         struct rm_router_interfaces const *interfaces,
                                         struct rm_neighbour_ways const *ways, uint32_t longest_frame) {
    struct rm_neighbours *const neighbours = calloc(1, sizeof *neighbours);
    if (neighbours == NULL)
        return NULL;
    neighbours->routes = routes;
    neighbours->known = known;
    neighbours->interfaces = interfaces;
    neighbours->ways = *ways;
    neighbours->room = rm_waiting_room_make(RM_WAITING_MAX, longest_frame);
    for (uint32_t i = 0; i < BUCKETS; ++i)
        neighbours->bucket[i] = NONE;
    for (uint32_t i = 0; i < RM_NEIGHBOURS_MAX; ++i)
        neighbours->entry[i].next = i + 1 < RM_NEIGHBOURS_MAX ? i + 1 : NONE;
    if (neighbours->room != NULL)
        return neighbours;
    free(neighbours);
    return NULL;
}

void rm_neighbours_free(struct rm_neighbours *neighbours) {
    if (neighbours == NULL)
        return;
    rm_waiting_room_free(neighbours->room);
    free(neighbours);
}

static bool is_sought(enum rm_neighbour_state state) {
    return state == RM_NEIGHBOUR_INCOMPLETE || state == RM_NEIGHBOUR_FAILED;
}

static uint32_t *neighbour_bucket(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip) {
    return &neighbours->bucket[rm_ip_hash(ip, interface) % BUCKETS];
}

static struct entry *neighbour_find(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip) {
    for (uint32_t i = *neighbour_bucket(neighbours, interface, ip); i != NONE; i = neighbours->entry[i].next)
        if (neighbours->entry[i].interface == interface && rm_ip_same(&neighbours->entry[i].ip, ip))
            return &neighbours->entry[i];
    return NULL;
}

static struct rm_next_hop *entry_hop(struct rm_neighbours *neighbours, struct entry const *entry) {
    return rm_routes_hop(neighbours->routes, entry->hop);
}

static struct rm_router_interface const *entry_interface(struct rm_neighbours const *neighbours,
                                                         struct entry const *entry) {
    return &neighbours->interfaces->interface[entry->interface];
}

static struct rm_prefix host_prefix(struct entry const *entry) {
    return rm_prefix_of(&entry->ip, rm_ip_bits(&entry->ip));
}

/** A full table has no host route then; the network's goes on to hand packets to us. */
static void add_host_route(struct rm_neighbours *neighbours, struct entry *entry) {
    if (entry->has_route || !rm_interface_connects(entry_interface(neighbours, entry), &entry->ip))
        return;
    struct rm_known_route const route = {.prefix = host_prefix(entry),
                                         .source = RM_SOURCE_NEIGHBOUR,
                                         .kind = RM_ROUTE_UNICAST,
                                         .path_count = 1,
                                         .path = {{entry->ip, entry->interface, 1}}};
    entry->has_route = rm_known_set(neighbours->known, &route, NULL) == RM_OK;
}

static void remove_host_route(struct rm_neighbours *neighbours, struct entry *entry) {
    struct rm_prefix const prefix = host_prefix(entry);
    if (entry->has_route)
        rm_known_remove(neighbours->known, &prefix, RM_SOURCE_NEIGHBOUR, 0, NULL);
    entry->has_route = false;
}

static void set_state(struct rm_neighbours *neighbours, struct entry *entry, enum rm_neighbour_state state,
                      uint64_t due_ms) {
    neighbours->sought += is_sought(state);
    neighbours->sought -= is_sought(entry->state);
    entry->state = state;
    entry->due_ms = due_ms;
    entry->asks = 0;
}

/** Takes a neighbour out. Packets that wait for it are dropped. */
static void neighbour_delete(struct rm_neighbours *neighbours, struct entry *entry) {
    uint32_t *at = neighbour_bucket(neighbours, entry->interface, &entry->ip);
    while (&neighbours->entry[*at] != entry)
        at = &neighbours->entry[*at].next;
    uint32_t const number = *at;
    *at = entry->next;
    neighbours->counts.full += rm_waiting_drop(neighbours->room, &entry->waiting);
    remove_host_route(neighbours, entry);
    rm_hop_forget(entry_hop(neighbours, entry), RM_HOP_STATE_UNRESOLVED);
    rm_hop_drop(neighbours->routes, entry->hop);
    neighbours->sought -= is_sought(entry->state);
    *entry = (struct entry){.next = neighbours->free};
    neighbours->free = number;
}

/** Makes room by the neighbour that has not answered for the longest time, if it is stale or being probed. */
static void forget_oldest(struct rm_neighbours *neighbours) {
    struct entry *oldest = NULL;
    for (uint32_t i = 0; i < RM_NEIGHBOURS_MAX; ++i) {
        struct entry *const entry = &neighbours->entry[i];
        bool const may_go = entry->used && (entry->state == RM_NEIGHBOUR_STALE || entry->state == RM_NEIGHBOUR_PROBE);
        if (may_go && (oldest == NULL || entry->heard_ms < oldest->heard_ms))
            oldest = entry;
    }
    if (oldest != NULL)
        neighbour_delete(neighbours, oldest);
}

/** A new neighbour, whose hop is held; NULL: there is no room. */
static struct entry *neighbour_new(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                                   enum rm_neighbour_state state, struct rm_error *error) {
    uint32_t hop;
    if (neighbours->free == NONE)
        forget_oldest(neighbours);
    if (neighbours->free == NONE) {
        rm_fail(error, RM_E_NO_SPACE, "there are %d neighbours already, which is the limit", RM_NEIGHBOURS_MAX);
        return NULL;
    }
    if (rm_hop_take(neighbours->routes, interface, ip, &hop, error) != RM_OK)
        return NULL;
    uint32_t const number = neighbours->free;
    struct entry *const entry = &neighbours->entry[number];
    neighbours->free = entry->next;
    uint32_t *const bucket = neighbour_bucket(neighbours, interface, ip);
    *entry =
        (struct entry){.used = true, .state = state, .interface = interface, .hop = hop, .next = *bucket, .ip = *ip};
    *bucket = number;
    neighbours->sought += is_sought(state);
    return entry;
}

static void neighbour_ask(struct rm_neighbours *neighbours, struct entry *entry, uint64_t now_ms) {
    struct rm_router_interface const *const interface = entry_interface(neighbours, entry);
    struct rm_ip const source = rm_interface_source(interface, &entry->ip);
    uint8_t frame[RM_ND_FRAME_BYTES];
    uint32_t length = RM_ARP_REQUEST_BYTES;
    if (entry->ip.ipv6) {
        struct rm_nd_sender sender = {.vlan = interface->wire.vlan};
        memcpy(sender.mac, interface->wire.mac, sizeof sender.mac);
        memcpy(sender.ipv6, source.byte, sizeof sender.ipv6);
        length = rm_nd_write_solicitation(frame, &sender, entry->ip.byte,
                                          entry->state == RM_NEIGHBOUR_PROBE ? entry->mac : NULL);
    } else
        rm_arp_request(frame, interface->wire.mac, rm_ip_ipv4(&source), rm_ip_ipv4(&entry->ip), interface->wire.vlan);
    neighbours->ways.send(neighbours->ways.context, interface->wire.port, frame, length);
    ++neighbours->counts.asked;
    ++entry->asks;
    entry->due_ms = now_ms + RM_NEIGHBOUR_ASK_MS;
}

/** The neighbour that is sought, new or known; NULL: no room. */
static struct entry *neighbour_seek(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                                    uint64_t now_ms) {
    struct entry *entry = neighbour_find(neighbours, interface, ip);
    if (entry != NULL)
        return entry;
    if (interface >= neighbours->interfaces->count || !rm_ip_is_host(ip) ||
        neighbours->sought >= RM_NEIGHBOURS_SOUGHT_MAX)
        return NULL;
    entry = neighbour_new(neighbours, interface, ip, RM_NEIGHBOUR_INCOMPLETE, NULL);
    if (entry != NULL)
        neighbour_ask(neighbours, entry, now_ms);
    return entry;
}

void rm_neighbours_seek(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip, uint64_t now_ms) {
    neighbour_seek(neighbours, interface, ip, now_ms);
}

static void waiting_again(void *context, uint32_t port, uint8_t const *frame, uint32_t length) {
    struct rm_neighbours *const neighbours = context;
    ++neighbours->counts.waited;
    neighbours->ways.again(neighbours->ways.context, port, frame, length);
}

/** What waited goes on, once the changes of routes are published. */
static void forward_waiting(struct rm_neighbours *neighbours, struct entry *entry) {
    entry->ready = entry->waiting.count != 0;
    neighbours->some_ready |= entry->ready;
}

void rm_neighbours_forward(struct rm_neighbours *neighbours) {
    for (uint32_t i = 0; i < RM_NEIGHBOURS_MAX && neighbours->some_ready; ++i)
        if (neighbours->entry[i].ready) {
            neighbours->entry[i].ready = false;
            rm_waiting_take(neighbours->room, &neighbours->entry[i].waiting, waiting_again, neighbours);
        }
    neighbours->some_ready = false;
}

void rm_neighbours_wait(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                        struct rm_handoff_packet const *packet, uint64_t now_ms) {
    struct entry *const entry = neighbour_seek(neighbours, interface, ip, now_ms);
    if (entry == NULL) {
        ++neighbours->counts.full;
        return;
    }
    if (entry->waiting.count == RM_NEIGHBOUR_WAITING_MAX)
        neighbours->counts.full += rm_waiting_drop_oldest(neighbours->room, &entry->waiting);
    neighbours->counts.full += !rm_waiting_put(neighbours->room, &entry->waiting, packet);
    if (entry->state != RM_NEIGHBOUR_INCOMPLETE)
        forward_waiting(neighbours, entry); /* it was found, or has failed, after the core had looked */
}

/** It has that MAC: its hop is resolved, and what waited goes on. */
static void neighbour_known_at(struct rm_neighbours *neighbours, struct entry *entry, uint8_t const mac[6]) {
    memcpy(entry->mac, mac, sizeof entry->mac);
    rm_hop_resolve(entry_hop(neighbours, entry), mac);
    add_host_route(neighbours, entry);
    forward_waiting(neighbours, entry);
}

void rm_neighbours_heard(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                         uint8_t const mac[6], bool answer, bool asked_us, uint64_t now_ms) {
    struct entry *entry = neighbour_find(neighbours, interface, ip);
    if (entry == NULL) {
        uint32_t const network = rm_interfaces_of_network(neighbours->interfaces, ip);
        if (!asked_us || !rm_ip_is_host(ip) || (network != interface && !rm_ip_is_link_local(ip)))
            return;
        entry = neighbour_new(neighbours, interface, ip, RM_NEIGHBOUR_STALE, NULL);
        if (entry == NULL)
            return;
    }
    if (entry->state == RM_NEIGHBOUR_PERMANENT)
        return;
    neighbours->counts.found += answer && is_sought(entry->state);
    if (answer) {
        entry->heard_ms = now_ms;
        set_state(neighbours, entry, RM_NEIGHBOUR_REACHABLE, now_ms + RM_NEIGHBOUR_REACHABLE_MS);
    } else if (is_sought(entry->state) || entry->state == RM_NEIGHBOUR_STALE || memcmp(entry->mac, mac, 6) != 0)
        set_state(neighbours, entry, RM_NEIGHBOUR_STALE, now_ms + RM_NEIGHBOUR_STALE_MS);
    neighbour_known_at(neighbours, entry, mac);
}

enum rm_code rm_neighbours_set(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                               uint8_t const mac[6], bool kernel, struct rm_error *error) {
    struct entry *entry = neighbour_find(neighbours, interface, ip);
    if (entry == NULL)
        entry = neighbour_new(neighbours, interface, ip, RM_NEIGHBOUR_PERMANENT, error);
    if (entry == NULL)
        return RM_E_NO_SPACE;
    set_state(neighbours, entry, RM_NEIGHBOUR_PERMANENT, UINT64_MAX);
    entry->kernel = kernel;
    entry->dump = neighbours->dump;
    neighbour_known_at(neighbours, entry, mac);
    return RM_OK;
}

void rm_neighbours_kernel_gone(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip) {
    struct entry *const entry = neighbour_find(neighbours, interface, ip);
    if (entry != NULL && entry->state == RM_NEIGHBOUR_PERMANENT && entry->kernel)
        neighbour_delete(neighbours, entry);
}

void rm_neighbours_begin_dump(struct rm_neighbours *neighbours) { ++neighbours->dump; }

void rm_neighbours_end_dump(struct rm_neighbours *neighbours) {
    for (uint32_t i = 0; i < RM_NEIGHBOURS_MAX; ++i) {
        struct entry *const entry = &neighbours->entry[i];
        if (entry->used && entry->state == RM_NEIGHBOUR_PERMANENT && entry->kernel && entry->dump != neighbours->dump)
            neighbour_delete(neighbours, entry);
    }
}

enum rm_code rm_neighbours_remove(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                                  struct rm_error *error) {
    struct entry *const entry = neighbour_find(neighbours, interface, ip);
    if (entry == NULL) {
        char text[RM_IP_TEXT_BYTES];
        rm_ip_format(ip, text);
        return rm_fail(error, RM_E_NOT_FOUND, "there is no neighbour %s; `neighbour show` lists those there are", text);
    }
    neighbour_delete(neighbours, entry);
    return RM_OK;
}

/** It did not answer: senders hear of it from now on, those of packets that waited first. */
static void neighbour_fail(struct rm_neighbours *neighbours, struct entry *entry, uint64_t now_ms) {
    ++neighbours->counts.failed;
    memset(entry->mac, 0, sizeof entry->mac);
    set_state(neighbours, entry, RM_NEIGHBOUR_FAILED, now_ms + RM_NEIGHBOUR_FAILED_MS);
    rm_hop_forget(entry_hop(neighbours, entry), RM_HOP_STATE_UNREACHABLE);
    add_host_route(neighbours, entry);
    forward_waiting(neighbours, entry);
}

static void neighbour_tick(struct rm_neighbours *neighbours, struct entry *entry, uint64_t now_ms) {
    switch (entry->state) {
    case RM_NEIGHBOUR_INCOMPLETE:
    case RM_NEIGHBOUR_PROBE:
        if (entry->asks < RM_NEIGHBOUR_ASKS)
            neighbour_ask(neighbours, entry, now_ms);
        else if (entry->state == RM_NEIGHBOUR_INCOMPLETE)
            neighbour_fail(neighbours, entry, now_ms);
        else
            neighbour_delete(neighbours, entry);
        break;
    case RM_NEIGHBOUR_REACHABLE:
        set_state(neighbours, entry, RM_NEIGHBOUR_STALE, now_ms + RM_NEIGHBOUR_STALE_MS);
        break;
    case RM_NEIGHBOUR_STALE:
        set_state(neighbours, entry, RM_NEIGHBOUR_PROBE, now_ms);
        neighbour_ask(neighbours, entry, now_ms);
        break;
    case RM_NEIGHBOUR_FAILED:
        neighbour_delete(neighbours, entry);
        break;
    case RM_NEIGHBOUR_PERMANENT:
        break;
    }
}

void rm_neighbours_tick(struct rm_neighbours *neighbours, uint64_t now_ms) {
    if (now_ms < neighbours->tick_ms)
        return;
    neighbours->tick_ms = now_ms + TICK_MS;
    for (uint32_t i = 0; i < RM_NEIGHBOURS_MAX; ++i)
        if (neighbours->entry[i].used && now_ms >= neighbours->entry[i].due_ms)
            neighbour_tick(neighbours, &neighbours->entry[i], now_ms);
}

void rm_neighbours_list(struct rm_neighbours const *neighbours, uint64_t now_ms,
                        bool (*see)(void *context, struct rm_neighbour const *neighbour), void *context) {
    for (uint32_t i = 0; i < RM_NEIGHBOURS_MAX; ++i) {
        struct entry const *const entry = &neighbours->entry[i];
        struct rm_neighbour neighbour = {.ip = entry->ip,
                                         .interface = entry->interface,
                                         .state = entry->state,
                                         .waiting = entry->waiting.count,
                                         .since_ms = entry->heard_ms != 0 ? now_ms - entry->heard_ms : UINT64_MAX};
        memcpy(neighbour.mac, entry->mac, sizeof neighbour.mac);
        if (entry->used && !see(context, &neighbour))
            return;
    }
}

struct rm_neighbour_counts const *rm_neighbours_counts(struct rm_neighbours const *neighbours) {
    return &neighbours->counts;
}

char const *rm_neighbour_state_name(enum rm_neighbour_state state) {
    static char const *const names[] = {"incomplete", "reachable", "stale", "probe", "failed", "permanent"};
    return names[state];
}
