// SPDX-License-Identifier: Apache-2.0
/** What the files of the control side share.
 *
 *     control.c           start, thread, turn; frames out, and to and from the kernel interfaces
 *     control_packet.c    what is done with a packet that a core has handed over
 *     control_kernel.c    what the kernel tells of its interfaces, addresses, routes and neighbours
 *     control_words.c     commands
 */
#ifndef RM_FORWARD_CONTROL_PARTS_H
#define RM_FORWARD_CONTROL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <ringmaster/counters.h>

#include "forward/control.h"
#include "forward/kernel_tables.h"
#include "forward/neighbours.h"

struct rm_control {
    struct rm_control_setup setup;
    struct rm_known_routes *known;
    struct rm_neighbours *neighbours;
    /** NULL: no port has a kernel interface. */
    struct rm_kernel_tables *kernel;
    /** [port]: the kernel's number of its interface; 0: there is none. */
    uint32_t kernel_index[RM_FORWARD_PORTS_MAX];
    /** For packets that waited, and what it counts of them. */
    struct rm_forward forward;
    rm_counter *forward_counts;
    /** Of one frame, which may be changed. */
    uint8_t *frame;
    struct rm_burst in, out;
    /** Of the turn. */
    uint64_t now_ms;
    /** Of what is told again, all of which is begun: known routes and addresses to forget. */
    struct rm_router_interfaces *told;

    pthread_t thread;
    bool started;
    atomic_bool stop;
    /** Held by the thread for a turn, and by the commands' thread for a command. */
    pthread_mutex_t lock;
};

/** Sends a copy of a frame out of a port, as it is. */
void rm_control_send(struct rm_control *control, uint32_t port, uint8_t const *frame, uint32_t length);
/** Gives a copy of a frame to the kernel interface of a port; counted as unclaimed where there is none. */
void rm_control_to_kernel(struct rm_control *control, uint32_t port, uint8_t const *frame, uint32_t length);
/** Lets the cores see changes of routes. */
void rm_control_publish(struct rm_control *control);

void rm_control_packet(struct rm_control *control, struct rm_handoff_packet const *packet);

/** An interface or its addresses have changed: connected routes and the tables follow. */
void rm_control_add_address(struct rm_control *control, uint32_t interface, struct rm_router_address const *address);
void rm_control_remove_address(struct rm_control *control, uint32_t interface, struct rm_router_address const *address);
void rm_control_set_interface(struct rm_control *control, uint32_t interface);

/** Prepares the kernel interfaces, and begins to follow the kernel. Nothing where no port has one. */
enum rm_code rm_control_follow_kernel(struct rm_control *control, struct rm_error *error);

static inline void rm_control_count(struct rm_control *control, enum rm_router_counter counter, uint64_t add) {
    rm_counter_add(control->setup.counters, counter, add);
}

#endif
