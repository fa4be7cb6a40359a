// SPDX-License-Identifier: Apache-2.0
#include "forward/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "forward/next_hops.h"
#include "forward/path_groups.h"
#include "forward/routes_table.h"

enum { FIRST_CHANGES = 256, QUICK_LOOKS = 200, NS_PER_LOOK = 20000, LOOKS_MAX = 50000 /**< a second of looks */ };

/** One change, to be made to the second table too. */
struct routes_change {
    struct rm_prefix prefix;
    /** 0: the prefix was removed. */
    uint16_t group;
    /** RM_INTERFACE_NONE: it is a route's; else this interface was set, as the first table has it. */
    uint16_t interface;
};

/** What a core has seen last. A line each: all are written once per burst. */
struct routes_reader {
    alignas(64) _Atomic(struct rm_routes_table const *) seen;
};

/** A reader says by `seen`, with release, that it has done with any other table; the control side loads that with
 * acquire before it changes one. A reader that begins has nothing to be done with: it says so once more if the tables
 * were swapped meanwhile, in the one order of all sequentially consistent operations. */
struct rm_routes {
    _Atomic(struct rm_routes_table const *) current;
    struct routes_reader reader[RM_ROUTES_READERS_MAX];
    uint32_t readers;

    struct rm_routes_table table[2];
    /** Of the table that changes go to, while no core reads it. */
    uint32_t standby;
    /** The changes were published: they are to be made to the standby table before others. */
    bool swapped;
    uint32_t change_count;
    uint32_t change_room;
    struct routes_change *change;

    struct rm_routes_limits limits;
    uint32_t ipv4_count;
    uint32_t ipv6_count;
    struct rm_path_groups groups;
    struct rm_next_hops hops;
};

uint32_t rm_routes_memory_mib(struct rm_routes_limits const *limits) { return 2 * rm_match_memory_mib(limits); }

static enum rm_code routes_no_memory(struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for the router's routes; free some memory");
}

static void routes_table_make(struct rm_routes *routes, struct rm_routes_table *table) {
    table->slots = routes->groups.slot;
    table->hop = routes->hops.hop;
    memset(table->by_vlan, 0xFF, sizeof table->by_vlan);
}

enum rm_code rm_routes_make(struct rm_routes **made, struct rm_routes_limits const *limits, uint32_t readers,
                            struct rm_error *error) {
    if (readers > RM_ROUTES_READERS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "%u cores read the routes; at most %d can", readers,
                       RM_ROUTES_READERS_MAX);
    struct rm_routes *const routes = rm_zeroed(1, sizeof *routes);
    if (routes == NULL)
        return routes_no_memory(error);
    routes->limits = *limits;
    routes->readers = readers;
    enum rm_code code =
        rm_path_groups_make(&routes->groups) && rm_next_hops_make(&routes->hops) ? RM_OK : routes_no_memory(error);
    for (uint32_t i = 0; i < 2 && code == RM_OK; ++i) {
        char name[24];
        snprintf(name, sizeof name, "%lx-%u", (unsigned long)((uintptr_t)routes >> 6), i); // unique in the process
        routes_table_make(routes, &routes->table[i]);
        code = rm_match_make(&routes->table[i].match, name, limits, error);
    }
    if (code != RM_OK) {
        rm_routes_free(routes);
        return code;
    }
    routes->standby = 1;
    atomic_store(&routes->current, &routes->table[0]);
    *made = routes;
    return RM_OK;
}

void rm_routes_free(struct rm_routes *routes) {
    for (uint32_t i = 0; i < 2; ++i)
        rm_match_free(&routes->table[i].match);
    rm_path_groups_free(&routes->groups);
    rm_next_hops_free(&routes->hops);
    free(routes->change);
    free(routes);
}

struct rm_routes_table const *rm_routes_table(struct rm_routes *routes, uint32_t reader) {
    struct rm_routes_table const *table = atomic_load_explicit(&routes->current, memory_order_acquire);
    if (reader == RM_ROUTES_READER_NONE)
        return table;
    struct routes_reader *const self = &routes->reader[reader];
    if (__builtin_expect(atomic_load_explicit(&self->seen, memory_order_relaxed) == NULL, 0)) {
        do {
            table = atomic_load(&routes->current);
            atomic_store(&self->seen, table);
        } while (atomic_load(&routes->current) != table);
    }
    atomic_store_explicit(&self->seen, table, memory_order_release);
    return table;
}

static bool readers_have_passed(struct rm_routes *routes) {
    struct rm_routes_table const *const current = atomic_load(&routes->current);
    for (uint32_t i = 0; i < routes->readers; ++i) {
        struct rm_routes_table const *const seen = atomic_load(&routes->reader[i].seen);
        if (seen != NULL && seen != current)
            return false;
    }
    return true;
}

