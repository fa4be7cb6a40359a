// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"
#include "config/router_file.h"

enum { ROUTES_SHOWN = 8 };

static char const *action_text(enum rm_route_kind kind) {
    static char const *const text[] = {[RM_ROUTE_UNICAST] = "",
                                       [RM_ROUTE_LOCAL] = "for this host",
                                       [RM_ROUTE_BLACKHOLE] = "dropped",
                                       [RM_ROUTE_UNREACHABLE] = "dropped as unreachable",
                                       [RM_ROUTE_PROHIBITED] = "dropped as prohibited"};
    return text[kind];
}

static void print_interface(struct rm_config const *config, struct rm_router_interface const *interface, FILE *out) {
    char text[RM_IP_TEXT_BYTES];
    char const *const kernel = config->port[interface->wire.port].kernel_interface;
    fprintf(out, "  %s: ", interface->name);
    for (uint32_t i = 0; i < interface->address_count; i++) {
        rm_ip_format(&interface->address[i].ip, text);
        fprintf(out, "%s%s/%u", i != 0 ? ", " : "", text, interface->address[i].length);
    }
    fprintf(out, "%s, MTU %u, longer IPv4 packets are %s", interface->address_count == 0 ? "no address" : "",
            interface->wire.mtu, interface->wire.fragments ? "cut" : "dropped");
    if (kernel[0] != '\0')
        fprintf(out, ", routes and neighbours of kernel interface %s", kernel);
    fputc('\n', out);
}

static void print_path(struct rm_config const *config, struct rm_known_path const *path, FILE *out) {
    char text[RM_IP_TEXT_BYTES];
    rm_ip_format(&path->gateway, text);
    if (!rm_ip_is_none(&path->gateway))
        fprintf(out, " via %s", text);
    if (path->interface != RM_INTERFACE_NONE)
        fprintf(out, " by %s", config->router->interfaces->interface[path->interface].name);
    if (path->weight != 1)
        fprintf(out, " weight %u", path->weight);
}

static void print_route(struct rm_config const *config, struct rm_known_route const *route, FILE *out) {
    char text[RM_IP_TEXT_BYTES];
    rm_prefix_format(&route->prefix, text);
    fprintf(out, "  %s%s%s", text, route->path_count == 0 ? " " : "", action_text(route->kind));
    for (uint32_t i = 0; i < route->path_count; i++) {
        fputs(i != 0 ? "," : "", out);
        print_path(config, &route->path[i], out);
    }
    fputc('\n', out);
}

void rm_config_describe_router(struct rm_config const *config, FILE *out) {
    struct rm_config_router const *const router = config->router;
    if (router == NULL)
        return;
    fprintf(out, "router: mode %s", rm_config_mode_name(router->mode));
    if (router->mode != RM_FORWARD_ROUTE) {
        fputc('\n', out);
        return;
    }
    fprintf(out, ", room for %u IPv4 and %u IPv6 routes\n", router->limits.ipv4_routes, router->limits.ipv6_routes);
    fprintf(out, "interfaces: %u\n", router->interfaces->count);
    for (uint32_t i = 0; i < router->interfaces->count; i++)
        print_interface(config, &router->interfaces->interface[i], out);
    fprintf(out, "routes: %u\n", router->route_count);
    for (uint32_t i = 0; i < router->route_count && i < ROUTES_SHOWN; i++)
        print_route(config, &router->route[i], out);
    if (router->route_count > ROUTES_SHOWN)
        fprintf(out, "  … and %u more\n", router->route_count - ROUTES_SHOWN);
    fprintf(out, "neighbours: %u\n", router->neighbour_count);
}
