// SPDX-License-Identifier: Apache-2.0
#include "config/router_file.h"

#include "config/config.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
    ADDRESS_MAX_BYTES = RM_IP_TEXT_BYTES - 1,
    INTERFACE_MAX_BYTES = RM_INTERFACE_NAME_BYTES - 1,
};

static cyaml_strval_t const modes[] = {
    {"route", RM_FORWARD_ROUTE},
    {"io", RM_FORWARD_IO},
    {"macswap", RM_FORWARD_MACSWAP},
    {"l2", RM_FORWARD_L2},
};

static cyaml_strval_t const actions[] = {
    {"forward", RM_ROUTE_UNICAST},
    {"blackhole", RM_ROUTE_BLACKHOLE},
    {"unreachable", RM_ROUTE_UNREACHABLE},
    {"prohibited", RM_ROUTE_PROHIBITED},
};

static cyaml_schema_value_t const address_schema = {CYAML_VALUE_STRING(TEXT, char, 1, ADDRESS_MAX_BYTES)};

static cyaml_schema_field_t const interface_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("port", "Of a role forward. The interface has its name, with .VLAN behind it in one.",
                                  .example = "ring"),
                           TEXT, struct rm_file_router_interface, port, 1, RM_CONFIG_NAME_BYTES - 1),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("vlan", "The VLAN that it is in; 0: untagged frames.", .fallback = "0", RM_RANGE(0, 4094)), MAYBE,
        struct rm_file_router_interface, vlan),
    CYAML_FIELD_SEQUENCE(RM_KEY("addresses", "Our addresses there, each with the length of its network's prefix.",
                                .otherwise = "none, or the kernel's", .example = "[10.0.0.1/24, \"2001:db8::1/64\"]"),
                         MAYBE, struct rm_file_router_interface, addresses, &address_schema, 1,
                         RM_INTERFACE_ADDRESSES_MAX),
    CYAML_FIELD_UINT_PTR(RM_KEY("mtu", "Longest IP packet. With IPv6 1280 at least.", .unit = "bytes",
                                .fallback = "1500", RM_RANGE(68, RM_LONGEST_FRAME_MAX - 18)),
                         MAYBE, struct rm_file_router_interface, mtu),
    CYAML_FIELD_BOOL_PTR(RM_KEY("fragment",
                                "IPv4 packets longer than the `mtu` are cut, where their sender allows it; else they "
                                "are dropped and the sender is told.",
                                .fallback = "true"),
                         MAYBE, struct rm_file_router_interface, fragment),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const interface_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_router_interface, interface_fields)};

static cyaml_schema_field_t const path_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("via", "Address of the next router.",
                                  .otherwise = "none: the hosts are on the link itself", .example = "10.0.0.2"),
                           MAYBE, struct rm_file_path, via, 1, ADDRESS_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("interface", "Name of the interface that it is reached by.",
                                  .otherwise = "that whose network has `via`", .example = "ring"),
                           MAYBE, struct rm_file_path, interface, 1, INTERFACE_MAX_BYTES),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("weight", "Share of the flows, against that of the other paths.", .fallback = "1", RM_RANGE(1, 255)),
        MAYBE, struct rm_file_path, weight),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const path_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_path, path_fields)};

static cyaml_schema_field_t const route_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("prefix", "Destinations: a prefix, or default (0.0.0.0/0).", .example = "10.1.0.0/16"), TEXT,
        struct rm_file_route, prefix, 1, ADDRESS_MAX_BYTES),
    CYAML_FIELD_ENUM_PTR(RM_KEY("action", "What becomes of packets; all but forward drop them.", .fallback = "forward"),
                         MAYBE_WORD, struct rm_file_route, action, actions, CYAML_ARRAY_LEN(actions)),
    CYAML_FIELD_SEQUENCE(RM_KEY("paths", "The ways there. Flows are shared among them.",
                                .otherwise = "required with the action forward"),
                         MAYBE, struct rm_file_route, paths, &path_schema, 1, RM_PATHS_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const route_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_route, route_fields)};

static cyaml_schema_field_t const neighbour_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("interface", "Where it is.", .example = "ring"), TEXT, struct rm_file_neighbour,
                           interface, 1, INTERFACE_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("address", "Its address.", .example = "10.0.0.3"), TEXT, struct rm_file_neighbour,
                           address, 1, ADDRESS_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("mac", "Its MAC address.", .example = "\"02:00:0a:00:00:03\""), TEXT,
                           struct rm_file_neighbour, mac, 17, 17),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const neighbour_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_neighbour, neighbour_fields)};

cyaml_schema_field_t const rm_config_router_fields[] = {
    CYAML_FIELD_ENUM_PTR(RM_KEY("mode",
                                "route: by IP addresses. io: as they came, by the other port of a pair. macswap: the "
                                "same, with MAC addresses exchanged. l2: by MAC addresses, as a switch.",
                                .fallback = "route"),
                         MAYBE_WORD, struct rm_file_router, mode, modes, CYAML_ARRAY_LEN(modes)),
    CYAML_FIELD_UINT_PTR(RM_KEY("ipv4_routes", "So many IPv4 routes there is memory for.", .unit = "routes",
                                .fallback = "16384", RM_RANGE(64, 4000000)),
                         MAYBE, struct rm_file_router, ipv4_routes),
    CYAML_FIELD_UINT_PTR(RM_KEY("ipv6_routes", "So many IPv6 routes; 0: no IPv6 is routed.", .unit = "routes",
                                .fallback = "4096", RM_RANGE(0, 1000000)),
                         MAYBE, struct rm_file_router, ipv6_routes),
    CYAML_FIELD_SEQUENCE(RM_KEY("interfaces", "Ports, or VLANs of them, with our addresses. Of the mode route.",
                                .otherwise = "required in the mode route"),
                         MAYBE, struct rm_file_router, interfaces, &interface_schema, 1, RM_INTERFACES_MAX),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("routes", "Where packets go that are not for a connected network.", .otherwise = "none"), MAYBE,
        struct rm_file_router, routes, &route_schema, 1, RM_CONFIG_ROUTES_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("neighbours", "Hosts whose MAC is known, and never asked for.", .otherwise = "none"),
                         MAYBE, struct rm_file_router, neighbours, &neighbour_schema, 1, RM_CONFIG_NEIGHBOURS_MAX),
    CYAML_FIELD_END,
};

char const *rm_config_mode_name(enum rm_forward_mode mode) { return modes[mode].str; }
