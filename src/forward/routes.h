// SPDX-License-Identifier: Apache-2.0
/** Routes of the router: two tables with the same content, of which the forwarding cores read one.
 *
 *     rm_hop_take(…, &hop)  rm_route_set(prefix, {hop})  …  rm_routes_publish       the control side, one thread
 *     rm_routes_table(routes, reader)                                               each core, once per burst
 *
 * Changes go to the table that no core reads. rm_routes_publish gives it to the cores; once each has passed a quiescent
 * point, the same changes are made to the other. Until then further changes wait, for as long as a core takes for a
 * burst. A table has a longest-prefix match for each IP version (DPDK's rte_fib, rte_fib6) and the interfaces. A match
 * is the number of a path group: up to eight next hops, of which a flow's hash chooses one.
 *
 * Path groups and next hops stand beside both tables. They are counted: a route holds its group, a group its hops. What
 * nothing holds is free again, and no core can still see it, for both tables have passed through the change.
 */
#ifndef RM_FORWARD_ROUTES_H
#define RM_FORWARD_ROUTES_H

#include <ringmaster/error.h>

#include "forward/interface.h"
#include "forward/next_hop.h"

enum {
    /** Most next hops of a route; a group has as many slots, and a hop's share is the slots that it has of them. */
    RM_PATHS_MAX = 8,
    /** Path groups, as many different sets of next hops as all routes have: numbers 1 … this - 1. */
    RM_PATH_GROUPS_MAX = 16384,
    RM_ROUTES_READERS_MAX = 16,
};

/** For rm_routes_table: the control side's own thread, which need not be waited for. */
#define RM_ROUTES_READER_NONE UINT32_MAX

/** One of a route's ways. */
struct rm_path {
    /** Number of the next hop. */
    uint32_t hop;
    /** 1 or more: its share of the flows against the other paths' weights, as near as eighths come. */
    uint32_t weight;
};

struct rm_route {
    struct rm_prefix prefix;
    /** 1 … RM_PATHS_MAX. */
    uint32_t path_count;
    struct rm_path path[RM_PATHS_MAX];
};

/** Room in each table. Memory is taken when the tables are made, most of it for IPv4 (routes.c says how much). */
struct rm_routes_limits {
    /** 1 or more. */
    uint32_t ipv4_routes;
    /** 0: no IPv6 is routed. */
    uint32_t ipv6_routes;
};

/** What one core reads of a burst's time, and no longer. */
struct rm_routes_table;
struct rm_routes;

/** DPDK's memory, in MiB, that rm_routes_make will take: for rm_net_config.memory_mib. */
uint32_t rm_routes_memory_mib(struct rm_routes_limits const *limits);

/** Makes empty tables for `readers` cores, after rm_net_start. RM_E_NO_SPACE: DPDK's memory is too small. */
enum rm_code rm_routes_make(struct rm_routes **routes, struct rm_routes_limits const *limits, uint32_t readers,
                            struct rm_error *error);
/** When no core reads any more. */
void rm_routes_free(struct rm_routes *routes);

/** Sets interface `number` < RM_INTERFACES_MAX. The MTU of next hops that leave by it follows at once. */
enum rm_code rm_routes_set_interface(struct rm_routes *routes, uint32_t number, struct rm_interface const *interface,
                                     struct rm_error *error);
struct rm_interface const *rm_routes_interface(struct rm_routes const *routes, uint32_t number);

/** Finds or makes the next hop by `interface` to `gateway` (none: hosts on the link itself), unresolved when new, and
 * holds it for the caller. RM_E_NO_SPACE: there are RM_NEXT_HOPS_MAX. */
enum rm_code rm_hop_take(struct rm_routes *routes, uint32_t interface, struct rm_ip const *gateway, uint32_t *hop,
                         struct rm_error *error);
/** Ends the caller's hold. Routes by it stay, and hold it. */
void rm_hop_drop(struct rm_routes *routes, uint32_t hop);
/** The hop of a number: to resolve it, or to forget what was known. */
struct rm_next_hop *rm_routes_hop(struct rm_routes *routes, uint32_t hop);

/** Adds a route, or replaces that of the same prefix. RM_E_ARGUMENT: an impossible prefix, path or weight.
 * RM_E_NO_SPACE: the table is full, which is then as it was before. RM_E_BUSY: a core has not passed a quiescent point
 * for a second. */
enum rm_code rm_route_set(struct rm_routes *routes, struct rm_route const *route, struct rm_error *error);

/** RM_E_NOT_FOUND: there is no route of this prefix. */
enum rm_code rm_route_remove(struct rm_routes *routes, struct rm_prefix const *prefix, struct rm_error *error);

/** Lets the cores read all changes. */
void rm_routes_publish(struct rm_routes *routes);

/** Finds the route of exactly this prefix, or that of the longest prefix of an address. Changes that are not published
 * count. False: there is none. */
bool rm_route_find(struct rm_routes *routes, struct rm_prefix const *prefix, struct rm_route *route);
bool rm_route_match(struct rm_routes *routes, struct rm_ip const *address, struct rm_route *route);

/** Calls `see` for each route, in no order that is promised, until it returns false. It changes none. */
void rm_routes_list(struct rm_routes *routes, bool ipv6, bool (*see)(void *context, struct rm_route const *route),
                    void *context);

uint32_t rm_routes_count(struct rm_routes const *routes, bool ipv6);

/** For core `reader` of those that rm_routes_make was told of, before each burst: a quiescent point. */
struct rm_routes_table const *rm_routes_table(struct rm_routes *routes, uint32_t reader);

#endif