static struct rm_routes_table *standby_table(struct rm_routes *routes) { return &routes->table[routes->standby]; }

static void group_drop(struct rm_routes *routes, uint32_t group) {
    struct rm_path_slots const slots = routes->groups.slot[group];
    if (group == 0 || !rm_path_groups_drop(&routes->groups, group))
        return;
    struct rm_path path[RM_PATHS_MAX];
    uint32_t const count = rm_path_slots_paths(&slots, path);
    for (uint32_t i = 0; i < count; ++i)
        rm_next_hops_drop(&routes->hops, path[i].hop);
}

/** Puts a group in place of the one that the prefix had in the standby table; 0 is none. */
static bool standby_set_route(struct rm_routes *routes, struct rm_prefix const *prefix, uint32_t before,
                              uint32_t group) {
    struct rm_match *const match = &standby_table(routes)->match;
    if (group == 0)
        rm_match_remove(match, prefix);
    else if (group != before && !rm_match_set(match, prefix, group))
        return false;
    if (group != 0)
        rm_path_groups_hold(&routes->groups, group);
    group_drop(routes, before);
    return true;
}

static void table_set_interface(struct rm_routes_table *table, uint32_t number, struct rm_interface const *interface) {
    struct rm_interface *const own = &table->interface[number];
    if (own->up)
        table->by_vlan[own->port][own->vlan] = RM_INTERFACE_NONE;
    *own = *interface;
    if (own->up)
        table->by_vlan[own->port][own->vlan] = (uint16_t)number;
}

/** Makes the published changes to the table that the cores have left. */
static void routes_repeat_changes(struct rm_routes *routes) {
    for (uint32_t i = 0; i < routes->change_count; ++i) {
        struct routes_change const *const change = &routes->change[i];
        if (change->interface != RM_INTERFACE_NONE) {
            table_set_interface(standby_table(routes), change->interface,
                                &routes->table[routes->standby ^ 1].interface[change->interface]);
            continue;
        }
        // There is room: the other table of the same size took the same.
        uint32_t const before = rm_match_exact(&standby_table(routes)->match, &change->prefix);
        standby_set_route(routes, &change->prefix, before, change->group);
        group_drop(routes, change->group);
    }
    routes->change_count = 0;
    routes->swapped = false;
}

/** Waits until no core reads the standby table, and makes it like the other. */
static enum rm_code routes_make_ready(struct rm_routes *routes, struct rm_error *error) {
    struct timespec const look = {.tv_nsec = NS_PER_LOOK};
    for (uint32_t i = 0; i < QUICK_LOOKS && routes->swapped && !readers_have_passed(routes); ++i)
        __builtin_ia32_pause(); // as long as a core takes for a burst
    for (uint32_t looks = 0; routes->swapped && !readers_have_passed(routes); ++looks) {
        if (looks == LOOKS_MAX)
            return rm_fail(error, RM_E_BUSY,
                           "a forwarding core has not taken over the last change of routes for a second: it stands "
                           "still; try again, and see whether its core is free for it");
        nanosleep(&look, NULL);
    }
    if (routes->swapped)
        routes_repeat_changes(routes);
    return RM_OK;
}

/** Room to note one more change; false: no memory. */
static bool changes_have_room(struct rm_routes *routes) {
    if (routes->change_count < routes->change_room)
        return true;
    uint32_t const room = routes->change_room == 0 ? FIRST_CHANGES : 2 * routes->change_room;
    struct routes_change *const change = realloc(routes->change, room * sizeof *change);
    if (change == NULL)
        return false;
    routes->change = change;
    routes->change_room = room;
    return true;
}

static enum rm_code routes_begin(struct rm_routes *routes, struct rm_error *error) {
    enum rm_code const code = routes_make_ready(routes, error);
    if (code != RM_OK)
        return code;
    return changes_have_room(routes) ? RM_OK : routes_no_memory(error);
}

static void note_change(struct rm_routes *routes, struct rm_prefix const *prefix, uint32_t group, uint16_t interface) {
    routes->change[routes->change_count++] =
        (struct routes_change){.prefix = *prefix, .group = (uint16_t)group, .interface = interface};
    if (group != 0)
        rm_path_groups_hold(&routes->groups, group); // until it is made to both
}

void rm_routes_publish(struct rm_routes *routes) {
    if (routes->change_count == 0 || routes->swapped)
        return;
    atomic_store(&routes->current, standby_table(routes));
    routes->standby ^= 1;
    routes->swapped = true;
    if (readers_have_passed(routes))
        routes_repeat_changes(routes);
}

