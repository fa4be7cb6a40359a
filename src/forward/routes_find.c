// SPDX-License-Identifier: Apache-2.0
#include "forward/routes_parts.h"

struct rm_interface const *rm_routes_interface(struct rm_routes const *routes, uint32_t number) {
    return &routes_newest(routes)->interface[number];
}

bool routes_prefix_is_whole(struct rm_prefix const *prefix) {
    uint32_t const bits = prefix->ip.ipv6 ? RM_IPV6_PREFIX_MAX : RM_IPV4_PREFIX_MAX;
    if (prefix->length > bits)
        return false;
    uint32_t const whole = prefix->length / 8;
    uint32_t behind = whole < RM_IPV6_ADDRESS_BYTES ? prefix->ip.byte[whole] & 0xFFu >> prefix->length % 8 : 0;
    for (uint32_t i = whole + 1; i < RM_IPV6_ADDRESS_BYTES; ++i)
        behind |= prefix->ip.byte[i];
    return behind == 0;
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
    return routes_prefix_is_whole(prefix) &&
           route_of(routes, prefix, rm_match_exact(&routes_newest(routes)->match, prefix), route);
}

bool rm_route_match(struct rm_routes *routes, struct rm_ip const *address, struct rm_route *route) {
    struct rm_prefix prefix;
    uint32_t const group = rm_match_longest(&routes_newest(routes)->match, address, &prefix);
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
    rm_match_list(&routes_newest(routes)->match, ipv6, see_prefix, &listing);
}

uint32_t rm_routes_count(struct rm_routes const *routes, bool ipv6) {
    return ipv6 ? routes->ipv6_count : routes->ipv4_count;
}
