// SPDX-License-Identifier: Apache-2.0
#include "forward/waiting.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    uint32_t next; /**< from 1; 0: it is the last */
    uint32_t port, length;
};

struct rm_waiting_room {
    uint32_t free; /**< the first free slot, from 1; 0: none is */
    uint32_t longest_frame;
    struct slot *slot;
    uint8_t *frame; /**< [slot][longest_frame] */
};

struct rm_waiting_room *rm_waiting_room_make(uint32_t packets, uint32_t longest_frame) {
    struct rm_waiting_room *const room = calloc(1, sizeof *room);
    if (room == NULL)
        return NULL;
    *room = (struct rm_waiting_room){.free = 1,
                                     .longest_frame = longest_frame,
                                     .slot = calloc(packets, sizeof *room->slot),
                                     .frame = calloc(packets, longest_frame)};
    if (room->slot == NULL || room->frame == NULL) {
        rm_waiting_room_free(room);
        return NULL;
    }
    for (uint32_t i = 0; i + 1 < packets; ++i)
        room->slot[i].next = i + 2;
    return room;
}

void rm_waiting_room_free(struct rm_waiting_room *room) {
    if (room == NULL)
        return;
    free(room->slot);
    free(room->frame);
    free(room);
}

static uint8_t *slot_frame(struct rm_waiting_room *room, uint32_t number) {
    return room->frame + (size_t)(number - 1) * room->longest_frame;
}

bool rm_waiting_put(struct rm_waiting_room *room, struct rm_waiting *waiting, struct rm_handoff_packet const *packet) {
    uint32_t const number = room->free;
    if (number == 0 || packet->length > room->longest_frame)
        return false;
    struct slot *const slot = &room->slot[number - 1];
    room->free = slot->next;
    *slot = (struct slot){.port = packet->port, .length = packet->length};
    memcpy(slot_frame(room, number), packet->frame, packet->length);
    if (waiting->count++ == 0)
        waiting->first = number;
    else
        room->slot[waiting->last - 1].next = number;
    waiting->last = number;
    return true;
}

uint32_t rm_waiting_drop_oldest(struct rm_waiting_room *room, struct rm_waiting *waiting) {
    if (waiting->count == 0)
        return 0;
    uint32_t const number = waiting->first;
    waiting->first = room->slot[number - 1].next;
    --waiting->count;
    room->slot[number - 1].next = room->free;
    room->free = number;
    return 1;
}

uint32_t rm_waiting_drop(struct rm_waiting_room *room, struct rm_waiting *waiting) {
    uint32_t dropped = 0;
    while (rm_waiting_drop_oldest(room, waiting) != 0)
        ++dropped;
    return dropped;
}

void rm_waiting_take(struct rm_waiting_room *room, struct rm_waiting *waiting,
                     void (*see)(void *context, uint32_t port, uint8_t const *frame, uint32_t length), void *context) {
    while (waiting->count != 0) {
        struct slot const *const slot = &room->slot[waiting->first - 1];
        see(context, slot->port, slot_frame(room, waiting->first), slot->length);
        rm_waiting_drop_oldest(room, waiting);
    }
}
