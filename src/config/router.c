// SPDX-License-Identifier: Apache-2.0
/* The section `router`: interfaces, routes and neighbours, with the places of what is wrong. */
#include "base/fail.h"
#include "config/resolve.h"
#include "wire/address.h"

#include <stdlib.h>
#include <string.h>

enum {
    ETHERNET_AND_TAG_BYTES = 18,
    IPV6_MTU_LEAST = 1280,
    IPV4_ROUTES_LEAST = 64,
    IPV4_ROUTES_MAX = 4000000,
    IPV6_ROUTES_MAX = 1000000,
};

/* Beginning of an entry's key: "router.interfaces". */
#define INTERFACES "router.interfaces"
#define ROUTES "router.routes"
#define NEIGHBOURS "router.neighbours"

static bool is_forwarded(struct rm_config_file const *file, char const *port) {
    for (uint32_t i = 0; i < file->roles_count; i++)
        for (uint32_t j = 0; file->roles[i].role == RM_ROLE_FORWARD && j < file->roles[i].ports_count; j++) {
            char const *const name = file->roles[i].ports[j];
            size_t const bytes = strcspn(name, "/");
            if (strlen(port) == bytes && strncmp(name, port, bytes) == 0)
                return true;
        }
    return false;
}

static enum rm_code resolve_interface_port(struct rm_config_file const *file, struct rm_config const *config,
                                           struct rm_error *error, uint32_t index, struct rm_router_interface *made) {
    struct rm_file_router_interface const *const written = &file->router->interfaces[index];
    uint32_t const port = rm_config_find_port(config, written->port, strlen(written->port));
    char guess[64];
    if (port == config->port_count)
        return rm_config_fail_entry(config, error, INTERFACES, index, "port", "there is no port \"%s\"%s",
                                    written->port, rm_config_guess_port(config, written->port, guess, sizeof guess));
    if (!is_forwarded(file, written->port))
        return rm_config_fail_entry(config, error, INTERFACES, index, "port",
                                    "no role forwards port \"%s\", expected {role: forward, core: …, ports: [%s]}",
                                    written->port, written->port);
    if (config->port[port].answer_ipv4 != 0)
        return rm_config_fail_entry(
            config, error, INTERFACES, index, "port",
            "port \"%s\" has the key \"answer\", take it out; a router's addresses are those of "
            "its interfaces",
            written->port);
    made->wire.port = (uint16_t)port;
    made->wire.vlan = *written->vlan;
    if (made->wire.vlan > 4094)
        return rm_config_fail_entry(config, error, INTERFACES, index, "vlan", "found %u, expected 0 to 4094",
                                    made->wire.vlan);
    snprintf(made->name, sizeof made->name, made->wire.vlan != 0 ? "%s.%u" : "%s", written->port, made->wire.vlan);
    uint32_t const other = rm_interfaces_named(config->router->interfaces, made->name);
    if (other != RM_INTERFACE_NONE)
        return rm_config_fail_entry(config, error, INTERFACES, index, "port",
                                    "%s is already " INTERFACES "[%u], expected it once", made->name, other);
    return RM_OK;
}

static enum rm_code resolve_mtu(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                struct rm_file_router_interface const *written, struct rm_router_interface *made) {
    uint32_t const longest = config->port[made->wire.port].port.longest_frame;
    made->wire.mtu = *written->mtu;
    made->wire.fragments = *written->fragment;
    if (made->wire.mtu < 68 || made->wire.mtu + ETHERNET_AND_TAG_BYTES > longest)
        return rm_config_fail_entry(config, error, INTERFACES, index, "mtu",
                                    "found %u bytes, expected 68 to %u: the longest frame of port \"%s\" has %u bytes, "
                                    "%d of them for Ethernet and a tag",
                                    made->wire.mtu, longest - ETHERNET_AND_TAG_BYTES,
                                    config->port[made->wire.port].port.name, longest, ETHERNET_AND_TAG_BYTES);
    return RM_OK;
}

