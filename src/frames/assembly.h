// SPDX-License-Identifier: Apache-2.0
/** Puts the fragments of one camera's frames to their places, within fixed memory, whatever is sent. Of several cameras
 * each has an assembly of its own, so that none takes another's memory.
 *
 * Fragments come in any order, and more than once; several frames are in flight. A frame begins with the first fragment
 * of its number, and ends in one of four ways: whole, incomplete, filled from the last frame, or dropped. It closes when
 * its total, its geometry and all its fragments are here, at its deadline, when `later` frames of larger numbers were
 * whole, when a newer one needs its memory, or when the camera begins its numbers anew.
 *
 * Numbers are compared around their wrap. A fragment of a number at or before the newest closed one is late, and
 * changes nothing, unless nothing current has come for `restart_ticks`: then the camera has restarted, as it has when a
 * number is more than RM_ASSEMBLY_WINDOW away from the newest.
 *
 * The first fragment that tells total, geometry or the size of fragments is believed; one that contradicts it is
 * refused. What is refused never begins a frame. A whole frame closes behind those that it is the last later one of, so
 * these come out before it, and are filled from one before them.
 *
 * For one thread. Its memory is its own, or given: then a slot can be shown to others from rm_assembly_take() to
 * rm_assembly_release(), in which it is left alone. Nothing is allocated after rm_assembly_new(). Time is any clock that
 * does not go back. */
#ifndef RM_FRAMES_ASSEMBLY_H
#define RM_FRAMES_ASSEMBLY_H

#include <ringmaster/images.h>

#include "frames/image.h"

enum { RM_ASSEMBLY_SLOTS_MAX = 64, RM_ASSEMBLY_WINDOW = 1024 };

/** What becomes of a frame that closes before it is whole. */
enum rm_incomplete {
    RM_INCOMPLETE_DROP,
    /** Delivered, with zeros in place of what is missing, and the map. */
    RM_INCOMPLETE_DELIVER,
    /** Delivered, with the bytes of the last delivered frame in place of what is missing, where that was whole or filled
     * and has the same total, geometry and size of fragments; else with zeros. Keeps one slot for that frame. */
    RM_INCOMPLETE_FILL,
};

struct rm_assembly_settings {
    /** Frames at once: in flight, ready and leased; 2 … RM_ASSEMBLY_SLOTS_MAX. */
    uint32_t slots;
    /** Of one frame, 1 or more. */
    uint64_t bytes_max;
    uint32_t fragments_max;
    /** From a frame's first fragment on. */
    uint64_t deadline_ticks;
    /** Without a current fragment, after which an old number is that of a restarted camera; above what a late fragment
     * takes. */
    uint64_t restart_ticks;
    /** How many later frames must be whole before a frame closes, 1 or more. */
    uint32_t later;
    enum rm_incomplete incomplete;
    /** The bytes are not read soon, so they go past the caches. */
    bool streaming;
    /** Where frames and their maps lie, as of slot 0, and how far apart the slots are: at least bytes_max, a multiple of
     * 64, and rm_assembly_map_bytes(). `bytes` begins at a page. Both live longer than the assembly. NULL: the assembly
     * has memory of its own. */
    uint8_t *bytes;
    uint64_t *maps;
    uint64_t frame_stride_bytes, map_stride_bytes;
    /** Frame numbers are 16 bits, and go from 65535 to 1 (GVSP without extended ids); else 64.
     * Higher bits are not looked at. */
    bool short_numbers;
};

