// SPDX-License-Identifier: Apache-2.0
#include "forward/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "forward/routes_parts.h"

enum { FIRST_CHANGES = 256, QUICK_LOOKS = 200, NS_PER_LOOK = 20000, LOOKS_MAX = 50000 /**< a second of looks */ };

uint32_t rm_routes_memory_mib(struct rm_routes_limits const *limits) { return 2 * rm_match_memory_mib(limits); }

enum rm_code routes_no_memory(struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for the router's routes; free some memory");
}

static void routes_table_make(struct rm_routes *routes, struct rm_routes_table *table) {
    table->slots = routes->groups.slot;
    table->hop = routes->hops.hop;
    memset(table->by_vlan, 0xFF, sizeof table->by_vlan);
}

enum rm_code rm_routes_make(struct rm_routes **made, struct rm_routes_limits const *limits, uint32_t readers,
                            struct rm_error *error) {
    if (readers > RM_ROUTES_READERS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "%u cores read the routes; at most %d can", readers,
                       RM_ROUTES_READERS_MAX);
    struct rm_routes *const routes = rm_zeroed(1, sizeof *routes);
    if (routes == NULL)
        return routes_no_memory(error);
    routes->limits = *limits;
    routes->readers = readers;
    enum rm_code code =
        rm_path_groups_make(&routes->groups) && rm_next_hops_make(&routes->hops) ? RM_OK : routes_no_memory(error);
    for (uint32_t i = 0; i < 2 && code == RM_OK; ++i) {
        char name[24];
        snprintf(name, sizeof name, "%lx-%u", (unsigned long)((uintptr_t)routes >> 6), i); // unique in the process
        routes_table_make(routes, &routes->table[i]);
        code = rm_match_make(&routes->table[i].match, name, limits, error);
    }
    if (code != RM_OK) {
        rm_routes_free(routes);
        return code;
    }
    routes->standby = 1;
    atomic_store(&routes->current, &routes->table[0]);
    *made = routes;
    return RM_OK;
}

void rm_routes_free(struct rm_routes *routes) {
    for (uint32_t i = 0; i < 2; ++i)
        rm_match_free(&routes->table[i].match);
    rm_path_groups_free(&routes->groups);
    rm_next_hops_free(&routes->hops);
    free(routes->change);
    free(routes);
}

struct rm_routes_table const *rm_routes_table(struct rm_routes *routes, uint32_t reader) {
    struct rm_routes_table const *table = atomic_load_explicit(&routes->current, memory_order_acquire);
    if (reader == RM_ROUTES_READER_NONE)
        return table;
    struct routes_reader *const self = &routes->reader[reader];
    if (__builtin_expect(atomic_load_explicit(&self->seen, memory_order_relaxed) == NULL, 0)) {
        do {
            table = atomic_load(&routes->current);
            atomic_store(&self->seen, table);
        } while (atomic_load(&routes->current) != table);
    }
    atomic_store_explicit(&self->seen, table, memory_order_release);
    return table;
}

static bool readers_have_passed(struct rm_routes *routes) {
    struct rm_routes_table const *const current = atomic_load(&routes->current);
    for (uint32_t i = 0; i < routes->readers; ++i) {
        struct rm_routes_table const *const seen = atomic_load(&routes->reader[i].seen);
        if (seen != NULL && seen != current)
            return false;
    }
    return true;
}

void routes_drop_group(struct rm_routes *routes, uint32_t group) {
    struct rm_path_slots const slots = routes->groups.slot[group];
    if (group == 0 || !rm_path_groups_drop(&routes->groups, group))
        return;
    struct rm_path path[RM_PATHS_MAX];
    uint32_t const count = rm_path_slots_paths(&slots, path);
    for (uint32_t i = 0; i < count; ++i)
        rm_next_hops_drop(&routes->hops, path[i].hop);
}

