// SPDX-License-Identifier: Apache-2.0
/** One direction of one queue of a memif link: a ring of descriptors in shared memory, and the buffers they name.
 *
 * Frames are received where they lie: a burst points into the shared region from rm_memif_ring_receive until
 * rm_memif_ring_release, which gives its slots back. Sending copies, for a frame is made before its slot is known.
 *
 * A ring has two indices, 16 bits wide and running freely, each moved by one end; slot = index modulo slots. Which end
 * moves which depends on the direction; the client makes the memory:
 *
 *     to the server   the client sends and moves head: up to there slots are filled;
 *                     the server receives and moves tail: up to there they are given back
 *     to the client   the client receives and moves head: up to there slots are empty and may be filled;
 *                     the server sends and moves tail: up to there they are filled
 *
 * Ordering. Each end stores its index with release, after it has done with the slots before it, and loads the other's
 * with acquire: the receiver's acquire pairs with the sender's release of what it has filled, so that descriptors and
 * frames are seen; the sender's acquire pairs with the receiver's release of what it has given back, so that no slot is
 * overwritten that is still being read. An index that was loaded is used until its slots are spent, before it is loaded
 * again: the line it stands in is the other core's.
 *
 * Nothing of the peer's is trusted. A descriptor is loaded once, as two words, and what it names must lie inside a
 * region; an index that is further away than there are slots is an error. A frame's bytes are the peer's memory and may
 * change while they are read: see memif_region.h.
 */
#ifndef RM_NET_MEMIF_RING_H
#define RM_NET_MEMIF_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

#include "net/memif_region.h"
#include "net/port.h"

enum {
    RM_MEMIF_COOKIE = 0x3E31F20,
    RM_MEMIF_SLOTS_LOG2_MAX = 14,
    /** Flag of a ring: its receiver polls, and need not be woken. */
    RM_MEMIF_MASK_INTERRUPT = 1,
    /** Flag of a descriptor: the frame goes on in the next slot. */
    RM_MEMIF_NEXT = 1,

    RM_MEMIF_LINE_BYTES = 64,
};

/** A descriptor as two words. `what` has flags and region, 16 bits each, and the length; `where` has the offset in the
 * region and metadata. The first-named field is at the low end. Length and offset are in bytes. */
struct rm_memif_descriptor {
    _Atomic uint64_t what;
    _Atomic uint64_t where;
};

/** The ring as it lies in shared memory. Rings follow each other closely: a peer's may be aligned to 16 bytes only. */
struct rm_memif_shared_ring {
    uint32_t cookie;
    _Atomic uint16_t flags;
    _Atomic uint16_t head;
    uint8_t head_line[56];
    _Atomic uint16_t tail;
    uint8_t tail_line[62];
    struct rm_memif_descriptor slot[];
};

_Static_assert(sizeof(struct rm_memif_descriptor) == 16, "as memif has it");
_Static_assert(offsetof(struct rm_memif_shared_ring, head) == 6, "as memif has it");
_Static_assert(offsetof(struct rm_memif_shared_ring, tail) == 64, "as memif has it");
_Static_assert(offsetof(struct rm_memif_shared_ring, slot) == 128, "as memif has it");

static inline uint64_t rm_memif_ring_bytes(uint32_t slots_log2) {
    return sizeof(struct rm_memif_shared_ring) + (sizeof(struct rm_memif_descriptor) << slots_log2);
}

/** A ring as two ends have agreed on it. */
struct rm_memif_place {
    struct rm_memif_shared_ring *shared;
    uint16_t slots;
    bool to_server;
    /** client: the first buffer, in region 0; the others follow by `stride`. NULL at the server. */
    uint8_t *buffers;

    uint32_t stride;
    /** Eventfd that wakes a receiver that does not poll, or -1. */
    int bell;
};

/** This end of a ring. Used by one thread, but for the counts, which any thread may read. */
struct rm_memif_ring {
    alignas(64) struct rm_memif_shared_ring *shared;
    /** The index that this end moves. */
    _Atomic uint16_t *own;
    /** The index that the peer moves. */
    _Atomic uint16_t *others;

    struct rm_memif_regions const *regions;
    /** Buffers, as in its place. */
    uint8_t *buffers;

    uint32_t stride;
    /** receiving: bytes of a frame beyond which it is shown cut. */
    uint32_t longest;

    uint16_t slots;
    /** How far the index that makes slots empty is ahead: `slots` at the client, else 0. */
    uint16_t ahead;
    /** Index of the next slot to be received from, or filled. */
    uint16_t position;
    /** The peer's index, as loaded last. */
    uint16_t known;
    /** Slots that a received burst uses. */
    uint16_t lent;

    int bell;
    /** receiving: `longest` bytes, for a frame that comes in pieces. */
    uint8_t *joined;
    /** Descriptors, chains and indices that were wrong. */
    _Atomic uint64_t errors;
    /** Frames that no buffer of the peer's could hold. */
    _Atomic uint64_t unsent;
};

/** Makes a ring. receiving: with room for `longest` bytes of a frame in pieces. False when memory is full. */
bool rm_memif_ring_init(struct rm_memif_ring *ring, uint32_t longest);
void rm_memif_ring_free(struct rm_memif_ring *ring);

/** Attaches the ring to what was agreed on, with both indices 0. A client that receives gives all its buffers away. */
void rm_memif_ring_attach_receive(struct rm_memif_ring *ring, struct rm_memif_regions const *regions,
                                  struct rm_memif_place const *place);
void rm_memif_ring_attach_send(struct rm_memif_ring *ring, struct rm_memif_regions const *regions,
                               struct rm_memif_place const *place);

/** Shows up to RM_BURST waiting frames where they lie, their handles NULL, and begins to fetch them; returns how many.
 * Slots that were wrong are counted, and skipped. Slots may be lent even where it returns 0. */
uint32_t rm_memif_ring_receive(struct rm_memif_ring *ring, struct rm_burst *burst);

/** Gives the slots of the last burst back; its frames may be overwritten now. */
void rm_memif_ring_release(struct rm_memif_ring *ring);

/** Gives up to RM_BURST slots back unseen; returns how many. */
uint32_t rm_memif_ring_discard(struct rm_memif_ring *ring);

/** Copies frames into free slots, in order, as many as there are; returns how many were sent. A frame lies in a buffer
 * of whole cache lines. */
uint32_t rm_memif_ring_send(struct rm_memif_ring *ring, struct rm_burst const *burst);
/** The same of frames that lie anywhere. */
uint32_t rm_memif_ring_send_from(struct rm_memif_ring *ring, struct rm_burst const *burst);

#endif
