// SPDX-License-Identifier: Apache-2.0
/** The section `router` of a configuration: what forward roles do. */
#ifndef RM_CONFIG_ROUTER_H
#define RM_CONFIG_ROUTER_H

#include <stdint.h>

#include "forward/known_routes.h"
#include "forward/mode.h"
#include "forward/router_interfaces.h"

enum {
    RM_CONFIG_ROUTES_MAX = 65536,
    RM_CONFIG_NEIGHBOURS_MAX = 4096,
};

struct rm_config_router {
    enum rm_forward_mode mode;
    /** Room in the tables for routes. */
    struct rm_routes_limits limits;
    /** Their ports are indices into rm_config.port; MAC addresses and kernel numbers are not known yet, and none is up.
     * NULL in other modes than route. */
    struct rm_router_interfaces *interfaces;
    uint32_t route_count;
    /** Their source is RM_SOURCE_CONFIGURED; interfaces are indices as above, or RM_INTERFACE_NONE. */
    struct rm_known_route *route;
    uint32_t neighbour_count;
    struct rm_known_neighbour *neighbour;
};

#endif