enum rm_code rm_routes_set_interface(struct rm_routes *routes, uint32_t number, struct rm_interface const *interface,
                                     struct rm_error *error) {
    if (number >= RM_INTERFACES_MAX || interface->port >= RM_FORWARD_PORTS_MAX || interface->vlan >= RM_VLANS)
        return rm_fail(error, RM_E_ARGUMENT,
                       "interface %u of port %u, VLAN %u: there are at most %d interfaces, %d ports, and VLANs to 4094",
                       number, interface->port, interface->vlan, RM_INTERFACES_MAX, RM_FORWARD_PORTS_MAX);
    enum rm_code const code = routes_begin(routes, error);
    if (code != RM_OK)
        return code;
    uint16_t const there = standby_table(routes)->by_vlan[interface->port][interface->vlan];
    if (interface->up && there != RM_INTERFACE_NONE && there != number)
        return rm_fail(error, RM_E_ARGUMENT,
                       "port %u, VLAN %u is interface %u already; interface %u needs another VLAN", interface->port,
                       interface->vlan, there, number);
    table_set_interface(standby_table(routes), number, interface);
    rm_next_hops_set_mtu(&routes->hops, (uint16_t)number, interface->mtu);
    note_change(routes, &(struct rm_prefix){0}, 0, (uint16_t)number);
    return RM_OK;
}

/** The table in which unpublished changes count, too. */
static struct rm_routes_table const *newest_table(struct rm_routes const *routes) {
    return &routes->table[routes->swapped ? routes->standby ^ 1 : routes->standby];
}

struct rm_interface const *rm_routes_interface(struct rm_routes const *routes, uint32_t number) {
    return &newest_table(routes)->interface[number];
}

enum rm_code rm_hop_take(struct rm_routes *routes, uint32_t interface, struct rm_ip const *gateway, uint32_t *hop,
                         struct rm_error *error) {
    struct rm_interface const *const leaves_by =
        interface < RM_INTERFACES_MAX ? rm_routes_interface(routes, interface) : NULL;
    if (leaves_by == NULL || !leaves_by->up)
        return rm_fail(error, RM_E_ARGUMENT, "a next hop leaves by interface %u, which is not up; set it first",
                       interface);
    *hop = rm_next_hops_take(&routes->hops, (uint16_t)interface, leaves_by, gateway);
    if (*hop != 0)
        return RM_OK;
    return rm_fail(error, RM_E_NO_SPACE, "there are %d next hops, as many as can be; remove routes or neighbours",
                   RM_NEXT_HOPS_MAX);
}

void rm_hop_drop(struct rm_routes *routes, uint32_t hop) { rm_next_hops_drop(&routes->hops, hop); }

struct rm_next_hop *rm_routes_hop(struct rm_routes *routes, uint32_t hop) {
    return &routes->hops.hop[hop];
}

/** Whether all bits behind the prefix's length are zero. */
static bool prefix_is_whole(struct rm_prefix const *prefix) {
    uint32_t const bits = prefix->ip.ipv6 ? RM_IPV6_PREFIX_MAX : RM_IPV4_PREFIX_MAX;
    if (prefix->length > bits)
        return false;
    uint32_t const whole = prefix->length / 8;
    uint32_t behind = whole < RM_IPV6_ADDRESS_BYTES ? prefix->ip.byte[whole] & 0xFFu >> prefix->length % 8 : 0;
    for (uint32_t i = whole + 1; i < RM_IPV6_ADDRESS_BYTES; ++i)
        behind |= prefix->ip.byte[i];
    return behind == 0;
}

static enum rm_code route_check(struct rm_routes const *routes, struct rm_route const *route, struct rm_error *error) {
    if (!prefix_is_whole(&route->prefix))
        return rm_fail(error, RM_E_ARGUMENT,
                       "a route's prefix of length %u has bits behind its length, or is too long; write the network's "
                       "own address",
                       route->prefix.length);
    if (route->path_count == 0 || route->path_count > RM_PATHS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "a route has %u next hops; 1 to %d can be", route->path_count,
                       RM_PATHS_MAX);
    for (uint32_t i = 0; i < route->path_count; ++i)
        if (route->path[i].hop >= routes->hops.used || route->path[i].weight == 0)
            return rm_fail(error, RM_E_ARGUMENT,
                           "a route's path %u has weight %u and next hop %u, of %u that there are", i,
                           route->path[i].weight, route->path[i].hop, routes->hops.used);
    return RM_OK;
}

