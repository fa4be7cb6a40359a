// SPDX-License-Identifier: Apache-2.0
/** Neighbours: which MAC address a host on a link has, asked by ARP and neighbour discovery (RFC 826, RFC 4861), and the
 * packets that wait for the answer.
 *
 *     incomplete   asked for, up to 3 times, a second apart; packets wait
 *     reachable    it has answered within 30 s
 *     stale        it has not since, or it spoke to us unasked; its MAC is used for 30 s more
 *     probe        asked for again, up to 3 times; its MAC is used meanwhile
 *     failed       it did not answer: for 3 s its packets are dropped and their senders hear "host unreachable"
 *     permanent    set by a person or by the kernel; it is never asked for
 *
 * A neighbour that is known has a next hop (next_hop.h), and on a connected network a host route (known_routes.h), so
 * that the forwarding cores find it without us. All is bounded: the number of neighbours, of those that are asked for at
 * a time, of packets that wait for one, and of all that wait. What finds no room is dropped and counted, so a flood of
 * destinations that do not exist costs what its bounds cost. For the control side's one thread.
 */
#ifndef RM_FORWARD_NEIGHBOURS_H
#define RM_FORWARD_NEIGHBOURS_H

#include "forward/handoff.h"
#include "forward/known_routes.h"

enum {
    RM_NEIGHBOURS_MAX = 4096,
    /** Most that are asked for, or have failed, at a time. */
    RM_NEIGHBOURS_SOUGHT_MAX = 512,
    /** Most packets that wait for one neighbour; of more, the oldest is dropped. */
    RM_NEIGHBOUR_WAITING_MAX = 32,
    /** Most packets that wait in all. */
    RM_WAITING_MAX = 1024,

    RM_NEIGHBOUR_ASKS = 3,
    RM_NEIGHBOUR_ASK_MS = 1000,
    RM_NEIGHBOUR_REACHABLE_MS = 30000,
    RM_NEIGHBOUR_STALE_MS = 30000,
    RM_NEIGHBOUR_FAILED_MS = 3000,
};

enum rm_neighbour_state {
    RM_NEIGHBOUR_INCOMPLETE,
    RM_NEIGHBOUR_REACHABLE,
    RM_NEIGHBOUR_STALE,
    RM_NEIGHBOUR_PROBE,
    RM_NEIGHBOUR_FAILED,
    RM_NEIGHBOUR_PERMANENT,
};

/** What has happened since the start. */
struct rm_neighbour_counts {
    /** Questions sent. */
    uint64_t asked;
    /** Neighbours that have answered when they were sought. */
    uint64_t found;
    /** That have not. */
    uint64_t failed;
    /** Packets that were sent when their neighbour had answered. */
    uint64_t waited;
    /** Packets dropped: too many waited already, or too many neighbours were sought. */
    uint64_t full;
};

/** One neighbour, for words. */
struct rm_neighbour {
    struct rm_ip ip;
    /** Number of the interface. */
    uint32_t interface;
    enum rm_neighbour_state state;
    /** All zero while it is not known. */
    uint8_t mac[6];
    /** Packets that wait. */
    uint32_t waiting;
    /** Since it has answered last; UINT64_MAX: it has not. */
    uint64_t since_ms;
};

/** How frames leave. */
struct rm_neighbour_ways {
    /** Sends a frame out of a port. */
    void (*send)(void *context, uint32_t port, uint8_t const *frame, uint32_t length);
    /** Forwards a packet that waited once more, as if it came in by the port again. */
    void (*again)(void *context, uint32_t port, uint8_t const *frame, uint32_t length);
    void *context;
};

struct rm_neighbours;

/** All that is given lives longer than it. NULL: no memory. `longest_frame`: of packets that wait. */
struct rm_neighbours *rm_neighbours_make(struct rm_routes *routes, struct rm_known_routes *known,
                                         struct rm_router_interfaces const *interfaces,
                                         struct rm_neighbour_ways const *ways, uint32_t longest_frame);
void rm_neighbours_free(struct rm_neighbours *neighbours);

/** A packet to `ip` by `interface` has come to a hop whose MAC is not known (RM_HANDOFF_UNRESOLVED): it waits. */
void rm_neighbours_wait(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                        struct rm_handoff_packet const *packet, uint64_t now_ms);

/** Starts to ask for a neighbour, without a packet: a gateway that routes will need. */
void rm_neighbours_seek(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip, uint64_t now_ms);

/** `ip` has told its MAC. `answer`: it was asked for; else it spoke unasked, which is believed of a neighbour that is
 * known or that has asked for us (`asked_us`), if it is in a network of the interface. */
void rm_neighbours_heard(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                         uint8_t const mac[6], bool answer, bool asked_us, uint64_t now_ms);

/** Adds a permanent neighbour; `kernel`: it is the kernel's. RM_E_NO_SPACE: there are RM_NEIGHBOURS_MAX. */
enum rm_code rm_neighbours_set(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                               uint8_t const mac[6], bool kernel, struct rm_error *error);
/** The kernel has forgotten it: it is forgotten if it was permanent by the kernel's word. */
void rm_neighbours_kernel_gone(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip);
/** Around a dump of all of the kernel's neighbours: permanent ones of it that were not set in between are forgotten. */
void rm_neighbours_begin_dump(struct rm_neighbours *neighbours);
void rm_neighbours_end_dump(struct rm_neighbours *neighbours);

/** Forgets a neighbour, however it was known. RM_E_NOT_FOUND: it is not. */
enum rm_code rm_neighbours_remove(struct rm_neighbours *neighbours, uint32_t interface, struct rm_ip const *ip,
                                  struct rm_error *error);

/** Asks, and lets time pass. Cheap to call often. */
void rm_neighbours_tick(struct rm_neighbours *neighbours, uint64_t now_ms);

/** Forwards the packets that need wait no longer, once the changes of routes are published. */
void rm_neighbours_forward(struct rm_neighbours *neighbours);

/** Calls `see` for each, until it returns false. */
void rm_neighbours_list(struct rm_neighbours const *neighbours, uint64_t now_ms,
                        bool (*see)(void *context, struct rm_neighbour const *neighbour), void *context);
struct rm_neighbour_counts const *rm_neighbours_counts(struct rm_neighbours const *neighbours);
char const *rm_neighbour_state_name(enum rm_neighbour_state state);

#endif
