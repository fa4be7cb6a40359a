// SPDX-License-Identifier: Apache-2.0
/** What the files of the routes share.
 *
 *     routes.c        the two tables, their readers, and how a change passes from one to the other
 *     routes_set.c    changes: interfaces, next hops, routes
 *     routes_find.c   questions
 */
#ifndef RM_FORWARD_ROUTES_PARTS_H
#define RM_FORWARD_ROUTES_PARTS_H

#include "forward/next_hops.h"
#include "forward/path_groups.h"
#include "forward/routes_table.h"

/** One change, to be made to the second table too. */
struct routes_change {
    struct rm_prefix prefix;
    /** 0: the prefix was removed. */
    uint16_t group;
    /** RM_INTERFACE_NONE: it is a route's; else this interface was set, as the first table has it. */
    uint16_t interface;
};

/** What a core has seen last. A line each: all are written once per burst. */
struct routes_reader {
    alignas(64) _Atomic(struct rm_routes_table const *) seen;
};

/** A reader says by `seen`, with release, that it has done with any other table; the control side loads that with
 * acquire before it changes one. A reader that begins has nothing to be done with: it says so once more if the tables
 * were swapped meanwhile, in the one order of all sequentially consistent operations. */
struct rm_routes {
    struct routes_reader reader[RM_ROUTES_READERS_MAX];
    _Atomic(struct rm_routes_table const *) current;
    uint32_t readers;

    struct rm_routes_table table[2];
    /** Of the table that changes go to, while no core reads it. */
    uint32_t standby;
    /** The changes were published: they are to be made to the standby table before others. */
    bool swapped;
    uint32_t change_count;
    uint32_t change_room;
    struct routes_change *change;

    struct rm_routes_limits limits;
    uint32_t ipv4_count;
    uint32_t ipv6_count;
    struct rm_path_groups groups;
    struct rm_next_hops hops;
};

/** The table that changes go to. */
static inline struct rm_routes_table *routes_standby(struct rm_routes *routes) {
    return &routes->table[routes->standby];
}

/** The table in which unpublished changes count, too. */
static inline struct rm_routes_table const *routes_newest(struct rm_routes const *routes) {
    return &routes->table[routes->swapped ? routes->standby ^ 1 : routes->standby];
}

/** Waits until the standby table may be changed, and there is room to note one more change. RM_E_BUSY, RM_E_NO_SPACE. */
enum rm_code routes_begin(struct rm_routes *routes, struct rm_error *error);

/** Notes a change that was made to the standby table, to be made to the other: of a route (interface
 * RM_INTERFACE_NONE; group 0: it was removed) or of an interface. */
void routes_note_change(struct rm_routes *routes, struct rm_prefix const *prefix, uint32_t group, uint16_t interface);

/** Puts a group in place of the one that the prefix had in the standby table; 0 is none. False: there is no room. */
bool routes_set_standby(struct rm_routes *routes, struct rm_prefix const *prefix, uint32_t before, uint32_t group);

/** Ends a hold of a group, and of its hops where it was the last. 0 is no group. */
void routes_drop_group(struct rm_routes *routes, uint32_t group);

void routes_table_set_interface(struct rm_routes_table *table, uint32_t number, struct rm_interface const *interface);

/** Whether the length can be, and all bits behind it are zero. */
bool routes_prefix_is_whole(struct rm_prefix const *prefix);

enum rm_code routes_no_memory(struct rm_error *error);

#endif
