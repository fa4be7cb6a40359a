// SPDX-License-Identifier: Apache-2.0
#include "forward/known_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum { FIRST_BUCKETS = 1024, SOURCES = RM_SOURCE_NEIGHBOUR + 1 };

/** A route that is known. */
struct known {
    struct known *next;
    uint32_t metric;
    uint32_t dump; /**< of the kernel's: number of the dump that it was last seen in */
    struct rm_prefix prefix;
    uint8_t source, kind, path_count;
    bool usable; /**< it is in the tables */
    struct rm_known_path path[];
};

struct rm_known_routes {
    struct rm_routes *routes;
    struct rm_router_interfaces const *interfaces;
    struct known **bucket;
    uint32_t buckets, total, count[SOURCES];
    uint32_t dump;
    bool changed;
};

struct rm_known_routes *rm_known_make(struct rm_routes *routes, struct rm_router_interfaces const *interfaces) {
    struct rm_known_routes *const known = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    *known = (struct rm_known_routes){.routes = routes, .interfaces = interfaces, .buckets = FIRST_BUCKETS};
    known->bucket = calloc(known->buckets, sizeof(struct known *));
    if (known->bucket != NULL)
        return known;
    free(known);
    return NULL;
}

void rm_known_free(struct rm_known_routes *known) {
    if (known == NULL)
        return;
    for (uint32_t i = 0; i < known->buckets; ++i)
        while (known->bucket[i] != NULL) {
            struct known *const entry = known->bucket[i];
            known->bucket[i] = entry->next;
            free(entry);
        }
    free(known->bucket);
    free(known);
}

static struct known **bucket_of(struct rm_known_routes const *known, struct rm_prefix const *prefix) {
    return &known->bucket[rm_ip_hash(&prefix->ip, prefix->length) & (known->buckets - 1)];
}

/** Doubles the buckets; where there is no memory for more, lists get longer. */
static void known_grow(struct rm_known_routes *known) {
    uint32_t const before = known->buckets;
    struct known **const old = known->bucket, **const more = calloc(2 * (size_t)before, sizeof(struct known *));
    if (more == NULL)
        return;
    known->bucket = more;
    known->buckets = 2 * before;
    for (uint32_t i = 0; i < before; ++i)
        while (old[i] != NULL) {
            struct known *const entry = old[i];
            old[i] = entry->next;
            struct known **const bucket = bucket_of(known, &entry->prefix);
            entry->next = *bucket;
            *bucket = entry;
        }
    free(old);
}

static struct known **known_find(struct rm_known_routes const *known, struct rm_prefix const *prefix,
                                 enum rm_route_source source, uint32_t metric) {
    struct known **at = bucket_of(known, prefix);
    while (*at != NULL &&
           !((*at)->source == source && (*at)->metric == metric && rm_prefix_same(&(*at)->prefix, prefix)))
        at = &(*at)->next;
    return at;
}

/** The interface of a path; RM_INTERFACE_NONE where it cannot be used now. */
static uint32_t path_interface(struct rm_known_routes const *known, struct rm_known_path const *path) {
    struct rm_router_interfaces const *const interfaces = known->interfaces;
    uint32_t interface = path->interface;
    if (interface == RM_INTERFACE_NONE)
        interface = rm_interfaces_of_network(interfaces, &path->gateway);
    bool const usable = interface < interfaces->count && interfaces->interface[interface].wire.up;
    return usable ? interface : RM_INTERFACE_NONE;
}

static uint32_t fixed_hop(enum rm_route_kind kind) {
    switch (kind) {
    case RM_ROUTE_LOCAL:
        return RM_HOP_LOCAL;
    case RM_ROUTE_BLACKHOLE:
        return RM_HOP_BLACKHOLE;
    case RM_ROUTE_PROHIBITED:
        return RM_HOP_PROHIBITED;
    case RM_ROUTE_UNREACHABLE:
    case RM_ROUTE_UNICAST:
        break;
    }
    return RM_HOP_UNREACHABLE;
}