/** Finds or makes the group of a route's paths; a new one holds its hops. */
static uint32_t group_take(struct rm_routes *routes, struct rm_route const *route) {
    struct rm_path_slots const slots = rm_path_slots_of(route->path, route->path_count);
    bool made;
    uint32_t const group = rm_path_groups_take(&routes->groups, &slots, &made);
    if (group == 0 || !made)
        return group;
    struct rm_path path[RM_PATHS_MAX];
    uint32_t const count = rm_path_slots_paths(&slots, path);
    for (uint32_t i = 0; i < count; ++i)
        rm_next_hops_hold(&routes->hops, path[i].hop);
    return group;
}

static uint32_t *routes_counter(struct rm_routes *routes, bool ipv6) {
    return ipv6 ? &routes->ipv6_count : &routes->ipv4_count;
}

static enum rm_code routes_full(struct rm_routes *routes, bool ipv6, struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE,
                   "the table of IPv%d routes is full: it has %u of %u routes; ask for a larger one, or remove routes",
                   ipv6 ? 6 : 4, *routes_counter(routes, ipv6),
                   ipv6 ? routes->limits.ipv6_routes : routes->limits.ipv4_routes);
}

enum rm_code rm_route_set(struct rm_routes *routes, struct rm_route const *route, struct rm_error *error) {
    enum rm_code code = route_check(routes, route, error);
    if (code == RM_OK)
        code = routes_begin(routes, error);
    if (code != RM_OK)
        return code;
    bool const ipv6 = route->prefix.ip.ipv6;
    uint32_t const before = rm_match_exact(&standby_table(routes)->match, &route->prefix);
    bool const is_new = before == 0;
    uint32_t const most = ipv6 ? routes->limits.ipv6_routes : routes->limits.ipv4_routes;
    if (is_new && *routes_counter(routes, ipv6) >= most)
        return routes_full(routes, ipv6, error);
    uint32_t const group = group_take(routes, route);
    if (group == 0)
        return rm_fail(error, RM_E_NO_SPACE,
                       "there are %d different sets of next hops, as many as can be; let routes share theirs",
                       RM_PATH_GROUPS_MAX - 1);
    if (standby_set_route(routes, &route->prefix, before, group)) {
        note_change(routes, &route->prefix, group, RM_INTERFACE_NONE);
        *routes_counter(routes, ipv6) += is_new;
    } else {
        code = routes_full(routes, ipv6, error);
    }
    group_drop(routes, group);
    return code;
}

enum rm_code rm_route_remove(struct rm_routes *routes, struct rm_prefix const *prefix, struct rm_error *error) {
    enum rm_code const code = routes_begin(routes, error);
    if (code != RM_OK)
        return code;
    uint32_t const before = prefix_is_whole(prefix) ? rm_match_exact(&standby_table(routes)->match, prefix) : 0;
    if (before == 0)
        return rm_fail(error, RM_E_NOT_FOUND, "there is no route of this prefix, whose length is %u", prefix->length);
    standby_set_route(routes, prefix, before, 0);
    note_change(routes, prefix, 0, RM_INTERFACE_NONE);
    --*routes_counter(routes, prefix->ip.ipv6);
    return RM_OK;
}

static bool route_of(struct rm_routes const *routes, struct rm_prefix const *prefix, uint32_t group,
                     struct rm_route *route) {
    if (group == 0)
        return false;
    route->prefix = *prefix;
    route->path_count = rm_path_slots_paths(&routes->groups.slot[group], route->path);
    return true;
}

bool rm_route_find(struct rm_routes *routes, struct rm_prefix const *prefix, struct rm_route *route) {
    return prefix_is_whole(prefix) &&
           route_of(routes, prefix, rm_match_exact(&newest_table(routes)->match, prefix), route);
}

bool rm_route_match(struct rm_routes *routes, struct rm_ip const *address, struct rm_route *route) {
    struct rm_prefix prefix;
    uint32_t const group = rm_match_longest(&newest_table(routes)->match, address, &prefix);
    return route_of(routes, &prefix, group, route);
}

/** What rm_routes_list hands through the list of prefixes. */
struct route_listing {
    struct rm_routes const *routes;
    bool (*see)(void *context, struct rm_route const *route);
    void *context;
};

static bool see_prefix(void *context, struct rm_prefix const *prefix, uint32_t group) {
    struct route_listing const *const listing = context;
    struct rm_route route;
    return !route_of(listing->routes, prefix, group, &route) || listing->see(listing->context, &route);
}

void rm_routes_list(struct rm_routes *routes, bool ipv6, bool (*see)(void *context, struct rm_route const *route),
                    void *context) {
    struct route_listing listing = {.routes = routes, .see = see, .context = context};
    rm_match_list(&newest_table(routes)->match, ipv6, see_prefix, &listing);
}

uint32_t rm_routes_count(struct rm_routes const *routes, bool ipv6) {
    return ipv6 ? routes->ipv6_count : routes->ipv4_count;
}