enum rm_assembly_counter {
    /** How each fragment ends: rm_assembly_put() returns one of them. */
    RM_FRAGMENT_PLACED,
    /** Without bytes, of a frame in flight: leader, trailer, configuration. */
    RM_FRAGMENT_INFORMED,
    RM_FRAGMENT_DUPLICATE,
    /** Of a closed frame; with bytes, and without. */
    RM_FRAGMENT_LATE,
    RM_FRAGMENT_TRAILING,
    /** Its offset is no multiple of the size of fragments, or it is longer than that. */
    RM_FRAGMENT_MISPLACED,
    /** Beyond the frame, or the frame or its number of fragments beyond the memory. */
    RM_FRAGMENT_BEYOND,
    /** Another total, geometry, size of fragments or end than the frame's; or a total below what the geometry needs. */
    RM_FRAGMENT_CONTRADICTING,
    /** All slots are leased, or in flight with later frames. */
    RM_FRAGMENT_WITHOUT_ROOM,
    /** How frames begin and end: begun = whole + incomplete + filled + dropped + those in flight. */
    RM_FRAMES_BEGUN,
    RM_FRAMES_WHOLE,
    RM_FRAMES_INCOMPLETE,
    RM_FRAMES_FILLED,
    RM_FRAMES_DROPPED,
    /** Why those that are not whole closed. */
    RM_FRAMES_AT_DEADLINE,
    RM_FRAMES_BEHIND_LATER,
    RM_FRAMES_FOR_ROOM,
    RM_FRAMES_AT_RESTART,
    /** Ready, and taken back for room before rm_assembly_take(). */
    RM_FRAMES_UNREAD,
    /** Numbers between the newest frame and a newer one when that began; one of them that begins after all is counted
     * as out of order, too. */
    RM_FRAMES_SKIPPED,
    RM_FRAMES_OUT_OF_ORDER,
    RM_CAMERA_RESTARTS,
    /** Closed frames with another geometry than the one closed before. */
    RM_GEOMETRY_CHANGES,
    RM_ASSEMBLY_COUNTERS,
    RM_FRAGMENT_COUNTERS = RM_FRAMES_BEGUN,
};

/** A frame, in flight or closed. */
struct rm_image {
    /** Which slot it lies in. */
    uint32_t slot;
    uint64_t frame;
    /** The device's time stamp; 0 without geometry. */
    uint64_t time;
    bool has_geometry;
    /** Another geometry than the frame closed before. */
    bool geometry_changed;
    struct rm_image_geometry geometry;
    enum rm_image_status status;
    /** `length` of them. Where the total is known, that is not below rm_image_bytes() of the geometry; else they go up
     * to the end of the furthest fragment, and may be less. */
    uint8_t const *bytes;
    uint64_t length;
    /** Of the fragments with bytes; 0: none came. */
    uint32_t fragment_bytes;
    /** Fragments of `length` bytes, 0 while fragment_bytes is; those that came; and a bit for each that did. */
    uint32_t fragments, placed;
    uint64_t const *map;
    /** When its first and its newest fragment came, and when it closed. */
    uint64_t first_ticks, newest_ticks, closed_ticks;
};

struct rm_assembly;

/** Bytes of the map of a frame. */
uint64_t rm_assembly_map_bytes(uint32_t fragments_max);

/** NULL when there is no memory, or settings are out of their ranges. */
struct rm_assembly *rm_assembly_new(struct rm_assembly_settings const *settings);

/** NULL is allowed. */
void rm_assembly_free(struct rm_assembly *assembly);

/** Takes a fragment; its bytes are copied. Returns how it ended, below RM_FRAGMENT_COUNTERS. */
enum rm_assembly_counter rm_assembly_put(struct rm_assembly *assembly, struct rm_image_fragment const *fragment,
                                         uint64_t now_ticks);

/** Closes what has reached its deadline. */
void rm_assembly_expire(struct rm_assembly *assembly, uint64_t now_ticks);

/** The camera begins its numbers anew, of 16 bits or of 64: frames in flight close, as at any restart. */
void rm_assembly_renumber(struct rm_assembly *assembly, bool short_numbers, uint64_t now_ticks);

/** The frame that closed first and was not taken yet; it is leased, and stays as it is, until it is released. NULL: there
 * is none. */
struct rm_image const *rm_assembly_take(struct rm_assembly *assembly);
void rm_assembly_release(struct rm_assembly *assembly, struct rm_image const *image);

/** Leases a free slot, in whose memory something else lies, until it is released; NULL where it is not free. */
struct rm_image const *rm_assembly_withhold(struct rm_assembly *assembly, uint32_t slot);

/** The frame in flight with the smallest number above `after`'s, or the smallest of all for NULL; NULL: there is none.
 * Valid until the next call of another function. For requests to send fragments again. */
struct rm_image const *rm_assembly_in_flight(struct rm_assembly const *assembly, struct rm_image const *after);

/** The next run of missing fragments, [*first, *end), at or behind *end; begin with 0 there. False: there is none. Of a
 * frame in flight whose total is unknown, those before the furthest that came. */
bool rm_image_next_gap(struct rm_image const *image, uint32_t *first, uint32_t *end);

/** RM_ASSEMBLY_COUNTERS of them, since the beginning; and the name of one, "fragments placed". */
uint64_t const *rm_assembly_counts(struct rm_assembly const *assembly);
char const *rm_assembly_counter_name(enum rm_assembly_counter counter);

#endif