/** Takes the next hops of those paths that can be used. */
static enum rm_code take_hops(struct rm_known_routes const *known, struct known const *entry, struct rm_route *route,
                              struct rm_error *error) {
    for (uint32_t i = 0; i < entry->path_count; ++i) {
        uint32_t const interface = path_interface(known, &entry->path[i]);
        if (interface == RM_INTERFACE_NONE)
            continue;
        struct rm_path *const path = &route->path[route->path_count];
        enum rm_code const code = rm_hop_take(known->routes, interface, &entry->path[i].gateway, &path->hop, error);
        if (code != RM_OK)
            return code;
        path->weight = entry->path[i].weight;
        ++route->path_count;
    }
    return RM_OK;
}

/** Puts the route into the tables, if it can be used. */
static enum rm_code known_install(struct rm_known_routes *known, struct known *entry, struct rm_error *error) {
    struct rm_route route = {.prefix = entry->prefix};
    enum rm_code code = RM_OK;
    bool const unicast = entry->kind == RM_ROUTE_UNICAST;
    if (unicast)
        code = take_hops(known, entry, &route, error);
    else
        route.path[route.path_count++] = (struct rm_path){.hop = fixed_hop(entry->kind), .weight = 1};
    if (code == RM_OK && route.path_count != 0)
        code = rm_route_set(known->routes, &route, error);
    entry->usable = code == RM_OK && route.path_count != 0;
    for (uint32_t i = 0; unicast && i < route.path_count; ++i)
        rm_hop_drop(known->routes, route.path[i].hop);
    return code;
}

static bool known_comes_first(struct known const *one, struct known const *other) {
    return one->source != other->source ? one->source < other->source : one->metric < other->metric;
}

/** The next best route of a prefix after `after`; NULL: there is none. */
static struct known *next_best(struct rm_known_routes const *known, struct rm_prefix const *prefix,
                               struct known const *after) {
    struct known *best = NULL;
    for (struct known *entry = *bucket_of(known, prefix); entry != NULL; entry = entry->next)
        if (rm_prefix_same(&entry->prefix, prefix) && (after == NULL || known_comes_first(after, entry)) &&
            (best == NULL || known_comes_first(entry, best)))
            best = entry;
    return best;
}

/** Puts the best route of the prefix that can be used into the tables, or takes the prefix out of them. */
static enum rm_code known_choose(struct rm_known_routes *known, struct rm_prefix const *prefix,
                                 struct rm_error *error) {
    for (struct known *entry = *bucket_of(known, prefix); entry != NULL; entry = entry->next)
        if (rm_prefix_same(&entry->prefix, prefix))
            entry->usable = false;
    known->changed = true;
    for (struct known *entry = next_best(known, prefix, NULL); entry != NULL; entry = next_best(known, prefix, entry)) {
        enum rm_code const code = known_install(known, entry, error);
        if (entry->usable || code != RM_OK)
            return code;
    }
    enum rm_code const code = rm_route_remove(known->routes, prefix, error);
    return code == RM_E_NOT_FOUND ? RM_OK : code;
}

static void known_delete(struct rm_known_routes *known, struct known **at) {
    struct known *const entry = *at;
    *at = entry->next;
    --known->count[entry->source];
    --known->total;
    free(entry);
}

static bool same_route(struct known const *entry, struct rm_known_route const *route) {
    if (entry->kind != route->kind || entry->path_count != route->path_count)
        return false;
    for (uint32_t i = 0; i < route->path_count; ++i)
        if (!rm_ip_same(&entry->path[i].gateway, &route->path[i].gateway) ||
            entry->path[i].interface != route->path[i].interface || entry->path[i].weight != route->path[i].weight)
            return false;
    return true;
}

static struct known *known_new(struct rm_known_routes *known, struct rm_known_route const *route) {
    struct known *const entry = malloc(sizeof *entry + route->path_count * sizeof route->path[0]);
    if (entry == NULL)
        return NULL;
    *entry = (struct known){.metric = route->metric,
                            .dump = known->dump,
                            .prefix = route->prefix,
                            .source = (uint8_t)route->source,
                            .kind = (uint8_t)route->kind,
                            .path_count = (uint8_t)route->path_count};
    memcpy(entry->path, route->path, route->path_count * sizeof route->path[0]);
    if (known->total >= known->buckets)
        known_grow(known);
    struct known **const bucket = bucket_of(known, &route->prefix);
    entry->next = *bucket;
    *bucket = entry;
    ++known->count[route->source];
    ++known->total;
    return entry;
}

