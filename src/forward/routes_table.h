// SPDX-License-Identifier: Apache-2.0
/** One of the two tables of routes.h, as the forwarding cores read it: for this room's own files. */
#ifndef RM_FORWARD_ROUTES_TABLE_H
#define RM_FORWARD_ROUTES_TABLE_H

#include "forward/match.h"
#include "forward/path_groups.h"

struct rm_routes_table {
    struct rm_match match;
    /** [group] and [hop]: shared by both tables. */
    struct rm_path_slots const *slots;
    struct rm_next_hop *hop;
    /** Interfaces by number. */
    struct rm_interface interface[RM_INTERFACES_MAX];
    /** [port][VLAN]: number of the interface, RM_INTERFACE_NONE where there is none. */
    uint16_t by_vlan[RM_FORWARD_PORTS_MAX][RM_VLANS];
};

#endif
