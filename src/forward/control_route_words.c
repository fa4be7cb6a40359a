// SPDX-License-Identifier: Apache-2.0
/* Commands about routes. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "forward/control_words.h"

enum { WEIGHT_MAX = 255 };

static enum rm_code read_prefix(char const *text, struct rm_prefix *prefix, struct rm_error *error) {
    return rm_prefix_parse(text, prefix)
               ? RM_OK
               : rm_fail(error, RM_E_ARGUMENT,
                         "found \"%s\", expected a prefix without bits behind its length, such as 10.1.0.0/16 or "
                         "2001:db8:1::/48, or default",
                         text);
}

static enum rm_code read_gateway(char const *text, bool ipv6, struct rm_ip *gateway, struct rm_error *error) {
    if (rm_ip_parse(text, gateway) && rm_ip_is_host(gateway) && gateway->ipv6 == ipv6)
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected the next router's IPv%d address", text, ipv6 ? 6 : 4);
}

static enum rm_code check_gateway(struct rm_control const *control, struct rm_known_path const *path,
                                  struct rm_error *error) {
    char text[RM_IP_TEXT_BYTES];
    if (path->interface != RM_INTERFACE_NONE ||
        rm_interfaces_of_network(control->setup.interfaces, &path->gateway) != RM_INTERFACE_NONE)
        return RM_OK;
    rm_ip_format(&path->gateway, text);
    return rm_fail(error, RM_E_ARGUMENT,
                   "no interface has a network with %s, expected the address of a neighbour, or "
                   "by INTERFACE behind it",
                   text);
}

static enum rm_code read_weight(char const *text, uint32_t *weight, struct rm_error *error) {
    char *end;
    unsigned long const value = strtoul(text, &end, 10);
    if (*end != '\0' || value < 1 || value > WEIGHT_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "weight: found \"%s\", expected 1 to %d", text, WEIGHT_MAX);
    *weight = (uint32_t)value;
    return RM_OK;
}

/** Reads the words behind the first gateway, in pairs: by INTERFACE, weight NUMBER, via ADDRESS. */
static enum rm_code read_paths(struct rm_control const *control, struct rm_arguments const *arguments, uint32_t at,
                               struct rm_known_route *route, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (; at < arguments->count && code == RM_OK; at += 2) {
        char const *const word = arguments->word[at];
        char const *const value = at + 1 < arguments->count ? arguments->word[at + 1] : "";
        struct rm_known_path *const path = &route->path[route->path_count - 1];
        if (strcmp(word, "by") == 0)
            code = rm_control_find_interface(control, value, &path->interface, error);
        else if (strcmp(word, "weight") == 0)
            code = read_weight(value, &path->weight, error);
        else if (strcmp(word, "via") != 0)
            code =
                rm_fail(error, RM_E_ARGUMENT,
                        "found \"%s\", expected by INTERFACE, weight NUMBER, or via ADDRESS for one more path", word);
        else if (route->path_count == RM_PATHS_MAX)
            code = rm_fail(error, RM_E_ARGUMENT, "a route has at most %d paths", RM_PATHS_MAX);
        else {
            route->path[route->path_count++] = (struct rm_known_path){.interface = RM_INTERFACE_NONE, .weight = 1};
            code = read_gateway(value, route->prefix.ip.ipv6, &route->path[route->path_count - 1].gateway, error);
        }
    }
    for (uint32_t i = 0; i < route->path_count && code == RM_OK; ++i)
        code = check_gateway(control, &route->path[i], error);
    return code;
}

static void seek_gateways(struct rm_control *control, struct rm_known_route const *route) {
    for (uint32_t i = 0; i < route->path_count; ++i) {
        struct rm_known_path const *const path = &route->path[i];
        uint32_t const interface =
            path->interface != RM_INTERFACE_NONE ? path->interface : rm_interfaces_of_network(control->setup.interfaces, &path->gateway);
        if (!rm_ip_is_none(&path->gateway) && interface != RM_INTERFACE_NONE)
            rm_neighbours_seek(control->neighbours, interface, &path->gateway, control->now_ms);
    }
}

