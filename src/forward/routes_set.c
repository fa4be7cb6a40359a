// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"
#include "forward/routes_parts.h"

enum rm_code rm_routes_set_interface(struct rm_routes *routes, uint32_t number, struct rm_interface const *interface,
                                     struct rm_error *error) {
    if (number >= RM_INTERFACES_MAX || interface->port >= RM_FORWARD_PORTS_MAX || interface->vlan >= RM_VLANS)
        return rm_fail(error, RM_E_ARGUMENT,
                       "interface %u of port %u, VLAN %u: there are at most %d interfaces, %d ports, and VLANs to 4094",
                       number, interface->port, interface->vlan, RM_INTERFACES_MAX, RM_FORWARD_PORTS_MAX);
    enum rm_code const code = routes_begin(routes, error);
    if (code != RM_OK)
        return code;
    uint16_t const there = routes_standby(routes)->by_vlan[interface->port][interface->vlan];
    if (interface->up && there != RM_INTERFACE_NONE && there != number)
        return rm_fail(error, RM_E_ARGUMENT,
                       "port %u, VLAN %u is interface %u already; interface %u needs another VLAN", interface->port,
                       interface->vlan, there, number);
    routes_table_set_interface(routes_standby(routes), number, interface);
    rm_next_hops_set_mtu(&routes->hops, (uint16_t)number, interface->mtu);
    routes_note_change(routes, &(struct rm_prefix){0}, 0, (uint16_t)number);
    return RM_OK;
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

static enum rm_code route_check(struct rm_routes const *routes, struct rm_route const *route, struct rm_error *error) {
    if (!routes_prefix_is_whole(&route->prefix))
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
    uint32_t const before = rm_match_exact(&routes_standby(routes)->match, &route->prefix);
    bool const is_new = before == 0;
    uint32_t const most = ipv6 ? routes->limits.ipv6_routes : routes->limits.ipv4_routes;
    if (is_new && *routes_counter(routes, ipv6) >= most)
        return routes_full(routes, ipv6, error);
    uint32_t const group = group_take(routes, route);
    if (group == 0)
        return rm_fail(error, RM_E_NO_SPACE,
                       "there are %d different sets of next hops, as many as can be; let routes share theirs",
                       RM_PATH_GROUPS_MAX - 1);
    if (routes_set_standby(routes, &route->prefix, before, group)) {
        routes_note_change(routes, &route->prefix, group, RM_INTERFACE_NONE);
        *routes_counter(routes, ipv6) += is_new;
    } else {
        code = routes_full(routes, ipv6, error);
    }
    routes_drop_group(routes, group);
    return code;
}

enum rm_code rm_route_remove(struct rm_routes *routes, struct rm_prefix const *prefix, struct rm_error *error) {
    enum rm_code const code = routes_begin(routes, error);
    if (code != RM_OK)
        return code;
    uint32_t const before = routes_prefix_is_whole(prefix) ? rm_match_exact(&routes_standby(routes)->match, prefix) : 0;
    if (before == 0)
        return rm_fail(error, RM_E_NOT_FOUND, "there is no route of this prefix, whose length is %u", prefix->length);
    routes_set_standby(routes, prefix, before, 0);
    routes_note_change(routes, prefix, 0, RM_INTERFACE_NONE);
    --*routes_counter(routes, prefix->ip.ipv6);
    return RM_OK;
}
