// SPDX-License-Identifier: Apache-2.0
#include "net/memif_ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a descriptor's fields are taken from its words");

/** A descriptor, looked at once. */
struct descriptor_copy {
    uint32_t flags;
    uint32_t region;
    uint32_t length;
    uint32_t offset;
};

static struct rm_memif_descriptor *slot_at(struct rm_memif_ring const *ring, uint32_t index) {
    return &ring->shared->slot[index & (ring->slots - 1u)];
}

static struct descriptor_copy memif_ring_look_at(struct rm_memif_ring const *ring, uint32_t index) {
    struct rm_memif_descriptor *const slot = slot_at(ring, index);
    uint64_t const what = atomic_load_explicit(&slot->what, memory_order_relaxed);
    uint64_t const where = atomic_load_explicit(&slot->where, memory_order_relaxed);
    return (struct descriptor_copy){.flags = (uint16_t)what,
                                    .region = (uint16_t)(what >> 16),
                                    .length = (uint32_t)(what >> 32),
                                    .offset = (uint32_t)where};
}

static void write_slot(struct rm_memif_ring const *ring, uint32_t index, uint32_t region, uint32_t length,
                       uint32_t offset) {
    struct rm_memif_descriptor *const slot = slot_at(ring, index);
    atomic_store_explicit(&slot->what, (uint64_t)length << 32 | region << 16, memory_order_relaxed);
    atomic_store_explicit(&slot->where, offset, memory_order_relaxed);
}

static uint8_t *own_buffer(struct rm_memif_ring const *ring, uint32_t index) {
    return ring->buffers + (uint64_t)(index & (ring->slots - 1u)) * ring->stride;
}

/** Adds to a count that only this thread writes. */
static void memif_ring_count_one(_Atomic uint64_t *counter) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

bool rm_memif_ring_init(struct rm_memif_ring *ring, uint32_t longest) {
    ring->longest = longest;
    ring->joined = malloc(longest);
    return ring->joined != NULL;
}

void rm_memif_ring_free(struct rm_memif_ring *ring) {
    free(ring->joined);
    ring->joined = NULL;
}

static void memif_ring_attach(struct rm_memif_ring *ring, struct rm_memif_regions const *regions,
                              struct rm_memif_place const *place, bool own_is_head) {
    ring->shared = place->shared;
    ring->own = own_is_head ? &place->shared->head : &place->shared->tail;
    ring->others = own_is_head ? &place->shared->tail : &place->shared->head;
    ring->regions = regions;
    ring->buffers = place->buffers;
    ring->stride = place->stride;
    ring->slots = place->slots;
    ring->ahead = place->buffers != NULL ? place->slots : 0;
    ring->position = ring->known = ring->lent = 0;
    ring->bell = place->bell;
}

/** Makes the client's buffers from `first` on empty ones again, whatever a peer has written into their descriptors. */
static void memif_ring_refill(struct rm_memif_ring const *ring, uint32_t first, uint32_t slots) {
    for (uint32_t i = first; i < first + slots; ++i)
        write_slot(ring, i, 0, ring->stride, (uint32_t)(own_buffer(ring, i) - ring->regions->region[0].base));
}

static void give_back(struct rm_memif_ring *ring, uint32_t slots) {
    if (ring->buffers != NULL)
        memif_ring_refill(ring, ring->position, slots);
    ring->position = (uint16_t)(ring->position + slots);
    atomic_store_explicit(ring->own, (uint16_t)(ring->position + ring->ahead), memory_order_release);
}

void rm_memif_ring_attach_receive(struct rm_memif_ring *ring, struct rm_memif_regions const *regions,
                                  struct rm_memif_place const *place) {
    memif_ring_attach(ring, regions, place, !place->to_server);
    if (ring->buffers != NULL) {
        memif_ring_refill(ring, 0, ring->slots);
        give_back(ring, 0);
    }
}

void rm_memif_ring_attach_send(struct rm_memif_ring *ring, struct rm_memif_regions const *regions,
                               struct rm_memif_place const *place) {
    memif_ring_attach(ring, regions, place, place->to_server);
}

/** Slots that wait to be received. An index that cannot be is made ours: what lies between is lost. */
static uint32_t waiting_slots(struct rm_memif_ring *ring) {
    uint16_t waiting = (uint16_t)(ring->known - ring->position);
    if (waiting >= RM_BURST)
        return waiting;
    ring->known = atomic_load_explicit(ring->others, memory_order_acquire);
    waiting = (uint16_t)(ring->known - ring->position);
    if (waiting <= ring->slots)
        return waiting;
    memif_ring_count_one(&ring->errors);
    ring->position = ring->known;
    give_back(ring, 0);
    return 0;
}