enum rm_code rm_control_route_via(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)answer;
    struct rm_known_route route = {.source = RM_SOURCE_CONFIGURED,
                                   .kind = RM_ROUTE_UNICAST,
                                   .path_count = 1,
                                   .path = {{.interface = RM_INTERFACE_NONE, .weight = 1}}};
    enum rm_code code = read_prefix(arguments->word[0], &route.prefix, error);
    if (code == RM_OK)
        code = read_gateway(arguments->word[1], route.prefix.ip.ipv6, &route.path[0].gateway, error);
    if (code == RM_OK)
        code = read_paths(control, arguments, 2, &route, error);
    if (code == RM_OK)
        code = rm_known_set(control->known, &route, error);
    if (code == RM_OK)
        seek_gateways(control, &route);
    return code;
}

enum rm_code rm_control_route_by(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                 struct rm_error *error) {
    (void)answer;
    struct rm_known_route route = {
        .source = RM_SOURCE_CONFIGURED, .kind = RM_ROUTE_UNICAST, .path_count = 1, .path = {{.weight = 1}}};
    enum rm_code code = read_prefix(arguments->word[0], &route.prefix, error);
    route.path[0].gateway.ipv6 = route.prefix.ip.ipv6;
    if (code == RM_OK)
        code = rm_control_find_interface(control, arguments->word[1], &route.path[0].interface, error);
    return code == RM_OK ? rm_known_set(control->known, &route, error) : code;
}

static struct {
    char const *word;
    enum rm_route_kind kind;
} const drops[] = {
    {"blackhole", RM_ROUTE_BLACKHOLE}, {"unreachable", RM_ROUTE_UNREACHABLE}, {"prohibited", RM_ROUTE_PROHIBITED}};

enum rm_code rm_control_route_drop(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                   struct rm_error *error) {
    (void)answer;
    struct rm_known_route route = {.source = RM_SOURCE_CONFIGURED};
    enum rm_code const code = read_prefix(arguments->word[0], &route.prefix, error);
    if (code != RM_OK)
        return code;
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; ++i)
        if (strcmp(arguments->word[1], drops[i].word) == 0) {
            route.kind = drops[i].kind;
            return rm_known_set(control->known, &route, error);
        }
    return rm_fail(error, RM_E_ARGUMENT,
                   "found \"%s\", expected via ADDRESS, by INTERFACE, blackhole, unreachable or prohibited",
                   arguments->word[1]);
}

enum rm_code rm_control_route_del(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)answer;
    struct rm_prefix prefix;
    enum rm_code const code = read_prefix(arguments->word[0], &prefix, error);
    return code == RM_OK ? rm_known_remove(control->known, &prefix, RM_SOURCE_CONFIGURED, 0, error) : code;
}

/* ── what there is ── */

struct route_list {
    struct rm_control const *control;
    FILE *answer;
    bool json;
    uint32_t count;
};

static char const *source_name(enum rm_route_source source) {
    static char const *const names[] = {"connected", "configured", "kernel", "neighbour"};
    return names[source];
}

static char const *kind_name(enum rm_route_kind kind) {
    static char const *const names[] = {"forward", "local", "blackhole", "unreachable", "prohibited"};
    return names[kind];
}

static char const *path_interface_name(struct route_list const *list, struct rm_known_path const *path) {
    struct rm_router_interfaces const *const interfaces = list->control->setup.interfaces;
    uint32_t const interface =
        path->interface != RM_INTERFACE_NONE ? path->interface : rm_interfaces_of_network(interfaces, &path->gateway);
    return interface != RM_INTERFACE_NONE ? interfaces->interface[interface].name : "?";
}

