// SPDX-License-Identifier: Apache-2.0
/** All routes that the router has been told of, by whomever: of each prefix the best one that can be used is in the
 * tables of the forwarding cores (routes.h).
 *
 *     connected     networks of our interfaces, and our own addresses
 *     configured    of the file or by command
 *     kernel        by netlink: of `ip route`, BIRD, FRR
 *     neighbour     a host on a connected network, whose MAC is known (neighbours.h)
 *
 * In this order they are preferred; of one source that with the lowest metric. A path is usable while an interface that
 * is up has its gateway's network. Cold: memory is taken per route. For the control side's one thread.
 */
#ifndef RM_FORWARD_KNOWN_ROUTES_H
#define RM_FORWARD_KNOWN_ROUTES_H

#include <ringmaster/error.h>

#include "forward/router_interfaces.h"
#include "forward/routes.h"

enum rm_route_source {
    RM_SOURCE_CONNECTED,
    RM_SOURCE_CONFIGURED,
    RM_SOURCE_KERNEL,
    RM_SOURCE_NEIGHBOUR,
};

/** What becomes of packets. */
enum rm_route_kind {
    /** They take one of the paths. */
    RM_ROUTE_UNICAST,
    /** They are for this host. */
    RM_ROUTE_LOCAL,
    /** They are dropped in silence. */
    RM_ROUTE_BLACKHOLE,
    /** They are dropped; their sender hears of it. */
    RM_ROUTE_UNREACHABLE,
    /** The same, as administratively prohibited. */
    RM_ROUTE_PROHIBITED,
};

struct rm_known_path {
    /** None: the hosts are on the link itself. */
    struct rm_ip gateway;
    /** Number of the interface; RM_INTERFACE_NONE: that whose network holds the gateway. */
    uint32_t interface;
    /** 1 or more. */
    uint32_t weight;
};

struct rm_known_route {
    struct rm_prefix prefix;
    enum rm_route_source source;
    enum rm_route_kind kind;
    uint32_t metric;
    /** 1 … RM_PATHS_MAX for unicast, else 0. */
    uint32_t path_count;
    struct rm_known_path path[RM_PATHS_MAX];
};

/** A neighbour whose MAC was told by a person. */
struct rm_known_neighbour {
    /** Number of the interface. */
    uint32_t interface;
    struct rm_ip ip;
    uint8_t mac[6];
};

struct rm_known_routes;

/** Both live longer than it. NULL: no memory. */
struct rm_known_routes *rm_known_make(struct rm_routes *routes, struct rm_router_interfaces const *interfaces);
void rm_known_free(struct rm_known_routes *known);

/** Adds a route, or replaces that of the same prefix, source and metric. RM_E_NO_SPACE: no room in the tables or no
 * memory; it is not known then. A route that cannot be used now is no error. */
enum rm_code rm_known_set(struct rm_known_routes *known, struct rm_known_route const *route, struct rm_error *error);

/** RM_E_NOT_FOUND: it is not known. */
enum rm_code rm_known_remove(struct rm_known_routes *known, struct rm_prefix const *prefix, enum rm_route_source source,
                             uint32_t metric, struct rm_error *error);

/** Chooses again, when an interface or its addresses have changed. */
void rm_known_choose_again(struct rm_known_routes *known);

/** Around a dump of all of the kernel's routes: what was not set again in between is removed. */
void rm_known_begin_dump(struct rm_known_routes *known);
void rm_known_end_dump(struct rm_known_routes *known);

/** Calls `see` for each route in the order of prefixes, until it returns false; `usable`: it is in the tables.
 * RM_E_NO_SPACE: no memory to sort them. */
typedef bool rm_known_see(void *context, struct rm_known_route const *route, bool usable);
enum rm_code rm_known_list(struct rm_known_routes const *known, rm_known_see *see, void *context,
                           struct rm_error *error);

/** Number of routes known, by source. */
uint32_t rm_known_count(struct rm_known_routes const *known, enum rm_route_source source);

/** True once after the tables have changed: they are to be published. */
bool rm_known_changed(struct rm_known_routes *known);

#endif