/* No two interfaces have one network, and no address is there twice. */
static enum rm_code check_address(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                  char const *member, struct rm_router_address const *address) {
    struct rm_router_interfaces const *const interfaces = config->router->interfaces;
    struct rm_prefix const network = rm_prefix_of(&address->ip, address->length);
    for (uint32_t i = 0; i < interfaces->count; i++)
        for (uint32_t j = 0; j < interfaces->interface[i].address_count; j++) {
            struct rm_router_address const *const other = &interfaces->interface[i].address[j];
            struct rm_prefix const others = rm_prefix_of(&other->ip, other->length);
            if (rm_prefix_same(&network, &others) || rm_ip_same(&address->ip, &other->ip))
                return rm_config_fail_entry(config, error, INTERFACES, index, member,
                                            "interface %s has an address of the same network, expected a network of "
                                            "its own for each",
                                            interfaces->interface[i].name);
        }
    return RM_OK;
}

static enum rm_code resolve_addresses(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                      struct rm_file_router_interface const *written,
                                      struct rm_router_interface *made) {
    for (uint32_t i = 0; i < written->addresses_count; i++) {
        char member[32];
        struct rm_router_address address;
        snprintf(member, sizeof member, "addresses[%u]", i);
        if (!rm_ip_parse_with_length(written->addresses[i], &address.ip, &address.length) ||
            !rm_ip_is_host(&address.ip) || address.length == 0)
            return rm_config_fail_entry(config, error, INTERFACES, index, member,
                                        "found \"%s\", expected an address of ours with the length of its network's "
                                        "prefix, such as 10.0.0.1/24 or 2001:db8::1/64",
                                        written->addresses[i]);
        enum rm_code const code = check_address(config, error, index, member, &address);
        if (code != RM_OK)
            return code;
        if (address.ip.ipv6 && made->wire.mtu < IPV6_MTU_LEAST)
            return rm_config_fail_entry(config, error, INTERFACES, index, "mtu",
                                        "found %u bytes, expected %d or more: %s is IPv6", made->wire.mtu,
                                        IPV6_MTU_LEAST, written->addresses[i]);
        rm_interface_add_address(made, &address);
    }
    return RM_OK;
}

static enum rm_code resolve_interfaces(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error) {
    struct rm_file_router const *const written = file->router;
    struct rm_router_interfaces *const interfaces = config->router->interfaces = calloc(1, sizeof *interfaces);
    if (interfaces == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    if (written->interfaces_count == 0)
        return rm_config_fail(config, error, "router",
                              "the key \"interfaces\" is missing, expected the ports and our addresses there: "
                              "interfaces: [{port: …, addresses: [10.0.0.1/24]}, …]");
    enum rm_code all = RM_OK;
    for (uint32_t i = 0; i < written->interfaces_count; i++) {
        struct rm_router_interface *const made = &interfaces->interface[i];
        enum rm_code code = resolve_interface_port(file, config, error, i, made);
        if (code == RM_OK)
            code = resolve_mtu(config, error, i, &written->interfaces[i], made);
        if (code == RM_OK)
            code = resolve_addresses(config, error, i, &written->interfaces[i], made);
        made->wire.up = true; /* so that it is looked at for routes; the server sees when it is */
        interfaces->count = i + 1;
        all = rm_code_first(all, code);
    }
    return all;
}

/* The interface of a name that an entry gives; RM_E_CONFIG where there is none. */
static enum rm_code find_interface(struct rm_config const *config, struct rm_error *error, char const *list,
                                   uint32_t index, char const *member, char const *name, uint32_t *interface) {
    *interface = rm_interfaces_named(config->router->interfaces, name);
    if (*interface != RM_INTERFACE_NONE)
        return RM_OK;
    return rm_config_fail_entry(
        config, error, list, index, member,
        "there is no interface \"%s\", expected the name of one of router.interfaces: its port, "
        "with .VLAN behind it in one",
        name);
}

static enum rm_code resolve_path(struct rm_config const *config, struct rm_error *error, uint32_t index, uint32_t at,
                                 struct rm_file_path const *written, struct rm_known_route *route) {
    struct rm_known_path *const path = &route->path[at];
    *path = (struct rm_known_path){.interface = RM_INTERFACE_NONE, .weight = *written->weight};
    char member[48];
    if (path->weight < 1 || path->weight > 255) {
        snprintf(member, sizeof member, "paths[%u].weight", at);
        return rm_config_fail_entry(config, error, ROUTES, index, member, "found %u, expected 1 to 255", path->weight);
    }
    if (written->interface != NULL) {
        snprintf(member, sizeof member, "paths[%u].interface", at);
        enum rm_code const code =
            find_interface(config, error, ROUTES, index, member, written->interface, &path->interface);
        if (code != RM_OK)
            return code;
    }
    path->gateway.ipv6 = route->prefix.ip.ipv6;
    snprintf(member, sizeof member, "paths[%u]%s", at, written->via != NULL ? ".via" : "");
    if (written->via == NULL)
        return written->interface != NULL
                   ? RM_OK
                   : rm_config_fail_entry(
                         config, error, ROUTES, index, member,
                         "found neither \"via\" nor \"interface\", expected the next router's address, "
                         "or the interface that has the hosts");
    if (!rm_ip_parse(written->via, &path->gateway) || !rm_ip_is_host(&path->gateway) ||
        path->gateway.ipv6 != route->prefix.ip.ipv6)
        return rm_config_fail_entry(config, error, ROUTES, index, member,
                                    "found \"%s\", expected the next router's IPv%d address", written->via,
                                    route->prefix.ip.ipv6 ? 6 : 4);
    if (written->interface == NULL &&
        rm_interfaces_of_network(config->router->interfaces, &path->gateway) == RM_INTERFACE_NONE)
        return rm_config_fail_entry(
            config, error, ROUTES, index, member,
            "no interface has a network with %s, expected the address of a neighbour, or the key "
            "\"interface\" too",
            written->via);
    return RM_OK;
}

static enum rm_code resolve_route(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                  struct rm_file_route const *written, struct rm_known_route *route) {
    *route = (struct rm_known_route){
        .source = RM_SOURCE_CONFIGURED, .kind = *written->action, .path_count = written->paths_count};
    if (!rm_prefix_parse(written->prefix, &route->prefix))
        return rm_config_fail_entry(config, error, ROUTES, index, "prefix",
                                    "found \"%s\", expected a prefix without bits behind its length, such as "
                                    "10.1.0.0/16 or 2001:db8:1::/48, or default",
                                    written->prefix);
    if (route->prefix.ip.ipv6 && config->router->limits.ipv6_routes == 0)
        return rm_config_fail_entry(config, error, ROUTES, index, "prefix",
                                    "no IPv6 is routed: router.ipv6_routes is 0, expected 1 or more");
    if ((route->kind == RM_ROUTE_UNICAST) != (route->path_count != 0))
        return rm_config_fail_entry(config, error, ROUTES, index, route->path_count != 0 ? "paths" : NULL, "%s",
                                    route->path_count != 0
                                        ? "a route that drops packets has no paths, take this key out"
                                        : "the key \"paths\" is missing, expected where packets go: paths: [{via: "
                                          "10.0.0.2}], or an action that drops them");
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < route->path_count; i++)
        code = rm_code_first(code, resolve_path(config, error, index, i, &written->paths[i], route));
    return code;
}