bool routes_set_standby(struct rm_routes *routes, struct rm_prefix const *prefix, uint32_t before, uint32_t group) {
    struct rm_match *const match = &routes_standby(routes)->match;
    if (group == 0)
        rm_match_remove(match, prefix);
    else if (group != before && !rm_match_set(match, prefix, group))
        return false;
    if (group != 0)
        rm_path_groups_hold(&routes->groups, group);
    routes_drop_group(routes, before);
    return true;
}

void routes_table_set_interface(struct rm_routes_table *table, uint32_t number, struct rm_interface const *interface) {
    struct rm_interface *const own = &table->interface[number];
    if (own->up)
        table->by_vlan[own->port][own->vlan] = RM_INTERFACE_NONE;
    *own = *interface;
    if (own->up)
        table->by_vlan[own->port][own->vlan] = (uint16_t)number;
}

/** Makes the published changes to the table that the cores have left. */
static void routes_repeat_changes(struct rm_routes *routes) {
    for (uint32_t i = 0; i < routes->change_count; ++i) {
        struct routes_change const *const change = &routes->change[i];
        if (change->interface != RM_INTERFACE_NONE) {
            routes_table_set_interface(routes_standby(routes), change->interface,
                                       &routes->table[routes->standby ^ 1].interface[change->interface]);
            continue;
        }
        // There is room: the other table of the same size took the same.
        uint32_t const before = rm_match_exact(&routes_standby(routes)->match, &change->prefix);
        routes_set_standby(routes, &change->prefix, before, change->group);
        routes_drop_group(routes, change->group);
    }
    routes->change_count = 0;
    routes->swapped = false;
}

/** Waits until no core reads the standby table, and makes it like the other. */
static enum rm_code routes_make_ready(struct rm_routes *routes, struct rm_error *error) {
    struct timespec const look = {.tv_nsec = NS_PER_LOOK};
    for (uint32_t i = 0; i < QUICK_LOOKS && routes->swapped && !readers_have_passed(routes); ++i)
        __builtin_ia32_pause(); // as long as a core takes for a burst
    for (uint32_t looks = 0; routes->swapped && !readers_have_passed(routes); ++looks) {
        if (looks == LOOKS_MAX)
            return rm_fail(error, RM_E_BUSY,
                           "a forwarding core has not taken over the last change of routes for a second: it stands "
                           "still; try again, and see whether its core is free for it");
        nanosleep(&look, NULL);
    }
    if (routes->swapped)
        routes_repeat_changes(routes);
    return RM_OK;
}

/** Room to note one more change; false: no memory. */
static bool changes_have_room(struct rm_routes *routes) {
    if (routes->change_count < routes->change_room)
        return true;
    uint32_t const room = routes->change_room == 0 ? FIRST_CHANGES : 2 * routes->change_room;
    struct routes_change *const change = realloc(routes->change, room * sizeof *change);
    if (change == NULL)
        return false;
    routes->change = change;
    routes->change_room = room;
    return true;
}

enum rm_code routes_begin(struct rm_routes *routes, struct rm_error *error) {
    enum rm_code const code = routes_make_ready(routes, error);
    if (code != RM_OK)
        return code;
    return changes_have_room(routes) ? RM_OK : routes_no_memory(error);
}

void routes_note_change(struct rm_routes *routes, struct rm_prefix const *prefix, uint32_t group, uint16_t interface) {
    routes->change[routes->change_count++] =
        (struct routes_change){.prefix = *prefix, .group = (uint16_t)group, .interface = interface};
    if (group != 0)
        rm_path_groups_hold(&routes->groups, group); // until it is made to both
}

void rm_routes_publish(struct rm_routes *routes) {
    if (routes->change_count == 0 || routes->swapped)
        return;
    atomic_store(&routes->current, routes_standby(routes));
    routes->standby ^= 1;
    routes->swapped = true;
    if (readers_have_passed(routes))
        routes_repeat_changes(routes);
}