enum {
    TO_SECOND_LEVEL = 2, /* of __builtin_prefetch: prefetcht1 */
    SLOTS_IN_LINE = RM_MEMIF_LINE_BYTES / sizeof(struct rm_memif_descriptor),
};

/** A native frame is two lines. Into the second level, as dpdk_burst.c does, and for its reasons. */
static void prefetch_frame(uint8_t const *frame) {
    __builtin_prefetch(frame, 0, TO_SECOND_LEVEL);
    __builtin_prefetch(frame + RM_MEMIF_LINE_BYTES, 0, TO_SECOND_LEVEL);
}

/** The descriptors of the next burst, as far as they are there: what comes of them is asked for at the next poll only.
 */
static void fetch_slots(struct rm_memif_ring const *ring, uint32_t first, uint32_t slots) {
    for (uint32_t i = 0; i < slots && i < RM_BURST; i += SLOTS_IN_LINE)
        __builtin_prefetch(slot_at(ring, first + i), 0, TO_SECOND_LEVEL);
}

/** Puts the pieces of a frame together, up to the longest. Returns how many slots it takes; *length is UINT32_MAX when
 * it has no end, or a piece is wrong. */
static uint32_t memif_ring_join_pieces(struct rm_memif_ring const *ring, uint32_t first, uint32_t slots,
                                       uint32_t *length) {
    uint32_t joined = 0, used = 0;
    bool good = true, ended = false;
    while (used < slots && !ended) {
        struct descriptor_copy const piece = memif_ring_look_at(ring, first + used++);
        uint32_t const room = ring->longest - joined;
        uint32_t const bytes = piece.length < room ? piece.length : room;
        uint8_t const *const from = rm_memif_regions_at(ring->regions, piece.region, piece.offset, piece.length);
        ended = (piece.flags & RM_MEMIF_NEXT) == 0;
        good &= from != NULL;
        if (from == NULL)
            continue;
        memcpy(ring->joined + joined, from, bytes);
        joined += bytes;
    }
    *length = good && ended ? joined : UINT32_MAX;
    return used;
}

static void memif_ring_show_frame(struct rm_burst *burst, uint32_t index, uint8_t *data, uint32_t length) {
    burst->data[index] = data;
    burst->length[index] = length;
    burst->checksum_good[index] = false;
    burst->handle[index] = NULL;
}

uint32_t rm_memif_ring_receive(struct rm_memif_ring *ring, struct rm_burst *burst) {
    uint32_t const waiting = waiting_slots(ring);
    uint32_t shown = 0, used = 0;
    bool joined = false;
    while (used < waiting && shown < RM_BURST) {
        struct descriptor_copy const piece = memif_ring_look_at(ring, ring->position + used);
        uint32_t length = piece.length < ring->longest ? piece.length : ring->longest;
        uint8_t *data = rm_memif_regions_at(ring->regions, piece.region, piece.offset, piece.length);
        if (__builtin_expect(piece.flags & RM_MEMIF_NEXT, 0)) {
            if (joined)
                break; // there is room for one
            joined = true;
            used += memif_ring_join_pieces(ring, ring->position + used, waiting - used, &length);
            data = length != UINT32_MAX ? ring->joined : NULL;
        } else {
            ++used;
        }
        if (__builtin_expect(data == NULL, 0)) {
            memif_ring_count_one(&ring->errors);
            continue;
        }
        prefetch_frame(data);
        memif_ring_show_frame(burst, shown++, data, length);
    }
    fetch_slots(ring, ring->position + used, waiting - used);
    ring->lent = (uint16_t)used;
    return shown;
}

void rm_memif_ring_release(struct rm_memif_ring *ring) {
    if (ring->lent != 0) // else the line that the index stands in would go to and fro at every poll
        give_back(ring, ring->lent);
    ring->lent = 0;
}

uint32_t rm_memif_ring_discard(struct rm_memif_ring *ring) {
    uint32_t const waiting = waiting_slots(ring);
    uint32_t const taken = waiting < RM_BURST ? waiting : RM_BURST;
    if (taken != 0)
        give_back(ring, taken);
    return taken;
}

