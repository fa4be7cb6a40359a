// SPDX-License-Identifier: Apache-2.0
/** The section `router` as it is written (file.h). */
#ifndef RM_CONFIG_ROUTER_FILE_H
#define RM_CONFIG_ROUTER_FILE_H

#include <stdint.h>

#include "base/yaml.h"
#include "forward/known_routes.h"
#include "forward/mode.h"

struct rm_file_router_interface {
    char *port;
    uint16_t *vlan;
    /** NULL: none. */
    char **addresses;
    uint32_t addresses_count;
    uint32_t *mtu;
    bool *fragment;
};

struct rm_file_path {
    /** NULL: the hosts are on the link itself. */
    char *via;
    /** NULL: that whose network holds `via`. */
    char *interface;
    uint32_t *weight;
};

struct rm_file_route {
    char *prefix;
    enum rm_route_kind *action;
    /** NULL: none. */
    struct rm_file_path *paths;
    uint32_t paths_count;
};

struct rm_file_neighbour {
    char *interface;
    char *address;
    char *mac;
};

struct rm_file_router {
    enum rm_forward_mode *mode;
    uint32_t *ipv4_routes;
    uint32_t *ipv6_routes;
    /** NULL: none, as the next two. */
    struct rm_file_router_interface *interfaces;
    uint32_t interfaces_count;
    struct rm_file_route *routes;
    uint32_t routes_count;
    struct rm_file_neighbour *neighbours;
    uint32_t neighbours_count;
};

/** Keys of struct rm_file_router. */
extern cyaml_schema_field_t const rm_config_router_fields[];

/** A mode as the file has it. */
char const *rm_config_mode_name(enum rm_forward_mode mode);

#endif
