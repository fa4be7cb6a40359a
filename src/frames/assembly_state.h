// SPDX-License-Identifier: Apache-2.0
/** For assembly.c and assembly_close.c. */
#ifndef RM_FRAMES_ASSEMBLY_STATE_H
#define RM_FRAMES_ASSEMBLY_STATE_H

#include "frames/assembly.h"
#include "frames/stream_copy.h"

#define NO_SLOT UINT32_MAX

enum slot_state {
    SLOT_FREE,
    SLOT_IN_FLIGHT,
    SLOT_READY,
    SLOT_LEASED,
    /** Released, and kept to fill frames from. */
    SLOT_KEPT,
};

struct image_slot {
    /** The first member, so that a leased image is its slot. */
    struct rm_image image;
    enum slot_state state;
    /** Order of closing. */
    uint64_t closed_number;
    uint8_t *bytes;
    uint64_t *map;
    /** Of the frame: 0 unknown; end of a fragment that is shorter than the others, so the last, 0 unknown; end of the
     * furthest. */
    uint64_t total, short_end, reach;
    uint32_t later_whole;
};

struct rm_assembly {
    struct rm_assembly_settings settings;
    rm_stream_copy *copy;
    struct image_slot *slot;
    uint64_t *maps;
    uint8_t *data;
    size_t data_bytes;
    uint32_t map_words;
    /** The slot of the last fragment, where the next one probably goes; and the last delivered, for filling. */
    uint32_t recent, last;
    bool any_begun, any_closed;
    /** Frame numbers. */
    uint64_t newest, closed_through;
    uint64_t current_ticks;
    uint64_t closings;
    bool has_geometry;
    struct rm_image_geometry geometry;
    uint64_t count[RM_ASSEMBLY_COUNTERS];
};

/** How far number `a` is ahead of `b`, around the wrap. */
static inline int64_t assembly_ahead(struct rm_assembly const *assembly, uint64_t a, uint64_t b) {
    return assembly->settings.short_numbers ? (int16_t)(uint16_t)(a - b) : (int64_t)(a - b);
}

static inline uint64_t fragments_of(uint64_t bytes, uint32_t fragment_bytes) {
    return fragment_bytes == 0 ? 0 : bytes / fragment_bytes + (bytes % fragment_bytes != 0);
}

/** 0 where a time is a little older than the one before it. */
static inline uint64_t ticks_since(uint64_t since, uint64_t now_ticks) {
    return (int64_t)(now_ticks - since) > 0 ? now_ticks - since : 0;
}

enum closing_cause {
    CLOSED_WHOLE,
    CLOSED_AT_DEADLINE = RM_FRAMES_AT_DEADLINE,
    CLOSED_BEHIND_LATER = RM_FRAMES_BEHIND_LATER,
    CLOSED_AT_RESTART = RM_FRAMES_AT_RESTART,
};

/** Ends a frame in flight, whole or by the settings. A whole one closes those that it is the last later one of. */
void assembly_close(struct rm_assembly *assembly, uint32_t index, enum closing_cause cause, uint64_t now_ticks);

/** A free slot: a ready frame, the kept one, or the oldest in flight gives up its own where there is none, but none in
 * flight with a number above `frame`. NO_SLOT: there is none. */
uint32_t assembly_make_room(struct rm_assembly *assembly, uint64_t frame);

#endif