static int prefix_order(void const *left, void const *right) {
    struct rm_known_route const *const one = *(struct rm_known_route *const *)left;
    struct rm_known_route const *const other = *(struct rm_known_route *const *)right;
    int const order = memcmp(one->prefix.ip.byte, other->prefix.ip.byte, sizeof one->prefix.ip.byte);
    if (order != 0)
        return order;
    int const family = (int)one->prefix.ip.ipv6 - (int)other->prefix.ip.ipv6;
    return family != 0 ? family : (int)one->prefix.length - (int)other->prefix.length;
}

static enum rm_code check_prefixes(struct rm_config const *config, struct rm_error *error) {
    struct rm_config_router const *const router = config->router;
    struct rm_known_route **const sorted = malloc((router->route_count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    for (uint32_t i = 0; i < router->route_count; i++)
        sorted[i] = &router->route[i];
    qsort(sorted, router->route_count, sizeof *sorted, prefix_order);
    enum rm_code code = RM_OK;
    for (uint32_t i = 1; i < router->route_count && code == RM_OK; i++) {
        if (!rm_prefix_same(&sorted[i - 1]->prefix, &sorted[i]->prefix))
            continue;
        uint32_t const one = (uint32_t)(sorted[i - 1] - router->route), other = (uint32_t)(sorted[i] - router->route);
        code = rm_config_fail_entry(config, error, ROUTES, one > other ? one : other, "prefix",
                                    "is that of " ROUTES "[%u] already, expected one route with several paths",
                                    one < other ? one : other);
    }
    free(sorted);
    return code;
}

static enum rm_code resolve_routes(struct rm_config_file const *file, struct rm_config *config,
                                   struct rm_error *error) {
    struct rm_file_router const *const written = file->router;
    struct rm_config_router *const router = config->router;
    router->route = calloc(written->routes_count + 1, sizeof *router->route);
    if (router->route == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < written->routes_count; i++)
        code = rm_code_first(code, resolve_route(config, error, i, &written->routes[i], &router->route[i]));
    router->route_count = written->routes_count;
    return code == RM_OK ? check_prefixes(config, error) : code;
}

static enum rm_code resolve_neighbours(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error) {
    struct rm_file_router const *const written = file->router;
    struct rm_config_router *const router = config->router;
    router->neighbour = calloc(written->neighbours_count + 1, sizeof *router->neighbour);
    if (router->neighbour == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    enum rm_code all = RM_OK;
    for (uint32_t i = 0; i < written->neighbours_count; i++) {
        struct rm_file_neighbour const *const entry = &written->neighbours[i];
        struct rm_known_neighbour *const made = &router->neighbour[i];
        enum rm_code code =
            find_interface(config, error, NEIGHBOURS, i, "interface", entry->interface, &made->interface);
        if (!rm_ip_parse(entry->address, &made->ip) || !rm_ip_is_host(&made->ip))
            code = rm_config_fail_entry(config, error, NEIGHBOURS, i, "address",
                                        "found \"%s\", expected the address of one host", entry->address);
        if (!rm_mac_parse(entry->mac, made->mac) || (made->mac[0] & 1) != 0)
            code = rm_config_fail_entry(config, error, NEIGHBOURS, i, "mac",
                                        "found \"%s\", expected the MAC address of one host, such as "
                                        "\"02:00:0a:00:00:03\"",
                                        entry->mac);
        all = rm_code_first(all, code);
    }
    router->neighbour_count = written->neighbours_count;
    return all;
}

static enum rm_code check_mode_keys(struct rm_config const *config, struct rm_error *error,
                                    struct rm_file_router const *written) {
    char const *const key = written->interfaces_count != 0   ? "router.interfaces"
                            : written->routes_count != 0     ? "router.routes"
                            : written->neighbours_count != 0 ? "router.neighbours"
                                                             : NULL;
    if (key == NULL)
        return RM_OK;
    return rm_config_fail(config, error, key, "belongs to the mode route, and this router's is %s; take it out",
                          rm_config_mode_name(config->router->mode));
}

static bool has_forward_role(struct rm_config_file const *file) {
    for (uint32_t i = 0; i < file->roles_count; i++)
        if (file->roles[i].role == RM_ROLE_FORWARD)
            return true;
    return false;
}

enum rm_code rm_config_resolve_router(struct rm_config_file const *file, struct rm_config *config,
                                      struct rm_error *error) {
    if (file->router == NULL)
        return !has_forward_role(file)
                   ? RM_OK
                   : rm_config_fail(config, error, "",
                                    "the key \"router\" is missing, expected what the role forward does: router: "
                                    "{mode: route, interfaces: […]}, or router: {mode: io}");
    if (!has_forward_role(file))
        return rm_config_fail(config, error, "router",
                              "no role forwards, expected one in \"roles\": {role: forward, core: …, ports: […]}");
    struct rm_config_router *const router = config->router = calloc(1, sizeof *router);
    if (router == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    router->mode = *file->router->mode;
    router->limits = (struct rm_routes_limits){*file->router->ipv4_routes, *file->router->ipv6_routes};
    if (router->limits.ipv4_routes < IPV4_ROUTES_LEAST || router->limits.ipv4_routes > IPV4_ROUTES_MAX)
        return rm_config_fail(config, error, "router.ipv4_routes", "found %u, expected %d to %d routes",
                              router->limits.ipv4_routes, IPV4_ROUTES_LEAST, IPV4_ROUTES_MAX);
    if (router->limits.ipv6_routes > IPV6_ROUTES_MAX)
        return rm_config_fail(config, error, "router.ipv6_routes", "found %u, expected 0 to %d routes",
                              router->limits.ipv6_routes, IPV6_ROUTES_MAX);
    if (router->mode != RM_FORWARD_ROUTE)
        return check_mode_keys(config, error, file->router);
    enum rm_code const code = resolve_interfaces(file, config, error);
    if (code != RM_OK)
        return code; /* the others are judged by the interfaces */
    return rm_code_first(resolve_routes(file, config, error), resolve_neighbours(file, config, error));
}

void rm_config_free_router(struct rm_config_router *router) {
    if (router == NULL)
        return;
    free(router->interfaces);
    free(router->route);
    free(router->neighbour);
    free(router);
}
