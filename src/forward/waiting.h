// SPDX-License-Identifier: Apache-2.0
/** Packets that wait for a neighbour: a bounded room of copies, and a queue for each neighbour. */
#ifndef RM_FORWARD_WAITING_H
#define RM_FORWARD_WAITING_H

#include "forward/handoff.h"

/** The packets of one neighbour, in their order. All zero: none. */
struct rm_waiting {
    uint32_t count;
    /** Slots of the room, counted from 1. */
    uint32_t first, last;
};

struct rm_waiting_room;

/** Room for so many packets in all. NULL: no memory. */
struct rm_waiting_room *rm_waiting_room_make(uint32_t packets, uint32_t longest_frame);
void rm_waiting_room_free(struct rm_waiting_room *room);

/** Copies a packet in. False: there is no room, or it is too long. */
bool rm_waiting_put(struct rm_waiting_room *room, struct rm_waiting *waiting, struct rm_handoff_packet const *packet);

/** Gives all packets to `see`, oldest first, and takes them out. */
void rm_waiting_take(struct rm_waiting_room *room, struct rm_waiting *waiting,
                     void (*see)(void *context, uint32_t port, uint8_t const *frame, uint32_t length), void *context);

/** Drops packets; returns how many. */
uint32_t rm_waiting_drop_oldest(struct rm_waiting_room *room, struct rm_waiting *waiting);
uint32_t rm_waiting_drop(struct rm_waiting_room *room, struct rm_waiting *waiting);

#endif
