// SPDX-License-Identifier: Apache-2.0
/** The kernel's interfaces, addresses, routes and neighbours by netlink (NETLINK_ROUTE, through libmnl): all of them at
 * the start, and each change from then on. So `ip`, BIRD and FRR rule the router by the kernel interfaces beside its
 * ports.
 *
 * A change may be lost (ENOBUFS), or not be told of by the kernel, which takes IPv4 routes away in silence with a link
 * or an address. Then all is asked for again, and what is not there any more is removed. For the control side's one
 * thread.
 */
#ifndef RM_FORWARD_KERNEL_TABLES_H
#define RM_FORWARD_KERNEL_TABLES_H

#include <ringmaster/error.h>

#include "forward/known_routes.h"

/** An interface of the kernel. */
struct rm_kernel_link {
    uint32_t index;
    /** It was taken away. */
    bool gone;
    bool up;
    uint32_t mtu;
    uint8_t mac[6];
    char name[16];
    /** Of a VLAN: the interface below it, and the VLAN; else 0. */
    uint32_t below;
    uint16_t vlan;
};

/** A neighbour that the kernel knows. */
struct rm_kernel_neighbour {
    uint32_t index;
    bool gone;
    /** It was set by hand. */
    bool permanent;
    struct rm_ip ip;
    uint8_t mac[6];
};

/** What is told. Calls come from within rm_kernel_tables_start and _follow. */
struct rm_kernel_events {
    /** Before and after all that there is: what was not told in between is gone. */
    void (*begin)(void *context);
    void (*end)(void *context);
    void (*link)(void *context, struct rm_kernel_link const *link);
    void (*address)(void *context, uint32_t index, struct rm_router_address const *address, bool gone);
    /** Its paths' interfaces are the kernel's numbers. */
    void (*route)(void *context, struct rm_known_route const *route, bool gone);
    void (*neighbour)(void *context, struct rm_kernel_neighbour const *neighbour);
    void *context;
};

struct rm_kernel_tables;

/** Begins to follow, and tells all that there is. RM_E_SYSTEM: the kernel refuses. */
enum rm_code rm_kernel_tables_start(struct rm_kernel_tables **tables, struct rm_kernel_events const *events,
                                    struct rm_error *error);
void rm_kernel_tables_stop(struct rm_kernel_tables *tables);

/** Tells what has changed, without waiting; `now_ms`: of a steady clock. Returns messages read. */
uint32_t rm_kernel_tables_follow(struct rm_kernel_tables *tables, uint64_t now_ms);

/** How often all was asked for again. */
uint64_t rm_kernel_tables_dumps(struct rm_kernel_tables const *tables);

/** Gives an interface a MAC address and an MTU, and switches it on. */
enum rm_code rm_kernel_set_link(uint32_t index, uint8_t const mac[6], uint32_t mtu, struct rm_error *error);
/** Gives an interface an address. One that is there already is no error. */
enum rm_code rm_kernel_add_address(uint32_t index, struct rm_router_address const *address, struct rm_error *error);

#endif
