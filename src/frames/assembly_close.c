// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "frames/assembly_state.h"

static void slot_free(struct rm_assembly *assembly, uint32_t index) {
    assembly->slot[index].state = SLOT_FREE;
    if (assembly->last == index)
        assembly->last = NO_SLOT;
}

/** From now on frames are filled from this one. */
static void slot_become_last(struct rm_assembly *assembly, uint32_t index) {
    uint32_t const before = assembly->last;
    assembly->last = index;
    if (before != NO_SLOT && assembly->slot[before].state == SLOT_KEPT)
        assembly->slot[before].state = SLOT_FREE;
}

/** The frame that a slot's missing bytes may come from. */
static struct image_slot const *slot_filler(struct rm_assembly const *assembly, struct image_slot const *slot) {
    if (assembly->settings.incomplete != RM_INCOMPLETE_FILL || assembly->last == NO_SLOT || slot->total == 0)
        return NULL;
    struct image_slot const *const last = &assembly->slot[assembly->last];
    bool const alike = last->total == slot->total &&
                       (slot->image.fragment_bytes == 0 || last->image.fragment_bytes == slot->image.fragment_bytes) &&
                       (!slot->image.has_geometry ||
                        memcmp(&last->image.geometry, &slot->image.geometry, sizeof slot->image.geometry) == 0);
    return alike ? last : NULL;
}

/** Writes what is missing: from another frame, or zeros. */
static void slot_fill(struct image_slot *slot, struct image_slot const *from) {
    uint64_t const length = slot->image.length, each = slot->image.fragment_bytes;
    if (each == 0 && from != NULL)
        memcpy(slot->bytes, from->bytes, length);
    else if (each == 0)
        memset(slot->bytes, 0, length);
    uint32_t first, end = 0;
    while (each != 0 && rm_image_next_gap(&slot->image, &first, &end)) {
        uint64_t const begin = first * each, stop = end * each < length ? end * each : length;
        if (from != NULL)
            memcpy(slot->bytes + begin, from->bytes + begin, stop - begin);
        else
            memset(slot->bytes + begin, 0, stop - begin);
    }
}

/** Compares with the frame closed before. */
static void assembly_note_geometry(struct rm_assembly *assembly, struct rm_image *image) {
    if (!image->has_geometry)
        return;
    image->geometry_changed =
        assembly->has_geometry && memcmp(&assembly->geometry, &image->geometry, sizeof image->geometry) != 0;
    assembly->count[RM_GEOMETRY_CHANGES] += image->geometry_changed;
    assembly->has_geometry = true;
    assembly->geometry = image->geometry;
}

static void assembly_deliver(struct rm_assembly *assembly, uint32_t index, enum rm_image_status status) {
    struct image_slot *const slot = &assembly->slot[index];
    slot->image.status = status;
    slot->state = SLOT_READY;
    slot->closed_number = ++assembly->closings;
    if (assembly->settings.streaming)
        rm_stream_copy_end();
    if (assembly->settings.incomplete == RM_INCOMPLETE_FILL && status != RM_IMAGE_INCOMPLETE)
        slot_become_last(assembly, index);
}

static void assembly_deliver_incomplete(struct rm_assembly *assembly, uint32_t index) {
    struct image_slot *const slot = &assembly->slot[index];
    struct image_slot const *const filler = slot_filler(assembly, slot);
    slot_fill(slot, filler);
    ++assembly->count[filler != NULL ? RM_FRAMES_FILLED : RM_FRAMES_INCOMPLETE];
    assembly_deliver(assembly, index, filler != NULL ? RM_IMAGE_FILLED : RM_IMAGE_INCOMPLETE);
}

static uint32_t slot_index(struct rm_assembly const *assembly, struct rm_image const *image) {
    return (uint32_t)((struct image_slot const *)(void const *)image - assembly->slot);
}

/** Counts a later whole frame for those before it, and closes those that it is the last one for. */
static void assembly_close_older(struct rm_assembly *assembly, uint64_t whole, uint64_t now_ticks) {
    struct rm_image const *image = rm_assembly_in_flight(assembly, NULL);
    while (image != NULL && assembly_ahead(assembly, whole, image->frame) > 0) {
        struct rm_image const *const next = rm_assembly_in_flight(assembly, image);
        uint32_t const index = slot_index(assembly, image);
        if (++assembly->slot[index].later_whole >= assembly->settings.later)
            assembly_close(assembly, index, CLOSED_BEHIND_LATER, now_ticks);
        image = next;
    }
}