static void print_route(struct route_list const *list, struct rm_known_route const *route, bool usable) {
    char text[RM_IP_TEXT_BYTES];
    rm_prefix_format(&route->prefix, text);
    fprintf(list->answer, "%s%s%s", text, route->path_count == 0 ? " " : "",
            route->path_count == 0 ? kind_name(route->kind) : "");
    for (uint32_t i = 0; i < route->path_count; ++i) {
        rm_ip_format(&route->path[i].gateway, text);
        if (!rm_ip_is_none(&route->path[i].gateway))
            fprintf(list->answer, " via %s", text);
        fprintf(list->answer, " by %s", path_interface_name(list, &route->path[i]));
        if (route->path[i].weight != 1)
            fprintf(list->answer, " weight %u", route->path[i].weight);
    }
    fprintf(list->answer, " %s", source_name(route->source));
    if (route->metric != 0)
        fprintf(list->answer, " metric %u", route->metric);
    fputs(usable ? "\n" : " unused\n", list->answer);
}

static void print_route_json(struct route_list const *list, struct rm_known_route const *route, bool usable) {
    char text[RM_IP_TEXT_BYTES];
    rm_prefix_format(&route->prefix, text);
    fprintf(list->answer,
            "%s{\"prefix\": \"%s\", \"action\": \"%s\", \"source\": \"%s\", \"metric\": %u, \"used\": %s, \"paths\": [",
            list->count != 0 ? "," : "", text, kind_name(route->kind), source_name(route->source), route->metric,
            usable ? "true" : "false");
    for (uint32_t i = 0; i < route->path_count; ++i) {
        struct rm_known_path const *const path = &route->path[i];
        bool const on_link = rm_ip_is_none(&path->gateway);
        rm_ip_format(&path->gateway, text);
        fprintf(list->answer, "%s{\"via\": %s%s%s, \"interface\": \"%s\", \"weight\": %u}", i != 0 ? ", " : "",
                on_link ? "" : "\"", on_link ? "null" : text, on_link ? "" : "\"", path_interface_name(list, path),
                path->weight);
    }
    fputs("]}\n", list->answer);
}

static bool see_route(void *context, struct rm_known_route const *route, bool usable) {
    struct route_list *const list = context;
    if (route->source == RM_SOURCE_NEIGHBOUR)
        return true; /* `neighbour show` has them */
    (list->json ? print_route_json : print_route)(list, route, usable);
    ++list->count;
    return true;
}

enum rm_code rm_control_route_show(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                   struct rm_error *error) {
    struct route_list list = {.control = control, .answer = answer};
    enum rm_code code = rm_control_show_as(arguments, &list.json, error);
    if (code != RM_OK)
        return code;
    fputs(list.json ? "[\n" : "", answer);
    code = rm_known_list(control->known, see_route, &list, error);
    fputs(list.json ? "]\n" : "", answer);
    return code;
}

enum rm_code rm_control_route_get(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    static char const *const states[] = {"no route",   "local",      "blackhole", "unreachable",
                                         "prohibited", "unresolved", "resolved"};
    struct rm_ip ip;
    struct rm_route route;
    char text[RM_IP_TEXT_BYTES];
    if (!rm_ip_parse(arguments->word[0], &ip))
        return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected an address", arguments->word[0]);
    if (!rm_route_match(control->setup.routes, &ip, &route))
        return rm_fail(error, RM_E_NOT_FOUND, "no route goes to %s", arguments->word[0]);
    rm_prefix_format(&route.prefix, text);
    for (uint32_t i = 0; i < route.path_count; ++i) {
        uint32_t const number = route.path[i].hop;
        struct rm_next_hop *const hop = rm_routes_hop(control->setup.routes, number);
        enum rm_hop_state const state =
            rm_hop_word_state(atomic_load_explicit(&hop->destination, memory_order_relaxed));
        fprintf(answer, "%s", text);
        if (number >= RM_HOPS_FIXED) {
            char gateway[RM_IP_TEXT_BYTES];
            rm_ip_format(&hop->gateway, gateway);
            if (!rm_ip_is_none(&hop->gateway))
                fprintf(answer, " via %s", gateway);
            fprintf(answer, " by %s", control->setup.interfaces->interface[hop->interface].name);
        }
        fprintf(answer, " %s\n", states[state]);
    }
    return RM_OK;
}