enum rm_code rm_known_set(struct rm_known_routes *known, struct rm_known_route const *route, struct rm_error *error) {
    struct known **const at = known_find(known, &route->prefix, route->source, route->metric);
    if (*at != NULL && same_route(*at, route)) {
        (*at)->dump = known->dump;
        return RM_OK;
    }
    if (*at != NULL)
        known_delete(known, at);
    if (known_new(known, route) == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for one more route");
    enum rm_code const code = known_choose(known, &route->prefix, error);
    if (code == RM_OK)
        return RM_OK;
    known_delete(known, known_find(known, &route->prefix, route->source, route->metric));
    known_choose(known, &route->prefix, NULL);
    return code;
}

enum rm_code rm_known_remove(struct rm_known_routes *known, struct rm_prefix const *prefix, enum rm_route_source source,
                             uint32_t metric, struct rm_error *error) {
    struct known **const at = known_find(known, prefix, source, metric);
    if (*at == NULL) {
        char text[RM_IP_TEXT_BYTES];
        rm_prefix_format(prefix, text);
        return rm_fail(error, RM_E_NOT_FOUND, "there is no such route of %s; `route show` lists those there are", text);
    }
    struct rm_prefix const removed = *prefix; /* which may be the entry's own */
    known_delete(known, at);
    return known_choose(known, &removed, error);
}

void rm_known_choose_again(struct rm_known_routes *known) {
    for (uint32_t i = 0; i < known->buckets; ++i)
        for (struct known *entry = known->bucket[i]; entry != NULL; entry = entry->next)
            known_choose(known, &entry->prefix, NULL);
}

void rm_known_begin_dump(struct rm_known_routes *known) { ++known->dump; }

void rm_known_end_dump(struct rm_known_routes *known) {
    for (uint32_t i = 0; i < known->buckets; ++i)
        for (struct known **at = &known->bucket[i]; *at != NULL;) {
            if ((*at)->source != RM_SOURCE_KERNEL || (*at)->dump == known->dump) {
                at = &(*at)->next;
                continue;
            }
            struct rm_prefix const prefix = (*at)->prefix;
            known_delete(known, at);
            known_choose(known, &prefix, NULL);
        }
}

static int known_order(void const *left, void const *right) {
    struct known const *const one = *(struct known *const *)left, *const other = *(struct known *const *)right;
    if (one->prefix.ip.ipv6 != other->prefix.ip.ipv6)
        return one->prefix.ip.ipv6 ? 1 : -1;
    int const order = memcmp(one->prefix.ip.byte, other->prefix.ip.byte, RM_IPV6_ADDRESS_BYTES);
    if (order != 0)
        return order;
    if (one->prefix.length != other->prefix.length)
        return one->prefix.length < other->prefix.length ? -1 : 1;
    return known_comes_first(one, other) ? -1 : 1;
}

enum rm_code rm_known_list(struct rm_known_routes const *known, rm_known_see *see, void *context,
                           struct rm_error *error) {
    struct known **const sorted = malloc((known->total + 1) * sizeof(struct known *));
    if (sorted == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to sort %u routes", known->total);
    uint32_t count = 0;
    for (uint32_t i = 0; i < known->buckets; ++i)
        for (struct known *entry = known->bucket[i]; entry != NULL; entry = entry->next)
            sorted[count++] = entry;
    qsort(sorted, count, sizeof(struct known *), known_order);
    bool more = true;
    for (uint32_t i = 0; i < count && more; ++i) {
        struct rm_known_route route = {.prefix = sorted[i]->prefix,
                                       .source = sorted[i]->source,
                                       .kind = sorted[i]->kind,
                                       .metric = sorted[i]->metric,
                                       .path_count = sorted[i]->path_count};
        memcpy(route.path, sorted[i]->path, route.path_count * sizeof route.path[0]);
        more = see(context, &route, sorted[i]->usable);
    }
    free(sorted);
    return RM_OK;
}

uint32_t rm_known_count(struct rm_known_routes const *known, enum rm_route_source source) {
    return known->count[source];
}

bool rm_known_changed(struct rm_known_routes *known) {
    bool const changed = known->changed;
    known->changed = false;
    return changed;
}
