// SPDX-License-Identifier: Apache-2.0
/** The control side of the router: one thread beside the forwarding cores, for all that they do not do themselves.
 *
 *     cores ── to_control ──▶ ARP, neighbour discovery, pings, what waits for a neighbour ── from_control ──▶ cores
 *                             │        ▲
 *                             ▼        │
 *                        kernel interface of the port (a tap): `ip`, BIRD, FRR, sshd …
 *
 * It keeps the routes (known_routes.h) and neighbours (neighbours.h), follows the kernel's (kernel_tables.h) and obeys
 * commands (`route add …`). A port with a kernel interface leaves all that is for this host to the kernel, which
 * answers ARP and pings there; without one the control side does. It naps while there is nothing to do.
 *
 * Its commands are run by another thread; a lock keeps the two apart. No forwarding core ever takes it.
 */
#ifndef RM_FORWARD_CONTROL_H
#define RM_FORWARD_CONTROL_H

#include "commands/command.h"
#include "forward/forward.h"
#include "forward/known_routes.h"
#include "forward/router_interfaces.h"

/** Two rings between one forwarding core and the control side. */
struct rm_control_core {
    /** What the core does not forward itself: it writes, the control side reads. */
    struct rm_handoff to_control;
    /** Frames that the core is to send out of `port`, as they are: it reads, the control side writes. Reason,
     * interface and hop mean nothing. */
    struct rm_handoff from_control;
};

/** A port of the router. */
struct rm_control_port {
    char const *name;
    uint8_t mac[6];
    /** The tap beside it, of which the control side uses queue 0; NULL: there is none. */
    struct rm_port *kernel;
    /** The tap's name in the kernel. */
    char const *kernel_interface;
    /** Index of the core that sends what the control side sends out of this port. */
    uint32_t core;
    bool present;
};

/** What it begins with. All lives longer than it; routes and neighbours are copied. */
struct rm_control_setup {
    struct rm_routes *routes;
    /** The control side keeps them up to date: MAC addresses, kernel numbers, addresses of the kernel. */
    struct rm_router_interfaces *interfaces;
    struct rm_control_port port[RM_FORWARD_PORTS_MAX];
    uint32_t core_count;
    struct rm_control_core *core;
    uint32_t route_count;
    struct rm_known_route const *route;
    uint32_t neighbour_count;
    struct rm_known_neighbour const *neighbour;
    /** Bytes of the longest frame of any port. */
    uint32_t longest_frame;
    /** Set "router". */
    rm_counter *counters;
};

struct rm_control;

/** Prepares the kernel interfaces, and fills the tables; after rm_net_start, before cores forward. */
enum rm_code rm_control_make(struct rm_control_setup const *setup, struct rm_control **control, struct rm_error *error);
/** Starts the thread. */
enum rm_code rm_control_start(struct rm_control *control, struct rm_error *error);
/** One turn of the thread, for tests: returns how much there was to do. */
uint32_t rm_control_turn(struct rm_control *control, uint64_t now_ms);
/** Ends the thread, and frees all. NULL is allowed. */
void rm_control_stop(struct rm_control *control);

/** Its commands: `route`, `neighbour`, `interface`. */
void rm_control_commands(struct rm_control *control, struct rm_command_table *table);

#endif