void assembly_close(struct rm_assembly *assembly, uint32_t index, enum closing_cause cause, uint64_t now_ticks) {
    struct image_slot *const slot = &assembly->slot[index];
    uint64_t const frame = slot->image.frame;
    if (cause == CLOSED_WHOLE)
        assembly_close_older(assembly, frame, now_ticks);
    slot->image.closed_ticks = now_ticks;
    if (!assembly->any_closed || assembly_ahead(assembly, frame, assembly->closed_through) > 0)
        assembly->closed_through = frame;
    assembly->any_closed = true;
    assembly_note_geometry(assembly, &slot->image);
    if (cause == CLOSED_WHOLE) {
        ++assembly->count[RM_FRAMES_WHOLE];
        assembly_deliver(assembly, index, RM_IMAGE_WHOLE);
        return;
    }
    ++assembly->count[cause];
    if (assembly->settings.incomplete != RM_INCOMPLETE_DROP) {
        assembly_deliver_incomplete(assembly, index);
    } else {
        ++assembly->count[RM_FRAMES_DROPPED];
        slot_free(assembly, index);
    }
}

/** The slot in a state that was closed first; NO_SLOT. */
static uint32_t slot_first_closed(struct rm_assembly const *assembly, enum slot_state state) {
    uint32_t found = NO_SLOT;
    for (uint32_t i = 0; i < assembly->settings.slots; ++i)
        if (assembly->slot[i].state == state &&
            (found == NO_SLOT || assembly->slot[i].closed_number < assembly->slot[found].closed_number))
            found = i;
    return found;
}

/** The oldest frame in flight gives up its slot, undelivered; NO_SLOT where it is not before `frame`. */
static uint32_t assembly_evict(struct rm_assembly *assembly, uint64_t frame) {
    struct rm_image const *const oldest = rm_assembly_in_flight(assembly, NULL);
    if (oldest == NULL || assembly_ahead(assembly, frame, oldest->frame) <= 0)
        return NO_SLOT;
    uint32_t const index = slot_index(assembly, oldest);
    ++assembly->count[RM_FRAMES_FOR_ROOM];
    ++assembly->count[RM_FRAMES_DROPPED];
    if (!assembly->any_closed || assembly_ahead(assembly, oldest->frame, assembly->closed_through) > 0)
        assembly->closed_through = oldest->frame;
    assembly->any_closed = true;
    slot_free(assembly, index);
    return index;
}

uint32_t assembly_make_room(struct rm_assembly *assembly, uint64_t frame) {
    uint32_t index = NO_SLOT;
    for (uint32_t i = 0; i < assembly->settings.slots && index == NO_SLOT; ++i)
        index = assembly->slot[i].state == SLOT_FREE ? i : NO_SLOT;
    if (index != NO_SLOT)
        return index;
    index = slot_first_closed(assembly, SLOT_READY);
    if (index != NO_SLOT)
        ++assembly->count[RM_FRAMES_UNREAD];
    else
        index = slot_first_closed(assembly, SLOT_KEPT);
    if (index == NO_SLOT)
        return assembly_evict(assembly, frame);
    slot_free(assembly, index);
    return index;
}

struct rm_image const *rm_assembly_take(struct rm_assembly *assembly) {
    uint32_t const index = slot_first_closed(assembly, SLOT_READY);
    if (index == NO_SLOT)
        return NULL;
    assembly->slot[index].state = SLOT_LEASED;
    return &assembly->slot[index].image;
}

struct rm_image const *rm_assembly_withhold(struct rm_assembly *assembly, uint32_t slot) {
    if (assembly->slot[slot].state != SLOT_FREE)
        return NULL;
    assembly->slot[slot].state = SLOT_LEASED;
    return &assembly->slot[slot].image;
}

void rm_assembly_release(struct rm_assembly *assembly, struct rm_image const *image) {
    uint32_t const index = slot_index(assembly, image);
    assembly->slot[index].state = assembly->last == index ? SLOT_KEPT : SLOT_FREE;
}

void rm_assembly_expire(struct rm_assembly *assembly, uint64_t now_ticks) {
    struct rm_image const *image = rm_assembly_in_flight(assembly, NULL);
    while (image != NULL) {
        struct rm_image const *const next = rm_assembly_in_flight(assembly, image);
        if (ticks_since(image->first_ticks, now_ticks) >= assembly->settings.deadline_ticks)
            assembly_close(assembly, slot_index(assembly, image), CLOSED_AT_DEADLINE, now_ticks);
        image = next;
    }
}