/** Slots that may be filled; none when the other's index cannot be. */
static uint32_t free_slots(struct rm_memif_ring *ring, uint32_t wanted) {
    uint16_t room = (uint16_t)(ring->known + ring->ahead - ring->position);
    if (room >= wanted)
        return room;
    ring->known = atomic_load_explicit(ring->others, memory_order_acquire);
    room = (uint16_t)(ring->known + ring->ahead - ring->position);
    if (room <= ring->slots)
        return room;
    memif_ring_count_one(&ring->errors);
    ring->known = (uint16_t)(ring->position - ring->ahead);
    return 0;
}

/** Line by line, to the end of the last one. */
static void copy_lines(uint8_t *to, uint8_t const *from, uint32_t length) {
    for (uint32_t at = 0; at < length; at += RM_MEMIF_LINE_BYTES)
        memcpy(to + at, from + at, RM_MEMIF_LINE_BYTES);
}

/** No byte more than there are: the last piece overlaps the one before it. */
static void copy_bytes(uint8_t *to, uint8_t const *from, uint32_t length) {
    uint32_t piece = RM_MEMIF_LINE_BYTES;
    if (length >= RM_MEMIF_LINE_BYTES) {
        for (uint32_t at = 0; at + RM_MEMIF_LINE_BYTES < length; at += RM_MEMIF_LINE_BYTES)
            memcpy(to + at, from + at, RM_MEMIF_LINE_BYTES);
        memcpy(to + length - piece, from + length - piece, RM_MEMIF_LINE_BYTES);
    } else if (length >= (piece = 32)) {
        memcpy(to, from, 32);
        memcpy(to + length - piece, from + length - piece, 32);
    } else {
        memcpy(to, from, length);
    }
}

/** The client fills buffers of its own, which hold any frame that may be sent. */
static void fill_own(struct rm_memif_ring const *ring, uint32_t index, uint8_t const *frame, uint32_t length,
                     bool whole_lines) {
    uint8_t *const buffer = own_buffer(ring, index);
    if (whole_lines)
        copy_lines(buffer, frame, length);
    else
        copy_bytes(buffer, frame, length);
    write_slot(ring, index, 0, length, (uint32_t)(buffer - ring->regions->region[0].base));
}

/** The server fills those that the client's descriptors name. False when it has none for this frame. */
static bool fill_given(struct rm_memif_ring const *ring, uint32_t index, uint8_t const *frame, uint32_t length) {
    struct descriptor_copy const piece = memif_ring_look_at(ring, index);
    uint8_t *const buffer = rm_memif_regions_at(ring->regions, piece.region, piece.offset, length);
    if (buffer == NULL || piece.length < length)
        return false;
    copy_bytes(buffer, frame, length);
    write_slot(ring, index, piece.region, length, piece.offset);
    return true;
}

/** Wakes a receiver that sleeps. One that has just changed its mind may be woken by the next burst only: between our
 * index and its flags there is no fence, as in all of memif. */
static void memif_ring_wake_peer(struct rm_memif_ring const *ring) {
    uint16_t const flags = atomic_load_explicit(&ring->shared->flags, memory_order_relaxed);
    if ((flags & RM_MEMIF_MASK_INTERRUPT) != 0 || ring->bell < 0)
        return;
    uint64_t const one = 1;
    ssize_t const result = write(ring->bell, &one, sizeof one);
    (void)result; // full: it is being rung already
}

static inline uint32_t memif_ring_send(struct rm_memif_ring *ring, struct rm_burst const *burst, bool whole_lines) {
    uint32_t const room = free_slots(ring, burst->count);
    uint32_t used = 0, gone = 0;
    for (; gone < burst->count && used < room; ++gone) {
        uint32_t const index = ring->position + used;
        if (ring->buffers != NULL) {
            fill_own(ring, index, burst->data[gone], burst->length[gone], whole_lines);
            ++used;
        } else if (fill_given(ring, index, burst->data[gone], burst->length[gone])) {
            ++used;
        } else {
            memif_ring_count_one(&ring->unsent);
        }
    }
    if (used == 0)
        return gone;
    ring->position = (uint16_t)(ring->position + used);
    atomic_store_explicit(ring->own, ring->position, memory_order_release);
    memif_ring_wake_peer(ring);
    return gone;
}

uint32_t rm_memif_ring_send(struct rm_memif_ring *ring, struct rm_burst const *burst) {
    return memif_ring_send(ring, burst, true);
}

uint32_t rm_memif_ring_send_from(struct rm_memif_ring *ring, struct rm_burst const *burst) {
    return memif_ring_send(ring, burst, false);
}
